//! Pulses: a load that is sent for a time and left out for a time, in turn.

use crate::units::Nanos;
use serde::{Deserialize, Serialize};

/// The longest time in which a stream sends nothing: think time, and the off time of a pulse. Below the
/// time after which a drive without completions counts as hanging.
pub const LONGEST_PAUSE: Nanos = Nanos::from_secs(20);

/// The longest on time of a pulse: a day.
const LONGEST_PULSE: Nanos = Nanos::from_secs(86_400);

/// Times in which a stream sends requests and does not, in turn, from the start of the step.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Pulse {
    /// The time in which it sends.
    pub on: Nanos,
    /// The time in which it does not.
    pub off: Nanos,
}

impl Pulse {
    /// Returns the share of the time in which requests are sent.
    pub fn share(&self) -> f64 {
        self.on.0 as f64 / self.period() as f64
    }

    fn period(&self) -> u64 {
        (self.on.0 + self.off.0).max(1)
    }

    /// Returns when the next on time begins, if `at` nanoseconds after the start of the step lie in an
    /// off time; `None` in an on time.
    pub fn next_on(&self, at: u64) -> Option<u64> {
        let phase = at % self.period();
        (phase >= self.on.0).then(|| at - phase + self.period())
    }

    /// Returns the time at which `sending` nanoseconds of on times have passed, from the start of the
    /// step.
    #[inline]
    pub fn time_after(&self, sending: u64) -> u64 {
        let on = self.on.0.max(1);
        (sending / on).saturating_mul(self.period()).saturating_add(sending % on)
    }

    /// Returns why there is no such pulse, as a clause; `None` where there is.
    pub fn defect(&self) -> Option<String> {
        if self.on == Nanos::ZERO || self.on > LONGEST_PULSE {
            return Some(format!(
                "a pulse is on for {}, not up to {}",
                self.on.about(),
                LONGEST_PULSE.about()
            ));
        }
        let is_off = self.off > Nanos::ZERO && self.off <= LONGEST_PAUSE;
        (!is_off).then(|| {
            format!("a pulse is off for {}, not up to {}", self.off.about(), LONGEST_PAUSE.about())
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn on_times_and_off_times_alternate_from_the_start() {
        let pulse = Pulse { on: Nanos(20), off: Nanos(30) };
        let on: Vec<Option<u64>> = [0, 19, 20, 49, 50, 69, 70].map(|at| pulse.next_on(at)).to_vec();
        assert_eq!(on, [None, None, Some(50), Some(50), None, None, Some(100)]);
        let times = [0, 19, 20, 21, 40, 59].map(|sending| pulse.time_after(sending));
        assert_eq!(times, [0, 19, 50, 51, 100, 119]);
        for sending in 0..1_000 {
            assert_eq!(pulse.next_on(pulse.time_after(sending)), None, "{sending}");
        }
        assert_eq!(pulse.share(), 0.4);
    }

    #[test]
    fn a_pulse_without_one_of_its_times_or_with_a_long_pause_is_refused() {
        let defect = |on, off| Pulse { on: Nanos(on), off: Nanos(off) }.defect().is_some();
        assert!(defect(0, 1) && defect(1, 0) && defect(1, LONGEST_PAUSE.0 + 1));
        assert!(defect(u64::MAX, 1));
        assert!(!defect(1, 1) && !defect(1, LONGEST_PAUSE.0));
    }
}
