//! Folding rate: what a burst finds free in the fast cache again, against the rest before it.

use crate::answer::{Identified, Value, refuse};
use crate::cache::{Course, Drop, cached, levels};
use ssdgauge_core::Bytes;
use ssdgauge_statistics::fit;

/// A rest and the burst after it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Burst {
    /// The rest, in seconds.
    pub rest_s: f64,
    /// The bytes that the cache took, beyond what the rate after it explains.
    pub bytes: f64,
}

/// The share of the cache up to which a burst counts: beyond it, the rest may have been longer than needed.
const FULL: f64 = 0.75;
/// The bursts that are needed.
const LEAST_BURSTS: usize = 4;
/// The share of the cache that has to be found free at least.
const LEAST_FREE: f64 = 0.04;
/// The minimum half width of the interval, as a share. Chosen: rates of bursts are some per cent uncertain, and
/// errors of single bursts add up in sums.
const LEAST: f64 = 0.1;
/// Half width of the interval in standard errors. Chosen: the bytes that are freed come in superblocks, so
/// errors are not normal.
const WIDE: f64 = 4.0;
/// The half width of the interval, as a share, from which nothing is said.
const MOST_UNEVEN: f64 = 0.3;
/// The bursts that are needed for their sums.
const LEAST_SUMS: usize = 6;
/// The share of the cache below which a burst found nothing free.
const NOTHING: f64 = 0.05;
/// Bursts after rests that are shorter than so many delays before folding do not count: they found nothing free.
const BEYOND_DELAY: f64 = 1.3;
/// The maximum number of times that the delay is estimated again without such bursts.
const MOST_TURNS: usize = 4;
/// The share of the rate of bursts that an idle rate has at least, or nothing is said. Chosen.
const LEAST_SHARE: f64 = 0.6;
/// The parts of writes after a light load. Chosen: one is shorter than what a second of folding frees.
const PARTS: usize = 20;
/// Rests between one that frees nothing and one that frees too much, as a ratio, up to which there may be one
/// between them.
const APART: f64 = 1.1;

/// Returns the bytes of `burst` that the cache took, where it was `full` again at its end: the rate of its last
/// quarter is that beyond the cache. `None` where it was not.
pub fn recovered(burst: &Course, full: &Drop) -> Option<f64> {
    let last = burst.bins.len().checked_sub((burst.bins.len() / 4).max(8))?;
    let (bytes, seconds) =
        burst.bins[last..].iter().fold((0.0, 0.0), |sum, bin| (sum.0 + bin.1, sum.1 + bin.0));
    let middle = 0.5 * (full.before + full.after);
    let is_full = bytes / seconds < 0.5 * (full.after + middle);
    // Where the rates are close to each other, a small change of one since the fill moves the bytes by much.
    let (high, low) = levels(burst).unwrap_or((full.before, full.after));
    is_full.then(|| cached(burst.bytes(), burst.seconds(), high, low))
}

/// Returns whether a part of `writes` after a light load, which left the drive no rest, ran at the rate before `full`: the
/// cache is emptied under load as well. The first part is that of the write buffer.
pub fn folds_under_load(writes: &Course, full: &Drop) -> bool {
    let middle = 0.5 * (full.before + full.after);
    let parts = writes.bins.chunks(writes.bins.len().div_ceil(PARTS).max(1));
    parts.skip(1).any(|part| {
        let (seconds, bytes) =
            part.iter().fold((0.0, 0.0), |sum, bin| (sum.0 + bin.0, sum.1 + bin.1));
        bytes > middle * seconds
    })
}

/// Returns the folding rate of an idle drive in 10^6 bytes per second, from bursts into the cache before `full`.
///
/// A drive that folds under load frees room for a burst while it takes it. Where it does, or where that is not known, the
/// interval has the rate of one that folds as fast then as at rest: r ÷ (1 + r ÷ rate of the burst).
///
/// # Errors
/// Too little of the cache became free, the bytes do not grow evenly with the rest, or folding under load may explain too
/// much of them.
pub fn find(bursts: &[Burst], full: &Drop, under_load: Option<bool>) -> Identified {
    let seen = by_rests(bursts, full.bytes.value)?;
    let low = match under_load {
        Some(false) => seen.low,
        Some(true) | None => seen.low / (1.0 + seen.low * 1e6 / full.before),
    };
    match low < LEAST_SHARE * seen.value {
        true => refuse("the drive empties its cache under load as well, which adds to each burst"),
        false => Ok(Value { low, ..seen }),
    }
}

/// Returns the rate at which bursts into a cache of `cache_bytes` find more of it free with the rest before them.
fn by_rests(bursts: &[Burst], cache_bytes: f64) -> Identified {
    let most = bursts.iter().map(|burst| burst.bytes).fold(0.0, f64::max);
    let longest = bursts.iter().map(|burst| burst.rest_s).fold(0.0, f64::max);
    if most < LEAST_FREE * cache_bytes {
        return refuse(format!(
            "after a rest of {longest:.0} s, {} of the cache were free again",
            Bytes(most as u64).about()
        ));
    }
    let parts: Vec<(f64, f64)> = bursts
        .iter()
        .filter(|burst| burst.bytes < FULL * cache_bytes)
        .map(|burst| (burst.rest_s, burst.bytes))
        .collect();
    let (one_by_one, sums) = (by_bursts(&parts, most), by_sums(&parts));
    let half = |rate: &(f64, f64)| rate.1;
    let rate = [one_by_one, sums].into_iter().flatten().min_by(|a, b| half(a).total_cmp(&half(b)));
    let Some((slope, half)) = rate else {
        return refuse(format!("{} bursts found a part of the cache free", parts.len()));
    };
    if slope <= 0.0 || half > MOST_UNEVEN * slope {
        return refuse("the free part of the cache does not grow evenly with the rest");
    }
    Ok(Value::within(slope / 1e6, half / 1e6, LEAST))
}

/// Returns the rate by the bytes of each of `parts`, bursts that found up to `most` bytes free, with its half
/// width.
fn by_bursts(parts: &[(f64, f64)], most: f64) -> Option<(f64, f64)> {
    let points: Vec<(f64, f64)> =
        parts.iter().copied().filter(|point| point.1 > 0.1 * most).collect();
    if points.len() < LEAST_BURSTS {
        return None;
    }
    let line = fit::line(&points)?;
    let mean = points.iter().map(|point| point.0).sum::<f64>() / points.len() as f64;
    let xx: f64 = points.iter().map(|point| (point.0 - mean).powi(2)).sum();
    let error = |point: &(f64, f64)| point.1 - line.intercept - line.slope * point.0;
    let squares: f64 = points.iter().map(|point| error(point).powi(2)).sum();
    let sigma = (squares / (points.len() - 2) as f64).sqrt();
    Some((line.slope, WIDE * sigma / xx.sqrt()))
}

/// Returns the rate by the sums of rests and bytes up to each of `parts`, with its half width.
///
/// A superblock that is folded in part at the end of a rest is freed by the next one. Such a rest belongs to the
/// bytes of one burst more, so errors of single bursts are as large as a superblock, and those of sums are no
/// larger. A delay before folding is lost in each rest, so the sums grow with the number of rests as well.
fn by_sums(parts: &[(f64, f64)]) -> Option<(f64, f64)> {
    let mut points = parts.to_vec();
    for _ in 0..MOST_TURNS {
        let (slope, half, delay_s) = line_of_sums(&points)?;
        let before = points.len();
        points.retain(|point| point.0 >= BEYOND_DELAY * delay_s);
        if points.len() == before || slope <= 0.0 {
            return Some((slope, half));
        }
    }
    None
}

/// Returns the rate, its half width and the delay of each rest, by the sums of `points`.
fn line_of_sums(points: &[(f64, f64)]) -> Option<(f64, f64, f64)> {
    if points.len() < LEAST_SUMS {
        return None;
    }
    let (mut rests, mut bytes) = (Vec::new(), Vec::new());
    let (mut rest, mut byte) = (0.0, 0.0);
    for (number, point) in points.iter().enumerate() {
        rest += point.0;
        byte += point.1;
        rests.push((number as f64, rest));
        bytes.push((number as f64, byte));
    }
    let steps = [fit::line(&rests)?.slope, fit::line(&bytes)?.slope];
    let (rests, bytes) = (beyond_line(&rests)?, beyond_line(&bytes)?);
    let xx: f64 = rests.iter().map(|rest| rest * rest).sum();
    let slope = rests.iter().zip(&bytes).map(|(rest, byte)| rest * byte).sum::<f64>() / xx;
    let errors = rests.iter().zip(&bytes).map(|(rest, byte)| byte - slope * rest);
    let squares: f64 = errors.map(|error| error * error).sum();
    let sigma = (squares / (points.len() - 3) as f64).sqrt();
    (xx > 0.0).then(|| (slope, WIDE * sigma / xx.sqrt(), steps[0] - steps[1] / slope))
}

/// Returns by how much each of `points` lies above their line.
fn beyond_line(points: &[(f64, f64)]) -> Option<Vec<f64>> {
    let line = fit::line(points)?;
    Some(points.iter().map(|point| point.1 - line.intercept - line.slope * point.0).collect())
}

/// Returns a rest between those that free nothing and those that free too much of a cache of `cache_bytes`, where
/// no burst of `bursts` found a part of it free.
pub fn rest_between(bursts: &[Burst], cache_bytes: f64) -> Option<f64> {
    if bursts.iter().any(|burst| is_part(burst, cache_bytes)) {
        return None;
    }
    let is_full = |burst: &&Burst| burst.bytes >= FULL * cache_bytes;
    let full = bursts.iter().filter(is_full).map(|burst| burst.rest_s).fold(f64::MAX, f64::min);
    let below = bursts.iter().map(|burst| burst.rest_s).filter(|rest_s| *rest_s < full);
    let empty = below.fold(0.0, f64::max);
    (full < f64::MAX && full > APART * empty).then_some(0.5 * (empty + full))
}

/// Returns the rest that frees about `share` of a cache of `cache_bytes`, by the bursts so far, up to the longest
/// of their rests; `None` where none of them found a part of it free.
pub fn rest_for(bursts: &[Burst], cache_bytes: f64, share: f64) -> Option<f64> {
    let parts = bursts.iter().filter(|burst| is_part(burst, cache_bytes));
    let points: Vec<(f64, f64)> = parts.map(|burst| (burst.rest_s, burst.bytes)).collect();
    let (rest_s, bytes) = points.last().copied()?;
    let line = fit::line(&points).filter(|line| line.slope > 0.0);
    let rest_s = match line {
        Some(line) => (share * cache_bytes - line.intercept) / line.slope,
        None => rest_s * share * cache_bytes / bytes,
    };
    let longest = bursts.iter().map(|burst| burst.rest_s).fold(0.0, f64::max);
    let shortest = bursts.iter().map(|burst| burst.rest_s).fold(f64::MAX, f64::min);
    Some(rest_s.clamp(shortest, longest))
}

/// Returns whether `burst` found a part of the cache free, neither nothing nor nearly all of it.
fn is_part(burst: &Burst, cache_bytes: f64) -> bool {
    (NOTHING * cache_bytes..FULL * cache_bytes).contains(&burst.bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bursts(rate: f64, cache: f64, quantum: f64) -> Vec<Burst> {
        [1.0, 2.0, 4.0, 8.0, 5.0, 7.0, 16.0]
            .map(|rest_s: f64| Burst {
                rest_s,
                bytes: ((rate * rest_s / quantum).floor() * quantum).min(cache),
            })
            .to_vec()
    }

    #[test]
    fn the_slope_is_the_rate_although_superblocks_are_freed_as_a_whole() {
        let found = by_rests(&bursts(300e6, 4e9, 80e6), 4e9).unwrap();
        assert!(found.contains(300.0), "{found:?}");
        assert!(by_rests(&bursts(1e6, 4e9, 1e6), 4e9).is_err());
    }

    /// Bursts of a drive that folds 300 MB/s after a delay of half a second and frees superblocks of `quantum`,
    /// of which one that is folded in part is freed by the next rest.
    fn carried(rests_s: &[f64], cache: f64, quantum: f64) -> Vec<Burst> {
        let mut folded = 0.4 * quantum;
        let burst = |rest_s: &f64| {
            folded += 300e6 * (rest_s - 0.5);
            let bytes = ((folded / quantum).floor() * quantum).min(cache);
            folded -= bytes;
            Burst { rest_s: *rest_s, bytes }
        };
        rests_s.iter().map(burst).collect()
    }

    #[test]
    fn sums_of_bursts_give_the_rate_where_superblocks_are_large_against_the_cache() {
        let rests = [9.0, 9.0, 9.0, 4.0, 4.0, 4.0, 4.0, 9.0, 9.0, 4.0, 4.0, 6.0];
        for quantum in [200e6, 450e6] {
            let found = by_rests(&carried(&rests, 4e9, quantum), 4e9).unwrap();
            assert!(found.contains(300.0) && found.width() < 0.5, "{quantum} {found:?}");
        }
    }

    #[test]
    fn a_drive_that_folds_under_load_has_its_idle_rate_within_the_interval() {
        let (idle, before) = (400e6, 1.3e9);
        let full = Drop {
            bytes: Value::exact(4e9),
            before,
            after: 5e8,
            after_half: 0.0,
            bytes_after: 2e9,
            at_s: 3.0,
        };
        for loaded in [0.0, 200e6, 300e6, 400e6] {
            // Free are the bytes of the rest, and those of the burst itself.
            let grown = |rest_s: f64| idle * rest_s / (1.0 - loaded / before);
            let bursts =
                [1.0, 2.0, 3.0, 4.0, 5.0].map(|rest_s| Burst { rest_s, bytes: grown(rest_s) });
            // A second of a light load, and writes of three seconds after it.
            let fast = (loaded / before * 100.0) as usize;
            let slow = |bins: usize| vec![(0.01, full.after * 0.01); bins];
            let bins = [slow(30), vec![(0.01, before * 0.01); fast], slow(270)];
            let writes = Course { bins: bins.concat() };
            let under_load = folds_under_load(&writes, &full);
            assert_eq!(under_load, loaded >= 200e6, "{loaded}");
            for under_load in [Some(under_load), None] {
                let found = find(&bursts, &full, under_load);
                assert!(found.is_ok() || loaded >= 300e6, "{loaded} {found:?}");
                assert!(found.is_err() || found.is_ok_and(|found| found.contains(400.0)));
            }
        }
    }

    #[test]
    fn rests_are_chosen_so_that_a_part_of_the_cache_is_free() {
        let steps = [(3.0, 0.0), (6.0, 4e9)].map(|(rest_s, bytes)| Burst { rest_s, bytes });
        assert_eq!(rest_between(&steps, 4e9), Some(4.5));
        assert_eq!(rest_for(&steps, 4e9, 0.5), None);
        let parts = carried(&[4.5, 9.0], 4e9, 1e6);
        assert_eq!(rest_between(&parts, 4e9), None);
        let rest_s = rest_for(&parts, 4e9, 0.5).unwrap();
        assert!((rest_s - 0.5 - 2e9 / 300e6).abs() < 0.1, "{rest_s}");
    }

    #[test]
    fn a_burst_counts_where_its_end_is_beyond_the_cache() {
        let full = Drop {
            bytes: Value::exact(1.0),
            before: 2e9,
            after: 5e8,
            after_half: 0.0,
            bytes_after: 0.0,
            at_s: 0.0,
        };
        let course = |high: usize, low: usize| Course {
            bins: [vec![(0.01, 2e7); high], vec![(0.01, 5e6); low]].concat(),
        };
        let found = recovered(&course(20, 40), &full).unwrap();
        assert!((found - 4e8).abs() < 1e3, "{found}");
        assert_eq!(recovered(&course(40, 2), &full), None);
    }
}
