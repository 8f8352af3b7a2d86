//! Writes to a drive that compresses or deduplicates: how much flash each page takes follows from its data.
//!
//! A page without flash takes no room in the write buffer, and two half pages take that of one. No half page may wait
//! for another one without a slot.

use crate::ftl::Ftl;
use crate::time::SimTime;
use ssdgauge_core::Data;
use std::ops::Range;

/// How much flash a page takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stored {
    /// A slot.
    Whole,
    /// Half a slot.
    Half,
    /// None: its map entry states what it holds.
    Bare,
}

impl Ftl {
    /// Sets what the next writes hold.
    pub(crate) fn set_data(&mut self, data: Data) {
        self.data = data;
    }

    /// Returns whether how much flash a write takes follows from its data.
    pub(crate) fn reduces(&self) -> bool {
        self.media.geometry.compresses || self.media.geometry.deduplicates
    }

    /// Returns how much flash a page of the next writes takes.
    pub(super) fn stored(&self) -> Stored {
        let geometry = &self.media.geometry;
        match self.data {
            Data::Zeros if geometry.compresses || geometry.deduplicates => Stored::Bare,
            Data::Repeated if geometry.deduplicates => Stored::Bare,
            Data::Half if geometry.compresses => Stored::Half,
            Data::Incompressible | Data::Zeros | Data::Repeated | Data::Half => Stored::Whole,
        }
    }

    /// Writes `pages`; returns when the last is in the buffer, and when the last program operation ends that was
    /// booked for them.
    pub(super) fn write_stored(
        &mut self,
        at: SimTime,
        pages: Range<u32>,
        stored: Stored,
    ) -> (SimTime, SimTime) {
        if !self.reduces() {
            return self.write_pages::<false>(at, pages.start, pages.len() as u32);
        }
        let (mut buffered, mut programmed) = (at, at);
        let step = if stored == Stored::Half { 2 } else { 1 };
        for page in pages.clone().step_by(step) {
            let second = (stored == Stored::Half && page + 1 < pages.end).then_some(page + 1);
            let times = match stored {
                Stored::Bare => {
                    self.media.map.write_bare(page);
                    self.media.truth.spared_pages += 1;
                    (at, at)
                }
                Stored::Half if second.is_none() && self.joins_half(page) => {
                    self.media.truth.spared_pages += 1;
                    (self.buffer.share(at), at)
                }
                Stored::Whole | Stored::Half => self.write_slot(at, page, second, stored),
            };
            buffered = buffered.max(times.0);
            programmed = programmed.max(times.1);
        }
        (buffered, programmed)
    }

    /// Writes a single half page to a slot of the open program unit that another one has to itself; returns whether
    /// there is one.
    fn joins_half(&mut self, page: u32) -> bool {
        self.host.is_some_and(|open| {
            // Slots of earlier units are programmed, and flash is not programmed twice between
            // erases.
            let unit = open.filled - open.filled % open.unit_pages;
            self.media.map.join_half(page, open.superblock, unit)
        })
    }

    /// Writes `page` to the next slot, and with it the half page `second`.
    fn write_slot(
        &mut self,
        at: SimTime,
        page: u32,
        second: Option<u32>,
        stored: Stored,
    ) -> (SimTime, SimTime) {
        let buffered = self.buffer.insert(at);
        let mut open = match self.host {
            Some(open) => open,
            None => self.open_for_host(buffered),
        };
        let map = &mut self.media.map;
        match stored {
            Stored::Half => map.write_halves(page, second, open.superblock, open.filled),
            Stored::Whole | Stored::Bare => map.write_whole(page, open.superblock, open.filled),
        }
        self.media.truth.spared_pages += u64::from(second.is_some());
        open.filled += 1;
        self.host = Some(open);
        // A half page in the last slot is programmed alone: a write never waits for a partner that
        // may not come.
        match open.unit_is_full() {
            true => (buffered, self.program_host_unit(open, open.unit_pages, buffered)),
            false => (buffered, at),
        }
    }
}
