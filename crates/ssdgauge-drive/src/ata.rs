//! ATA decoders: IDENTIFY DEVICE, the Device Statistics log, SMART attributes.
//!
//! Words and bits follow ATA/ATAPI Command Set 3 (ACS-3): IDENTIFY DEVICE in section 7.12.7, the
//! Device Statistics log in section A.5. This module never sends a command.

use crate::byte_reader::{ByteReader, bit};

/// The length of IDENTIFY DEVICE, of a log page and of the SMART data in bytes.
pub const SECTOR: usize = 512;

/// The IDENTIFY DEVICE data of a drive.
#[derive(Clone, Debug, PartialEq)]
pub struct Identity {
    pub(crate) model: Option<String>,
    pub(crate) serial: Option<String>,
    pub(crate) firmware: Option<String>,
    /// The capacity in sectors of `logical_block` bytes.
    pub(crate) sectors: u64,
    pub(crate) logical_block: u64,
    pub(crate) physical_block: u64,
    pub(crate) wwn: Option<String>,
    /// The highest supported SATA generation and the one in use, 1 to 3.
    pub(crate) max_generation: Option<u8>,
    pub(crate) generation: Option<u8>,
    pub(crate) queue_depth: u8,
    pub(crate) has_queueing: bool,
    /// Whether the drive has a volatile write cache.
    pub has_write_cache: bool,
    /// Whether the volatile write cache is enabled.
    pub write_cache_on: bool,
    pub(crate) has_smart: bool,
    pub(crate) has_trusted: bool,
    /// Whether DATA SET MANAGEMENT with TRIM is supported.
    pub can_trim: bool,
    /// Whether trimmed sectors return the same data on every read (DRAT).
    pub(crate) trim_is_deterministic: bool,
    /// Whether trimmed sectors return zeros (RZAT).
    pub trim_zeros: bool,
    /// The nominal rotation rate in revolutions per minute; 1 for a non-rotating drive, `None`
    /// where it is not reported.
    pub(crate) rotation: Option<u16>,
    /// The security feature set; `None` where it is not supported.
    pub security: Option<AtaSecurity>,
    pub(crate) sanitize: bool,
}

/// The ATA security feature set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AtaSecurity {
    /// Whether a password is set.
    pub enabled: bool,
    /// Whether the drive is locked.
    pub locked: bool,
    /// Whether the host firmware has frozen the feature set until the next power cycle.
    pub frozen: bool,
    pub(crate) enhanced_erase: bool,
    /// The time of a normal erase in minutes; `None` where it is not reported.
    pub erase_minutes: Option<u32>,
}

impl Identity {
    /// Decodes IDENTIFY DEVICE; `None` where it is truncated, describes a packet device, or has no
    /// sectors.
    pub(crate) fn decode(data: &[u8]) -> Option<Identity> {
        let reader = ByteReader(data.get(..SECTOR)?);
        let word = |number: usize| reader.u16(2 * number);
        // An optional word is valid where bit 14 is set and bit 15 is not.
        let valid = |number: usize| word(number).filter(|word| word >> 14 == 1);
        let set = |number: usize, at: u32| word(number).is_some_and(|word| bit(word, at));
        let long = |number: usize| reader.u64(2 * number);
        if set(0, 15) {
            return None;
        }
        let sectors = match set(83, 10) {
            true => long(100)? & 0xffff_ffff_ffff,
            false => u64::from(reader.u32(120)?),
        };
        let sizes = valid(106).unwrap_or(0);
        let logical = match bit(sizes, 12) {
            true => u64::from(reader.u32(2 * 117)?) * 2,
            false => 512,
        };
        let physical = if bit(sizes, 13) { logical << (sizes & 15) } else { logical };
        let speeds = word(76).filter(|word| *word != 0 && *word != 0xffff);
        let generation = word(77).filter(|word| *word != 0xffff).map(|word| (word >> 1 & 7) as u8);
        let time = word(89)?;
        Some(Identity {
            model: swapped(reader, 27, 20),
            serial: swapped(reader, 10, 10),
            firmware: swapped(reader, 23, 4),
            sectors: Some(sectors).filter(|sectors| *sectors > 0)?,
            logical_block: Some(logical).filter(|bytes| *bytes >= 512)?,
            physical_block: physical,
            wwn: (valid(87).is_some_and(|word| bit(word, 8)))
                .then(|| (108..112).filter_map(word).map(|word| format!("{word:04x}")).collect()),
            max_generation: speeds
                .and_then(|word| (1..=3).rev().find(|at| bit(word, *at)))
                .map(|number| number as u8),
            generation: generation.filter(|number| (1..=3).contains(number)),
            queue_depth: (word(75)? & 31) as u8 + 1,
            has_queueing: speeds.is_some_and(|word| bit(word, 8)),
            has_write_cache: set(82, 5),
            write_cache_on: set(85, 5),
            has_smart: set(82, 0),
            has_trusted: valid(48).is_some_and(|word| bit(word, 0)),
            can_trim: set(169, 0),
            trim_is_deterministic: set(69, 14),
            trim_zeros: set(69, 14) && set(69, 5),
            rotation: word(217).filter(|turns| *turns == 1 || (0x401..0xffff).contains(turns)),
            security: set(128, 0).then(|| AtaSecurity {
                enabled: set(128, 1),
                locked: set(128, 2),
                frozen: set(128, 3),
                enhanced_erase: set(128, 5),
                erase_minutes: erase_minutes(time),
            }),
            sanitize: set(59, 12),
        })
    }
}

/// Returns a text of ATA, in which the two characters of each word are swapped.
fn swapped(reader: ByteReader<'_>, word: usize, words: usize) -> Option<String> {
    let bytes = reader.bytes(2 * word, 2 * words)?;
    let right: Vec<u8> = bytes.chunks(2).flat_map(|pair| pair.iter().rev().copied()).collect();
    ByteReader(&right).text(0, right.len())
}

/// Returns the minutes of words 89 and 90: units of two minutes in eight bits, or in fifteen where
/// bit 15 is set. All ones mean this value or more.
fn erase_minutes(word: u16) -> Option<u32> {
    let units = if bit(word, 15) { word & 0x7fff } else { word & 0xff };
    (units > 0).then(|| 2 * u32::from(units))
}

/// One SMART attribute. The meaning of its raw value is vendor specific.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SmartAttribute {
    pub(crate) id: u8,
    pub(crate) value: u8,
    pub(crate) worst: u8,
    pub(crate) raw: u64,
}

/// Decodes the SMART data; `None` where it is truncated or its checksum is wrong.
pub(crate) fn smart_attributes(data: &[u8]) -> Option<Vec<SmartAttribute>> {
    let data = data.get(..SECTOR)?;
    if data.iter().fold(0u8, |sum, byte| sum.wrapping_add(*byte)) != 0 {
        return None;
    }
    let attribute = |number: usize| {
        let entry = ByteReader(data).bytes(2 + 12 * number, 12)?;
        let raw = entry[5..11].iter().rev().fold(0, |raw, byte| raw << 8 | u64::from(*byte));
        (entry[0] != 0).then(|| SmartAttribute {
            id: entry[0],
            value: entry[3],
            worst: entry[4],
            raw,
        })
    };
    Some((0..30).filter_map(attribute).collect())
}

/// Returns the name of an attribute that most vendors use; ATA does not standardize it.
pub(crate) fn usual_name(id: u8) -> Option<&'static str> {
    Some(match id {
        5 => "reallocated sectors",
        9 => "power-on hours",
        12 => "power cycles",
        170 => "reserved space",
        171 => "program failures",
        172 => "erase failures",
        173 | 177 => "wear levelling",
        174 => "unexpected power losses",
        184 => "end-to-end errors",
        187 => "uncorrectable errors",
        190 | 194 => "temperature",
        197 => "pending sectors",
        199 => "interface CRC errors",
        202 | 231 | 233 => "life or wear",
        241 => "host writes",
        242 => "host reads",
        _ => return None,
    })
}

/// The Device Statistics log, whose fields have the same meaning for every vendor.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct DeviceStatistics {
    pub(crate) power_cycles: Option<u64>,
    pub(crate) power_on_hours: Option<u64>,
    pub(crate) sectors_written: Option<u64>,
    pub(crate) write_commands: Option<u64>,
    pub(crate) sectors_read: Option<u64>,
    pub(crate) read_commands: Option<u64>,
    pub(crate) uncorrectable_errors: Option<u64>,
    pub(crate) temperature_c: Option<i8>,
    pub(crate) highest_c: Option<i8>,
    pub(crate) overheated_minutes: Option<u64>,
    pub(crate) used_percent: Option<u64>,
}

/// The log pages that [`DeviceStatistics::add_page`] decodes: general, general errors, temperature,
/// solid state device.
pub(crate) const STATISTICS_PAGES: [u8; 4] = [1, 4, 5, 7];

impl DeviceStatistics {
    /// Adds the statistics of log page `page`. Data of another page is ignored: some USB bridges
    /// return the wrong page.
    pub(crate) fn add_page(&mut self, page: u8, data: &[u8]) {
        let reader = ByteReader(data);
        if reader.u8(2) != Some(page) {
            return;
        }
        for at in (8..SECTOR).step_by(8) {
            // Each statistic has 8 bytes: six or seven of value, then flags (supported, valid).
            if let Some(word) = reader.u64(at).filter(|word| word >> 62 == 0b11) {
                self.set(page, at, word);
            }
        }
    }

    /// Sets the statistic at byte `at` of log page `page`, whose value is in the low bytes of `word`.
    /// Returns whether it is one of these.
    pub(crate) fn set(&mut self, page: u8, at: usize, word: u64) -> bool {
        // A counter of ones is not filled.
        let counter = |bits: u64| Some(word & bits).filter(|value| *value != bits);
        let (double, long) = (counter(0xffff_ffff), counter(0xffff_ffff_ffff));
        let celsius = temperature(i64::from(word as u8 as i8));
        match (page, at) {
            (1, 8) => self.power_cycles = double,
            (1, 16) => self.power_on_hours = double,
            (1, 24) => self.sectors_written = long,
            (1, 32) => self.write_commands = long,
            (1, 40) => self.sectors_read = long,
            (1, 48) => self.read_commands = long,
            (4, 8) => self.uncorrectable_errors = double,
            (5, 8) => self.temperature_c = celsius,
            (5, 32) => self.highest_c = celsius,
            (5, 80) => self.overheated_minutes = double,
            (7, 8) => self.used_percent = Some(word & 0xff),
            _ => return false,
        }
        true
    }
}

/// Returns a temperature in °C. -128 is none: the SCT status (ACS-3, 8.5) defines it as invalid, and real drives have it
/// in the Device Statistics log as well, or 127, or 0 where their other sensors show a warm drive.
pub(crate) fn temperature(celsius: i64) -> Option<i8> {
    i8::try_from(celsius).ok().filter(|celsius| ![i8::MIN, i8::MAX, 0].contains(celsius))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::ata_identity;

    #[test]
    fn identify_device_is_decoded_word_by_word() {
        let identity = Identity::decode(&ata_identity()).unwrap();
        assert_eq!(identity.model.as_deref(), Some("Fixture SATA SSD"));
        assert_eq!(identity.serial.as_deref(), Some("S3RIAL42"));
        assert_eq!(identity.sectors * identity.logical_block, 480_103_981_056);
        assert_eq!((identity.logical_block, identity.physical_block), (512, 4_096));
        assert_eq!((identity.max_generation, identity.generation), (Some(3), Some(2)));
        assert!(identity.can_trim && identity.trim_zeros && identity.write_cache_on);
        let security = identity.security.unwrap();
        assert!(security.frozen && security.enhanced_erase && !security.enabled);
        assert_eq!((security.erase_minutes, identity.queue_depth), (Some(60), 32));
    }

    #[test]
    fn a_packet_device_a_device_without_sectors_and_truncated_data_are_rejected() {
        let mut packet = ata_identity();
        packet[1] |= 0x80;
        for data in [&packet[..], &[0; SECTOR], &[0xff; SECTOR], &ata_identity()[..100]] {
            assert_eq!(Identity::decode(data), None);
        }
    }

    #[test]
    fn smart_data_with_a_wrong_checksum_is_rejected() {
        let mut data = vec![0u8; SECTOR];
        data[2..14].copy_from_slice(&[241, 0, 0, 99, 98, 0x10, 0x27, 0, 0, 0, 0, 0]);
        let sum = data.iter().fold(0u8, |sum, byte| sum.wrapping_add(*byte));
        data[511] = sum.wrapping_neg();
        let expected = SmartAttribute { id: 241, value: 99, worst: 98, raw: 10_000 };
        assert_eq!(smart_attributes(&data), Some(vec![expected]));
        data[511] ^= 1;
        assert_eq!(smart_attributes(&data), None);
    }

    #[test]
    fn a_statistic_without_the_valid_flag_is_left_out() {
        let mut page = vec![0u8; SECTOR];
        page[2] = 5;
        page[8..16].copy_from_slice(&(0xc0u64 << 56 | 0xfb).to_le_bytes());
        page[32..40].copy_from_slice(&(0x80u64 << 56 | 70).to_le_bytes());
        let mut statistics = DeviceStatistics::default();
        statistics.add_page(5, &page);
        assert_eq!((statistics.temperature_c, statistics.highest_c), (Some(-5), None));
        statistics.add_page(7, &page);
        assert_eq!(statistics.used_percent, None, "this is page 5");
    }
}
