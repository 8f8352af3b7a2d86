//! The SLC cache: superblocks in SLC mode, fixed or borrowed from the free native ones.
//!
//! The cache must never borrow a superblock that garbage collection holds back.

use crate::ftl::map::Map;
use crate::ftl::media::{OpenSuperblock, Victim};
use crate::ftl::valid_pages::Superblock;
use crate::profile::{Geometry, Overflow, SlcFigures};
use std::collections::VecDeque;

/// Free superblocks beyond the reserve that the cache does not borrow: the next one of the host and
/// the next one for copies.
const NOT_LENT: usize = 2;

/// The superblocks of the SLC cache.
#[derive(Clone, Debug)]
pub(crate) struct SlcCache {
    /// Superblocks in SLC mode that are full, the oldest first.
    full: VecDeque<Superblock>,
    /// How many superblocks are borrowed, the one that the host writes to included.
    borrowed: u32,
    /// How many may be borrowed.
    max_borrowed: u32,
    /// Free superblocks that are not lent.
    held_back: usize,
    /// Whether the drive has a cache at all.
    exists: bool,
    overflow: Overflow,
    /// Whether the last host write found the cache full.
    pub(crate) exhausted: bool,
    /// Whether every page that enters forces another one out, so that free room does not mean that
    /// the cache has recovered.
    pub(crate) forced: bool,
}

impl SlcCache {
    /// Returns an empty cache.
    pub(crate) fn new(geometry: &Geometry, slc: &SlcFigures) -> SlcCache {
        SlcCache {
            full: VecDeque::new(),
            borrowed: 0,
            max_borrowed: geometry.slc_borrowed,
            held_back: geometry.reserve as usize + NOT_LENT,
            exists: geometry.slc_superblocks + geometry.slc_borrowed > 0,
            overflow: slc.overflow,
            exhausted: false,
            forced: false,
        }
    }

    /// Returns whether the drive has a cache.
    pub(crate) fn exists(&self) -> bool {
        self.exists
    }

    /// Returns whether writes wait for folding where the cache is full.
    pub(crate) fn folds_first(&self) -> bool {
        self.overflow == Overflow::FoldFirst
    }

    /// Returns whether no superblock of the cache is full.
    pub(crate) fn is_empty(&self) -> bool {
        self.full.is_empty()
    }

    /// Returns how many superblocks of the cache are full.
    pub(crate) fn full_superblocks(&self) -> u64 {
        self.full.len() as u64
    }

    /// Returns the superblocks of the cache that are full.
    pub(crate) fn full(&self) -> impl Iterator<Item = Superblock> + '_ {
        self.full.iter().copied()
    }

    /// Returns whether `superblock` is full of cached data.
    pub(crate) fn holds(&self, superblock: Superblock) -> bool {
        self.full.contains(&superblock)
    }

    /// Returns whether the limit of borrowed superblocks, or of what the drive can lend, is
    /// reached.
    pub(crate) fn borrows_no_more(&self, map: &Map) -> bool {
        self.borrowed >= self.max_borrowed || map.free_superblocks() <= self.held_back
    }

    /// Opens a superblock in SLC mode, fixed ones first; `None` where the cache is full.
    pub(crate) fn open(&mut self, map: &mut Map, geometry: &Geometry) -> Option<OpenSuperblock> {
        // Fixed ones first: one that is borrowed is missing from the spare area of collection.
        let superblock = match map.take_free_slc() {
            Some(superblock) => superblock,
            None if self.borrows_no_more(map) => return None,
            None => {
                self.borrowed += 1;
                map.take_free()?
            }
        };
        Some(OpenSuperblock::new(superblock, true, geometry))
    }

    /// Adds a superblock that the host has filled.
    pub(crate) fn push_full(&mut self, superblock: Superblock) {
        debug_assert!(!self.holds(superblock), "a superblock is filled once");
        self.full.push_back(superblock);
    }

    /// Removes a borrowed superblock, which garbage collection takes.
    pub(crate) fn remove(&mut self, superblock: Superblock) {
        self.full.retain(|other| *other != superblock);
        self.return_borrowed();
    }

    /// Takes the oldest full superblock to fold it.
    pub(crate) fn take_oldest(&mut self, map: &mut Map, geometry: &Geometry) -> Option<Victim> {
        let superblock = self.full.pop_front()?;
        if !map.is_fixed_slc(superblock) {
            // Returned before it is free: the superblock under folding is one of those that the
            // geometry sets aside.
            self.return_borrowed();
            map.exclude(superblock);
        }
        Some(Victim::new(superblock, true, geometry))
    }

    fn return_borrowed(&mut self) {
        assert!(self.borrowed > 0, "only a borrowed superblock is returned");
        self.borrowed -= 1;
    }
}
