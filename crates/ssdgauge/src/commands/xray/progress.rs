//! Progress of an X-ray: a line that is redrawn on a terminal, a line for each experiment elsewhere.

use crate::process::StopFlag;
use crate::terminal::live_lines::LiveLines;
use ssdgauge_core::Bytes;
use ssdgauge_lab::XrayWatcher;

/// The progress display of an X-ray.
pub(super) struct XrayProgress {
    stop: StopFlag,
    lines: LiveLines,
}

impl XrayProgress {
    /// Returns the display of an X-ray that `stop` can end.
    pub(super) fn new(stop: StopFlag) -> XrayProgress {
        XrayProgress { stop, lines: LiveLines::new() }
    }

    /// Removes the live line.
    pub(super) fn finish(&self) {
        self.lines.remove();
    }
}

impl XrayWatcher for XrayProgress {
    fn stop(&mut self) -> bool {
        self.stop.is_set()
    }

    fn doing(&mut self, what: &str, written: Bytes) {
        self.lines.show_or_print(&format!("{what} ({} written)", written.about()));
    }
}
