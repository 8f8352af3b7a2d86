//! Each way in which a block can differ from what was written, and each block that must not count.

use super::*;
use crate::verification::WriteBuffer;
use ssdgauge_core::{Access, Arrival, Data, Engine, Stream, Workload};
use std::os::unix::fs::FileExt;

const END: u64 = 4 << 20;
const SEED: u64 = 77;

/// A target as a file, and what was written to it.
struct Target {
    file: Arc<File>,
    pool: Pool,
    verification: Verification,
}

fn stream(offset: u64, span: u64, block_size: u64, queue_depth: u32) -> Stream {
    Stream {
        name: "main".into(),
        access: Access::Random,
        block_size: Bytes(block_size),
        read_percent: 0,
        queue_depth,
        threads: 1,
        offset: Bytes(offset),
        span: Bytes(span),
        arrival: Arrival::Closed,
        data: Data::Incompressible,
        sync: false,
        ..Stream::default()
    }
}

fn workload(stream: Stream) -> Workload {
    Workload { engine: Engine::IoUring, streams: vec![stream] }
}

impl Target {
    fn new() -> Target {
        let file = tempfile::tempfile().unwrap();
        file.set_len(END).unwrap();
        let (pool, verification) = (Pool::begin(SEED), Verification::new(0x1234_5678_9abc_def0));
        Target { file: Arc::new(file), pool, verification }
    }

    /// Writes the blocks at `offsets` as a workload of `stream` does.
    fn write(&mut self, stream: &Stream, offsets: &[u64], covering: bool) {
        self.verification.advance();
        self.verification.write(&workload(stream.clone()), covering);
        let (region, length) = (self.pool.get(0).unwrap(), stream.block_size.0 as usize);
        let depth = stream.queue_depth as usize;
        let writer = self.verification.header_writer(0);
        let part = 0..region.length();
        let mut buffer = WriteBuffer::new(region.clone(), part, length, depth, writer);
        for (number, offset) in offsets.iter().enumerate() {
            let data = buffer.prepare((number % depth) as u16, *offset, length as u32);
            // SAFETY: the pool has no other user, and the block lies in it.
            let data = unsafe { std::slice::from_raw_parts(data, length) };
            self.file.write_all_at(data, *offset).unwrap();
        }
    }

    /// Fills the range with blocks of `block_size`.
    fn fill(&mut self, offset: u64, span: u64, block_size: u64) {
        let stream = stream(offset, span, block_size, 8);
        let offsets: Vec<u64> = (offset..offset + span).step_by(block_size as usize).collect();
        self.write(&stream, &offsets, true);
        self.verification.fill(offset, offset + span);
        self.verification.write(&workload(stream), true);
    }

    fn verify(&self) -> Verified {
        let pool = (&self.pool, 0);
        let mut last = None;
        let mut progress = |read: Bytes, total: Bytes| {
            assert!(read <= total);
            last = Some((read, total));
            true
        };
        let verified = verify(&self.file, &self.verification, pool, END, &mut progress).unwrap();
        assert!(last.is_none_or(|(read, total)| read == total), "the last report is complete");
        verified.unwrap_or_default()
    }

    /// Checks that all `blocks` are right, and returns the number of those that were left out.
    fn check_right(&self, blocks: u64) -> u64 {
        let verified = self.verify();
        assert_eq!((verified.first.as_slice(), verified.wrong), (&[][..], 0));
        assert_eq!(verified.blocks, blocks);
        verified.skipped
    }

    /// Checks that exactly these blocks are wrong.
    fn check_wrong(&self, expected: &[(u64, &str)]) {
        let verified = self.verify();
        let found: Vec<(u64, &str)> =
            verified.first.iter().map(|one| (one.offset, one.found.as_str())).collect();
        assert_eq!(found, expected);
        assert_eq!(verified.wrong, expected.len() as u64);
    }

    fn bytes(&self, offset: u64, length: usize) -> Vec<u8> {
        let mut bytes = vec![0; length];
        self.file.read_exact_at(&mut bytes, offset).unwrap();
        bytes
    }

    fn put(&self, offset: u64, bytes: &[u8]) {
        self.file.write_all_at(bytes, offset).unwrap();
    }

    fn flip(&self, byte: u64, bit: u32) {
        let before = self.bytes(byte, 1)[0];
        self.put(byte, &[before ^ 1 << bit]);
    }
}

#[test]
fn a_flip_of_any_bit_of_a_block_is_found() {
    let mut target = Target::new();
    target.fill(0, END, 128 << 10);
    assert_eq!(target.check_right(1_024), 0);
    let offset = 37 * 4_096;
    let whole = target.bytes(offset, 4_096);
    let contents = Contents::new(target.verification.clone(), SEED, 0, END);
    let parts = target.verification.parts(END);
    let judge = |bytes: &[u8]| {
        let words = bytes.chunks_exact(8).map(|word| u64::from_ne_bytes(word.try_into().unwrap()));
        contents.judge(&words.collect::<Vec<u64>>(), offset, &parts[0])
    };
    assert_eq!(judge(&whole), BlockState::Right);
    for bit in 0..4_096 * 8 {
        let (byte, mut flipped) = (bit / 8, whole.clone());
        flipped[byte] ^= 1 << (bit % 8);
        let BlockState::Wrong(found) = judge(&flipped) else { panic!("bit {bit} is not found") };
        let place = format!("from its byte {byte} on (1 bytes");
        assert!(byte < 16 || found.contains(&place), "{bit}: {found}");
    }
}

/// Adds the first sectors of the target, `length` bytes, to `seen`; returns how many were not in it.
fn new_sectors(
    target: &Target,
    length: u64,
    seen: &mut std::collections::HashSet<[u8; 512]>,
) -> usize {
    let bytes = target.bytes(0, length as usize);
    bytes.chunks_exact(512).filter(|sector| seen.insert((*sector).try_into().unwrap())).count()
}

#[test]
fn no_sector_of_512_bytes_repeats_within_fills_and_overwrites() {
    let mut target = Target::new();
    let mut seen = std::collections::HashSet::new();
    for block_size in [128 << 10, 4_096, 512, 1_536, 65_536] {
        let span = END - END % block_size;
        for _ in 0..18 {
            target.fill(0, span, block_size);
        }
        for _ in 0..2 {
            assert_eq!(new_sectors(&target, span, &mut seen), span as usize / 512, "{block_size}");
            target.fill(0, span, block_size);
        }
    }
}

#[test]
fn one_workload_that_writes_more_than_the_pool_repeats_no_sector() {
    let mut target = Target::new();
    let block_size = 64 << 10;
    let stream = stream(0, END, block_size, 8);
    let offsets: Vec<u64> = (0..END).step_by(block_size as usize).collect();
    // 68 MiB through a pool of 64 MiB: the last pass writes what the first one wrote.
    let passes: Vec<u64> = (0..17).flat_map(|_| offsets.iter().copied()).collect();
    let mut seen = std::collections::HashSet::new();
    target.write(&stream, &offsets, true);
    assert_eq!(new_sectors(&target, END, &mut seen), 8_192);
    target.write(&stream, &passes, true);
    assert_eq!(new_sectors(&target, END, &mut seen), 8_192);
}

#[test]
fn written_data_stays_incompressible() {
    let mut target = Target::new();
    target.fill(0, END, 128 << 10);
    let bytes = target.bytes(0, END as usize);
    // Every byte but those of headers is equally frequent: 16,320 of each are expected, and five standard
    // deviations are 637.
    let mut counts = [0u32; 256];
    let data = bytes.chunks_exact(4_096).flat_map(|block| &block[16..]);
    data.for_each(|byte| counts[usize::from(*byte)] += 1);
    assert!(counts.iter().all(|n| n.abs_diff(16_320) < 637), "{counts:?}");
    // No four bytes at the begin of a sector come again at that of another one, but for the words of
    // headers: nothing for a compressor that looks for repetitions.
    let begins = bytes.chunks_exact(512).enumerate().filter(|(number, _)| number % 8 != 0);
    let begins: Vec<[u8; 4]> = begins.map(|(_, sector)| sector[..4].try_into().unwrap()).collect();
    let distinct: std::collections::HashSet<_> = begins.iter().collect();
    // By chance, 7,168 random numbers of 32 bits have 0.006 equal pairs.
    assert!(begins.len() - distinct.len() <= 2, "{} of {}", distinct.len(), begins.len());
}

#[test]
fn lost_and_misdirected_writes_and_foreign_data_are_told_apart() {
    let mut target = Target::new();
    target.fill(0, END, 64 << 10);
    let old = target.bytes(8_192, 4_096);
    target.fill(0, END / 2, 64 << 10);
    target.check_right(1_024);
    // Two blocks changed places, one was never written, one was lost, one was overwritten.
    let (one, two) = (target.bytes(16_384, 4_096), target.bytes(65_536, 4_096));
    target.put(16_384, &two);
    target.put(65_536, &one);
    target.put(0, &[0; 4_096]);
    target.put(8_192, &old);
    target.put(END - 4_096, &[0xa5; 4_096]);
    target.check_wrong(&[
        (0, "zeros"),
        (8_192, "older data of this run"),
        (16_384, "data that this run wrote at byte 65536"),
        (65_536, "data that this run wrote at byte 16384"),
        (END - 4_096, "data that this run never wrote"),
    ]);
}

#[test]
fn the_lowest_eight_of_many_wrong_blocks_are_listed() {
    let mut target = Target::new();
    target.fill(0, END, 64 << 10);
    (0..1_024).step_by(3).for_each(|block| target.put(block * 4_096, &[0; 4_096]));
    let verified = target.verify();
    assert_eq!((verified.wrong, verified.blocks), (342, 1_024));
    let offsets: Vec<u64> = verified.first.iter().map(|one| one.offset / 4_096).collect();
    assert_eq!(offsets, [0, 3, 6, 9, 12, 15, 18, 21]);
}

#[test]
fn blocks_that_random_writes_did_not_reach_may_hold_anything_but_damaged_data_of_the_run() {
    let mut target = Target::new();
    target.put(0, &vec![0x5a; END as usize / 2]);
    let offsets: Vec<u64> = (0..1_024).step_by(4).map(|block| block * 4_096).collect();
    target.write(&stream(0, END, 4_096, 1), &offsets, false);
    assert_eq!(target.check_right(256), 768);
    // A damaged header, and a damaged body: in a block that holds data of the run.
    target.flip(4 * 4_096 + 3, 1);
    target.flip(8 * 4_096 + 12, 1);
    target.flip(12 * 4_096 + 2_000, 1);
    target.check_wrong(&[
        (4 * 4_096, "data of this run with a damaged header"),
        (8 * 4_096, "data of this run with a damaged header"),
        (12 * 4_096, "other data from its byte 2000 on (1 bytes of this sector differ)"),
    ]);
}

#[test]
fn trimmed_blocks_may_hold_zeros_or_old_data() {
    let mut target = Target::new();
    target.fill(0, END, 64 << 10);
    target.verification.invalidate(0, END / 2);
    target.put(0, &[0; 1 << 20]);
    assert_eq!(target.check_right(512), 0, "what was trimmed is not read");
    // Random writes after the trim: other blocks still hold what they held before it.
    target.write(&stream(0, END / 2, 4_096, 1), &[0, 4_096, 1 << 20], false);
    assert_eq!(target.check_right(515), 509);
    target.put(4_096, &target.bytes(0, 4_096));
    target.check_wrong(&[(4_096, "data that this run wrote at byte 0")]);
}

#[test]
fn requests_of_less_than_a_block_and_between_two_headers_are_verified_by_sectors() {
    let mut target = Target::new();
    // Old contents, and requests of one sector: at some of them a header, which stays in the pool and
    // is sent again as data of other sectors.
    target.put(0, &vec![0x5a; END as usize / 2]);
    let sectors: Vec<u64> = (0..END / 512).filter(|n| n % 3 != 1).map(|n| n * 512).collect();
    for _ in 0..20 {
        target.write(&stream(0, END, 512, 32), &sectors, false);
    }
    target.verify();
    assert_eq!(target.verify().wrong, 0, "{:?}", target.verify());
    let written: Vec<u64> = (0..END).step_by(512).collect();
    target.write(&stream(0, END, 512, 32), &written, true);
    target.verification.fill(0, END);
    target.verification.write(&workload(stream(0, END, 512, 32)), true);
    assert_eq!(target.check_right(1_024), 0);
    // Requests of 4 KiB that begin between two headers.
    let shifted: Vec<u64> = (0..700).map(|n| n * 4_096 + 1_536).collect();
    target.write(&stream(1_536, END - 4_096, 4_096, 8), &shifted, false);
    assert_eq!(target.check_right(1_024), 0);
    for byte in [700, 1_600, 4_000, 4_096 + 512 + 16] {
        target.flip(byte, 4);
        assert_eq!(target.verify().wrong, 1, "byte {byte}");
        target.flip(byte, 4);
    }
    target.put(9 * 4_096 + 512, &[0; 512]);
    assert_eq!(target.verify().wrong, 1);
}

#[test]
fn a_mixture_of_two_writes_counts_only_where_they_could_not_be_in_flight_together() {
    for (queue_depth, wrong) in [(1, 1), (32, 0)] {
        let mut target = Target::new();
        target.write(&stream(0, END, 4_096, queue_depth), &[0, 4_096], false);
        let first = target.bytes(0, 4_096);
        target.write(&stream(0, END, 4_096, queue_depth), &[8_192, 12_288, 0], false);
        assert_eq!(target.check_right(4), 1_020);
        target.put(1_024, &first[1_024..2_048]);
        assert_eq!(target.verify().wrong, wrong, "queue depth {queue_depth}");
    }
}

#[test]
fn an_end_between_two_blocks_and_adjacent_fills_are_verified_to_the_last_byte() {
    let mut target = Target::new();
    target.fill(0, 512 * 21, 512);
    target.fill(512 * 21, 512 * 12, 512);
    assert_eq!(target.check_right(5), 0);
    target.flip(512 * 33 - 1, 0);
    let verified =
        verify(&target.file, &target.verification, (&target.pool, 0), 512 * 33, &mut |_, _| true);
    let verified = verified.unwrap().unwrap();
    assert_eq!((verified.wrong, verified.bytes), (1, 512 * 33));
}

#[test]
fn data_of_an_earlier_process_is_verified_by_the_seed_of_the_run() {
    let mut earlier = Target::new();
    earlier.fill(0, END / 2, 128 << 10);
    earlier.write(&stream(0, END, 4_096, 1), &[4_096, END - 4_096], false);
    let mut resumed = Target {
        file: earlier.file.clone(),
        pool: Pool::begin(SEED),
        verification: Verification::after(0x1234_5678_9abc_def0, 2),
    };
    drop(earlier.pool);
    assert_eq!(resumed.check_right(0), 0, "nothing is known of it");
    resumed.verification.fill_earlier(0, END / 2);
    resumed.verification.write_earlier(&workload(stream(0, END, 4_096, 1)), true);
    assert_eq!(resumed.check_right(513), 511);
    resumed.flip(4_096 + 99, 5);
    resumed.flip(END - 1, 5);
    let verified = resumed.verify();
    assert_eq!((verified.wrong, verified.first[1].offset), (2, END - 4_096));
    // A pool of another seed would find every block wrong.
    resumed.pool = Pool::begin(SEED + 1);
    assert_eq!(resumed.verify().wrong, 513);
}

#[test]
fn a_stop_ends_the_verification_without_a_verdict() {
    let mut target = Target::new();
    target.fill(0, END, 128 << 10);
    let mut calls = 0;
    let mut progress = |_, _| {
        calls += 1;
        false
    };
    let pool = (&target.pool, 0);
    let verified = verify(&target.file, &target.verification, pool, END, &mut progress);
    // Four threads may have read all four chunks before the first look at the flag.
    let verified = verified.unwrap().unwrap();
    assert!(verified.stopped || verified.blocks == 1_024);
    assert!(calls > 0);
}

#[test]
fn a_target_that_ends_before_its_capacity_is_an_error() {
    let mut target = Target::new();
    target.fill(0, END, 128 << 10);
    target.file.set_len(END / 2).unwrap();
    let pool = (&target.pool, 0);
    let verified = verify(&target.file, &target.verification, pool, END, &mut |_, _| true);
    assert!(matches!(verified, Err(RequestError::Failed { .. })), "{verified:?}");
}
