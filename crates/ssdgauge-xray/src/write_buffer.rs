//! Write buffer: the bytes that a drive takes at full speed before writes wait for native flash.
//!
//! A burst into an empty buffer runs at the rate of the host until it is full, and at that of the flash then. Meanwhile
//! the flash may have taken anything from nothing, where operations are long, to all that its rate allows: the buffer lies
//! between these two cases.

use crate::answer::{Identified, Value, refuse};
use crate::rate::Completions;
use ssdgauge_core::Bytes;
use ssdgauge_core::rounded::number;
use ssdgauge_statistics::summary;

/// The bursts that are needed.
const LEAST: usize = 3;
/// The rate after the buffer is full, as a share of that before, from which on its end does not show. Chosen.
const TOO_FAST: f64 = 0.7;
/// The share of the ends of two bursts by which they may differ. Chosen.
const AGREE: f64 = 0.15;
/// The share of a pause that the flash may need to empty the buffer. Chosen.
const EMPTIED: f64 = 0.8;
/// The share by which the rate after that may differ from the native one. Chosen: a burst is short.
const NATIVE: f64 = 0.25;
/// By how much more than on average the flash may take in the beginning, as a share. Chosen.
const MORE: f64 = 0.05;
/// The longest program operation, in nanoseconds: the flash has taken nothing before the first one ends. Chosen: those of
/// four bits take up to 4 ms.
const LONGEST_NS: f64 = 5e6;
/// The minimum ratio of the ends of the interval. Chosen.
const NARROW: f64 = 0.5;
/// The blocks from which the rate of the host is read: a buffer holds more.
const HOST: std::ops::Range<usize> = 1..6;

/// A burst of writes after a pause.
#[derive(Clone, Debug, PartialEq)]
pub struct Refill {
    /// The pause, in seconds, in which the drive was only read.
    pub pause_s: f64,
    /// When each write was completed.
    pub writes: Completions,
}

/// The end of the buffer in a burst: its place, the rates in bytes per nanosecond, and the longest time without a
/// completion after it.
#[derive(Clone, Copy, Debug, PartialEq)]
struct End {
    bytes: f64,
    ns: f64,
    before: f64,
    after: f64,
    gap: f64,
}

impl End {
    /// Returns the minimum and the maximum that the flash may have taken before: from the end of the first operation on, in
    /// portions whose time shows in the gaps, and from the start on.
    fn taken(&self) -> [f64; 2] {
        let portions = self.ns - LONGEST_NS - 2.0 * self.gap;
        [(1.0 - MORE) * self.after * portions.max(0.0), (1.0 + MORE) * self.after * self.ns]
    }
}

/// Returns the bytes of the write buffer; `native_mb_s` is the rate once a fast cache is full, where there is one.
///
/// # Errors
/// The flash is nearly as fast as the host, bursts differ, or something else than native flash empties the buffer.
pub fn find(refills: &[Refill], native_mb_s: Option<f64>) -> Identified {
    if refills.len() < LEAST {
        return refuse(format!("{} bursts are too few", refills.len()));
    }
    let mut ends = Vec::with_capacity(refills.len());
    for refill in refills {
        let Some(end) = end(&refill.writes) else {
            return refuse("a burst is too short");
        };
        let [before, after] = [end.before, end.after].map(|rate| number(rate * 1e3));
        if end.after > TOO_FAST * end.before {
            return refuse(format!("bursts run at {before} MB/s first and at {after} MB/s later"));
        }
        if end.bytes / end.after > EMPTIED * refill.pause_s * 1e9 {
            return refuse(format!(
                "a pause of {:.0} s is too short to empty {} at {after} MB/s",
                refill.pause_s,
                Bytes(end.bytes as u64).about()
            ));
        }
        let is_native = |native: f64| (end.after * 1e3 / native - 1.0).abs() <= NATIVE;
        if native_mb_s.is_some_and(|native| !is_native(native)) {
            return refuse(format!(
                "bursts end at {after} MB/s, which is not the rate once the fast cache is full"
            ));
        }
        ends.push(end);
    }
    let of = |which: fn(&End) -> f64, share: f64| {
        let values: Vec<f64> = ends.iter().map(which).collect();
        summary::percentile(&values, share).unwrap_or(0.0)
    };
    let [least, most] = [0.0, 1.0].map(|share| of(|end| end.bytes, share));
    if most > (1.0 + AGREE) * least {
        let [least, most] = [least, most].map(|bytes| Bytes(bytes as u64).about());
        return refuse(format!("bursts slow down after {least} to {most}"));
    }
    // What is left of an operation that is not full takes room as well: the bursts differ by it.
    let block = refills[0].writes.block as f64;
    let low = of(|end| end.bytes - end.taken()[1], 0.5) - block;
    let high = of(|end| end.bytes - end.taken()[0], 1.0) + (most - least) + 2.0 * block;
    match low >= NARROW * high {
        true => Ok(Value { value: 0.5 * (low + high), low, high }),
        false => refuse(format!(
            "it lies between {} and {}: what the flash took meanwhile is not known",
            Bytes(low.max(0.0) as u64).about(),
            Bytes(high as u64).about()
        )),
    }
}

/// Returns where the rate of a burst falls from that of its first blocks to that of its last third: the point that is
/// farthest above a line with their geometric mean as its slope.
fn end(writes: &Completions) -> Option<End> {
    let mut at: Vec<f64> = writes.at.iter().map(|at| at.0 as f64).collect();
    at.sort_by(f64::total_cmp);
    if at.len() < 4 * HOST.end {
        return None;
    }
    let block = writes.block as f64;
    let rate = |from: usize, to: usize| (to - from) as f64 * block / (at[to] - at[from]).max(1.0);
    let before = rate(HOST.start, HOST.end);
    let after = rate(at.len() / 3 * 2, at.len() - 1);
    let middle = (before * after).sqrt();
    let above = |number: usize| (number + 1) as f64 * block - middle * at[number];
    let number = (0..at.len()).max_by(|one, other| above(*one).total_cmp(&above(*other)))?;
    let gap = at[number..].windows(2).map(|two| two[1] - two[0]).fold(0.0, f64::max);
    Some(End { bytes: (number + 1) as f64 * block, ns: at[number], before, after, gap })
}

#[cfg(test)]
mod tests {
    use super::*;
    use ssdgauge_core::Nanos;

    const BLOCK: u64 = 131_072;

    /// Returns a burst into a buffer of `blocks`, by a host that takes 40 us for each; the flash takes `group` of them
    /// every `group` times `us`, the first time after the first operation.
    fn refill(blocks: usize, us: f64, group: usize, pause_s: f64) -> Refill {
        let mut at: Vec<f64> = Vec::new();
        for number in 0..1_500usize {
            let host = at.last().copied().unwrap_or(0.0) + 40.0;
            let released = match number.checked_sub(blocks) {
                Some(over) => (over / group + 1) as f64 * group as f64 * us,
                None => 0.0,
            };
            at.push(host.max(released));
        }
        let at = at.into_iter().map(|us| Nanos((us * 1e3) as u64)).collect();
        Refill { pause_s, writes: Completions { block: BLOCK, depth: 8, at, host_load: 0.0 } }
    }

    fn found(blocks: usize, us: f64, group: usize) -> Identified {
        let refills = [1.0, 2.0, 1.0].map(|pause_s| refill(blocks, us, group, pause_s));
        find(&refills, None)
    }

    #[test]
    fn a_buffer_lies_between_nothing_and_all_that_the_flash_took() {
        for (blocks, us, group) in
            [(64, 300.0, 1), (64, 300.0, 16), (64, 300.0, 64), (400, 200.0, 8)]
        {
            let value = found(blocks, us, group).unwrap();
            assert!(
                value.contains((blocks as u64 * BLOCK) as f64),
                "{blocks} {us} {group} {value:?}"
            );
            assert!(value.width() < 0.35, "{value:?}");
        }
    }

    #[test]
    fn fast_flash_other_flash_short_pauses_and_unequal_bursts_are_refused() {
        let good = [1.0, 2.0, 1.0].map(|pause_s| refill(64, 300.0, 4, pause_s));
        let with = |last: Refill| {
            let mut refills = good.clone();
            refills[2] = last;
            refills
        };
        for (refills, native, words) in [
            (with(refill(64, 45.0, 4, 1.0)), None, "first and at"),
            (with(refill(90, 300.0, 4, 1.0)), None, "slow down after"),
            (with(refill(64, 300.0, 4, 0.01)), None, "too short to empty"),
            (good.clone(), Some(900.0), "not the rate"),
        ] {
            let reason = find(&refills, native).unwrap_err().0;
            assert!(reason.contains(words), "{reason}");
        }
        assert!(find(&good, Some(440.0)).is_ok());
        assert!(find(&good[..2], None).unwrap_err().0.contains("too few"));
        let wide = found(64, 70.0, 1).unwrap_err().0;
        assert!(wide.contains("lies between"), "{wide}");
    }
}
