//! NVMe: the identify data of a controller and of a namespace, as plain structs.
//!
//! Offsets and units follow the NVM Express Base Specification 2.0 and its NVM command set
//! (Identify Controller, figure 275; Identify Namespace, figure 97). This module never talks to a
//! drive, and never believes a number that no drive can have.

use crate::byte_reader::{ByteReader, bit};

/// Bytes of an identify data structure.
pub(crate) const IDENTIFY_LENGTH: usize = 4_096;
/// Temperatures of NVMe are in kelvin, and 0 stands for "not reported".
const KELVIN: f64 = 273.15;

/// What a controller says of itself.
#[derive(Clone, Debug, PartialEq)]
pub struct Controller {
    pub(crate) vendor: u16,
    pub(crate) subsystem_vendor: u16,
    pub(crate) serial: Option<String>,
    pub(crate) model: Option<String>,
    pub(crate) firmware: Option<String>,
    /// Organisation that assigned the identifiers, three bytes as digits.
    pub(crate) ieee_oui: String,
    pub(crate) controller_id: u16,
    /// Major, minor and tertiary number; `None` where the drive is older than 1.2 and silent.
    pub(crate) version: Option<(u16, u8, u8)>,
    /// The most bytes of one command for pages of 4 KiB; `None` is without a limit.
    pub(crate) most_transfer: Option<u64>,
    pub(crate) multiple_ports: bool,
    /// Optional admin commands (OACS).
    pub optional_admin: u16,
    pub(crate) optional_nvm: u16,
    /// What Format NVM applies to.
    pub format: FormatAttributes,
    /// It has a list of the logs that it has (LPA, bit 5).
    pub(crate) lists_its_logs: bool,
    /// Whether the drive has a volatile write cache (VWC, bit 0).
    pub has_volatile_cache: bool,
    pub(crate) has_autonomous_transitions: bool,
    /// Bytes in all; `None` where not reported.
    pub(crate) total_capacity: Option<u128>,
    /// Bytes that belong to no namespace; `None` where not reported.
    pub(crate) unallocated_capacity: Option<u128>,
    /// Composite temperature from which the drive warns, in degrees Celsius.
    pub(crate) warning_c: Option<f64>,
    /// Composite temperature from which it may stop, in degrees Celsius.
    pub(crate) critical_c: Option<f64>,
    /// Whether the host may set the temperatures of its thermal management.
    pub(crate) host_thermal_management: bool,
    /// Lowest and highest of these, in degrees Celsius.
    pub(crate) thermal_range_c: (Option<f64>, Option<f64>),
    /// Host memory that it would like and that it needs, in bytes.
    pub(crate) host_memory: Option<(u64, u64)>,
    /// The sanitize operations (SANICAP).
    pub sanitize: Sanitize,
    /// The most namespaces that it can have.
    pub most_namespaces: u32,
    /// Its name for hosts in a network, which holds model and serial of the subsystem.
    pub(crate) subsystem_name: Option<String>,
    /// Slots for firmware.
    pub(crate) firmware_slots: u8,
    /// The time to the end of an orderly power-off, and from power-on to the first command, at
    /// most, in microseconds; `None` where not reported.
    pub(crate) off_and_on_us: (Option<u64>, Option<u64>),
    /// How long an extended self-test takes, in minutes; `None` where not reported.
    pub(crate) self_test_minutes: Option<u16>,
    /// Entries that the error log can hold.
    pub(crate) error_entries: u16,
    pub(crate) power_states: Vec<PowerState>,
}

/// What a Format NVM of one namespace does to the others (FNA).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FormatAttributes {
    /// A format applies to all namespaces.
    pub formats_all: bool,
    /// An erase in the course of a format applies to all namespaces.
    pub erases_all: bool,
    /// Cryptographic erase is offered.
    pub cryptographic: bool,
}

/// The ways of sanitizing that are offered (SANICAP).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sanitize {
    /// Crypto erase.
    pub crypto: bool,
    /// Block erase.
    pub block: bool,
    /// Overwrite.
    pub overwrite: bool,
}

/// One power state as the drive describes it.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct PowerState {
    pub(crate) number: u8,
    /// The most power in watts; 0 is "not reported".
    pub(crate) most_w: Option<f64>,
    /// Whether the drive answers reads and writes in it.
    pub(crate) operational: bool,
    /// Time to enter and to leave, in microseconds; 0 is "not reported".
    pub(crate) entry_us: Option<u64>,
    pub(crate) exit_us: Option<u64>,
    /// Idle power in watts.
    pub(crate) idle_w: Option<f64>,
    /// Active power in watts.
    pub(crate) active_w: Option<f64>,
}

/// Returns degrees Celsius for a number in kelvin; `None` for 0, which is "not reported".
pub(crate) fn celsius(kelvin: u16) -> Option<f64> {
    (kelvin > 0).then(|| ((f64::from(kelvin) - KELVIN) * 100.0).round() / 100.0)
}

impl Controller {
    /// Reads an Identify Controller data structure (CNS 01h); `None` where it is cut short.
    pub(crate) fn decode(data: &[u8]) -> Option<Controller> {
        let reader = ByteReader(data.get(..IDENTIFY_LENGTH)?);
        let version = reader.u32(80)?;
        let transfer = reader.u8(77)?;
        let number = |at| reader.u128(at).filter(|bytes| *bytes > 0);
        let format = reader.u8(524)?;
        let sanitize = reader.u32(328)?;
        let (preferred, least) = (reader.u32(272)?, reader.u32(276)?);
        let latency = |at| reader.u32(at).filter(|us| *us > 0).map(u64::from);
        let states = usize::from(reader.u8(263)?.min(31));
        Some(Controller {
            vendor: reader.u16(0)?,
            subsystem_vendor: reader.u16(2)?,
            serial: reader.text(4, 20),
            model: reader.text(24, 40),
            firmware: reader.text(64, 8),
            // The three bytes lie with the least significant one first.
            ieee_oui: reader.bytes(73, 3)?.iter().rev().map(|byte| format!("{byte:02x}")).collect(),
            controller_id: reader.u16(78)?,
            version: (version > 0).then_some((
                (version >> 16) as u16,
                (version >> 8) as u8,
                version as u8,
            )),
            // Units of the smallest page, which is 4 KiB for every host that runs Linux.
            most_transfer: (transfer > 0 && transfer < 32).then(|| 4_096 << transfer),
            multiple_ports: bit(reader.u8(76)?, 0) || bit(reader.u8(76)?, 1),
            optional_admin: reader.u16(256)?,
            optional_nvm: reader.u16(520)?,
            format: FormatAttributes {
                formats_all: bit(format, 0),
                erases_all: bit(format, 1),
                cryptographic: bit(format, 2),
            },
            lists_its_logs: bit(reader.u8(261)?, 5),
            has_volatile_cache: bit(reader.u8(525)?, 0),
            has_autonomous_transitions: bit(reader.u8(265)?, 0),
            total_capacity: number(280),
            unallocated_capacity: number(280).and(reader.u128(296)),
            warning_c: celsius(reader.u16(266)?),
            critical_c: celsius(reader.u16(268)?),
            host_thermal_management: bit(reader.u16(322)?, 0),
            thermal_range_c: (celsius(reader.u16(324)?), celsius(reader.u16(326)?)),
            host_memory: (preferred > 0)
                .then(|| (u64::from(preferred) * 4_096, u64::from(least) * 4_096)),
            sanitize: Sanitize {
                crypto: bit(sanitize, 0),
                block: bit(sanitize, 1),
                overwrite: bit(sanitize, 2),
            },
            most_namespaces: reader.u32(516)?,
            subsystem_name: reader.text(768, 256),
            firmware_slots: reader.u8(260)? >> 1 & 7,
            off_and_on_us: (latency(88), latency(84)),
            self_test_minutes: reader.u16(316).filter(|minutes| *minutes > 0),
            error_entries: u16::from(reader.u8(262)?) + 1,
            power_states: (0..=states).filter_map(|number| power_state(reader, number)).collect(),
        })
    }

    /// Returns whether Format NVM is offered.
    pub fn can_format(&self) -> bool {
        bit(self.optional_admin, 1)
    }

    /// Returns whether the drive has Security Send and Receive.
    pub(crate) fn has_security(&self) -> bool {
        bit(self.optional_admin, 0)
    }

    /// Returns whether namespaces can be made and attached.
    pub fn manages_namespaces(&self) -> bool {
        bit(self.optional_admin, 3)
    }

    /// Returns whether the drive can be told what holds nothing (Dataset Management).
    pub fn can_deallocate(&self) -> bool {
        bit(self.optional_nvm, 2)
    }
}

fn power_state(reader: ByteReader<'_>, number: usize) -> Option<PowerState> {
    let reader = ByteReader(reader.bytes(2_048 + 32 * number, 32)?);
    let flags = reader.u8(3)?;
    // Hundredths of a watt, or with MXPS ten-thousandths.
    let scale = if bit(flags, 0) { 1e-4 } else { 1e-2 };
    let most = reader.u16(0)?;
    let latency = |at| reader.u32(at).filter(|us| *us > 0).map(u64::from);
    let scaled = |power: u16, scale: u8| match scale {
        1 => Some(f64::from(power) * 1e-4),
        2 => Some(f64::from(power) * 1e-2),
        _ => None,
    };
    Some(PowerState {
        number: number as u8,
        most_w: (most > 0).then(|| f64::from(most) * scale),
        operational: !bit(flags, 1),
        entry_us: latency(4),
        exit_us: latency(8),
        idle_w: scaled(reader.u16(16)?, reader.u8(18)? >> 6).filter(|w| *w > 0.0),
        active_w: scaled(reader.u16(20)?, reader.u8(22)? >> 6).filter(|w| *w > 0.0),
    })
}

/// What a namespace says of itself.
#[derive(Clone, Debug, PartialEq)]
pub struct Namespace {
    /// Blocks in all, that may hold data, and that do.
    pub(crate) blocks: u64,
    pub(crate) capacity_blocks: u64,
    pub(crate) used_blocks: u64,
    pub(crate) formats: Vec<LbaFormat>,
    /// The number of the format in use.
    pub format: u8,
    /// The five bits of metadata and protection that a format has to repeat.
    pub metadata_extended: bool,
    /// The protection type in use (DPS, bits 2:0); 0 for none.
    pub protection: u8,
    /// Whether other controllers may use it.
    pub(crate) shared: bool,
    /// What is left of a format, in percent; `None` where the drive does not tell.
    pub format_left_percent: Option<u8>,
    /// What a deallocated block reads as.
    pub deallocated: Deallocated,
    pub(crate) nguid: Option<String>,
    pub(crate) eui64: Option<String>,
    /// The grid and the size that writes should have, in blocks; `None` where not reported.
    pub(crate) preferred_write: Option<u32>,
    pub(crate) preferred_deallocate: Option<u32>,
}

/// What a deallocated block reads as (DLFEAT).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Deallocated {
    /// Not reported.
    Untold,
    /// All zeros.
    Zeros,
    /// All ones.
    Ones,
}

impl Deallocated {
    /// Returns the value in words; `None` where it is not reported.
    pub fn words(self) -> Option<&'static str> {
        match self {
            Deallocated::Untold => None,
            Deallocated::Zeros => Some("zeros"),
            Deallocated::Ones => Some("ones"),
        }
    }
}

/// One size of blocks that a namespace can be formatted with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LbaFormat {
    pub(crate) number: u8,
    /// Bytes of a block.
    pub(crate) block: u64,
    /// Bytes of metadata beside each block.
    pub(crate) metadata: u16,
    /// 0 best, 1 better, 2 good, 3 degraded.
    pub(crate) performance: u8,
}

impl Namespace {
    /// Reads an Identify Namespace data structure (CNS 00h); `None` where it is cut short or
    /// describes no namespace.
    pub(crate) fn decode(data: &[u8]) -> Option<Namespace> {
        let reader = ByteReader(data.get(..IDENTIFY_LENGTH)?);
        let blocks = reader.u64(0).filter(|blocks| *blocks > 0)?;
        let in_use = reader.u8(26)?;
        let progress = reader.u8(32)?;
        let count = usize::from(reader.u8(25)?.min(63));
        let optional = bit(reader.u8(24)?, 4);
        let hint =
            |at| reader.u16(at).filter(|_| optional).map(|zero_based| u32::from(zero_based) + 1);
        Some(Namespace {
            blocks,
            capacity_blocks: reader.u64(8)?,
            used_blocks: reader.u64(16)?,
            formats: (0..=count).filter_map(|number| lba_format(reader, number)).collect(),
            // More than 16 formats need two more bits, which lie apart.
            format: (in_use & 15) | if count > 15 { in_use >> 1 & 0x30 } else { 0 },
            metadata_extended: bit(in_use, 4),
            protection: reader.u8(29)? & 15,
            shared: bit(reader.u8(30)?, 0),
            format_left_percent: bit(progress, 7).then_some(progress & 0x7f),
            deallocated: match reader.u8(33)? & 7 {
                1 => Deallocated::Zeros,
                2 => Deallocated::Ones,
                _ => Deallocated::Untold,
            },
            nguid: reader.identifier(104, 16),
            eui64: reader.identifier(120, 8),
            preferred_write: hint(64),
            preferred_deallocate: hint(68),
        })
    }

    /// Returns the format in use.
    pub fn current_format(&self) -> Option<LbaFormat> {
        self.formats.iter().find(|format| format.number == self.format).copied()
    }
}

fn lba_format(reader: ByteReader<'_>, number: usize) -> Option<LbaFormat> {
    let format = reader.u32(128 + 4 * number)?;
    let shift = format >> 16 & 0xff;
    // Below 512 bytes the entry is not in use; beyond 1 MiB no kernel takes it.
    (9..=20).contains(&shift).then(|| LbaFormat {
        number: number as u8,
        block: 1 << shift,
        metadata: format as u16,
        performance: (format >> 24 & 3) as u8,
    })
}

/// Returns the numbers in a list of namespaces (CNS 02h, 10h): ascending, ended by 0.
pub(crate) fn namespace_list(data: &[u8]) -> Vec<u32> {
    let reader = ByteReader(data);
    (0..1_024).map_while(|at| reader.u32(4 * at).filter(|number| *number > 0)).collect()
}
