//! Latency histograms with the bucket layout of HdrHistogram (G. Tene), three significant digits.
//!
//! Definition D1 of the handbook: values up to 2,047 ns are exact; above, each octave has 1,024
//! buckets, so the error of a percentile is below 0.1 %. The bucket edges are those of
//! `hdrhistogram::Histogram::new_with_bounds(1, 2^42 - 1, 3)`, so counts convert without loss.
//! Count, sum, minimum and maximum are exact; values above the range are counted separately.

/// The binary logarithm of the buckets per octave: 2^10 = 1,024 is the least power of two for three
/// significant digits.
const OCTAVE_BITS: u32 = 10;
/// The bits of the largest value in the range.
const VALUE_BITS: u32 = 42;
/// The counters of a histogram.
const BUCKETS: usize = ((VALUE_BITS - OCTAVE_BITS) as usize + 1) << OCTAVE_BITS;

/// The largest value that has a bucket, in nanoseconds: about 73 minutes.
pub const MAX_VALUE: u64 = (1 << VALUE_BITS) - 1;

/// Returns the bucket of `value`, which must not exceed [`MAX_VALUE`], without a branch: it runs once
/// per request.
#[inline]
pub(super) fn bucket_of(value: u64) -> usize {
    // Setting the low bits gives values below 2,048 a shift of 0: they are their own bucket.
    let shift = 63 - (value | ((1 << (OCTAVE_BITS + 1)) - 1)).leading_zeros() - OCTAVE_BITS;
    ((shift as usize) << OCTAVE_BITS) + (value >> shift) as usize
}

/// Returns the lowest and the highest value of `bucket`.
fn edges_of(bucket: usize) -> (u64, u64) {
    let octave = (bucket >> OCTAVE_BITS).saturating_sub(1) as u32;
    let low = ((bucket - ((octave as usize) << OCTAVE_BITS)) as u64) << octave;
    (low, low + (1 << octave) - 1)
}

/// The histogram of an I/O thread: 32-bit counters, 132 KiB, no allocation while recording.
///
/// It is drained every second, in which no counter reaches 2^32.
#[derive(Clone, Debug)]
pub struct Recorder {
    counts: Box<[u32; BUCKETS]>,
    count: u64,
    sum: u64,
    min: u64,
    max: u64,
    overflow: u64,
}

impl Default for Recorder {
    fn default() -> Self {
        let counts = vec![0u32; BUCKETS].into_boxed_slice();
        Recorder {
            counts: counts.try_into().expect("the slice has as many counters as the array"),
            count: 0,
            sum: 0,
            min: u64::MAX,
            max: 0,
            overflow: 0,
        }
    }
}

impl Recorder {
    /// Records one value in nanoseconds.
    #[inline]
    pub fn record(&mut self, value: u64) {
        self.count += 1;
        self.sum += value;
        self.min = self.min.min(value);
        self.max = self.max.max(value);
        if value <= MAX_VALUE {
            self.counts[bucket_of(value)] += 1;
        } else {
            self.overflow += 1;
        }
    }

    /// Returns the number of recorded values.
    #[inline]
    pub fn count(&self) -> u64 {
        self.count
    }

    /// Moves all values into `target` and empties this recorder.
    pub fn drain_into(&mut self, target: &mut Histogram) {
        if self.count == 0 {
            return;
        }
        // Only the occupied range is copied and cleared: a second fills a small part of the buckets.
        let first = bucket_of(self.min.min(MAX_VALUE));
        let last = bucket_of(self.max.min(MAX_VALUE));
        let counts = target.counts_mut();
        for (to, from) in counts[first..=last].iter_mut().zip(&mut self.counts[first..=last]) {
            *to += u64::from(*from);
            *from = 0;
        }
        target.count += self.count;
        target.sum += u128::from(self.sum);
        target.min = target.min.min(self.min);
        target.max = target.max.max(self.max);
        target.overflow += self.overflow;
        (self.count, self.sum, self.min, self.max, self.overflow) = (0, 0, u64::MAX, 0, 0);
    }
}

/// A histogram to store, merge and evaluate. An empty one has no counters.
#[derive(Clone, Debug)]
pub struct Histogram {
    /// One counter per bucket, or only those up to the bucket of the maximum.
    counts: Vec<u64>,
    count: u64,
    sum: u128,
    min: u64,
    max: u64,
    overflow: u64,
}

impl Default for Histogram {
    fn default() -> Self {
        Histogram { counts: Vec::new(), count: 0, sum: 0, min: u64::MAX, max: 0, overflow: 0 }
    }
}

impl PartialEq for Histogram {
    fn eq(&self, other: &Self) -> bool {
        let figures = |h: &Histogram| (h.count, h.sum, h.min, h.max, h.overflow);
        figures(self) == figures(other) && self.buckets().eq(other.buckets())
    }
}

impl Histogram {
    fn counts_mut(&mut self) -> &mut [u64] {
        if self.counts.len() < BUCKETS {
            self.counts.resize(BUCKETS, 0);
        }
        &mut self.counts
    }

    /// Records one value in nanoseconds.
    pub fn record(&mut self, value: u64) {
        self.count += 1;
        self.sum += u128::from(value);
        self.min = self.min.min(value);
        self.max = self.max.max(value);
        if value <= MAX_VALUE {
            self.counts_mut()[bucket_of(value)] += 1;
        } else {
            self.overflow += 1;
        }
    }

    /// Returns the histogram of `buckets` (lowest value and count) with its exact figures; `None`
    /// where the figures contradict the buckets.
    pub fn from_parts(
        buckets: impl IntoIterator<Item = (u64, u64)>,
        sum: u128,
        min: u64,
        max: u64,
        overflow: u64,
    ) -> Option<Self> {
        let mut histogram = Histogram { sum, overflow, ..Histogram::default() };
        let mut counted = overflow;
        // Counters above the maximum would stay zero; a report reads many thousands of histograms.
        let counters = bucket_of(max.min(MAX_VALUE)) + 1;
        for (value, n) in buckets {
            if value > MAX_VALUE {
                return None;
            }
            if histogram.counts.is_empty() {
                histogram.counts = vec![0; counters];
            }
            let slot = histogram.counts.get_mut(bucket_of(value))?;
            *slot = slot.checked_add(n)?;
            counted = counted.checked_add(n)?;
        }
        histogram.count = counted;
        if counted > 0 {
            let inside = |value: u64| {
                value > MAX_VALUE || histogram.counts.get(bucket_of(value)).is_some_and(|n| *n > 0)
            };
            if min > max || !inside(min) || !inside(max) {
                return None;
            }
            (histogram.min, histogram.max) = (min, max);
        }
        Some(histogram)
    }

    /// Returns a histogram with these exact figures and without buckets, as
    /// [`Histogram::without_buckets`] does.
    pub fn from_figures(count: u64, sum: u128, min: u64, max: u64, overflow: u64) -> Histogram {
        let min = if count == 0 { u64::MAX } else { min };
        Histogram { counts: Vec::new(), count, sum, min, max, overflow }
    }

    /// Adds all values of `other`. Merging is associative and without loss.
    pub fn merge(&mut self, other: &Histogram) {
        if other.count == 0 {
            return;
        }
        if !other.counts.is_empty() {
            let first = bucket_of(other.min.min(MAX_VALUE));
            let last = bucket_of(other.max.min(MAX_VALUE));
            let counts = &mut self.counts_mut()[first..=last];
            for (to, from) in counts.iter_mut().zip(&other.counts[first..=last]) {
                *to += from;
            }
        }
        self.count += other.count;
        self.sum += other.sum;
        self.min = self.min.min(other.min);
        self.max = self.max.max(other.max);
        self.overflow += other.overflow;
    }

    /// Returns the exact figures without the buckets.
    ///
    /// Mean, minimum and maximum remain; every percentile is `None`. A histogram takes 264 KiB, so
    /// those of an hour of seconds (1 GB) are held in this form.
    pub fn without_buckets(&self) -> Histogram {
        Histogram { counts: Vec::new(), ..*self }
    }

    /// Returns the number of recorded values, those above the range included.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// Returns the exact sum of all values, in nanoseconds.
    pub fn sum(&self) -> u128 {
        self.sum
    }

    /// Returns the exact smallest value, in nanoseconds.
    pub fn min(&self) -> Option<u64> {
        (self.count > 0).then_some(self.min)
    }

    /// Returns the exact largest value, in nanoseconds.
    pub fn max(&self) -> Option<u64> {
        (self.count > 0).then_some(self.max)
    }

    /// Returns the number of values above [`MAX_VALUE`].
    pub fn overflow(&self) -> u64 {
        self.overflow
    }

    /// Returns the exact mean, in nanoseconds.
    pub fn mean(&self) -> Option<f64> {
        (self.count > 0).then(|| self.sum as f64 / self.count as f64)
    }

    /// Returns the percentile of `share`, in nanoseconds: the nearest-rank percentile.
    ///
    /// It is the upper edge of the bucket that contains value number ⌈share × n⌉ (definition D1),
    /// never above the exact maximum. `None` where no value is beyond it, because the sample does
    /// not determine it, and where it is among the values above the range.
    pub fn percentile(&self, share: f64) -> Option<u64> {
        debug_assert!((0.0..=1.0).contains(&share), "a percentile of {share}");
        let rank = (share * self.count as f64).ceil().max(1.0) as u64;
        if rank >= self.count {
            return None;
        }
        self.value_at_rank(rank)
    }

    fn value_at_rank(&self, rank: u64) -> Option<u64> {
        // Sums of stretches first: they need no branch per counter, and a report evaluates hundreds
        // of thousands of histograms.
        const STRETCH: usize = 64;
        let range = self.range();
        let first = range.start;
        let mut seen = 0;
        for (number, stretch) in self.counts[range].chunks(STRETCH).enumerate() {
            let sum: u64 = stretch.iter().sum();
            if seen + sum < rank {
                seen += sum;
                continue;
            }
            for (index, n) in stretch.iter().enumerate() {
                seen += n;
                if seen >= rank {
                    let bucket = first + number * STRETCH + index;
                    return Some(edges_of(bucket).1.min(self.max));
                }
            }
        }
        None
    }

    /// Returns the range from the bucket of the minimum to the bucket of the maximum.
    fn range(&self) -> std::ops::Range<usize> {
        match self.counts.is_empty() {
            true => 0..0,
            false => bucket_of(self.min.min(MAX_VALUE))..bucket_of(self.max.min(MAX_VALUE)) + 1,
        }
    }

    /// Returns each occupied bucket as its lowest value and its count, in ascending order.
    pub fn buckets(&self) -> impl Iterator<Item = (u64, u64)> + '_ {
        self.occupied().map(|(bucket, n)| (edges_of(bucket).0, n))
    }

    /// Returns each occupied bucket with its number and its count, in ascending order.
    pub(super) fn occupied(&self) -> impl Iterator<Item = (usize, u64)> + '_ {
        let range = self.range();
        let first = range.start;
        self.counts[range]
            .iter()
            .enumerate()
            .filter(|(_, n)| **n > 0)
            .map(move |(index, n)| (first + index, *n))
    }

    /// Returns the share of values above `value`, exact to one bucket; `None` without values.
    pub fn share_above(&self, value: u64) -> Option<f64> {
        let above: u64 =
            self.occupied().filter(|(bucket, _)| edges_of(*bucket).0 > value).map(|(_, n)| n).sum();
        (self.count > 0).then(|| (above + self.overflow) as f64 / self.count as f64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;
    use proptest::prelude::*;

    fn of(values: &[u64]) -> Histogram {
        let mut histogram = Histogram::default();
        values.iter().for_each(|value| histogram.record(*value));
        histogram
    }

    #[test]
    fn edges_are_those_of_hdrhistogram() {
        let theirs = hdrhistogram::Histogram::<u64>::new_with_bounds(1, MAX_VALUE, 3).unwrap();
        let mut random = Random::new(5, 0);
        for _ in 0..1_000_000 {
            let value = random.next_u64() >> (22 + random.below(42));
            let (low, high) = edges_of(bucket_of(value));
            assert_eq!(low, theirs.lowest_equivalent(value), "{value}");
            assert_eq!(high, theirs.highest_equivalent(value), "{value}");
        }
        assert_eq!(bucket_of(MAX_VALUE), BUCKETS - 1);
    }

    #[test]
    fn a_percentile_is_within_a_thousandth_of_the_exact_sample() {
        let mut random = Random::new(11, 0);
        let mut values: Vec<u64> =
            (0..200_000).map(|_| (60_000.0 * (random.unit() * 4.0).exp()) as u64).collect();
        let histogram = of(&values);
        values.sort_unstable();
        for share in [0.5, 0.9, 0.99, 0.999, 0.9999] {
            let exact = values[(share * values.len() as f64).ceil() as usize - 1];
            let shown = histogram.percentile(share).unwrap();
            assert!(shown >= exact && (shown - exact) as f64 <= exact as f64 * 0.001);
        }
    }

    #[test]
    fn a_percentile_without_a_sample_beyond_it_is_none() {
        assert_eq!(of(&[]).percentile(0.5), None);
        assert_eq!(of(&[7]).percentile(0.5), None);
        assert_eq!(of(&[7; 99]).percentile(0.99), None);
        assert_eq!(of(&[7; 101]).percentile(0.99), Some(7));
        assert_eq!(of(&[7; 1_000]).percentile(0.9999), None);
    }

    #[test]
    fn values_above_the_range_are_counted_separately() {
        let mut histogram = of(&[100; 98]);
        histogram.record(MAX_VALUE + 5);
        histogram.record(u64::MAX / 2);
        assert_eq!(histogram.overflow(), 2);
        assert_eq!(histogram.max(), Some(u64::MAX / 2));
        assert_eq!(histogram.percentile(0.98), Some(100));
        assert_eq!(histogram.percentile(0.985), None, "it is in the overflow");
    }

    #[test]
    fn a_percentile_never_exceeds_the_exact_maximum() {
        let histogram = of(&[1_000_003; 50]);
        assert_eq!(histogram.percentile(0.9), Some(1_000_003));
    }

    #[test]
    fn without_buckets_the_exact_figures_remain() {
        let whole = of(&[3, 5, 10_000]);
        let figures = whole.without_buckets();
        assert_eq!((figures.count(), figures.sum()), (3, 10_008));
        assert_eq!((figures.min(), figures.max()), (Some(3), Some(10_000)));
        assert_eq!(figures.percentile(0.5), None);
        assert_eq!(figures.buckets().count(), 0);
    }

    #[test]
    fn contradictory_parts_are_refused() {
        assert!(Histogram::from_parts([(100, 1)], 100, 100, 100, 0).is_some());
        assert!(Histogram::from_parts([(100, 1)], 100, 7, 100, 0).is_none());
        assert!(Histogram::from_parts([(MAX_VALUE + 1, 1)], 0, 0, 0, 0).is_none());
        assert!(Histogram::from_parts([(100, u64::MAX), (100, 1)], 0, 100, 100, 0).is_none());
    }

    proptest! {
        #[test]
        fn merging_equals_recording_all(a in values(), b in values(), c in values()) {
            let all = of(&[a.clone(), b.clone(), c.clone()].concat());
            let mut left = of(&a);
            left.merge(&of(&b));
            left.merge(&of(&c));
            let mut right = of(&b);
            right.merge(&of(&c));
            let mut outer = of(&a);
            outer.merge(&right);
            prop_assert_eq!(&left, &all);
            prop_assert_eq!(&outer, &all);
        }

        #[test]
        fn a_drained_recorder_equals_recording(a in values(), b in values()) {
            let mut recorder = Recorder::default();
            let mut target = Histogram::default();
            for part in [&a, &b] {
                part.iter().for_each(|value| recorder.record(*value));
                recorder.drain_into(&mut target);
                prop_assert_eq!(recorder.count(), 0);
            }
            prop_assert_eq!(&target, &of(&[a, b].concat()));
        }

        #[test]
        fn parts_rebuild_the_histogram(a in values()) {
            let histogram = of(&a);
            let (min, max) = (histogram.min().unwrap_or(0), histogram.max().unwrap_or(0));
            let again = Histogram::from_parts(
                histogram.buckets(), histogram.sum(), min, max, histogram.overflow());
            prop_assert_eq!(again, Some(histogram));
        }
    }

    fn values() -> impl Strategy<Value = Vec<u64>> {
        proptest::collection::vec((0u64..1 << 44, 0u32..44).prop_map(|(v, s)| v >> s), 0..200)
    }
}
