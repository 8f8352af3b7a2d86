//! Program time: how long a program operation keeps a unit busy.
//!
//! A flush after one write waits for one operation. A read that does not suspend an operation waits for its rest: waits
//! are uniform from 0 to the whole of it.

use crate::answer::{Identified, Value, refuse};
use crate::flush::Flushes;
use ssdgauge_core::rounded::latency;
use ssdgauge_statistics::summary;

/// The flushes, and the waits of reads, that are needed.
const LEAST: (usize, usize) = (20, 150);
/// A program operation that is longer, in microseconds, is none of a fast cache. Chosen: those take 100 to 400 us.
const LONGEST_IN_CACHE_US: f64 = 600.0;
/// The ratio of the third quartile of flushes to the first decile up to which they wait for one operation each. Chosen: pages
/// of one drive differ by less.
const ONE_OPERATION: f64 = 1.5;
/// By how much flushes may miss the operation, as a share: the fastest twentieth may be longer. Chosen.
const FLUSHES: f64 = 0.015;
/// The shares of waits whose quantiles, divided by them, agree where waits are uniform, and by how much they may differ.
const UPPER: [f64; 3] = [0.9, 0.95, 0.98];
/// See [`UPPER`].
const AGREE: f64 = 1.08;
/// The same for the lower half, of which reads in step with the writes take more or less than their share.
const LOWER: [f64; 2] = [0.5, 0.75];
/// See [`LOWER`].
const AGREE_BELOW: f64 = 1.35;
/// The share of the reads that may wait. Chosen: where nearly all do, operations follow each other, and reads come in step
/// with them.
const MOST: f64 = 0.6;
/// By how much waits may miss the operation beyond that, as a share: latencies scatter by some percent. Chosen.
const WAITS: (f64, f64) = (0.07, 0.03);
/// What is longer than this, in microseconds, and than nearly all reads alone, is a wait.
const LEAST_WAIT_US: f64 = 4.0;
/// See [`LEAST_WAIT_US`].
const OF_ALONE: f64 = 0.99;

/// Latencies of reads, in microseconds.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Reads {
    /// Without writes.
    pub alone_us: Vec<f64>,
    /// During writes.
    pub during_us: Vec<f64>,
}

/// Returns the time of a program operation in microseconds, from `flushes` that have data to write, or from `reads` during
/// writes where these `wait` for operations instead of suspending them.
///
/// # Errors
/// Neither shows it, both disagree, or it may be that of a fast cache.
pub fn find(flushes: Option<&Flushes>, reads: Option<&Reads>, wait: bool) -> Identified {
    let lone_us = reads.and_then(|reads| summary::percentile(&reads.alone_us, 0.5)).unwrap_or(0.0);
    let by_flushes = match flushes {
        Some(flushes) => of_flushes(flushes, lone_us),
        None => refuse("they have nothing to write"),
    };
    let by_reads = match reads {
        Some(reads) if wait => of_reads(reads),
        Some(_) | None => refuse("it is not known that they do not suspend operations"),
    };
    let found = match (by_flushes, by_reads) {
        // A flush waits for the whole of each operation.
        (Ok(one), _) | (Err(_), Ok(one)) => one,
        (Err(one), Err(other)) => {
            return refuse(format!("by flushes: {}; by reads: {}", one.0, other.0));
        }
    };
    match found.low > LONGEST_IN_CACHE_US {
        true => Ok(found),
        false => refuse(format!(
            "operations of {} may be those of a fast cache, which take up to {}",
            latency(found.value),
            latency(LONGEST_IN_CACHE_US)
        )),
    }
}

/// Returns how much longer flushes after a write take than others, in microseconds.
pub(crate) fn flushed_us(flushes: &Flushes) -> Vec<f64> {
    let alone = summary::percentile(&flushes.alone_us, 0.5).unwrap_or(0.0);
    flushes.after_write_us.iter().map(|us| us - alone).collect()
}

/// Returns the waits of reads during writes, in microseconds.
pub(crate) fn waits_us(reads: &Reads) -> Vec<f64> {
    let percentile = |share| summary::percentile(&reads.alone_us, share).unwrap_or(0.0);
    let base = percentile(0.5);
    let least = percentile(OF_ALONE) - base + LEAST_WAIT_US;
    reads.during_us.iter().map(|us| us - base).filter(|us| *us > least).collect()
}

/// A flush may also wait for a read that completes a mapping unit, or for the transfer of a whole operation: the lower end
/// is lower by the time of a lone read.
fn of_flushes(flushes: &Flushes, lone_us: f64) -> Identified {
    let percentile = |values: &[f64], share| summary::percentile(values, share).unwrap_or(0.0);
    let longer = flushed_us(flushes);
    if longer.len() < LEAST.0 {
        return refuse(format!("{} flushes are too few", longer.len()));
    }
    let [low, high] = [0.1, 0.75].map(|share| percentile(&longer, share));
    if high > ONE_OPERATION * low {
        return refuse(format!("flushes take {} to {}", latency(low.max(0.0)), latency(high)));
    }
    let low = percentile(&longer, 0.05) * (1.0 - FLUSHES) - lone_us;
    let high = high * (1.0 + FLUSHES);
    Ok(Value { value: percentile(&longer, 0.25), low, high })
}

fn of_reads(reads: &Reads) -> Identified {
    let percentile = |values: &[f64], share| summary::percentile(values, share).unwrap_or(0.0);
    let waits = waits_us(reads);
    let all = reads.during_us.len();
    if waits.len() < LEAST.1 || waits.len() as f64 > MOST * all as f64 {
        return refuse(format!("{} of {all} reads wait", waits.len()));
    }
    let whole = |share: f64| percentile(&waits, share) / share;
    let ends = UPPER.map(whole);
    let low = ends.iter().copied().fold(f64::INFINITY, f64::min);
    let high = ends.iter().copied().fold(0.0, f64::max);
    let is_uniform = LOWER.iter().all(|share| {
        let ratio = whole(*share) / ends[1];
        ratio < AGREE_BELOW && ratio > 1.0 / AGREE_BELOW
    });
    if high > AGREE * low || !is_uniform {
        return refuse(format!(
            "waits of reads are not those of one operation: half are below {}, nine of ten below {}",
            latency(percentile(&waits, 0.5)),
            latency(percentile(&waits, 0.9))
        ));
    }
    Ok(Value { value: ends[1], low: low * (1.0 - WAITS.0), high: high * (1.0 + WAITS.1) })
}

#[cfg(test)]
mod tests {
    use super::*;
    use ssdgauge_core::Random;

    fn flushes(us: f64, spread: f64) -> Flushes {
        let mut random = Random::new(5, 5);
        let mut times = |us: f64| -> Vec<f64> {
            let time = |_| us * (1.0 + spread * random.unit()) + random.exponential();
            (0..48).map(time).collect()
        };
        Flushes { alone_us: times(20.0), after_write_us: times(20.0 + us), ..Flushes::default() }
    }

    fn reads(wait: fn(f64) -> f64) -> Reads {
        let mut random = Random::new(5, 6);
        let mut read = |waits: bool| {
            let wait = if waits && random.below(4) == 0 { wait(random.unit()) } else { 0.0 };
            70.0 + wait + random.exponential()
        };
        Reads {
            alone_us: (0..2_000).map(|_| read(false)).collect(),
            during_us: (0..4_000).map(|_| read(true)).collect(),
        }
    }

    #[test]
    fn flushes_and_waits_show_an_operation() {
        let waited = reads(|unit| 1_400.0 * unit);
        let flushed = flushes(1_400.0, 0.05);
        for found in [find(Some(&flushed), None, false), find(None, Some(&waited), true)] {
            let found = found.unwrap();
            assert!(found.contains(1_400.0) && found.width() < 0.16, "{found:?}");
        }
        // Each flush waited for a read as well.
        let found = find(Some(&flushes(1_460.0, 0.05)), Some(&waited), false).unwrap();
        assert!(found.contains(1_400.0) && found.low > 1_300.0, "{found:?}");
        let reason = find(None, Some(&waited), false).unwrap_err().0;
        assert!(reason.contains("nothing to write") && reason.contains("suspend"), "{reason}");
    }

    #[test]
    fn short_operations_several_and_waits_of_two_kinds_are_refused() {
        let two = |unit: f64| if unit < 0.5 { 400.0 * unit } else { 3_000.0 * unit };
        let often = |reads: Reads| Reads {
            during_us: reads.during_us.into_iter().filter(|us| *us > 90.0).collect(),
            ..reads
        };
        for (flushes, reads, words) in [
            (flushes(300.0, 0.05), reads(|_| 0.0), "fast cache"),
            (flushes(900.0, 2.0), reads(|_| 0.0), "of 4000 reads wait"),
            (flushes(900.0, 2.0), often(reads(|unit| 900.0 * unit)), "reads wait"),
            (flushes(900.0, 2.0), reads(two), "one operation"),
            (flushes(900.0, 2.0), reads(|_| 800.0), "one operation"),
        ] {
            let reason = find(Some(&flushes), Some(&reads), true).unwrap_err().0;
            assert!(reason.contains(words), "{reason}");
        }
    }
}
