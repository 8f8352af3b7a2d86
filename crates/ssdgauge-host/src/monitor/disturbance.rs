//! Disturbance during a step: events of host and drive that affect its results.
//!
//! Counters of the kernel are read before and after a step, and a stall detector runs within it.
//! Nothing is sent to the drive but one query for its temperature at the end, through sysfs.

use super::counters::{self, Compared, Counters};
use super::queue::{self, DeviceQueue};
use super::stall_detector::{SchedulingGaps, StallDetector};
use super::step::{Counted, Step};
use ssdgauge_core::rounded::latency;
use ssdgauge_core::{
    Engine, Finding, FindingKind, Interval, KernelQueue, LogPage, Nanos, Reading, Severity, Sink,
    Stream, TargetKind, Workload,
};
use ssdgauge_os::sysfs::attribute;
use std::path::{Path, PathBuf};

/// The share of processor time lost to others from which on a step has a finding.
const MAX_LOST: f64 = 0.01;
/// The mean wait for a processor from which on a step has a finding, in milliseconds: ten times the
/// latency of a request to a fast drive.
const LONG_WAIT_MS: f64 = 1.0;
/// The share of time on a processor from which on the host limits the result: within 10 % of its
/// capacity.
const CEILING: f64 = 0.9;
/// The latency of a single request that is reported as a stall.
const STALL: Nanos = Nanos::SECOND;

/// The state of host and device before a step, to be compared with that after it.
#[derive(Debug)]
pub(crate) struct DisturbanceMonitor {
    device: Option<PathBuf>,
    counters: Option<Counters>,
    queue: Option<DeviceQueue>,
    processors: Processors,
    stall_detector: StallDetector,
}

impl DisturbanceMonitor {
    /// Begins to monitor the host, and the block device whose folder in sysfs is `device`. `node` is
    /// the folder of the target itself, where it is a block device: the device or a partition.
    pub(crate) fn begin(device: Option<&Path>, node: Option<&Path>) -> DisturbanceMonitor {
        DisturbanceMonitor {
            device: device.map(Path::to_owned),
            counters: device.and_then(Counters::read),
            queue: node.zip(device).and_then(|(node, disk)| DeviceQueue::begin(node, disk)),
            processors: Processors::read(Path::new("/")),
            stall_detector: StallDetector::start(),
        }
    }

    /// Returns the findings of `step`, whose intervals passed through `latencies`, and the use of
    /// the device by the counters of the kernel.
    pub(crate) fn end(
        self,
        step: &Step<'_>,
        latencies: &LatencyWatch<'_>,
    ) -> (Vec<Finding>, Option<KernelQueue>) {
        let after = self.device.as_deref().and_then(Counters::read);
        let gaps = self.stall_detector.end();
        let mut findings = gaps.findings();
        let now = Processors::read(Path::new("/"));
        findings.extend(self.processors.findings(&now));
        findings.extend(engine_load(&gaps, step));
        findings.extend(latencies.stall(step.workload, &gaps));
        // A failed request has an unknown number of bytes, so the counters could not be compared.
        let counted = self.counters.zip(after);
        let counted = counted.filter(|_| step.whole && step.counted != Counted::Some);
        if let Some((before, after)) = counted {
            findings.extend(counters::compare(&Compared {
                before,
                after,
                issued: latencies.bytes,
                counts_own: step.counted == Counted::All,
                kind: step.kind,
                random: step.workload.streams.iter().all(Stream::is_random),
                page_cached: step.page_cached,
            }));
        }
        let queue = self.queue.filter(|_| step.whole && step.counted == Counted::All);
        let kernel = queue.as_ref().and_then(|queue| queue.end(step.elapsed));
        let length = queue.as_ref().and_then(DeviceQueue::length);
        findings.extend(queue::finding(step, kernel.as_ref(), length));
        findings.extend(self.device.as_deref().and_then(warning_temperature));
        (findings, kernel)
    }
}

/// The watch between two steps: in rests, preparations without a load, and commits of the run file.
#[derive(Debug)]
pub(crate) struct PauseMonitor(StallDetector);

impl PauseMonitor {
    /// Begins to watch.
    pub(crate) fn begin() -> PauseMonitor {
        PauseMonitor(StallDetector::start())
    }

    /// Returns the findings since the begin.
    pub(crate) fn end(self) -> Vec<Finding> {
        self.0.end().findings_between_steps()
    }
}

/// A sink that forwards everything, sums up the bytes and records latencies of a stall.
pub(crate) struct LatencyWatch<'a> {
    inner: &'a mut dyn Sink,
    bytes: [u64; 2],
    /// Latencies of a stall, one for each interval that has one.
    stalls: Vec<Stall>,
}

/// The longest latency of an interval.
#[derive(Clone, Copy, Debug)]
struct Stall {
    length: Nanos,
    second: u32,
    direction: &'static str,
}

/// The maximum number of stalls that are kept: hours of them.
const MAX_STALLS: usize = 10_000;

impl<'a> LatencyWatch<'a> {
    /// Returns a watch that forwards to `inner`.
    pub(crate) fn new(inner: &'a mut dyn Sink) -> LatencyWatch<'a> {
        LatencyWatch { inner, bytes: [0; 2], stalls: Vec::new() }
    }

    /// Returns a finding for the longest latency, where it is a stall. In a closed loop no request
    /// waits for its turn, so the drive or the kernel caused it; in an open loop it may have
    /// queued. The time in which this program stood still, by `gaps`, is none of the drive: it has a
    /// finding of its own, and only what remains of a latency counts.
    fn stall(&self, workload: &Workload, gaps: &SchedulingGaps) -> Option<Finding> {
        workload.closed_depth()?;
        let remaining = |stall: &Stall| {
            let end = Nanos::from_secs(u64::from(stall.second) + 1);
            let still =
                gaps.time_between(Nanos(end.0.saturating_sub(stall.length.0 + STALL.0)), end);
            Nanos(stall.length.0.saturating_sub(still.0))
        };
        let of_drive = self.stalls.iter().map(|stall| (remaining(stall), stall));
        let longest = of_drive.max_by_key(|(remaining, _)| *remaining);
        let (remaining, stall) = longest.filter(|(remaining, _)| *remaining >= STALL)?;
        let still = match stall.length.0 - remaining.0 {
            0 => String::new(),
            still => format!(", in which the program stood still for {}", Nanos(still).about()),
        };
        let Stall { length, second, direction } = stall;
        Some(Finding::new(
            FindingKind::Stalled,
            Severity::Warning,
            format!(
                "a {direction} took {} and completed in second {second}{still}",
                length.about()
            ),
            "the drive, its link or the error handling of the kernel stalled: see the timeline and \
             the log of the kernel",
        ))
    }
}

impl Sink for LatencyWatch<'_> {
    fn interval(&mut self, interval: &Interval) {
        if interval.direction.is_transfer() {
            self.bytes[interval.direction.side()] += interval.bytes;
        }
        if let Some(length) = interval.latency.max().map(Nanos)
            && length >= STALL
            && self.stalls.len() < MAX_STALLS
        {
            let (second, direction) = (interval.second, interval.direction.name());
            self.stalls.push(Stall { length, second, direction });
        }
        self.inner.interval(interval);
    }

    fn reading(&mut self, reading: &Reading) {
        self.inner.reading(reading);
    }

    fn log_page(&mut self, page: LogPage) {
        self.inner.log_page(page);
    }

    fn finding(&mut self, finding: Finding) {
        self.inner.finding(finding);
    }

    fn announce(&mut self, finding: Finding) -> bool {
        self.inner.announce(finding)
    }

    fn stop(&mut self) -> bool {
        self.inner.stop()
    }
}

/// Counters of all processors of the machine.
#[derive(Clone, Copy, Debug, Default)]
struct Processors {
    /// Clock ticks used by other virtual machines (`steal` in /proc/stat).
    stolen: u64,
    /// All clock ticks.
    all: u64,
    /// The number of thermal throttling events.
    throttled: u64,
}

impl Processors {
    fn read(root: &Path) -> Processors {
        let text = attribute(&root.join("proc/stat")).unwrap_or_default();
        let first = text.lines().next().unwrap_or_default();
        // user nice system idle iowait irq softirq steal; user includes guest time.
        let ticks: Vec<u64> =
            first.split_whitespace().skip(1).take(8).filter_map(|word| word.parse().ok()).collect();
        let processors = std::fs::read_dir(root.join("sys/devices/system/cpu"));
        let throttled = processors.into_iter().flatten().flatten().filter_map(|processor| {
            attribute(&processor.path().join("thermal_throttle/core_throttle_count"))?.parse().ok()
        });
        Processors {
            stolen: ticks.get(7).copied().unwrap_or(0),
            all: ticks.iter().sum(),
            throttled: throttled.fold(0u64, u64::saturating_add),
        }
    }

    fn findings(&self, after: &Processors) -> Vec<Finding> {
        let mut findings = Vec::new();
        let all = after.all.saturating_sub(self.all).max(1) as f64;
        let stolen = after.stolen.saturating_sub(self.stolen) as f64 / all;
        if stolen > MAX_LOST {
            findings.push(Finding::new(
                FindingKind::Disturbed,
                Severity::Warning,
                format!(
                    "other virtual machines used {:.1} % of the processor time (steal)",
                    stolen * 100.0
                ),
                "measure on a machine without other guests, or while they are idle",
            ));
        }
        let throttled = after.throttled.saturating_sub(self.throttled);
        if throttled > 0 {
            findings.push(Finding::new(
                FindingKind::Disturbed,
                Severity::Warning,
                format!("the processor was throttled {throttled} times because of its temperature"),
                "cool the machine, and run the step again",
            ));
        }
        findings
    }
}

/// Returns findings where an I/O thread waited for a processor, or was busy nearly all the time.
fn engine_load(gaps: &SchedulingGaps, step: &Step<'_>) -> Vec<Finding> {
    let mut findings = Vec::new();
    let waited = gaps.threads().max_by(|a, b| a.waiting.total_cmp(&b.waiting));
    if let Some(thread) = waited.filter(|thread| {
        thread.waiting > MAX_LOST || (thread.slices > 0 && thread.mean_wait_ms() > LONG_WAIT_MS)
    }) {
        findings.push(Finding::new(
            FindingKind::Disturbed,
            Severity::Warning,
            format!(
                "an I/O thread spent {:.1} % of its time waiting for a CPU, {} per wait",
                thread.waiting * 100.0,
                latency(thread.mean_wait_ms() * 1e3)
            ),
            "stop other programs on this machine, and run the step again",
        ));
    }
    let is_closed = step.workload.closed_depth().is_some();
    let is_ring = step.workload.engine == Engine::IoUring;
    let least = gaps.threads().map(|thread| thread.running).reduce(f64::min);
    if let Some(running) = least.filter(|running| *running >= CEILING)
        && is_closed
        && is_ring
        && step.polled.is_none_or(|for_each_call| for_each_call >= CEILING)
        && step.kind != TargetKind::Null
        && step.elapsed >= Nanos::SECOND
    {
        findings.push(Finding::new(
            FindingKind::HostCeiling,
            Severity::Warning,
            format!("the engine was busy {:.0} % of the time", running * 100.0),
            "the host may limit this result: use more threads or a faster processor",
        ));
    }
    findings
}

/// Returns a finding where the drive is at its warning temperature, as far as the kernel reports
/// it.
fn warning_temperature(device: &Path) -> Option<Finding> {
    let monitors = std::fs::read_dir(device.join("device")).ok()?.flatten();
    let monitor = monitors.map(|entry| entry.path()).find(|path| {
        path.file_name().is_some_and(|name| name.as_encoded_bytes().starts_with(b"hwmon"))
    })?;
    // The sensor is in a folder below `hwmon`, or in `hwmon1` itself, depending on the kernel.
    let inner = std::fs::read_dir(&monitor).ok()?.flatten().map(|entry| entry.path());
    let folder = inner.chain([monitor.clone()]).find(|path| path.join("temp1_input").exists())?;
    let milli = |name: &str| attribute(&folder.join(name))?.parse::<f64>().ok();
    let (is, most) = (milli("temp1_input")?, milli("temp1_max")?);
    (is >= most && most > 0.0).then(|| {
        Finding::new(
            FindingKind::Throttled,
            Severity::Warning,
            format!(
                "the drive is at {:.0} °C; its warning temperature is {:.0} °C",
                is / 1e3,
                most / 1e3
            ),
            "drives throttle at this temperature: cool it, and run the step again",
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sink_that_watches_latencies_forwards_every_call() {
        ssdgauge_core::check_forwarding(|inner, check| check(&mut LatencyWatch::new(inner)));
    }

    #[test]
    fn a_request_that_waited_for_the_stopped_program_is_not_a_stall_of_the_drive() {
        let workload =
            Workload { engine: Engine::IoUring, streams: vec![ssdgauge_core::Stream::default()] };
        let seconds = |seconds: f64| Nanos((seconds * 1e9) as u64);
        let stalled = |latencies: &[(f64, u32)], gaps: &[(f64, f64)]| {
            let mut recording = ssdgauge_core::Recording::default();
            let mut watch = LatencyWatch::new(&mut recording);
            for (length, second) in latencies {
                let mut latency = ssdgauge_core::Histogram::default();
                latency.record(seconds(*length).0);
                let interval = Interval {
                    second: *second,
                    stream: 0,
                    direction: ssdgauge_core::Direction::Read,
                    length: Nanos::SECOND,
                    ios: 1,
                    bytes: 4_096,
                    errors: 0,
                    latency,
                };
                watch.interval(&interval);
            }
            let gaps = SchedulingGaps::stopped_at(
                gaps.iter().map(|(at, length)| (seconds(*at), seconds(*length))),
            );
            watch.stall(&workload, &gaps).map(|finding| finding.text)
        };
        let text = |text: &str| Some(text.to_owned());
        let alone = text("a read took 20 s and completed in second 22");
        assert_eq!(stalled(&[(20.0, 22)], &[]), alone);
        assert_eq!(stalled(&[(20.0, 22)], &[(2.5, 19.9)]), None, "the program was stopped");
        assert_eq!(stalled(&[(20.0, 22)], &[(40.0, 20.0)]), alone, "at another time");
        // A stall of the drive during a longer one of the program, and one that outlasts the stop.
        let other = text("a read took 8 s and completed in second 60");
        assert_eq!(stalled(&[(20.0, 22), (8.0, 60)], &[(2.5, 19.9)]), other);
        let both = "a read took 30 s and completed in second 32, in which the program stood still for 20 s";
        assert_eq!(stalled(&[(30.0, 32)], &[(5.0, 20.0)]), text(both));
    }

    #[test]
    fn steal_and_throttling_are_found_by_the_counters_of_the_kernel() {
        let root = tempfile::tempdir().unwrap();
        let throttle = root.path().join("sys/devices/system/cpu/cpu0/thermal_throttle");
        std::fs::create_dir_all(&throttle).unwrap();
        std::fs::create_dir_all(root.path().join("proc")).unwrap();
        let write = |stat: &str, count: &str| {
            std::fs::write(root.path().join("proc/stat"), stat).unwrap();
            std::fs::write(throttle.join("core_throttle_count"), count).unwrap();
            Processors::read(root.path())
        };
        let before = write("cpu  100 0 100 800 0 0 0 10 0 0\ncpu0 1 1\n", "5\n");
        let quiet = write("cpu  200 0 200 1600 0 0 0 11 0 0\n", "5\n");
        assert!(before.findings(&quiet).is_empty());
        let loud = write("cpu  200 0 200 1600 0 0 0 60 0 0\n", "7\n");
        let texts: Vec<String> = before.findings(&loud).into_iter().map(|f| f.text).collect();
        assert_eq!(texts.len(), 2, "{texts:?}");
        assert!(texts[0].contains("4.8 %") && texts[1].contains("2 times"), "{texts:?}");
    }

    #[test]
    fn a_drive_at_its_warning_temperature_has_a_finding() {
        let root = tempfile::tempdir().unwrap();
        let folder = root.path().join("device/hwmon1");
        std::fs::create_dir_all(&folder).unwrap();
        std::fs::write(folder.join("temp1_max"), "75000").unwrap();
        for (now, expected) in [("74000", false), ("75000", true)] {
            std::fs::write(folder.join("temp1_input"), now).unwrap();
            assert_eq!(warning_temperature(root.path()).is_some(), expected, "{now}");
        }
    }
}
