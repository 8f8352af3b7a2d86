//! The guard on real block devices: devices in use are refused, and no byte is written.

use crate::real_targets::support::{Loop, has_program};
use ssdgauge_guard::{Candidate, Refusal, TargetError};
use ssdgauge_host::LinuxRig;
use std::process::Command;

const SIZE: u64 = 64 << 20;

fn admit(path: &str, confirm: Option<&str>) -> Result<LinuxRig, TargetError> {
    crate::real_targets::support::open(Candidate::find(path)?, confirm, 1)
}

/// Returns the refusal of `path`, and checks that the image did not change.
fn refusal(device: &Loop, path: &str, confirm: Option<&str>) -> Refusal {
    let before = std::fs::read(device.image()).unwrap();
    let error = admit(path, confirm).map(|_| ()).unwrap_err();
    let after = std::fs::read(device.image()).unwrap();
    // Where the kernel has swapped to it, the first block remains, which a run writes first.
    let compared = if is_swapped_to(&device.path) { 4_096 } else { before.len() };
    assert!(after[..compared] == before[..compared], "the device was written to");
    match error {
        TargetError::Refused(refusal) => refusal,
        other => panic!("{other}"),
    }
}

fn run(program: &str, arguments: &[&str]) {
    let output = Command::new(program).args(arguments).output().unwrap();
    assert!(output.status.success(), "{program} {arguments:?}: {output:?}");
}

#[test]
fn a_device_is_admitted_only_with_its_confirmation() {
    let Some(device) = Loop::attach(SIZE) else { return };
    let expected = device.confirmation(SIZE);
    match refusal(&device, &device.path, None) {
        Refusal::NotConfirmed { expected: words, .. } => assert_eq!(words, expected),
        other => panic!("{other}"),
    }
    for wrong in ["", "yes", "loop", "loop0:1"] {
        let refusal = refusal(&device, &device.path, Some(wrong));
        assert!(matches!(refusal, Refusal::WrongConfirmation { .. }), "{refusal}");
    }
    assert!(admit(&device.path, Some(&expected)).is_ok());
}

#[test]
fn a_mounted_device_is_refused_by_every_name() {
    let Some(device) = Loop::attach(SIZE) else { return };
    if !has_program("mkfs.ext4") {
        println!("skipped: no mkfs.ext4");
        return;
    }
    let confirm = device.confirmation(SIZE);
    run("mkfs.ext4", &["-q", &device.path]);
    let folder = tempfile::tempdir().unwrap();
    let point = folder.path().join("mounted");
    std::fs::create_dir(&point).unwrap();
    run("mount", &[&device.path, point.to_str().unwrap()]);
    let link = folder.path().join("by-id");
    std::os::unix::fs::symlink(&device.path, &link).unwrap();
    let dots = format!("/dev/../dev//{}", device.name());
    run("sync", &[]);
    for path in [device.path.as_str(), link.to_str().unwrap(), &dots] {
        let refusal = refusal(&device, path, Some(&confirm));
        let mounted = point.to_str().unwrap();
        assert!(matches!(&refusal, Refusal::InUse { .. }), "{path}: {refusal}");
        assert!(refusal.to_string().contains(mounted), "{path}: {refusal}");
    }
    run("umount", &[point.to_str().unwrap()]);
    assert!(matches!(refusal(&device, &device.path, Some(&confirm)), Refusal::Holds { .. }));
}

/// Returns whether the kernel has written pages to the swap device `path`: the column `Used`.
fn is_swapped_to(path: &str) -> bool {
    let swaps = std::fs::read_to_string("/proc/swaps").unwrap();
    let used = swaps.lines().find(|line| line.split_whitespace().next() == Some(path));
    used.and_then(|line| line.split_whitespace().nth(3)).is_some_and(|used| used != "0")
}

#[test]
fn swap_is_refused() {
    let Some(device) = Loop::attach(SIZE) else { return };
    run("mkswap", &[&device.path]);
    let on = Command::new("swapon").arg(&device.path).output().unwrap();
    if !on.status.success() {
        println!("skipped: swapon failed ({})", String::from_utf8_lossy(&on.stderr).trim());
        return;
    }
    let refusal = refusal(&device, &device.path, Some(&device.confirmation(SIZE)));
    run("swapoff", &[&device.path]);
    assert!(refusal.to_string().contains("swap"), "{refusal}");
}

#[test]
fn a_drive_is_held_for_one_run_at_a_time() {
    let Some(device) = Loop::attach(SIZE) else { return };
    let confirm = device.confirmation(SIZE);
    let first = admit(&device.path, Some(&confirm)).unwrap();
    let refusal = refusal(&device, &device.path, Some(&confirm));
    assert!(matches!(refusal, Refusal::Busy { .. }), "{refusal}");
    drop(first);
    assert!(admit(&device.path, Some(&confirm)).is_ok());
}

#[test]
fn names_of_other_things_are_refused_and_create_nothing() {
    let before = std::fs::read_dir("/dev").unwrap().count();
    for name in ["/dev/no-such-drive", "/dev/null", "/dev", "/no/such/folder/file", "/etc/passwd"] {
        let error = Candidate::find(name).unwrap_err();
        println!("{name}: {error}");
    }
    assert_eq!(std::fs::read_dir("/dev").unwrap().count(), before);
    assert!(!std::path::Path::new("/dev/no-such-drive").exists());
}

#[test]
fn a_read_only_device_is_refused() {
    let Some(device) = Loop::attach(SIZE) else { return };
    run("blockdev", &["--setro", &device.path]);
    let refusal = refusal(&device, &device.path, Some(&device.confirmation(SIZE)));
    assert!(matches!(refusal, Refusal::ReadOnly { .. } | Refusal::Denied { .. }), "{refusal}");
}
