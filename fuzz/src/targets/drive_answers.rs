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
        _ if kind[0] == 250 => fixture = server_drive(kind[1], answer),
        _ if kind[0] == 251 => fixture = sata_drive(kind[1], answer),
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

/// Returns a drive for servers whose log of media writes is `answer`: that of the maker `number`.
fn server_drive(number: u8, answer: Vec<u8>) -> Fixture {
    let mut drive = Fixture::nvme();
    let (vendor, log) = [(0x144du16, 0xc0), (0x8086, 0xca), (0x1344, 0xd0), (0x144d, 0x22)]
        [usize::from(number % 4)];
    let controller = drive.identify.get_mut(&(1, 0)).expect("a drive has this data");
    controller[..2].copy_from_slice(&vendor.to_le_bytes());
    // No volatile cache, Flexible Data Placement, a list of supported logs.
    controller[525] = 0;
    controller[98] = 1 << 3;
    controller[261] |= 1 << 5;
    let mut list = vec![0; 1_024];
    [0x22, 0xc0, 0xca, 0xd0].iter().for_each(|id| list[4 * id] = 1);
    drive.identify.get_mut(&(0, 1)).expect("a drive has this data")[102] = 1;
    drive.logs.insert(0, list);
    drive.logs.insert(log, answer);
    drive
}

/// Returns a SATA drive of the family `number` whose SMART data is `answer` with its checksum.
fn sata_drive(number: u8, mut answer: Vec<u8>) -> Fixture {
    let models = [
        "CT1000MX500SSD1",
        "INTEL SSDSC2BB480G4",
        "INTEL SSDSC2KW512G8",
        "SanDisk SD8SB8U128G1122",
    ];
    let mut drive = Fixture::sata_of_model(models[usize::from(number) % models.len()], &[]);
    answer.truncate(512);
    let sum = answer[..511].iter().fold(0u8, |sum, byte| sum.wrapping_add(*byte));
    answer[511] = sum.wrapping_neg();
    drive.ata.insert((0xb0, 0xc2_4f00), answer);
    drive
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
