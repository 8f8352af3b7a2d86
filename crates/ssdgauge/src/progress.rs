//! Progress of a run: a bar where people look at a terminal, plain lines elsewhere.

use crate::process::{self, StopFlag};
use crate::terminal;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use ssdgauge_core::{
    Action, Bytes, Finding, Nanos, Phase, Plan, Preparation, Severity, Step, Test,
};
use ssdgauge_lab::{SecondSummary, Watcher};
use std::time::{Duration, Instant};

/// How fast a fill is thought to be before one was seen, in bytes per second.
const LIKELY_FILL_RATE: f64 = 1e9;
/// How often a line is written in a long step. By the clock on the wall: virtual time runs faster
/// than people read.
const LINE_EVERY: Duration = Duration::from_secs(30);

/// How long a run waits for room for its results, and how often it looks.
const WAIT_FOR_ROOM: Duration = Duration::from_secs(30);
const LOOK_FOR_ROOM: Duration = Duration::from_millis(250);

/// Looks on while a run goes its way.
#[derive(Debug)]
pub(crate) struct Progress<'a> {
    plan: &'a Plan,
    stop: StopFlag,
    bar: Option<ProgressBar>,
    total: Nanos,
    done: Nanos,
    fill_rate: f64,
    steps: usize,
    step: usize,
    current: Nanos,
    spoke: Instant,
    title: String,
    ios: u64,
    bytes: Bytes,
    /// Since when the results find no room.
    full: Option<Instant>,
}

impl<'a> Progress<'a> {
    /// Begins to look on.
    pub(crate) fn new(plan: &'a Plan, stop: StopFlag) -> Progress<'a> {
        let bar = terminal::has_terminal().then(|| {
            let style = "{bar:24} {percent:>3}%  {msg}";
            let style = ProgressStyle::with_template(style).expect("the template is valid");
            let bar = ProgressBar::with_draw_target(Some(1_000), ProgressDrawTarget::stderr());
            bar.set_style(style.progress_chars("━╸─"));
            bar
        });
        let expected = |step: &Step| expected(step, LIKELY_FILL_RATE);
        Progress {
            plan,
            stop,
            bar,
            total: plan.steps().map(|(_, _, step)| expected(step)).sum(),
            done: Nanos::ZERO,
            fill_rate: LIKELY_FILL_RATE,
            steps: plan.steps().count(),
            step: 0,
            current: Nanos::ZERO,
            spoke: Instant::now(),
            title: String::new(),
            ios: 0,
            bytes: Bytes(0),
            full: None,
        }
    }

    /// Takes the bar away.
    pub(crate) fn finish(&self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }

    fn say(&self, line: &str) {
        match &self.bar {
            Some(bar) => bar.println(terminal::tame(line)),
            None => terminal::talk(line),
        }
    }

    fn draw(&self, words: &str, within: Nanos) {
        let Some(bar) = &self.bar else { return };
        let at = self.done + within.min(self.current);
        let left = self.total.saturating_sub(at);
        bar.set_position((at.0 as f64 / self.total.0.max(1) as f64 * 1_000.0) as u64);
        let left = Nanos::from_secs(left.0 / 1_000_000_000);
        bar.set_message(format!("{}  {words}  {left} left", self.title));
    }
}

/// Returns how long a step is thought to take.
fn expected(step: &Step, fill_rate: f64) -> Nanos {
    let action = &step.action;
    if let Some(until) = action.until() {
        let time = until.time.unwrap_or(Nanos::from_secs(60));
        return time + step.rest.after(time);
    }
    match action.preparation().and_then(Preparation::fill_span) {
        Some(span) => Nanos((span.0 as f64 / fill_rate * 1e9) as u64),
        None => action.idle_time().unwrap_or(Nanos::SECOND),
    }
}

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
        // By its place in the plan, because a resumed run does not begin with the first step.
        let is_this = |other: &Step| std::ptr::eq(other, step);
        let before = self.plan.steps().map(|(_, _, step)| step).take_while(|other| !is_this(other));
        (self.step, self.done) = before.fold((1, Nanos::ZERO), |(number, done), step| {
            (number + 1, done + expected(step, LIKELY_FILL_RATE))
        });
        self.current = expected(step, self.fill_rate);
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
        self.spoke = Instant::now();
        self.full = None;
        (self.ios, self.bytes) = (0, Bytes(0));
        self.draw("", Nanos::ZERO);
    }

    fn second_ended(&mut self, glimpse: &SecondSummary) {
        self.ios += glimpse.ios;
        self.bytes += glimpse.bytes;
        let p99 = glimpse.lat_p99.map_or("-".into(), |p99| Nanos(p99).to_string());
        let words = format!("{}  p99 {p99}", rates(glimpse.ios, glimpse.bytes, glimpse.length));
        let within = Nanos::SECOND * u64::from(glimpse.second + 1);
        self.draw(&words, within);
        if self.bar.is_none() && self.spoke.elapsed() >= LINE_EVERY {
            self.spoke = Instant::now();
            self.say(&format!("        {:<34} {words}", self.title));
        }
    }

    fn pause_began(&mut self, duration: Nanos) {
        self.draw(&format!("resting for {duration}"), self.current);
    }

    fn finding_recorded(&mut self, finding: &Finding) {
        let word = match finding.severity {
            Severity::Note => "note",
            Severity::Warning => "warning",
            Severity::Invalid => "invalid",
        };
        self.say(&format!("{word}: {}", finding.text));
    }

    fn wait_for_room(&mut self) -> bool {
        if self.full.is_none_or(|since| since.elapsed() > 2 * WAIT_FOR_ROOM) {
            self.full = Some(Instant::now());
            self.say(&format!(
                "no space left for the results: make room within {} s, or the run stops",
                WAIT_FOR_ROOM.as_secs()
            ));
        }
        std::thread::sleep(LOOK_FOR_ROOM);
        !self.stop.is_set() && self.full.is_some_and(|since| since.elapsed() < WAIT_FOR_ROOM)
    }

    fn step_ended(&mut self, _test: &Test, step: &Step, elapsed: Nanos) {
        let number = format!("[{:>2}/{}]", self.step, self.steps);
        let rates = match self.ios {
            0 => String::new(),
            ios => rates(ios, self.bytes, elapsed),
        };
        self.say(&format!("{number} {:<34} {rates}  in {elapsed}", self.title));
        let fill = step.action.preparation().and_then(Preparation::fill_span);
        if let (Some(span), 1..) = (fill, elapsed.0) {
            self.fill_rate = span.0 as f64 / elapsed.as_secs_f64();
        }
    }
}
