//! Fast cache: the first lasting drop of the rate in a sequential fill, and the rate after it.

use crate::answer::{Refusal, Value, refuse};
use ssdgauge_core::Bytes;
use ssdgauge_core::rounded::number;
use ssdgauge_statistics::{student, summary};

/// How many times the rate beyond the cache the rate before has to be: with less, the link hides the end.
pub(crate) const LEAST_RATIO: f64 = 1.15;
/// The maximum number of drops of a fill that are looked for. Chosen: fast cache, through the cache, and after it.
const MOST_DROPS: usize = 4;

/// The bins that are needed before and after a drop.
const LEAST_BINS: (usize, usize) = (6, 24);
/// The windows of each side, all of which have to lie on their side of the middle.
const WINDOWS: usize = 6;
/// The minimum half width of the interval, as a share of the cache. Chosen.
const LEAST: f64 = 0.02;
/// The largest write buffer, in bytes, that a drop is not told apart from. Chosen: buffers of drives are some
/// tens of mebibytes. The rate drops when it is full, not when the cache is.
const MOST_BUFFER: f64 = 67_108_864.0;
/// The largest write buffer, in bytes, that a burst has to tell a whole drop apart from. Chosen: the memory of a drive
/// of 1 TB.
const MOST_MEMORY: f64 = 1_073_741_824.0;
/// The share of a drop from which on a burst finds it free again as a drained buffer. Chosen: drives fold at up to 0.6
/// of the rate of their flash.
const DRAINED: f64 = 0.8;
/// Half widths of the levels for that of the cache. Chosen: a drive that folds first writes in steps.
const WIDE: f64 = 1.5;
/// The half width of the rate after a drop, as a share of it, from which nothing is said.
const MOST_UNEVEN: f64 = 0.4;
/// Parts of a fill whose rates are compared.
const LEVEL_WINDOWS: usize = 16;
/// By which share the fastest part of a level fill may be faster than the slowest one. Chosen: above the noise
/// of some hundred bins, below what a slow cache changes.
const LEVEL: f64 = 0.04;
/// The minimum half width of the interval of a rate, as a share. Chosen.
const LEAST_OF_RATE: f64 = 0.02;

/// The course of a load: the duration of each bin in seconds, and its bytes.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Course {
    /// Duration and bytes of each bin, in their order.
    pub bins: Vec<(f64, f64)>,
}

/// A lasting drop of the rate.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Drop {
    /// The bytes before it.
    pub bytes: Value,
    /// The rate before it, in bytes per second.
    pub before: f64,
    /// The rate after it, in bytes per second.
    pub after: f64,
    /// Half width of the 99 % interval of the rate after it.
    pub after_half: f64,
    /// The bytes after it that were written.
    pub bytes_after: f64,
    /// When it came, in seconds.
    pub at_s: f64,
}

impl Course {
    /// Appends the bins of a load that lasted `elapsed_s`, each of `bin_s` but the last.
    pub fn append(&mut self, bytes: &[u64], bin_s: f64, elapsed_s: f64) {
        let last = bytes.len().saturating_sub(1);
        for (index, bytes) in bytes.iter().enumerate() {
            let length = if index < last { bin_s } else { elapsed_s - last as f64 * bin_s };
            match self.bins.last_mut() {
                // A short rest of a bin has no rate of its own.
                Some(before) if length < 0.5 * bin_s => {
                    before.0 += length.max(0.0);
                    before.1 += *bytes as f64;
                }
                Some(_) | None => self.bins.push((length.max(1e-9), *bytes as f64)),
            }
        }
    }

    /// Returns the bytes of all bins.
    pub fn bytes(&self) -> f64 {
        self.bins.iter().map(|bin| bin.1).sum()
    }

    /// Returns the duration of all bins, in seconds.
    pub fn seconds(&self) -> f64 {
        self.bins.iter().map(|bin| bin.0).sum()
    }
}

/// Returns the first lasting drop of the rate of `fill`.
///
/// # Errors
/// The rate does not drop, drops too little, or does not stay low.
pub fn first_drop(fill: &Course) -> Result<Drop, Refusal> {
    let bins = without_later_drops(&fill.bins);
    let mut found = drop_in(bins)?;
    // A drop before the one that explains most of the course comes first.
    for _ in 0..MOST_DROPS {
        let Ok((earlier, split)) = drop_in(&bins[..found.1]) else { break };
        found = (earlier, split);
    }
    Ok(found.0)
}

/// Returns `bins` up to the second drop, where the rate after the first one drops again: a fill through
/// the cache can be followed by a slower one.
fn without_later_drops(mut bins: &[(f64, f64)]) -> &[(f64, f64)] {
    let (least_before, least_after) = LEAST_BINS;
    for _ in 0..MOST_DROPS {
        if bins.len() < least_before + least_after {
            break;
        }
        let split = best_split(bins);
        let Ok((_, later)) = drop_in(&bins[split..]) else { break };
        bins = &bins[..split + later];
    }
    bins
}

/// Returns the rest, in seconds, in which the flash writes all that lies before `drop`, where that may be a large write
/// buffer.
pub fn rest_of_buffer(drop: &Drop) -> Option<f64> {
    let Drop { bytes, before, after, .. } = drop;
    // A buffer drains while it fills.
    let buffer = bytes.value * (1.0 - after / before);
    (buffer <= MOST_MEMORY).then(|| bytes.value / after)
}

/// Checks that a burst after the [`rest_of_buffer`], which found `freed` bytes free, does not find all of `drop` free, as
/// where a write buffer has drained. `None` stands for a burst without an end that shows.
///
/// # Errors
/// It does, or the burst shows nothing.
pub fn is_not_a_buffer(drop: &Drop, freed: Option<f64>) -> Result<(), Refusal> {
    let bytes = drop.bytes.value;
    match freed {
        Some(freed) if freed < DRAINED * bytes => Ok(()),
        Some(freed) => refuse(format!(
            "{} of the {} before the drop are free again after a rest of {:.2} s, as where a write buffer has drained",
            Bytes(freed.min(bytes) as u64).about(),
            Bytes(bytes as u64).about(),
            bytes / drop.after
        )),
        None => refuse(format!(
            "the {} before the drop may be a write buffer: a second burst shows no drop",
            Bytes(bytes as u64).about()
        )),
    }
}

/// Checks that `fill` ran at one rate after a write buffer: neither a cache nor throttling took part.
///
/// # Errors
/// The rate differs between parts of the fill, or the fill is too short.
pub fn level(fill: &Course) -> Result<(), Refusal> {
    let mut written = 0.0;
    let after = fill.bins.iter().position(|bin| {
        written += bin.1;
        written > MOST_BUFFER
    });
    let bins = &fill.bins[after.map_or(fill.bins.len(), |index| index + 1)..];
    if bins.len() < LEVEL_WINDOWS * WINDOWS {
        return refuse(format!("a fill of {} bins is too short to be level", bins.len()));
    }
    let rates: Vec<f64> = bins.chunks_exact(bins.len() / LEVEL_WINDOWS).map(rate).collect();
    let low = rates.iter().copied().fold(f64::MAX, f64::min);
    let high = rates.iter().copied().fold(0.0, f64::max);
    match high > (1.0 + LEVEL) * low {
        true => refuse(format!(
            "parts of the fill ran at {} to {} MB/s, as with a fast cache",
            number(low / 1e6),
            number(high / 1e6)
        )),
        false => Ok(()),
    }
}

/// Returns the rate after `drop` in 10^6 bytes per second.
pub fn native_rate(drop: &Drop) -> Value {
    Value::within(drop.after / 1e6, drop.after_half / 1e6, LEAST_OF_RATE)
}

/// Returns the drop that divides `bins` into two levels best, and the bin at which it comes.
fn drop_in(bins: &[(f64, f64)]) -> Result<(Drop, usize), Refusal> {
    let (least_before, least_after) = LEAST_BINS;
    if bins.len() < least_before + least_after {
        return refuse(format!("a fill of {} bins is too short", bins.len()));
    }
    let split = best_split(bins);
    let (before, after) = bins.split_at(split);
    let (high, low) = (rate(before), rate(after));
    let written = bins.iter().map(|bin| bin.1).sum::<f64>();
    if low <= 0.0 || high < LEAST_RATIO * low {
        return refuse(format!(
            "the rate never drops by {:.0} % or more in {}",
            (1.0 - 1.0 / LEAST_RATIO) * 100.0,
            Bytes(written as u64).about()
        ));
    }
    let middle = 0.5 * (high + low);
    let (rates_before, rates_after) = (windows(before), windows(after));
    let lasts = rates_before.iter().all(|rate| *rate > middle)
        && rates_after.iter().all(|rate| *rate < middle);
    if !lasts {
        return refuse(format!(
            "the rate drops to {} MB/s and does not stay there",
            number(low / 1e6)
        ));
    }
    // Away from the bin in which it drops, each side is at its level.
    let (high, low) = (rate(&before[..split - 1]), rate(&after[1..]));
    let half = |rates: &[f64]| {
        let sigma = summary::sigma(rates).unwrap_or(0.0);
        let t = student::quantile_beyond(0.01, rates.len() as u32 - 1);
        t * sigma / (rates.len() as f64).sqrt()
    };
    let (high_half, low_half) = (half(&rates_before), half(&rates_after));
    let seconds: f64 = bins.iter().map(|bin| bin.0).sum();
    let bytes = cached(written, seconds, high, low);
    let ends = [(1.0, 1.0), (1.0, -1.0), (-1.0, 1.0), (-1.0, -1.0)]
        .map(|(a, b)| cached(written, seconds, high + a * high_half, low + b * low_half));
    let widest = ends.iter().map(|end| (end - bytes).abs()).fold(0.0, f64::max);
    if low_half > MOST_UNEVEN * low {
        return refuse(format!(
            "the rate after the drop is uneven: {} MB/s, {} more or less",
            number(low / 1e6),
            number(low_half / 1e6)
        ));
    }
    let mut value = Value::within(bytes, WIDE * widest, LEAST);
    value.low -= MOST_BUFFER * high / (high - low);
    if value.low <= 0.0 {
        return refuse(format!(
            "the {} before the drop may be a write buffer",
            Bytes(bytes as u64).about()
        ));
    }
    let drop = Drop {
        bytes: value,
        before: high,
        after: low,
        after_half: low_half,
        bytes_after: written - bytes,
        at_s: bytes / high,
    };
    Ok((drop, split))
}

/// Returns the bytes written at `high` where `bytes` in `seconds` were written at two rates.
pub(crate) fn cached(bytes: f64, seconds: f64, high: f64, low: f64) -> f64 {
    (high * (bytes - low * seconds) / (high - low)).clamp(0.0, bytes)
}

/// Returns the rates before and after the drop of `course`, where both sides have more than enough bins.
pub(crate) fn levels(course: &Course) -> Option<(f64, f64)> {
    let bins = &course.bins;
    let (least_before, least_after) = LEAST_BINS;
    if bins.len() < 2 * least_before + least_after {
        return None;
    }
    let split = best_split(bins);
    // Where it is the last one that leaves enough bins after it, the drop may come later.
    let is_inside = split >= 2 * least_before && split + least_after < bins.len();
    let (high, low) = (rate(&bins[..split - 1]), rate(&bins[split + 1..]));
    (is_inside && high > LEAST_RATIO * low).then_some((high, low))
}

/// Returns the split into two levels with the least squared error.
fn best_split(bins: &[(f64, f64)]) -> usize {
    let (least_before, least_after) = LEAST_BINS;
    let rates: Vec<f64> = bins.iter().map(|bin| bin.1 / bin.0).collect();
    let total: f64 = rates.iter().sum();
    let (mut sum, mut best) = (0.0, (f64::MIN, least_before));
    for (index, rate) in rates.iter().enumerate() {
        let (n, rest) = (index as f64, (rates.len() - index) as f64);
        if index >= least_before && index + least_after <= rates.len() {
            // The explained part of the squares: larger is better.
            let explained = sum * sum / n + (total - sum) * (total - sum) / rest;
            if sum / n > (total - sum) / rest && explained > best.0 {
                best = (explained, index);
            }
        }
        sum += rate;
    }
    best.1
}

fn rate(bins: &[(f64, f64)]) -> f64 {
    let seconds: f64 = bins.iter().map(|bin| bin.0).sum();
    bins.iter().map(|bin| bin.1).sum::<f64>() / seconds.max(1e-9)
}

fn windows(bins: &[(f64, f64)]) -> Vec<f64> {
    bins.chunks(bins.len().div_ceil(WINDOWS)).map(rate).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use ssdgauge_core::Random;

    /// A fill of bins of 10 ms at `levels`, each a rate and its seconds.
    fn fill(levels: &[(f64, f64)], noise: f64) -> Course {
        let mut random = Random::new(2, 3);
        let mut course = Course::default();
        for (rate, seconds) in levels {
            for _ in 0..(seconds * 100.0) as usize {
                course.bins.push((0.01, rate * 0.01 * (1.0 + noise * (random.unit() - 0.5))));
            }
        }
        course
    }

    #[test]
    fn the_bytes_before_the_first_lasting_drop_are_the_cache() {
        let drop = first_drop(&fill(&[(3.0e9, 2.0), (0.7e9, 4.0)], 0.3)).unwrap();
        assert!(drop.bytes.contains(6.0e9) && drop.bytes.width() < 0.08, "{drop:?}");
        assert!(native_rate(&drop).contains(700.0), "{drop:?}");
        let three = first_drop(&fill(&[(3.0e9, 2.0), (1.5e9, 2.0), (0.4e9, 5.0)], 0.1)).unwrap();
        assert!(three.bytes.contains(6.0e9), "{three:?}");
    }

    #[test]
    fn a_level_course_a_small_drop_and_one_that_recovers_are_refused() {
        for levels in [
            &[(2.0e9, 5.0)][..],
            &[(2.0e9, 2.0), (1.8e9, 4.0)],
            &[(2.0e9, 2.0), (0.5e9, 1.0), (2.0e9, 2.0), (0.5e9, 1.0), (2.0e9, 2.0)],
            &[(0.5e9, 2.0), (2.0e9, 4.0)],
            &[(2.0e9, 0.1)],
        ] {
            let found = first_drop(&fill(levels, 0.1));
            assert!(found.is_err(), "{levels:?} {found:?}");
        }
    }

    #[test]
    fn a_fill_is_level_where_all_its_parts_run_at_one_rate_after_the_buffer() {
        let found = level(&fill(&[(3.0e9, 0.02), (1.0e9, 4.0)], 0.06));
        assert_eq!(found, Ok(()));
        for levels in [
            &[(1.08e9, 1.0), (1.0e9, 3.0)][..],
            &[(1.0e9, 1.0), (0.8e9, 0.5), (1.0e9, 3.0)],
            &[(1.0e9, 0.5)],
        ] {
            assert!(level(&fill(levels, 0.06)).is_err(), "{levels:?}");
        }
    }

    #[test]
    fn the_levels_of_a_burst_that_ends_shortly_after_its_drop_are_not_stated() {
        let course = |low_s: f64| fill(&[(3.0e9, 1.0), (0.7e9, low_s)], 0.1);
        let (high, low) = levels(&course(0.6)).unwrap();
        assert!((high / 3.0e9 - 1.0).abs() < 0.02 && (low / 0.7e9 - 1.0).abs() < 0.02);
        assert_eq!(levels(&course(0.12)), None);
    }

    #[test]
    fn a_drop_that_drains_in_a_rest_is_not_a_fast_cache() {
        let drop = first_drop(&fill(&[(3.0e9, 0.1), (0.7e9, 4.0)], 0.1)).unwrap();
        let rest_s = rest_of_buffer(&drop).unwrap();
        assert!((rest_s * 0.7e9 / 3.0e8 - 1.0).abs() < 0.05, "{rest_s}");
        assert_eq!(is_not_a_buffer(&drop, Some(0.6 * drop.bytes.value)), Ok(()));
        let drained = is_not_a_buffer(&drop, Some(0.97 * drop.bytes.value)).unwrap_err();
        assert!(drained.0.contains("write buffer has drained"), "{drained:?}");
        assert!(is_not_a_buffer(&drop, None).is_err());
        let large = first_drop(&fill(&[(3.0e9, 2.0), (0.7e9, 4.0)], 0.1)).unwrap();
        assert_eq!(rest_of_buffer(&large), None);
    }

    #[test]
    fn a_short_rest_of_a_bin_joins_the_one_before() {
        let mut course = Course::default();
        course.append(&[100, 100, 20], 0.01, 0.022);
        course.append(&[100], 0.01, 0.01);
        assert_eq!(course.bins.len(), 3);
        assert!((course.seconds() - 0.032).abs() < 1e-9 && course.bytes() == 320.0);
    }
}
