//! Progress of a proof: a line that is redrawn on a terminal, a line a minute elsewhere.

use crate::process::{self, StopFlag};
use crate::terminal;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use ssdgauge_core::{Bytes, Finding, Severity};
use ssdgauge_lab::ProofWatcher;
use std::time::{Duration, Instant};

/// The interval between two lines without a terminal.
const LINE_INTERVAL: Duration = Duration::from_secs(60);
/// The interval between two frames on a terminal.
const FRAME_INTERVAL: Duration = Duration::from_millis(250);
/// The interval between two attempts to store a record while a reader holds the run file.
const READER_POLL: Duration = Duration::from_millis(250);

/// The progress display of a proof.
pub(super) struct ProveProgress {
    stop: StopFlag,
    bar: Option<ProgressBar>,
    doing: String,
    shown: Instant,
}

impl ProveProgress {
    /// Returns the display of a proof that `stop` can end.
    pub(super) fn new(stop: StopFlag) -> ProveProgress {
        let bar = terminal::has_terminal().then(|| {
            let style = ProgressStyle::with_template("{msg}").expect("the template is valid");
            let target = ProgressDrawTarget::stderr_with_hz(4);
            ProgressBar::with_draw_target(None, target).with_style(style)
        });
        ProveProgress { stop, bar, doing: String::new(), shown: Instant::now() }
    }

    /// Removes the live line.
    pub(super) fn finish(&self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
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
        let interval = if self.bar.is_some() { FRAME_INTERVAL } else { LINE_INTERVAL };
        let is_new = self.doing.is_empty();
        if !is_new && self.shown.elapsed() < interval {
            return;
        }
        self.shown = Instant::now();
        doing.clone_into(&mut self.doing);
        let percent = (done.0 as f64 / most.0.max(1) as f64 * 100.0).min(100.0);
        let text = format!(
            "{doing}: {} of at most {} written and read ({percent:.1} %)",
            done.about(),
            most.about()
        );
        match &self.bar {
            Some(bar) => bar.set_message(text),
            None => terminal::print_message(&text),
        }
    }

    fn finding(&mut self, finding: &Finding) {
        if finding.severity == Severity::Note {
            return;
        }
        let text = terminal::message(&format!("warning: {}", finding.text));
        match &self.bar {
            Some(bar) => bar.println(text),
            None => terminal::print_message(&format!("warning: {}", finding.text)),
        }
    }

    fn wait_for_reader(&mut self) -> bool {
        std::thread::sleep(READER_POLL);
        !self.stop.is_set()
    }
}
