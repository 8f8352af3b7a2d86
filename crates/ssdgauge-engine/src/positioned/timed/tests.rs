use super::*;
use std::io::Write;

fn file(bytes: usize) -> (tempfile::NamedTempFile, Arc<File>) {
    let mut named = tempfile::NamedTempFile::new().unwrap();
    named.write_all(&vec![7; bytes]).unwrap();
    let file = File::options().read(true).write(true).open(named.path()).unwrap();
    (named, Arc::new(file))
}

fn request(due: u64, direction: Direction, offset: u64) -> TimedRequest {
    TimedRequest { due: Nanos(due), direction, offset, length: 4_096 }
}

#[test]
fn no_request_is_sent_before_it_is_due_and_each_has_its_times() {
    let (_named, file) = file(1 << 20);
    let requests: Vec<TimedRequest> =
        (0..64).map(|i| request(i / 2 * 200_000, Direction::Read, i % 7 * 4_096)).collect();
    let timings = send(&file, &requests, 2, &mut || true).unwrap().unwrap().requests;
    assert_eq!(timings.len(), requests.len());
    for (request, timing) in requests.iter().zip(&timings) {
        assert!(timing.submitted >= request.due, "{request:?} {timing:?}");
        assert!(timing.completed > timing.submitted, "{timing:?}");
    }
}

#[test]
fn lanes_write_no_byte_beyond_their_limit_and_count_each_one() {
    let (named, file) = file(1 << 20);
    let lane = Lane {
        direction: Direction::Write,
        access: Access::Sequential,
        block_size: Bytes(4_096),
        offset: Bytes(8_192),
        span: Bytes(1 << 18),
        queue_depth: 3,
        think: Nanos::ZERO,
        latencies: 1_000,
        data: Data::Incompressible,
    };
    let limits = LaneLimits {
        time: Nanos::from_secs(60),
        written: Bytes(20 * 4_096 + 1),
        bin: Nanos(1_000_000),
    };
    let (ended, written) = run_lanes(&file, &[lane], limits, 1, &mut || true).unwrap().unwrap();
    assert_eq!(written, Bytes(20 * 4_096));
    assert_eq!(ended.lanes[0].bytes.iter().sum::<u64>(), written.0);
    let contents = std::fs::read(named.path()).unwrap();
    let changed: Vec<bool> =
        contents.chunks(4_096).map(|block| block.iter().any(|byte| *byte != 7)).collect();
    assert!(changed.iter().enumerate().all(|(i, changed)| *changed == (2..22).contains(&i)));
    let blocks: std::collections::BTreeSet<&[u8]> =
        contents.chunks(4_096).skip(2).take(20).collect();
    assert_eq!(blocks.len(), 20, "blocks differ");
}

#[test]
fn random_writes_of_two_loads_have_different_addresses_and_those_of_one_are_repeated() {
    let written = |number| {
        let (named, file) = file(1 << 20);
        let lane = Lane {
            direction: Direction::Write,
            access: Access::Random,
            block_size: Bytes(4_096),
            offset: Bytes(0),
            span: Bytes(1 << 20),
            queue_depth: 1,
            think: Nanos::ZERO,
            latencies: 0,
            data: Data::Incompressible,
        };
        let (time, bin) = (Nanos::from_secs(60), Nanos::SECOND);
        let limits = LaneLimits { time, written: Bytes(32 * 4_096), bin };
        run_lanes(&file, &[lane], limits, number, &mut || true).unwrap().unwrap();
        let contents = std::fs::read(named.path()).unwrap();
        let changed = |block: &[u8]| block.iter().any(|byte| *byte != 7);
        contents.chunks(4_096).map(changed).collect::<Vec<bool>>()
    };
    assert_eq!(written(1), written(1));
    assert_ne!(written(1), written(2));
}

#[test]
fn a_stop_ends_a_load_without_a_result() {
    let (_named, file) = file(1 << 16);
    let late = [request(0, Direction::Read, 0), request(60_000_000_000, Direction::Read, 0)];
    assert_eq!(send(&file, &late, 1, &mut || false).unwrap(), None);
}
