//! The write buffer: a page is acknowledged as soon as it has a slot here.
//!
//! Slots are freed in the order of the program operations, as in a ring buffer. The buffer must
//! never hold more pages than it has slots.

use crate::time::SimTime;
use std::collections::VecDeque;

/// The write buffer, in pages.
#[derive(Clone, Debug)]
pub(crate) struct WriteBuffer {
    slots: u32,
    used: u32,
    /// Program operations in order: when each ends and how many slots it frees.
    programs: VecDeque<(SimTime, u32)>,
    /// When the last page that had to wait got its slot.
    room_at: SimTime,
}

impl WriteBuffer {
    /// Returns an empty buffer of `slots` pages.
    pub(crate) fn new(slots: u32) -> WriteBuffer {
        WriteBuffer { slots, used: 0, programs: VecDeque::new(), room_at: 0 }
    }

    /// Reserves a slot for one page that arrives at `at`, and returns when it gets the slot.
    #[inline]
    pub(crate) fn insert(&mut self, at: SimTime) -> SimTime {
        if self.used == self.slots {
            // The geometry demands room for three units. The host has at most two open units (one
            // in the cache, one parked), so at least one program operation is under way here.
            let (end, pages) =
                self.programs.pop_front().expect("a full buffer has a program under way");
            self.room_at = self.room_at.max(end);
            self.used -= pages;
        }
        self.used += 1;
        self.room_at.max(at)
    }

    /// Returns when a page that arrives at `at` is in the slot of the last one.
    pub(crate) fn share(&self, at: SimTime) -> SimTime {
        self.room_at.max(at)
    }

    /// Records a program operation that ends at `end` and frees `pages` slots.
    #[inline]
    pub(crate) fn add_program(&mut self, end: SimTime, pages: u32) {
        self.programs.push_back((end, pages));
    }

    /// Returns the program operations whose slots are not reused yet, in their order: when each ends, and its pages.
    pub(crate) fn programs(&self) -> impl DoubleEndedIterator<Item = (SimTime, u32)> {
        self.programs.iter().copied()
    }

    /// Returns when the last program operation of those whose slots are not reused yet ends.
    pub(crate) fn last_program_end(&self) -> SimTime {
        self.programs.iter().map(|(end, _)| *end).max().unwrap_or(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_buffer_waits_for_its_oldest_program() {
        let mut buffer = WriteBuffer::new(6);
        (0..6).for_each(|_| assert_eq!(buffer.insert(10), 10));
        buffer.add_program(500, 2);
        buffer.add_program(300, 2);
        assert_eq!(buffer.insert(20), 500);
        assert_eq!(buffer.insert(20), 500);
        // Slots are freed in order: the second program ended before the first.
        assert_eq!(buffer.insert(30), 500);
        assert_eq!(buffer.insert(900), 900);
    }
}
