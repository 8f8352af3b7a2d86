//! The mean power of the last second that an NVMe 2.x drive keeps of itself: bytes 240 to 243 of
//! its health log.
//!
//! A drive without it answers zeros or an error, and then has no power, never 0 W.

use crate::sample::Batch;
use crate::sample::Failures;
use crate::sample::PollTimer;
use crate::sample::Sample;
use ssdgauge_drive::health::{SMART_LENGTH, scaled_power};
use std::time::{Duration, Instant};

/// The health log.
const SMART: u8 = 0x02;
/// How often the drive is asked: it keeps the mean of the last second.
const USUAL: Duration = Duration::from_secs(1);

/// Reads a log page of the drive under test.
pub type LogReader = Box<dyn FnMut(u8, usize) -> Result<Vec<u8>, String> + Send>;

/// The drive's own power figures.
pub(crate) struct NvmePower {
    read: LogReader,
    timer: PollTimer,
    failures: Failures,
}

impl NvmePower {
    /// Asks the drive once whether it measures its power.
    pub(crate) fn open(read: LogReader, period: Option<Duration>) -> Result<NvmePower, String> {
        let timer = PollTimer::every(period.unwrap_or(USUAL));
        let mut nvme = NvmePower { read, timer, failures: Failures::default() };
        nvme.ask()?;
        Ok(nvme)
    }

    pub(crate) fn period(&self) -> Duration {
        self.timer.period
    }

    fn ask(&mut self) -> Result<f64, String> {
        let page = (self.read)(SMART, SMART_LENGTH)?;
        power_w(&page).ok_or_else(|| "the drive does not measure its own power".to_owned())
    }

    pub(crate) fn next(&mut self, timeout: Duration) -> Result<Batch, String> {
        if !self.timer.wait(timeout) {
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
fn power_w(page: &[u8]) -> Option<f64> {
    scaled_power(u32::from_le_bytes(page.get(240..244)?.try_into().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn smart(word: u32) -> Vec<u8> {
        let mut page = vec![0; SMART_LENGTH];
        page[240..244].copy_from_slice(&word.to_le_bytes());
        page
    }

    #[test]
    fn the_health_log_says_watts() {
        assert_eq!(power_w(&smart(2 << 16 | 525)), Some(5.25));
        assert_eq!(power_w(&smart(1 << 16 | 50)), Some(0.005));
        let reader: LogReader = Box::new(|_, _| Ok(smart(2 << 16 | 525)));
        let mut nvme = NvmePower::open(reader, Some(Duration::from_millis(2))).unwrap();
        assert_eq!(nvme.next(Duration::from_secs(1)).unwrap().samples[0].value, 5.25);
    }

    #[test]
    fn a_drive_that_does_not_measure_has_no_power_and_not_0_watts() {
        for page in [smart(0), smart(3 << 16 | 7), vec![0; 100], Vec::new()] {
            assert_eq!(power_w(&page), None);
        }
        let old: LogReader = Box::new(|_, _| Ok(smart(0)));
        let error = NvmePower::open(old, None).err().unwrap();
        assert!(error.contains("does not measure its own power"), "{error}");
        let refuses: LogReader = Box::new(|_, _| Err("invalid field in command".into()));
        assert_eq!(NvmePower::open(refuses, None).err().unwrap(), "invalid field in command");
    }
}
