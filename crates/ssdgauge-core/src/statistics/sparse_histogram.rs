//! A histogram without its empty buckets, to hold one for every second of a step.

use crate::statistics::histogram::{Histogram, MAX_VALUE, bucket_of};

/// The occupied buckets of a histogram: a few KiB instead of up to 264, for many seconds at once.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SparseHistogram {
    /// The bucket and its count, in ascending order of the bucket.
    counts: Vec<(u32, u64)>,
    overflow: u64,
}

impl From<&Histogram> for SparseHistogram {
    fn from(histogram: &Histogram) -> SparseHistogram {
        let counts = histogram.occupied().map(|(bucket, n)| (bucket as u32, n)).collect();
        SparseHistogram { counts, overflow: histogram.overflow() }
    }
}

impl SparseHistogram {
    /// Adds all values of `other`.
    pub fn merge(&mut self, other: &SparseHistogram) {
        let mut merged = Vec::with_capacity(self.counts.len().max(other.counts.len()));
        let mut others = other.counts.iter().copied().peekable();
        for (bucket, n) in self.counts.drain(..) {
            while let Some(before) = others.next_if(|(place, _)| *place < bucket) {
                merged.push(before);
            }
            let same = others.next_if(|(place, _)| *place == bucket);
            merged.push((bucket, n + same.map_or(0, |(_, n)| n)));
        }
        merged.extend(others);
        self.counts = merged;
        self.overflow += other.overflow;
    }

    /// Returns the number of values, those above the range included.
    pub fn count(&self) -> u64 {
        self.counts.iter().map(|(_, n)| n).sum::<u64>() + self.overflow
    }

    /// Returns the number of values in buckets above that of `value`.
    pub fn above(&self, value: u64) -> u64 {
        let bucket = bucket_of(value.min(MAX_VALUE)) as u32;
        let higher = self.counts.iter().rev().take_while(|(place, _)| *place > bucket);
        higher.map(|(_, n)| n).sum::<u64>() + self.overflow
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;

    fn of(values: &[u64]) -> Histogram {
        let mut histogram = Histogram::default();
        values.iter().for_each(|value| histogram.record(*value));
        histogram
    }

    #[test]
    fn a_sparse_histogram_counts_and_merges_like_a_whole_one() {
        let mut random = Random::new(5, 0);
        let mut draw = |n: u64| -> Vec<u64> {
            (0..n).map(|_| (1e4 * random.exponential()) as u64 + 1).collect()
        };
        let (one, two) = (draw(500), draw(300));
        let mut sparse = SparseHistogram::from(&of(&one));
        sparse.merge(&SparseHistogram::from(&of(&two)));
        sparse.merge(&SparseHistogram::from(&of(&[MAX_VALUE + 1])));
        let whole = of(&[one, two, vec![MAX_VALUE + 1]].concat());
        assert_eq!(sparse, SparseHistogram::from(&whole));
        assert_eq!(sparse.count(), whole.count());
        for value in [1, 900, 20_000, 70_000] {
            let share = sparse.above(value) as f64 / sparse.count() as f64;
            assert_eq!(Some(share), whole.share_above(value), "{value}");
        }
    }
}
