//! The pause between two parts of a run, by the time of day and the time since the boot.

use ssdgauge_core::{Finding, FindingKind, Nanos, Severity};

/// The minimum change of the time of day that is a finding, in milliseconds. Chosen: NTP moves the clock by
/// 0.5 ms in a second, 43 s in a day.
const LEAST_SHIFT: i64 = 60_000;
/// The maximum by which the two clocks of a pause differ, because they are not read at one moment, in
/// milliseconds. Chosen.
const TOLERANCE: i64 = 1_000;

/// The time between the last record of a run and its continuation, in milliseconds.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pause {
    /// By the time of day; negative where that was set back.
    by_day: i64,
    /// By how much the time of day was set, where that is known.
    shift: Option<i64>,
}

impl Pause {
    /// Returns the pause between `last` and `now`, in milliseconds since 1970. `shift` is by how much the
    /// time of day was set, in milliseconds, where that is known.
    pub(crate) fn between(last: i64, now: i64, shift: Option<i64>) -> Pause {
        Pause { by_day: now.saturating_sub(last), shift }
    }

    /// Returns its length; `None` where it is unknown.
    fn length(self) -> Option<Nanos> {
        let millis = self.by_day.saturating_sub(self.shift.unwrap_or(0));
        let millis =
            if self.shift.is_some() && millis > -TOLERANCE { millis.max(0) } else { millis };
        u64::try_from(millis).ok().map(|millis| Nanos(millis.saturating_mul(1_000_000)))
    }

    /// Returns the finding that a run was resumed; `more` follows the pause.
    pub(crate) fn finding(self, more: &str) -> Finding {
        let pause = match self.length() {
            Some(length) => format!("a pause of {}", length.about()),
            None => "an unknown pause".to_owned(),
        };
        let text = format!("the run was resumed after {pause}{more}");
        Finding::new(FindingKind::Resumed, Severity::Note, text, "")
    }

    /// Returns the finding that the time of day was set; `None` where that is not known.
    pub(crate) fn clock_finding(self) -> Option<Finding> {
        let about = |millis: i64| Nanos(millis.unsigned_abs().saturating_mul(1_000_000)).about();
        let text = match self.shift.filter(|shift| shift.saturating_abs() >= LEAST_SHIFT) {
            Some(shift) => {
                let direction = if shift > 0 { "forward" } else { "back" };
                format!(
                    "the time of day was set {direction} by {} before the run was resumed",
                    about(shift)
                )
            }
            None if self.by_day < 0 => format!(
                "the time of day was set back by {} or more before the run was resumed",
                about(self.by_day)
            ),
            None => return None,
        };
        let advice = "durations come from the monotonic clock; dates of this run are out of order";
        Some(Finding::new(FindingKind::ClockJumped, Severity::Note, text, advice))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pause_is_that_of_the_clock_that_nobody_sets() {
        let texts = |last: i64, now: i64, shift: Option<i64>| {
            let pause = Pause::between(last * 1_000, now * 1_000, shift.map(|shift| shift * 1_000));
            let clock = pause.clock_finding().map_or(String::new(), |finding| finding.text);
            (pause.finding("").text, clock)
        };
        let check = |(resumed, clock): (String, String), length: &str, shift: &str| {
            assert_eq!(resumed, format!("the run was resumed after {length}"));
            match shift {
                "" => assert_eq!(clock, ""),
                shift => assert_eq!(
                    clock,
                    format!("the time of day was set {shift} before the run was resumed")
                ),
            }
        };
        check(texts(1_000, 1_030, None), "a pause of 30 s", "");
        check(texts(1_000, 1_030, Some(0)), "a pause of 30 s", "");
        check(texts(1_000, 900, None), "an unknown pause", "back by 1 min 40 s or more");
        check(texts(1_000, 900, Some(-200)), "a pause of 1 min 40 s", "back by 3 min 20 s");
        // Set back by less than the pause, of which the time of day alone shows nothing.
        check(texts(1_000, 1_100, Some(-200)), "a pause of 5 min", "back by 3 min 20 s");
        check(texts(1_000, 9_030, Some(8_000)), "a pause of 30 s", "forward by 2 h 13 min");
        // The clock was set while the run was carried out: only that is known.
        check(texts(1_000, 1_005, Some(100)), "an unknown pause", "forward by 1 min 40 s");
        check(texts(1_000, 1_005, Some(4)), "a pause of 1 s", "");
    }
}
