//! NVMe decoders: Identify Controller, Identify Namespace, namespace lists.
//!
//! Offsets and units follow the NVM Express Base Specification 2.0 and its NVM command set
//! (Identify Controller, figure 275; Identify Namespace, figure 97). This module never sends a
//! command, and rejects values that no drive can have.

use crate::byte_reader::{ByteReader, bit};

/// The length of an identify data structure in bytes.
pub(crate) const IDENTIFY_LENGTH: usize = 4_096;
/// 0 °C in kelvin, the unit of temperatures in NVMe.
const KELVIN: f64 = 273.15;

/// The Identify Controller data of a drive.
#[derive(Clone, Debug, PartialEq)]
pub struct Controller {
    pub(crate) vendor: u16,
    pub(crate) subsystem_vendor: u16,
    /// The serial number.
    pub serial: Option<String>,
    pub(crate) model: Option<String>,
    pub(crate) firmware: Option<String>,
    /// The IEEE organization identifier of the vendor, three bytes as hexadecimal digits.
    pub(crate) ieee_oui: String,
    pub(crate) controller_id: u16,
    /// Major, minor and tertiary version; `None` where it is not reported, as before NVMe 1.2.
    pub(crate) version: Option<(u16, u8, u8)>,
    /// The maximum data transfer size of a command in bytes (MDTS); `None` for no limit.
    pub(crate) max_transfer: Option<u64>,
    pub(crate) multiple_ports: bool,
    /// Optional admin commands (OACS).
    pub optional_admin: u16,
    pub(crate) optional_nvm: u16,
    /// The scope of Format NVM (FNA).
    pub format: FormatAttributes,
    /// Whether the list of supported log pages exists (LPA, bit 5).
    pub(crate) has_log_list: bool,
    /// Whether Flexible Data Placement is supported (CTRATT, bit 19).
    pub(crate) has_placement: bool,
    /// Whether the drive has a volatile write cache (VWC, bit 0).
    pub has_volatile_cache: bool,
    pub(crate) has_autonomous_transitions: bool,
    /// The capacity of all namespaces in bytes; `None` where not reported.
    pub(crate) total_capacity: Option<u128>,
    /// The capacity without a namespace in bytes; `None` where not reported.
    pub(crate) unallocated_capacity: Option<u128>,
    /// The warning composite temperature threshold in degrees Celsius (WCTEMP).
    pub(crate) warning_c: Option<f64>,
    /// The critical composite temperature threshold in degrees Celsius (CCTEMP).
    pub(crate) critical_c: Option<f64>,
    /// Whether host controlled thermal management is supported (HCTMA).
    pub(crate) host_thermal_management: bool,
    /// The minimum and maximum thermal management temperature in degrees Celsius.
    pub(crate) thermal_range_c: (Option<f64>, Option<f64>),
    /// The preferred and the minimum size of the host memory buffer in bytes.
    pub(crate) host_memory: Option<(u64, u64)>,
    /// The sanitize operations (SANICAP).
    pub sanitize: Sanitize,
    /// The maximum number of namespaces (NN).
    pub max_namespaces: u32,
    /// The NVM subsystem qualified name (SUBNQN).
    pub(crate) subsystem_name: Option<String>,
    /// The number of firmware slots.
    pub(crate) firmware_slots: u8,
    /// The maximum time of a normal shutdown (RTD3E) and from power-on to ready (RTD3R), in
    /// microseconds; `None` where not reported.
    pub(crate) off_and_on_us: (Option<u64>, Option<u64>),
    /// The time of an extended self-test in minutes; `None` where not reported.
    pub(crate) self_test_minutes: Option<u16>,
    /// The capacity of the error log in entries.
    pub(crate) error_entries: u16,
    pub(crate) power_states: Vec<PowerState>,
}

/// The effect of Format NVM on other namespaces (FNA).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FormatAttributes {
    /// Whether a format applies to all namespaces.
    pub formats_all: bool,
    /// Whether a secure erase as part of a format applies to all namespaces.
    pub erases_all: bool,
    /// Whether cryptographic erase is supported.
    pub cryptographic: bool,
}

/// The supported sanitize operations (SANICAP).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sanitize {
    /// Whether crypto erase is supported.
    pub crypto: bool,
    /// Whether block erase is supported.
    pub block: bool,
    /// Whether overwrite is supported.
    pub overwrite: bool,
}

/// One power state descriptor.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct PowerState {
    pub(crate) number: u8,
    /// The maximum power in watts; `None` for 0, which means "not reported".
    pub(crate) max_w: Option<f64>,
    /// Whether the state is operational: reads and writes are processed in it.
    pub(crate) operational: bool,
    /// The maximum entry and exit latency in microseconds; `None` for 0, "not reported".
    pub(crate) entry_us: Option<u64>,
    pub(crate) exit_us: Option<u64>,
    /// The idle power in watts.
    pub(crate) idle_w: Option<f64>,
    /// The active power in watts.
    pub(crate) active_w: Option<f64>,
}

/// Returns a temperature in degrees Celsius; `None` for 0 K, which means "not reported".
pub(crate) fn celsius(kelvin: u16) -> Option<f64> {
    (kelvin > 0).then(|| ((f64::from(kelvin) - KELVIN) * 100.0).round() / 100.0)
}

impl Controller {
    /// Decodes Identify Controller (CNS 01h); `None` where it is truncated.
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
            // The least significant of the three bytes comes first.
            ieee_oui: reader.bytes(73, 3)?.iter().rev().map(|byte| format!("{byte:02x}")).collect(),
            controller_id: reader.u16(78)?,
            version: (version > 0).then_some((
                (version >> 16) as u16,
                (version >> 8) as u8,
                version as u8,
            )),
            // In units of the minimum memory page size, which must be 4 KiB for the Linux driver.
            max_transfer: (transfer > 0 && transfer < 32).then(|| 4_096 << transfer),
            multiple_ports: bit(reader.u8(76)?, 0) || bit(reader.u8(76)?, 1),
            optional_admin: reader.u16(256)?,
            optional_nvm: reader.u16(520)?,
            format: FormatAttributes {
                formats_all: bit(format, 0),
                erases_all: bit(format, 1),
                cryptographic: bit(format, 2),
            },
            has_log_list: bit(reader.u8(261)?, 5),
            has_placement: bit(reader.u32(96)?, 19),
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
            max_namespaces: reader.u32(516)?,
            subsystem_name: reader.text(768, 256),
            firmware_slots: reader.u8(260)? >> 1 & 7,
            off_and_on_us: (latency(88), latency(84)),
            self_test_minutes: reader.u16(316).filter(|minutes| *minutes > 0),
            error_entries: u16::from(reader.u8(262)?) + 1,
            power_states: (0..=states).filter_map(|number| power_state(reader, number)).collect(),
        })
    }

    /// Returns whether Format NVM is supported.
    pub fn can_format(&self) -> bool {
        bit(self.optional_admin, 1)
    }

    /// Returns whether Security Send and Security Receive are supported.
    pub(crate) fn has_security(&self) -> bool {
        bit(self.optional_admin, 0)
    }

    /// Returns whether namespace management is supported.
    pub fn manages_namespaces(&self) -> bool {
        bit(self.optional_admin, 3)
    }

    /// Returns whether Dataset Management is supported, which deallocates blocks.
    pub fn can_deallocate(&self) -> bool {
        bit(self.optional_nvm, 2)
    }
}

fn power_state(reader: ByteReader<'_>, number: usize) -> Option<PowerState> {
    let reader = ByteReader(reader.bytes(2_048 + 32 * number, 32)?);
    let flags = reader.u8(3)?;
    // 0.01 W, or 0.0001 W where the scale bit (MXPS) is set.
    let scale = if bit(flags, 0) { 1e-4 } else { 1e-2 };
    let max = reader.u16(0)?;
    let latency = |at| reader.u32(at).filter(|us| *us > 0).map(u64::from);
    let scaled = |power: u16, scale: u8| match scale {
        1 => Some(f64::from(power) * 1e-4),
        2 => Some(f64::from(power) * 1e-2),
        _ => None,
    };
    Some(PowerState {
        number: number as u8,
        max_w: (max > 0).then(|| f64::from(max) * scale),
        operational: !bit(flags, 1),
        entry_us: latency(4),
        exit_us: latency(8),
        idle_w: scaled(reader.u16(16)?, reader.u8(18)? >> 6).filter(|w| *w > 0.0),
        active_w: scaled(reader.u16(20)?, reader.u8(22)? >> 6).filter(|w| *w > 0.0),
    })
}

/// The Identify Namespace data.
#[derive(Clone, Debug, PartialEq)]
pub struct Namespace {
    /// The size, capacity and utilization in blocks (NSZE, NCAP, NUSE).
    pub(crate) blocks: u64,
    pub(crate) capacity_blocks: u64,
    pub(crate) used_blocks: u64,
    pub(crate) formats: Vec<LbaFormat>,
    /// The index of the LBA format in use.
    pub format: u8,
    /// Whether metadata is transferred at the end of each block (FLBAS, bit 4).
    pub metadata_extended: bool,
    /// The protection type in use (DPS, bits 2:0); 0 for none.
    pub protection: u8,
    /// Whether the namespace may be attached to several controllers (NMIC).
    pub(crate) shared: bool,
    /// The percentage of a format that remains (FPI); `None` where it is not reported.
    pub format_left_percent: Option<u8>,
    /// The read value of deallocated blocks.
    pub deallocated: Deallocated,
    /// The endurance group (ENDGID); `None` where the drive has none.
    pub(crate) endurance_group: Option<u16>,
    pub(crate) nguid: Option<String>,
    pub(crate) eui64: Option<String>,
    /// The preferred write and deallocate granularity in blocks (NPWG, NPDG); `None` where not
    /// reported.
    pub(crate) preferred_write: Option<u32>,
    pub(crate) preferred_deallocate: Option<u32>,
}

/// The read value of deallocated blocks (DLFEAT).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Deallocated {
    /// Not reported.
    NotReported,
    /// All zeros.
    Zeros,
    /// All ones.
    Ones,
}

impl Deallocated {
    /// Returns the read value in words; `None` where it is not reported.
    pub fn words(self) -> Option<&'static str> {
        match self {
            Deallocated::NotReported => None,
            Deallocated::Zeros => Some("zeros"),
            Deallocated::Ones => Some("ones"),
        }
    }
}

/// One LBA format of a namespace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LbaFormat {
    pub(crate) number: u8,
    /// The bytes of a block.
    pub(crate) block: u64,
    /// The bytes of metadata of each block.
    pub(crate) metadata: u16,
    /// The relative performance: 0 best, 1 better, 2 good, 3 degraded.
    pub(crate) performance: u8,
}

impl Namespace {
    /// Decodes Identify Namespace (CNS 00h); `None` where it is truncated or the namespace is not
    /// active.
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
            // More than 16 formats need the two additional bits 6:5.
            format: (in_use & 15) | if count > 15 { in_use >> 1 & 0x30 } else { 0 },
            metadata_extended: bit(in_use, 4),
            protection: reader.u8(29)? & 15,
            shared: bit(reader.u8(30)?, 0),
            format_left_percent: bit(progress, 7).then_some(progress & 0x7f),
            deallocated: match reader.u8(33)? & 7 {
                1 => Deallocated::Zeros,
                2 => Deallocated::Ones,
                _ => Deallocated::NotReported,
            },
            endurance_group: reader.u16(102).filter(|group| *group > 0),
            nguid: reader.identifier(104, 16),
            eui64: reader.identifier(120, 8),
            preferred_write: hint(64),
            preferred_deallocate: hint(68),
        })
    }

    /// Returns the size in bytes of a logical block that consists of data only: no metadata is transferred
    /// with it, and nothing protects it end to end. `None` for other blocks.
    pub fn plain_block(&self) -> Option<u64> {
        let format = self.current_format().filter(|_| self.protection == 0)?;
        (format.metadata == 0).then_some(format.block)
    }

    /// Returns the size in bytes; `None` where the format in use is not known.
    pub fn size(&self) -> Option<u64> {
        self.blocks.checked_mul(self.current_format()?.block)
    }

    /// Returns the identifiers that are unique in the world (NGUID, EUI64), where it has them.
    pub fn identifiers(&self) -> [Option<&str>; 2] {
        [self.nguid.as_deref(), self.eui64.as_deref()]
    }

    /// Returns the format in use.
    pub fn current_format(&self) -> Option<LbaFormat> {
        self.formats.iter().find(|format| format.number == self.format).copied()
    }
}

fn lba_format(reader: ByteReader<'_>, number: usize) -> Option<LbaFormat> {
    let format = reader.u32(128 + 4 * number)?;
    let shift = format >> 16 & 0xff;
    // An entry below 512 bytes is not in use; Linux supports no blocks above 1 MiB.
    (9..=20).contains(&shift).then(|| LbaFormat {
        number: number as u8,
        block: 1 << shift,
        metadata: format as u16,
        performance: (format >> 24 & 3) as u8,
    })
}

/// Decodes a namespace list (CNS 02h, 10h): ascending identifiers up to the first 0.
pub(crate) fn namespace_list(data: &[u8]) -> Vec<u32> {
    let reader = ByteReader(data);
    (0..1_024).map_while(|at| reader.u32(4 * at).filter(|number| *number > 0)).collect()
}
