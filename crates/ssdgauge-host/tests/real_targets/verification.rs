//! Verification: drives that drop, misdirect or fold writes raise findings, correct drives do not.

use crate::real_targets::engines::filled;
use crate::real_targets::support::{Loop, for_bytes, for_millis, random};
use ssdgauge_core::{
    Access, Bytes, Data, EndedBy, Engine, Finding, FindingKind, Preparation, Recording, Rig,
    Severity, Workload,
};
use ssdgauge_host::LinuxRig;
use std::fs::{File, OpenOptions};
use std::os::unix::fs::FileExt;

const SIZE: u64 = 64 << 20;
const SPAN: Bytes = Bytes(16 << 20);
const BLOCK: u64 = 4_096;

/// Changes data of the drive without a request to it.
fn tamper(device: &Loop, change: impl FnOnce(&File)) {
    let image = OpenOptions::new().read(true).write(true).open(device.image()).unwrap();
    change(&image);
    image.sync_all().unwrap();
}

/// Reads the whole span sequentially; returns the findings about wrong data, the number of errors
/// and the reason for the end.
fn read_all(rig: &mut LinuxRig, engine: Engine) -> (Vec<Finding>, u64, EndedBy) {
    let mut workload: Workload = random(engine, 100, 4, SPAN);
    workload.streams[0].access = Access::Sequential;
    workload.streams[0].threads = 1;
    let mut seen = Recording::default();
    let ended = rig.run(&workload, &for_bytes(SPAN.0), &mut seen).unwrap();
    let errors = seen.errors();
    let is_wrong = |finding: &Finding| finding.kind == FindingKind::WrongData;
    (seen.findings.into_iter().filter(is_wrong).collect(), errors, ended.by)
}

#[test]
fn dropped_misdirected_and_foreign_data_is_found_with_its_offset() {
    let Some(device) = Loop::attach(SIZE) else { return };
    let mut rig = device.rig();
    for engine in [Engine::IoUring, Engine::Synchronous] {
        filled(&mut rig);
        assert_eq!(read_all(&mut rig, engine), (vec![], 0, EndedBy::Bytes));
        // A dropped write, a misdirected write, and a write of another program, in turn.
        tamper(&device, |image| image.write_all_at(&[0; BLOCK as usize], 7 * BLOCK).unwrap());
        let (found, errors, by) = read_all(&mut rig, engine);
        assert_eq!((errors, by), (1, EndedBy::Faults));
        assert_eq!(found[0].severity, Severity::Invalid);
        assert!(found[0].text.contains("byte 28672 found zeros"), "{}", found[0].text);
        tamper(&device, |image| {
            let mut block = [0; BLOCK as usize];
            image.read_exact_at(&mut block, 900 * BLOCK).unwrap();
            image.write_all_at(&block, 7 * BLOCK).unwrap();
        });
        let (found, ..) = read_all(&mut rig, engine);
        assert!(found[0].text.contains("wrote at byte 3686400"), "{}", found[0].text);
        tamper(&device, |image| image.write_all_at(&[9; BLOCK as usize], 7 * BLOCK).unwrap());
        let (found, ..) = read_all(&mut rig, engine);
        assert!(found[0].text.contains("never wrote"), "{}", found[0].text);
    }
}

#[test]
fn writes_dropped_in_a_second_fill_are_found() {
    let Some(device) = Loop::attach(SIZE) else { return };
    let mut rig = device.rig();
    filled(&mut rig);
    let mut before = vec![0; 1 << 20];
    tamper(&device, |image| image.read_exact_at(&mut before, 3 << 20).unwrap());
    filled(&mut rig);
    // One MiB is as before the second fill: those writes were acknowledged and dropped.
    tamper(&device, |image| image.write_all_at(&before, 3 << 20).unwrap());
    let (found, errors, _) = read_all(&mut rig, Engine::IoUring);
    assert!(found[0].text.contains("byte 3145728 found data from before"), "{}", found[0].text);
    // The step is aborted after 100 faults.
    assert!((100..=256).contains(&errors), "{errors}");
}

#[test]
fn a_false_capacity_is_found() {
    let Some(device) = Loop::attach(SIZE) else { return };
    let mut rig = device.rig();
    filled(&mut rig);
    // Only half of the capacity exists: the upper half of the addresses has overwritten the lower.
    tamper(&device, |image| {
        let mut half = vec![0; SPAN.0 as usize / 2];
        image.read_exact_at(&mut half, SPAN.0 / 2).unwrap();
        image.write_all_at(&half, 0).unwrap();
    });
    let (found, ..) = read_all(&mut rig, Engine::IoUring);
    assert!(found[0].text.contains("two addresses share one location"), "{}", found[0].text);
    assert!(found[0].text.contains("byte 0 found data that this run wrote at byte 8388608"));
}

#[test]
fn overlapping_writes_of_any_size_raise_no_mismatch() {
    let Some(device) = Loop::attach(SIZE) else { return };
    let mut rig = device.rig();
    filled(&mut rig);
    for engine in [Engine::IoUring, Engine::Synchronous] {
        for block_size in [512, 4_096, 12_288, 131_072] {
            for span in [131_072, SPAN.0] {
                let mut seen = Recording::default();
                let mut workload = random(engine, 50, 16, Bytes(span));
                workload.streams[0].block_size = Bytes(block_size);
                rig.run(&workload, &for_millis(100), &mut seen).unwrap();
                let wrong = |finding: &&Finding| finding.kind == FindingKind::WrongData;
                let found = seen.findings.iter().find(wrong);
                assert_eq!(found, None, "{engine:?} {block_size} {span}");
                assert_eq!(seen.errors(), 0);
            }
        }
    }
    // All data of the mixes holds headers of its own address.
    assert_eq!(read_all(&mut rig, Engine::IoUring), (vec![], 0, EndedBy::Bytes));
}

#[test]
fn unverified_ranges_raise_no_mismatch() {
    let Some(device) = Loop::attach(SIZE) else { return };
    let mut rig = device.rig();
    filled(&mut rig);
    let mut zeros = random(Engine::IoUring, 0, 4, Bytes(1 << 20));
    zeros.streams[0].data = Data::Zeros;
    rig.run(&zeros, &for_bytes(4 << 20), &mut Recording::default()).unwrap();
    assert_eq!(read_all(&mut rig, Engine::IoUring), (vec![], 0, EndedBy::Bytes));
    filled(&mut rig);
    let trim = Preparation::Trim { offset: Bytes(4 << 20), span: Bytes(1 << 20) };
    rig.prepare(&trim, &mut Recording::default()).unwrap();
    assert_eq!(read_all(&mut rig, Engine::IoUring), (vec![], 0, EndedBy::Bytes));
}
