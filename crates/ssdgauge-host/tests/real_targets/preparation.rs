//! Preparation of real block devices: trims and purges discard exactly their range, and methods
//! that a device does not support are refused.

use crate::real_targets::support::Loop;
use ssdgauge_core::{
    Access, Bytes, FindingKind, Preparation, Prepared, PurgeMethod, Recording, Rig, RigError,
};
use ssdgauge_guard::Candidate;
use ssdgauge_host::LinuxRig;
use std::os::unix::fs::FileExt;

const SIZE: u64 = 32 << 20;

fn admitted(device: &Loop, size: Option<Bytes>) -> LinuxRig {
    let candidate = Candidate::find(&device.path).unwrap();
    let candidate = match size {
        Some(size) => candidate.sized(size).unwrap(),
        None => candidate,
    };
    crate::real_targets::support::open(candidate, Some(&device.confirmation(SIZE)), 1).unwrap()
}

/// Fills the whole device.
fn fill(rig: &mut LinuxRig) {
    let (offset, span) = (Bytes(0), rig.drive().capacity);
    let block_size = Bytes(1 << 20);
    let fill = Preparation::Fill { access: Access::Sequential, block_size, offset, span };
    rig.prepare(&fill, &mut Recording::default()).unwrap();
}

/// Returns the number of bytes of the image that are zero, and of all.
fn zeros(device: &Loop) -> (u64, u64) {
    let image = std::fs::read(device.image()).unwrap();
    let zeros = image.iter().filter(|byte| **byte == 0).count() as u64;
    (zeros, image.len() as u64)
}

fn prepare(rig: &mut LinuxRig, preparation: &Preparation) -> (Prepared, Vec<FindingKind>) {
    let mut recording = Recording::default();
    let prepared = rig.prepare(preparation, &mut recording).unwrap();
    (prepared, recording.findings.iter().map(|finding| finding.kind).collect())
}

#[test]
fn a_trim_discards_its_range_and_nothing_else() {
    let Some(device) = Loop::attach(SIZE) else { return };
    let mut rig = admitted(&device, None);
    fill(&mut rig);
    let trim = Preparation::Trim { offset: Bytes(8 << 20), span: Bytes(16 << 20) };
    let (prepared, findings) = prepare(&mut rig, &trim);
    assert_eq!((prepared.method.as_str(), findings), ("discard, verified by reading back", vec![]));
    assert_eq!(prepared.written, Bytes(16 * 4_096));
    let (zeros, length) = zeros(&device);
    // One byte in 256 of random data is zero; verification headers hold a few more.
    let expected = (16 << 20) + (length - (16 << 20)) / 256;
    assert!(zeros.abs_diff(expected) < 200_000, "{zeros} of {length}");
}

#[test]
fn a_purge_covers_the_whole_drive_and_records_the_unused_part() {
    let Some(device) = Loop::attach(SIZE) else { return };
    let mut rig = admitted(&device, Some(Bytes(SIZE / 2)));
    // After the admission: the guard requires `--erase` for data that it finds.
    let image = std::fs::OpenOptions::new().write(true).open(device.image()).unwrap();
    image.write_all_at(&vec![0xab; SIZE as usize - (4 << 20)], 2 << 20).unwrap();
    image.sync_all().unwrap();
    let (prepared, findings) = prepare(&mut rig, &Preparation::Purge);
    assert!(prepared.method.starts_with("discard of the whole drive"), "{}", prepared.method);
    assert_eq!(findings, [FindingKind::LeftUnused]);
    assert_eq!(zeros(&device), (SIZE, SIZE));
}

#[test]
fn unsupported_purge_methods_are_refused_when_requested_by_name() {
    let Some(device) = Loop::attach(SIZE) else { return };
    let mut rig = admitted(&device, None);
    for method in PurgeMethod::ALL {
        let result = rig.prepare(&Preparation::PurgeBy(method), &mut Recording::default());
        match method {
            PurgeMethod::Discard => assert!(result.is_ok(), "{result:?}"),
            PurgeMethod::Format
            | PurgeMethod::SecureErase
            | PurgeMethod::SanitizeBlock
            | PurgeMethod::SanitizeCrypto
            | PurgeMethod::SanitizeOverwrite => {
                assert!(matches!(result, Err(RigError::CannotPurge { .. })), "{result:?}");
            }
        }
    }
}
