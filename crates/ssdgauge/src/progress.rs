//! Progress of a run: a bar on a terminal, plain lines elsewhere.

use crate::process::{self, StopFlag};
use crate::terminal;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use ssdgauge_core::{Action, Bytes, Finding, Nanos, Phase, Plan, Severity, Step, Test};
use ssdgauge_lab::{Outlook, Remaining, SecondSummary, Watcher};
use ssdgauge_runfile::StepPlace;
use std::time::{Duration, Instant};

/// The interval between two lines of a long step. By the wall clock: a virtual drive runs an hour of
/// virtual time within seconds.
const LINE_INTERVAL: Duration = Duration::from_secs(30);

/// How long a run waits for free disk space for its results.
const SPACE_TIMEOUT: Duration = Duration::from_secs(30);
/// The interval between two attempts to store the results.
const SPACE_POLL: Duration = Duration::from_millis(250);

/// The progress display of a run.
#[derive(Debug)]
pub(crate) struct Progress<'a> {
    plan: &'a Plan,
    stop: StopFlag,
    bar: Option<ProgressBar>,
    outlook: Outlook<'a>,
    /// The place of the current step.
    place: StepPlace,
    /// The expected rest of the run, from the start of the current step on.
    remaining: Remaining,
    steps: usize,
    /// The number of the current step, from 1.
    step: usize,
    /// The expected duration of the current step.
    expected: Nanos,
    /// When the last line of this step was written.
    last_line: Instant,
    title: String,
    ios: u64,
    bytes: Bytes,
    /// Since when there is no space for the results.
    full_since: Option<Instant>,
    /// Whether the user was told, in this step, that a reader holds the run file.
    told_of_reader: bool,
}

impl<'a> Progress<'a> {
    /// Returns the display of a run of `plan` with its `outlook`, which `stop` can end.
    pub(crate) fn new(plan: &'a Plan, outlook: Outlook<'a>, stop: StopFlag) -> Progress<'a> {
        let bar = terminal::has_terminal().then(|| {
            let style = "{bar:24} {percent:>3}%  {msg}";
            let style = ProgressStyle::with_template(style).expect("the template is valid");
            let bar = ProgressBar::with_draw_target(Some(1_000), ProgressDrawTarget::stderr());
            bar.set_style(style.progress_chars("━╸─"));
            bar
        });
        Progress {
            plan,
            stop,
            bar,
            outlook,
            place: StepPlace { test: 0, phase: 0, step: 0 },
            remaining: Remaining::default(),
            steps: plan.steps().count(),
            step: 0,
            expected: Nanos::ZERO,
            last_line: Instant::now(),
            title: String::new(),
            ios: 0,
            bytes: Bytes(0),
            full_since: None,
            told_of_reader: false,
        }
    }

    /// Removes the bar.
    pub(crate) fn finish(&self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }

    fn print_line(&self, line: &str) {
        match &self.bar {
            Some(bar) => bar.println(terminal::sanitize(line)),
            None => terminal::print_message(line),
        }
    }

    /// Draws the bar `within` the current step, with `message` behind the title.
    fn draw(&self, message: &str, within: Nanos) {
        let Some(bar) = &self.bar else { return };
        let within = within.min(self.expected);
        let left = self.remaining.time.saturating_sub(within);
        let at = self.outlook.elapsed() + within;
        let share = at.0 as f64 / (at.0 + left.0).max(1) as f64;
        bar.set_position((share * 1_000.0) as u64);
        let rest = rest_text(left, self.written_within(left));
        bar.set_message(format!("{}  {message}  {}{rest}", self.title, self.at_most()));
    }

    /// Returns the words before a number of steps or a time that the whole plan takes.
    fn at_most(&self) -> &'static str {
        if self.plan.repeat_until.is_some() { "at most " } else { "" }
    }

    /// Prints the rest of the run by the rate of its first fill, of `filled` bytes, which has ended.
    fn print_outlook(&self, filled: Bytes, elapsed: Nanos) {
        let rate = filled.0 as f64 / elapsed.as_secs_f64().max(1e-9) / 1e6;
        let time = self.remaining.time.saturating_sub(self.expected);
        let written = Bytes(self.remaining.written.0.saturating_sub(filled.0));
        let rest = rest_text(time, written);
        self.print_line(&format!("        after this fill at {rate:.0} MB/s: about {rest}"));
    }

    /// Returns the bytes that are written in the last `left` of the run: in proportion to the time.
    fn written_within(&self, left: Nanos) -> Bytes {
        let share = left.0 as f64 / self.remaining.time.0.max(1) as f64;
        Bytes((self.remaining.written.0 as f64 * share) as u64)
    }
}

/// Returns the rest of a run in words.
fn rest_text(time: Nanos, written: Bytes) -> String {
    let time = Nanos::from_secs(time.0 / 1_000_000_000);
    match written {
        Bytes(0) => format!("{time} left"),
        written => format!("{time} left, {} to write", written.about_decimal()),
    }
}

/// Returns the place of `step` in `plan`, with its number from 1.
fn place_of(plan: &Plan, step: &Step) -> Option<(usize, StepPlace)> {
    let tests = plan.tests.iter().enumerate();
    let phases = tests.flat_map(|(test, of_plan)| {
        of_plan.phases.iter().enumerate().map(move |(phase, of_test)| (test, phase, of_test))
    });
    let places = phases.flat_map(|(test, phase, of_test)| {
        let steps = of_test.steps.iter().enumerate();
        steps.map(move |(step, other)| (StepPlace { test, phase, step }, other))
    });
    let mut numbered = places.enumerate();
    let found = numbered.find(|(_, (_, other))| std::ptr::eq(*other, step));
    found.map(|(number, (place, _))| (number + 1, place))
}

/// Returns throughput and IOPS over `elapsed`, in columns.
fn rates(ios: u64, bytes: Bytes, elapsed: Nanos) -> String {
    let seconds = elapsed.as_secs_f64().max(1e-9);
    let (mb, iops) = (bytes.0 as f64 / seconds / 1e6, ios as f64 / seconds);
    format!("{mb:>8.1} MB/s {iops:>9.0} IOPS")
}

impl Watcher for Progress<'_> {
    fn unix_ms(&mut self) -> i64 {
        process::unix_ms()
    }

    fn stop(&mut self) -> bool {
        self.stop.is_set()
    }

    fn step_began(&mut self, test: &Test, phase: &Phase, step: &Step) {
        // Found in the plan, because a resumed run does not start with its first step.
        if let Some((number, place)) = place_of(self.plan, step) {
            (self.step, self.place) = (number, place);
        }
        self.expected = self.outlook.expected(self.place);
        self.remaining = self.outlook.remaining_from(self.place);
        self.title = match step.action {
            Action::Run { .. } => format!("{} {}", test.id, step.label),
            Action::Prepare(_) | Action::Rest(_) | Action::Idle(_) => {
                let kind = phase.kind.name();
                match step.label.starts_with(kind) {
                    true => step.label.clone(),
                    false => format!("{kind} {}", step.label),
                }
            }
        };
        self.last_line = Instant::now();
        self.full_since = None;
        self.told_of_reader = false;
        (self.ios, self.bytes) = (0, Bytes(0));
        self.draw("", Nanos::ZERO);
    }

    fn second_ended(&mut self, glimpse: &SecondSummary) {
        self.ios += glimpse.ios;
        self.bytes += glimpse.bytes;
        let p99 = glimpse.lat_p99.map_or("-".into(), |p99| Nanos(p99).to_string());
        let message = format!("{}  p99 {p99}", rates(glimpse.ios, glimpse.bytes, glimpse.length));
        let within = Nanos::SECOND * u64::from(glimpse.second + 1);
        self.draw(&message, within);
        if self.bar.is_none() && self.last_line.elapsed() >= LINE_INTERVAL {
            self.last_line = Instant::now();
            self.print_line(&format!("        {:<34} {message}", self.title));
        }
    }

    fn pause_began(&mut self, duration: Nanos) {
        self.draw(&format!("rest of {duration}"), self.expected);
    }

    fn finding_recorded(&mut self, finding: &Finding) {
        let severity = match finding.severity {
            Severity::Note => "note",
            Severity::Warning => "warning",
            Severity::Invalid => "invalid",
        };
        self.print_line(&format!("{severity}: {}", finding.text));
    }

    fn wait_for_room(&mut self) -> bool {
        if self.full_since.is_none_or(|since| since.elapsed() > 2 * SPACE_TIMEOUT) {
            self.full_since = Some(Instant::now());
            self.print_line(&format!(
                "no space left for the results: free disk space within {} s, or the run stops",
                SPACE_TIMEOUT.as_secs()
            ));
        }
        std::thread::sleep(SPACE_POLL);
        !self.stop.is_set() && self.full_since.is_some_and(|since| since.elapsed() < SPACE_TIMEOUT)
    }

    fn wait_for_reader(&mut self) -> bool {
        if !self.told_of_reader {
            self.told_of_reader = true;
            self.print_line("another process reads the run file: the run waits for it");
        }
        std::thread::sleep(SPACE_POLL);
        !self.stop.is_set()
    }

    fn turn_ended(&mut self, text: &str) {
        self.print_line(text);
    }

    fn step_ended(&mut self, _test: &Test, _step: &Step, elapsed: Nanos) {
        let number = format!("[{:>2}/{}{}]", self.step, self.at_most(), self.steps);
        let rates = match self.ios {
            0 => String::new(),
            ios => rates(ios, self.bytes, elapsed),
        };
        self.print_line(&format!("{number} {:<34} {rates}  in {elapsed}", self.title));
        if let Some(filled) = self.outlook.step_ended(self.place, elapsed) {
            self.expected = self.outlook.expected(self.place);
            self.remaining = self.outlook.remaining_from(self.place);
            self.print_outlook(filled, elapsed);
        }
    }
}
