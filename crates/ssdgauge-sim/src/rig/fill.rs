//! Fills: every block of a range once, in ascending or in random order.
//!
//! A fill must never write a block twice.

use crate::drive::Drive;
use crate::rig::fault_injection::InjectedFaults;
use crate::rig::instruments::{StepClock, end_second, end_step};
use crate::rig::validation::check_range;
use crate::rig::{POLL_STOP_AFTER, VirtualRig};
use crate::time::SimTime;
use ssdgauge_core::{
    Access, Bytes, Direction, Nanos, Preparation, Prepared, Random, ReadBack, Request, RigError,
    Sink,
};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Requests in flight during a fill.
pub(crate) const DEPTH: usize = 32;

/// A fill in progress.
pub(crate) struct Fill {
    /// The random order; `None` for the ascending one.
    order: Option<Permutation>,
    block: u64,
    offset: u64,
    span: u64,
    blocks: u64,
    /// The ends of the requests in flight.
    in_flight: BinaryHeap<Reverse<SimTime>>,
    /// Requests submitted.
    pub(crate) requests: u64,
    /// Bytes written.
    pub(crate) written: u64,
    /// The last completion so far.
    pub(crate) last_end: SimTime,
}

impl VirtualRig {
    /// Carries out a fill.
    pub(super) fn fill(
        &mut self,
        preparation: &Preparation,
        sink: &mut dyn Sink,
    ) -> Result<Prepared, RigError> {
        let Preparation::Fill { access, block_size, offset, span } = *preparation else {
            return Err(RigError::Refused("the preparation is not a fill".into()));
        };
        check_range(&self.info, offset, span, block_size)?;
        let begin = self.now;
        let truth = self.ground_truth();
        let mut fill = Fill::new(access, block_size, offset, span, self.seed);
        self.drive.begin_step(DEPTH);
        self.drive.end_idle(begin);
        let mut clock = StepClock::new(begin, &self.drive);
        let mut stopped = false;
        while let Some(at) = fill.write_next(&mut self.drive, &self.faults, begin) {
            while at > clock.second_end {
                end_second(&mut self.drive, &mut clock, sink);
                stopped |= sink.stop();
            }
            self.check_gone(at)?;
            if stopped || (fill.requests.is_multiple_of(POLL_STOP_AFTER) && sink.stop()) {
                stopped = true;
                break;
            }
        }
        self.now = fill.last_end.max(begin);
        self.check_gone(self.now)?;
        end_step(&mut self.drive, &clock, self.now, &truth, sink);
        self.record_written(fill.written_offsets(ReadBack::BLOCKS as u64));
        // A fill that was stopped has left blocks out: of its range only pages that the map holds
        // can be verified, and an unmapped page is not an error.
        let written = if stopped { &mut self.reached } else { &mut self.filled };
        written.insert(offset.0, (offset + span).0);
        let method = match access {
            Access::Sequential => "sequential write",
            Access::Random => "random write",
        };
        Ok(Prepared {
            method: method.into(),
            written: Bytes(fill.written),
            elapsed: Nanos(self.now - begin),
            stopped,
        })
    }
}

impl Fill {
    /// Returns a fill of `span` bytes from `offset` in blocks of `block` bytes.
    pub(crate) fn new(access: Access, block: Bytes, offset: Bytes, span: Bytes, seed: u64) -> Fill {
        // The last block may be shorter; it belongs to the range.
        let blocks = span.0.div_ceil(block.0);
        let order = match access {
            Access::Sequential => None,
            Access::Random => Some(Permutation::new(blocks, seed)),
        };
        Fill {
            order,
            block: block.0,
            offset: offset.0,
            span: span.0,
            blocks,
            in_flight: BinaryHeap::with_capacity(DEPTH + 1),
            requests: 0,
            written: 0,
            last_end: 0,
        }
    }

    /// Writes the next block; returns when it was submitted, or `None` when all are written.
    pub(crate) fn write_next(
        &mut self,
        drive: &mut Drive,
        faults: &InjectedFaults,
        begin: SimTime,
    ) -> Option<SimTime> {
        if self.requests == self.blocks {
            return None;
        }
        let at = match self.in_flight.len() < DEPTH {
            true => begin,
            false => self.in_flight.pop().map_or(begin, |Reverse(end)| end),
        };
        let from = self.offset_of(self.requests);
        let bytes = self.block.min(self.span - from);
        let (direction, offset) = (Direction::Write, self.offset + from);
        let request = Request { direction, length: bytes as u32, offset };
        if drive.is_constrained(false) {
            drive.constrain(at, false);
        }
        let end = match faults.damage(request, at) {
            None => drive.submit(at, request, bytes),
            Some(damage) => drive.damage_write(at, request, bytes, damage),
        };
        self.in_flight.push(Reverse(end));
        self.requests += 1;
        self.written += bytes;
        self.last_end = self.last_end.max(end);
        Some(at)
    }

    /// Returns the start of the request with this number, from the start of the range.
    fn offset_of(&self, request: u64) -> u64 {
        self.order.as_ref().map_or(request, |order| order.at(request)) * self.block
    }

    /// Returns the offsets of up to `count` requests, spread over those that were submitted, the last
    /// one among them.
    pub(crate) fn written_offsets(&self, count: u64) -> Vec<u64> {
        let count = count.min(self.requests);
        let numbers = (1..=count).map(|number| self.requests * number / count - 1);
        numbers.map(|number| self.offset + self.offset_of(number)).collect()
    }
}

/// A random order of `0..n` that needs no memory.
///
/// A Feistel network permutes the next power of four; values outside `0..n` are permuted again until
/// they fall inside ("cycle walking", Black and Rogaway, CT-RSA 2002).
#[derive(Clone, Debug)]
pub(crate) struct Permutation {
    n: u64,
    half_bits: u32,
    keys: [u64; 4],
}

impl Permutation {
    /// Returns the order of `0..n` for `seed`.
    pub(crate) fn new(n: u64, seed: u64) -> Permutation {
        let bits = 64 - n.saturating_sub(1).leading_zeros();
        let mut random = Random::new(seed, 0xf111);
        Permutation {
            n,
            half_bits: bits.div_ceil(2).max(1),
            keys: std::array::from_fn(|_| random.next_u64()),
        }
    }

    /// Returns the number at `index` of the order.
    pub(crate) fn at(&self, index: u64) -> u64 {
        debug_assert!(index < self.n, "the index lies in the range");
        let mut value = index;
        // The network covers at most four times the range, so four steps are expected at most; a
        // cycle that begins inside the range returns to it.
        loop {
            value = self.scramble(value);
            if value < self.n {
                return value;
            }
        }
    }

    fn scramble(&self, value: u64) -> u64 {
        let mask = (1u64 << self.half_bits) - 1;
        let (mut left, mut right) = (value >> self.half_bits, value & mask);
        // The constants and shifts of SplitMix64 mix each half; four rounds suffice for an order that
        // only has to look random.
        for key in self.keys {
            let mut mixed = (right ^ key).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            mixed ^= mixed >> 29;
            mixed = mixed.wrapping_mul(0x94d0_49bb_1331_11eb) >> 32;
            (left, right) = (right, left ^ (mixed & mask));
        }
        left << self.half_bits | right
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_random_order_contains_every_number_once() {
        for n in [1, 2, 3, 5, 16, 17, 1_000, 4_097, 65_537] {
            let order = Permutation::new(n, n ^ 7);
            let mut seen = vec![false; n as usize];
            for index in 0..n {
                assert!(!std::mem::replace(&mut seen[order.at(index) as usize], true), "{n}");
            }
        }
    }

    #[test]
    fn a_random_order_differs_from_the_ascending_one() {
        let order = Permutation::new(10_000, 3);
        let kept = (0..10_000).filter(|index| order.at(*index) == *index).count();
        assert!(kept < 10, "{kept}");
    }
}
