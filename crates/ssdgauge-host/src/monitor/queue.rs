//! Whether a drive held as many requests as were asked for.

use super::counters::Counters;
use super::step::Step;
use ssdgauge_core::{Finding, FindingKind, Nanos, Severity, TargetKind};
use ssdgauge_os::sysfs::attribute;
use std::path::Path;

/// The least share of the asked requests in flight, by our own count, where nothing is told.
const LEAST_SENT: f64 = 0.95;
/// The same by the device's count, in which the host's part of each request is missing: of a drive
/// that answers in 20 µs about a tenth.
const LEAST_HELD: f64 = 0.8;

/// What is known of the queue of a device.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Held {
    /// The milliseconds that requests spent in it during the step, summed up.
    pub(super) milliseconds: u64,
    /// How many it takes at once, where that is known.
    pub(super) room: Option<u32>,
}

impl Held {
    /// Compares the counts before and after a step, of the device whose folder in /sys is `folder`.
    pub(super) fn between(before: &Counters, after: &Counters, folder: &Path) -> Held {
        let number = |name: &str| attribute(&folder.join(name))?.parse().ok();
        // A SCSI or SATA drive says so itself, for all others the kernel's queue has a length.
        let rooms = [number("device/queue_depth"), number("queue/nr_requests")];
        Held {
            milliseconds: after.held_ms.wrapping_sub(before.held_ms),
            room: rooms.into_iter().flatten().min(),
        }
    }
}

/// Tells a step in which fewer requests were in flight than asked. What the device has no room for
/// waits in the kernel, where our own count cannot see that it waits.
pub(super) fn finding(step: &Step<'_>, held: Option<Held>) -> Option<Finding> {
    let asked = step.workload.closed_depth().filter(|asked| *asked > 1)?;
    if step.kind == TargetKind::Null || step.stopped || step.elapsed < Nanos::SECOND {
        return None;
    }
    let told = |text, advice| {
        Some(Finding::new(FindingKind::QueueNotReached, Severity::Note, text, advice))
    };
    // A file system has requests of its own, and the flushes of durable writes are counted apart.
    let is_sync = step.workload.streams.iter().any(|stream| stream.sync);
    let held = held.filter(|_| step.kind == TargetKind::Block && !is_sync);
    if let Some(Held { milliseconds, room }) = held {
        let held = milliseconds as f64 * 1e6 / step.elapsed.0 as f64;
        let text = format!("the drive held {held:.1} of {asked} requests on average");
        if held >= LEAST_HELD * f64::from(asked) {
            return None;
        } else if let Some(room) = room.filter(|room| *room < asked) {
            let advice = "what waits outside counts as latency and brings no throughput: ask for \
                          no more than its queue takes";
            return told(format!("{text}; its queue takes {room}"), advice);
        }
        return told(text, "the host or a layer between, not the drive, limits this step");
    }
    let sent = step.in_flight?;
    if sent >= LEAST_SENT * f64::from(asked) {
        return None;
    }
    told(
        format!("{sent:.1} of {asked} requests were in flight on average"),
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

    /// What is told of two seconds in which the engine counted `sent` in flight.
    fn told(workload: &Workload, kind: TargetKind, sent: f64, held: Option<Held>) -> String {
        let step = Step {
            kind,
            workload,
            elapsed: Nanos(2_000_000_000),
            in_flight: Some(sent),
            whole: true,
            stopped: false,
            cached: false,
        };
        finding(&step, held).map(|finding| finding.text).unwrap_or_default()
    }

    #[test]
    fn a_device_that_holds_less_than_was_asked_is_told_with_its_room() {
        // 31 on average.
        let held = |room| Some(Held { milliseconds: 62_000, room });
        let of = |depth, room| told(&workload(depth), TargetKind::Block, 64.0, held(room));
        assert_eq!([of(16, Some(32)), of(19, Some(32))], ["", ""]);
        let text = "the drive held 31.0 of 64 requests on average";
        assert_eq!([of(32, None), of(32, Some(64))], [text, text]);
        assert_eq!(of(32, Some(32)), format!("{text}; its queue takes 32"));
    }

    #[test]
    fn our_own_count_tells_where_there_is_no_other() {
        let held = Some(Held { milliseconds: 1, room: None });
        let text = "60.0 of 64 requests were in flight on average";
        assert_eq!(told(&workload(32), TargetKind::File, 60.0, held), text);
        assert_eq!(told(&workload(32), TargetKind::Block, 60.0, None), text);
        assert_eq!(told(&workload(32), TargetKind::File, 62.0, held), "");
        assert_eq!(told(&workload(32), TargetKind::Null, 0.0, held), "");
        let mut durable = workload(32);
        durable.streams[0].sync = true;
        assert_eq!(told(&durable, TargetKind::Block, 62.0, held), "");
        let mut open = workload(32);
        open.streams[0].arrival = Arrival::Uniform { per_second: 100.0 };
        assert_eq!(told(&open, TargetKind::Block, 1.0, held), "");
    }

    #[test]
    fn the_room_of_a_device_is_the_lesser_of_its_own_and_the_kernels() {
        let folder = tempfile::tempdir().unwrap();
        let counters = |held_ms| Counters { held_ms, ..Counters::default() };
        let held = || Held::between(&counters(500), &counters(1_200), folder.path());
        assert_eq!(held(), Held { milliseconds: 700, room: None });
        for (name, text, room) in
            [("queue/nr_requests", "64\n", 64), ("device/queue_depth", "32\n", 32)]
        {
            std::fs::create_dir(folder.path().join(name).parent().unwrap()).unwrap();
            std::fs::write(folder.path().join(name), text).unwrap();
            assert_eq!(held().room, Some(room));
        }
    }
}
