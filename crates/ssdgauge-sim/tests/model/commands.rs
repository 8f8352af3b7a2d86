//! The keys of a stream on virtual drives: trims and flushes, hot blocks, several sizes.

use crate::model::support::{Recording, bytes, seconds, stream, workload};
use ssdgauge_core::{
    Access, Arrival, BlockSizes, Bytes, Direction, Distribution, EndedBy, Nanos, Operation,
    Preparation, Pulse, Rig, SizeShare, Stream,
};
use ssdgauge_sim::VirtualRig;

const MIB: u64 = 1 << 20;

fn drive(keys: &str) -> VirtualRig {
    VirtualRig::open(&format!("tlc-client?capacity=4GB&state=filled{keys}"), 1).unwrap()
}

fn flushes(queue_depth: u32) -> Stream {
    Stream { operation: Operation::Flush, queue_depth, read_percent: 0, ..Stream::default() }
}

fn of(recording: &Recording, direction: Direction) -> (u64, u64) {
    let of = recording.intervals.iter().filter(|one| one.direction == direction);
    of.fold((0, 0), |sum, one| (sum.0 + one.ios, sum.1 + one.bytes))
}

#[test]
fn a_stream_of_trims_deallocates_its_span_one_command_at_a_time() {
    let mut rig = drive("");
    let span = Bytes(64 * MIB);
    let mut trims = stream(Access::Sequential, MIB, 0, 4, span);
    trims.operation = Operation::Trim;
    let mut seen = Recording::default();
    let ended = rig.run(&workload(trims), &bytes(span.0), &mut seen).unwrap();
    assert_eq!(ended.by, EndedBy::Bytes);
    assert_eq!(of(&seen, Direction::Trim), (64, span.0));
    assert_eq!(of(&seen, Direction::Write), (0, 0));
    let mut read_us = |offset: Bytes| {
        let reads = stream(Access::Random, 4_096, 100, 1, span);
        let mut seen = Recording::default();
        rig.run(&workload(Stream { offset, ..reads }), &seconds(1), &mut seen).unwrap();
        seen.intervals[0].latency.mean().unwrap() / 1e3
    };
    let (trimmed, kept) = (read_us(Bytes(0)), read_us(span));
    assert!(trimmed < 0.5 * kept, "reads of deallocated pages need no flash: {trimmed} {kept}");
    // A millisecond each, four in flight.
    let elapsed = ended.elapsed.as_secs_f64();
    assert!((0.064..0.066).contains(&elapsed), "{elapsed}");
    let verified = rig.verify(&mut |_, _| true).unwrap();
    assert!(verified.is_none_or(|verified| verified.wrong == 0));
}

#[test]
fn a_written_and_trimmed_page_is_neither_verified_nor_lost() {
    let mut rig = drive("");
    let span = Bytes(64 * MIB);
    let fill = Preparation::Fill {
        access: Access::Sequential,
        block_size: Bytes(MIB),
        offset: Bytes(0),
        span,
    };
    rig.prepare(&fill, &mut Recording::default()).unwrap();
    let mut load = workload(stream(Access::Random, 4_096, 0, 4, span));
    let mut trims = stream(Access::Random, MIB, 0, 1, Bytes(32 * MIB));
    trims.operation = Operation::Trim;
    load.streams.push(trims);
    rig.run(&load, &seconds(1), &mut Recording::default()).unwrap();
    let verified = rig.verify(&mut |_, _| true).unwrap().unwrap();
    assert_eq!((verified.wrong, verified.bytes), (0, 32 * MIB));
    let read_back = rig.read_back(Nanos::SECOND).unwrap();
    assert!(read_back.is_none_or(|read_back| read_back.lost.is_empty()));
}

#[test]
fn a_flush_waits_for_what_was_written_before() {
    let mean_us = |writes: bool, keys: &str| {
        let mut rig = drive(keys);
        let mut load = workload(flushes(1));
        if writes {
            load.streams.push(stream(Access::Random, 4_096, 0, 4, Bytes(1_000 * MIB)));
        }
        let mut seen = Recording::default();
        rig.run(&load, &seconds(1), &mut seen).unwrap();
        assert_eq!(of(&seen, Direction::Flush).1, 0, "a flush moves nothing");
        let found = seen.intervals.iter().find(|one| one.direction == Direction::Flush);
        found.unwrap().latency.mean().unwrap() / 1e3
    };
    let (idle, busy) = (mean_us(false, ""), mean_us(true, ""));
    let program_us = drive("").profile().slc.t_prog_us;
    assert!(idle < 0.5 * program_us && busy > program_us, "{idle} {busy} {program_us}");
    let safe = mean_us(true, "&front.buffer_is_safe=true");
    assert!(safe < 0.5 * program_us, "a buffer that outlives a loss of power: {safe}");
}

#[test]
fn flushes_alone_need_a_limit_of_time_and_fail_where_that_fault_is_injected() {
    let refused = drive("").run(&workload(flushes(1)), &bytes(MIB), &mut Recording::default());
    assert!(refused.unwrap_err().to_string().contains("limit of time"));
    let mut seen = Recording::default();
    drive("&fault.flush_fails=true").run(&workload(flushes(2)), &seconds(1), &mut seen).unwrap();
    assert_eq!(of(&seen, Direction::Flush).0, 0);
    assert!(seen.intervals[0].errors > 100);
}

#[test]
fn a_commit_takes_a_write_and_the_program_operation_that_the_flush_waits_for() {
    let run = |depth: u32, every: Option<u32>| {
        let mut writes = stream(Access::Sequential, 4_096, 0, depth, Bytes(512 * MIB));
        writes.flush_every = every;
        let mut seen = Recording::default();
        let requests = 4_000;
        let ended = drive("").run(&workload(writes), &bytes(requests * 4_096), &mut seen).unwrap();
        let (sent, flushes) = (of(&seen, Direction::Write).0, of(&seen, Direction::Flush));
        assert_eq!((sent, flushes.1), (requests, 0));
        let flush = seen.intervals.iter().find(|one| one.direction == Direction::Flush);
        let mean_us = flush.map_or(0.0, |one| one.latency.mean().unwrap() / 1e3);
        (flushes.0, mean_us, ended.elapsed.as_secs_f64())
    };
    // Into the cache, or beyond it where that is spent.
    let program_us = drive("").profile().slc.t_prog_us;
    let longest_us = program_us.max(drive("").profile().nand.t_prog_us);
    for (depth, every) in [(1, 1), (1, 10), (8, 8), (8, 3)] {
        let (flushes, mean_us, elapsed) = run(depth, Some(every));
        assert_eq!(flushes, 4_000 / u64::from(every), "every {every} at QD{depth}");
        assert!(mean_us > program_us && mean_us < 3.0 * longest_us, "{mean_us} {longest_us}");
        assert!(elapsed > flushes as f64 * mean_us / 1e6, "nothing is beside a flush: {elapsed}");
    }
    assert_eq!(run(8, None).0, 0);
}

#[test]
fn a_load_with_hot_blocks_costs_less_collection_than_a_uniform_one() {
    let amplification = |distribution: Distribution| {
        let spec = "tlc-client?capacity=4GB&state=filled&slc.fixed_gb=0&slc.dynamic_gb=0";
        let mut rig = VirtualRig::open(spec, 1).unwrap();
        let capacity = rig.drive().capacity;
        let mut writes = stream(Access::Random, 4_096, 0, 8, capacity);
        writes.distribution = distribution;
        let mut seen = Recording::default();
        rig.run(&workload(writes), &bytes(2 * capacity.0), &mut seen).unwrap();
        seen.last("write_amplification").unwrap()
    };
    let uniform = amplification(Distribution::Uniform);
    let zipf = amplification(Distribution::Zipf(1.2));
    assert!(zipf < 0.9 * uniform, "{zipf} {uniform}");
}

#[test]
fn requests_of_several_sizes_move_their_bytes_and_trims_deallocate_theirs() {
    let share = |(size, percent)| SizeShare { size: Bytes(size), percent };
    let sizes = BlockSizes([(4_096, 60), (16_384, 30), (131_072, 10)].map(share).to_vec());
    // 100 requests have 2,000 KiB.
    let volume = 2_000 * 1_024 * 50;
    for operation in [Operation::Transfer, Operation::Trim] {
        for access in [Access::Random, Access::Sequential] {
            let mut load = stream(access, 131_072, 0, 4, Bytes(512 * MIB));
            (load.operation, load.sizes) = (operation, sizes.clone());
            let mut seen = Recording::default();
            let mut rig = drive("");
            let ended = rig.run(&workload(load), &bytes(volume), &mut seen).unwrap();
            let direction = match operation {
                Operation::Trim => Direction::Trim,
                Operation::Transfer | Operation::Flush => Direction::Write,
            };
            let moved: u64 = seen.intervals.iter().map(|one| one.bytes).sum();
            assert_eq!((ended.by, moved), (EndedBy::Bytes, volume));
            assert_eq!(of(&seen, direction), (5_000, volume), "{operation:?} {access:?}");
        }
    }
    let mut load = stream(Access::Random, 131_072, 100, 4, Bytes(512 * MIB));
    load.sizes = BlockSizes(vec![share((4_096, 50)), share((131_072, 40))]);
    let refused = drive("").run(&workload(load), &bytes(volume), &mut Recording::default());
    assert!(refused.unwrap_err().to_string().contains("add up to 90 percent"));
}

/// Returns the requests of each second, all directions together.
fn by_second(seen: &Recording) -> Vec<u64> {
    let mut ios = Vec::new();
    for one in &seen.intervals {
        ios.resize(ios.len().max(one.second as usize + 1), 0);
        ios[one.second as usize] += one.ios;
    }
    ios
}

#[test]
fn pulses_send_nothing_in_their_off_times_and_last_to_the_end_of_the_step() {
    let pulse = Pulse { on: Nanos::from_secs(2), off: Nanos::from_secs(2) };
    for (threads, arrival) in
        [(1, Arrival::Closed), (3, Arrival::Closed), (2, Arrival::Uniform { per_second: 1_000.0 })]
    {
        let mut load = stream(Access::Random, 4_096, 50, 2, Bytes(512 * MIB));
        (load.pulse, load.threads, load.arrival) = (Some(pulse), threads, arrival);
        let mut seen = Recording::default();
        let ended = drive("").run(&workload(load), &seconds(8), &mut seen).unwrap();
        assert_eq!((ended.by, ended.elapsed), (EndedBy::Time, Nanos::from_secs(8)));
        let ios = by_second(&seen);
        assert_eq!(ios.len(), 8);
        // A request that was sent in an on time may complete after it.
        for (second, ios) in ios.iter().enumerate() {
            match second % 4 {
                0 | 1 => assert!(*ios > 900, "second {second}: {ios}"),
                2 => assert!(*ios <= 6, "second {second}: {ios}"),
                _ => assert_eq!(*ios, 0, "second {second}"),
            }
        }
        let longest = seen.intervals.iter().filter_map(|one| one.latency.max()).max();
        assert!(longest < Some(1_000_000_000), "no latency contains a pause: {longest:?}");
    }
}

#[test]
fn a_think_time_follows_each_batch_and_is_in_no_latency() {
    let think = Nanos(3_000_000);
    for depth in [1, 4] {
        let mut load = stream(Access::Random, 4_096, 100, depth, Bytes(512 * MIB));
        load.think_time = Some(think);
        let mut seen = Recording::default();
        let requests = 400 * u64::from(depth);
        let ended = drive("").run(&workload(load), &bytes(requests * 4_096), &mut seen).unwrap();
        assert_eq!((ended.by, of(&seen, Direction::Read).0), (EndedBy::Bytes, requests));
        let longest = seen.intervals.iter().filter_map(|one| one.latency.max()).max().unwrap();
        assert!(longest < think.0, "{longest}");
        // 399 pauses between 400 batches, and one latency each.
        let pauses = 399 * think.0;
        let rest = ended.elapsed.0 as i64 - pauses as i64;
        assert!(rest > 0 && rest <= 400 * longest as i64, "QD{depth}: {rest} ns, {longest}");
    }
}

#[test]
fn a_thread_that_flushes_and_thinks_does_both_after_its_writes() {
    let mut load = stream(Access::Sequential, 4_096, 0, 1, Bytes(512 * MIB));
    (load.flush_every, load.think_time) = (Some(2), Some(Nanos(1_000_000)));
    load.pulse = Some(Pulse { on: Nanos(50_000_000), off: Nanos(50_000_000) });
    let mut seen = Recording::default();
    let ended = drive("").run(&workload(load), &bytes(400 * 4_096), &mut seen).unwrap();
    assert_eq!((of(&seen, Direction::Write).0, of(&seen, Direction::Flush).0), (400, 200));
    // 400 think times, all in on times.
    assert!(ended.elapsed > Nanos(700_000_000), "{:?}", ended.elapsed);
}
