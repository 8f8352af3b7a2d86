//! Queue depth reached: the requests that the drive held, against the queue depth of the test.

use super::counters::Counters;
use super::step::Step;
use ssdgauge_core::{Finding, FindingKind, Nanos, Severity, TargetKind};
use ssdgauge_os::sysfs::attribute;
use std::path::Path;

/// The least share of the requested queue depth, by the count of the engine, without a finding.
const LEAST_SENT: f64 = 0.95;
/// The same by the counters of the device. They leave out the time of each request in the host,
/// which is about a tenth for a drive with a latency of 20 µs.
const LEAST_HELD: f64 = 0.8;

/// The use of the queue of a device during a step.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct DeviceQueue {
    /// The sum of the times that requests spent in it, in milliseconds.
    pub(super) held_ms: u64,
    /// The most requests that it holds, where that is known.
    pub(super) length: Option<u32>,
}

impl DeviceQueue {
    /// Compares the counters before and after a step, of the device whose folder in sysfs is
    /// `folder`.
    pub(super) fn between(before: &Counters, after: &Counters, folder: &Path) -> DeviceQueue {
        let number = |name: &str| attribute(&folder.join(name))?.parse().ok();
        // SCSI and SATA drives report a queue depth; the queue of the kernel limits all drives.
        let lengths = [number("device/queue_depth"), number("queue/nr_requests")];
        DeviceQueue {
            held_ms: after.held_ms.wrapping_sub(before.held_ms),
            length: lengths.into_iter().flatten().min(),
        }
    }
}

/// Returns a finding for a step with fewer requests in flight than its queue depth. Requests beyond
/// the queue of the device wait in the kernel: only the counters of the device show that.
pub(super) fn finding(step: &Step<'_>, queue: Option<DeviceQueue>) -> Option<Finding> {
    let depth = step.workload.closed_depth().filter(|depth| *depth > 1)?;
    if step.kind == TargetKind::Null || step.stopped || step.elapsed < Nanos::SECOND {
        return None;
    }
    let note = |text, advice| {
        Some(Finding::new(FindingKind::QueueNotReached, Severity::Note, text, advice))
    };
    // The counters of a file system's device include its metadata, and those of durable writes
    // leave out the flushes.
    let is_sync = step.workload.streams.iter().any(|stream| stream.sync);
    let queue = queue.filter(|_| step.kind == TargetKind::Block && !is_sync);
    if let Some(DeviceQueue { held_ms, length }) = queue {
        let held = held_ms as f64 * 1e6 / step.elapsed.0 as f64;
        let text = format!("the drive held {held:.1} of {depth} requests on average");
        if held >= LEAST_HELD * f64::from(depth) {
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
        format!("{sent:.1} of {depth} requests were in flight on average"),
        "the host, not the drive, limits this step",
    )
}

#[cfg(test)]
mod tests {
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
        };
        Workload { engine: Engine::IoUring, streams: vec![stream] }
    }

    /// The text for two seconds in which the engine counted `sent` in flight; empty for no finding.
    fn text(
        workload: &Workload,
        kind: TargetKind,
        sent: f64,
        queue: Option<DeviceQueue>,
    ) -> String {
        let step = Step {
            kind,
            workload,
            elapsed: Nanos(2_000_000_000),
            in_flight: Some(sent),
            whole: true,
            stopped: false,
            page_cached: false,
        };
        finding(&step, queue).map(|finding| finding.text).unwrap_or_default()
    }

    #[test]
    fn a_device_that_holds_fewer_requests_is_reported_with_its_queue() {
        // 31 on average.
        let queue = |length| Some(DeviceQueue { held_ms: 62_000, length });
        let at = |depth, length| text(&workload(depth), TargetKind::Block, 64.0, queue(length));
        assert_eq!([at(16, Some(32)), at(19, Some(32))], ["", ""]);
        let expected = "the drive held 31.0 of 64 requests on average";
        assert_eq!([at(32, None), at(32, Some(64))], [expected, expected]);
        assert_eq!(at(32, Some(32)), format!("{expected}; its queue holds 32"));
    }

    #[test]
    fn the_count_of_the_engine_is_used_where_the_device_has_none() {
        let queue = Some(DeviceQueue { held_ms: 1, length: None });
        let expected = "60.0 of 64 requests were in flight on average";
        assert_eq!(text(&workload(32), TargetKind::File, 60.0, queue), expected);
        assert_eq!(text(&workload(32), TargetKind::Block, 60.0, None), expected);
        assert_eq!(text(&workload(32), TargetKind::File, 62.0, queue), "");
        assert_eq!(text(&workload(32), TargetKind::Null, 0.0, queue), "");
        let mut durable = workload(32);
        durable.streams[0].sync = true;
        assert_eq!(text(&durable, TargetKind::Block, 62.0, queue), "");
        let mut open = workload(32);
        open.streams[0].arrival = Arrival::Uniform { per_second: 100.0 };
        assert_eq!(text(&open, TargetKind::Block, 1.0, queue), "");
    }

    #[test]
    fn the_queue_of_a_device_is_the_shorter_of_its_own_and_that_of_the_kernel() {
        let folder = tempfile::tempdir().unwrap();
        let counters = |held_ms| Counters { held_ms, ..Counters::default() };
        let queue = || DeviceQueue::between(&counters(500), &counters(1_200), folder.path());
        assert_eq!(queue(), DeviceQueue { held_ms: 700, length: None });
        for (name, text, length) in
            [("queue/nr_requests", "64\n", 64), ("device/queue_depth", "32\n", 32)]
        {
            std::fs::create_dir(folder.path().join(name).parent().unwrap()).unwrap();
            std::fs::write(folder.path().join(name), text).unwrap();
            assert_eq!(queue().length, Some(length));
        }
    }
}
