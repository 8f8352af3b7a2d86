//! The pause between two parts of a run, by the time of day.

use ssdgauge_core::{Finding, FindingKind, Nanos, Severity};

/// The time between the last record of a run and its continuation, in milliseconds of the time of day.
/// It is negative where the time of day was set back meanwhile.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pause(i64);

impl Pause {
    /// Returns the pause between `last` and `now`, in milliseconds since 1970.
    pub(crate) fn between(last: i64, now: i64) -> Pause {
        Pause(now - last)
    }

    /// Returns the finding that a run was resumed; `more` follows the pause.
    pub(crate) fn finding(self, more: &str) -> Finding {
        let pause = match u64::try_from(self.0) {
            Ok(millis) => format!("a pause of {}", Nanos(millis * 1_000_000).about()),
            Err(_) => "an unknown pause".to_owned(),
        };
        let text = format!("the run was resumed after {pause}{more}");
        Finding::new(FindingKind::Resumed, Severity::Note, text, "")
    }

    /// Returns the finding that the time of day was set back; `None` where it increased.
    pub(crate) fn clock_finding(self) -> Option<Finding> {
        (self.0 < 0).then(|| {
            let least = Nanos(self.0.unsigned_abs() * 1_000_000);
            Finding::new(
                FindingKind::ClockJumped,
                Severity::Note,
                format!(
                    "the time of day was set back by {} or more before the run was resumed",
                    least.about()
                ),
                "durations come from the monotonic clock; dates of this run are out of order",
            )
        })
    }
}
