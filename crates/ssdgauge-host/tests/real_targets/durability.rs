//! Durability of written data: flushes are counted, and writes that a drive acknowledged and dropped
//! are found.

use crate::real_targets::engines::filled;
use crate::real_targets::support::{Loop, for_bytes, for_millis, random};
use ssdgauge_core::{
    Bytes, Data, Engine, Nanos, Preparation, ReadBack, Recording, Rig, Verified, Workload,
};
use ssdgauge_host::LinuxRig;
use std::fs::OpenOptions;
use std::os::unix::fs::FileExt;

const SIZE: u64 = 20 << 20;
const SPAN: Bytes = Bytes(16 << 20);

fn write(rig: &mut LinuxRig, workload: &Workload, bytes: u64) {
    rig.run(workload, &for_bytes(bytes), &mut Recording::default()).unwrap();
}

/// Reads back, and checks that every block holds the data that was written last.
fn check_kept(rig: &mut LinuxRig) -> u64 {
    let read_back = rig.read_back(Nanos::from_secs(30)).unwrap().expect("there are places to read");
    assert_eq!(read_back.lost, []);
    read_back.read
}

/// Reads back, and returns how many blocks do not hold the data that was written last, and the
/// contents of the first of them.
fn lost(rig: &mut LinuxRig) -> (usize, String) {
    let ReadBack { lost, .. } = rig.read_back(Nanos::from_secs(30)).unwrap().unwrap();
    (lost.len(), lost.first().map(|lost| lost.found.clone()).unwrap_or_default())
}

/// Returns the contents of the backing file of `device`.
fn contents(device: &Loop) -> Vec<u8> {
    let image = OpenOptions::new().read(true).open(device.image()).unwrap();
    let mut bytes = vec![0; SIZE as usize];
    image.read_exact_at(&mut bytes, 0).unwrap();
    bytes
}

/// Replaces the contents of the drive without a request to it.
fn replace(device: &Loop, bytes: &[u8]) {
    let image = OpenOptions::new().write(true).open(device.image()).unwrap();
    image.write_all_at(bytes, 0).unwrap();
    image.sync_all().unwrap();
}

#[test]
fn a_flush_is_counted_by_the_device() {
    let Some(device) = Loop::in_memory(SIZE) else { return };
    let mut rig = device.rig();
    filled(&mut rig);
    let flush = rig.flush(&mut Recording::default()).unwrap().unwrap();
    assert_eq!((flush.sent, flush.device.as_deref()), (1, Some(device.name())));
    assert_eq!(flush.counted, Some(1), "the loop device has a volatile cache: the page cache");
}

#[test]
fn writes_of_every_kind_are_read_back_as_they_were_written() {
    let Some(device) = Loop::in_memory(SIZE) else { return };
    let mut rig = device.rig();
    assert_eq!(rig.read_back(Nanos::SECOND).unwrap(), None, "nothing was written");
    for engine in [Engine::IoUring, Engine::Synchronous] {
        for block_size in [512, 4_096, 12_288, 131_072] {
            let mut workload = random(engine, 30, 16, SPAN);
            workload.streams[0].block_size = Bytes(block_size);
            rig.run(&workload, &for_millis(60), &mut Recording::default()).unwrap();
            let read = check_kept(&mut rig);
            assert!(read > 0, "{engine:?} {block_size}");
        }
        filled(&mut rig);
        assert!(check_kept(&mut rig) > 32);
    }
    let trim = Preparation::Trim { offset: Bytes(0), span: SPAN };
    rig.prepare(&trim, &mut Recording::default()).unwrap();
    assert_eq!(rig.read_back(Nanos::SECOND).unwrap(), None, "everything was trimmed");
}

#[test]
fn blocks_of_zeros_and_a_span_that_is_not_a_whole_number_of_blocks_raise_no_finding() {
    let Some(device) = Loop::in_memory(SIZE) else { return };
    let mut rig = device.rig();
    write(&mut rig, &random(Engine::IoUring, 0, 16, SPAN), 8 << 20);
    let mut zeros = random(Engine::IoUring, 0, 4, Bytes(4 << 20));
    zeros.streams[0].data = Data::Zeros;
    write(&mut rig, &zeros, 16 << 20);
    check_kept(&mut rig);
    // The last 68 KiB of this fill are one write of their own.
    let fill = Preparation::Fill {
        access: ssdgauge_core::Access::Sequential,
        block_size: Bytes(128 << 10),
        offset: Bytes(0),
        span: Bytes((4 << 20) + (68 << 10)),
    };
    rig.prepare(&fill, &mut Recording::default()).unwrap();
    check_kept(&mut rig);
}

#[test]
fn writes_that_were_acknowledged_and_dropped_are_found() {
    let Some(device) = Loop::in_memory(SIZE) else { return };
    let mut rig = device.rig();
    let fresh = contents(&device);
    filled(&mut rig);
    let full = contents(&device);
    check_kept(&mut rig);
    // Random writes without a fill after them: the last ones are known from the pool.
    write(&mut rig, &random(Engine::IoUring, 0, 16, SPAN), 4 << 20);
    let written = contents(&device);
    check_kept(&mut rig);
    replace(&device, &full);
    let (count, found) = lost(&mut rig);
    assert!(count >= 24, "{count}");
    assert_eq!(found, "older data of this run");
    replace(&device, &fresh);
    let (count, found) = lost(&mut rig);
    assert!(count >= 60, "{count}");
    assert_eq!(found, "zeros");
    // Every second MiB was dropped.
    let mut half = written.clone();
    for (number, part) in half.chunks_mut(1 << 20).enumerate().filter(|(number, _)| number % 2 == 0)
    {
        part.copy_from_slice(&fresh[number << 20..(number + 1) << 20]);
    }
    replace(&device, &half);
    let (count, _) = lost(&mut rig);
    assert!((12..52).contains(&count), "{count}");
    replace(&device, &written);
    check_kept(&mut rig);
}

fn verify(rig: &mut LinuxRig) -> Verified {
    rig.verify(&mut |_, _| true).unwrap().expect("the run has written data")
}

/// Verifies, and checks that `blocks` hold what was written.
fn check_verified(rig: &mut LinuxRig, blocks: impl std::ops::RangeBounds<u64>) {
    let verified = verify(rig);
    assert_eq!((verified.wrong, verified.first.as_slice()), (0, &[][..]));
    assert!(blocks.contains(&verified.blocks), "{verified:?}");
}

#[test]
fn loads_of_every_kind_are_verified_to_the_last_byte() {
    let Some(device) = Loop::in_memory(SIZE) else { return };
    let mut rig = device.rig();
    assert_eq!(rig.verify(&mut |_, _| true).unwrap(), None, "nothing was written");
    for engine in [Engine::IoUring, Engine::Synchronous] {
        for (block_size, depth) in [(4_096, 16), (131_072, 4), (12_288, 8), (512, 16)] {
            let mut workload = random(engine, 30, depth, SPAN);
            workload.streams[0].block_size = Bytes(block_size);
            rig.run(&workload, &for_millis(60), &mut Recording::default()).unwrap();
            check_verified(&mut rig, 1..);
        }
        filled(&mut rig);
        check_verified(&mut rig, SPAN.0 / 4_096..);
        write(&mut rig, &random(engine, 0, 32, SPAN), 8 << 20);
        check_verified(&mut rig, SPAN.0 / 4_096..);
    }
    // A span that is not a whole number of blocks, and zeros over a part of it.
    let span = Bytes((4 << 20) + (68 << 10) + 512);
    let fill = Preparation::Fill {
        access: ssdgauge_core::Access::Sequential,
        block_size: Bytes(128 << 10),
        offset: Bytes(0),
        span,
    };
    rig.prepare(&fill, &mut Recording::default()).unwrap();
    check_verified(&mut rig, SPAN.0 / 4_096..);
    let mut zeros = random(Engine::IoUring, 0, 4, Bytes(1 << 20));
    zeros.streams[0].data = Data::Zeros;
    write(&mut rig, &zeros, 4 << 20);
    check_verified(&mut rig, 1..=(SPAN.0 - (1 << 20)) / 4_096);
    let trim = Preparation::Trim { offset: Bytes(0), span: SPAN };
    rig.prepare(&trim, &mut Recording::default()).unwrap();
    assert_eq!(rig.verify(&mut |_, _| true).unwrap(), None, "everything was trimmed");
}

#[test]
fn a_flipped_bit_and_exchanged_blocks_are_found_on_a_drive() {
    let Some(device) = Loop::in_memory(SIZE) else { return };
    let mut rig = device.rig();
    filled(&mut rig);
    write(&mut rig, &random(Engine::IoUring, 0, 16, SPAN), 4 << 20);
    let written = contents(&device);
    let mut damaged = written.clone();
    damaged[5 * 4_096 + 1_234] ^= 0x10;
    damaged[40_960..45_056].copy_from_slice(&written[81_920..86_016]);
    damaged[81_920..86_016].copy_from_slice(&written[40_960..45_056]);
    replace(&device, &damaged);
    let verified = verify(&mut rig);
    let found: Vec<(u64, &str)> =
        verified.first.iter().map(|one| (one.offset, one.found.as_str())).collect();
    let expected = [
        (20_480, "other data from its byte 1234 on (1 bytes of this sector differ)"),
        (40_960, "data that this run wrote at byte 81920"),
        (81_920, "data that this run wrote at byte 40960"),
    ];
    assert_eq!((verified.wrong, found.as_slice()), (3, &expected[..]));
    replace(&device, &written);
    check_verified(&mut rig, SPAN.0 / 4_096..);
}
