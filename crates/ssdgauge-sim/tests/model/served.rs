//! A drive that serves single commands is the same drive as in a run.

use crate::model::support::{Recording, bytes, stream};
use ssdgauge_core::{
    Access, Bytes, Direction, Engine, Nanos, RequestSource, Rig, Stream, Workload,
};
use ssdgauge_sim::{ServedCommand, ServedDrive, ServedOutcome, VirtualRig};
use std::collections::BTreeSet;

const READ: ServedCommand = ServedCommand::Read;
const WRITE: ServedCommand = ServedCommand::Write { sync: false };
const DURABLE_WRITE: ServedCommand = ServedCommand::Write { sync: true };

fn served(target: &str) -> ServedDrive {
    ServedDrive::new(VirtualRig::open(target, 1).unwrap())
}

/// Serves the requests of a closed loop of `count` requests; returns the sum of their latencies.
fn serve_closed_loop(drive: &mut ServedDrive, stream: &Stream, seed: u64, count: u64) -> u128 {
    let mut source = RequestSource::new(stream, 0, seed);
    let (mut in_flight, mut submitted, mut sum) = (BTreeSet::new(), 0, 0);
    let mut submit = |slot: u32, now: u64, in_flight: &mut BTreeSet<(u64, u32)>| {
        let request = source.deal();
        let command = match request.direction {
            Direction::Read => READ,
            Direction::Write => ServedCommand::Write { sync: stream.sync },
            Direction::Flush => ServedCommand::Flush,
            Direction::Trim => ServedCommand::Trim,
        };
        let offset = Bytes(request.offset);
        let done = drive.submit(Nanos(now), command, offset, stream.block_size);
        assert_eq!(done.outcome, ServedOutcome::Done);
        in_flight.insert((done.at.0, slot));
        u128::from(done.at.0 - now)
    };
    for slot in 0..stream.queue_depth {
        sum += submit(slot, 0, &mut in_flight);
        submitted += 1;
    }
    while let Some((now, slot)) = in_flight.pop_first() {
        if submitted < count {
            sum += submit(slot, now, &mut in_flight);
            submitted += 1;
        }
    }
    sum
}

#[test]
fn served_commands_take_the_time_of_the_same_requests_in_a_run_to_the_nanosecond() {
    for (target, reads, depth, block, sync) in [
        ("tiny", 0, 1, 4_096, false),
        ("tiny", 0, 1, 4_096, true),
        ("tiny?state=steady", 50, 8, 16_384, false),
        ("tlc-client?capacity=4GB", 100, 32, 4_096, false),
        // More in flight than a SATA drive accepts.
        ("sata-datacentre?capacity=4GB", 70, 64, 4_096, false),
    ] {
        let count = 40_000;
        let mut rig = VirtualRig::open(target, 1).unwrap();
        let mut one = stream(Access::Random, block, reads, depth, rig.drive().capacity);
        one.sync = sync;
        let load = Workload { engine: Engine::IoUring, streams: vec![one.clone()] };
        let until = bytes(count * block);
        let seed = rig.next_stream_seed(&load, &until, 0);
        let mut sink = Recording::brief();
        rig.run(&load, &until, &mut sink).unwrap();
        let mut drive = served(target);
        let sum = serve_closed_loop(&mut drive, &one, seed, count);
        assert_eq!(sum, sink.latency_sum, "{target}, {depth} in flight");
        assert_eq!(drive.ground_truth().host_bytes, rig.ground_truth().host_bytes);
        assert_eq!(drive.ground_truth().moved_pages, rig.ground_truth().moved_pages);
    }
}

#[test]
fn a_trimmed_range_is_read_from_the_map_and_a_flush_waits_for_the_buffer() {
    let mut drive = served("tiny");
    let (offset, length) = (Bytes(0), Bytes(65_536));
    let written = drive.submit(Nanos(0), WRITE, offset, length);
    let flushed = drive.submit(written.at, ServedCommand::Flush, Bytes(0), Bytes(0));
    assert!(flushed.at > written.at, "the buffer is volatile, and was not empty");
    let durable = drive.submit(flushed.at, DURABLE_WRITE, offset, length);
    assert!(durable.at.0 - flushed.at.0 > written.at.0, "a durable write waits for the flash");
    let mapped = drive.submit(Nanos(1_000_000_000), READ, offset, Bytes(4_096));
    let trimmed = drive.submit(Nanos(1_001_000_000), ServedCommand::Trim, offset, length);
    // The read woke the drive, which takes 1.2 ms, and then occupied the controller for 2.6 us. The trim
    // waits for both; it takes 2.2 us of the controller, 1 ms, and a delay of 15 us.
    assert_eq!(trimmed.at, Nanos(1_001_200_000 + 2_600 + 2_200 + 1_000_000 + 15_000));
    let unmapped = drive.submit(trimmed.at, READ, offset, Bytes(4_096));
    assert!(unmapped.at.0 - trimmed.at.0 < mapped.at.0 - 1_000_000_000);
    let zeroes = ServedCommand::WriteZeroes { sync: false, may_deallocate: false };
    let before = drive.ground_truth().host_bytes;
    drive.submit(Nanos(2_000_000_000), zeroes, offset, length);
    assert_eq!(drive.ground_truth().host_bytes - before, length.0);
    let zeroes = ServedCommand::WriteZeroes { sync: false, may_deallocate: true };
    drive.submit(Nanos(3_000_000_000), zeroes, offset, length);
    assert_eq!(drive.ground_truth().host_bytes - before, length.0, "deallocated, not written");
}

#[test]
fn a_served_flush_directly_after_a_flush_takes_the_time_of_a_command() {
    let mut drive = served("tiny");
    let written = drive.submit(Nanos(0), WRITE, Bytes(0), Bytes(4_096));
    let first = drive.submit(written.at, ServedCommand::Flush, Bytes(0), Bytes(0));
    // The buffer would be programmed in SLC mode: 200 us.
    assert!(first.at.0 - written.at.0 > 200_000, "{first:?}");
    let second = drive.submit(first.at, ServedCommand::Flush, Bytes(0), Bytes(0));
    assert_eq!(second.at.0 - first.at.0, 2_200 + 15_000);
    // Two flushes at a time: the controller processes one after the other.
    let mut both = || drive.submit(Nanos(1_000_000), ServedCommand::Flush, Bytes(0), Bytes(0)).at.0;
    assert_eq!([both(), both()], [1_017_200, 1_019_400]);
}

#[test]
fn injected_faults_reach_served_commands() {
    let second = Nanos::SECOND.0;
    let page = Bytes(4_096);
    let outcome = |target: &str, now: u64, command: ServedCommand| {
        served(target).submit(Nanos(now), command, page, page).outcome
    };
    let range = "tiny?fault.error_at=0&fault.error_bytes=8192";
    assert_eq!(outcome(range, 0, READ), ServedOutcome::Failed);
    assert_eq!(outcome(range, 0, WRITE), ServedOutcome::Failed);
    assert_eq!(
        outcome("tiny?fault.flush_fails=true", 0, ServedCommand::Flush),
        ServedOutcome::Failed
    );
    assert_eq!(outcome("tiny?fault.drop_at_s=1", 0, WRITE), ServedOutcome::Done);
    assert_eq!(outcome("tiny?fault.drop_at_s=1", second, WRITE), ServedOutcome::Dropped);
    assert_eq!(outcome("tiny?fault.flip_at_s=0", 0, WRITE), ServedOutcome::Flipped);
    assert_eq!(outcome("tiny?fault.flip_at_s=0", 0, READ), ServedOutcome::Done);
    assert_eq!(outcome("tiny?fault.gone_at_s=1", 0, READ), ServedOutcome::Done);
    assert_eq!(outcome("tiny?fault.gone_at_s=1", second, READ), ServedOutcome::Failed);
    let mut stalled = served("tiny?fault.stall_at_s=0&fault.stall_for_s=3");
    assert_eq!(stalled.submit(Nanos(0), READ, page, page).at, Nanos(3 * second));
    // In flight when the drive disappears.
    let mut gone = served("tiny?fault.stall_at_s=0&fault.stall_for_s=3&fault.gone_at_s=2");
    let lost = gone.submit(Nanos(0), READ, page, page);
    assert_eq!((lost.at, lost.outcome), (Nanos(2 * second), ServedOutcome::Failed));
}

#[test]
fn a_drive_that_was_advanced_each_second_is_the_one_that_caught_up() {
    let page = Bytes(4_096);
    let completion = |ticks: bool| {
        let mut drive = served("tlc-client?capacity=4GB");
        for block in 0..4_000u64 {
            drive.submit(
                Nanos(block),
                WRITE,
                Bytes(block * 131_072 % 4_000_000_000),
                Bytes(131_072),
            );
        }
        for second in (1..60).filter(|_| ticks) {
            drive.advance(Nanos::from_secs(second));
        }
        let read = drive.submit(Nanos::from_secs(60), READ, page, page);
        (read, drive.end(Nanos(60_500_000_000)))
    };
    let (_, (_, energy_j)) = completion(true);
    assert_eq!(completion(true), completion(false));
    assert!(energy_j > 1.0, "{energy_j} J in a minute");
}
