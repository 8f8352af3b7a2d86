//! The interference of a step: what host and drive did meanwhile that bears on its numbers.
//!
//! It reads counters of the kernel before and after a step, and keeps a heartbeat within it. It
//! never touches the drive, and sends nothing to it but one question for its temperature at the
//! end, which the kernel answers from /sys.

use super::counters::{self, Compared, Counters};
use super::queue::{self, Held};
use super::stall_detector::{SchedulingGaps, StallDetector};
use super::step::Step;
use ssdgauge_core::{
    Access, Engine, Finding, FindingKind, Interval, Nanos, Reading, Severity, Sink, TargetKind,
    Workload,
};
use ssdgauge_os::sysfs::attribute;
use std::path::{Path, PathBuf};

/// The share of a step that the host may take away before its numbers are doubted.
const MOST_TAKEN: f64 = 0.01;
/// The mean wait for a processor that is told, in milliseconds.
const LONG_WAIT_MS: f64 = 1.0;
/// The share of time on a processor from which on a thread has no time left: within 10 % of what
/// the host can do.
const CEILING: f64 = 0.9;
/// A single request that takes as long as this is told with its second.
const STALL: Nanos = Nanos::SECOND;

/// What is read before a step, to be compared after it.
#[derive(Debug)]
pub(crate) struct InterferenceMonitor {
    device: Option<PathBuf>,
    counters: Option<Counters>,
    processors: Processors,
    heartbeat: StallDetector,
}

impl InterferenceMonitor {
    /// Begins to look at the host, and at the block device whose folder in /sys is `device`.
    pub(crate) fn begin(device: Option<&Path>) -> InterferenceMonitor {
        InterferenceMonitor {
            device: device.map(Path::to_owned),
            counters: device.and_then(Counters::read),
            processors: Processors::read(Path::new("/")),
            heartbeat: StallDetector::start(),
        }
    }

    /// Tells what bears on the numbers of `step`, of which `seen` is the sum.
    pub(crate) fn end(self, step: &Step<'_>, seen: &LatencyWatch<'_>) -> Vec<Finding> {
        let after = self.device.as_deref().and_then(Counters::read);
        let beats = self.heartbeat.end();
        let mut findings = beats.findings();
        let now = Processors::read(Path::new("/"));
        findings.extend(self.processors.findings(&now));
        findings.extend(busy(&beats, step));
        findings.extend(seen.stall(step.workload));
        let is_random = |stream: &ssdgauge_core::Stream| stream.access == Access::Random;
        let counted = self.counters.zip(after).filter(|_| step.whole);
        if let Some((before, after)) = counted {
            findings.extend(counters::compare(&Compared {
                before,
                after,
                issued: seen.bytes,
                kind: step.kind,
                random: step.workload.streams.iter().all(is_random),
                cached: step.cached,
            }));
        }
        let held = counted.zip(self.device.as_deref());
        let held = held.map(|((before, after), folder)| Held::between(&before, &after, folder));
        findings.extend(queue::finding(step, held));
        findings.extend(self.device.as_deref().and_then(heat));
        findings
    }
}

/// Counts what passes on its way to another sink.
pub(crate) struct LatencyWatch<'a> {
    inner: &'a mut dyn Sink,
    bytes: [u64; 2],
    /// The longest latency, with its second and its direction.
    longest: Option<(u64, u32, &'static str)>,
}

impl<'a> LatencyWatch<'a> {
    pub(crate) fn on_the_way_to(inner: &'a mut dyn Sink) -> LatencyWatch<'a> {
        LatencyWatch { inner, bytes: [0; 2], longest: None }
    }

    /// In a closed loop no request waits for anything but the drive.
    fn stall(&self, workload: &Workload) -> Option<Finding> {
        workload.closed_depth()?;
        let (nanos, second, direction) = self.longest.filter(|(nanos, ..)| *nanos >= STALL.0)?;
        Some(Finding::new(
            FindingKind::Stalled,
            Severity::Warning,
            format!("a {direction} took {}; it completed in second {second}", Nanos(nanos)),
            "the drive, its link or the kernel's error handling stood still: see the timeline and \
             the kernel's log",
        ))
    }
}

impl Sink for LatencyWatch<'_> {
    fn interval(&mut self, interval: &Interval) {
        self.bytes[interval.direction as usize] += interval.bytes;
        if let Some(nanos) = interval.latency.max()
            && self.longest.is_none_or(|(longest, ..)| nanos > longest)
        {
            self.longest = Some((nanos, interval.second, interval.direction.name()));
        }
        self.inner.interval(interval);
    }

    fn reading(&mut self, reading: &Reading) {
        self.inner.reading(reading);
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

/// What the processors of the machine have done so far.
#[derive(Clone, Copy, Debug, Default)]
struct Processors {
    /// Clock ticks that another machine took away ("steal" in /proc/stat).
    stolen: u64,
    /// Clock ticks in all.
    all: u64,
    /// How often processors were slowed down because of heat.
    throttled: u64,
}

impl Processors {
    fn read(root: &Path) -> Processors {
        let text = attribute(&root.join("proc/stat")).unwrap_or_default();
        let first = text.lines().next().unwrap_or_default();
        // user nice system idle iowait irq softirq steal; guest time is counted in user already.
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
        if stolen > MOST_TAKEN {
            findings.push(Finding::new(
                FindingKind::Disturbed,
                Severity::Warning,
                format!(
                    "other virtual machines took {:.1} % of the processors away",
                    stolen * 100.0
                ),
                "measure on a machine of your own, or when its host is quiet",
            ));
        }
        let throttled = after.throttled.saturating_sub(self.throttled);
        if throttled > 0 {
            findings.push(Finding::new(
                FindingKind::Disturbed,
                Severity::Warning,
                format!("the processor was slowed down {throttled} times because of heat"),
                "cool the machine, and run the step again",
            ));
        }
        findings
    }
}

/// Tells whether our own threads waited for a processor, or had no time left.
fn busy(beats: &SchedulingGaps, step: &Step<'_>) -> Vec<Finding> {
    let mut findings = Vec::new();
    let waited = beats.threads().max_by(|a, b| a.waiting.total_cmp(&b.waiting));
    if let Some(thread) = waited.filter(|thread| {
        thread.waiting > MOST_TAKEN || (thread.slices > 0 && thread.mean_wait_ms() > LONG_WAIT_MS)
    }) {
        findings.push(Finding::new(
            FindingKind::Disturbed,
            Severity::Warning,
            format!(
                "a thread of the engine waited for a processor for {:.1} % of the time, {:.2} ms \
                 each time",
                thread.waiting * 100.0,
                thread.mean_wait_ms()
            ),
            "stop other programs on this machine, and run the step again",
        ));
    }
    let is_closed = step.workload.closed_depth().is_some();
    let is_ring = step.workload.engine == Engine::IoUring;
    let least = beats.threads().map(|thread| thread.running).reduce(f64::min);
    if let Some(running) = least.filter(|running| *running >= CEILING)
        && is_closed
        && is_ring
        && step.kind != TargetKind::Null
        && step.elapsed >= Nanos::SECOND
    {
        findings.push(Finding::new(
            FindingKind::HostCeiling,
            Severity::Warning,
            format!("the engine was busy {:.0} % of the time", running * 100.0),
            "this host can hardly do more: the drive may be faster than the number; use more \
             threads or a faster processor",
        ));
    }
    findings
}

/// Tells a drive that is at its own warning temperature, where the kernel shows it.
fn heat(device: &Path) -> Option<Finding> {
    let monitors = std::fs::read_dir(device.join("device")).ok()?.flatten();
    let monitor = monitors.map(|entry| entry.path()).find(|path| {
        path.file_name().is_some_and(|name| name.as_encoded_bytes().starts_with(b"hwmon"))
    })?;
    // Newer kernels put the monitor into a folder of its own.
    let inner = std::fs::read_dir(&monitor).ok()?.flatten().map(|entry| entry.path());
    let folder = inner.chain([monitor.clone()]).find(|path| path.join("temp1_input").exists())?;
    let milli = |name: &str| attribute(&folder.join(name))?.parse::<f64>().ok();
    let (is, most) = (milli("temp1_input")?, milli("temp1_max")?);
    (is >= most && most > 0.0).then(|| {
        Finding::new(
            FindingKind::Throttled,
            Severity::Warning,
            format!("the drive is at {:.0} °C, and warns from {:.0} °C on", is / 1e3, most / 1e3),
            "drives slow down at this temperature: cool it, and run the step again",
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sink_that_watches_latencies_forwards_every_call() {
        ssdgauge_core::check_forwarding(|inner, check| {
            check(&mut LatencyWatch::on_the_way_to(inner))
        });
    }

    #[test]
    fn steal_and_heat_are_told_from_the_kernels_counts() {
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
    fn a_drive_at_its_warning_temperature_is_told() {
        let root = tempfile::tempdir().unwrap();
        let folder = root.path().join("device/hwmon1");
        std::fs::create_dir_all(&folder).unwrap();
        std::fs::write(folder.join("temp1_max"), "75000").unwrap();
        for (now, told) in [("74000", false), ("75000", true)] {
            std::fs::write(folder.join("temp1_input"), now).unwrap();
            assert_eq!(heat(root.path()).is_some(), told, "{now}");
        }
    }
}
