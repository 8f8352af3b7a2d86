//! The power figures that an NVMe 2.x drive keeps of itself.
//!
//! Layouts: SMART log bytes 232 to 243, power measurement log 25h with its histogram, feature 25h
//! (NVM Express Base Specification, revision 2.2 and later; nvme-cli 3.0). A drive without them
//! answers zeros or an error, and then has no power, never 0 W.

use super::{Batch, Beat, Failures, Sample};
use std::time::{Duration, Instant};

/// The health log.
const SMART: u8 = 0x02;
/// The bytes of the health log.
const SMART_LENGTH: usize = 512;
/// The power measurement log.
#[cfg_attr(not(test), expect(dead_code, reason = "asked where a drive offers the log"))]
pub(crate) const POWER_LOG: u8 = 0x25;
/// How often the drive is asked: it keeps the mean of the last second.
const USUAL: Duration = Duration::from_secs(1);

/// Reads a log page of the drive under test.
pub(crate) type LogReader = Box<dyn FnMut(u8, usize) -> Result<Vec<u8>, String> + Send>;

/// The drive's own power figures.
pub(crate) struct NvmePower {
    read: LogReader,
    beat: Beat,
    failures: Failures,
}

impl NvmePower {
    /// Asks the drive once whether it measures its power.
    pub(super) fn open(read: LogReader, period: Option<Duration>) -> Result<NvmePower, String> {
        let beat = Beat::every(period.unwrap_or(USUAL));
        let mut nvme = NvmePower { read, beat, failures: Failures::default() };
        nvme.ask()?;
        Ok(nvme)
    }

    pub(super) fn period(&self) -> Duration {
        self.beat.period
    }

    fn ask(&mut self) -> Result<f64, String> {
        let page = (self.read)(SMART, SMART_LENGTH)?;
        smart_power_w(&page).ok_or_else(|| "the drive does not measure its own power".to_owned())
    }

    pub(super) fn next(&mut self, patience: Duration) -> Result<Batch, String> {
        if !self.beat.wait(patience) {
            return Ok(Batch::default());
        }
        let at = Instant::now();
        let result = self.ask();
        let value = self.failures.judge(result)?;
        let samples = value.map(|value| Sample { at, channel: 0, value }).into_iter().collect();
        Ok(Batch { samples, remarks: Vec::new() })
    }
}

/// Returns the mean power of the last second in watts, of the health log `page`.
pub(crate) fn smart_power_w(page: &[u8]) -> Option<f64> {
    scaled_power_w(u32_at(page, 240)?)
}

/// Returns the energy of the drive's whole life in watt-hours, of the health log `page`.
#[cfg_attr(not(test), expect(dead_code, reason = "shown with the health of a drive"))]
pub(crate) fn lifetime_energy_wh(page: &[u8]) -> Option<u64> {
    let bytes = page.get(232..240)?.try_into().ok()?;
    Some(u64::from_le_bytes(bytes)).filter(|energy| *energy > 0)
}

/// Returns watts of a value in bits 15:0 with its scale in bits 17:16: 1 means 0.1 mW, 2 means
/// 10 mW, 0 that nothing is reported.
fn scaled_power_w(word: u32) -> Option<f64> {
    let value = f64::from(word & 0xffff);
    match (word >> 16) & 0x3 {
        1 => Some(value * 1e-4),
        2 => Some(value * 1e-2),
        _ => None,
    }
}

/// A distribution of power, as the drive has measured it.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct PowerLog {
    /// Samples in all.
    pub(crate) count: u32,
    /// Mean power in watts.
    pub(crate) average_w: Option<f64>,
    /// Highest power in watts.
    pub(crate) most_w: Option<f64>,
    /// The error that the maker states, in percent.
    pub(crate) error_percent: Option<u8>,
    /// Samples above the last bin.
    pub(crate) overflow: u16,
    /// The upper end of each bin in watts, with its samples.
    pub(crate) bins: Vec<(f64, u32)>,
}

#[cfg_attr(not(test), expect(dead_code, reason = "asked where a drive offers the log"))]
impl PowerLog {
    /// Decodes log 25h; `None` where it is no such log, or was never filled.
    pub(crate) fn decode(page: &[u8]) -> Option<PowerLog> {
        const HEAD: usize = 64;
        const ENTRY: usize = 8;
        let u16_at = |offset: usize| {
            Some(u16::from_le_bytes(page.get(offset..offset + 2)?.try_into().ok()?))
        };
        let count = u32_at(page, 8)?;
        let entries = usize::from(u16_at(12)?);
        let entry = usize::from(u16_at(24)?);
        let width_w = f64::from(u16_at(26)?) * 1e-3;
        if page.len() < HEAD + entries * ENTRY || (entries > 0 && entry != ENTRY) || count == 0 {
            return None;
        }
        // An entry is the number of its bin, and the samples in it.
        let bin = |index: usize| {
            let place = u32_at(page, HEAD + index * ENTRY)?;
            let samples = u32_at(page, HEAD + index * ENTRY + 4)?;
            Some(((f64::from(place) + 1.0) * width_w, samples))
        };
        Some(PowerLog {
            count,
            average_w: scaled_power_w(u32_at(page, 40)?),
            most_w: scaled_power_w(u32_at(page, 44)?),
            error_percent: page.get(56).copied().filter(|percent| *percent != 255),
            overflow: u16_at(32)?,
            bins: (0..entries).map(bin).collect::<Option<_>>()?,
        })
    }
}

/// Returns the first command word of feature 25h that starts or stops a measurement of the whole
/// subsystem: action in bits 3:0, type 0 in bits 7:4, minutes until it stops in bits 31:16.
#[cfg_attr(not(test), expect(dead_code, reason = "sent where a drive offers the log"))]
pub(crate) fn measurement(start: bool, stop_after_minutes: u16) -> u32 {
    u32::from(start) | u32::from(stop_after_minutes) << 16
}

fn u32_at(page: &[u8], offset: usize) -> Option<u32> {
    Some(u32::from_le_bytes(page.get(offset..offset + 4)?.try_into().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn put(page: &mut [u8], offset: usize, bytes: &[u8]) {
        page[offset..offset + bytes.len()].copy_from_slice(bytes);
    }

    fn smart(word: u32, energy: u64) -> Vec<u8> {
        let mut page = vec![0; SMART_LENGTH];
        put(&mut page, 232, &energy.to_le_bytes());
        put(&mut page, 240, &word.to_le_bytes());
        page
    }

    #[test]
    fn the_health_log_says_watts_and_watt_hours() {
        assert_eq!(smart_power_w(&smart(2 << 16 | 525, 0)), Some(5.25));
        assert_eq!(smart_power_w(&smart(1 << 16 | 50, 0)), Some(0.005));
        assert_eq!(lifetime_energy_wh(&smart(0, 12_345)), Some(12_345));
    }

    #[test]
    fn a_drive_that_does_not_measure_has_no_power_and_not_0_watts() {
        for page in [smart(0, 0), smart(3 << 16 | 7, 0), vec![0; 100], Vec::new()] {
            assert_eq!(smart_power_w(&page), None);
            assert_eq!(lifetime_energy_wh(&page), None);
        }
        let old: LogReader = Box::new(|_, _| Ok(smart(0, 0)));
        let error = NvmePower::open(old, None).err().unwrap();
        assert!(error.contains("does not measure its own power"), "{error}");
        let refuses: LogReader = Box::new(|_, _| Err("invalid field in command".into()));
        assert_eq!(NvmePower::open(refuses, None).err().unwrap(), "invalid field in command");
    }

    #[test]
    fn the_power_log_is_a_distribution() {
        let mut page = vec![0; 64 + 2 * 8];
        put(&mut page, 8, &100u32.to_le_bytes());
        put(&mut page, 12, &2u16.to_le_bytes());
        put(&mut page, 24, &8u16.to_le_bytes());
        put(&mut page, 26, &250u16.to_le_bytes());
        put(&mut page, 32, &3u16.to_le_bytes());
        put(&mut page, 40, &(2u32 << 16 | 310).to_le_bytes());
        put(&mut page, 44, &(2u32 << 16 | 720).to_le_bytes());
        page[56] = 255;
        for (index, (bin, samples)) in [(11u32, 60u32), (27, 40)].into_iter().enumerate() {
            put(&mut page, 64 + index * 8, &bin.to_le_bytes());
            put(&mut page, 68 + index * 8, &samples.to_le_bytes());
        }
        let log = PowerLog::decode(&page).unwrap();
        assert_eq!((log.count, log.average_w, log.most_w), (100, Some(3.1), Some(7.2)));
        assert_eq!((log.error_percent, log.overflow), (None, 3));
        assert_eq!(log.bins, [(3.0, 60), (7.0, 40)]);
        assert_eq!(PowerLog::decode(&page[..70]), None, "shorter than it says");
        assert_eq!(PowerLog::decode(&[0; 64]), None, "never filled");
        assert_eq!((POWER_LOG, measurement(true, 5)), (0x25, 0x0005_0001));
    }
}
