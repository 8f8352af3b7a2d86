//! Slow drives among virtual ones (MODEL), and none where there are none.

// A test ends at its first error.
#![allow(clippy::unwrap_used)]

mod fleet;

use fleet::{Fault, runs};
use ssdgauge_core::Direction;
use ssdgauge_fleet::{LEAST_DRIVES, NotJudged, drift};
use std::collections::BTreeSet;

#[test]
fn each_slow_drive_is_found_and_its_peers_are_not() {
    let runs = runs(500, 24, 1.0);
    let slow = &runs[..Fault::ALL.len()];
    let found = drift(&runs);
    let suspects: BTreeSet<&str> =
        found.suspects.iter().map(|suspect| suspect.serial.as_str()).collect();
    assert_eq!(suspects, slow.iter().map(|run| run.serial.as_str()).collect());
    for suspect in &found.suspects {
        assert!(suspect.is_model && suspect.slow >= 2 && suspect.judged >= suspect.slow);
        for reason in &suspect.reasons {
            assert!(reason.expected_us < reason.bound_us && reason.bound_us < reason.latency_us);
            assert_eq!(reason.drives, runs.len());
        }
    }
    // What repeats reads does not slow down writes.
    let retries = found.suspects.iter().find(|suspect| suspect.serial == runs[0].serial).unwrap();
    assert!(retries.reasons.iter().all(|reason| reason.direction == Direction::Read));
    assert_eq!(found.groups.len(), 1);
    assert!(found.unjudged.is_empty());

    // Alike drives: nothing is found among them.
    assert_eq!(drift(&runs[Fault::ALL.len()..]).suspects, []);
    // Too few drives: nothing is judged, and that is stated.
    let few = drift(&runs[..LEAST_DRIVES - 1]);
    assert_eq!((few.suspects.len(), few.groups.len(), few.unjudged.len()), (0, 0, 1));
    assert_eq!(few.unjudged[0].reason, NotJudged::FewDrives { most: LEAST_DRIVES - 1 });
}
