//! What a loss of power takes from the write buffer: an injected fault.
//!
//! Every write since the last flush that was not programmed is remembered. A page counts as lost where it was
//! acknowledged before the power was cut, and programmed or flushed after that.

use crate::time::SimTime;
use std::collections::BTreeMap;

/// What a page holds that was not written before.
const ZEROS: &str = "zeros";
/// What it holds otherwise.
const OLDER: &str = "older data";

/// The pages that a loss of power takes.
#[derive(Clone, Debug)]
pub(crate) struct Losable {
    /// When the power is cut.
    cut: SimTime,
    /// Pages in program units that are not full, in the order of their writes, with what a read finds where they are
    /// lost. They were acknowledged before the power is cut.
    buffered: Vec<(u32, &'static str)>,
    /// Pages that are lost once the power was cut.
    lost: BTreeMap<u32, &'static str>,
}

impl Losable {
    /// Returns the memory of a drive whose power is cut at `cut`.
    pub(crate) fn new(cut: SimTime) -> Losable {
        Losable { cut, buffered: Vec::new(), lost: BTreeMap::new() }
    }

    /// Returns what a read of `page` finds where its last write is lost; `is_mapped` before that write.
    fn found(&self, page: u32, is_mapped: bool) -> &'static str {
        let buffered = self.buffered.iter().find(|(other, _)| *other == page);
        let known = buffered.map(|(_, found)| *found).or_else(|| self.lost.get(&page).copied());
        known.unwrap_or(if is_mapped { OLDER } else { ZEROS })
    }

    /// Returns what a read of each of `pages` finds where a write of them that follows is lost.
    pub(crate) fn before_write(
        &self,
        pages: std::ops::RangeInclusive<u32>,
        is_mapped: impl Fn(u32) -> bool,
    ) -> Vec<(u32, &'static str)> {
        pages.map(|page| (page, self.found(page, is_mapped(page)))).collect()
    }

    /// Records that `written` was acknowledged at `end`. Of everything that is buffered, `open` lies in units that are not
    /// full; the rest is programmed by `programs`, each with its end and its pages, the oldest first.
    pub(crate) fn record(
        &mut self,
        written: Vec<(u32, &'static str)>,
        end: SimTime,
        open: &[u32],
        programs: impl DoubleEndedIterator<Item = (SimTime, u32)>,
    ) {
        for (page, _) in &written {
            self.lost.remove(page);
            self.buffered.retain(|(other, _)| other != page);
        }
        // A request in flight is sent again by its host.
        if end <= self.cut {
            self.buffered.extend(written);
        }
        let (open, programmed): (Vec<_>, Vec<_>) =
            self.buffered.drain(..).partition(|(page, _)| open.contains(page));
        self.buffered = open;
        let ends = programs.rev().flat_map(|(end, pages)| (0..pages).map(move |_| end));
        // Operations are listed until their slots in the buffer are used again. Pages that none of
        // those listed accounts for were programmed by earlier ones, which have ended.
        let is_late = ends.map(|end| end > self.cut).chain(std::iter::repeat(false));
        let late = programmed.into_iter().rev().zip(is_late).filter(|(_, is_late)| *is_late);
        self.lost.extend(late.map(|(page, _)| page));
    }

    /// Records that everything that was written is durable at `end`.
    pub(crate) fn flush(&mut self, end: SimTime) {
        if end <= self.cut {
            self.buffered.clear();
        }
    }

    /// Returns what a read of `page` finds at `now` where that is not the data that was written last.
    pub(crate) fn lost_at(&self, page: u32, now: SimTime) -> Option<&'static str> {
        let is_lost = || {
            let buffered = self.buffered.iter().find(|(other, _)| *other == page);
            buffered.map(|(_, found)| *found).or_else(|| self.lost.get(&page).copied())
        };
        if now >= self.cut { is_lost() } else { None }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn acknowledged_pages_are_lost_until_they_are_programmed_or_flushed() {
        let mut losable = Losable::new(100);
        let write = |losable: &mut Losable, pages: [u32; 2], end, open: &[u32], programs: &[_]| {
            let written = losable.before_write(pages[0]..=pages[1], |page| page < 10);
            losable.record(written, end, open, programs.iter().copied());
        };
        // Two units of two pages: one is programmed before the power is cut, one after.
        write(&mut losable, [0, 1], 20, &[], &[(90, 2)]);
        write(&mut losable, [2, 3], 30, &[], &[(90, 2), (120, 2)]);
        write(&mut losable, [10, 10], 40, &[10], &[(90, 2), (120, 2)]);
        let found = |losable: &Losable| [0, 1, 2, 3, 10].map(|page| losable.lost_at(page, 100));
        assert_eq!(found(&losable), [None, None, Some(OLDER), Some(OLDER), Some(ZEROS)]);
        assert_eq!(losable.lost_at(10, 99), None);
        let mut flushed = losable.clone();
        flushed.flush(100);
        assert_eq!(flushed.lost_at(10, 100), None);
        losable.flush(101);
        assert_eq!(losable.lost_at(10, 100), Some(ZEROS));
        // A request in flight is not a loss, and a page that is written again is none any more.
        write(&mut losable, [3, 3], 101, &[3, 10], &[(120, 2)]);
        assert_eq!(found(&losable), [None, None, Some(OLDER), None, Some(ZEROS)]);
    }
}
