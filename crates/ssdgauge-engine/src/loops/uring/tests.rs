//! The slots of an open loop, on a pipe whose reads complete when the test writes into it.

use super::run;
use crate::load::ring_flags::RingFlags;
use crate::load::{Assignment, Device, RequestBudget, StopSignal};
use crate::loops::ring::Ring;
use crate::recorder::{Message, ThreadRecorder};
use ssdgauge_core::{
    Access, Arrival, Bytes, Data, Engine, LatencyClock, OpenLoopCount, Operation, RequestSource,
    Schedule, Stream, Workload,
};
use ssdgauge_os::clock::Clock;
use std::fs::File;
use std::io::Write;
use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::sync::mpsc::{Receiver, channel};

const BLOCK: usize = 512;
const SLOTS: usize = 4;
const RATE: f64 = 1_000.0;

/// Starts a thread that reads `requests` blocks from a pipe in an open loop. It creates its ring
/// itself, as the kernel requires.
fn start(requests: u64) -> (impl Write, Receiver<Message>) {
    let (reader, writer) = std::io::pipe().unwrap();
    let stream = Stream {
        name: "main".into(),
        access: Access::Random,
        block_size: Bytes(BLOCK as u64),
        read_percent: 100,
        queue_depth: 1,
        threads: 1,
        offset: Bytes(0),
        span: Bytes(1 << 20),
        arrival: Arrival::Uniform { per_second: RATE },
        data: Data::Incompressible,
        sync: false,
        ..Stream::default()
    };
    let (clock, (sender, messages)) = (Clock::best(), channel());
    let begin = clock.now();
    let workload = Workload { engine: Engine::IoUring, streams: vec![stream.clone()] };
    let budget = RequestBudget::new(&workload, Bytes(requests.saturating_mul(BLOCK as u64)));
    let assignment = Assignment {
        device: Device::File(Arc::new(File::from(OwnedFd::from(reader)))),
        clock,
        source: RequestSource::new(&stream, 0, 1),
        block_size: BLOCK,
        has_sizes: false,
        span_end: stream.span.0,
        depth: SLOTS,
        read_slots: SLOTS,
        sequential: false,
        write_buffer: None,
        expected: None,
        ring_flags: RingFlags::Plain,
        namespace: None,
        stop_signal: Arc::new(StopSignal::new(&Arc::new(AtomicBool::new(false)))),
        budget: Some(Arc::new(budget)),
        start: begin,
        deadline: u64::MAX,
        processor: None,
        schedule: Schedule::new(&stream, 0, 1).zip(Some(RATE)),
        sync: false,
        commits: false,
        pauses: None,
        operation: Operation::Transfer,
        is_block: false,
        latency_clock: LatencyClock::Due,
    };
    std::thread::spawn(move || {
        let ring = Ring::new(&assignment).unwrap();
        let (_returns, returned) = channel();
        run(assignment, ring, ThreadRecorder::new(0, clock, begin, sender, returned, None));
    });
    (writer, messages)
}

/// Adds the records of `messages` to `count` until `enough` returns true, or the thread ends.
fn receive(
    messages: &Receiver<Message>,
    count: &mut OpenLoopCount,
    mut enough: impl FnMut(&OpenLoopCount) -> bool,
) {
    for message in messages {
        match message {
            Message::Second { mut record, .. } => {
                if let Some(open_loop) = &mut record.open_loop {
                    open_loop.drain_into(count);
                }
                if enough(count) {
                    return;
                }
            }
            Message::Fault { fault, .. } => panic!("{fault:?}"),
            Message::Done { open_loop, failure, .. } => {
                assert_eq!((failure, open_loop.lag), (None, None));
                count.sent += open_loop.sent;
            }
        }
    }
}

#[test]
fn requests_that_wait_for_a_slot_are_counted_with_their_delay() {
    let requests = 40;
    let (mut writer, messages) = start(requests);
    let mut count = OpenLoopCount::default();
    // Once all slots are in use, one more second passes, in which every other request becomes due
    // and finds none.
    let mut seconds_with_all_slots = 0;
    receive(&messages, &mut count, |count| {
        seconds_with_all_slots += u32::from(count.lateness.count() == SLOTS as u64);
        seconds_with_all_slots == 2
    });
    writer.write_all(&vec![7; BLOCK * requests as usize]).unwrap();
    receive(&messages, &mut count, |_| false);
    assert_eq!(count.sent, requests);
    assert_eq!(count.lateness.count(), SLOTS as u64);
    assert_eq!(count.withheld.count(), requests - SLOTS as u64);
    assert_eq!(count.service.count(), requests);
    // The last one was due after 39 ms, and nothing was written in the first second.
    assert!(count.withheld.min().unwrap() > 960_000_000, "{:?}", count.withheld.min());
    assert!(count.withheld.max().unwrap() > 990_000_000, "{:?}", count.withheld.max());
}

#[test]
fn a_drive_that_never_responds_reaches_the_lag_limit_although_no_slot_is_free() {
    // The pipe stays empty: the request in flight is too old after ten seconds, long before a
    // further one is due.
    let (mut writer, messages) = start(u64::MAX);
    let mut count = OpenLoopCount::default();
    let mut seconds = 0;
    for message in &messages {
        match message {
            Message::Second { .. } => {
                seconds += 1;
                // The stop waits for the requests in flight.
                if seconds == 11 {
                    writer.write_all(&[7; BLOCK * SLOTS]).unwrap();
                }
            }
            Message::Fault { fault, .. } => panic!("{fault:?}"),
            Message::Done { open_loop, .. } => {
                assert_eq!(open_loop.lag, Some(crate::load::pace::Lag::Device));
                count.sent = open_loop.sent;
            }
        }
    }
    assert_eq!(count.sent, SLOTS as u64);
}
