//! Program suspend: a read that arrives during a program operation waits a short, constant time where the
//! operation is suspended, and otherwise for its rest: any time up to the whole operation.

use crate::answer::{Identified, Value, refuse};
use ssdgauge_core::rounded::latency;
use ssdgauge_statistics::summary;

/// The reads that are needed without and during writes.
const LEAST_READS: usize = 200;
/// The share of reads that have to wait. Chosen.
const LEAST_WAITS: f64 = 0.03;
/// A wait is longer than so many interquartile ranges of the reads alone.
const BEYOND_NOISE: f64 = 4.0;
/// Where that range is the difference between the pages of a cell, a wait is longer than this share of the reads alone.
/// Chosen: the others are fewer than [`LEAST_WAITS`].
const OF_ALONE: f64 = 0.99;
/// A wait is longer than this, in microseconds. Chosen: above the time of a command.
const LEAST_WAIT_US: f64 = 4.0;
/// Interquartile range ÷ median of waits up to which they are constant, and from which they are spread. For
/// waits that are uniform from 0 to their maximum it is 1.
const CONSTANT: f64 = 0.4;
/// See [`CONSTANT`].
const SPREAD: f64 = 0.65;
/// The share of waits in one window up to which they are spread, and from which they are of one length, compared with
/// waits for a channel, which are spread as well.
const DENSE: (f64, f64) = (0.14, 0.3);
/// The width of that window at least, in microseconds.
const LEAST_WINDOW_US: f64 = 6.0;
/// A suspension is shorter than this, in microseconds. Chosen: the shortest program operations take 100 us.
const MOST_SUSPENSION_US: f64 = 90.0;
/// The share of the waits that are no longer than that where a drive suspends between short pulses, so that they are
/// spread. Chosen: the others are for more than one read, and for the drive's own work.
const MOST: f64 = 0.9;
/// The minimum share of long waits (ninth decile) that short ones (first) have, where a drive suspends between short pulses:
/// each takes the suspension at least. Those for whole operations begin at nothing.
const LEAST_OF_SPREAD: f64 = 0.2;
/// Most waits for a command are no longer than this, in microseconds. Chosen: above the command times of SATA drives,
/// below the times in which most flash suspends an operation.
const MOST_COMMAND_US: f64 = 15.0;
/// The share of the waits up to which they may be longer than that where many are of one length. Chosen.
const MOST_BEYOND: f64 = 0.2;
/// The third quartile of waits for whole operations is longer than this, in microseconds. Chosen: waits for the
/// link or the controller are shorter, and program operations take 100 us and more.
const LEAST_QUARTILE_US: f64 = 75.0;
/// Waits of this length, in microseconds, are needed where reads wait for whole operations. Chosen: a program operation
/// of several bits takes 500 to 4,000 us. The pulses between which a drive may suspend it take 20 to 100 us with their
/// verification, programs of a fast cache 100 to 400 us, and some drives let an operation run for as long before they
/// suspend it.
const LONG_US: f64 = 600.0;
/// The share of the waits that have to be so long, beyond [`OUTLIERS`] times what reads alone show.
const LEAST_LONG: f64 = 0.05;
/// See [`LEAST_LONG`].
const OUTLIERS: f64 = 4.0;

/// Returns 1 where reads suspend program operations and 0 where they wait for them, from latencies of reads
/// alone and during writes, in microseconds.
///
/// # Errors
/// Too few reads waited, or their waits are neither constant nor spread.
pub fn find(alone: &[f64], during: &[f64]) -> Identified {
    let percentile = |values: &[f64], share| summary::percentile(values, share).unwrap_or(0.0);
    if alone.len() < LEAST_READS || during.len() < LEAST_READS {
        return refuse(format!("{} and {} reads are too few", alone.len(), during.len()));
    }
    let base = percentile(alone, 0.5);
    let noise = percentile(alone, 0.75) - percentile(alone, 0.25);
    let beyond_pages = percentile(alone, OF_ALONE) - base + LEAST_WAIT_US;
    let least = LEAST_WAIT_US.max((BEYOND_NOISE * noise).min(beyond_pages));
    let waits: Vec<f64> = during.iter().map(|us| us - base).filter(|us| *us > least).collect();
    let share = waits.len() as f64 / during.len() as f64;
    if share < LEAST_WAITS {
        return refuse(format!(
            "{:.1} % of the reads during writes waited more than {}",
            share * 100.0,
            latency(least)
        ));
    }
    let median = percentile(&waits, 0.5);
    let spread = (percentile(&waits, 0.75) - percentile(&waits, 0.25)) / median;
    let densest = densest(&waits, LEAST_WINDOW_US.max(2.0 * noise));
    if spread <= CONSTANT && median >= MOST_SUSPENSION_US {
        return refuse(format!(
            "waits of one length, {}, may be whole operations that begin together",
            latency(median)
        ));
    }
    let long = |us: &&f64| **us > base + LONG_US;
    let (outliers, found) =
        (alone.iter().filter(long).count() + 1, during.iter().filter(long).count());
    let expected = outliers as f64 * during.len() as f64 / alone.len() as f64;
    let is_long = found as f64 >= OUTLIERS * expected + LEAST_LONG * waits.len() as f64;
    // Waits for the link and for commands are short as well, compared with those for whole operations.
    let (beyond, short): (Vec<f64>, Vec<f64>) =
        waits.iter().partition(|us| **us > MOST_SUSPENSION_US);
    let share_beyond = beyond.len() as f64 / waits.len() as f64;
    let is_short = share_beyond <= 1.0 - MOST
        && percentile(&waits, 0.1) >= LEAST_OF_SPREAD * percentile(&waits, 0.9);
    let is_dense = densest >= DENSE.1 && median < MOST_SUSPENSION_US;
    let of_beyond = is_long
        && beyond.len() as f64 >= LEAST_WAITS * during.len() as f64
        && percentile(&short, 0.5) <= MOST_COMMAND_US;
    if !is_long && share_beyond <= MOST_BEYOND && (spread <= CONSTANT || is_short || is_dense) {
        Ok(Value::exact(1.0))
    } else if is_spread(&waits, noise) || of_beyond && is_spread(&beyond, noise) {
        match is_long {
            true => Ok(Value::exact(0.0)),
            false => refuse(format!(
                "{found} of {} waits are longer than {}: the others may be those for a pulse of an operation that is \
                 suspended after it",
                waits.len(),
                latency(LONG_US)
            )),
        }
    } else {
        refuse(format!(
            "waits of {} fit neither a suspension nor a whole operation",
            latency(median)
        ))
    }
}

/// Returns whether `waits` are of all lengths, and longer than those for the link or the controller.
fn is_spread(waits: &[f64], noise: f64) -> bool {
    let percentile = |share| summary::percentile(waits, share).unwrap_or(0.0);
    (percentile(0.75) - percentile(0.25)) / percentile(0.5) >= SPREAD
        && densest(waits, LEAST_WINDOW_US.max(2.0 * noise)) <= DENSE.0
        && percentile(0.75) > LEAST_QUARTILE_US
}

/// Returns the largest share of `waits` in a window of `width`.
fn densest(waits: &[f64], width: f64) -> f64 {
    let mut sorted = waits.to_vec();
    sorted.sort_by(f64::total_cmp);
    let (mut first, mut most) = (0, 0);
    for last in 0..sorted.len() {
        while sorted[last] - sorted[first] > width {
            first += 1;
        }
        most = most.max(last + 1 - first);
    }
    most as f64 / sorted.len().max(1) as f64
}

#[cfg(test)]
mod tests {
    use super::*;
    use ssdgauge_core::Random;

    #[test]
    fn pages_of_different_times_hide_neither_a_suspension_nor_waits_for_operations() {
        let mut random = Random::new(9, 10);
        let mut reads = |count: u32, wait: fn(f64) -> f64| -> Vec<f64> {
            let mut read = |i: u32| {
                let sense = [28.0, 40.0, 55.0][random.below(3) as usize];
                let wait = if i.is_multiple_of(4) { wait(random.unit()) } else { 0.0 };
                30.0 + sense + wait + 2.0 * random.exponential()
            };
            (0..count).map(&mut read).collect()
        };
        let alone = reads(2_000, |_| 0.0);
        assert_eq!(find(&alone, &reads(2_000, |_| 30.0)), Ok(Value::exact(1.0)));
        assert_eq!(find(&alone, &reads(2_000, |unit| 900.0 * unit)), Ok(Value::exact(0.0)));
        assert!(find(&alone, &reads(2_000, |_| 0.0)).is_err());
    }

    #[test]
    fn constant_waits_are_a_suspension_and_spread_ones_are_not() {
        let mut random = Random::new(9, 9);
        let alone: Vec<f64> = (0..500).map(|_| 70.0 + random.exponential()).collect();
        let mut during = |wait: fn(f64) -> f64| -> Vec<f64> {
            let mut read = |i: u32| {
                let wait = if i.is_multiple_of(4) { wait(random.unit()) } else { 0.0 };
                70.0 + wait + random.exponential()
            };
            (0..1_000).map(&mut read).collect()
        };
        assert_eq!(find(&alone, &during(|_| 25.0)), Ok(Value::exact(1.0)));
        assert_eq!(find(&alone, &during(|unit| 900.0 * unit)), Ok(Value::exact(0.0)));
        assert!(find(&alone, &during(|_| 0.0)).is_err());
        // Most reads wait for a command, and some for whole operations.
        let controller = |unit: f64| if unit < 0.7 { 8.0 } else { 3_000.0 * (unit - 0.7) };
        assert_eq!(find(&alone, &during(controller)), Ok(Value::exact(0.0)));
        let cache_alone = |unit: f64| if unit < 0.7 { 8.0 } else { 1_000.0 * (unit - 0.7) };
        assert!(find(&alone, &during(cache_alone)).is_err());
        // Between pulses of 50 us: shorter than any program operation.
        assert_eq!(find(&alone, &during(|unit| 20.0 + 50.0 * unit)), Ok(Value::exact(1.0)));
        // Whole programs of 95 us.
        assert!(find(&alone, &during(|unit| 95.0 * unit)).is_err());
        // Between pulses of 200 us, or a fast cache: nothing tells them apart.
        let pulses = find(&alone, &during(|unit| 20.0 + 200.0 * unit)).unwrap_err();
        assert!(pulses.0.contains("pulse"), "{pulses:?}");
        // Reads that come at one phase of programs wait for one time as well.
        assert!(find(&alone, &during(|_| 600.0)).is_err());
    }
}
