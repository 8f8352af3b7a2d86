//! Progress of a proof: a line that is redrawn on a terminal, a line a minute elsewhere.

use crate::process::{self, StopFlag};
use crate::terminal::live_lines::LiveLines;
use ssdgauge_core::{Bytes, Finding, Severity};
use ssdgauge_lab::ProofWatcher;
use std::time::{Duration, Instant};

/// The interval between two lines without a terminal.
const LINE_INTERVAL: Duration = Duration::from_secs(60);
/// The interval between two attempts to store a record while a reader holds the run file.
const READER_POLL: Duration = Duration::from_millis(250);

/// The progress display of a proof.
pub(super) struct ProveProgress {
    stop: StopFlag,
    lines: LiveLines,
    /// When the last line was shown.
    shown: Option<Instant>,
}

impl ProveProgress {
    /// Returns the display of a proof that `stop` can end.
    pub(super) fn new(stop: StopFlag) -> ProveProgress {
        ProveProgress { stop, lines: LiveLines::new(), shown: None }
    }

    /// Removes the live line.
    pub(super) fn finish(&self) {
        self.lines.remove();
    }
}

impl ProofWatcher for ProveProgress {
    fn unix_ms(&mut self) -> i64 {
        process::unix_ms()
    }

    fn stop(&mut self) -> bool {
        self.stop.is_set()
    }

    fn progress(&mut self, doing: &str, done: Bytes, most: Bytes) {
        let is_due = match self.lines.is_shown() {
            true => self.lines.is_due(),
            false => self.shown.is_none_or(|last| last.elapsed() >= LINE_INTERVAL),
        };
        if !is_due {
            return;
        }
        self.shown = Some(Instant::now());
        let percent = (done.0 as f64 / most.0.max(1) as f64 * 100.0).min(100.0);
        let text = format!(
            "{doing}: {} of at most {} written and read ({percent:.1} %)",
            done.about(),
            most.about()
        );
        self.lines.show_or_print(&text);
    }

    fn finding(&mut self, finding: &Finding) {
        if finding.severity == Severity::Note {
            return;
        }
        self.lines.print(&format!("warning: {}", finding.text));
    }

    fn wait_for_reader(&mut self) -> bool {
        std::thread::sleep(READER_POLL);
        !self.stop.is_set()
    }
}
