//! Latencies weighted by their time: where the time of the requests goes, not how many of them are slow.
//!
//! A request of latency t counts t times (definition D25): a drive that answers 99.9 % of its requests in 0.1 ms
//! and the others in 1 s spends 91 % of the time in the latter. PC Perspective weighted the percentiles of
//! its reviews in this way from 2016 on.

use crate::histogram::Histogram;

/// Returns the latency in nanoseconds up to which `share` of the time of all requests is spent: with the
/// requests in ascending order, that of the first one with which the sum of the latencies so far reaches
/// `share` of the whole sum.
///
/// It is the upper edge of its bucket, never above the maximum; each request counts with the middle of
/// its bucket, which is exact to 0.05 %. `None` where no request lies beyond it, as for a percentile,
/// and where values are above the range.
pub fn percentile(latency: &Histogram, share: f64) -> Option<u64> {
    debug_assert!((0.0..=1.0).contains(&share), "a percentile of {share}");
    if latency.overflow() > 0 {
        return None;
    }
    // By the middles of the buckets, as below: the exact sum can be larger, and a high share would then
    // never be reached.
    let wanted = share * weights(latency).map(|bucket| bucket.sum()).sum::<f64>();
    let (mut spent, mut seen) = (0.0, 0);
    for bucket in weights(latency) {
        if spent + bucket.sum() >= wanted {
            // The rank of the request within its bucket, which tells whether one lies beyond it.
            let of_bucket = ((wanted - spent) / bucket.each).ceil().max(1.0) as u64;
            let is_beyond = seen + of_bucket < latency.count();
            return is_beyond.then(|| bucket.highest.min(latency.max().unwrap_or(u64::MAX)));
        }
        spent += bucket.sum();
        seen += bucket.count;
    }
    None
}

/// Returns the share of the time of all requests that is spent in those above `limit` nanoseconds, exact
/// to one bucket; `None` without requests, and where values are above the range.
pub fn share_above(latency: &Histogram, limit: u64) -> Option<f64> {
    if latency.overflow() > 0 {
        return None;
    }
    let (mut all, mut above) = (0.0, 0.0);
    for bucket in weights(latency) {
        all += bucket.sum();
        above += if bucket.lowest > limit { bucket.sum() } else { 0.0 };
    }
    (all > 0.0).then(|| above / all)
}

/// A bucket with its requests.
struct Bucket {
    lowest: u64,
    highest: u64,
    count: u64,
    /// The middle of the bucket: the time of each request in it, in nanoseconds.
    each: f64,
}

impl Bucket {
    fn sum(&self) -> f64 {
        self.count as f64 * self.each
    }
}

fn weights(latency: &Histogram) -> impl Iterator<Item = Bucket> + '_ {
    latency.buckets().zip(latency.highest_values()).map(|((lowest, count), (highest, _))| Bucket {
        lowest,
        highest,
        count,
        each: (lowest + highest) as f64 / 2.0,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn histogram(values: &[(u64, u64)]) -> Histogram {
        let mut histogram = Histogram::default();
        for (value, count) in values {
            (0..*count).for_each(|_| histogram.record(*value));
        }
        histogram
    }

    #[test]
    fn a_request_counts_as_often_as_it_takes_long() {
        // 999 requests of 1,000 ns, one of 1,001,000 ns, and one of 1,100,000 ns.
        let uneven = histogram(&[(1_000, 999), (1_001_000, 1), (1_100_000, 1)]);
        // 999,000 ns of 3,100,000 in the fast ones: 32.2 %, and 64.5 % with the first slow one.
        assert_eq!(percentile(&uneven, 0.32), Some(1_000));
        let half = percentile(&uneven, 0.5).unwrap();
        assert!(half.abs_diff(1_001_000) < 1_001, "{half}");
        assert_eq!(percentile(&uneven, 0.99), None, "no request lies beyond");
        // By requests, 99 % of them are fast.
        assert_eq!(uneven.percentile(0.99), Some(1_000));
        let above = share_above(&uneven, 1_000_000).unwrap();
        assert!((above - 2_101.0 / 3_100.0).abs() < 1e-3, "{above}");
        assert_eq!(share_above(&uneven, 2_000_000), Some(0.0));
    }

    #[test]
    fn equal_requests_spend_their_time_at_one_latency() {
        let equal = histogram(&[(700, 100)]);
        assert_eq!((percentile(&equal, 0.5), percentile(&equal, 0.99)), (Some(700), Some(700)));
        assert_eq!(percentile(&histogram(&[(700, 1)]), 0.5), None);
        assert_eq!(
            (percentile(&histogram(&[]), 0.5), share_above(&histogram(&[]), 1)),
            (None, None)
        );
    }

    #[test]
    fn the_time_of_a_hundred_random_requests_is_divided_as_by_their_sorted_list() {
        let mut random = crate::random::Random::new(7, 0);
        for _ in 0..100 {
            let mut values: Vec<u64> = (0..100).map(|_| 1 + random.below(2_000)).collect();
            values.sort_unstable();
            let mut latency = Histogram::default();
            values.iter().for_each(|value| latency.record(*value));
            let total: u64 = values.iter().sum();
            for share in [0.25, 0.5, 0.9] {
                let mut spent = 0;
                let reaches = |value: &&u64| {
                    spent += **value;
                    spent as f64 >= share * total as f64
                };
                let expected = values.iter().find(reaches).copied();
                assert_eq!(percentile(&latency, share), expected);
            }
            let above: u64 = values.iter().filter(|value| **value > 1_500).sum();
            let found = share_above(&latency, 1_500).unwrap();
            assert!((found - above as f64 / total as f64).abs() < 1e-12);
        }
    }
}
