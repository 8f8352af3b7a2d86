//! Latency histograms with the bucket layout of HdrHistogram (G. Tene), three significant digits.
//!
//! Definition D1 of docs/reference/definitions.md: values up to 2,047 ns are exact; above, each octave has 1,024
//! buckets, so the error of a percentile is below 0.1 %. The bucket edges are those of
//! `hdrhistogram::Histogram::new_with_bounds(1, 2^42 - 1, 3)`, so counts convert without loss.
//! Count, sum, minimum and maximum are exact; values above the range are counted separately.

/// The binary logarithm of the buckets per octave: 2^10 = 1,024 is the smallest power of two for three
/// significant digits.
const OCTAVE_BITS: u32 = 10;
/// The bits of the largest value in the range.
const VALUE_BITS: u32 = 42;
/// The counters of a histogram.
pub(crate) const BUCKETS: usize = ((VALUE_BITS - OCTAVE_BITS) as usize + 1) << OCTAVE_BITS;

/// The largest value that has a bucket, in nanoseconds: about 73 minutes.
pub const MAX_VALUE: u64 = (1 << VALUE_BITS) - 1;

/// Returns the bucket of `value`, which must not exceed [`MAX_VALUE`], without a branch: it runs once
/// per request.
#[inline]
pub(crate) fn bucket_of(value: u64) -> usize {
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
    // Does not overflow: of the requests that complete within one second, only those in flight or due at
    // its start can have taken longer.
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
        target.add_sum(u128::from(self.sum));
        target.min = target.min.min(self.min);
        target.max = target.max.max(self.max);
        target.overflow += self.overflow;
        (self.count, self.sum, self.min, self.max, self.overflow) = (0, 0, u64::MAX, 0, 0);
    }
}

/// A histogram to store, merge and evaluate. An empty one has no counters.
#[derive(Clone, Debug)]
pub struct Histogram {
    counts: Counts,
    count: u64,
    /// The sum as two words, the lower one first: a `u128` would make each of the many histograms of a
    /// report 16 bytes larger.
    sum: [u64; 2],
    min: u64,
    max: u64,
    overflow: u64,
}

/// The counters of a histogram.
#[derive(Clone, Debug)]
enum Counts {
    /// One counter per bucket, or none: the form that values are added to.
    Dense(Box<[u64]>),
    /// The occupied buckets, each with its count, in ascending order: the form that is kept.
    Sparse(Box<[(u32, u64)]>),
    /// No buckets, but percentiles that another program computed from its own: each in percent, with its
    /// value.
    Stated(Box<[(f64, u64)]>),
}

impl Default for Histogram {
    fn default() -> Self {
        Histogram::from_figures(0, 0, u64::MAX, 0, 0)
    }
}

impl PartialEq for Histogram {
    fn eq(&self, other: &Self) -> bool {
        let figures = |h: &Histogram| (h.count, h.sum, h.min, h.max, h.overflow);
        figures(self) == figures(other)
            && self.buckets().eq(other.buckets())
            && self.stated() == other.stated()
    }
}

impl Histogram {
    fn counts_mut(&mut self) -> &mut [u64] {
        let is_dense = matches!(&self.counts, Counts::Dense(counts) if !counts.is_empty());
        if !is_dense {
            let mut counts = vec![0; BUCKETS].into_boxed_slice();
            self.occupied().for_each(|(bucket, n)| counts[bucket] = n);
            self.counts = Counts::Dense(counts);
        }
        match &mut self.counts {
            Counts::Dense(counts) => counts,
            Counts::Sparse(_) | Counts::Stated(_) => {
                unreachable!("the counters were made dense above")
            }
        }
    }

    fn add_sum(&mut self, more: u128) {
        self.sum = words(self.sum() + more);
    }

    /// Records one value in nanoseconds.
    pub fn record(&mut self, value: u64) {
        self.count += 1;
        self.add_sum(u128::from(value));
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
        let numbered =
            |(value, n): (u64, u64)| (value <= MAX_VALUE).then(|| (bucket_of(value) as u32, n));
        let mut counts: Vec<(u32, u64)> =
            buckets.into_iter().map(numbered).collect::<Option<_>>()?;
        counts.sort_unstable();
        let mut merged: Vec<(u32, u64)> = Vec::with_capacity(counts.len());
        for (bucket, n) in counts.into_iter().filter(|(_, n)| *n > 0) {
            match merged.last_mut() {
                Some((last, sum)) if *last == bucket => *sum = sum.checked_add(n)?,
                Some(_) | None => merged.push((bucket, n)),
            }
        }
        Histogram::from_counts(&merged, sum, min, max, overflow)
    }

    /// Returns the histogram of `counts`, the occupied buckets by their numbers in ascending order, with
    /// its exact figures; `None` where the figures contradict the counts, or these are not in order.
    pub fn from_counts(
        counts: &[(u32, u64)],
        sum: u128,
        min: u64,
        max: u64,
        overflow: u64,
    ) -> Option<Self> {
        let mut counted = overflow;
        let mut next = 0;
        for (bucket, n) in counts {
            if *bucket < next || *bucket as usize >= BUCKETS || *n == 0 {
                return None;
            }
            next = *bucket + 1;
            counted = counted.checked_add(*n)?;
        }
        // The first and the last bucket are those of the extremes; values above the range have none.
        let is_at = |value: u64, end: Option<&(u32, u64)>| {
            value > MAX_VALUE || end.is_some_and(|end| end.0 == bucket_of(value) as u32)
        };
        if counted == 0 {
            return Some(Histogram::from_figures(0, sum, u64::MAX, 0, 0));
        }
        // All evaluation is limited to the buckets between the extremes (`range`): a count outside would be in
        // `count` and in no percentile.
        if min > max || !is_at(min, counts.first()) || !is_at(max, counts.last()) {
            return None;
        }
        let counts = Counts::Sparse(counts.into());
        Some(Histogram { counts, ..Histogram::from_figures(counted, sum, min, max, overflow) })
    }

    /// Returns a histogram with these exact figures and without buckets, as
    /// [`Histogram::without_buckets`] does.
    pub fn from_figures(count: u64, sum: u128, min: u64, max: u64, overflow: u64) -> Histogram {
        let min = if count == 0 { u64::MAX } else { min };
        let counts = Counts::Dense(Box::default());
        Histogram { counts, count, sum: words(sum), min, max, overflow }
    }

    /// Returns a histogram with these exact figures, without buckets, and with the percentiles that another
    /// program stated: each in percent, with its value in nanoseconds.
    pub fn from_stated(
        (count, sum, min, max): (u64, u128, u64, u64),
        percentiles: &[(f64, u64)],
    ) -> Histogram {
        let counts = Counts::Stated(percentiles.into());
        Histogram { counts, ..Histogram::from_figures(count, sum, min, max, 0) }
    }

    /// Returns the percentiles that another program stated, each in percent with its value in nanoseconds;
    /// empty where there are buckets.
    pub fn stated(&self) -> &[(f64, u64)] {
        match &self.counts {
            Counts::Stated(percentiles) => percentiles,
            Counts::Dense(_) | Counts::Sparse(_) => &[],
        }
    }

    /// Returns whether the buckets hold all values in the range, also where there are none.
    pub fn has_buckets(&self) -> bool {
        self.count == self.overflow
            || match &self.counts {
                Counts::Dense(counts) => !counts.is_empty(),
                Counts::Sparse(counts) => !counts.is_empty(),
                Counts::Stated(_) => false,
            }
    }

    /// Adds all values of `other`. Merging is associative, and without loss where both have buckets;
    /// otherwise the sum has neither buckets nor percentiles.
    pub fn merge(&mut self, other: &Histogram) {
        if other.count == 0 {
            return;
        }
        if self.count == 0 {
            // Keeps the sparse form, which takes less memory.
            *self = other.clone();
            return;
        }
        match &other.counts {
            _ if !self.has_buckets() || !other.has_buckets() => {
                self.counts = Counts::Dense(Box::default());
            }
            Counts::Dense(others) if !others.is_empty() => {
                let range = other.range();
                let counts = &mut self.counts_mut()[range.clone()];
                counts.iter_mut().zip(&others[range]).for_each(|(to, from)| *to += from);
            }
            Counts::Sparse(others) if !others.is_empty() => {
                let counts = self.counts_mut();
                others.iter().for_each(|(bucket, n)| counts[*bucket as usize] += n);
            }
            Counts::Dense(_) | Counts::Sparse(_) | Counts::Stated(_) => {}
        }
        self.count += other.count;
        self.add_sum(other.sum());
        self.min = self.min.min(other.min);
        self.max = self.max.max(other.max);
        self.overflow += other.overflow;
    }

    /// Returns the exact figures without the buckets.
    ///
    /// Mean, minimum and maximum remain; every percentile is `None`. The buckets take up to 264 KiB,
    /// so those of an hour of seconds (1 GB) are held in this form.
    pub fn without_buckets(&self) -> Histogram {
        Histogram { counts: Counts::Dense(Box::default()), ..*self }
    }

    /// Drops the counters of empty buckets, where that takes less memory.
    pub fn compact(&mut self) {
        let counts: Vec<(u32, u64)> = self.occupied().map(|(at, n)| (at as u32, n)).collect();
        if matches!(self.counts, Counts::Dense(_)) && size_of_val(&*counts) < self.size() {
            self.counts = Counts::Sparse(counts.into());
        }
    }

    /// Returns the memory of the counters, in bytes.
    pub fn size(&self) -> usize {
        match &self.counts {
            Counts::Dense(counts) => size_of_val(&**counts),
            Counts::Sparse(counts) => size_of_val(&**counts),
            Counts::Stated(percentiles) => size_of_val(&**percentiles),
        }
    }

    /// Returns the number of recorded values, those above the range included.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// Returns the exact sum of all values, in nanoseconds.
    pub fn sum(&self) -> u128 {
        u128::from(self.sum[1]) << 64 | u128::from(self.sum[0])
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
        (self.count > 0).then(|| self.sum() as f64 / self.count as f64)
    }

    /// Returns the percentile of `share`, in nanoseconds: the nearest-rank percentile.
    ///
    /// It is the upper edge of the bucket that contains value number ⌈share × n⌉ (definition D1),
    /// never above the exact maximum. Without buckets, it is the one that another program stated. `None`
    /// where no value is beyond it, because the sample does not determine it, where it is among the
    /// values above the range, and where it is not stated.
    pub fn percentile(&self, share: f64) -> Option<u64> {
        debug_assert!((0.0..=1.0).contains(&share), "a percentile of {share}");
        let rank = (share * self.count as f64).ceil().max(1.0) as u64;
        if rank >= self.count {
            return None;
        }
        let is_it = |(percent, _): &&(f64, u64)| (percent - share * 100.0).abs() < 1e-6;
        let stated = self.stated().iter().find(is_it).map(|(_, value)| *value);
        stated.or_else(|| self.value_at_rank(rank))
    }

    fn value_at_rank(&self, rank: u64) -> Option<u64> {
        let counts = match &self.counts {
            Counts::Dense(counts) => counts,
            Counts::Sparse(counts) => {
                let mut seen = 0;
                let reaches = |(_, n): &&(u32, u64)| {
                    seen += n;
                    seen >= rank
                };
                let (bucket, _) = counts.iter().find(reaches)?;
                return Some(edges_of(*bucket as usize).1.min(self.max));
            }
            Counts::Stated(_) => return None,
        };
        // Sums of stretches first: they need no branch per counter, and a report evaluates hundreds
        // of thousands of histograms.
        const STRETCH: usize = 64;
        let range = self.range();
        let first = range.start;
        let mut seen = 0;
        for (number, stretch) in counts[range].chunks(STRETCH).enumerate() {
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

    /// Returns the range of dense counters from the bucket of the minimum to that of the maximum.
    fn range(&self) -> std::ops::Range<usize> {
        match &self.counts {
            Counts::Dense(counts) if !counts.is_empty() && self.count > 0 => {
                bucket_of(self.min.min(MAX_VALUE))..bucket_of(self.max.min(MAX_VALUE)) + 1
            }
            Counts::Dense(_) | Counts::Sparse(_) | Counts::Stated(_) => 0..0,
        }
    }

    /// Returns each occupied bucket as its lowest value and its count, in ascending order.
    pub fn buckets(&self) -> impl Iterator<Item = (u64, u64)> + '_ {
        self.occupied().map(|(bucket, n)| (edges_of(bucket).0, n))
    }

    /// Returns each occupied bucket as its highest value and its count, in ascending order: a
    /// percentile is the first of these values whose counts so far reach its rank, and at most the
    /// maximum.
    pub fn highest_values(&self) -> impl Iterator<Item = (u64, u64)> + '_ {
        self.occupied().map(|(bucket, n)| (edges_of(bucket).1, n))
    }

    /// Returns the occupied buckets by their numbers in ascending order, where they are stored so.
    pub(crate) fn sparse_counts(&self) -> Option<&[(u32, u64)]> {
        match &self.counts {
            Counts::Sparse(counts) => Some(counts),
            Counts::Dense(_) | Counts::Stated(_) => None,
        }
    }

    /// Returns each occupied bucket with its number and its count, in ascending order.
    pub(crate) fn occupied(&self) -> impl Iterator<Item = (usize, u64)> + '_ {
        let range = self.range();
        let first = range.start;
        let (dense, sparse): (&[u64], &[(u32, u64)]) = match &self.counts {
            Counts::Dense(counts) => (&counts[range], &[]),
            Counts::Sparse(counts) => (&[], counts),
            Counts::Stated(_) => (&[], &[]),
        };
        let dense = dense.iter().enumerate().map(move |(index, n)| (first + index, *n));
        let sparse = sparse.iter().map(|(bucket, n)| (*bucket as usize, *n));
        dense.filter(|(_, n)| *n > 0).chain(sparse)
    }

    /// Returns the share of values above `value`, exact to one bucket; `None` without values or buckets.
    pub fn share_above(&self, value: u64) -> Option<f64> {
        let above: u64 =
            self.occupied().filter(|(bucket, _)| edges_of(*bucket).0 > value).map(|(_, n)| n).sum();
        let is_known = self.count > 0 && self.has_buckets();
        is_known.then(|| (above + self.overflow) as f64 / self.count as f64)
    }
}

/// Returns the lower and the higher word of `sum`.
fn words(sum: u128) -> [u64; 2] {
    [sum as u64, (sum >> 64) as u64]
}

#[cfg(test)]
mod tests;
