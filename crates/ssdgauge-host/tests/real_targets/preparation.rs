//! Preparation of real block devices: what is told to be forgotten is forgotten, and a layer that
//! lets nothing through is named.

use crate::support::Loop;
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
    LinuxRig::open(candidate, Some(&device.confirmation(SIZE)), 1).unwrap()
}

fn fill(rig: &mut LinuxRig) {
    let (offset, span) = (Bytes(0), rig.drive().capacity);
    let block_size = Bytes(1 << 20);
    let fill = Preparation::Fill { access: Access::Sequential, block_size, offset, span };
    rig.prepare(&fill, &mut Recording::default()).unwrap();
}

fn zeros(device: &Loop) -> (u64, u64) {
    let image = std::fs::read(device.image()).unwrap();
    let zeros = image.iter().filter(|byte| **byte == 0).count() as u64;
    (zeros, image.len() as u64)
}

fn prepare(rig: &mut LinuxRig, preparation: &Preparation) -> (Prepared, Vec<FindingKind>) {
    let mut seen = Recording::default();
    let prepared = rig.prepare(preparation, &mut seen).unwrap();
    (prepared, seen.findings.iter().map(|finding| finding.kind).collect())
}

#[test]
fn a_trimmed_range_is_forgotten_and_its_neighbours_are_not() {
    let Some(device) = Loop::attach(SIZE) else { return };
    let mut rig = admitted(&device, None);
    fill(&mut rig);
    let trim = Preparation::Trim { offset: Bytes(8 << 20), span: Bytes(16 << 20) };
    let (prepared, findings) = prepare(&mut rig, &trim);
    assert_eq!((prepared.method.as_str(), findings), ("discard, read back as forgotten", vec![]));
    assert_eq!(prepared.written, Bytes(16 * 4_096));
    let (zeros, length) = zeros(&device);
    // Random data holds a zero in every 256th byte; stamps hold a few more.
    let expected = (16 << 20) + (length - (16 << 20)) / 256;
    assert!(zeros.abs_diff(expected) < 200_000, "{zeros} of {length}");
}

#[test]
fn a_purge_takes_the_whole_drive_and_records_what_stays_unused() {
    let Some(device) = Loop::attach(SIZE) else { return };
    let image = std::fs::OpenOptions::new().write(true).open(device.image()).unwrap();
    // The guard would ask for a consent more for data at the head or the tail.
    image.write_all_at(&vec![0xab; SIZE as usize - (4 << 20)], 2 << 20).unwrap();
    image.sync_all().unwrap();
    let mut rig = admitted(&device, Some(Bytes(SIZE / 2)));
    let (prepared, findings) = prepare(&mut rig, &Preparation::Purge);
    assert!(prepared.method.starts_with("discard of the whole drive"), "{}", prepared.method);
    assert_eq!(findings, [FindingKind::LeftUnused]);
    assert_eq!(zeros(&device), (SIZE, SIZE));
}

#[test]
fn what_a_device_does_not_offer_is_refused_when_it_is_asked_for_by_name() {
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
