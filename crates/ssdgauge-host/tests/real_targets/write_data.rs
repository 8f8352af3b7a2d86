//! What drives find in the blocks that are written to them: data of each kind, read back.

use crate::real_targets::support::{Loop, for_bytes, random};
use ssdgauge_core::{
    Access, Bytes, Data, Direction, Engine, Lane, LaneLimits, Nanos, Recording, Rig,
};
use std::collections::HashSet;
use std::os::unix::fs::FileExt;

const BLOCK: usize = 4_096;
const OFFSET: Bytes = Bytes(1 << 20);
const SPAN: Bytes = Bytes(8 << 20);
/// A request of four blocks: each of them is compressed or stored once on its own.
const REQUEST: Bytes = Bytes(4 * BLOCK as u64);

/// Checks that the blocks of the range on `device` are `data`.
fn check(device: &Loop, data: Data, how: &str) {
    let mut bytes = vec![0; SPAN.0 as usize];
    std::fs::File::open(&device.path).unwrap().read_exact_at(&mut bytes, OFFSET.0).unwrap();
    let blocks: Vec<&[u8]> = bytes.chunks(BLOCK).collect();
    let different = blocks.iter().collect::<HashSet<_>>().len();
    let (expected, zeros) = match data {
        Data::Incompressible => (blocks.len(), 0),
        Data::Half => (blocks.len(), BLOCK / 2),
        Data::Repeated => (1, 0),
        Data::Zeros => (1, BLOCK),
    };
    assert_eq!(different, expected, "{data:?} {how}");
    for block in blocks {
        let at_end = block.iter().rev().take_while(|byte| **byte == 0).count();
        // Random bytes end with a few zeros now and then.
        assert!((zeros..zeros + 8).contains(&at_end), "{data:?} {how}: {at_end} zeros");
        // And their values are spread evenly: no byte comes more often than by chance.
        let counts =
            block[..BLOCK - zeros].iter().fold([0; 256], |mut counts: [u32; 256], byte| {
                counts[usize::from(*byte)] += 1;
                counts
            });
        assert!(counts.iter().all(|count| *count < 60), "{data:?} {how}");
    }
}

#[test]
fn each_kind_of_data_reaches_the_drive_as_it_is_named() {
    let Some(device) = Loop::attach(32 << 20) else { return };
    let mut rig = device.rig();
    for data in Data::ALL {
        for engine in [Engine::IoUring, Engine::Synchronous] {
            let mut workload = random(engine, 0, 4, SPAN);
            let stream = &mut workload.streams[0];
            (stream.access, stream.block_size) = (Access::Sequential, REQUEST);
            (stream.offset, stream.data) = (OFFSET, data);
            let mut seen = Recording::default();
            rig.run(&workload, &for_bytes(SPAN.0), &mut seen).unwrap();
            assert_eq!(seen.errors(), 0);
            check(&device, data, &format!("{engine:?}"));
        }
        let lane = Lane {
            direction: Direction::Write,
            access: Access::Sequential,
            block_size: REQUEST,
            offset: OFFSET,
            span: SPAN,
            queue_depth: 4,
            think: Nanos::ZERO,
            latencies: 0,
            data,
        };
        let limits = LaneLimits { time: Nanos::from_secs(60), written: SPAN, bin: Nanos::SECOND };
        let loads = rig.timed_loads().unwrap();
        let ended = loads.run_lanes(&[lane], limits, &mut Recording::default()).unwrap().unwrap();
        assert_eq!(ended.lanes[0].bytes.iter().sum::<u64>(), SPAN.0);
        check(&device, data, "timed");
    }
}
