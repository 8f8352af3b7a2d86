//! The mean power of the last second that an NVMe drive reports: bytes 240 to 243 of its SMART log
//! (NVM Express Base Specification 2.1).
//!
//! A drive without this field returns zeros or an error. It is refused as a meter: 0 W would be
//! recorded as a measurement.

use super::interface::{LogReader, OpenContext, ParsedSpec, Source, SourceKind, SourceSpec};
use crate::sample::{Batch, ConsecutiveFailures, PollTimer, in_words};
use ssdgauge_core::PowerScope;
use ssdgauge_drive::health::{SMART_LENGTH, scaled_power};
use std::time::{Duration, Instant};

/// The identifier of the SMART log.
const SMART: u8 = 0x02;
/// The default sampling period: the averaging time of the drive.
const DEFAULT_PERIOD: Duration = Duration::from_secs(1);

/// Power that the drive under test reports.
pub(crate) const KIND: SourceKind =
    SourceKind { keywords: &["nvme"], form: "nvme", takes_pointer: false, parse };

#[derive(Debug)]
struct NvmeSpec;

fn parse(spec: &str, _pointer: Option<String>) -> ParsedSpec {
    match spec {
        "nvme" => Ok(Box::new(NvmeSpec)),
        _ => Err("this meter has no address; write nvme".into()),
    }
}

impl SourceSpec for NvmeSpec {
    fn default_scope(&self) -> PowerScope {
        PowerScope::Drive
    }

    fn reads_drive(&self) -> bool {
        true
    }

    fn open(&self, context: OpenContext<'_>) -> Result<Box<dyn Source>, String> {
        let read = (context.log_reader)().ok_or("the target is not an NVMe drive")?;
        Ok(Box::new(NvmePower::open(read, context.period)?))
    }
}

/// The power field of the SMART log of the drive under test.
struct NvmePower {
    read: LogReader,
    timer: PollTimer,
    failures: ConsecutiveFailures,
}

impl NvmePower {
    /// Reads the log once; a drive that does not report its power is an error.
    fn open(read: LogReader, period: Option<Duration>) -> Result<NvmePower, String> {
        let timer = PollTimer::with_period(period.unwrap_or(DEFAULT_PERIOD));
        let mut nvme = NvmePower { read, timer, failures: ConsecutiveFailures::default() };
        nvme.query()?;
        Ok(nvme)
    }

    fn query(&mut self) -> Result<f64, String> {
        let page = (self.read)(SMART, SMART_LENGTH)?;
        power_w(&page).ok_or_else(|| "the drive does not report its power".to_owned())
    }
}

impl Source for NvmePower {
    fn next(&mut self, timeout: Duration) -> Result<Batch, String> {
        if !self.timer.wait(timeout) {
            return Ok(Batch::default());
        }
        let at = Instant::now();
        let result = self.query();
        Ok(Batch::from_reading(at, self.failures.record(result)?))
    }

    fn wakes_drive(&self) -> bool {
        true
    }

    fn sampling(&self) -> String {
        format!("every {}, mean of the drive's last second", in_words(self.timer.period))
    }
}

/// Returns the mean power of the last second in watts, from the SMART log `page`; `None` where it
/// is not reported.
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
    fn the_smart_log_reports_watts() {
        assert_eq!(power_w(&smart(2 << 16 | 525)), Some(5.25));
        assert_eq!(power_w(&smart(1 << 16 | 50)), Some(0.005));
        let reader: LogReader = Box::new(|_, _| Ok(smart(2 << 16 | 525)));
        let mut nvme = NvmePower::open(reader, Some(Duration::from_millis(2))).unwrap();
        assert_eq!(nvme.next(Duration::from_secs(1)).unwrap().samples[0].value, 5.25);
    }

    #[test]
    fn a_drive_without_the_field_has_no_power_instead_of_0_watts() {
        for page in [smart(0), smart(3 << 16 | 7), vec![0; 100], Vec::new()] {
            assert_eq!(power_w(&page), None);
        }
        let old: LogReader = Box::new(|_, _| Ok(smart(0)));
        let error = NvmePower::open(old, None).err().unwrap();
        assert!(error.contains("does not report its power"), "{error}");
        let refuses: LogReader = Box::new(|_, _| Err("invalid field in command".into()));
        assert_eq!(NvmePower::open(refuses, None).err().unwrap(), "invalid field in command");
    }
}
