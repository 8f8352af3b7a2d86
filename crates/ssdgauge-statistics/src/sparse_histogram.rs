//! A histogram without its empty buckets, to hold one for every second of a step.

use crate::histogram::{BUCKETS, Histogram, MAX_VALUE, bucket_of};

/// The occupied buckets of a histogram: a few KiB instead of up to 264, for many seconds at once.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SparseHistogram {
    /// The occupied buckets in ascending order.
    counts: Vec<Occupied>,
    /// The number of values, those beyond the buckets included.
    count: u64,
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
        // A count that is too large must not change the number of the bucket.
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
        let occupied = |(bucket, n): (u32, u64)| Occupied::new(u64::from(bucket), n);
        let counts = match histogram.sparse_counts() {
            // Its length is known, so the memory is allocated once.
            Some(counts) => counts.iter().copied().map(occupied).collect(),
            None => {
                let dense = histogram.occupied().map(|(bucket, n)| (bucket as u32, n));
                let mut counts: Vec<Occupied> = dense.map(occupied).collect();
                // Each of the thousands of histograms of a step is kept.
                counts.shrink_to_fit();
                counts
            }
        };
        SparseHistogram::new(counts, histogram.overflow())
    }
}

impl SparseHistogram {
    fn new(counts: Vec<Occupied>, overflow: u64) -> SparseHistogram {
        let count = counts.iter().map(|one| one.n()).sum::<u64>() + overflow;
        SparseHistogram { counts, count, overflow }
    }

    /// Returns the number of occupied buckets.
    pub fn occupied(&self) -> usize {
        self.counts.len()
    }

    /// Returns the number of values.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// Returns the number of values above the bucket of `value`.
    pub fn above(&self, value: u64) -> u64 {
        let bucket = bucket_of(value.min(MAX_VALUE)) as u64;
        let higher = self.counts.partition_point(|one| one.bucket() <= bucket);
        self.counts[higher..].iter().map(|one| one.n()).sum::<u64>() + self.overflow
    }
}

/// A sum of histograms with a counter for every bucket, which is emptied into a sparse one.
#[derive(Clone, Debug)]
pub struct HistogramSum {
    counts: Box<[u64]>,
    /// A bit for each occupied bucket: one slow request lies thousands of empty buckets after the
    /// others.
    occupied: Box<[u64]>,
    /// The number of occupied buckets.
    buckets: usize,
    overflow: u64,
}

impl Default for HistogramSum {
    fn default() -> HistogramSum {
        let zeros = |n: usize| vec![0; n].into_boxed_slice();
        HistogramSum {
            counts: zeros(BUCKETS),
            occupied: zeros(BUCKETS.div_ceil(64)),
            buckets: 0,
            overflow: 0,
        }
    }
}

impl HistogramSum {
    /// Returns the memory of the counters, in bytes.
    pub fn size(&self) -> usize {
        size_of_val(&*self.counts) + size_of_val(&*self.occupied)
    }

    /// Adds the values of `histogram`.
    pub fn add(&mut self, histogram: &Histogram) {
        histogram.occupied().for_each(|(bucket, n)| self.add_bucket(bucket, n));
        self.overflow += histogram.overflow();
    }

    /// Adds the values of a sparse histogram.
    pub fn add_sparse(&mut self, histogram: &SparseHistogram) {
        histogram.counts.iter().for_each(|one| self.add_bucket(one.bucket() as usize, one.n()));
        self.overflow += histogram.overflow;
    }

    /// Adds `n` values, at least one, to a bucket.
    fn add_bucket(&mut self, bucket: usize, n: u64) {
        let count = &mut self.counts[bucket];
        self.buckets += usize::from(*count == 0);
        *count += n;
        self.occupied[bucket / 64] |= 1 << (bucket % 64);
    }

    /// Returns the sum, and begins a new one.
    pub fn take(&mut self) -> SparseHistogram {
        let mut occupied = Vec::with_capacity(std::mem::take(&mut self.buckets));
        for (word, bits) in self.occupied.iter_mut().enumerate() {
            while *bits != 0 {
                let bucket = word * 64 + bits.trailing_zeros() as usize;
                *bits &= *bits - 1;
                let n = std::mem::take(&mut self.counts[bucket]);
                occupied.push(Occupied::new(bucket as u64, n));
            }
        }
        SparseHistogram::new(occupied, std::mem::take(&mut self.overflow))
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
    fn sparse_histograms_count_and_sum_up_like_whole_ones() {
        let mut random = Random::new(5, 0);
        let mut draw = |n: u64| -> Vec<u64> {
            (0..n).map(|_| (1e4 * random.exponential()) as u64 + 1).collect()
        };
        let (one, two) = (draw(500), draw(300));
        let mut sum = HistogramSum::default();
        sum.add(&recorded(&one));
        sum.add_sparse(&SparseHistogram::from(&recorded(&two)));
        sum.add(&recorded(&[MAX_VALUE + 1]));
        let sparse = sum.take();
        assert_eq!(sum.take(), SparseHistogram::default(), "a sum that was taken is empty");
        let whole = recorded(&[one, two, vec![MAX_VALUE + 1]].concat());
        assert_eq!(sparse, SparseHistogram::from(&whole));
        assert_eq!(sparse.count(), whole.count());
        for value in [1, 900, 20_000, 70_000] {
            let share = sparse.above(value) as f64 / sparse.count() as f64;
            assert_eq!(Some(share), whole.share_above(value), "{value}");
        }
    }
}
