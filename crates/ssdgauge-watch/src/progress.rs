//! Progress of a run: a live view on a terminal, plain lines elsewhere.
//!
//! It is called by the thread that conducts the run, between two seconds; no I/O thread waits for it.

mod live;

use crate::boot::boot;
use crate::live::sender::LiveSeconds;
use crate::rest_of_run::{rest_text, whole};
use crate::second::{Assembler, Second};
use crate::step_title;
use crate::terminal::colour::Paint;
use crate::terminal::live_lines::LiveLines;
use crate::terminal::{self, width};
use live::{Live, Moment, Told};
use ssdgauge_core::rounded;
use ssdgauge_core::{
    Bytes, Finding, Interval, Nanos, Phase, Plan, Prepared, Reading, RecordedRequests, Replay,
    Scope, Step, Test, Totals, Verified, Workload,
};
use ssdgauge_lab::{Boot, Outlook, Remaining, SHARED_COMMIT_INTERVAL, Watcher};
use ssdgauge_runfile::{StepId, StepPlace};
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// The interval between two lines of a long step. By the wall clock: a virtual drive runs an hour of
/// virtual time within seconds.
const LINE_INTERVAL: Duration = Duration::from_secs(60);

/// How long a run waits for free disk space for its results.
const SPACE_TIMEOUT: Duration = Duration::from_secs(30);
/// The interval between two attempts to store the results.
const SPACE_POLL: Duration = Duration::from_millis(250);

/// Returns the requests of a replay by the trace of the run, or why there are none.
pub type RequestsOf = Box<dyn Fn(&Replay) -> Result<Box<dyn RecordedRequests>, String>>;

/// The progress display of a run.
pub struct Progress<'a> {
    plan: &'a Plan,
    stop: Arc<AtomicBool>,
    /// The live view, on a terminal.
    lines: LiveLines,
    /// Its last seconds.
    live: Live,
    /// The second in progress.
    assembler: Assembler,
    /// Its figures of the last second.
    figures: String,
    /// The time in the current step.
    within: Nanos,
    /// When the current step began, by the wall clock.
    began: Instant,
    outlook: Outlook<'a>,
    /// The place of the current step.
    place: StepPlace,
    /// The expected rest of the run, from the start of the current step on.
    remaining: Remaining,
    /// The steps of the plan; `None` where a search decides which of them are carried out.
    steps: Option<usize>,
    /// The number of the current step, from 1: in the plan, or with a search in this run.
    step: usize,
    /// The expected duration of the current step.
    expected: Nanos,
    /// When the last line of this step was written.
    last_line: Instant,
    title: String,
    /// The sums over the current step.
    totals: Totals,
    /// Since when there is no space for the results.
    full_since: Option<Instant>,
    /// Whether a step has begun that has not ended.
    is_in_step: bool,
    /// What the user was told already.
    told: Told,
    /// The recorded steps that a virtual drive has repeated.
    replayed: usize,
    /// The interval between commits within a step.
    commit_interval: Nanos,
    /// The requests of the trace that the run replays.
    requests: Option<RequestsOf>,
    /// Where the preparation that has ended changed nothing: that in words.
    without_effect: Option<&'static str>,
    /// The socket for watchers, where there is one.
    live_seconds: Option<LiveSeconds>,
}

impl<'a> Progress<'a> {
    /// Returns the display of a run of `plan` with its `outlook`, which `stop` can end.
    pub fn new(plan: &'a Plan, outlook: Outlook<'a>, stop: Arc<AtomicBool>) -> Progress<'a> {
        let now = Instant::now();
        Progress {
            plan,
            stop,
            lines: LiveLines::of_stderr(),
            live: Live::default(),
            assembler: Assembler::default(),
            figures: String::new(),
            within: Nanos::ZERO,
            began: now,
            outlook,
            place: StepPlace { test: 0, phase: 0, step: 0 },
            remaining: Remaining::default(),
            steps: step_title::count(plan),
            step: 0,
            expected: Nanos::ZERO,
            last_line: now,
            title: String::new(),
            totals: Totals::default(),
            full_since: None,
            is_in_step: false,
            told: Told::default(),
            replayed: 0,
            commit_interval: SHARED_COMMIT_INTERVAL,
            requests: None,
            live_seconds: None,
            without_effect: None,
        }
    }

    /// Returns the same display of a run with this interval between commits.
    pub fn with_commit_interval(mut self, interval: Nanos) -> Progress<'a> {
        self.commit_interval = interval;
        self
    }

    /// Returns the same display of a run that replays a trace, whose requests are `requests`.
    pub fn with_requests(mut self, requests: Option<RequestsOf>) -> Progress<'a> {
        self.requests = requests;
        self
    }

    fn is_stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    /// Returns the same display of a run whose watchers get its seconds by `live_seconds`.
    pub fn with_live_seconds(mut self, live_seconds: Option<LiveSeconds>) -> Progress<'a> {
        self.live_seconds = live_seconds;
        self
    }

    /// Removes the live view, and the socket for watchers.
    pub fn finish(&mut self) {
        self.live_seconds = None;
        self.lines.remove();
    }

    fn print_line(&self, line: &str) {
        self.lines.print(line);
    }

    /// Takes a second of the current step that has ended.
    fn take_second(&mut self, second: Second) {
        if let Some(live) = &mut self.live_seconds {
            live.send(&second);
        }
        self.within = Nanos::SECOND * u64::from(second.load.number) + second.load.length;
        // The last part of a step is too short for a rate: the second before it stays.
        if second.load.has_rates() {
            self.figures = live::figures(&second);
            self.live.push(second);
        }
        if self.lines.is_due() {
            self.draw();
        }
        self.print_at_intervals(|this| format!("{:<34} {}", this.title, this.figures));
    }

    /// Prints a line of a long step if the live view is not drawn.
    fn print_at_intervals(&mut self, text: impl FnOnce(&Self) -> String) {
        if !self.lines.is_shown() && self.last_line.elapsed() >= LINE_INTERVAL {
            self.last_line = Instant::now();
            self.print_line(&format!("        {}", text(self)));
        }
    }

    /// Takes the last second of the current step.
    fn end_second(&mut self) {
        if let Some(second) = self.assembler.end() {
            self.take_second(second);
        }
    }

    /// Draws the live view.
    fn draw(&self) {
        if !self.lines.is_shown() {
            return;
        }
        let within = self.within.min(self.expected);
        let left = self.remaining.time.saturating_sub(within);
        let at = self.outlook.elapsed() + within;
        let to_write = self.written_within(left);
        let steps = match self.steps {
            Some(all) => format!("step {} of {}{all}", self.step, self.at_most()),
            None => format!("step {}", self.step),
        };
        let moment = Moment {
            title: terminal::line(&self.title),
            step: steps,
            within: match self.expected {
                Nanos::ZERO => String::new(),
                expected => format!("{} of {}", whole(within).about(), expected.about()),
            },
            left: format!("{}{} left", self.at_most(), whole(left).about()),
            figures: self.figures.clone(),
            to_write: match to_write {
                Bytes(0) => String::new(),
                bytes => format!("{} to write", bytes.about()),
            },
            share: at.0 as f64 / (at.0 + left.0).max(1) as f64,
        };
        let (width, paint) = (width::columns_of_messages(), Paint::of_stderr());
        // The last column stays free: a terminal that breaks a full line would move the view.
        let width = width.unwrap_or(width::DEFAULT) - 1;
        self.lines.show(self.live.lines(&moment, width, paint, terminal::has_unicode()));
    }

    /// Returns the number of the step that ends, of all where that is known.
    fn number(&self) -> String {
        match self.steps {
            Some(all) => {
                // The lines of all steps are aligned.
                let digits = all.to_string().len().max(2);
                format!("[{:>digits$}/{}{all}]", self.step, self.at_most())
            }
            None => format!("[{:>2}]", self.step),
        }
    }

    /// Returns the words before a number of steps or a time that the whole plan takes.
    fn at_most(&self) -> &'static str {
        if self.plan.repeat_until.is_some() { "at most " } else { "" }
    }

    /// Prints the rest of the run by the rate of its first fill, of `filled` bytes, which has ended.
    fn print_outlook(&self, filled: Bytes, elapsed: Nanos) {
        let time = self.remaining.time.saturating_sub(self.expected);
        let written = Bytes(self.remaining.written.0.saturating_sub(filled.0));
        let rest = rest_text(time, written);
        let at = ssdgauge_core::rate(filled.0, elapsed)
            .map_or(String::new(), |rate| format!(" at {} MB/s", rounded::number(rate / 1e6)));
        self.print_line(&format!("        after this fill{at}: about {rest}"));
    }

    /// Returns the bytes that are written in the last `left` of the run: in proportion to the time.
    fn written_within(&self, left: Nanos) -> Bytes {
        let share = left.0 as f64 / self.remaining.time.0.max(1) as f64;
        Bytes((self.remaining.written.0 as f64 * share) as u64)
    }
}

/// Returns the place of `step` in `plan`, with its number from 1.
fn place_of(plan: &Plan, step: &Step) -> Option<(usize, StepPlace)> {
    let mut numbered = step_title::places(plan).enumerate();
    let found = numbered.find(|(_, (_, other))| std::ptr::eq(*other, step));
    found.map(|(number, (place, _))| (number + 1, place))
}

/// From this width on, the line of a finished step has IOPS next to throughput and 99th percentile.
const WITH_IOPS: usize = 80;
/// From this width on, it has the duration too.
const WITH_DURATION: usize = 96;

/// Returns throughput, IOPS, 99th percentile of latency and duration of a finished step in columns, as
/// far as a line of `width` has room for them. A step that is too short for a rate has dashes.
fn finished(totals: &Totals, elapsed: Nanos, width: usize) -> String {
    let duration = format!("  in {}", elapsed.about());
    let counted = totals.counted().iter();
    let (ios, bytes) = counted.fold((0, 0), |sum, one| (sum.0 + one.ios, sum.1 + one.bytes));
    if ios == 0 {
        return duration;
    }
    let words = |rate: Option<f64>| rate.map_or_else(|| "–".to_owned(), rounded::number);
    let mb = words(ssdgauge_core::rate(bytes, elapsed).map(|rate| rate / 1e6));
    let iops = words(ssdgauge_core::rate(ios, elapsed));
    let of = totals.latency_of.prefix();
    // The word takes room. Commits are counted, not their bytes.
    let width = width.saturating_sub(of.len());
    let (with_iops, with_duration) = (width >= WITH_IOPS - of.len(), width >= WITH_DURATION);
    let mut text = String::new();
    if of.is_empty() || with_duration {
        text.push_str(&format!("{mb:>6} MB/s"));
    }
    if with_iops {
        text.push_str(&format!(" {iops:>9} IOPS"));
    }
    let p99 = totals
        .latency(Scope::All)
        .percentile(0.99)
        .map(|p99| rounded::latency(Nanos(p99).as_micros_f64()));
    let has_p99 = p99.is_some();
    text.extend(p99.map(|p99| format!("  {of}p99 {p99:>7}")));
    if with_duration || !has_p99 {
        text.push_str(&duration);
    }
    text
}

impl fmt::Debug for Progress<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Progress").field("step", &self.title).finish_non_exhaustive()
    }
}

impl Watcher for Progress<'_> {
    fn unix_ms(&mut self) -> i64 {
        jiff::Timestamp::now().as_millisecond()
    }

    fn boot(&mut self) -> Option<Boot> {
        boot()
    }

    fn stop(&mut self) -> bool {
        // A rest has no seconds that would move the view.
        if self.lines.is_due() {
            let since = u64::try_from(self.began.elapsed().as_nanos()).unwrap_or(u64::MAX);
            self.within = self.within.max(Nanos(since));
            self.draw();
        }
        self.is_stopped()
    }

    fn commit_interval(&self) -> Nanos {
        self.commit_interval
    }

    fn recorded_requests(&mut self, replay: &Replay) -> Result<Box<dyn RecordedRequests>, String> {
        self.requests.as_ref().ok_or("the run has no trace")?(replay)
    }

    fn step_began(&mut self, test: &Test, phase: &Phase, step: &Step) {
        // Found in the plan, because a resumed run does not start with its first step.
        if let Some((number, place)) = place_of(self.plan, step) {
            self.place = place;
            self.step = if self.steps.is_some() { number } else { self.step + 1 };
        }
        self.expected = self.outlook.expected(self.place);
        self.remaining = self.outlook.remaining_from(self.place);
        self.title = step_title::title(test, phase, step);
        self.last_line = Instant::now();
        self.full_since = None;
        self.is_in_step = true;
        self.told.of_reader = false;
        self.totals = Totals::of_workload(step.action.workload().unwrap_or(Workload::no_load()));
        self.began = Instant::now();
        self.within = Nanos::ZERO;
        self.figures.clear();
        self.draw();
    }

    fn pause_began(&mut self, duration: Nanos) {
        self.figures = format!("rest of {}", duration.about());
        self.draw();
    }

    fn finding_recorded(&mut self, finding: &Finding) {
        // It precedes the line of its step.
        let step = if self.is_in_step { format!(" in step {}", self.step) } else { String::new() };
        self.print_line(&format!("{}{step}: {}", finding.severity.name(), finding.text));
        if live::names_others(finding) && !std::mem::replace(&mut self.told.of_others, true) {
            self.print_line(live::OTHERS);
        }
    }

    fn wait_for_room(&mut self) -> bool {
        if self.full_since.is_none_or(|since| since.elapsed() > 2 * SPACE_TIMEOUT) {
            self.full_since = Some(Instant::now());
            self.print_line(&format!(
                "no space left for the results with a reserve of {} for their commit: free disk space within \
                 {} s, or the run stops",
                ssdgauge_runfile::RESERVE.about(),
                SPACE_TIMEOUT.as_secs()
            ));
        }
        std::thread::sleep(SPACE_POLL);
        !self.is_stopped() && self.full_since.is_some_and(|since| since.elapsed() < SPACE_TIMEOUT)
    }

    fn wait_for_reader(&mut self) -> bool {
        if !self.told.of_reader {
            self.told.of_reader = true;
            self.print_line("another process reads the run file: the run waits for it");
        }
        std::thread::sleep(SPACE_POLL);
        !self.is_stopped()
    }

    fn turn_ended(&mut self, text: &str) {
        self.print_line(text);
    }

    fn replay_began(&mut self, steps: usize) {
        if steps > 0 {
            self.print_line(&format!(
                "repeating {steps} finished steps, so that the virtual drive is in the state in which \
                 the run was interrupted"
            ));
        }
    }

    fn step_replayed(&mut self, test: &Test, step: &Step) {
        self.replayed += 1;
        let message = terminal::line(&format!("repeated {} {}", test.id, step.label));
        self.print_at_intervals(|this| format!("{message} ({} steps so far)", this.replayed));
        if self.lines.is_due() {
            self.lines.show(vec![message]);
        }
    }

    fn verifying(&mut self, read: Bytes, total: Bytes) {
        let share = read.0 as f64 / total.0.max(1) as f64 * 100.0;
        let text = format!("verified {} of {} ({share:.0} %)", read.about(), total.about());
        if !self.told.of_verification {
            self.told.of_verification = true;
            self.last_line = Instant::now();
            self.print_line(&format!("verifying up to {}", total.about()));
        }
        if self.lines.is_due() {
            self.lines.show(vec![format!("  {text}"), format!("  {}", live::ADVICE)]);
        }
        self.print_at_intervals(|_| text);
    }

    fn verification_ended(&mut self, verified: &Verified) {
        let Verified { bytes, wrong, elapsed, .. } = verified;
        // A virtual drive takes no time for it.
        let time = match *elapsed {
            Nanos::ZERO => String::new(),
            elapsed => format!(" in {}", elapsed.about()),
        };
        let bytes = Bytes(*bytes).about();
        self.print_line(&format!("verified {bytes}{time}: {wrong} wrong blocks"));
    }

    fn interval_recorded(&mut self, step: StepId, interval: &Interval) {
        self.totals.add(interval);
        if let Some(second) = self.assembler.interval(step, self.totals.latency_of, interval) {
            self.take_second(second);
        }
    }

    fn reading_recorded(&mut self, _step: StepId, reading: &Reading) {
        self.assembler.reading(reading);
    }

    fn progress(&mut self, doing: &str, done: Bytes, most: Bytes) {
        let percent = (done.0 as f64 / most.0.max(1) as f64 * 100.0).min(100.0);
        let text = || {
            let (done, most) = (done.about(), most.about());
            format!("{doing}: {done} of at most {most} written and read ({percent:.1} %)")
        };
        if self.lines.is_due() {
            self.lines.show(vec![text(), format!("  {}", live::ADVICE)]);
        }
        self.print_at_intervals(|_| text());
    }

    fn doing(&mut self, what: &str) {
        self.figures = what.to_owned();
        match self.lines.is_shown() {
            true => self.draw(),
            false => self.print_line(&format!("        {what}")),
        }
    }

    fn step_interrupted(&mut self, _test: &Test, _step: &Step, elapsed: Nanos) {
        self.end_second();
        self.is_in_step = false;
        let (number, title) = (self.number(), &self.title);
        let text = format!("{number} {title:<34}  interrupted after {}", elapsed.about());
        self.print_line(&text);
    }

    fn preparation_ended(&mut self, step: &Step, prepared: &Prepared) {
        self.without_effect = step_title::without_effect(step, prepared);
    }

    fn step_ended(&mut self, _test: &Test, _step: &Step, elapsed: Nanos) {
        self.end_second();
        self.is_in_step = false;
        let number = self.number();
        let width = width::columns_of_messages().unwrap_or(width::DEFAULT);
        let figures = match self.without_effect.take() {
            Some(words) => format!("  {words}"),
            None => finished(&self.totals, elapsed, width),
        };
        // The widest line without a duration has 80 columns.
        let room = match width {
            _ if width >= WITH_DURATION => 34,
            _ if width >= WITH_IOPS => 29,
            _ => 26,
        };
        self.print_line(&format!("{number} {:<room$} {figures}", self.title));
        if let Some(filled) = self.outlook.step_ended(self.place, elapsed) {
            self.expected = self.outlook.expected(self.place);
            self.remaining = self.outlook.remaining_from(self.place);
            self.print_outlook(filled, elapsed);
        }
    }
}

#[cfg(test)]
mod tests;
