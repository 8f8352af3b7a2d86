//! Progress of an X-ray: a line that is redrawn on a terminal, a line for each experiment elsewhere.

use crate::process::StopFlag;
use crate::terminal;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use ssdgauge_core::Bytes;
use ssdgauge_lab::XrayWatcher;

/// The progress display of an X-ray.
pub(super) struct XrayProgress {
    stop: StopFlag,
    bar: Option<ProgressBar>,
}

impl XrayProgress {
    /// Returns the display of an X-ray that `stop` can end.
    pub(super) fn new(stop: StopFlag) -> XrayProgress {
        let bar = terminal::has_terminal().then(|| {
            let style = ProgressStyle::with_template("{msg}").expect("the template is valid");
            let target = ProgressDrawTarget::stderr_with_hz(4);
            ProgressBar::with_draw_target(None, target).with_style(style)
        });
        XrayProgress { stop, bar }
    }

    /// Removes the live line.
    pub(super) fn finish(&self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}

impl XrayWatcher for XrayProgress {
    fn stop(&mut self) -> bool {
        self.stop.is_set()
    }

    fn doing(&mut self, what: &str, written: Bytes) {
        let text = format!("{what} ({} written)", written.about());
        match &self.bar {
            Some(bar) => bar.set_message(text),
            None => terminal::print_message(&text),
        }
    }
}
