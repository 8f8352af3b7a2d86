//! The write buffer: a page is acknowledged once it has a place here.
//!
//! Places are given back in the order of the program operations. The buffer must never hold more
//! pages than it has places.

use crate::flash::Moment;
use std::collections::VecDeque;

/// The write buffer, in pages.
#[derive(Clone, Debug)]
pub(crate) struct Buffer {
    places: u32,
    taken: u32,
    /// Program operations in order: when each ends and how many pages it frees.
    programs: VecDeque<(Moment, u32)>,
    /// When the last page that had to wait got its place.
    room_at: Moment,
}

impl Buffer {
    /// Returns an empty buffer of `places` pages.
    pub(crate) fn new(places: u32) -> Buffer {
        Buffer { places, taken: 0, programs: VecDeque::new(), room_at: 0 }
    }

    /// Takes a place for one page that arrives at `at`, and returns when it has it.
    #[inline]
    pub(crate) fn insert(&mut self, at: Moment) -> Moment {
        if self.taken == self.places {
            // Two open units hold fewer pages than the buffer, so a program is always under way.
            let (end, pages) =
                self.programs.pop_front().expect("a full buffer is being programmed");
            self.room_at = self.room_at.max(end);
            self.taken -= pages;
        }
        self.taken += 1;
        self.room_at.max(at)
    }

    /// Notes a program operation that ends at `end` and frees `pages` places.
    #[inline]
    pub(crate) fn programmed(&mut self, end: Moment, pages: u32) {
        self.programs.push_back((end, pages));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_buffer_waits_for_its_oldest_program() {
        let mut buffer = Buffer::new(6);
        (0..6).for_each(|_| assert_eq!(buffer.insert(10), 10));
        buffer.programmed(500, 2);
        buffer.programmed(300, 2);
        assert_eq!(buffer.insert(20), 500);
        assert_eq!(buffer.insert(20), 500);
        // Places are given back in order: the second program was done before the first.
        assert_eq!(buffer.insert(30), 500);
        assert_eq!(buffer.insert(900), 900);
    }
}
