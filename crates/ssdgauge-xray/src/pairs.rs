//! Pairs of reads sent at the same time: on one unit the second waits for the first.
//!
//! The latency of each read by itself is measured first: pages of one cell take 1 : 1.4 : 2 times as long, and these
//! differences are not waits. In a sequential fill, data goes to one unit after the other in chunks. Two reads at a distance
//! of whole rounds meet on one unit (Chen, Lee, Zhang, HPCA 2011).

use crate::answer::{Refusal, refuse};
use ssdgauge_core::rounded::{latency, range};
use ssdgauge_core::{Nanos, Timing};
use ssdgauge_statistics::summary;
use std::collections::BTreeMap;

/// The block that distances are multiples of.
const BLOCK: u64 = 4_096;
/// The chunks that the sweep of distances covers.
pub const MOST_CHUNKS: u64 = 512;
/// The rounds that a sweep has to show. Chosen: two distances of one period may be chance.
const LEAST_ROUNDS: usize = 3;
/// The pairs of one distance from which its median counts.
const LEAST_PAIRS: usize = 5;
/// The extra latency that counts as a wait at least, in microseconds. Chosen: below every page read.
const LEAST_WAIT_US: f64 = 3.0;
/// The share of the pairs of a distance that wait no longer than what counts for it. Chosen: below the middle, because
/// repeated page reads make waits, and above the share of pairs that lie across two fills.
const OF_DISTANCE: f64 = 0.36;
/// How much wider than the spread of the distances without waits, and of those with them, the gap between them has to be.
/// Chosen: waits are as different as the pages of a cell.
const CLEAR: [f64; 2] = [1.5, 0.6];

/// Two reads that were due at the same time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pair {
    /// Bytes from the start of the first read to that of the second.
    pub distance: u64,
    /// The times of both.
    pub reads: [Timing; 2],
    /// The latency of each read by itself.
    pub alone: [Nanos; 2],
}

/// The units that read at the same time, as a sequential fill uses them.
#[derive(Clone, Debug, PartialEq)]
pub struct Layout {
    /// Bytes on one unit before the next one follows.
    pub chunk: u64,
    /// The number of units.
    pub units: u64,
}

impl Pair {
    /// Returns how much longer than alone the one that waited took, in microseconds.
    pub(crate) fn wait_us(&self) -> f64 {
        let wait = |read: usize| {
            self.reads[read].latency().as_micros_f64() - self.alone[read].as_micros_f64()
        };
        wait(0).max(wait(1))
    }

    /// Returns the time between the two completions, in microseconds.
    pub(crate) fn between_us(&self) -> f64 {
        let [one, two] = self.reads.map(|read| read.completed);
        one.max(two).saturating_sub(one.min(two)).as_micros_f64()
    }
}

/// Returns, for each distance, whether its pairs wait.
fn waits(pairs: &[Pair]) -> Result<BTreeMap<u64, bool>, Refusal> {
    let mut spans: BTreeMap<u64, Vec<f64>> = BTreeMap::new();
    for pair in pairs {
        spans.entry(pair.distance).or_default().push(pair.wait_us());
    }
    let medians: BTreeMap<u64, f64> = spans
        .iter()
        .filter(|(_, spans)| spans.len() >= LEAST_PAIRS)
        .filter_map(|(distance, spans)| Some((*distance, summary::percentile(spans, OF_DISTANCE)?)))
        .collect();
    let mut sorted: Vec<f64> = medians.values().copied().collect();
    sorted.sort_by(f64::total_cmp);
    let gaps = sorted.windows(2).enumerate().map(|(i, two)| (two[1] - two[0], i));
    let Some((gap, at)) = gaps.max_by(|a, b| a.0.total_cmp(&b.0)) else {
        return refuse("too few pairs of reads");
    };
    let (low, high) = sorted.split_at(at + 1);
    let spread = |group: &[f64]| group[group.len() - 1] - group[0];
    if gap < LEAST_WAIT_US || gap < CLEAR[0] * spread(low) || gap < CLEAR[1] * spread(high) {
        return refuse(format!(
            "reads of pairs wait for {} without two clear groups",
            range(&latency(sorted[0].max(0.0)), &latency(sorted[sorted.len() - 1].max(0.0)))
        ));
    }
    let limit = 0.5 * (low[at] + high[0]);
    Ok(medians.into_iter().map(|(distance, median)| (distance, median > limit)).collect())
}

/// Returns the chunk: the shortest distance at which two reads do not wait. The distances are whole blocks
/// of 4 KiB from 0 on; the first read of each pair begins a chunk.
///
/// # Errors
/// The pairs show no two groups, or waits without order.
pub fn chunk(pairs: &[Pair]) -> Result<u64, Refusal> {
    let waits = waits(pairs)?;
    let first = waits.iter().find(|(_, waits)| !**waits).map(|(distance, _)| *distance);
    match first {
        None | Some(0) => refuse("two reads of one block do not wait for each other"),
        Some(chunk) if waits.range(chunk..(2 * chunk).max(chunk + 1)).any(|(_, waits)| *waits) => {
            refuse("the distances at which two reads wait have no order")
        }
        Some(chunk) => Ok(chunk),
    }
}

/// Returns the layout, from pairs at distances of 1 to [`MOST_CHUNKS`] times `chunk`.
///
/// # Errors
/// The distances with waits are not the multiples of one of them, or too few.
pub fn layout(chunk: u64, pairs: &[Pair]) -> Result<Layout, Refusal> {
    if chunk == 0 || !chunk.is_multiple_of(BLOCK) {
        return refuse("the chunk is not a multiple of 4 KiB");
    }
    let waits = waits(pairs)?;
    let meets = |distance: &u64| waits.get(distance).copied().unwrap_or(false);
    let met: Vec<u64> = waits.keys().copied().filter(|distance| meets(distance)).collect();
    let Some(first) = met.first().copied() else { return refuse("no two reads wait") };
    let multiples = waits.keys().filter(|distance| distance.is_multiple_of(first)).count();
    let has_order = met.iter().all(|distance| distance.is_multiple_of(first));
    if !has_order || multiples != met.len() {
        return refuse("the distances at which two reads wait have no period");
    }
    if met.len() < LEAST_ROUNDS {
        return refuse(format!("reads wait at {} distances alone", met.len()));
    }
    let units = first / chunk;
    match units {
        0 | 1 => refuse("neighbouring chunks wait for each other"),
        _ => Ok(Layout { chunk, units }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ssdgauge_core::Random;

    /// Pairs on `units` units with `chunk`, with exponential noise of `noise` nanoseconds.
    fn pairs(
        distances: impl Iterator<Item = u64>,
        chunk: u64,
        units: u64,
        noise: f64,
    ) -> Vec<Pair> {
        let mut random = Random::new(5, 5);
        let mut pairs = Vec::new();
        for distance in distances {
            for _ in 0..9 {
                let mut read = |from: u64| Timing {
                    submitted: Nanos(1_000),
                    completed: Nanos(71_000 + from + (random.exponential() * noise) as u64),
                };
                let wait = if (distance / chunk).is_multiple_of(units) { 45_000 } else { 0 };
                let alone = [Nanos(70_000); 2];
                pairs.push(Pair { distance, reads: [read(0), read(wait)], alone });
            }
        }
        pairs
    }

    #[test]
    fn chunk_and_units_are_found_in_noise() {
        for (chunk_kib, units) in [(16, 4), (16, 64), (32, 12), (8, 2)] {
            let size = chunk_kib << 10;
            let fine = pairs((0..64).map(|i| i * 4_096), size, units, 3_000.0);
            assert_eq!(chunk(&fine), Ok(size), "{chunk_kib} {units}");
            let sweep = pairs((1..=MOST_CHUNKS).map(|i| i * size), size, units, 3_000.0);
            assert_eq!(layout(size, &sweep), Ok(Layout { chunk: size, units }));
        }
    }

    #[test]
    fn pages_of_different_types_and_repeated_reads_hide_no_unit() {
        let (size, units) = (16_384, 16);
        let mut random = Random::new(3, 3);
        let mut sweep = Vec::new();
        for number in 1..=MOST_CHUNKS {
            for _ in 0..15 {
                let mut sense = || [50_000, 70_000, 100_000][random.below(3) as usize];
                let senses = [sense(), sense()];
                // A tenth of the reads is repeated, in the pair as well as alone.
                let mut repeated = || if random.below(10) == 0 { 80_000 } else { 0 };
                let alone = senses.map(|sense| Nanos(20_000 + sense + repeated().min(repeated())));
                let first = senses[0] + repeated();
                let wait = if number.is_multiple_of(units) { first } else { 0 };
                let read =
                    |busy: u64| Timing { submitted: Nanos(1_000), completed: Nanos(21_000 + busy) };
                let reads = [read(first), read(wait + senses[1] + repeated())];
                sweep.push(Pair { distance: number * size, reads, alone });
            }
        }
        assert_eq!(layout(size, &sweep), Ok(Layout { chunk: size, units }));
    }

    #[test]
    fn without_waits_or_without_a_period_nothing_is_found() {
        let none = pairs((1..=512).map(|i| i * 16_384), 16_384, 1_000, 3_000.0);
        assert!(layout(16_384, &none).is_err());
        let mut odd = pairs((1..=512).map(|i| i * 16_384), 16_384, 16, 1_000.0);
        for pair in odd.iter_mut().filter(|pair| pair.distance == 5 * 16_384) {
            pair.reads[1].completed = Nanos(120_000);
        }
        assert!(layout(16_384, &odd).is_err());
    }
}
