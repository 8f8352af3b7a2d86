//! The distribution of power that an NVMe drive measures by itself over a step: feature 25h starts
//! it, log 25h tells it.
//!
//! The drive is asked right before and behind a step, never in it, and not at all around a step in
//! which it is left alone.

use ssdgauge_core::{Finding, FindingKind, Nanos, Reading, Severity};
use ssdgauge_drive::pass_through::{CommandError, PassThrough};
use ssdgauge_drive::power_log::PowerLog;
use ssdgauge_drive::query;
use std::sync::Arc;

/// What its readings are called after.
const INSTRUMENT: &str = "NVMe power log";

/// A drive that measures the distribution of its power.
pub struct Distribution {
    pass_through: Arc<dyn PassThrough>,
    is_measuring: bool,
    /// Whether it was said that the drive does not measure after all.
    is_silent: bool,
}

impl std::fmt::Debug for Distribution {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Distribution").field("is_measuring", &self.is_measuring).finish()
    }
}

impl Distribution {
    /// Returns the distribution of the drive behind `pass_through`, or why it has none.
    pub fn of(pass_through: Arc<dyn PassThrough>) -> Result<Distribution, CommandError> {
        query::power_log(pass_through.as_ref())?;
        Ok(Distribution { pass_through, is_measuring: false, is_silent: false })
    }

    /// Lets the drive begin to measure.
    pub fn begin(&mut self) -> Option<Finding> {
        match query::measure_power(self.pass_through.as_ref(), true) {
            Ok(()) => {
                self.is_measuring = true;
                None
            }
            Err(refusal) => self.doubt(&refusal),
        }
    }

    /// Ends the measurement of a step that lasted for `elapsed`, and returns what it found.
    pub fn end(&mut self, elapsed: Nanos) -> (Vec<Reading>, Option<Finding>) {
        if !self.is_measuring {
            return (Vec::new(), None);
        }
        // Once it is stopped the log stays as it is.
        let stopped = self.stop();
        match stopped.and_then(|()| query::power_log(self.pass_through.as_ref())) {
            Ok(log) => (readings(&log, elapsed), None),
            Err(refusal) => (Vec::new(), self.doubt(&refusal)),
        }
    }

    fn stop(&mut self) -> Result<(), CommandError> {
        self.is_measuring = false;
        query::measure_power(self.pass_through.as_ref(), false)
    }

    fn doubt(&mut self, refusal: &CommandError) -> Option<Finding> {
        let is_news = !std::mem::replace(&mut self.is_silent, true);
        is_news.then(|| {
            Finding::new(
                FindingKind::Meter,
                Severity::Note,
                format!("the drive tells no distribution of its power: {refusal}"),
                "mean power is not touched: it comes from the other readings",
            )
        })
    }
}

impl Drop for Distribution {
    fn drop(&mut self) {
        if self.is_measuring {
            // Nobody is left to tell.
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
    let told = [
        ("power_log_samples", Some(f64::from(log.count))),
        ("power_log_mean_w", log.mean_w),
        ("power_log_max_w", log.most_w),
        ("power_log_error_percent", log.error_percent.map(f64::from)),
        ("power_log_is_estimated", Some(f64::from(u8::from(log.is_estimated)))),
        ("power_log_has_gaps", Some(f64::from(u8::from(log.has_gaps)))),
        ("power_log_samples_beyond", Some(f64::from(log.overflow))),
    ];
    let told = told.into_iter().filter_map(|(name, value)| Some(reading(name.to_owned(), value?)));
    // The share is what can be compared between steps of different lengths.
    let bins = log.bins.iter().map(|(_, to, samples)| {
        let share = f64::from(*samples) / f64::from(log.count);
        reading(format!("power_log_share_to_{to:.2}_w"), share)
    });
    told.chain(bins).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use ssdgauge_drive::fixture::{Fixture, UNKNOWN};

    fn drive() -> Fixture {
        let mut drive = Fixture::nvme();
        drive.has_power_log(ssdgauge_drive::fixture::power_log());
        drive
    }

    #[test]
    fn a_step_is_measured_from_its_begin_to_its_end() {
        let drive = Arc::new(drive());
        let mut distribution = Distribution::of(Arc::<Fixture>::clone(&drive)).unwrap();
        assert_eq!(distribution.begin(), None);
        let (readings, finding) = distribution.end(Nanos::SECOND);
        assert_eq!(finding, None);
        let of = |name: &str| readings.iter().find(|r| r.quantity == name).map(|r| r.value);
        assert_eq!(of("power_log_mean_w"), Some(3.1));
        assert_eq!(of("power_log_max_w"), Some(7.2));
        assert_eq!(of("power_log_error_percent"), None, "it is not given");
        assert_eq!(of("power_log_share_to_3.00_w"), Some(0.6));
        assert_eq!(of("power_log_share_to_7.00_w"), Some(0.4));
        distribution.begin();
        drop(distribution);
        let sent = drive.sent.lock().unwrap();
        let actions: Vec<_> =
            sent.iter().map(|(code, _, words)| (*code, words[0], words[1])).collect();
        assert_eq!(actions, [1, 0, 1, 0].map(|action| (0x09, 0x25, action)));
    }

    #[test]
    fn a_drive_without_the_log_has_no_distribution_and_is_not_asked_twice() {
        let plain = Fixture::nvme();
        let refusal = Distribution::of(Arc::new(plain)).unwrap_err();
        assert!(refusal.to_string().contains("does not measure"), "{refusal}");
        let mut drive = drive();
        drive.changes.insert(0x09, UNKNOWN);
        let mut distribution = Distribution::of(Arc::new(drive)).unwrap();
        assert!(distribution.begin().unwrap().text.contains("no distribution"));
        assert_eq!(distribution.end(Nanos::SECOND), (Vec::new(), None));
        assert_eq!(distribution.begin(), None, "it was said once");
    }
}
