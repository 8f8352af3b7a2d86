//! What a drive states about its own temperature.

use serde::{Deserialize, Serialize};

/// The limit and the counters of a drive that watches its temperature.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ThermalReport {
    /// The lowest temperature from which it warns or is slower, in degrees Celsius (NVMe: WCTEMP, CCTEMP and the
    /// thermal management temperatures in use).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit_c: Option<f64>,
    /// How often it began to throttle.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub transitions: Option<u64>,
    /// The seconds for which it throttled.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub throttled_s: Option<u64>,
    /// The minutes above its limits.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub above_minutes: Option<u64>,
}

impl ThermalReport {
    /// Returns what has been counted from `before` to `self`, as the object of a clause; `None` for nothing.
    pub fn counted_since(&self, before: &ThermalReport) -> Option<String> {
        let more = |now: Option<u64>, then: Option<u64>| now?.checked_sub(then?);
        let counters = [
            (more(self.transitions, before.transitions), "transitions to throttling"),
            (more(self.throttled_s, before.throttled_s), "s of throttling"),
            (more(self.above_minutes, before.above_minutes), "min above its limit of temperature"),
        ];
        let risen = counters.into_iter().filter_map(|(more, words)| {
            more.filter(|more| *more > 0).map(|more| format!("{more} {words}"))
        });
        let words: Vec<String> = risen.collect();
        (!words.is_empty()).then(|| words.join(", "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counters_that_rise_are_named_and_others_are_not() {
        let before = ThermalReport {
            limit_c: Some(70.0),
            transitions: Some(3),
            throttled_s: Some(40),
            above_minutes: None,
        };
        assert_eq!(before.counted_since(&before), None);
        let later = ThermalReport { throttled_s: Some(52), above_minutes: Some(9), ..before };
        assert_eq!(later.counted_since(&before).as_deref(), Some("12 s of throttling"));
        // A counter that fell tells nothing.
        assert_eq!(before.counted_since(&later), None);
        assert_eq!(later.counted_since(&ThermalReport::default()), None);
    }
}
