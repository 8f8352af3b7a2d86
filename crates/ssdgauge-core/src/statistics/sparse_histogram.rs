//! A histogram without its empty buckets, to hold one for every second of a step.

use crate::statistics::histogram::{Histogram, MAX_VALUE, bucket_of};

/// The occupied buckets of a histogram: a few KiB instead of up to 264, for many seconds at once.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SparseHistogram {
    /// The occupied buckets in ascending order.
    counts: Vec<Occupied>,
    overflow: u64,
}

/// A bucket and its count in eight bytes, since a step has millions of them: the number of the bucket
/// in the upper 16 bits, its count in the lower 48, which a second of 2^44 requests does not reach.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Occupied(u64);

/// The largest count of a bucket: 48 bits.
const MOST: u64 = (1 << 48) - 1;

impl Occupied {
    fn new(bucket: u64, n: u64) -> Occupied {
        Occupied(bucket << 48 | n.min(MOST))
    }

    fn bucket(self) -> u64 {
        self.0 >> 48
    }

    fn n(self) -> u64 {
        self.0 & MOST
    }
}

impl From<&Histogram> for SparseHistogram {
    fn from(histogram: &Histogram) -> SparseHistogram {
        let occupied = histogram.occupied().map(|(bucket, n)| Occupied::new(bucket as u64, n));
        let mut counts: Vec<Occupied> = occupied.collect();
        // Each of the thousands of histograms of a step is kept.
        counts.shrink_to_fit();
        SparseHistogram { counts, overflow: histogram.overflow() }
    }
}

impl SparseHistogram {
    /// Adds all values of `other`.
    pub fn merge(&mut self, other: &SparseHistogram) {
        let mut merged = Vec::with_capacity(self.counts.len() + other.counts.len());
        let mut others = other.counts.iter().copied().peekable();
        for one in self.counts.drain(..) {
            while let Some(before) = others.next_if(|other| other.bucket() < one.bucket()) {
                merged.push(before);
            }
            let same = others.next_if(|other| other.bucket() == one.bucket());
            merged.push(Occupied::new(one.bucket(), one.n() + same.map_or(0, Occupied::n)));
        }
        merged.extend(others);
        merged.shrink_to_fit();
        self.counts = merged;
        self.overflow += other.overflow;
    }

    /// Returns the number of occupied buckets.
    pub fn occupied(&self) -> usize {
        self.counts.len()
    }

    /// Returns the number of values, those above the range included.
    pub fn count(&self) -> u64 {
        self.counts.iter().map(|one| one.n()).sum::<u64>() + self.overflow
    }

    /// Returns the number of values in buckets above that of `value`.
    pub fn above(&self, value: u64) -> u64 {
        let bucket = bucket_of(value.min(MAX_VALUE)) as u64;
        let higher = self.counts.iter().rev().take_while(|one| one.bucket() > bucket);
        higher.map(|one| one.n()).sum::<u64>() + self.overflow
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;

    fn recorded(values: &[u64]) -> Histogram {
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
        let mut sparse = SparseHistogram::from(&recorded(&one));
        sparse.merge(&SparseHistogram::from(&recorded(&two)));
        sparse.merge(&SparseHistogram::from(&recorded(&[MAX_VALUE + 1])));
        let whole = recorded(&[one, two, vec![MAX_VALUE + 1]].concat());
        assert_eq!(sparse, SparseHistogram::from(&whole));
        assert_eq!(sparse.count(), whole.count());
        for value in [1, 900, 20_000, 70_000] {
            let share = sparse.above(value) as f64 / sparse.count() as f64;
            assert_eq!(Some(share), whole.share_above(value), "{value}");
        }
    }
}
