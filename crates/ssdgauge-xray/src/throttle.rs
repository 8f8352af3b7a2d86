//! Throttle points: temperatures at which the rate of a constant load drops and recovers.
//!
//! A drop is one of the temperature only where every second of the load agrees: slow from a temperature on, fast up to
//! it, and fast again at a lower one. What is a drop, the scatter of the drive's own seconds decides.

use crate::answer::{Identified, Refusal, Value, refuse};
use ssdgauge_statistics::summary;

/// The rate of a second by temperature at its end.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Heating {
    /// Degrees Celsius at the end of the second.
    pub celsius: f64,
    /// Bytes of the second.
    pub bytes: f64,
}

/// The share of the full rate below which a steady drive is throttled, and above which it is not.
const SLOW: f64 = 0.94;
/// See [`SLOW`].
const FAST: f64 = 0.97;
/// A drop is at least so many standard deviations of a second. Chosen: of 300 seconds, three in a row are never so slow
/// by chance.
const BEYOND_SCATTER: f64 = 3.0;
/// The seconds at the start that give the full rate.
const START: usize = 8;
/// The seconds for which a level lasts at least.
const LASTS: usize = 2;
/// The seconds for which a level lasts where there is only one drop. Chosen: longer than stalls.
const LASTS_ONCE: usize = 10;
/// The share of the seconds that may be at the other level. Chosen: seconds in a random order are at 30 % and more.
const MOST_STRAY: f64 = 0.15;
/// The median distance of two neighbouring seconds, in standard deviations of one (normal errors).
const OF_NEIGHBOURS: f64 = 0.954;
/// Half width of the interval beyond the range of the readings. Chosen: half a step of a sensor that states
/// whole degrees, and its delay.
const LEAST_C: f64 = 1.0;
/// The maximum that events of one kind may differ, and that a temperature may be beyond them without an event.
const MOST_RANGE_C: f64 = 3.0;
/// By how much full speed returns below the temperature of the drop at least. Chosen: without, the rate would change
/// every second.
const LEAST_HYSTERESIS_C: f64 = 1.0;

/// A part of the load at one level.
struct Level {
    is_slow: bool,
    from: usize,
    to: usize,
}

/// Returns the temperatures from which the drive is slower and at full speed again.
///
/// # Errors
/// The load was never slower, or not together with the temperature.
pub fn find(seconds: &[Heating]) -> (Identified, Identified) {
    let both = |reason: String| (refuse(reason.clone()), refuse(reason));
    let hottest = seconds.iter().map(|one| one.celsius).fold(f64::MIN, f64::max);
    let start: Vec<f64> = seconds.iter().take(START).map(|one| one.bytes).collect();
    let Some(full) = summary::percentile(&start, 0.5).filter(|_| seconds.len() >= 2 * START) else {
        return both("too few seconds with a temperature".into());
    };
    let levels = levels(seconds, full);
    // The speed of a second follows from the temperature at the end of the one before; the point lies between that one
    // and the one before it.
    let of = |is_slow: bool| -> Vec<[f64; 2]> {
        let begins = levels.iter().skip(1).filter(|level| level.is_slow == is_slow);
        let celsius = |back: usize, level: &Level| seconds[level.from.saturating_sub(back)].celsius;
        begins.map(|level| [celsius(2, level), celsius(1, level)]).collect()
    };
    let (drops, recoveries) = (of(true), of(false));
    if drops.is_empty() {
        return both(format!("no throttling up to {hottest:.0} °C"));
    }
    if let Err(Refusal(reason)) = check_lasting(seconds, full, &levels, drops.len()) {
        return both(reason);
    }
    let (upper, lower) = (point(&drops, hottest), point(&recoveries, hottest));
    let throttle = match (&upper, &lower) {
        (Err(Refusal(reason)), _) => return both(reason.clone()),
        (Ok(_), Err(Refusal(reason))) if !recoveries.is_empty() => return both(reason.clone()),
        (Ok(throttle), _) => throttle,
    };
    if let Err(Refusal(reason)) = check_agreement(seconds, &levels, throttle, lower.as_ref().ok()) {
        return both(reason);
    }
    (upper, lower)
}

/// Returns the levels of the load, the first of which is fast.
fn levels(seconds: &[Heating], full: f64) -> Vec<Level> {
    let neighbours: Vec<f64> =
        seconds.windows(2).map(|two| (two[1].bytes - two[0].bytes).abs() / full).collect();
    let scatter = summary::percentile(&neighbours, 0.5).unwrap_or(0.0) / OF_NEIGHBOURS;
    let slow = SLOW.min(1.0 - BEYOND_SCATTER * scatter);
    let fast = FAST.min(0.5 * (1.0 + slow));
    let mut levels = vec![Level { is_slow: false, from: 0, to: seconds.len() }];
    for index in 1..seconds.len().saturating_sub(LASTS - 1) {
        let next = &seconds[index..index + LASTS];
        let is_slow = levels.last().is_some_and(|level| level.is_slow);
        let changes = next.iter().all(|one| match is_slow {
            false => one.bytes < slow * full,
            true => one.bytes > fast * full,
        });
        if changes {
            if let Some(before) = levels.last_mut() {
                before.to = index;
            }
            levels.push(Level { is_slow: !is_slow, from: index, to: seconds.len() });
        }
    }
    levels
}

/// Checks that the levels are levels, and not the shape of a scatter or of one stall.
fn check_lasting(
    seconds: &[Heating],
    full: f64,
    levels: &[Level],
    drops: usize,
) -> Result<(), Refusal> {
    let slow = levels.iter().filter(|level| level.is_slow);
    let of_slow: Vec<f64> = slow
        .clone()
        .flat_map(|level| &seconds[level.from..level.to])
        .map(|one| one.bytes)
        .collect();
    let middle = 0.5 * (full + summary::percentile(&of_slow, 0.5).unwrap_or(0.0));
    let strays = levels.iter().flat_map(|level| {
        let of_level = seconds[level.from..level.to].iter();
        of_level.filter(|one| (one.bytes < middle) != level.is_slow)
    });
    let stray = strays.count() as f64 / seconds.len() as f64;
    if stray > MOST_STRAY {
        return refuse(format!("{:.0} % of the seconds are at no level", stray * 100.0));
    }
    let shortest = levels.iter().skip(1).map(|level| level.to - level.from).min().unwrap_or(0);
    match drops == 1 && shortest < LASTS_ONCE {
        true => refuse(format!("the rate was lower only once, and changed within {shortest} s")),
        false => Ok(()),
    }
}

/// Checks that the load was fast at no temperature above the drops, and slow at none below the recoveries.
fn check_agreement(
    seconds: &[Heating],
    levels: &[Level],
    throttle: &Value,
    resume: Option<&Value>,
) -> Result<(), Refusal> {
    let celsius = |is_slow: bool| {
        let of = levels.iter().filter(move |level| level.is_slow == is_slow);
        // At the ends of a level, the temperature is the one that ends it.
        of.flat_map(|level| &seconds[level.from..level.to.saturating_sub(1).max(level.from)])
            .map(|one| one.celsius)
    };
    let fast = celsius(false).fold(f64::MIN, f64::max);
    if fast > throttle.value + MOST_RANGE_C {
        return refuse(format!(
            "the rate is lower at {:.0} °C, and full at {fast:.0} °C: not by temperature",
            throttle.value
        ));
    }
    let Some(resume) = resume else { return Ok(()) };
    if resume.value > throttle.value - LEAST_HYSTERESIS_C {
        return refuse(format!(
            "the rate drops at {:.0} °C and recovers at {:.0} °C: not by temperature",
            throttle.value, resume.value
        ));
    }
    let slow = celsius(true).fold(f64::MAX, f64::min);
    match slow < resume.value - MOST_RANGE_C {
        true => refuse(format!(
            "the rate recovers at {:.0} °C, and is low at {slow:.0} °C: not by temperature",
            resume.value
        )),
        false => Ok(()),
    }
}

/// Returns the point that lies within each of `events`, temperatures before and after it.
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
    use ssdgauge_core::Random;

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

    /// The same load with lognormal seconds of `scatter`, and `dips` of two seconds at half the rate.
    fn scattered(limit: f64, scatter: f64, dips: u64, seed: u64) -> Vec<Heating> {
        let mut random = Random::new(seed, 0x7e57);
        let mut seconds = heating(limit);
        for one in &mut seconds {
            // Twelve uniform numbers: normal.
            let normal: f64 = (0..12).map(|_| random.unit()).sum::<f64>() - 6.0;
            one.bytes *= (scatter * normal).exp();
        }
        for _ in 0..dips {
            let from = random.below(seconds.len() as u64 - 2) as usize;
            seconds[from..from + 2].iter_mut().for_each(|one| one.bytes *= 0.5);
        }
        seconds
    }

    #[test]
    fn dips_and_scatter_are_not_throttling_and_do_not_hide_it() {
        let (mut found, mut wrong) = (0, Vec::new());
        for seed in 0..200 {
            for dips in 0..4 {
                let (upper, lower) = find(&scattered(500.0, 0.04, dips, seed));
                if upper.is_ok() || lower.is_ok() {
                    wrong.push((seed, dips, upper, lower));
                }
            }
            let (upper, lower) = find(&scattered(80.0, 0.04, 0, seed));
            let is_right = |point: &Identified, truth: f64| match point {
                Ok(value) => value.contains(truth),
                Err(_) => true,
            };
            assert!(is_right(&upper, 80.0) && is_right(&lower, 75.0), "{upper:?} {lower:?}");
            found += u32::from(upper.is_ok() && lower.is_ok());
        }
        assert!(wrong.is_empty(), "{wrong:?}");
        assert!(found > 180, "{found}");
    }

    #[test]
    fn seconds_in_a_random_order_show_no_point() {
        for seed in 0..200 {
            let mut random = Random::new(seed, 0x5eed);
            let mut seconds = heating(80.0);
            let mut bytes: Vec<f64> = seconds.iter().map(|one| one.bytes).collect();
            random.shuffle(&mut bytes);
            seconds.iter_mut().zip(bytes).for_each(|(one, bytes)| one.bytes = bytes);
            let (upper, lower) = find(&seconds);
            assert!(upper.is_err() && lower.is_err(), "{seed}: {upper:?} {lower:?}");
        }
    }

    #[test]
    fn a_single_drop_counts_only_where_it_lasts() {
        let mut seconds: Vec<Heating> = (0..120)
            .map(|second| Heating { celsius: 50.0 + 0.1 * f64::from(second), bytes: 1e9 })
            .collect();
        for one in &mut seconds[100..] {
            one.bytes = 0.6e9;
        }
        let (upper, lower) = find(&seconds);
        assert!(upper.unwrap().contains(60.0) && lower.is_err());
        let upper = find(&seconds[..106]).0.unwrap_err();
        assert!(upper.0.contains("only once"), "{upper:?}");
        // A stall in the middle, below what the drive is fast at later.
        let mut stall: Vec<Heating> =
            seconds.iter().map(|one| Heating { bytes: 1e9, ..*one }).collect();
        stall[60..75].iter_mut().for_each(|one| one.bytes = 1e8);
        let upper = find(&stall).0.unwrap_err();
        assert!(upper.0.contains("not by temperature"), "{upper:?}");
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
