//! A thread that wakes every ten milliseconds and notes when it could not, and why; it looks at
//! the clocks and at the I/O threads meanwhile.

use rustix::time::{ClockId, clock_gettime};
use ssdgauge_core::{Finding, FindingKind, Nanos, Severity};
use std::collections::BTreeMap;
use std::fs::File;
use std::os::unix::fs::FileExt;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::Duration;

/// How often it beats.
const BEAT: Duration = Duration::from_millis(10);
/// A pause of the heart that is told.
const GAP: u64 = 100_000_000;
/// A change of the time of day that is a jump: a clock that is slewed moves 0.5 ms in a second.
const JUMP: i64 = 500_000_000;
/// The most gaps that are kept.
const MOST_GAPS: usize = 1_000;
/// How often it looks at the I/O threads.
const LOOK: u64 = 500_000_000;

/// A heart that beats.
#[derive(Debug)]
pub(super) struct StallDetector {
    end: Sender<()>,
    thread: Option<JoinHandle<SchedulingGaps>>,
}

impl StallDetector {
    pub(super) fn start() -> StallDetector {
        let (end, ended) = channel();
        let thread = std::thread::Builder::new().name("ssdgauge-beat".into());
        StallDetector { end, thread: thread.spawn(move || beat(&ended)).ok() }
    }

    /// Stops the heart, and returns what it has noted.
    pub(super) fn end(self) -> SchedulingGaps {
        drop(self.end);
        self.thread.and_then(|thread| thread.join().ok()).unwrap_or_default()
    }
}

/// What a heart has noted.
#[derive(Debug, Default)]
pub(super) struct SchedulingGaps {
    /// Pauses in which no processor was wanted: the program was stopped, or the machine was.
    still: Vec<Gap>,
    /// Pauses in which a processor was wanted and not given.
    waited: Vec<Gap>,
    /// Jumps of the time of day, in nanoseconds, with the moment.
    jumps: Vec<(Nanos, i64)>,
    threads: BTreeMap<String, (Sample, Sample)>,
}

/// A pause, from the start of the step.
#[derive(Clone, Copy, Debug)]
struct Gap {
    at: Nanos,
    length: Nanos,
}

/// What the kernel says of a thread at one moment.
#[derive(Clone, Copy, Debug, Default)]
struct Sample {
    pub at: u64,
    running: u64,
    waiting: u64,
    slices: u64,
}

/// How an I/O thread spent its time.
#[derive(Clone, Copy, Debug)]
pub(super) struct Share {
    /// The share of time on a processor.
    pub(super) running: f64,
    /// The share of time in which it waited for one.
    pub(super) waiting: f64,
    pub(super) slices: u64,
    waited_ms: f64,
}

impl Share {
    pub(super) fn mean_wait_ms(&self) -> f64 {
        self.waited_ms / self.slices.max(1) as f64
    }
}

/// The clocks at one moment, in nanoseconds.
#[derive(Clone, Copy, Debug)]
struct Clocks {
    monotonic: u64,
    /// As the monotonic one, and goes on while the machine sleeps.
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

fn beat(ended: &Receiver<()>) -> SchedulingGaps {
    let mut beats = SchedulingGaps::default();
    let own = File::open("/proc/thread-self/schedstat").ok();
    let waiting = || own.as_ref().and_then(schedstat).map_or(0, |(_, waiting, _)| waiting);
    let start = Clocks::now();
    let (mut last, mut last_waiting, mut looked) = (start, waiting(), start.monotonic);
    beats.look(start.monotonic);
    while ended.recv_timeout(BEAT) == Err(RecvTimeoutError::Timeout) {
        let (now, now_waiting) = (Clocks::now(), waiting());
        beats.note(start, last, now, now_waiting.saturating_sub(last_waiting));
        (last, last_waiting) = (now, now_waiting);
        if now.monotonic - looked >= LOOK {
            looked = now.monotonic;
            beats.look(now.monotonic);
        }
    }
    beats
}

/// Returns time on a processor, time of waiting for one (both in nanoseconds) and the number of
/// slices, from an open `schedstat`.
fn schedstat(file: &File) -> Option<(u64, u64, u64)> {
    let mut buffer = [0; 80];
    let n = file.read_at(&mut buffer, 0).ok()?;
    let mut words = std::str::from_utf8(&buffer[..n]).ok()?.split_whitespace();
    let mut next = || words.next()?.parse().ok();
    Some((next()?, next()?, next()?))
}

impl SchedulingGaps {
    /// Notes what is odd between two beats, in the second of which `waited` nanoseconds more were
    /// spent waiting for a processor.
    fn note(&mut self, start: Clocks, last: Clocks, now: Clocks, waited: u64) {
        let at = Nanos(last.monotonic - start.monotonic);
        let asleep = (now.boot - last.boot).saturating_sub(now.monotonic - last.monotonic);
        let gap = (now.monotonic - last.monotonic).saturating_sub(BEAT.as_nanos() as u64) + asleep;
        if gap > GAP {
            let gaps = if waited > gap / 2 { &mut self.waited } else { &mut self.still };
            if gaps.len() < MOST_GAPS {
                gaps.push(Gap { at, length: Nanos(gap) });
            }
        }
        let jump = (now.day - last.day) - (now.boot - last.boot) as i64;
        if jump.abs() > JUMP && self.jumps.len() < MOST_GAPS {
            self.jumps.push((at, jump));
        }
    }

    /// Looks at the I/O threads of this process.
    fn look(&mut self, at: u64) {
        let Ok(tasks) = std::fs::read_dir("/proc/self/task") else { return };
        for task in tasks.flatten() {
            let name = std::fs::read_to_string(task.path().join("comm")).unwrap_or_default();
            if name.trim() != "ssdgauge-io" {
                continue;
            }
            let Ok(file) = File::open(task.path().join("schedstat")) else { continue };
            let Some((running, waiting, slices)) = schedstat(&file) else { continue };
            let sample = Sample { at, running, waiting, slices };
            let id = task.file_name().to_string_lossy().into_owned();
            self.threads.entry(id).or_insert((sample, sample)).1 = sample;
        }
    }

    /// Returns how each I/O thread that was seen for a second or longer spent its time.
    pub(super) fn threads(&self) -> impl Iterator<Item = Share> {
        self.threads.values().filter_map(|(first, last)| {
            let span = last.at - first.at;
            let share = |from: u64, to: u64| to.saturating_sub(from) as f64 / span as f64;
            (span >= Nanos::SECOND.0).then(|| Share {
                running: share(first.running, last.running),
                waiting: share(first.waiting, last.waiting),
                slices: last.slices.saturating_sub(first.slices),
                waited_ms: last.waiting.saturating_sub(first.waiting) as f64 / 1e6,
            })
        })
    }

    /// Tells pauses and jumps.
    pub(super) fn findings(&self) -> Vec<Finding> {
        let told = |gaps: &[Gap], what: &str| {
            let longest = gaps.iter().max_by_key(|gap| gap.length)?;
            let all: Nanos = gaps.iter().map(|gap| gap.length).sum();
            let times = match gaps.len() {
                1 => String::new(),
                more => format!(" {more} times, {all} in all, the longest"),
            };
            Some(format!("{what}{times} for {} at {} of the step", longest.length, longest.at))
        };
        let mut findings = Vec::new();
        if let Some(text) = told(&self.still, "the program stood still") {
            let advice = "something stopped it or the whole machine; run the step again";
            findings.push(Finding::new(FindingKind::StoodStill, Severity::Invalid, text, advice));
        }
        if let Some(text) = told(&self.waited, "the program waited for a processor") {
            let advice = "stop other programs on this machine, and run the step again";
            findings.push(Finding::new(FindingKind::Disturbed, Severity::Warning, text, advice));
        }
        if let Some((at, jump)) = self.jumps.first() {
            let (length, way) = (Nanos(jump.unsigned_abs()), if *jump > 0 { "on" } else { "back" });
            findings.push(Finding::new(
                FindingKind::ClockJumped,
                Severity::Note,
                format!("the time of day was set {way} by {length} at {at} of the step"),
                "durations do not depend on it; dates of this run may be wrong",
            ));
        }
        findings
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
        let mut beats = SchedulingGaps::default();
        beats.note(at(0, 0, 0), last, now, waited_ms * 1_000_000);
        let kinds: Vec<FindingKind> = beats.findings().into_iter().map(|f| f.kind).collect();
        assert_eq!(kinds, expected, "{last:?} {now:?} {waited_ms}");
    }

    #[test]
    fn a_stop_a_sleep_a_busy_machine_and_a_set_clock_are_told_apart() {
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
    fn a_gap_is_told_with_its_time_and_its_length() {
        let mut beats = SchedulingGaps::default();
        beats.note(at(0, 0, 0), at(1_000, 0, 0), at(3_010, 0, 2_010), 0);
        beats.note(at(0, 0, 0), at(4_000, 0, 0), at(4_510, 0, 510), 0);
        let text = &beats.findings()[0].text;
        assert_eq!(
            text,
            "the program stood still 2 times, 2.5s in all, the longest for 2s at 1s of the step"
        );
    }
}
