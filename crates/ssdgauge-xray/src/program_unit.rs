//! Program unit: the bytes of a program operation on one unit; where planes read by themselves, each of them is one.
//!
//! Rates show only its ratio to the program time: bytes = rate × time ÷ units, where the units limit the rate. A full write
//! buffer has room again when an operation ends, for its bytes: writes at depth are completed in groups. Both have to agree.

use crate::answer::{Identified, Refusal, Value, refuse};
use crate::rate::Completions;
use ssdgauge_core::Bytes;

/// The minimum and the maximum number of blocks of an operation that are counted.
const BLOCKS: std::ops::RangeInclusive<usize> = 4..=256;
/// By which share the bytes of the rate may miss those of the groups. Chosen: the program time is known to some percent.
const AGREE: (f64, f64) = (0.93, 1.06);
/// The share of the time that passes between groups. Chosen: chance gives one divided by the blocks.
const BETWEEN: f64 = 0.6;
/// The share of the buffer that an operation takes at most; a buffer that is emptied as a whole hides its operations.
const OF_BUFFER: f64 = 0.25;
/// The share of the completions that is left out in the beginning, until the buffer is full.
const LEFT_OUT: usize = 4;

/// Returns the bytes of a program operation, from `writes` in ascending order into a full buffer, listed in the order in which
/// they were sent; the `program_time` in microseconds, the units that program at the same time, and the write buffer.
///
/// # Errors
/// One of the others is not identified, or groups and rate disagree.
pub fn find(
    writes: &Completions,
    program_time: &Identified,
    units: &Identified,
    buffer: &Identified,
) -> Identified {
    let needed = |name: &str, found: &Identified| match found {
        Ok(value) => Ok(*value),
        Err(reason) => Err(Refusal(format!("needs the {name}: {}", reason.0))),
    };
    let time = needed("program time", program_time)?;
    let units = needed("parallel units", units)?;
    let buffer = needed("write buffer", buffer)?;
    let at: Vec<f64> = writes.at.iter().map(|at| at.0 as f64 / 1e3).collect();
    let at = &at[at.len() / LEFT_OUT..];
    let gaps = gaps(at);
    let us: f64 = gaps.iter().sum();
    let block = writes.block as f64;
    if gaps.len() < 8 * BLOCKS.end() || us <= 0.0 {
        return refuse(format!("{} writes are too few", at.len()));
    }
    let by_rate = gaps.len() as f64 * block / us * time.value / units.value;
    let agrees = |blocks: &usize| {
        let ratio = by_rate / (*blocks as f64 * block);
        ratio >= AGREE.0 && ratio <= AGREE.1
    };
    let candidates = BLOCKS.filter(agrees).map(|blocks| (between(&gaps, blocks), blocks));
    let best = candidates.max_by(|one, other| one.0.total_cmp(&other.0));
    let about = || Bytes(by_rate.max(0.0) as u64).about();
    match best {
        Some((share, blocks)) if share >= BETWEEN => {
            let bytes = blocks as f64 * block;
            match bytes.max(released(&gaps) * block) <= OF_BUFFER * buffer.low {
                true => Ok(Value::exact(bytes)),
                false => {
                    refuse("the write buffer is emptied in parts that may be more than operations")
                }
            }
        }
        Some((share, _)) => refuse(format!(
            "the rate gives {} if all units program at the same time, but {:.0} % of the time at most passes between \
             groups of as many writes",
            about(),
            share * 100.0
        )),
        None => refuse(format!("the rate gives {}, which cannot be counted", about())),
    }
}

/// Returns by how much later than all before it each write was completed, in the order in which they were sent.
fn gaps(at: &[f64]) -> Vec<f64> {
    let mut last = at.first().copied().unwrap_or(0.0);
    let gap = |at: &f64| {
        let gap = (at - last).max(0.0);
        last = last.max(*at);
        gap
    };
    at.iter().skip(1).map(gap).collect()
}

/// Returns the writes that find room at the same time: those for each of the longest gaps, which together are the time
/// [`BETWEEN`] groups.
fn released(gaps: &[f64]) -> f64 {
    let mut longest = gaps.to_vec();
    longest.sort_by(|one, other| other.total_cmp(one));
    let most = BETWEEN * gaps.iter().sum::<f64>();
    let mut us = 0.0;
    let number = longest.iter().take_while(|gap| {
        us += **gap;
        us < most
    });
    BETWEEN * gaps.len() as f64 / (number.count() + 1) as f64
}

/// Returns the share of the time that passes before one of every `blocks` writes.
fn between(gaps: &[f64], blocks: usize) -> f64 {
    let mut of_place = vec![0.0; blocks];
    for (number, gap) in gaps.iter().enumerate() {
        of_place[number % blocks] += gap;
    }
    of_place.iter().copied().fold(0.0, f64::max) / gaps.iter().sum::<f64>()
}

/// Returns the share of the time that passes before one of every so many KiB of `writes`, by their number.
pub(crate) fn shares(writes: &Completions) -> Vec<(f64, f64)> {
    let at: Vec<f64> = writes.at.iter().map(|at| at.0 as f64).collect();
    let gaps = gaps(&at[at.len() / LEFT_OUT..]);
    let kib = writes.block as f64 / 1_024.0;
    let share = |blocks: usize| (blocks as f64 * kib, 100.0 * between(&gaps, blocks));
    if gaps.iter().any(|gap| *gap > 0.0) { BLOCKS.map(share).collect() } else { Vec::new() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ssdgauge_core::{Nanos, Random};

    /// Returns writes of 4 KiB into a full buffer that has room for `blocks` more every `us`, with a scatter of latencies.
    fn writes(blocks: u64, us: f64) -> Completions {
        let mut random = Random::new(6, 6);
        let at = (0..8_192u64).map(|number| {
            let ended = (number / blocks) as f64 * us + (number % blocks) as f64 * 2.0;
            Nanos(((ended + 4.0 * random.exponential()) * 1e3) as u64)
        });
        Completions { block: 4_096, depth: 32, at: at.collect(), host_load: 0.0 }
    }

    fn known(value: f64) -> Identified {
        Ok(Value::within(value, 0.0, 0.05))
    }

    #[test]
    fn groups_that_agree_with_the_rate_are_operations() {
        // 16 units that take 8,000 us each: one ends every 500 us.
        let (time, buffer) = (known(8_000.0), known(8e6));
        for blocks in [4, 6, 24, 96] {
            let found = find(&writes(blocks, 500.0), &time, &known(16.0), &buffer);
            assert_eq!(found, Ok(Value::exact(blocks as f64 * 4_096.0)), "{blocks}");
        }
        let small = find(&writes(24, 500.0), &time, &known(16.0), &known(3e5)).unwrap_err().0;
        assert!(small.contains("more than operations"), "{small}");
        // A buffer of 1 MiB that is emptied as a whole: its parts look like operations as well.
        let whole = find(&writes(256, 4_000.0), &time, &known(16.0), &known(1.1e6)).unwrap_err().0;
        assert!(whole.contains("more than operations"), "{whole}");
        // The buffer or the channels let fewer units program.
        for units in [10.0, 23.0] {
            let reason = find(&writes(24, 500.0), &time, &known(units), &buffer).unwrap_err().0;
            assert!(reason.contains("the rate gives"), "{units}: {reason}");
        }
    }

    #[test]
    fn nothing_is_found_without_groups_or_without_the_others() {
        let even = writes(1, 8.0);
        let found = find(&even, &known(1_600.0), &known(16.0), &known(8e6)).unwrap_err().0;
        assert!(found.contains("passes between"), "{found}");
        let lacks = find(&even, &refuse("no flush"), &known(16.0), &known(8e6)).unwrap_err().0;
        assert_eq!(lacks, "needs the program time: no flush");
        let few = Completions { at: even.at[..900].to_vec(), ..even };
        assert!(find(&few, &known(1.0), &known(1.0), &known(1.0)).unwrap_err().0.contains("few"));
    }
}
