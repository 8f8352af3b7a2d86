//! Answers of drives: identify, log pages, features and ATA data, through every query.

use ssdgauge_drive::drive_findings;
use ssdgauge_drive::fixture::{Fixture, SysfsTree};
use ssdgauge_drive::query;
use ssdgauge_drive::sysfs_device::SysfsDevice;

/// Reads one input; returns whether it was accepted.
pub(crate) fn run(data: &[u8]) -> bool {
    let mut fixture = Fixture::without_responses();
    // The first bytes say which answer the rest is.
    let Some((kind, answer)) = data.split_first_chunk::<2>() else { return false };
    let answer = padded(answer);
    match kind[0] % 5 {
        0 => drop(fixture.identify.insert((kind[1] % 4, 1), answer)),
        1 => drop(fixture.identify.insert((1, 0), answer)),
        2 => drop(fixture.logs.insert(kind[1], answer)),
        3 => drop(fixture.ata.insert((0xec, 0), answer)),
        _ => drop(fixture.ata.insert((kind[1], u64::from(kind[0])), answer)),
    }
    let accepted = [
        query::controller(&fixture).is_ok(),
        query::namespace(&fixture, 1).is_ok(),
        query::active_namespaces(&fixture).is_ok(),
        query::health(&fixture).map(|health| health.warnings()).is_ok(),
        query::power_log(&fixture).is_ok(),
        query::sanitize_log(&fixture).is_ok(),
        query::ata_identity(&fixture).is_ok(),
    ];
    thread_local!(static DEVICE: (SysfsTree, SysfsDevice) = device());
    DEVICE.with(|(_, device)| drive_findings(device, &fixture));
    accepted.contains(&true)
}

/// Returns a drive, with the simulated sysfs that describes it.
fn device() -> (SysfsTree, SysfsDevice) {
    let tree = SysfsTree::new();
    let device = tree.nvme_without_multipath("8.0 GT/s PCIe", "4");
    (tree, device)
}

/// Returns `answer` in the length of the largest answer: shorter ones are refused at once.
fn padded(answer: &[u8]) -> Vec<u8> {
    let mut whole = vec![0; 4_096];
    let length = answer.len().min(whole.len());
    whole[..length].copy_from_slice(&answer[..length]);
    whole
}
