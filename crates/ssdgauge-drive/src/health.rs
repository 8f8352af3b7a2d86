//! The decoder of the NVMe SMART / Health Information log.
//!
//! Offsets and units follow the NVM Express Base Specification 2.0, figure 207; bytes 232 to 243
//! its version 2.1. This module never sends a command. An implausible value is left out and listed.

use crate::byte_reader::{ByteReader, bit};
use crate::controller::celsius;
use crate::plausible::{MOST_HOURS, impossible_speed, impossible_transfer, too_many_hours};

/// The length of the log in bytes.
pub const SMART_LENGTH: usize = 512;
/// The bytes of one data unit: a thousand blocks of 512 bytes.
pub(crate) const DATA_UNIT: u128 = 512_000;
/// The bytes per second of PCIe 5.0 with eight lanes.
const LINK: f64 = 31.5e9;
/// The highest plausible temperature: 150 °C in kelvin, above the limits of NAND and controllers.
const MAX_KELVIN: u16 = 423;

/// The SMART / Health Information log at one time.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Health {
    /// The critical warning bits.
    pub warning: u8,
    pub(crate) composite_c: Option<f64>,
    /// The temperature sensors: number from 1, degrees Celsius.
    pub(crate) sensors_c: Vec<(u8, f64)>,
    pub(crate) spare_percent: Option<u8>,
    pub(crate) spare_threshold_percent: Option<u8>,
    /// The used endurance in percent of the vendor estimate; may exceed 100.
    pub(crate) used_percent: u8,
    /// The bytes that hosts have read and written.
    pub(crate) read_bytes: Option<u64>,
    pub(crate) written_bytes: Option<u64>,
    pub(crate) read_commands: Option<u64>,
    pub(crate) write_commands: Option<u64>,
    pub(crate) busy_minutes: Option<u64>,
    pub(crate) power_cycles: Option<u64>,
    pub(crate) power_on_hours: Option<u64>,
    pub(crate) unsafe_shutdowns: Option<u64>,
    pub(crate) media_errors: Option<u64>,
    pub(crate) error_log_entries: Option<u64>,
    /// The minutes above the warning and the critical temperature.
    pub(crate) warning_minutes: u32,
    pub(crate) critical_minutes: u32,
    /// The transitions to light and heavy throttling, and the seconds in them.
    pub(crate) light_throttles: u32,
    pub(crate) heavy_throttles: u32,
    pub(crate) light_throttle_s: u32,
    pub(crate) heavy_throttle_s: u32,
    /// The lifetime energy in watt hours; `None` where not reported, as before NVMe 2.1.
    pub(crate) lifetime_wh: Option<u64>,
    /// The mean power of the last second in watts; `None` where not reported, as before NVMe 2.1.
    pub(crate) power_w: Option<f64>,
    /// The values that were left out because no drive can have them, one sentence each.
    pub(crate) implausible: Vec<String>,
}

/// The critical warning bits in words, from bit 0.
const WARNINGS: [&str; 6] = [
    "the available spare is below its threshold",
    "a temperature is beyond a threshold",
    "the reliability of the NVM subsystem is degraded",
    "the media is read-only",
    "the backup of volatile memory has failed",
    "the persistent memory region has become read-only",
];

impl Health {
    /// Decodes the log; `None` where it is truncated.
    pub(crate) fn decode(data: &[u8]) -> Option<Health> {
        let reader = ByteReader(data.get(..SMART_LENGTH)?);
        let mut implausible = Vec::new();
        let composite = reader.u16(1)?;
        let composite_c = temperature(composite, "composite temperature", &mut implausible);
        // The field is mandatory: 0 K does not mean "not reported" here.
        if composite == 0 {
            implausible.push("the drive reports a composite temperature of 0 K".into());
        }
        let mut sensors_c = Vec::new();
        for number in 1..=8u8 {
            let kelvin = reader.u16(198 + 2 * usize::from(number))?;
            let name = format!("temperature sensor {number}");
            let celsius = temperature(kelvin, &name, &mut implausible);
            sensors_c.extend(celsius.map(|celsius| (number, celsius)));
        }
        let mut percent = |at: usize, what: &str| {
            let value = reader.u8(at)?;
            if value > 100 {
                implausible.push(format!("the drive reports {value} % as its {what}"));
            }
            (value <= 100).then_some(value)
        };
        let spare_percent = percent(3, "spare");
        let spare_threshold_percent = percent(4, "spare threshold");
        let mut count = |at: usize, unit: u128, what: &str| {
            let value = reader.u128(at)?.checked_mul(unit).and_then(|bytes| bytes.try_into().ok());
            if value.is_none() {
                implausible.push(format!("the drive reports an impossible count of {what}"));
            }
            value
        };
        let power = reader.u32(240)?;
        let read = [count(32, DATA_UNIT, "bytes read"), count(64, 1, "read commands")];
        let written = [count(48, DATA_UNIT, "bytes written"), count(80, 1, "write commands")];
        let hours = count(128, 1, "hours");
        let [busy_minutes, power_cycles, unsafe_shutdowns, media_errors, error_log_entries] = [
            count(96, 1, "busy minutes"),
            count(112, 1, "power cycles"),
            count(144, 1, "unsafe shutdowns"),
            count(160, 1, "media errors"),
            count(176, 1, "errors"),
        ];
        implausible.extend(hours.filter(|hours| *hours > MOST_HOURS).map(too_many_hours));
        let hours = hours.filter(|hours| *hours <= MOST_HOURS);
        let [[read_bytes, read_commands], [written_bytes, write_commands]] =
            [(read, "read"), (written, "written")].map(|([bytes, commands], verb)| {
                // The size of its blocks is in another structure: 512 bytes at least.
                let text = bytes.and_then(|bytes| {
                    impossible_transfer(bytes, verb, commands, 512)
                        .or_else(|| impossible_speed(bytes, verb, hours, LINK))
                });
                let are_right = text.is_none();
                implausible.extend(text);
                [bytes, commands].map(|count| count.filter(|_| are_right))
            });
        Some(Health {
            warning: reader.u8(0)?,
            composite_c,
            sensors_c,
            spare_percent,
            spare_threshold_percent,
            used_percent: reader.u8(5)?,
            read_bytes,
            written_bytes,
            read_commands,
            write_commands,
            busy_minutes,
            power_cycles,
            power_on_hours: hours,
            unsafe_shutdowns,
            media_errors,
            error_log_entries,
            warning_minutes: reader.u32(192)?,
            critical_minutes: reader.u32(196)?,
            light_throttles: reader.u32(216)?,
            heavy_throttles: reader.u32(220)?,
            light_throttle_s: reader.u32(224)?,
            heavy_throttle_s: reader.u32(228)?,
            lifetime_wh: reader.u64(232).filter(|hours| *hours > 0),
            power_w: scaled_power(power),
            implausible,
        })
    }

    /// Returns the critical warnings in words.
    pub fn warnings(&self) -> Vec<&'static str> {
        let set = |number: &usize| bit(self.warning, *number as u32);
        (0..WARNINGS.len()).filter(set).map(|number| WARNINGS[number]).collect()
    }
}

fn temperature(kelvin: u16, what: &str, implausible: &mut Vec<String>) -> Option<f64> {
    if kelvin > MAX_KELVIN {
        implausible.push(format!("the drive reports {kelvin} K as its {what}"));
        return None;
    }
    celsius(kelvin)
}

/// Returns the power field of NVMe 2.1 in watts: value in bits 15:0, scale in bits 17:16 (1 for
/// 0.0001 W, 2 for 0.01 W); `None` for 0, which means "not reported", and for other scales.
pub fn scaled_power(power: u32) -> Option<f64> {
    let value = f64::from(power & 0xffff);
    match (power & 0xffff, power >> 16 & 3) {
        (0, _) => None,
        (_, 1) => Some(value * 1e-4),
        (_, 2) => Some(value * 1e-2),
        (_, _) => None,
    }
}
