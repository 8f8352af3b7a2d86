//! Data integrity: every read finds the data written last, checked against a plain array.

use crate::model::support::{Recording, random_profile};
use proptest::prelude::*;
use ssdgauge_core::{
    Access, Bytes, Data, Direction, Engine, Nanos, Preparation, RequestSource, Rig, Workload,
};
use ssdgauge_sim::VirtualRig;

const PAGE: u64 = 4_096;

/// A call to the rig.
#[derive(Clone, Debug)]
enum Event {
    /// Writes `blocks` blocks of `pages` pages of some data, sequentially or at random.
    Write { access: Access, data: Data, pages: u64, blocks: u64, from: f64, span: f64 },
    /// Deallocates a range.
    Trim { from: f64, span: f64 },
    /// Keeps the drive idle.
    Rest { seconds: u64 },
    /// Purges the drive.
    Purge,
}

fn event() -> impl Strategy<Value = Event> {
    let access = prop_oneof![Just(Access::Random), Just(Access::Sequential)];
    let data = prop::sample::select(Data::ALL.to_vec());
    prop_oneof![
        6 => (access, data, 1u64..40, 1u64..600, 0.0..0.9f64, 0.05..1.0f64).prop_map(
            |(access, data, pages, blocks, from, span)| {
                Event::Write { access, data, pages, blocks, from, span }
            }
        ),
        2 => (0.0..0.9f64, 0.01..0.5f64).prop_map(|(from, span)| Event::Trim { from, span }),
        1 => (1u64..30).prop_map(|seconds| Event::Rest { seconds }),
        1 => Just(Event::Purge),
    ]
}

/// Applies `events` to a drive and to a plain array, and compares every page at the end.
fn check(text: &str, query: &str, events: &[Event]) -> Result<(), TestCaseError> {
    let seed = 5;
    let mut rig = VirtualRig::from_toml("random", text, query, seed).unwrap();
    rig.keep_generations();
    let capacity = rig.drive().capacity.0;
    let mut plain = vec![0u32; (capacity / PAGE) as usize];
    let (mut writes, mut sink) = (0, Recording::brief());
    let part = |from: f64, span: f64, least: u64| {
        let offset = (capacity as f64 * from) as u64 / PAGE * PAGE;
        let span = ((capacity as f64 * span) as u64 / PAGE * PAGE).min(capacity - offset);
        (span >= least).then_some((offset, span))
    };
    for event in events {
        match *event {
            Event::Write { access, data, pages, blocks, from, span } => {
                let Some((offset, span)) = part(from, span, pages * PAGE) else { continue };
                let mut stream =
                    crate::model::support::stream(access, pages * PAGE, 0, 1, Bytes(span));
                stream.offset = Bytes(offset);
                stream.data = data;
                let load = Workload { engine: Engine::IoUring, streams: vec![stream.clone()] };
                let until = crate::model::support::bytes(blocks * pages * PAGE);
                let seed = rig.next_stream_seed(&load, &until, 0);
                let mut source = RequestSource::new(&stream, 0, seed);
                for _ in 0..blocks {
                    let first = source.deal().offset / PAGE;
                    for page in first..first + pages {
                        writes += 1;
                        plain[page as usize] = writes;
                    }
                }
                rig.run(&load, &until, &mut sink).unwrap();
            }
            Event::Trim { from, span } => {
                let Some((offset, span)) = part(from, span, PAGE) else { continue };
                let (offset, span) = (Bytes(offset), Bytes(span));
                rig.prepare(&Preparation::Trim { offset, span }, &mut sink).unwrap();
                let first = (offset.0 / PAGE) as usize;
                plain[first..first + (span.0 / PAGE) as usize].fill(0);
            }
            Event::Rest { seconds } => {
                rig.rest(Nanos::from_secs(seconds), &mut sink).unwrap();
            }
            Event::Purge => {
                rig.prepare(&Preparation::Purge, &mut sink).unwrap();
                rig.keep_generations();
                (writes, plain) = (0, vec![0; plain.len()]);
            }
        }
    }
    for (page, generation) in plain.iter().enumerate() {
        prop_assert_eq!(rig.generation(page as u32), *generation, "page {}", page);
    }
    Ok(())
}

/// Returns a very small drive, which a few thousand writes overwrite several times.
fn small(seed: u64) -> String {
    let text = random_profile(seed);
    let number = |key: &str| -> f64 {
        let line = text.lines().find(|line| line.starts_with(key)).unwrap();
        line.split('=').nth(1).unwrap().trim().parse().unwrap()
    };
    let superblock = number("block_mib") * number("dies") / 1_024.0;
    let raw = superblock * (12.0 + number("reserve_superblocks"));
    text.lines()
        .map(|line| match line {
            _ if line.starts_with("capacity_gb") => format!("capacity_gb = {}\n", 0.006),
            _ if line.starts_with("raw_gib") => format!("raw_gib = {}\n", raw.max(0.0087)),
            _ => format!("{line}\n"),
        })
        .collect()
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 400,
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn every_page_reads_the_data_written_last(
        seed in 0u64..10_000,
        drive in 0usize..12,
        events in prop::collection::vec(event(), 1..24),
    ) {
        let query = [
            "",
            "slc.fixed_gb=0.001&slc.fold_mb_s=1",
            "slc.dynamic_gb=0.002&slc.fold_mb_s=3&slc.fold_under_load_mb_s=2",
            "slc.fixed_gb=0.001&slc.dynamic_gb=0.001&slc.overflow=fold-first&gc.pacing=burst",
            "effects.map_unit_kib=8",
            "effects.map_unit_kib=64",
            "effects.map_unit_kib=16&slc.dynamic_gb=0.002&slc.fold_mb_s=3&slc.fold_under_load_mb_s=2",
            "effects.compresses=true",
            "effects.compresses=true&slc.dynamic_gb=0.002&slc.fold_mb_s=3&slc.fold_under_load_mb_s=2",
            "effects.compresses=true&effects.deduplicates=true&slc.fixed_gb=0.001&slc.fold_mb_s=1",
            "effects.deduplicates=true",
            "effects.compresses=true&effects.map_unit_kib=16",
        ][drive];
        check(&small(seed), query, &events)?;
    }
}

#[test]
fn a_verification_counts_the_written_pages_and_finds_dropped_writes_alone() {
    let part = |offset: u64, span: u64| {
        let mut stream =
            crate::model::support::stream(Access::Sequential, 128 << 10, 0, 1, Bytes(span));
        stream.offset = Bytes(offset);
        crate::model::support::workload(stream)
    };
    let verified = |query: &str| {
        let mut rig = VirtualRig::open(&format!("tiny{query}"), 1).unwrap();
        assert_eq!(rig.verify(&mut |_, _| true).unwrap(), None, "nothing was written");
        let mut sink = Recording::brief();
        let mebibytes = |n: u64| crate::model::support::bytes(n << 20);
        rig.run(&part(0, 64 << 20), &mebibytes(64), &mut sink).unwrap();
        // A half of its span is not reached, and a part of the first one is trimmed.
        rig.run(&part(128 << 20, 64 << 20), &mebibytes(32), &mut sink).unwrap();
        let (offset, span) = (Bytes(0), Bytes(16 << 20));
        rig.prepare(&Preparation::Trim { offset, span }, &mut sink).unwrap();
        rig.rest(Nanos::from_secs(100), &mut sink).unwrap();
        rig.run(&part(128 << 20, 64 << 20), &mebibytes(1), &mut sink).unwrap();
        rig.verify(&mut |_, _| true).unwrap().unwrap()
    };
    let clean = verified("");
    let pages = |mebibytes: u64| (mebibytes << 20) / PAGE;
    assert_eq!((clean.blocks, clean.skipped, clean.wrong), (pages(80), pages(32), 0));
    let dropped = verified("?fault.drop_at_s=50");
    assert_eq!((dropped.blocks, dropped.wrong), (pages(80), pages(1)));
    let first = &dropped.first[0];
    assert_eq!((first.offset, first.found.as_str()), (128 << 20, "older data"));
    // A write of 128 KiB each: one page of each is wrong.
    let flipped = verified("?fault.flip_at_s=50");
    assert_eq!((flipped.blocks, flipped.wrong), (pages(80), 8));
    let found: Vec<_> =
        flipped.first.iter().map(|lost| (lost.offset, lost.found.as_str())).collect();
    assert_eq!(
        found[..2],
        [
            (128 << 20, "other data (one bit differs)"),
            ((128 << 20) + (128 << 10), "other data (one bit differs)"),
        ]
    );
}

#[test]
fn units_that_a_read_causes_to_be_programmed_in_part_keep_their_data() {
    // A unit of 16 pages: most are programmed in part.
    let drive = (0..).map(small).find(|text| text.contains("program_kib = 64\n")).unwrap();
    let text = format!("{drive}\n[effects]\nread_flushes_buffer = true\n");
    let mut rig = VirtualRig::from_toml("partial", &text, "", 5).unwrap();
    rig.keep_generations();
    let span = rig.drive().capacity;
    let stream = crate::model::support::stream(Access::Random, PAGE, 50, 1, span);
    let load = Workload { engine: Engine::IoUring, streams: vec![stream.clone()] };
    let until = crate::model::support::bytes(6 * span.0);
    let seed = rig.next_stream_seed(&load, &until, 0);
    let mut source = RequestSource::new(&stream, 0, seed);
    rig.run(&load, &until, &mut Recording::brief()).unwrap();
    let mut plain = vec![0u32; (span.0 / PAGE) as usize];
    let mut writes = 0;
    for _ in 0..6 * span.0 / PAGE {
        let request = source.deal();
        if request.direction == Direction::Write {
            writes += 1;
            plain[(request.offset / PAGE) as usize] = writes;
        }
    }
    let truth = rig.ground_truth();
    assert!(truth.unused_pages > u64::from(writes) && truth.collected_pages > 0, "{truth:?}");
    for (page, generation) in plain.iter().enumerate() {
        assert_eq!(rig.generation(page as u32), *generation, "page {page}");
    }
}
