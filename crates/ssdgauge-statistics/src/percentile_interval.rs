//! The 95 % interval of a latency percentile over correlated seconds.
//!
//! The share of requests above the percentile is a mean over seconds, so its interval is that of
//! [`low_frequency`]. Its ends are turned into latencies by the distribution of all requests
//! (Woodruff 1952), on the logarithm of the share, which cannot fall below zero. The requests of one
//! second are not independent of each other; an interval that assumes it is far too narrow.

use crate::histogram::Histogram;
use crate::low_frequency;
use crate::sparse_histogram::{HistogramSum, SparseHistogram};

/// The minimum number of seconds with an interval of a percentile. Chosen by simulation.
pub const FEWEST: usize = 60;

/// The minimum number of seconds whose interval is called one of the percentile; from fewer it is called one of
/// what was seen: rare events may be missing, and drives have states that last longer. Chosen on virtual
/// drives, whose percentiles of 400 s are often not those of the hours after them.
pub const REPRESENTATIVE: usize = 3_600;

/// The minimum number of requests beyond an upper end. Chosen.
const FEWEST_BEYOND: f64 = 3.0;

/// The maximum number of stretches that are kept: above it, neighbours are merged. A multiple of the coefficients
/// of the interval, so that merging does not move it, and a limit of the memory.
const MAX_STRETCHES: usize = 2_048;

/// The most occupied buckets of all stretches together, 16 MiB: above it, neighbours are merged too.
/// Chosen: 1,024 for each stretch, since a thousand requests have at most a thousand.
const MAX_BUCKETS: usize = 2_048 * 1_024;

/// The minimum number of stretches after a merge for [`MAX_BUCKETS`]. Chosen: ten for each coefficient.
const FEWEST_STRETCHES: usize = 256;

/// The latencies of a step in stretches of equal length, a second or a power of two of them.
#[derive(Clone, Debug)]
pub struct LatencySeries {
    /// The stretches that are complete.
    stretches: Vec<SparseHistogram>,
    /// The seconds of the next stretch; `None` while each second is one.
    next: Option<HistogramSum>,
    /// The seconds of a stretch.
    length: usize,
    /// The number of seconds taken.
    seconds: usize,
    /// The occupied buckets of all stretches.
    buckets: usize,
}

impl LatencySeries {
    /// Returns an empty series of a step that is expected to take at most `expected` seconds. One that is
    /// longer gives the same intervals, but its stretches are merged on the way.
    pub fn of_seconds(expected: usize) -> LatencySeries {
        let mut length = 1;
        while expected / length >= MAX_STRETCHES {
            length *= 2;
        }
        let next = (length > 1).then(HistogramSum::default);
        LatencySeries { stretches: Vec::new(), next, length, seconds: 0, buckets: 0 }
    }

    /// Takes the latencies of the next second.
    pub fn push(&mut self, second: &Histogram) {
        self.seconds += 1;
        let stretch = match &mut self.next {
            None => SparseHistogram::from(second),
            Some(next) => {
                next.add(second);
                if !self.seconds.is_multiple_of(self.length) {
                    return;
                }
                next.take()
            }
        };
        self.buckets += stretch.occupied();
        self.stretches.push(stretch);
        let n = self.stretches.len();
        let is_large = self.buckets > MAX_BUCKETS && n >= 2 * FEWEST_STRETCHES;
        // Only pairs: a single stretch at the end would have half the length of the others.
        if n.is_multiple_of(2) && (n == MAX_STRETCHES || is_large) {
            self.merge_neighbours();
        }
    }

    fn merge_neighbours(&mut self) {
        let sum = self.next.get_or_insert_default();
        let pairs = self.stretches.chunks(2);
        let merged = pairs.map(|pair| {
            pair.iter().for_each(|one| sum.add_sparse(one));
            sum.take()
        });
        self.stretches = merged.collect();
        self.buckets = self.stretches.iter().map(SparseHistogram::occupied).sum();
        self.length *= 2;
    }

    /// Returns the memory that the stretches take, in bytes.
    pub fn size(&self) -> usize {
        self.buckets * size_of::<u64>()
            + size_of_val(self.stretches.as_slice())
            + self.next.as_ref().map_or(0, HistogramSum::size)
    }

    /// Returns the number of seconds taken.
    pub fn seconds(&self) -> usize {
        self.seconds
    }

    /// Returns both ends of the 95 % interval of the percentile of each of `shares` of `all`, the
    /// latencies of the whole step, in nanoseconds; the upper one is `None` where fewer than 3 requests
    /// lie beyond it.
    ///
    /// `None` below [`FEWEST`] seconds, and where the percentile itself is.
    pub fn intervals(&self, all: &Histogram, shares: &[f64]) -> Vec<Option<(u64, Option<u64>)>> {
        // A shorter last stretch is not among them.
        let whole = &self.stretches;
        let is_enough = self.seconds >= FEWEST && whole.len() >= FEWEST;
        let value = |share: &f64| all.percentile(*share).filter(|_| is_enough);
        let values: Vec<Option<u64>> = shares.iter().map(value).collect();
        // The stretches of a step exceed the caches of a processor: each is fetched once for all shares.
        let mut above = vec![Vec::new(); shares.len()];
        for stretch in whole {
            for (value, above) in values.iter().zip(&mut above) {
                above.extend(value.map(|value| stretch.above(value) as f64));
            }
        }
        let each = shares.iter().zip(values).zip(above);
        each.map(|((share, value), above)| self.interval(all, *share, value?, &above)).collect()
    }

    /// Returns the interval of the percentile `value` of `share`, which so many requests of each stretch
    /// lie `above`.
    fn interval(
        &self,
        all: &Histogram,
        share: f64,
        value: u64,
        above: &[f64],
    ) -> Option<(u64, Option<u64>)> {
        let whole = &self.stretches;
        let requests: f64 = whole.iter().map(|stretch| stretch.count() as f64).sum();
        let exceeded = above.iter().sum::<f64>() / requests;
        let each = requests / whole.len() as f64;
        // The share as a ratio of sums: seconds with more requests count more.
        let shares: Vec<f64> = above
            .iter()
            .zip(whole)
            .map(|(above, stretch)| (above - exceeded * stretch.count() as f64) / each)
            .collect();
        // The half-width as a part of the share: that of its logarithm, to the first order.
        let spread = (low_frequency::half(&shares) / (1.0 - share)).exp();
        let at = |exceedance: f64| all.percentile((1.0 - exceedance).max(0.0));
        // A larger share above is a lower latency: the ends change places.
        let low = at((1.0 - share) * spread)?;
        let beyond = (1.0 - share) / spread;
        let high = at(beyond).filter(|_| beyond * all.count() as f64 >= FEWEST_BEYOND);
        Some((low.min(value), high.map(|high| high.max(value))))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;

    fn interval(series: &LatencySeries, all: &Histogram, share: f64) -> Option<(u64, Option<u64>)> {
        series.intervals(all, &[share])[0]
    }

    /// Returns the seconds of a drive whose latencies change slowly, and all of them together.
    fn step(seconds: usize, phi: f64, random: &mut Random) -> (LatencySeries, Histogram) {
        let mut normal = || (0..12).map(|_| random.unit()).sum::<f64>() - 6.0;
        let (mut series, mut all) = (LatencySeries::of_seconds(seconds), Histogram::default());
        let mut level = normal();
        for _ in 0..seconds {
            level = phi * level + (1.0 - phi * phi).sqrt() * normal();
            let mut second = Histogram::default();
            (0..40)
                .for_each(|_| second.record((1e5 * (0.2 * level + 0.2 * normal()).exp()) as u64));
            series.push(&second);
            all.merge(&second);
        }
        (series, all)
    }

    #[test]
    fn intervals_of_percentiles_contain_the_truth_although_seconds_are_correlated() {
        // ln of a latency is normal with σ = √(0.2² + 0.2²); 1.2816 is its 90 % quantile.
        let truth = 1e5 * (1.2816f64 * 0.08f64.sqrt()).exp();
        let mut random = Random::new(21, 0);
        let held = (0..60)
            .filter(|_| {
                let (series, all) = step(100, 0.8, &mut random);
                let (low, high) = interval(&series, &all, 0.9).unwrap();
                (low as f64) <= truth && truth <= high.unwrap() as f64
            })
            .count();
        assert!(held >= 54, "{held} of 60");
    }

    #[test]
    fn short_steps_and_rare_tails_have_no_interval() {
        let mut random = Random::new(22, 0);
        let (series, all) = step(59, 0.0, &mut random);
        assert_eq!(interval(&series, &all, 0.9), None);
        let (series, all) = step(100, 0.0, &mut random);
        let (low, high) = interval(&series, &all, 0.999).unwrap();
        assert!(low <= all.percentile(0.999).unwrap());
        assert_eq!(high, None, "4 of 4,000 requests exceed the percentile, fewer its upper end");
        assert_eq!(interval(&series, &all, 0.99999), None, "the percentile itself is not known");
    }

    #[test]
    fn long_steps_are_kept_in_bounded_memory_whether_their_length_was_expected_or_not() {
        let mut all = Histogram::default();
        let mut of_expected = [0, 60, 9_001].map(LatencySeries::of_seconds);
        for second in 0..9_001u64 {
            let mut histogram = Histogram::default();
            (0..3).for_each(|n| histogram.record(1_000 + (second * 7 + n) % 500));
            all.merge(&histogram);
            of_expected.iter_mut().for_each(|series| series.push(&histogram));
        }
        let expected = interval(&of_expected[0], &all, 0.5);
        assert!(expected.is_some());
        for series in &of_expected {
            assert!(series.stretches.len() < MAX_STRETCHES, "{}", series.stretches.len());
            assert_eq!((series.seconds(), series.length), (9_001, 8));
            let kept: u64 = series.stretches.iter().map(SparseHistogram::count).sum();
            assert_eq!(kept, 3 * 9_000, "all but the second of a stretch that is not complete");
            assert_eq!(interval(series, &all, 0.5), expected);
        }
    }
}
