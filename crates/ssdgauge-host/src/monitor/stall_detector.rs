//! Stall detector: a thread that wakes every 10 ms and records when and why it woke late.
//!
//! A stopped process, a suspended machine and a missing processor all look like a slow drive in the
//! latencies. The thread compares three clocks to distinguish them, and reads the scheduling
//! statistics of the I/O threads.

use rustix::time::{ClockId, clock_gettime};
use ssdgauge_core::{Finding, FindingKind, Nanos, Severity};
use std::collections::BTreeMap;
use std::fs::File;
use std::os::unix::fs::FileExt;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::Duration;

/// The period of the thread.
const PERIOD: Duration = Duration::from_millis(10);
/// The minimum delay of a wake-up that is recorded, in nanoseconds.
const LEAST_GAP: u64 = 100_000_000;
/// The minimum change of the time of day that counts as a jump, in nanoseconds: a clock that NTP
/// slews moves by 0.5 ms in a second.
const LEAST_JUMP: i64 = 500_000_000;
/// The maximum number of gaps that are recorded.
const MAX_GAPS: usize = 1_000;
/// The period of the reads of the I/O threads, in nanoseconds.
const THREAD_PERIOD: u64 = 500_000_000;

/// The running thread.
#[derive(Debug)]
pub(super) struct StallDetector {
    end: Sender<()>,
    thread: Option<JoinHandle<SchedulingGaps>>,
}

impl StallDetector {
    /// Starts the thread. Where that fails, no gaps are recorded.
    pub(super) fn start() -> StallDetector {
        let (end, ended) = channel();
        let thread = std::thread::Builder::new().name("ssdgauge-stall".into());
        StallDetector { end, thread: thread.spawn(move || detect(&ended)).ok() }
    }

    /// Ends the thread, and returns the gaps that it recorded.
    pub(super) fn end(self) -> SchedulingGaps {
        drop(self.end);
        self.thread.and_then(|thread| thread.join().ok()).unwrap_or_default()
    }
}

/// The gaps of a step, and the scheduling of its I/O threads.
#[derive(Debug, Default)]
pub(super) struct SchedulingGaps {
    /// Gaps in which the thread was not runnable: the process or the machine was stopped.
    stopped: Vec<Gap>,
    /// Gaps in which the thread was runnable and had no processor.
    waited: Vec<Gap>,
    /// Jumps of the time of day in nanoseconds, each with its time in the step.
    jumps: Vec<(Nanos, i64)>,
    threads: BTreeMap<String, (ThreadSample, ThreadSample)>,
}

/// A gap.
#[derive(Clone, Copy, Debug)]
struct Gap {
    /// Its start, from the start of the step.
    at: Nanos,
    length: Nanos,
}

/// The scheduling statistics of a thread at one time, in nanoseconds.
#[derive(Clone, Copy, Debug, Default)]
struct ThreadSample {
    at: u64,
    running: u64,
    waiting: u64,
    slices: u64,
}

/// The use of processor time by an I/O thread.
#[derive(Clone, Copy, Debug)]
pub(super) struct ThreadTime {
    /// The share of time on a processor.
    pub(super) running: f64,
    /// The share of time in which it waited for a processor.
    pub(super) waiting: f64,
    /// The number of times that it got a processor.
    pub(super) slices: u64,
    waited_ms: f64,
}

impl ThreadTime {
    /// Returns the mean wait for a processor, in milliseconds.
    pub(super) fn mean_wait_ms(&self) -> f64 {
        self.waited_ms / self.slices.max(1) as f64
    }
}

/// The clocks at one time, in nanoseconds.
#[derive(Clone, Copy, Debug)]
struct Clocks {
    monotonic: u64,
    /// As `monotonic`, but it also counts while the machine is suspended.
    boot: u64,
    /// The time of day.
    day: i64,
}

impl Clocks {
    fn now() -> Clocks {
        let nanos = |clock| {
            let time = clock_gettime(clock);
            time.tv_sec * 1_000_000_000 + time.tv_nsec
        };
        Clocks {
            monotonic: nanos(ClockId::Monotonic) as u64,
            boot: nanos(ClockId::Boottime) as u64,
            day: nanos(ClockId::Realtime),
        }
    }
}

fn detect(ended: &Receiver<()>) -> SchedulingGaps {
    let mut gaps = SchedulingGaps::default();
    let own = File::open("/proc/thread-self/schedstat").ok();
    let waiting = || own.as_ref().and_then(schedstat).map_or(0, |(_, waiting, _)| waiting);
    let start = Clocks::now();
    let (mut last, mut last_waiting, mut sampled) = (start, waiting(), start.monotonic);
    gaps.sample_threads(start.monotonic);
    while ended.recv_timeout(PERIOD) == Err(RecvTimeoutError::Timeout) {
        let (now, now_waiting) = (Clocks::now(), waiting());
        gaps.record(start, last, now, now_waiting.saturating_sub(last_waiting));
        (last, last_waiting) = (now, now_waiting);
        if now.monotonic - sampled >= THREAD_PERIOD {
            sampled = now.monotonic;
            gaps.sample_threads(now.monotonic);
        }
    }
    gaps
}

/// Returns the time on a processor and the time of waiting for one, both in nanoseconds, and the
/// number of time slices, from an open `schedstat`.
fn schedstat(file: &File) -> Option<(u64, u64, u64)> {
    let mut buffer = [0; 80];
    let n = file.read_at(&mut buffer, 0).ok()?;
    let mut words = std::str::from_utf8(&buffer[..n]).ok()?.split_whitespace();
    let mut next = || words.next()?.parse().ok();
    Some((next()?, next()?, next()?))
}

impl SchedulingGaps {
    /// Records a gap or a jump between the wake-ups `last` and `now`, between which the thread
    /// waited for a processor for `waited` nanoseconds.
    fn record(&mut self, start: Clocks, last: Clocks, now: Clocks, waited: u64) {
        let at = Nanos(last.monotonic - start.monotonic);
        let asleep = (now.boot - last.boot).saturating_sub(now.monotonic - last.monotonic);
        let late = (now.monotonic - last.monotonic).saturating_sub(PERIOD.as_nanos() as u64);
        let gap = late + asleep;
        if gap > LEAST_GAP {
            let gaps = if waited > gap / 2 { &mut self.waited } else { &mut self.stopped };
            if gaps.len() < MAX_GAPS {
                gaps.push(Gap { at, length: Nanos(gap) });
            }
        }
        // The boot clock counts a suspension as well, so a suspension is not taken for a jump.
        let jump = (now.day - last.day) - (now.boot - last.boot) as i64;
        if jump.abs() > LEAST_JUMP && self.jumps.len() < MAX_GAPS {
            self.jumps.push((at, jump));
        }
    }

    /// Returns how long the thread did not run between two times of the step, whatever the cause. A
    /// gap that reaches into that time counts in full: a suspended machine has no time of the step.
    pub(super) fn time_between(&self, from: Nanos, to: Nanos) -> Nanos {
        let gaps = self.stopped.iter().chain(&self.waited);
        let inside = gaps.filter(|gap| gap.at <= to && gap.at + gap.length >= from);
        inside.map(|gap| gap.length).sum()
    }

    /// Returns gaps in which the program was stopped, each with its start and its length.
    #[cfg(test)]
    pub(super) fn stopped_at(gaps: impl Iterator<Item = (Nanos, Nanos)>) -> SchedulingGaps {
        let stopped = gaps.map(|(at, length)| Gap { at, length }).collect();
        SchedulingGaps { stopped, ..SchedulingGaps::default() }
    }

    /// Returns findings on a stop of the program between two steps, and on the time of day that was
    /// set there: a rest or a preparation then took longer than planned.
    pub(super) fn findings_between_steps(&self) -> Vec<Finding> {
        let mut findings = Vec::new();
        if !self.stopped.is_empty() {
            let length: Nanos = self.stopped.iter().map(|gap| gap.length).sum();
            findings.push(Finding::new(
                FindingKind::StoodStill,
                Severity::Warning,
                format!("the program was stopped for {} since the step before", length.about()),
                "the drive rested longer than planned; run the test again where its state matters",
            ));
        }
        findings.extend(self.jump_finding("since the step before"));
        findings
    }

    /// Reads the scheduling statistics of the I/O threads of this process.
    fn sample_threads(&mut self, at: u64) {
        let Ok(tasks) = std::fs::read_dir("/proc/self/task") else { return };
        for task in tasks.flatten() {
            let name = std::fs::read_to_string(task.path().join("comm")).unwrap_or_default();
            if name.trim() != "ssdgauge-io" {
                continue;
            }
            let Ok(file) = File::open(task.path().join("schedstat")) else { continue };
            let Some((running, waiting, slices)) = schedstat(&file) else { continue };
            let sample = ThreadSample { at, running, waiting, slices };
            let id = task.file_name().to_string_lossy().into_owned();
            self.threads.entry(id).or_insert((sample, sample)).1 = sample;
        }
    }

    /// Returns the use of processor time by each I/O thread that ran for 1 s or longer.
    pub(super) fn threads(&self) -> impl Iterator<Item = ThreadTime> {
        self.threads.values().filter_map(|(first, last)| {
            let span = last.at - first.at;
            let share = |from: u64, to: u64| to.saturating_sub(from) as f64 / span as f64;
            (span >= Nanos::SECOND.0).then(|| ThreadTime {
                running: share(first.running, last.running),
                waiting: share(first.waiting, last.waiting),
                slices: last.slices.saturating_sub(first.slices),
                waited_ms: last.waiting.saturating_sub(first.waiting) as f64 / 1e6,
            })
        })
    }

    /// Returns a finding for each kind of gap, and for the first jump.
    pub(super) fn findings(&self) -> Vec<Finding> {
        let text = |gaps: &[Gap], what: &str| {
            let longest = gaps.iter().max_by_key(|gap| gap.length)?;
            let all: Nanos = gaps.iter().map(|gap| gap.length).sum();
            let times = match gaps.len() {
                1 => String::new(),
                more => format!(" {more} times, {} in total, the longest", all.about()),
            };
            let (length, at) = (longest.length.about(), longest.at.about());
            Some(format!("{what}{times} for {length} at {at} of the step"))
        };
        let mut findings = Vec::new();
        if let Some(text) = text(&self.stopped, "the program was stopped") {
            let advice = "find what stopped it (Ctrl-Z, a suspended machine, a paused virtual machine), and run the step again";
            findings.push(Finding::new(FindingKind::StoodStill, Severity::Invalid, text, advice));
        }
        if let Some(text) = text(&self.waited, "the program waited for a processor") {
            let advice = "stop other programs on this machine, and run the step again";
            findings.push(Finding::new(FindingKind::Disturbed, Severity::Warning, text, advice));
        }
        let at = self.jumps.first().map(|(at, _)| format!("at {} of the step", at.about()));
        findings.extend(self.jump_finding(&at.unwrap_or_default()));
        findings
    }

    /// Returns the finding on the first jump of the time of day, which took place `at` that time.
    fn jump_finding(&self, at: &str) -> Option<Finding> {
        let (_, jump) = self.jumps.first()?;
        let direction = if *jump > 0 { "forward" } else { "back" };
        let length = Nanos(jump.unsigned_abs()).about();
        Some(Finding::new(
            FindingKind::ClockJumped,
            Severity::Note,
            format!("the time of day was set {direction} by {length} {at}"),
            "durations come from the monotonic clock; dates of this run may be wrong",
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(millis: u64, asleep: u64, day: i64) -> Clocks {
        let monotonic = millis * 1_000_000;
        Clocks { monotonic, boot: monotonic + asleep * 1_000_000, day: day * 1_000_000 }
    }

    fn check(last: Clocks, now: Clocks, waited_ms: u64, expected: &[FindingKind]) {
        let mut gaps = SchedulingGaps::default();
        gaps.record(at(0, 0, 0), last, now, waited_ms * 1_000_000);
        let kinds: Vec<FindingKind> = gaps.findings().into_iter().map(|f| f.kind).collect();
        assert_eq!(kinds, expected, "{last:?} {now:?} {waited_ms}");
    }

    #[test]
    fn a_stop_a_suspension_a_busy_machine_and_a_set_clock_are_distinguished() {
        let last = at(1_000, 0, 1_000);
        check(last, at(1_012, 0, 1_012), 0, &[]);
        check(last, at(1_090, 0, 1_090), 0, &[]);
        check(last, at(3_000, 0, 3_000), 0, &[FindingKind::StoodStill]);
        check(last, at(1_010, 60_000, 61_010), 0, &[FindingKind::StoodStill]);
        check(last, at(1_400, 0, 1_400), 380, &[FindingKind::Disturbed]);
        check(last, at(1_010, 0, 9_000_000), 0, &[FindingKind::ClockJumped]);
        check(last, at(1_010, 0, -9_000_000), 0, &[FindingKind::ClockJumped]);
    }

    #[test]
    fn a_stop_and_a_set_clock_between_two_steps_are_findings() {
        let mut gaps = SchedulingGaps::default();
        let texts = |gaps: &SchedulingGaps| {
            let findings = gaps.findings_between_steps().into_iter();
            findings.map(|finding| finding.text).collect::<Vec<_>>()
        };
        // A busy machine matters only while requests are sent.
        gaps.record(at(0, 0, 0), at(1_000, 0, 1_000), at(3_010, 0, 3_010), 2_000_000_000);
        assert_eq!(texts(&gaps), Vec::<String>::new());
        gaps.record(at(0, 0, 0), at(4_000, 0, 4_000), at(24_010, 0, 14_010), 0);
        let stopped = "the program was stopped for 20 s since the step before";
        let jumped = "the time of day was set back by 10 s since the step before";
        assert_eq!(texts(&gaps), [stopped, jumped]);
    }

    #[test]
    fn a_gap_is_reported_with_its_time_and_its_length() {
        let mut gaps = SchedulingGaps::default();
        gaps.record(at(0, 0, 0), at(1_000, 0, 0), at(3_010, 0, 2_010), 0);
        gaps.record(at(0, 0, 0), at(4_000, 0, 0), at(4_510, 0, 510), 0);
        let text = &gaps.findings()[0].text;
        assert_eq!(
            text,
            "the program was stopped 2 times, 2.50 s in total, the longest for 2 s at 1 s of the step"
        );
    }
}
