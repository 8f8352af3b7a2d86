//! The parts of the pool that writes of different lengths use, in turns.

use std::collections::VecDeque;

/// The parts of the pool that writes in flight use, in the order in which they were taken.
pub(super) struct Parts {
    length: usize,
    next: usize,
    /// Begin, end and whether the write has completed.
    used: VecDeque<(usize, usize, bool)>,
    /// The number of the first of them.
    first: u64,
}

impl Parts {
    /// Returns the parts of a pool of `length` bytes, all of them free.
    pub(super) fn new(length: usize) -> Parts {
        Parts { length, next: 0, used: VecDeque::new(), first: 0 }
    }

    /// Takes the next `length` bytes; `None` where writes in flight use them.
    pub(super) fn take(&mut self, length: usize) -> Option<(usize, u64)> {
        let length = length.next_multiple_of(4_096);
        let Some(&(oldest, ..)) = self.used.front() else {
            self.next = if self.next + length <= self.length { self.next } else { 0 };
            return (length <= self.length).then(|| self.push(self.next, length));
        };
        let at = match self.next > oldest {
            true if self.next + length <= self.length => self.next,
            // One byte less than all of it: equal positions mean that nothing is free.
            true if length < oldest => 0,
            false if self.next + length < oldest => self.next,
            true | false => return None,
        };
        Some(self.push(at, length))
    }

    fn push(&mut self, at: usize, length: usize) -> (usize, u64) {
        let number = self.first + self.used.len() as u64;
        self.used.push_back((at, at + length, false));
        self.next = at + length;
        (at, number)
    }

    /// Frees the part with this number.
    pub(super) fn free(&mut self, number: u64) {
        if let Some(part) = self.used.get_mut((number - self.first) as usize) {
            part.2 = true;
        }
        // In the order of taking: the space is one range that begins with the oldest part in use.
        // Parts that end early wait for it.
        while self.used.front().is_some_and(|part| part.2) {
            self.used.pop_front();
            self.first += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_of_writes_in_flight_never_overlap() {
        let mut random = ssdgauge_core::Random::new(9, 0);
        let mut parts = Parts::new(1 << 20);
        let mut live: Vec<(usize, usize, u64)> = Vec::new();
        let mut refused = 0;
        for _ in 0..50_000 {
            let length = 512 * (1 + random.below(600) as usize);
            match parts.take(length) {
                Some((at, number)) => {
                    assert!(at + length <= 1 << 20);
                    let overlaps = |one: &(usize, usize, u64)| one.0 < at + length && at < one.1;
                    assert!(!live.iter().any(overlaps), "{at} {length}");
                    live.push((at, at + length, number));
                }
                None => refused += 1,
            }
            if !live.is_empty() && random.below(3) > 0 {
                let (.., number) = live.swap_remove(random.below(live.len() as u64) as usize);
                parts.free(number);
            }
        }
        assert!(refused > 0 && refused < 45_000, "{refused}");
        live.into_iter().for_each(|(.., number)| parts.free(number));
        assert!(parts.take(1 << 20).is_some(), "an unused pool is free as a whole");
    }
}
