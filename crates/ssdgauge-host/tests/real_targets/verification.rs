//! Verification: a drive that loses, misplaces or folds data is found out, and an honest one is not.

use crate::engines::filled;
use crate::support::{Loop, for_bytes, for_millis, random};
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

/// Changes the medium behind the drive's back.
fn tamper(device: &Loop, change: impl FnOnce(&File)) {
    let image = OpenOptions::new().read(true).write(true).open(device.image()).unwrap();
    change(&image);
    image.sync_all().unwrap();
}

/// Reads the whole span in order, and returns what was found wrong.
fn read_all(rig: &mut LinuxRig, engine: Engine) -> (Vec<Finding>, u64, EndedBy) {
    let mut workload: Workload = random(engine, 100, 4, SPAN);
    workload.streams[0].access = Access::Sequential;
    workload.streams[0].threads = 1;
    let mut seen = Recording::default();
    let ended = rig.run(&workload, &for_bytes(SPAN.0), &mut seen).unwrap();
    let errors = seen.errors();
    let of = |finding: &Finding| finding.kind == FindingKind::WrongData;
    (seen.findings.into_iter().filter(of).collect(), errors, ended.by)
}

#[test]
fn lost_misplaced_and_foreign_data_are_found_with_their_place() {
    let Some(device) = Loop::attach(SIZE) else { return };
    let mut rig = device.rig();
    for engine in [Engine::IoUring, Engine::Synchronous] {
        filled(&mut rig);
        assert_eq!(read_all(&mut rig, engine), (vec![], 0, EndedBy::Bytes));
        // A write that never arrived, one that belongs elsewhere, and one of somebody else.
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
fn a_drive_that_drops_the_second_fill_is_found_out() {
    let Some(device) = Loop::attach(SIZE) else { return };
    let mut rig = device.rig();
    filled(&mut rig);
    let mut before = vec![0; 1 << 20];
    tamper(&device, |image| image.read_exact_at(&mut before, 3 << 20).unwrap());
    filled(&mut rig);
    // A mebibyte is as it was before the second fill: those writes were acknowledged and dropped.
    tamper(&device, |image| image.write_all_at(&before, 3 << 20).unwrap());
    let (found, errors, _) = read_all(&mut rig, Engine::IoUring);
    assert!(found[0].text.contains("byte 3145728 found data from before"), "{}", found[0].text);
    // The step is given up after a hundred.
    assert!((100..=256).contains(&errors), "{errors}");
}

#[test]
fn a_false_capacity_is_found_out() {
    let Some(device) = Loop::attach(SIZE) else { return };
    let mut rig = device.rig();
    filled(&mut rig);
    // Only the upper half exists: what was written below it last lies at its place.
    tamper(&device, |image| {
        let mut half = vec![0; SPAN.0 as usize / 2];
        image.read_exact_at(&mut half, SPAN.0 / 2).unwrap();
        image.write_all_at(&half, 0).unwrap();
    });
    let (found, ..) = read_all(&mut rig, Engine::IoUring);
    assert!(found[0].text.contains("two addresses are one place"), "{}", found[0].text);
    assert!(found[0].text.contains("byte 0 found what this run wrote at byte 8388608"));
}

#[test]
fn an_honest_drive_raises_no_alarm_under_overlapping_writes_of_any_size() {
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
    // Everything that the mixes wrote carries stamps of its place.
    assert_eq!(read_all(&mut rig, Engine::IoUring), (vec![], 0, EndedBy::Bytes));
}

#[test]
fn what_is_unknown_is_not_called_wrong() {
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
