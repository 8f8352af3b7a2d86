//! The flash of a drive of the second model: a log of pages for each die, its map, and what is copied next.
//!
//! A block is one of all planes of a die. Superblocks do not exist: each die has frontiers and a collector of its
//! own. It must never know the time.

use super::figures::{Figures, SLOT};
use std::collections::VecDeque;

const NONE: u32 = u32::MAX;
/// Marks a page in the write buffer; the other bits tell writes of one page apart.
const BUFFERED: u32 = 1 << 31;

/// Where a page is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    Nowhere,
    Buffer,
    Flash { die: usize, block: u32, row: u32, plane: u32, is_slc: bool },
}

/// What writes a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Writer {
    Cache,
    Host,
    Copies,
}

/// The room for a program operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Room {
    pub(super) first: u32,
    /// Whether its block has to be erased before.
    pub(super) erases: bool,
}

/// Pages that are copied by one program operation.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Copies {
    /// Page of the host and its place before.
    moves: Vec<(u32, u32)>,
    /// Blocks that are free after it.
    frees: Vec<u32>,
    room: Option<Room>,
    /// Senses of native cells, and of cells of one bit.
    pub(super) senses: [u64; 2],
}

impl Copies {
    pub(super) fn pages(&self) -> u64 {
        self.moves.len() as u64
    }
    /// Returns whether the last page of a block is among them.
    pub(super) fn ends_block(&self) -> bool {
        !self.frees.is_empty()
    }
    pub(super) fn erases(&self) -> bool {
        self.room.is_some_and(|room| room.erases)
    }
}

#[derive(Clone, Copy, Debug, Default)]
struct Block {
    is_used: bool,
    is_slc: bool,
    is_victim: bool,
    /// Pages that have room in it, and those of them whose program has ended.
    written: u32,
    programmed: u32,
    valid: u32,
    closed_at: u64,
}

#[derive(Clone, Debug, Default)]
struct Log {
    free: VecDeque<u32>,
    /// Open blocks by writer.
    open: [Option<u32>; 3],
    /// Full blocks of the cache, the oldest first.
    cached: VecDeque<u32>,
    cache_used: u64,
    /// The cache was full and is not yet used again.
    drains: bool,
    victim: Option<(u32, u32)>,
    /// The share of valid pages of the next block to collect, until it is taken.
    next_share: Option<f64>,
}

/// The flash of a drive.
pub(super) struct Flash {
    figures: Figures,
    map: Vec<u32>,
    reverse: Vec<u32>,
    blocks: Vec<Block>,
    logs: Vec<Log>,
    token: u32,
    /// Pages of the host that were programmed, in cells of one bit and in native ones.
    pub(super) host_pages: [u64; 2],
    /// Pages that were copied from the cache, and by collection.
    pub(super) copied_pages: [u64; 2],
    /// Pages of the host before the first one that went to native cells.
    pub(super) before_native: Option<u64>,
}

impl Flash {
    pub(super) fn new(figures: &Figures) -> Flash {
        let (dies, blocks) = (figures.dies as usize, figures.blocks as u32);
        let slots = figures.dies * figures.blocks * figures.block_slots();
        assert!(slots < u64::from(BUFFERED), "{figures:?}");
        let log =
            |die: u32| Log { free: (die * blocks..(die + 1) * blocks).collect(), ..Log::default() };
        Flash {
            figures: figures.clone(),
            map: vec![NONE; (figures.capacity / SLOT) as usize],
            reverse: vec![NONE; slots as usize],
            blocks: vec![Block::default(); dies * blocks as usize],
            logs: (0..dies as u32).map(log).collect(),
            token: 0,
            host_pages: [0; 2],
            copied_pages: [0; 2],
            before_native: None,
        }
    }

    fn slots_of(&self, is_slc: bool) -> u32 {
        let slots = self.figures.block_slots() / if is_slc { self.figures.bits } else { 1 };
        slots as u32
    }

    /// Returns the pages of a program operation.
    pub(super) fn unit_slots(&self, is_slc: bool) -> u32 {
        let bytes = self.figures.unit() / if is_slc { self.figures.bits } else { 1 };
        (bytes / SLOT) as u32
    }

    pub(super) fn place(&self, page: u64) -> Place {
        let at = self.map[page as usize];
        if at == NONE {
            return Place::Nowhere;
        }
        if at & BUFFERED != 0 {
            return Place::Buffer;
        }
        let slots = self.figures.block_slots() as u32;
        let (block, slot) = (at / slots, at % slots);
        let number = slot / (self.figures.page / SLOT) as u32;
        let planes = self.figures.planes as u32;
        Place::Flash {
            die: block as usize / self.figures.blocks as usize,
            block,
            row: number / planes,
            plane: number % planes,
            is_slc: self.blocks[block as usize].is_slc,
        }
    }

    /// Takes `page` into the write buffer; returns what tells this write apart.
    pub(super) fn buffer(&mut self, page: u64) -> u32 {
        self.unmap(page);
        self.token = (self.token + 1) % (BUFFERED - 1);
        self.map[page as usize] = BUFFERED | self.token;
        self.token
    }

    pub(super) fn unmap(&mut self, page: u64) {
        let at = std::mem::replace(&mut self.map[page as usize], NONE);
        if at & BUFFERED == 0 {
            self.invalidate(at);
        }
    }

    fn invalidate(&mut self, at: u32) {
        let number = at / self.figures.block_slots() as u32;
        self.blocks[number as usize].valid -= 1;
        self.release_if_empty(number);
    }

    fn release(&mut self, number: u32) {
        let block = std::mem::take(&mut self.blocks[number as usize]);
        assert!(block.is_used && block.valid == 0, "a block with data was freed: {block:?}");
        let (limit, resume) = (self.figures.cache_blocks, self.figures.resume_blocks);
        let log = &mut self.logs[number as usize / self.figures.blocks as usize];
        log.free.push_back(number);
        if block.is_slc {
            log.cached.retain(|cached| *cached != number);
            log.cache_used -= 1;
            log.drains &= log.cache_used + resume.max(1) > limit;
        }
    }

    /// Returns the pages that the cache of `die` takes before it is full.
    pub(super) fn cache_room(&self, die: usize) -> u64 {
        let (figures, log) = (&self.figures, &self.logs[die]);
        let (free, used) = (log.free.len() as u64, log.cache_used);
        let fixed = figures.fixed_blocks.saturating_sub(used);
        let floor = fixed + figures.reserve + figures.blocks / 32;
        let dynamic = figures.cache_blocks.saturating_sub(used + fixed);
        let blocks = fixed.min(free) + dynamic.min(free.saturating_sub(floor));
        let slots = u64::from(self.slots_of(true));
        let open = log.open[Writer::Cache as usize];
        let open = open.map_or(0, |open| slots - u64::from(self.blocks[open as usize].written));
        blocks * slots + open
    }

    /// Returns whether the next pages of the host go to the cache of `die`, of which `queued` pages are taken.
    pub(super) fn takes_cache(&mut self, die: usize, queued: u64) -> bool {
        if self.figures.cache_blocks == 0 {
            return false;
        }
        if self.figures.is_through {
            return true;
        }
        let fits = self.cache_room(die) >= queued + u64::from(self.unit_slots(true));
        self.logs[die].drains |= !fits;
        !self.logs[die].drains
    }

    /// Returns the free blocks of `die` that native cells may use.
    pub(super) fn available(&self, die: usize) -> u64 {
        let log = &self.logs[die];
        let kept = self.figures.fixed_blocks.saturating_sub(log.cache_used);
        (log.free.len() as u64).saturating_sub(kept)
    }

    pub(super) fn is_cached(&self, die: usize) -> bool {
        self.logs[die].cache_used > 0
    }

    /// Returns the room for a program operation on `die`, where there is some.
    pub(super) fn room(&mut self, die: usize, writer: Writer) -> Option<Room> {
        let is_slc = writer == Writer::Cache;
        let mut erases = false;
        if self.logs[die].open[writer as usize].is_none() {
            let may = match writer {
                Writer::Cache => self.cache_room(die) > 0,
                Writer::Host => self.available(die) > 1,
                Writer::Copies => true,
            };
            let log = &mut self.logs[die];
            let free = if may { log.free.pop_front() } else { None }?;
            log.open[writer as usize] = Some(free);
            log.cache_used += u64::from(is_slc);
            self.blocks[free as usize] = Block { is_used: true, is_slc, ..Block::default() };
            erases = true;
        }
        let number = self.logs[die].open[writer as usize]?;
        let (unit, slots) = (self.unit_slots(is_slc), self.slots_of(is_slc));
        let now = self.host_pages[0] + self.host_pages[1];
        let block = &mut self.blocks[number as usize];
        let first = number * self.figures.block_slots() as u32 + block.written;
        block.written += unit;
        if block.written == slots {
            block.closed_at = now;
            self.logs[die].open[writer as usize] = None;
            if is_slc {
                self.logs[die].cached.push_back(number);
            }
        }
        self.reverse[first as usize..(first + unit) as usize].fill(NONE);
        Some(Room { first, erases })
    }

    /// Maps `pages` of the host that were programmed at `first`.
    pub(super) fn commit(&mut self, first: u32, pages: &[(u32, u32)], is_slc: bool) {
        if !is_slc && self.before_native.is_none() {
            self.before_native = Some(self.host_pages[0]);
        }
        self.host_pages[usize::from(!is_slc)] += pages.len() as u64;
        for (at, (page, token)) in (first..).zip(pages) {
            if self.map[*page as usize] == BUFFERED | token {
                self.settle(*page, at);
            }
        }
        self.end_program(first);
    }

    fn settle(&mut self, page: u32, at: u32) {
        self.map[page as usize] = at;
        self.reverse[at as usize] = page;
        self.blocks[(at / self.figures.block_slots() as u32) as usize].valid += 1;
    }

    /// Ends the program operation at `first`.
    fn end_program(&mut self, first: u32) {
        let number = first / self.figures.block_slots() as u32;
        let unit = self.unit_slots(self.blocks[number as usize].is_slc);
        self.blocks[number as usize].programmed += unit;
        self.release_if_empty(number);
    }

    /// Frees a full block without a valid page, unless pages of it are being copied.
    fn release_if_empty(&mut self, number: u32) {
        let block = self.blocks[number as usize];
        let is_full = block.programmed == self.slots_of(block.is_slc);
        if block.is_used && block.valid == 0 && is_full && !block.is_victim {
            self.release(number);
        }
    }

    /// Returns what is copied next on `die`: pages of the oldest block of its cache, or of the block with the
    /// best ratio of benefit to cost; `None` where nothing can be gained.
    pub(super) fn copies(&mut self, die: usize, folds: bool) -> Option<Copies> {
        let unit = self.unit_slots(false) as usize;
        let per_row = (self.figures.planes * self.figures.page / SLOT) as u32;
        let slots = self.figures.block_slots() as u32;
        let mut copies = Copies::default();
        while copies.moves.len() < unit {
            let begun = self.logs[die].victim;
            let Some((number, from)) = begun.or_else(|| self.victim(die, folds)) else { break };
            let Block { written, is_slc, .. } = self.blocks[number as usize];
            self.blocks[number as usize].is_victim = true;
            self.logs[die].next_share = None;
            let (mut slot, mut row) = (from, NONE);
            while slot < written && copies.moves.len() < unit {
                let at = number * slots + slot;
                let page = self.reverse[at as usize];
                if page != NONE && self.map[page as usize] == at {
                    copies.moves.push((page, at));
                    copies.senses[usize::from(is_slc)] += u64::from(row != slot / per_row);
                    row = slot / per_row;
                }
                slot += 1;
            }
            let is_over = slot == written;
            self.logs[die].victim = (!is_over).then_some((number, slot));
            if is_over {
                copies.frees.push(number);
            }
        }
        if !copies.moves.is_empty() {
            copies.room = self.room(die, Writer::Copies);
            assert!(copies.room.is_some(), "die {die} has no free block left for copies");
        }
        (copies.room.is_some() || !copies.frees.is_empty()).then_some(copies)
    }

    /// Returns the next block to copy from and its first page. An open block of the cache is closed for it.
    fn victim(&mut self, die: usize, folds: bool) -> Option<(u32, u32)> {
        let log = &mut self.logs[die];
        if folds {
            let cached = log.cached.pop_front();
            let oldest = cached.or_else(|| log.open[Writer::Cache as usize].take());
            return oldest.map(|number| (number, 0));
        }
        let (slots, now) = (self.slots_of(false), self.host_pages[0] + self.host_pages[1]);
        let first = die as u32 * self.figures.blocks as u32;
        let mut best = (0.0, None);
        for number in first..first + self.figures.blocks as u32 {
            let block = &self.blocks[number as usize];
            let is_full = block.is_used && !block.is_slc && block.written == slots;
            if is_full && !block.is_victim && block.valid < slots {
                let share = f64::from(block.valid) / f64::from(slots);
                let age = (now - block.closed_at + 1) as f64;
                let score = (1.0 - share) * age / (1.0 + share);
                if score > best.0 {
                    best = (score, Some((number, 0)));
                }
            }
        }
        best.1
    }

    /// Returns the share of valid pages of the block that collection of `die` would take next.
    pub(super) fn valid_share(&mut self, die: usize) -> f64 {
        if let Some(share) = self.logs[die].next_share {
            return share;
        }
        let next = self.logs[die].victim.or_else(|| self.victim(die, false));
        let valid = |number: u32| f64::from(self.blocks[number as usize].valid);
        let share = next.map_or(0.0, |next| valid(next.0) / f64::from(self.slots_of(false)));
        self.logs[die].next_share = next.map(|_| share);
        share
    }

    /// Maps the copied pages that were not overwritten meanwhile, and frees what was copied from.
    pub(super) fn finish(&mut self, copies: &Copies) {
        if let Some(room) = copies.room {
            for (at, (page, before)) in (room.first..).zip(&copies.moves) {
                if self.map[*page as usize] == *before {
                    let block = before / self.figures.block_slots() as u32;
                    let block = &mut self.blocks[block as usize];
                    block.valid -= 1;
                    self.copied_pages[usize::from(!block.is_slc)] += 1;
                    self.settle(*page, at);
                }
            }
            self.end_program(room.first);
        }
        for number in &copies.frees {
            self.release(*number);
        }
    }
}
