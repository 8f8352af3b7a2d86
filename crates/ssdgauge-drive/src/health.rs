//! NVMe: the SMART / Health Information log, as counters that a run can compare.
//!
//! Offsets and units follow the NVM Express Base Specification 2.0, figure 207; bytes 232 to 243
//! its version 2.1. This module never talks to a drive. What a drive cannot mean is left out and
//! named as a doubt.

use crate::byte_reader::{ByteReader, bit};
use crate::controller::celsius;

/// Bytes of the log.
pub const SMART_LENGTH: usize = 512;
/// One "data unit" is a thousand blocks of 512 bytes.
const DATA_UNIT: u128 = 512_000;
/// Hotter than this no drive answers: 150 °C in kelvin.
const HOTTEST_K: u16 = 423;

/// The health of a drive at one moment.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Health {
    /// The critical warning bits.
    pub warning: u8,
    pub(crate) composite_c: Option<f64>,
    /// The sensors that the drive has, with their numbers from 1.
    pub(crate) sensors_c: Vec<(u8, f64)>,
    pub(crate) spare_percent: Option<u8>,
    pub(crate) spare_threshold_percent: Option<u8>,
    /// Used endurance in percent of what the maker promises; may exceed 100.
    pub(crate) used_percent: u8,
    /// Bytes that the host read and wrote.
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
    /// Minutes above the warning and the critical temperature.
    pub(crate) warning_minutes: u32,
    pub(crate) critical_minutes: u32,
    /// How often the drive went into light and heavy throttling, and for how long.
    pub(crate) light_throttles: u32,
    pub(crate) heavy_throttles: u32,
    pub(crate) light_throttle_s: u32,
    pub(crate) heavy_throttle_s: u32,
    /// Energy of the drive's whole life, in watt hours; a drive of 2.1 may tell.
    pub(crate) lifetime_wh: Option<u64>,
    /// Mean power of the last second, in watts; a drive of 2.1 may tell.
    pub(crate) power_w: Option<f64>,
    /// What the drive said and cannot mean.
    pub(crate) doubts: Vec<String>,
}

/// The critical warning bits in words, from bit 0.
const WARNINGS: [&str; 6] = [
    "the spare has fallen below its threshold",
    "a temperature is beyond a threshold",
    "the media or the drive has become unreliable",
    "the media is read-only",
    "the backup of volatile memory has failed",
    "the persistent memory region has become read-only",
];

impl Health {
    /// Reads the log; `None` where it is cut short.
    pub(crate) fn decode(data: &[u8]) -> Option<Health> {
        let reader = ByteReader(data.get(..SMART_LENGTH)?);
        let mut doubts = Vec::new();
        let composite = reader.u16(1)?;
        let composite_c = temperature(composite, "composite temperature", &mut doubts);
        if composite == 0 {
            doubts.push("the drive gives a composite temperature of 0 K".into());
        }
        let mut sensors_c = Vec::new();
        for number in 1..=8u8 {
            let kelvin = reader.u16(198 + 2 * usize::from(number))?;
            let name = format!("temperature sensor {number}");
            let celsius = temperature(kelvin, &name, &mut doubts);
            sensors_c.extend(celsius.map(|celsius| (number, celsius)));
        }
        let mut percent = |at: usize, what: &str| {
            let value = reader.u8(at)?;
            if value > 100 {
                doubts.push(format!("the drive gives {value} % as its {what}"));
            }
            (value <= 100).then_some(value)
        };
        let spare_percent = percent(3, "spare");
        let spare_threshold_percent = percent(4, "threshold of its spare");
        let mut count = |at: usize, unit: u128, what: &str| {
            let value = reader.u128(at)?.checked_mul(unit).and_then(|bytes| bytes.try_into().ok());
            if value.is_none() {
                doubts.push(format!("the drive gives an impossible count of {what}"));
            }
            value
        };
        let power = reader.u32(240)?;
        Some(Health {
            warning: reader.u8(0)?,
            composite_c,
            sensors_c,
            spare_percent,
            spare_threshold_percent,
            used_percent: reader.u8(5)?,
            read_bytes: count(32, DATA_UNIT, "bytes read"),
            written_bytes: count(48, DATA_UNIT, "bytes written"),
            read_commands: count(64, 1, "read commands"),
            write_commands: count(80, 1, "write commands"),
            busy_minutes: count(96, 1, "busy minutes"),
            power_cycles: count(112, 1, "power cycles"),
            power_on_hours: count(128, 1, "hours"),
            unsafe_shutdowns: count(144, 1, "unsafe shutdowns"),
            media_errors: count(160, 1, "media errors"),
            error_log_entries: count(176, 1, "errors"),
            warning_minutes: reader.u32(192)?,
            critical_minutes: reader.u32(196)?,
            light_throttles: reader.u32(216)?,
            heavy_throttles: reader.u32(220)?,
            light_throttle_s: reader.u32(224)?,
            heavy_throttle_s: reader.u32(228)?,
            lifetime_wh: reader.u64(232).filter(|hours| *hours > 0),
            power_w: scaled_power(power),
            doubts,
        })
    }

    /// Returns the critical warnings in words.
    pub fn warnings(&self) -> Vec<&'static str> {
        let set = |number: &usize| bit(self.warning, *number as u32);
        (0..WARNINGS.len()).filter(set).map(|number| WARNINGS[number]).collect()
    }
}

fn temperature(kelvin: u16, what: &str, doubts: &mut Vec<String>) -> Option<f64> {
    if kelvin > HOTTEST_K {
        doubts.push(format!("the drive gives {kelvin} K as its {what}"));
        return None;
    }
    celsius(kelvin)
}

/// Returns watts for a number of NVMe 2.1: the value in bits 15 to 0, its scale in bits 17 and 16
/// (1 is a ten-thousandth of a watt, 2 a hundredth); `None` for 0, which is "not reported".
pub fn scaled_power(power: u32) -> Option<f64> {
    let value = f64::from(power & 0xffff);
    match (power & 0xffff, power >> 16 & 3) {
        (0, _) => None,
        (_, 1) => Some(value * 1e-4),
        (_, 2) => Some(value * 1e-2),
        (_, _) => None,
    }
}
