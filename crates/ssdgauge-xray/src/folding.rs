//! Folding rate: what a burst finds free in the fast cache again, against the rest before it.

use crate::answer::{Identified, Value, refuse};
use crate::cache::{Course, Drop, cached, levels};
use ssdgauge_core::statistics::fit;

/// A rest and the burst behind it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Burst {
    /// The rest, in seconds.
    pub rest_s: f64,
    /// The bytes that the cache took, beyond what the rate behind it explains.
    pub bytes: f64,
}

/// The share of the cache up to which a burst counts: beyond it, the rest may have been longer than needed.
const FULL: f64 = 0.75;
/// The bursts that are needed.
const LEAST_BURSTS: usize = 4;
/// The share of the cache that has to be found free at least.
const LEAST_FREE: f64 = 0.04;
/// The least half width of the interval, as a share. Chosen.
const LEAST: f64 = 0.04;
/// Half width of the interval in standard errors. Chosen: the bytes that are freed come in superblocks, so
/// errors are not normal.
const WIDE: f64 = 4.0;

/// Returns the bytes of `burst` that the cache took, where it was `full` again at its end: the rate of its last
/// quarter is that behind the cache. `None` where it was not.
pub fn recovered(burst: &Course, full: &Drop) -> Option<f64> {
    let last = burst.bins.len().checked_sub((burst.bins.len() / 4).max(8))?;
    let (bytes, seconds) =
        burst.bins[last..].iter().fold((0.0, 0.0), |sum, bin| (sum.0 + bin.1, sum.1 + bin.0));
    let middle = 0.5 * (full.before + full.behind);
    let is_full = bytes / seconds < 0.5 * (full.behind + middle);
    // Where the rates are close to each other, a small change of one since the fill moves the bytes by much.
    let (high, low) = levels(burst).unwrap_or((full.before, full.behind));
    is_full.then(|| cached(burst.bytes(), burst.seconds(), high, low))
}

/// Returns the folding rate of an idle drive in 10^6 bytes per second, from bursts into a cache of
/// `cache_bytes`.
///
/// # Errors
/// Too little of the cache became free, or the bytes do not grow evenly with the rest.
pub fn find(bursts: &[Burst], cache_bytes: f64) -> Identified {
    let most = bursts.iter().map(|burst| burst.bytes).fold(0.0, f64::max);
    let longest = bursts.iter().map(|burst| burst.rest_s).fold(0.0, f64::max);
    if most < LEAST_FREE * cache_bytes {
        return refuse(format!(
            "after a rest of {longest:.0} s, {:.0} MB of the cache were free again",
            most / 1e6
        ));
    }
    let points: Vec<(f64, f64)> = bursts
        .iter()
        .filter(|burst| burst.bytes < FULL * cache_bytes && burst.bytes > 0.1 * most)
        .map(|burst| (burst.rest_s, burst.bytes))
        .collect();
    let (Some(line), true) = (fit::line(&points), points.len() >= LEAST_BURSTS) else {
        return refuse(format!("{} bursts found a part of the cache free", points.len()));
    };
    let mean = points.iter().map(|point| point.0).sum::<f64>() / points.len() as f64;
    let xx: f64 = points.iter().map(|point| (point.0 - mean).powi(2)).sum();
    let error = |point: &(f64, f64)| point.1 - line.intercept - line.slope * point.0;
    let squares: f64 = points.iter().map(|point| error(point).powi(2)).sum();
    let sigma = (squares / (points.len() - 2) as f64).sqrt();
    let half = WIDE * sigma / xx.sqrt();
    if line.slope <= 0.0 || half > 0.3 * line.slope {
        return refuse("the free part of the cache does not grow evenly with the rest");
    }
    Ok(Value::within(line.slope / 1e6, half / 1e6, LEAST))
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
        let found = find(&bursts(300e6, 4e9, 80e6), 4e9).unwrap();
        assert!(found.contains(300.0), "{found:?}");
        assert!(find(&bursts(1e6, 4e9, 1e6), 4e9).is_err());
    }

    #[test]
    fn a_burst_counts_where_its_end_is_behind_the_cache() {
        let full = Drop {
            bytes: Value::exact(1.0),
            before: 2e9,
            behind: 5e8,
            behind_half: 0.0,
            bytes_behind: 0.0,
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
