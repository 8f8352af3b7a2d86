//! The request log of a virtual drive, and its replay.

use ssdgauge_core::{
    Access, Arrival, Bytes, Direction, EndedBy, Engine, FindingKind, Nanos, Operation, PowerSaving,
    Preparation, RecordedRequest, RecordedRequests, RecordedTime, Recording, Replay, Rig, Stream,
    TraceIdentity, Until, Workload,
};
use ssdgauge_sim::VirtualRig;
use ssdgauge_trace::{Kind, ReplayRequests, ReplayTarget, Routes, Trace};
use std::io::{self, Cursor, Write};
use std::sync::{Arc, Mutex};

/// An output in memory that its writer and the test share.
#[derive(Clone, Default)]
struct Shared(Arc<Mutex<Vec<u8>>>);

impl Write for Shared {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn workload(read_percent: u8, per_second: f64, arrival: fn(f64) -> Arrival) -> Workload {
    let stream = Stream {
        access: Access::Random,
        block_size: Bytes(4_096),
        read_percent,
        span: Bytes(1 << 30),
        arrival: arrival(per_second),
        ..Stream::default()
    };
    Workload { engine: Engine::IoUring, streams: vec![stream] }
}

fn replay_of(requests: [u64; 2], bytes: u64) -> Replay {
    let all = requests[0] + requests[1];
    let read_percent = (100 * requests[0] / all).clamp(1, 99) as u8;
    let recorded = |per_second| Arrival::Recorded { per_second };
    Replay {
        trace: TraceIdentity {
            name: "a".into(),
            path: "/a".into(),
            format: "request-log".into(),
            id: "0".into(),
            time_resolution_ns: 1,
        },
        workload: workload(read_percent, 1_000.0, recorded),
        until: Until { time: None, bytes: Some(Bytes(bytes)) },
        streams: Vec::new(),
        shared_streams: 0,
        requests,
        bytes: [Bytes(bytes), Bytes(bytes)],
        commands: [0, 0],
        trimmed: Bytes(0),
        left_out: [0, 0],
        longest: Bytes(1 << 20),
        folded: 0,
        aligned: 0,
        recorded: Nanos::SECOND,
        after_cut: Nanos::SECOND,
        idle_cut: None,
        has_response_times: true,
        at_most: u64::MAX,
        generated: None,
    }
}

#[test]
fn the_replay_of_a_recorded_open_loop_has_the_same_latencies_to_the_bit() {
    // With a cache that writes exceed, collection in the background, idle times between requests, and
    // a power state whose 1.2 W for operations are near the 1 W of these.
    let hungry = "tiny?state=steady&power.program_nj=700000";
    for (target, per_second, state) in
        [("tiny?state=steady", 1_000.0, 0), ("tiny", 60.0, 0), (hungry, 6_000.0, 2)]
    {
        let open_drive = || {
            let mut rig = VirtualRig::open(target, 7).unwrap();
            let power = Preparation::Power(PowerSaving::State(state));
            rig.prepare(&power, &mut Recording::default()).unwrap();
            rig
        };
        let recorded = workload(50, per_second, |per_second| Arrival::Poisson { per_second });
        let until = Until { time: Some(Nanos::from_secs(4)), bytes: None };
        let log = Shared::default();
        let mut rig = open_drive();
        let span = rig.drive().capacity.0.min(1 << 30);
        let mut recorded = recorded;
        recorded.streams[0].span = Bytes(span);
        rig.log_ios(Box::new(log.clone())).unwrap();
        let mut original = Recording::default();
        rig.run(&recorded, &until, &mut original).unwrap();
        let bytes = log.0.lock().unwrap().clone();
        let open = || Trace::open(Cursor::new(bytes.clone()), None).unwrap();
        let (mut trace, mut counts) = (open(), [0, 0]);
        while let Some(record) = trace.read().unwrap() {
            counts[usize::from(record.kind == Kind::Write)] += 1;
        }
        let ios = Direction::TRANSFERS.map(|direction| original.ios(direction));
        assert_eq!(counts, ios, "the log has every request");
        let (range, block) = (rig.drive().capacity, rig.drive().logical_block);
        let place = ReplayTarget { range, block };
        let mut replay = replay_of(ios, (ios[0] + ios[1]) * 4_096);
        let routes = Routes::of(&replay);
        let requests = ReplayRequests::new(open(), true, place, routes, None, u64::MAX).unwrap();
        replay.workload.streams[0].span = Bytes(span);
        let mut again = Recording::default();
        let mut rig = open_drive();
        let ended = rig.replay(&replay, Box::new(requests), &mut again).unwrap();
        assert_eq!(ended.by, EndedBy::Bytes);
        let lateness = &ended.engine.open_loop[0];
        assert_eq!((lateness.lateness_max_us, lateness.withheld), (Some(0.0), 0));
        // The recorded load lasts to its time limit; the replay ends with the last completion.
        for (index, interval) in again.intervals.iter().enumerate() {
            let before = &original.intervals[index];
            assert_eq!(interval.latency, before.latency, "{target}: second {}", interval.second);
            assert_eq!((interval.ios, interval.bytes), (before.ios, before.bytes));
        }
        let total =
            |recording: &Recording| recording.intervals.iter().map(|one| one.ios).sum::<u64>();
        assert_eq!(total(&again), total(&original));
    }
}

fn request(time: RecordedTime, direction: Direction, length: u64) -> RecordedRequest {
    RecordedRequest { time, direction, stream: 0, offset: 0, length }
}

#[test]
fn bursts_wait_for_the_drive_and_bytes_are_counted_by_request() {
    let mut rig = VirtualRig::open("tlc-client", 1).unwrap();
    let think = Nanos(5_000_000);
    let list = vec![
        request(RecordedTime::AfterCompletion(Nanos(0)), Direction::Write, 65_536),
        request(RecordedTime::InBurst(Nanos(1_000)), Direction::Write, 4_096),
        request(RecordedTime::AfterCompletion(think), Direction::Read, 16_384),
    ];
    let mut recording = Recording::default();
    let requests: Box<dyn RecordedRequests> = Box::new(list.into_iter());
    let ended = rig.replay(&replay_of([1, 2], 86_016), requests, &mut recording).unwrap();
    let bytes = |direction| -> u64 {
        let all = recording.intervals.iter().filter(|one| one.direction == direction);
        all.map(|one| one.bytes).sum()
    };
    assert_eq!((bytes(Direction::Read), bytes(Direction::Write)), (16_384, 69_632));
    let longest = |direction| {
        let all = recording.intervals.iter().filter(|one| one.direction == direction);
        all.filter_map(|one| one.latency.max()).max().unwrap()
    };
    // The read follows both writes, whatever they took, and its think time.
    let read = longest(Direction::Read);
    let write = longest(Direction::Write);
    assert!(ended.elapsed.0 >= write + think.0 + read, "{:?}", ended.elapsed);
    assert!(ended.elapsed.0 <= write + 1_000 + think.0 + read, "{:?}", ended.elapsed);
}

#[test]
fn a_replay_stops_where_the_drive_disappears_or_its_user_wants() {
    let many = || -> Box<dyn RecordedRequests> {
        let first = request(RecordedTime::AfterCompletion(Nanos(0)), Direction::Read, 4_096);
        let rest = (1..10_000u64).map(|number| {
            request(RecordedTime::InBurst(Nanos(number * 1_000_000)), Direction::Read, 4_096)
        });
        Box::new(std::iter::once(first).chain(rest).collect::<Vec<_>>().into_iter())
    };
    let replay = replay_of([10_000, 1], 40_960_000);
    let mut rig = VirtualRig::open("tlc-client?fault.gone_at_s=2.5", 1).unwrap();
    let ended = rig.replay(&replay, many(), &mut Recording::default()).unwrap();
    assert_eq!((ended.by, ended.elapsed), (EndedBy::Faults, Nanos(2_500_000_000)));
    let mut rig = VirtualRig::open("tlc-client", 1).unwrap();
    let mut recording = Recording { stop_after: Some(3), ..Recording::default() };
    let ended = rig.replay(&replay, many(), &mut recording).unwrap();
    assert_eq!(ended.by, EndedBy::Stop);
    assert!(ended.elapsed < Nanos::from_secs(5), "{:?}", ended.elapsed);
}

#[test]
fn trims_and_flushes_are_recorded_in_their_directions_and_streams() {
    let mut replay = replay_of([1, 1], 8_192);
    let command = |name: &str, operation| Stream {
        name: name.into(),
        operation,
        read_percent: 0,
        ..replay.workload.streams[0].clone()
    };
    let (second, trims, flushes) = (
        command("stream 1", Operation::Transfer),
        command("trims", Operation::Trim),
        command("flushes", Operation::Flush),
    );
    replay.workload.streams.extend([second, trims, flushes]);
    let after = RecordedTime::AfterCompletion(Nanos(1_000));
    let of =
        |direction, stream, length| RecordedRequest { stream, ..request(after, direction, length) };
    let list = vec![
        of(Direction::Write, 1, 4_096),
        of(Direction::Flush, 3, 0),
        of(Direction::Trim, 2, 1 << 30),
        of(Direction::Read, 0, 4_096),
    ];
    // The buffer is volatile, so the flush waits until the write is programmed.
    let mut rig = VirtualRig::open("tlc-client", 1).unwrap();
    let mut recording = Recording::default();
    let ended = rig.replay(&replay, Box::new(list.into_iter()), &mut recording).unwrap();
    let one = |stream, direction| {
        let mut found = recording.intervals.iter();
        let interval = found.find(|one| one.stream == stream && one.direction == direction);
        let interval = interval.unwrap_or_else(|| panic!("{stream} {direction:?}"));
        (interval.ios, interval.bytes, interval.latency.max().unwrap())
    };
    let write = one(1, Direction::Write);
    let flush = one(3, Direction::Flush);
    let trim = one(2, Direction::Trim);
    let read = one(0, Direction::Read);
    assert_eq!((write.0, write.1, flush.0, flush.1), (1, 4_096, 1, 0));
    assert_eq!((trim.0, trim.1, read.0, read.1), (1, 1 << 30, 1, 4_096));
    assert!(flush.2 > 2 * write.2, "{flush:?} {write:?}");
    // Nothing is mapped any more: the read needs no flash.
    let mapped = {
        let mut rig = VirtualRig::open("tlc-client", 1).unwrap();
        let list = vec![
            of(Direction::Write, 1, 4_096),
            of(Direction::Flush, 3, 0),
            of(Direction::Read, 0, 4_096),
        ];
        let mut recording = Recording::default();
        rig.replay(&replay, Box::new(list.into_iter()), &mut recording).unwrap();
        let reads = recording.intervals.iter().filter(|one| one.direction == Direction::Read);
        reads.filter_map(|one| one.latency.max()).max().unwrap()
    };
    assert!(read.2 < mapped, "{read:?} {mapped}");
    assert_eq!(ended.engine.open_loop.len(), 4);
}

/// Returns reads of `length` bytes, each due `gap` after the one before it.
fn reads(count: u64, gap: Nanos, length: u64) -> Box<dyn RecordedRequests> {
    let first = request(RecordedTime::AfterCompletion(Nanos(0)), Direction::Read, length);
    let rest = (1..count).map(move |number| {
        request(RecordedTime::InBurst(Nanos(number * gap.0)), Direction::Read, length)
    });
    Box::new(std::iter::once(first).chain(rest).collect::<Vec<_>>().into_iter())
}

#[test]
fn a_replay_stays_within_the_power_of_the_state() {
    let mut rig = VirtualRig::open("tlc-client?capacity=4GB&state=filled", 1).unwrap();
    let power = Preparation::Power(PowerSaving::State(2));
    rig.prepare(&power, &mut Recording::default()).unwrap();
    let (count, length) = (20_000, 65_536);
    let all = reads(count, Nanos(0), length);
    let ended =
        rig.replay(&replay_of([count, 0], count * length), all, &mut Recording::default()).unwrap();
    let figures = &rig.profile().power;
    let senses = rig.work().flash.senses as f64;
    let each = figures.command_nj + length as f64 / 1_024.0 * figures.link_nj_per_kib;
    let energy_nj = count as f64 * each + senses * figures.read_nj;
    let state = &figures.limited_states[1];
    let expected = energy_nj / (state.max_w - state.idle_w);
    assert!((ended.elapsed.0 as f64 / expected - 1.0).abs() < 0.02, "{:?}", ended.elapsed);
}

#[test]
fn a_long_stall_in_a_replay_is_a_finding_and_counts_in_the_latencies() {
    let target = "tlc-client?fault.stall_at_s=1.0005&fault.stall_for_s=40";
    let mut rig = VirtualRig::open(target, 1).unwrap();
    let mut recording = Recording::default();
    let all = reads(2_000, Nanos(1_000_000), 4_096);
    let ended = rig.replay(&replay_of([2_000, 0], 2_000 * 4_096), all, &mut recording).unwrap();
    assert_eq!(ended.by, EndedBy::DeviceLag);
    let hung = recording.findings.iter().filter(|one| one.kind == FindingKind::Hung);
    assert_eq!(hung.map(|one| &one.text).collect::<Vec<_>>(), ["nothing completed for 40 s"]);
    // The first read of the stall was due at 1.001 s.
    let longest = recording.intervals.iter().filter_map(|one| one.latency.max()).max();
    assert_eq!(longest, Some(41_000_500_000 - 1_001_000_000));
}
