//! Simulated drives behind the pass-through interface, for tests of this crate and of those above.

// A fixture that cannot be built fails its test.
#![allow(clippy::unwrap_used, clippy::new_without_default, clippy::missing_panics_doc)]

mod sysfs_tree;

pub use sysfs_tree::SysfsTree;

use crate::ata;
use crate::controller::IDENTIFY_LENGTH;
use crate::health::SMART_LENGTH;
use crate::pass_through::{AtaCommand, CommandError, NvmeCommand, PassThrough};
use crate::power_log::{ENTRY, HEADER_LENGTH};
use std::collections::BTreeMap;
use std::sync::Mutex;

/// The status "invalid opcode" with the bit "do not retry".
pub const INVALID_OPCODE: CommandError = CommandError::Status(0x4001);

/// A drive that answers query commands from tables and records all other commands.
pub struct Fixture {
    /// The data of identify, by structure (CNS) and namespace.
    pub identify: BTreeMap<(u8, u32), Vec<u8>>,
    /// The data of log pages.
    pub logs: BTreeMap<u8, Vec<u8>>,
    /// The values of features, with their data structures.
    pub features: BTreeMap<u8, (u32, Vec<u8>)>,
    /// The data of security receive, by protocol and protocol specific field.
    pub security: BTreeMap<(u8, u16), Vec<u8>>,
    /// The data of ATA commands, by command code and LBA.
    pub ata: BTreeMap<(u8, u64), Vec<u8>>,
    /// The LBA field that SMART RETURN STATUS returns.
    pub smart_status: Option<u32>,
    /// The errors of other commands, by opcode; a command without one succeeds.
    pub changes: BTreeMap<u8, CommandError>,
    /// The other NVMe commands: opcode, namespace, words.
    pub sent: Mutex<Vec<(u8, u32, [u32; 6])>>,
    /// The other ATA commands, with their data.
    pub sent_ata: Mutex<Vec<(AtaCommand, Vec<u8>)>>,
}

impl Fixture {
    /// Returns a drive that rejects every query command.
    pub fn without_responses() -> Fixture {
        Fixture {
            identify: BTreeMap::new(),
            logs: BTreeMap::new(),
            features: BTreeMap::new(),
            security: BTreeMap::new(),
            ata: BTreeMap::new(),
            smart_status: None,
            changes: BTreeMap::new(),
            sent: Mutex::new(Vec::new()),
            sent_ata: Mutex::new(Vec::new()),
        }
    }

    /// Returns an NVMe drive of 512 GB with the features of a client drive of 2018.
    pub fn nvme() -> Fixture {
        let mut drive = Fixture::without_responses();
        drive.identify.insert((1, 0), controller());
        drive.identify.insert((0, 1), namespace());
        drive.identify.insert((2, 0), namespace_list(&[1]));
        drive.identify.insert((0x10, 0), namespace_list(&[1]));
        drive.logs.insert(2, smart());
        let mut transitions = vec![0; 256];
        transitions[..8].copy_from_slice(&(100u64 << 8 | 3 << 3).to_le_bytes());
        drive.features.insert(0x0c, (1, transitions));
        drive.features.insert(0x02, (3, Vec::new()));
        drive.features.insert(0x06, (1, Vec::new()));
        drive.features.insert(0x10, (354 << 16 | 357, Vec::new()));
        drive.security.insert((0, 0), vec![0, 0, 0, 0, 0, 0, 0, 3, 0, 1, 0xee]);
        drive.security.insert((1, 1), discovery());
        drive
    }

    /// Adds the power measurement log `log`, and a list of supported log pages that contains it.
    pub fn add_power_log(&mut self, log: Vec<u8>) {
        let mut list = vec![0; 1_024];
        list[4 * 0x25] = 1;
        self.logs.insert(0, list);
        self.logs.insert(0x25, log);
        if let Some(controller) = self.identify.get_mut(&(1, 0)) {
            controller[261] |= 1 << 5;
        }
    }

    /// Returns a SATA drive.
    pub fn sata() -> Fixture {
        let mut drive = Fixture::without_responses();
        drive.ata.insert((0xec, 0), ata_identity());
        // It has passed (ACS-3, 7.48.8).
        drive.smart_status = Some(0xc2_4f00);
        let mut wear = vec![0; ata::SECTOR];
        wear[2] = 7;
        wear[8..16].copy_from_slice(&(0xc0u64 << 56 | 12).to_le_bytes());
        drive.ata.insert((0x2f, 7 << 8 | 4), wear);
        let mut general = vec![0; ata::SECTOR];
        general[2] = 1;
        general[24..32].copy_from_slice(&(0xc0u64 << 56 | 2_000_000).to_le_bytes());
        drive.ata.insert((0x2f, 1 << 8 | 4), general);
        drive
    }

    /// Returns a SATA drive of the model `model` with the raw values of its SMART attributes.
    pub fn sata_of_model(model: &str, attributes: &[(u8, u64)]) -> Fixture {
        let mut drive = Fixture::sata();
        let identity = drive.ata.get_mut(&(0xec, 0)).unwrap();
        let padded = format!("{model:<40}");
        for (at, pair) in padded.as_bytes().chunks(2).enumerate() {
            (identity[54 + 2 * at], identity[55 + 2 * at]) = (pair[1], pair[0]);
        }
        drive.ata.insert((0xb0, 0xc2_4f00), smart_data(attributes));
        drive
    }
}

fn respond(found: Option<&Vec<u8>>, data: &mut [u8]) -> Result<u32, CommandError> {
    let found = found.ok_or(CommandError::Status(0x4002))?;
    let length = found.len().min(data.len());
    data[..length].copy_from_slice(&found[..length]);
    Ok(0)
}

impl PassThrough for Fixture {
    fn nvme(&self, command: &NvmeCommand, data: &mut [u8]) -> Result<u32, CommandError> {
        let [first, ..] = command.words;
        match command.opcode {
            0x06 => respond(self.identify.get(&(first as u8, command.namespace)), data),
            0x02 => respond(self.logs.get(&(first as u8)), data),
            0x0a => {
                let (value, table) =
                    self.features.get(&(first as u8)).ok_or(CommandError::Status(0x4002))?;
                respond(Some(table), data)?;
                Ok(*value)
            }
            0x82 => {
                let (protocol, specific) = ((first >> 24) as u8, (first >> 8) as u16);
                respond(self.security.get(&(protocol, specific)), data)
            }
            opcode => {
                let sent = (opcode, command.namespace, command.words);
                self.sent.lock().unwrap().push(sent);
                self.changes.get(&opcode).map_or(Ok(0), |error| Err(error.clone()))
            }
        }
    }

    fn ata_registers(&self, command: &AtaCommand) -> Result<u32, CommandError> {
        let is_status = (command.command, command.feature, command.lba) == (0xb0, 0xda, 0xc2_4f00);
        self.smart_status.filter(|_| is_status).ok_or(CommandError::Sense(5, 0x20, 0))
    }

    fn ata(&self, command: &AtaCommand, data: &mut [u8]) -> Result<(), CommandError> {
        match command.command {
            0xec | 0x2f | 0xb0 | 0x5c => {
                let found = self.ata.get(&(command.command, command.lba));
                respond(found, data).map(|_| ()).map_err(|_| CommandError::Sense(5, 0x20, 0))
            }
            other => {
                self.sent_ata.lock().unwrap().push((*command, data.to_vec()));
                self.changes.get(&other).map_or(Ok(()), |error| Err(error.clone()))
            }
        }
    }
}

fn namespace_list(numbers: &[u32]) -> Vec<u8> {
    let mut data: Vec<u8> = numbers.iter().flat_map(|number| number.to_le_bytes()).collect();
    data.resize(IDENTIFY_LENGTH, 0);
    data
}

/// Identify Controller: five power states, APST, format with cryptographic erase, block and
/// cryptographic sanitize, warnings from 84.85 °C.
fn controller() -> Vec<u8> {
    let mut data = vec![0u8; IDENTIFY_LENGTH];
    let mut put = |at: usize, bytes: &[u8]| data[at..at + bytes.len()].copy_from_slice(bytes);
    put(0, &0x144du16.to_le_bytes());
    put(2, &0x144du16.to_le_bytes());
    put(4, b"SERIAL42            ");
    put(24, b"Fixture NVMe 512GB                      ");
    put(64, b"1B2QEXE7");
    put(73, &[0x38, 0x25, 0x00]);
    put(77, &[9]);
    put(78, &4u16.to_le_bytes());
    put(80, &0x0001_0300u32.to_le_bytes());
    put(256, &0x17u16.to_le_bytes());
    put(262, &[63, 4]);
    put(265, &[1]);
    put(266, &358u16.to_le_bytes());
    put(268, &358u16.to_le_bytes());
    put(280, &512_110_190_592u128.to_le_bytes());
    put(322, &1u16.to_le_bytes());
    put(324, &[0x11, 0x01, 0x66, 0x01]);
    put(328, &3u32.to_le_bytes());
    put(516, &1u32.to_le_bytes());
    put(520, &0x5fu16.to_le_bytes());
    put(524, &[5, 1]);
    // Six watts, active power 4.5 W; then non-operational states with their latencies.
    put(2_048, &620u16.to_le_bytes());
    put(2_048 + 20, &[0xc2, 0x01, 2 << 6]);
    for (number, (milliwatts, entry, exit)) in
        [(430u16, 0u32, 0u32), (210, 0, 0), (400, 210, 1_200), (50, 2_000, 8_000)]
            .iter()
            .enumerate()
    {
        let at = 2_048 + 32 * (number + 1);
        put(at, &milliwatts.to_le_bytes());
        put(at + 3, &[if number < 2 { 0 } else { 0b11 }]);
        put(at + 4, &entry.to_le_bytes());
        put(at + 8, &exit.to_le_bytes());
    }
    data
}

/// Identify Namespace: 1,000,215,216 blocks of 512 bytes, and a second format of 4,096.
pub fn namespace() -> Vec<u8> {
    let mut data = vec![0u8; IDENTIFY_LENGTH];
    for at in [0, 8] {
        data[at..at + 8].copy_from_slice(&1_000_215_216u64.to_le_bytes());
    }
    data[16..24].copy_from_slice(&250_000_000u64.to_le_bytes());
    data[25] = 1;
    data[33] = 1;
    data[120..128].copy_from_slice(&[0, 0x25, 0x38, 0x5b, 1, 2, 3, 4]);
    data[128..132].copy_from_slice(&(9u32 << 16 | 2 << 24).to_le_bytes());
    data[132..136].copy_from_slice(&(12u32 << 16).to_le_bytes());
    data
}

/// The SMART log of a healthy drive at 36.85 °C.
pub fn smart() -> Vec<u8> {
    let mut data = vec![0u8; SMART_LENGTH];
    data[1..3].copy_from_slice(&310u16.to_le_bytes());
    data[3..6].copy_from_slice(&[100, 10, 3]);
    for (at, count) in [(32, 1_000u128), (48, 2_000), (112, 7), (128, 800), (160, 0)] {
        data[at..at + 16].copy_from_slice(&count.to_le_bytes());
    }
    data[200..204].copy_from_slice(&[0x36, 0x01, 0x40, 0x01]);
    data[216..220].copy_from_slice(&2u32.to_le_bytes());
    data
}

fn discovery() -> Vec<u8> {
    let mut data = vec![0u8; 48];
    for (code, flags) in [(2u16, 0b1001u8), (0x0203, 0)] {
        data.extend(code.to_be_bytes());
        data.extend([0x10, 12, flags]);
        data.extend([0; 11]);
    }
    let length = (data.len() - 4) as u32;
    data[..4].copy_from_slice(&length.to_be_bytes());
    data
}

/// A drive whose write cache can be enabled and disabled.
pub struct WriteCacheFixture {
    drive: Fixture,
    /// Whether the cache is enabled.
    pub on: Mutex<bool>,
    /// The requested states of the cache, in order.
    pub requested: Mutex<Vec<bool>>,
    /// Whether a request changes the state.
    pub applies_requests: bool,
}

impl WriteCacheFixture {
    /// Returns `drive` with a write cache that is enabled by `on` and applies requests.
    pub fn new(drive: Fixture, on: bool) -> WriteCacheFixture {
        WriteCacheFixture {
            drive,
            on: Mutex::new(on),
            requested: Mutex::default(),
            applies_requests: true,
        }
    }

    fn request(&self, on: bool) {
        self.requested.lock().unwrap().push(on);
        if self.applies_requests {
            *self.on.lock().unwrap() = on;
        }
    }
}

impl PassThrough for WriteCacheFixture {
    fn nvme(&self, command: &NvmeCommand, data: &mut [u8]) -> Result<u32, CommandError> {
        match (command.opcode, command.words) {
            (0x09, [0x06, value, ..]) => {
                self.request(value == 1);
                Ok(0)
            }
            (0x0a, [0x06, ..]) => Ok(u32::from(*self.on.lock().unwrap())),
            (_, _) => self.drive.nvme(command, data),
        }
    }

    fn ata_registers(&self, command: &AtaCommand) -> Result<u32, CommandError> {
        self.drive.ata_registers(command)
    }

    fn ata(&self, command: &AtaCommand, data: &mut [u8]) -> Result<(), CommandError> {
        match (command.command, command.feature) {
            (0xef, 0x02) => self.request(true),
            (0xef, 0x82) => self.request(false),
            (_, _) => self.drive.ata(command, data)?,
        }
        if command.command == 0xec {
            // Word 85, bit 5.
            let bit = u8::from(*self.on.lock().unwrap()) << 5;
            data[170] = data[170] & !(1 << 5) | bit;
        }
        Ok(())
    }
}

/// Returns IDENTIFY DEVICE of a SATA drive of 480 GB that supports generation 3 and uses 2.
pub fn ata_identity() -> Vec<u8> {
    let mut words = [0u16; 256];
    let mut text = |at: usize, words_long: usize, text: &str| {
        let padded = format!("{text:<width$}", width = 2 * words_long);
        for (word, pair) in words[at..].iter_mut().zip(padded.as_bytes().chunks(2)) {
            *word = u16::from_be_bytes([pair[0], pair[1]]);
        }
    };
    text(10, 10, "S3RIAL42");
    text(23, 4, "FW1.0");
    text(27, 20, "Fixture SATA SSD");
    words[75] = 31;
    words[76] = 0b1_0000_1110;
    words[77] = 2 << 1;
    (words[82], words[83], words[85]) = (1 << 5 | 1 | 2, 1 << 14 | 1 << 10, 1 << 5 | 1);
    (words[69], words[106], words[169], words[217]) = (1 << 14 | 1 << 5, 0x6003, 1, 1);
    words[100..104].copy_from_slice(&[0x36b0, 0x37e4, 0, 0]);
    (words[128], words[89]) = (1 | 1 << 3 | 1 << 5, 30);
    words.iter().flat_map(|word| word.to_le_bytes()).collect()
}

/// Returns log page 25h with 100 samples: 60 below 3 W, 40 below 7 W, and 3 beyond all bins.
pub fn power_log() -> Vec<u8> {
    let mut log = vec![0; HEADER_LENGTH + 2 * ENTRY];
    let mut put = |at: usize, bytes: &[u8]| log[at..at + bytes.len()].copy_from_slice(bytes);
    put(4, &80u32.to_le_bytes());
    put(8, &100u32.to_le_bytes());
    put(12, &2u16.to_le_bytes());
    put(24, &8u16.to_le_bytes());
    put(26, &250u16.to_le_bytes());
    put(32, &3u16.to_le_bytes());
    put(40, &(2u32 << 16 | 310).to_le_bytes());
    put(44, &(2u32 << 16 | 720).to_le_bytes());
    put(56, &[255]);
    for (index, (bin, samples)) in [(11u32, 60u32), (27, 40)].into_iter().enumerate() {
        put(HEADER_LENGTH + index * ENTRY, &bin.to_le_bytes());
        put(HEADER_LENGTH + index * ENTRY + 4, &samples.to_le_bytes());
    }
    log
}

/// Returns the SMART data of an ATA drive with the raw values of `attributes`.
pub fn smart_data(attributes: &[(u8, u64)]) -> Vec<u8> {
    let mut data = vec![0u8; ata::SECTOR];
    for (number, (id, raw)) in attributes.iter().enumerate() {
        let entry = &mut data[2 + 12 * number..14 + 12 * number];
        (entry[0], entry[3], entry[4]) = (*id, 100, 100);
        entry[5..11].copy_from_slice(&raw.to_le_bytes()[..6]);
    }
    let sum = data.iter().fold(0u8, |sum, byte| sum.wrapping_add(*byte));
    data[511] = sum.wrapping_neg();
    data
}

/// Returns the OCP extended SMART log (C0h) of a drive that wrote `bytes` to its media.
pub fn ocp_log(bytes: u128) -> Vec<u8> {
    let mut log = vec![0; 512];
    log[..16].copy_from_slice(&bytes.to_le_bytes());
    log[494..496].copy_from_slice(&3u16.to_le_bytes());
    let guid: u128 = 0xafd5_14c9_7c6f_4f9c_a4f2_bfea_2810_afc5;
    log[496..].copy_from_slice(&guid.to_le_bytes());
    log
}

/// Returns the statistics of Flexible Data Placement (log 22h) with these bytes of hosts and of the media.
pub fn fdp_statistics(host: u128, media: u128) -> Vec<u8> {
    let mut log = vec![0; 64];
    log[..16].copy_from_slice(&host.to_le_bytes());
    log[16..32].copy_from_slice(&media.to_le_bytes());
    log
}

/// Returns the additional SMART log (CAh) with `nand` and `host` granules of 32 MiB, as its first two
/// items.
pub fn additional_smart(nand: u64, host: u64) -> Vec<u8> {
    let mut log = vec![0; 512];
    for (number, (id, raw)) in [(0xf4, nand), (0xf5, host)].into_iter().enumerate() {
        let item = &mut log[12 * number..12 * number + 12];
        (item[0], item[3]) = (id, 100);
        item[5..11].copy_from_slice(&raw.to_le_bytes()[..6]);
    }
    log
}
