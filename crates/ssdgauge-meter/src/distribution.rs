//! The power distribution of a step that an NVMe drive measures: feature 25h starts and stops the
//! measurement, log 25h returns it.
//!
//! Commands are sent directly before and after a step, never within it, and never around a step
//! that measures an idle drive.

use ssdgauge_core::{Finding, FindingKind, Nanos, Reading, Severity};
use ssdgauge_drive::pass_through::{CommandError, PassThrough};
use ssdgauge_drive::power_log::PowerLog;
use ssdgauge_drive::query;
use std::sync::Arc;

/// The instrument of its readings.
const INSTRUMENT: &str = "NVMe power log";

/// The power measurement of one drive.
pub struct Distribution {
    pass_through: Arc<dyn PassThrough>,
    is_measuring: bool,
    /// Whether a failed measurement has been reported; one finding per run is enough.
    is_failure_reported: bool,
}

impl std::fmt::Debug for Distribution {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Distribution").field("is_measuring", &self.is_measuring).finish()
    }
}

impl Distribution {
    /// Returns the power measurement of the drive behind `pass_through`, stopped.
    ///
    /// # Errors
    /// The drive does not support log 25h, or rejects the query.
    pub fn open(pass_through: Arc<dyn PassThrough>) -> Result<Distribution, CommandError> {
        query::power_log(pass_through.as_ref())?;
        Ok(Distribution { pass_through, is_measuring: false, is_failure_reported: false })
    }

    /// Starts the measurement; returns a finding where the drive rejects it for the first time.
    pub fn begin(&mut self) -> Option<Finding> {
        match query::measure_power(self.pass_through.as_ref(), true) {
            Ok(()) => {
                self.is_measuring = true;
                None
            }
            Err(refusal) => self.failure(&refusal),
        }
    }

    /// Stops the measurement of a step with the duration `elapsed`. Returns its readings, and a
    /// finding where the drive rejects a command for the first time.
    pub fn end(&mut self, elapsed: Nanos) -> (Vec<Reading>, Option<Finding>) {
        if !self.is_measuring {
            return (Vec::new(), None);
        }
        // Stopped first: the log of a running measurement changes between its two reads.
        let stopped = self.stop();
        match stopped.and_then(|()| query::power_log(self.pass_through.as_ref())) {
            Ok(log) => (readings(&log, elapsed), None),
            Err(refusal) => (Vec::new(), self.failure(&refusal)),
        }
    }

    fn stop(&mut self) -> Result<(), CommandError> {
        self.is_measuring = false;
        query::measure_power(self.pass_through.as_ref(), false)
    }

    fn failure(&mut self, refusal: &CommandError) -> Option<Finding> {
        let is_first = !std::mem::replace(&mut self.is_failure_reported, true);
        is_first.then(|| {
            Finding::new(
                FindingKind::Meter,
                Severity::Note,
                format!("the drive reports no distribution of its power: {refusal}"),
                "the mean power is not affected: it comes from the other readings",
            )
        })
    }
}

impl Drop for Distribution {
    fn drop(&mut self) {
        if self.is_measuring {
            // The run has ended: a finding could not be stored.
            let _ = self.stop();
        }
    }
}

fn readings(log: &PowerLog, at: Nanos) -> Vec<Reading> {
    if log.count == 0 {
        return Vec::new();
    }
    let reading =
        |quantity, value| Reading { at, instrument: INSTRUMENT.to_owned(), quantity, value };
    let values = [
        ("power_log_samples", Some(f64::from(log.count))),
        ("power_log_mean_w", log.mean_w),
        ("power_log_max_w", log.max_w),
        ("power_log_error_percent", log.error_percent.map(f64::from)),
        ("power_log_is_estimated", Some(f64::from(u8::from(log.is_estimated)))),
        ("power_log_has_gaps", Some(f64::from(u8::from(log.has_gaps)))),
        ("power_log_samples_beyond", Some(f64::from(log.overflow))),
    ];
    let values =
        values.into_iter().filter_map(|(name, value)| Some(reading(name.to_owned(), value?)));
    // Shares, not counts: steps of different lengths are compared.
    let bins = log.bins.iter().map(|(_, to, samples)| {
        let share = f64::from(*samples) / f64::from(log.count);
        reading(format!("power_log_share_to_{to:.2}_w"), share)
    });
    values.chain(bins).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use ssdgauge_drive::fixture::{Fixture, INVALID_OPCODE};

    fn drive() -> Fixture {
        let mut drive = Fixture::nvme();
        drive.add_power_log(ssdgauge_drive::fixture::power_log());
        drive
    }

    #[test]
    fn a_measurement_starts_with_its_step_and_stops_with_it() {
        let drive = Arc::new(drive());
        let mut distribution = Distribution::open(Arc::<Fixture>::clone(&drive)).unwrap();
        assert_eq!(distribution.begin(), None);
        let (readings, finding) = distribution.end(Nanos::SECOND);
        assert_eq!(finding, None);
        let value = |name: &str| readings.iter().find(|r| r.quantity == name).map(|r| r.value);
        assert_eq!(value("power_log_mean_w"), Some(3.1));
        assert_eq!(value("power_log_max_w"), Some(7.2));
        assert_eq!(value("power_log_error_percent"), None, "the drive does not report it");
        assert_eq!(value("power_log_share_to_3.00_w"), Some(0.6));
        assert_eq!(value("power_log_share_to_7.00_w"), Some(0.4));
        distribution.begin();
        drop(distribution);
        let sent = drive.sent.lock().unwrap();
        let actions: Vec<_> =
            sent.iter().map(|(code, _, words)| (*code, words[0], words[1])).collect();
        assert_eq!(actions, [1, 0, 1, 0].map(|action| (0x09, 0x25, action)));
    }

    #[test]
    fn a_drive_without_the_log_is_an_error_and_a_rejected_start_is_reported_once() {
        let plain = Fixture::nvme();
        let refusal = Distribution::open(Arc::new(plain)).unwrap_err();
        assert!(refusal.to_string().contains("no power measurement log"), "{refusal}");
        let mut drive = drive();
        drive.changes.insert(0x09, INVALID_OPCODE);
        let mut distribution = Distribution::open(Arc::new(drive)).unwrap();
        assert!(distribution.begin().unwrap().text.contains("no distribution"));
        assert_eq!(distribution.end(Nanos::SECOND), (Vec::new(), None));
        assert_eq!(distribution.begin(), None, "it was reported once");
    }
}
