//! Map reach: the data whose map is available, in the drive's memory or in a buffer in that of the host.
//!
//! Three small reads, one after another: the first one at a random place of a range, the others 64 and 128 KiB next to
//! it, in the same part of the map. Where the part is not available, the first read waits until it is read from flash,
//! and the others do not. Of reads that are uniform over a range, the share that finds its part is reach ÷ range,
//! whichever parts the drive keeps. Source: Kim et al., "Host memory buffer" (2020), doi 10.1371/journal.pone.0229645,
//! for reads over ranges; the reads next to them are our own: they lie in cells of the same kind.

use crate::answer::{Identified, Value, refuse};
use ssdgauge_core::Bytes;
use ssdgauge_statistics::summary;

/// How much longer than the shorter one of the others a first read takes that waits for its map, as a share of its
/// median, and in microseconds at least. Chosen: a page read is a third of a read or more, and what is longer for other
/// reasons is counted in the smallest range.
const LONGER: (f64, f64) = (0.1, 6.0);
/// The share of waits from which a range is larger than the reach, and up to which the reach is told from none.
const PART: (f64, f64) = (0.1, 0.9);
/// The first reads of a range at least.
const LEAST_READS: usize = 400;
/// Standard errors to both sides of the value, and between a range and the others.
const ERRORS: f64 = 3.5;
/// The share by which a range may differ from the others beyond that: which parts are available has not settled.
const TOLERANCE: f64 = 0.04;
/// The minimum half of the interval, as a share of the value: parts of the map are whole.
const LEAST_HALF: f64 = 0.03;

/// Reads in a range.
#[derive(Clone, Debug, PartialEq)]
pub struct Range {
    /// The bytes of the range.
    pub bytes: u64,
    /// The latencies of a first read and of the two next to it, in microseconds.
    pub reads: Vec<[f64; 3]>,
}

/// The first reads of a range that take longer than those next to them.
#[derive(Clone, Copy, Debug)]
struct Longer {
    bytes: u64,
    share: f64,
    /// The standard error of the share.
    error: f64,
}

impl Range {
    /// Returns the share of the first reads that take longer than the shorter one of the others: one that is longer for
    /// another reason is not a standard. `None` for too few.
    fn longer(&self) -> Option<Longer> {
        if self.reads.len() < LEAST_READS {
            return None;
        }
        let differences = || self.reads.iter().map(|one| (one[0], one[1].min(one[2])));
        let others: Vec<f64> = differences().map(|one| one.1).collect();
        let least = (LONGER.0 * summary::percentile(&others, 0.5)?).max(LONGER.1);
        let count = self.reads.len() as f64;
        let share = differences().filter(|one| one.0 - one.1 > least).count() as f64 / count;
        // None among n still allows a share of about 1 / n.
        let error = (share * (1.0 - share) / count).sqrt().max(1.0 / count);
        Some(Longer { bytes: self.bytes, share, error })
    }

    /// Returns the share of the first reads that take longer, in percent.
    pub(crate) fn longer_percent(&self) -> Option<f64> {
        self.longer().map(|longer| longer.share * 100.0)
    }
}

/// Returns the reach of the map in bytes, from `ranges` in any order.
///
/// # Errors
/// All ranges are within reach, or none; or two ranges do not agree, as where first reads wait for another reason.
pub fn find(ranges: &[Range]) -> Identified {
    let mut all = Vec::new();
    for range in ranges {
        let Some(longer) = range.longer() else {
            return refuse(format!("too few reads in {}", Bytes(range.bytes).about()));
        };
        all.push(longer);
    }
    all.sort_by_key(|one| one.bytes);
    let (Some(&smallest), Some(largest)) = (all.first(), all.last()) else {
        return refuse("no range of the drive was read");
    };
    if smallest.share > PART.0 {
        return refuse(format!(
            "in a range of {}, {:.0} % of the first reads wait already, which a map may not be the reason of",
            Bytes(smallest.bytes).about(),
            smallest.share * 100.0
        ));
    }
    // What takes longer in the smallest range does so for another reason, in every range.
    let waits = |one: &Longer| {
        let most = 1.0 - smallest.share;
        Longer {
            share: (one.share - smallest.share) / most,
            error: one.error.hypot(smallest.error * (1.0 - one.share)) / most,
            ..*one
        }
    };
    let waits: Vec<Longer> = all.iter().map(waits).collect();
    let is_part = |one: &&Longer| (PART.0..PART.1).contains(&one.share);
    let weight = |one: &Longer| (one.bytes as f64 * one.error).max(1.0).powi(-2);
    let weights: f64 = waits.iter().filter(is_part).map(weight).sum();
    if weights == 0.0 {
        return refuse(format!(
            "reads over {} wait no longer than repeated ones: the map of all of it is at hand, or its reads do not show",
            Bytes(largest.bytes).about()
        ));
    }
    let at_hand = |one: &Longer| one.bytes as f64 * (1.0 - one.share);
    let parts = waits.iter().filter(is_part);
    let reach = parts.map(|one| at_hand(one) * weight(one)).sum::<f64>() / weights;
    for one in &waits {
        let expected = (1.0 - reach / one.bytes as f64).max(0.0);
        if (one.share - expected).abs() > ERRORS * one.error + TOLERANCE {
            return refuse(format!(
                "the ranges do not agree: {:.0} % of the first reads in {} wait, and {:.0} % would with a reach of {}",
                one.share * 100.0,
                Bytes(one.bytes).about(),
                expected * 100.0,
                Bytes(reach as u64).about()
            ));
        }
    }
    Ok(Value::within(reach, ERRORS / weights.sqrt(), LEAST_HALF))
}

#[cfg(test)]
mod tests {
    use super::*;
    use ssdgauge_core::Random;

    const MIB: u64 = 1 << 20;

    /// Returns what reads of 80 us show where `reach` is available and a missing part takes `wait` microseconds.
    fn shown(reach: f64, wait: f64, seed: u64) -> Vec<Range> {
        let mut random = Random::new(seed, 1);
        let mut read = |extra: f64| {
            let slow = if random.below(500) == 0 { 300.0 * random.exponential() } else { 0.0 };
            (80.0 + extra) * (1.0 + 0.03 * random.exponential()) + slow
        };
        let mut places = Random::new(seed, 2);
        let mut range = |bytes: u64| {
            let is_missing = |unit: f64| unit > reach / bytes as f64;
            let reads = (0..2_000).map(|_| {
                let extra = if is_missing(places.unit()) { wait } else { 0.0 };
                [read(extra), read(0.0), read(0.0)]
            });
            Range { bytes, reads: reads.collect() }
        };
        (4..14).map(|power| range(MIB << power)).collect()
    }

    #[test]
    fn the_reach_of_ranges_that_are_in_it_in_part_is_found() {
        for (seed, reach) in [(1, 40.0), (2, 300.0), (3, 1_000.0), (4, 6_000.0)] {
            for wait in [25.0, 60.0] {
                let reach = reach * MIB as f64;
                let found = find(&shown(reach, wait, seed)).unwrap();
                assert!(found.contains(reach) && found.width() < 0.2, "{reach} {found:?}");
            }
        }
    }

    #[test]
    fn a_reach_beyond_the_largest_range_or_below_the_smallest_one_is_refused() {
        let beyond = find(&shown(1e12, 60.0, 1)).unwrap_err();
        assert!(beyond.0.contains("the map of all of it is at hand"), "{beyond:?}");
        let below = find(&shown(2.0 * MIB as f64, 60.0, 1)).unwrap_err();
        assert!(below.0.contains("wait already"), "{below:?}");
        assert!(find(&[]).is_err());
    }

    #[test]
    fn ranges_that_do_not_agree_and_few_reads_are_refused() {
        let mut other = shown(300.0 * MIB as f64, 60.0, 1);
        // As where first reads of a large range wait for another reason.
        other[7].reads.iter_mut().for_each(|one| one[0] += 40.0);
        assert!(find(&other).unwrap_err().0.contains("do not agree"), "{:?}", find(&other));
        let mut few = shown(300.0 * MIB as f64, 60.0, 1);
        few[3].reads.truncate(100);
        assert!(find(&few).unwrap_err().0.contains("too few"));
    }
}
