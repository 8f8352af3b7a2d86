//! Page read time: of two reads on one unit, the second completes one page read after the first. Where a unit has no
//! register next to the one that senses, a transfer to the controller comes in addition.

use crate::answer::{Identified, Value, refuse};
use crate::pairs::Pair;
use ssdgauge_statistics::summary;

/// The pairs that are needed.
const LEAST_PAIRS: usize = 50;
/// Pairs below this share of the median did not meet on one unit: they lay across two fills.
const MET: f64 = 0.5;
/// The share of pairs that may not have met. Chosen: more would move the median.
const MOST_UNMET: f64 = 0.2;
/// The minimum half width of the interval, as a share. Chosen: noise that grows with the latency lengthens the
/// second read more than the first.
const LEAST: f64 = 0.04;
/// The share by which long page reads are longer than short ones from which on pages have types. Chosen: above the
/// noise of latencies, below 1 : 1.4.
const TYPES: f64 = 0.2;
/// The shares of the pages that are of the fastest and of the slowest type. Chosen: those of four bits, and beyond them
/// what repeated reads take.
const ENDS: [f64; 2] = [0.12, 0.85];
/// A time this many times the median is not that of a page read.
const OUTLIER: f64 = 5.0;
/// The standard error of a median in those of a mean, for normal errors: √(π/2).
const OF_MEDIAN: f64 = 1.253;
/// Half width of the interval in standard errors: 99 %.
const WIDE: f64 = 2.58;

/// The longest transfer of 4 KiB from the flash, in microseconds: 400 MB/s (ONFI 3.0).
const MOST_TRANSFER_US: f64 = 10.24;

/// Returns the page read time in microseconds: `busy`, the time for which a read of 4 KiB keeps a unit busy,
/// without the transfer, where the unit is busy meanwhile. `larger` has that time of a read of so many times 4 KiB
/// on the same page; without it, the interval contains the longest transfer.
pub fn without_transfer(busy: Value, larger: Option<(Value, f64)>) -> Value {
    let transfer = larger.map(|(large, blocks)| (large.value - busy.value) / (blocks - 1.0));
    // More than the longest transfer: the larger read lies on several pages.
    match transfer.filter(|transfer| *transfer <= MOST_TRANSFER_US) {
        Some(transfer) => {
            let value = busy.value - transfer.max(0.0);
            Value {
                value,
                low: (busy.low - transfer.max(0.0)).min(value * (1.0 - LEAST)),
                high: (busy.high - transfer.max(0.0)).max(value * (1.0 + LEAST)),
            }
        }
        None => Value {
            value: busy.value - 0.5 * MOST_TRANSFER_US.min(busy.value),
            low: (busy.low - MOST_TRANSFER_US).max(0.0),
            high: busy.high,
        },
    }
}

/// Returns the mean time in microseconds for which a read keeps a unit busy, from the same pairs: that of a page read of
/// each type, and with repetitions.
pub fn mean_busy(pairs: &[Pair]) -> Option<f64> {
    let between: Vec<f64> = pairs.iter().map(Pair::between_us).collect();
    let rough = summary::percentile(&between, 0.5)?;
    let met = between.iter().filter(|us| (MET * rough..OUTLIER * rough).contains(us));
    let (count, sum) = met.fold((0u32, 0.0), |(count, sum), us| (count + 1, sum + us));
    (count > 0).then(|| sum / f64::from(count))
}

/// Returns the time for which a read of several blocks keeps a unit busy, from `larger` pairs of the pages of `pairs`. Where
/// pages have types, two medians may be of different ones, so the difference of the means is used.
pub fn larger_busy(pairs: &[Pair], larger: &[Pair]) -> Option<Value> {
    let (one, several) = (busy(pairs).ok()?, busy(larger).ok()?);
    match one.high * (1.0 - LEAST) > (1.0 + TYPES) * one.low * (1.0 + LEAST) {
        true => {
            let more = mean_busy(larger)? - mean_busy(pairs)?;
            Some(Value { value: one.value + more, ..several })
        }
        false => Some(several),
    }
}

/// Returns the time in microseconds for which a read keeps a unit busy, from pairs of reads at a distance at which
/// they meet.
///
/// # Errors
/// Too few pairs met.
pub fn busy(pairs: &[Pair]) -> Identified {
    let between: Vec<f64> = pairs.iter().map(Pair::between_us).collect();
    let Some(rough) = summary::percentile(&between, 0.5) else {
        return refuse("no pairs of reads");
    };
    let met: Vec<f64> = between.iter().copied().filter(|us| *us > MET * rough).collect();
    if met.len() < LEAST_PAIRS || (met.len() as f64) < (1.0 - MOST_UNMET) * between.len() as f64 {
        return refuse(format!("{} of {} pairs of reads met", met.len(), between.len()));
    }
    let at = |share| summary::percentile(&met, share).unwrap_or(rough);
    let value = at(0.5);
    // Interquartile range of normal errors: 1.349 sigma. Repeated page reads do not widen it.
    let sigma = (at(0.75) - at(0.25)) / 1.349;
    let [fastest, slowest] = ENDS.map(at);
    if slowest > (1.0 + TYPES) * fastest {
        // One number stands for no type: the interval has them all.
        let (low, high) = (fastest * (1.0 - LEAST), slowest * (1.0 + LEAST));
        return Ok(Value { value, low, high });
    }
    let half = WIDE * OF_MEDIAN * sigma / (met.len() as f64).sqrt();
    Ok(Value::within(value, half, LEAST))
}

#[cfg(test)]
mod tests {
    use super::*;
    use ssdgauge_core::{Nanos, Random, Timing};

    #[test]
    fn a_transfer_is_taken_off_where_larger_reads_show_it_and_is_within_the_interval_elsewhere() {
        let busy = Value::within(54.0, 0.5, 0.0);
        // 4 us for each 4 KiB.
        let four = Some((Value::exact(66.0), 4.0));
        assert!(without_transfer(busy, four).contains(50.0));
        assert!(without_transfer(busy, Some((busy, 4.0))).contains(54.0));
        // Two pages: each is sensed.
        let pages = Some((Value::exact(104.0), 2.0));
        assert_eq!(without_transfer(busy, pages), without_transfer(busy, None));
        let unknown = without_transfer(busy, None);
        assert!(unknown.contains(54.0) && unknown.contains(44.5) && !unknown.contains(40.0));
    }

    #[test]
    fn the_median_is_right_despite_repeated_reads_and_pairs_that_did_not_meet() {
        let mut random = Random::new(1, 1);
        let mut pair = |i: u64| {
            let mut at = |us: f64| Timing {
                submitted: Nanos::ZERO,
                completed: Nanos(((us + 2.0 * random.exponential()) * 1e3) as u64),
            };
            let wait = if i.is_multiple_of(10) {
                0.0
            } else if i.is_multiple_of(13) {
                90.0
            } else {
                45.0
            };
            Pair { distance: 0, reads: [at(70.0), at(70.0 + wait)], alone: [Nanos(70_000); 2] }
        };
        let pairs: Vec<Pair> = (0..300).map(&mut pair).collect();
        let found = busy(&pairs).unwrap();
        assert!(found.contains(45.0) && found.width() < 0.1, "{found:?}");
        assert!(busy(&pairs[..20]).is_err());
    }
}
