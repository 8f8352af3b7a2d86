//! The completion queue: requests in flight in the order of their completion.
//!
//! It must never return a completion before an earlier one.

use crate::time::SimTime;
use ssdgauge_core::Nanos;
use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

/// The low bits of a key hold the slot of the request; the time lies above them, so that keys are
/// ordered by time and a comparison takes one instruction.
const SLOT_BITS: u32 = 16;

/// The maximum number of requests in flight.
pub(crate) const MAX_IN_FLIGHT: u64 = 1 << SLOT_BITS;

/// The longest time that fits into a key next to a slot: 78 hours.
pub(crate) const MAX_TIME: Nanos = Nanos(1 << (64 - SLOT_BITS));

/// A completion of the loop.
pub(crate) struct Completion {
    /// When, from the start of the step.
    pub(crate) at: SimTime,
    /// The slot of its request.
    pub(crate) slot: usize,
}

/// Requests in flight, the earliest completion first.
///
/// Completions mostly come in the order of submission: those wait in a plain queue, and only the
/// others need a heap.
#[derive(Default)]
pub(crate) struct CompletionQueue {
    in_order: VecDeque<u64>,
    others: BinaryHeap<Reverse<u64>>,
}

impl CompletionQueue {
    /// Adds the request in `slot`, which completes at `at` from the start of the step.
    #[inline(always)]
    pub(crate) fn push(&mut self, at: SimTime, slot: usize) {
        debug_assert!(at < MAX_TIME.0 && (slot as u64) < MAX_IN_FLIGHT, "time and slot fit a key");
        let key = at << SLOT_BITS | slot as u64;
        match self.in_order.back() {
            Some(last) if *last > key => self.others.push(Reverse(key)),
            Some(_) | None => self.in_order.push_back(key),
        }
    }

    /// Returns the time of the earliest completion.
    #[inline]
    pub(crate) fn first(&self) -> Option<SimTime> {
        let other = self.others.peek().map(|Reverse(other)| *other);
        let key = self.in_order.front().copied().into_iter().chain(other).min();
        key.map(|key| key >> SLOT_BITS)
    }

    /// Takes the earliest completion.
    #[inline(always)]
    pub(crate) fn pop(&mut self) -> Option<Completion> {
        self.pop_key().map(|key| Completion {
            at: key >> SLOT_BITS,
            slot: (key & (MAX_IN_FLIGHT - 1)) as usize,
        })
    }

    #[inline(always)]
    fn pop_key(&mut self) -> Option<u64> {
        match (self.in_order.front(), self.others.peek()) {
            (Some(first), Some(Reverse(other))) if other < first => {
                self.others.pop().map(|Reverse(key)| key)
            }
            (Some(_), _) => self.in_order.pop_front(),
            (None, _) => self.others.pop().map(|Reverse(key)| key),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ssdgauge_core::Random;

    #[test]
    fn completions_are_returned_in_order_of_time_for_any_order_of_submission() {
        let mut random = Random::new(3, 0);
        let mut queue = CompletionQueue::default();
        let mut last = 0;
        for slot in 0..64 {
            queue.push(random.below(1_000), slot);
        }
        for _ in 0..100_000 {
            let Completion { at, slot } = queue.pop().unwrap();
            assert!(at >= last);
            last = at;
            // As in a closed loop, each request completes after the one that it follows.
            queue.push(at + random.below(5_000), slot);
        }
        let rest: Vec<Completion> = std::iter::from_fn(|| queue.pop()).collect();
        let mut slots: Vec<usize> = rest.iter().map(|completion| completion.slot).collect();
        slots.sort_unstable();
        assert_eq!(slots, (0..64).collect::<Vec<_>>());
        assert!(rest.is_sorted_by_key(|completion| completion.at) && rest[0].at >= last);
    }
}
