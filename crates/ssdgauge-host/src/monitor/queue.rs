//! Queue depth reached: the requests that the drive held, against the queue depth of the test.

use super::counters::Counters;
use super::step::Step;
use ssdgauge_core::{Finding, FindingKind, KernelQueue, Nanos, Severity, TargetKind};
use ssdgauge_os::sysfs::{attribute, name_of};
use std::path::{Path, PathBuf};

/// The minimum share of the requested queue depth, by the count of the engine, without a finding.
const LEAST_SENT: f64 = 0.95;
/// The same by the counters of the device. They leave out the time of each request in the host,
/// which is about a tenth for a drive with a latency of 20 µs.
const LEAST_HELD: f64 = 0.8;
/// The largest share by which the device may count more or fewer requests than were sent: beyond
/// it, the kernel split or merged them, or other programs sent some.
const OTHER_REQUESTS: f64 = 0.01;
/// The largest error of the time in the device by the resolution of its counter. Chosen.
const LARGEST_ERROR: f64 = 0.02;
/// The longest tick of the kernel (CONFIG_HZ=100), in milliseconds.
const TICK_MS: f64 = 10.0;

/// The counters that describe the queue of a target.
#[derive(Clone, Debug)]
pub(super) struct DeviceQueue {
    /// The folder in sysfs of the device that receives the requests: a partition has counters of
    /// its own, and a mapping counts before the devices below it.
    node: PathBuf,
    /// The folder of the whole disk, which has the attributes of the queue.
    disk: PathBuf,
    before: Counters,
}

impl DeviceQueue {
    /// Reads the counters of the device whose folder is `node`, on the disk whose folder is `disk`;
    /// `None` where there are none.
    pub(super) fn begin(node: &Path, disk: &Path) -> Option<DeviceQueue> {
        let before = Counters::read(node)?;
        Some(DeviceQueue { node: node.to_owned(), disk: disk.to_owned(), before })
    }

    /// Returns the use of the device since the begin of a step, which lasted `elapsed`; `None`
    /// where the error by the resolution of the counters may exceed [`LARGEST_ERROR`].
    pub(super) fn end(&self, elapsed: Nanos) -> Option<KernelQueue> {
        let after = Counters::read(&self.node)?;
        let held_ms = after.held_ms.wrapping_sub(self.before.held_ms);
        let held = f64::from(held_ms);
        let error_ms = match self.disk.join("mq").is_dir() {
            // The kernel adds up nanoseconds and prints whole milliseconds, before and after.
            true => 1.0,
            // Drivers without request queues (device mapper, zram) count the ticks within each
            // request. A share of a tick is the probability that one falls into the request, so the
            // sum of n requests has a variance below held × tick; two standard deviations count.
            false => 1.0 + 2.0 * (held * TICK_MS).sqrt(),
        };
        let requests = after.completed.wrapping_sub(self.before.completed);
        KernelQueue::new(&name_of(&self.node), requests, u128::from(held_ms) * 1_000_000, elapsed)
            .filter(|_| error_ms <= LARGEST_ERROR * held)
    }

    /// Returns the maximum number of requests that the device holds; `None` where that is not known.
    pub(super) fn length(&self) -> Option<u32> {
        let number = |name: &str| attribute(&self.disk.join(name))?.parse().ok();
        // SCSI and SATA drives report a queue depth; the queue of the kernel limits all drives.
        let lengths = [number("device/queue_depth"), number("queue/nr_requests")];
        lengths.into_iter().flatten().min()
    }
}

/// Returns a finding for a step with fewer requests in flight than its queue depth. Requests beyond
/// the queue of the device wait in the kernel: only the counters of the device, `kernel`, show that.
/// `length` is the maximum number of requests that it holds.
pub(super) fn finding(
    step: &Step<'_>,
    kernel: Option<&KernelQueue>,
    length: Option<u32>,
) -> Option<Finding> {
    let depth = step.workload.closed_depth().filter(|depth| *depth > 1)?;
    if step.kind == TargetKind::Null || step.stopped || step.elapsed < Nanos::SECOND {
        return None;
    }
    let note = |text, advice| {
        Some(Finding::new(FindingKind::QueueNotReached, Severity::Note, text, advice))
    };
    // The counters of durable writes leave out the time in which a flush waits for another one.
    let is_sync = step.workload.streams.iter().any(|stream| stream.sync);
    let is_same = |kernel: &&KernelQueue| {
        kernel.requests.abs_diff(step.ios) as f64 <= OTHER_REQUESTS * step.ios as f64
    };
    if let Some(kernel) = kernel.filter(is_same).filter(|_| !is_sync) {
        let KernelQueue { device, in_flight: held, .. } = kernel;
        let text = format!(
            "the drive held {held:.1} of {depth} requests on average, by the counters of the \
             kernel for {device}"
        );
        if *held >= LEAST_HELD * f64::from(depth) {
            return None;
        } else if let Some(length) = length.filter(|length| *length < depth) {
            let advice = "requests that wait in the kernel add latency and no throughput: use a \
                          queue depth of at most the queue of the drive";
            return note(format!("{text}; its queue holds {length}"), advice);
        }
        return note(text, "the host or a layer above the drive limits this step");
    }
    let sent = step.in_flight?;
    if sent >= LEAST_SENT * f64::from(depth) {
        return None;
    }
    note(
        format!(
            "{sent:.1} of {depth} requests were in flight on average, by the count of the engine"
        ),
        "the host, not the drive, limits this step",
    )
}

#[cfg(test)]
mod tests {
    use super::super::step::Counted;
    use super::*;
    use ssdgauge_core::{Access, Arrival, Bytes, Data, Engine, Stream, Workload};

    fn workload(queue_depth: u32) -> Workload {
        let stream = Stream {
            name: "reads".into(),
            access: Access::Random,
            block_size: Bytes(4_096),
            read_percent: 100,
            queue_depth,
            threads: 2,
            offset: Bytes(0),
            span: Bytes(1 << 20),
            arrival: Arrival::Closed,
            data: Data::Incompressible,
            sync: false,
            ..Stream::default()
        };
        Workload { engine: Engine::IoUring, streams: vec![stream] }
    }

    /// What a device counts in two seconds with `in_flight` requests on average.
    fn held(in_flight: f64) -> Option<KernelQueue> {
        KernelQueue::new("sda", 1_000, (in_flight * 2e9) as u128, Nanos::from_secs(2))
    }

    /// The text for two seconds in which the engine counted `sent` in flight; empty for no finding.
    fn text(
        workload: &Workload,
        kind: TargetKind,
        sent: f64,
        (kernel, length): (Option<KernelQueue>, Option<u32>),
    ) -> String {
        let step = Step {
            kind,
            workload,
            elapsed: Nanos(2_000_000_000),
            ios: 1_000,
            in_flight: Some(sent),
            whole: true,
            stopped: false,
            polled: None,
            page_cached: false,
            counted: Counted::All,
        };
        finding(&step, kernel.as_ref(), length).map(|finding| finding.text).unwrap_or_default()
    }

    #[test]
    fn a_device_that_holds_fewer_requests_is_reported_with_its_queue() {
        let at =
            |depth, length| text(&workload(depth), TargetKind::Block, 64.0, (held(31.0), length));
        assert_eq!([at(16, Some(32)), at(19, Some(32))], ["", ""]);
        let expected = "the drive held 31.0 of 64 requests on average, by the counters of the \
                        kernel for sda";
        assert_eq!([at(32, None), at(32, Some(64))], [expected, expected]);
        assert_eq!(at(32, Some(32)), format!("{expected}; its queue holds 32"));
    }

    #[test]
    fn the_count_of_the_engine_is_used_where_the_device_has_none() {
        let [block, file] = [TargetKind::Block, TargetKind::File];
        let expected = "60.0 of 64 requests were in flight on average, by the count of the engine";
        assert_eq!(text(&workload(32), file, 60.0, (None, Some(32))), expected);
        assert_eq!(text(&workload(32), block, 60.0, (None, None)), expected);
        assert_eq!(text(&workload(32), file, 62.0, (None, None)), "");
        assert_eq!(text(&workload(32), TargetKind::Null, 0.0, (None, None)), "");
        let mut durable = workload(32);
        durable.streams[0].sync = true;
        assert_eq!(text(&durable, block, 62.0, (held(1.0), None)), "");
        let mut open = workload(32);
        open.streams[0].arrival = Arrival::Uniform { per_second: 100.0 };
        assert_eq!(text(&open, block, 1.0, (held(1.0), None)), "");
    }

    #[test]
    fn parts_of_split_requests_are_not_compared_with_the_queue_depth() {
        // Each request became four in the device: 8 of them are 2 of ours.
        let split = KernelQueue { requests: 4_000, ..held(8.0).unwrap() };
        let expected = "2.0 of 4 requests were in flight on average, by the count of the engine";
        assert_eq!(text(&workload(2), TargetKind::Block, 2.0, (Some(split), None)), expected);
    }

    /// A device below `folder` that has counted `completed` reads, which took `held_ms`.
    fn count(folder: &Path, completed: u64, held_ms: u64) {
        let stat = format!("{completed} 0 8 {held_ms} 0 0 0 0 0 1 {held_ms} 0 0 0 0 0 0\n");
        std::fs::write(folder.join("stat"), stat).unwrap();
    }

    #[test]
    fn the_counters_of_the_kernel_give_mean_requests_and_mean_time() {
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path();
        std::fs::create_dir(folder.join("mq")).unwrap();
        // The sum has 32 bits.
        count(folder, 500, (1 << 32) - 1_000);
        let queue = DeviceQueue::begin(folder, folder).unwrap();
        count(folder, 10_500, 59_000);
        let used = queue.end(Nanos::from_secs(2)).unwrap();
        assert_eq!((used.requests, used.in_flight, used.time_mean_us), (10_000, 30.0, 6_000.0));
        assert_eq!(used.device, name_of(folder));
    }

    #[test]
    fn a_figure_that_the_resolution_of_the_counters_does_not_allow_is_not_reported() {
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path();
        count(folder, 0, 0);
        let queue = DeviceQueue::begin(folder, folder).unwrap();
        let is_reported = |held_ms| {
            count(folder, 100, held_ms);
            queue.end(Nanos::SECOND).is_some()
        };
        // Whole ticks are counted: 2 √(held × 10 ms) is 2 % of 100 s.
        assert_eq!([is_reported(95_000), is_reported(102_000)], [false, true]);
        std::fs::create_dir(folder.join("mq")).unwrap();
        // Whole milliseconds are printed: 1 ms is 2 % of 50 ms.
        assert_eq!([is_reported(0), is_reported(49), is_reported(50)], [false, false, true]);
        count(folder, 0, 500);
        assert_eq!(queue.end(Nanos::SECOND), None, "no request completed");
    }

    #[test]
    fn a_partition_has_counters_of_its_own_and_the_queue_of_its_disk() {
        let disk = tempfile::tempdir().unwrap();
        let part = disk.path().join("sda1");
        for folder in ["mq", "queue", "device", "sda1"] {
            std::fs::create_dir(disk.path().join(folder)).unwrap();
        }
        count(disk.path(), 0, 0);
        count(&part, 0, 0);
        let queue = DeviceQueue::begin(&part, disk.path()).unwrap();
        count(disk.path(), 9_000, 90_000);
        count(&part, 1_000, 2_000);
        let used = queue.end(Nanos::SECOND).unwrap();
        assert_eq!((used.device.as_str(), used.requests, used.in_flight), ("sda1", 1_000, 2.0));
        assert_eq!(queue.length(), None);
        for (name, text, length) in
            [("queue/nr_requests", "64\n", 64), ("device/queue_depth", "32\n", 32)]
        {
            std::fs::write(disk.path().join(name), text).unwrap();
            assert_eq!(queue.length(), Some(length));
        }
    }
}
