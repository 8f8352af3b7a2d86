//! Throttle points: temperatures at which the rate of a constant load drops and recovers.

use crate::answer::{Identified, Value, refuse};
use ssdgauge_statistics::summary;

/// The rate of a second by temperature at its end.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Heating {
    /// Degrees Celsius at the end of the second.
    pub celsius: f64,
    /// Bytes of the second.
    pub bytes: f64,
}

/// The share of the full rate below which a drive is throttled, and above which it is not.
const SLOW: f64 = 0.94;
/// See [`SLOW`].
const FAST: f64 = 0.97;
/// The seconds at the start that give the full rate.
const START: usize = 8;
/// The seconds for which a level has to last.
const LASTS: usize = 2;
/// Half width of the interval beyond the range of the readings. Chosen: half a step of a sensor that states
/// whole degrees, and its delay.
const LEAST_C: f64 = 1.0;
/// The most that events of one kind may differ.
const MOST_RANGE_C: f64 = 3.0;

/// Returns the temperatures from which the drive is slower and at full speed again.
///
/// # Errors
/// The load was never slower, or not together with the temperature.
pub fn find(seconds: &[Heating]) -> (Identified, Identified) {
    let hottest = seconds.iter().map(|one| one.celsius).fold(f64::MIN, f64::max);
    let start: Vec<f64> = seconds.iter().take(START).map(|one| one.bytes).collect();
    let Some(full) = summary::percentile(&start, 0.5).filter(|_| seconds.len() >= 2 * START) else {
        let reason = "too few seconds with a temperature";
        return (refuse(reason), refuse(reason));
    };
    let (mut drops, mut recoveries) = (Vec::new(), Vec::new());
    let mut is_slow = false;
    for index in 1..seconds.len().saturating_sub(LASTS - 1) {
        let next = &seconds[index..index + LASTS];
        let all = |test: &dyn Fn(f64) -> bool| next.iter().all(|one| test(one.bytes / full));
        // The speed of a second follows from the temperature at the end of the one before; the point lies
        // between that one and the one before it.
        let celsius = [seconds[index.saturating_sub(2)].celsius, seconds[index - 1].celsius];
        if !is_slow && all(&|share| share < SLOW) {
            is_slow = true;
            drops.push(celsius);
        } else if is_slow && all(&|share| share > FAST) {
            is_slow = false;
            recoveries.push(celsius);
        }
    }
    if drops.is_empty() {
        let reason = format!("no throttling up to {hottest:.0} °C");
        return (refuse(reason.clone()), refuse(reason));
    }
    (point(&drops, hottest), point(&recoveries, hottest))
}

/// Returns the point that lies within each of `events`, temperatures before and behind it.
fn point(events: &[[f64; 2]], hottest: f64) -> Identified {
    let all = || events.iter().flatten().copied();
    let (low, high) = (all().fold(f64::MAX, f64::min), all().fold(f64::MIN, f64::max));
    if events.is_empty() {
        return refuse("the rate did not recover within the load");
    }
    let middles: Vec<f64> = events.iter().map(|event| 0.5 * (event[0] + event[1])).collect();
    let value = middles.iter().sum::<f64>() / middles.len() as f64;
    let range = middles.iter().map(|middle| (middle - value).abs()).fold(0.0, f64::max);
    if 2.0 * range > MOST_RANGE_C {
        return refuse(format!(
            "the rate changes at {low:.0} to {high:.0} °C (at most {hottest:.0} °C): not by temperature"
        ));
    }
    Ok(Value { value, low: low - LEAST_C, high: high + LEAST_C })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A load that throttles at 80 °C to 60 % and recovers at 75 °C, read in whole degrees.
    fn heating(limit: f64) -> Vec<Heating> {
        let (mut celsius, mut slow) = (50.0, false);
        (0..200)
            .map(|_| {
                let bytes = if slow { 0.6e9 } else { 1e9 };
                celsius += if slow { -0.4 } else { 0.5 };
                slow = if slow { celsius > 75.0 } else { celsius >= limit };
                Heating { celsius: f64::round(celsius), bytes }
            })
            .collect()
    }

    #[test]
    fn both_points_are_found_from_whole_degrees() {
        let (upper, lower) = find(&heating(80.0));
        assert!(upper.clone().unwrap().contains(80.0), "{upper:?}");
        assert!(lower.clone().unwrap().contains(75.0), "{lower:?}");
    }

    #[test]
    fn a_load_that_stays_fast_or_changes_without_temperature_is_refused() {
        let (upper, lower) = find(&heating(500.0));
        assert!(upper.is_err() && lower.is_err());
        let mut odd = heating(500.0);
        for start in [20, 60, 150] {
            odd[start..start + 10].iter_mut().for_each(|one| one.bytes = 0.5e9);
        }
        assert!(find(&odd).0.is_err());
    }
}
