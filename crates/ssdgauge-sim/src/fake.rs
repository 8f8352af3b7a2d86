//! The contents of blocks that carry a stamp, on a drive that stores them or on one that stores less than
//! it states.
//!
//! It keeps addresses and generations, no data, and only from the first stamped write on: it must never
//! take part in the write path of a load.

use ssdgauge_core::Bytes;
use ssdgauge_core::proof::{Content, Found, PROOF_BLOCK, Stamp};
use std::collections::{BTreeMap, VecDeque};

/// How a drive stores less than it states. Every figure is in blocks of 4 KiB; all are off by default.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Fake {
    /// Addresses at this distance share a place.
    wrap: Option<u64>,
    /// Writes from this address on are acknowledged and dropped.
    limbo: Option<u64>,
    /// Writes to so many blocks at the end are acknowledged and dropped.
    tail: Option<u64>,
    /// So many blocks of dropped writes are returned until newer ones replace them.
    cache: Option<u64>,
    /// After so many written blocks every request fails.
    dying: Option<u64>,
}

impl Fake {
    /// Parses `KIND:SIZE`, several of them joined by `+`, such as `limbo:32GB+cache:1GB`.
    ///
    /// # Errors
    /// The reason why the text is none.
    pub(crate) fn parse(text: &str) -> Result<Fake, String> {
        let mut fake = Fake::default();
        for part in text.split('+') {
            let known =
                "known: wrap:SIZE, limbo:SIZE, tail:SIZE, cache:SIZE, dying:SIZE, joined by '+'";
            let (kind, size) = part.split_once(':').ok_or(known)?;
            let size: Bytes = size.parse().map_err(|error| format!("{error}"))?;
            let blocks = size.0 / PROOF_BLOCK.0;
            if blocks == 0 {
                return Err(format!("{kind}:{} is less than a block of 4 KiB", size.exact()));
            }
            let slot = match kind {
                "wrap" => &mut fake.wrap,
                "limbo" => &mut fake.limbo,
                "tail" => &mut fake.tail,
                "cache" => &mut fake.cache,
                "dying" => &mut fake.dying,
                _ => return Err(known.into()),
            };
            *slot = Some(blocks);
        }
        Ok(fake)
    }

    /// Returns the first address whose writes are dropped, on a drive that states `capacity` blocks.
    fn stored_to(&self, capacity: u64) -> u64 {
        let tail = self.tail.map(|tail| capacity.saturating_sub(tail));
        // A cache without anything to hide hides the upper half.
        let hidden = self.cache.filter(|_| self.limbo.is_none() && tail.is_none());
        let hidden = hidden.filter(|_| self.wrap.is_none()).map(|_| capacity / 2);
        [self.limbo, tail, hidden].into_iter().flatten().min().unwrap_or(u64::MAX)
    }
}

/// How a write is stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kept {
    /// It is stored.
    Whole,
    /// It was acknowledged and dropped by an injected fault.
    Dropped,
    /// One bit of each block is stored changed by an injected fault.
    Changed,
}

/// Blocks that were written in one range.
#[derive(Clone, Copy, Debug)]
struct Piece {
    blocks: u64,
    /// The number that the first block was written as.
    address: u64,
    stamp: Stamp,
    is_torn: bool,
}

impl Piece {
    fn after(self, distance: u64, blocks: u64) -> Piece {
        Piece { address: self.address + distance, blocks, ..self }
    }

    fn content_at(self, distance: u64, tag: u64) -> Content {
        let (address, generation) = (self.address + distance, self.stamp.generation);
        match (self.stamp.tag == tag, self.is_torn) {
            (false, _) => Content::Foreign,
            (true, false) => Content::Stamped { address, generation },
            (true, true) => Content::Torn { address, generation },
        }
    }
}

/// The contents of the blocks of a drive.
#[derive(Clone, Debug)]
pub(crate) struct Contents {
    fake: Fake,
    stored_to: u64,
    /// Pieces by their first place; they do not overlap.
    pieces: BTreeMap<u64, Piece>,
    /// Dropped writes that are still returned, the oldest first, and their blocks.
    cache: VecDeque<Piece>,
    cached: u64,
    written: u64,
}

impl Contents {
    /// Returns the contents of a drive that states `capacity` blocks and was never written.
    pub(crate) fn new(fake: &Fake, capacity: u64) -> Contents {
        Contents {
            stored_to: fake.stored_to(capacity),
            fake: fake.clone(),
            pieces: BTreeMap::new(),
            cache: VecDeque::new(),
            cached: 0,
            written: 0,
        }
    }

    /// Returns whether every request fails.
    pub(crate) fn is_dead(&self) -> bool {
        self.fake.dying.is_some_and(|most| self.written > most)
    }

    /// Writes `blocks` from `address` on.
    pub(crate) fn write(&mut self, address: u64, blocks: u64, stamp: Stamp, kept: Kept) {
        self.written += blocks;
        if self.is_dead() || kept == Kept::Dropped {
            return;
        }
        let piece = Piece { blocks, address, stamp, is_torn: kept == Kept::Changed };
        let stored = self.stored_to.saturating_sub(address).min(blocks);
        if stored < blocks {
            self.drop_into_cache(piece.after(stored, blocks - stored));
        }
        let mut done = 0;
        while done < stored {
            let place = self.place_of(address + done);
            let length = (stored - done).min(self.until_wrap(place));
            self.insert(place, piece.after(done, length));
            done += length;
        }
    }

    fn place_of(&self, address: u64) -> u64 {
        self.fake.wrap.map_or(address, |wrap| address % wrap)
    }

    fn until_wrap(&self, place: u64) -> u64 {
        self.fake.wrap.map_or(u64::MAX, |wrap| wrap - place)
    }

    fn drop_into_cache(&mut self, piece: Piece) {
        let Some(size) = self.fake.cache else { return };
        self.cached += piece.blocks;
        self.cache.push_back(piece);
        while self.cached > size {
            let Some(oldest) = self.cache.pop_front() else { break };
            self.cached -= oldest.blocks;
        }
    }

    /// Stores `piece` from `place` on, over what was there.
    fn insert(&mut self, place: u64, piece: Piece) {
        let end = place + piece.blocks;
        // Pieces do not overlap, so one at most reaches into the range from before it.
        if let Some((&first, &before)) = self.pieces.range(..place).next_back() {
            let last = first + before.blocks;
            if last > place {
                self.pieces.insert(first, before.after(0, place - first));
            }
            if last > end {
                self.pieces.insert(end, before.after(end - first, last - end));
            }
        }
        while let Some((&first, &other)) = self.pieces.range(place..end).next() {
            self.pieces.remove(&first);
            let last = first + other.blocks;
            if last > end {
                self.pieces.insert(end, other.after(end - first, last - end));
            }
        }
        if let Some((&first, before)) = self.pieces.range_mut(..place).next_back() {
            // A drive that is written in order stays one piece, however large it is.
            let continues = first + before.blocks == place
                && before.address + before.blocks == piece.address
                && (before.stamp, before.is_torn) == (piece.stamp, piece.is_torn);
            if continues {
                before.blocks += piece.blocks;
                return;
            }
        }
        self.pieces.insert(place, piece);
    }

    /// Adds what `blocks` from `address` on hold, by a proof with `tag`, to `found`.
    pub(crate) fn read(&self, address: u64, blocks: u64, tag: u64, found: &mut Vec<Found>) {
        for block in address..address + blocks {
            Found::append(found, block, self.content_of(block, tag));
        }
    }

    fn content_of(&self, address: u64, tag: u64) -> Content {
        if address >= self.stored_to {
            let holds =
                |piece: &&Piece| (piece.address..piece.address + piece.blocks).contains(&address);
            // The newest first: a block may have been dropped more than once.
            return match self.cache.iter().rev().find(holds) {
                Some(piece) => piece.content_at(address - piece.address, tag),
                None => Content::Zeros,
            };
        }
        let place = self.place_of(address);
        match self.pieces.range(..=place).next_back() {
            Some((&first, piece)) if first + piece.blocks > place => {
                piece.content_at(place - first, tag)
            }
            Some(_) | None => Content::Zeros,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const STAMP: Stamp = Stamp { tag: 9, generation: 1 };

    fn contents(fake: &str) -> Contents {
        Contents::new(&Fake::parse(fake).unwrap(), 1_000)
    }

    fn address_at(contents: &Contents, block: u64) -> Option<u64> {
        match contents.content_of(block, 9) {
            Content::Stamped { address, .. } => Some(address),
            _ => None,
        }
    }

    #[test]
    fn a_piece_splits_and_joins_as_it_is_overwritten() {
        let mut contents = Contents::new(&Fake::default(), 1_000);
        contents.write(0, 50, STAMP, Kept::Whole);
        contents.write(50, 50, STAMP, Kept::Whole);
        assert_eq!(contents.pieces.len(), 1);
        contents.write(40, 20, Stamp { generation: 2, ..STAMP }, Kept::Whole);
        assert_eq!(contents.pieces.len(), 3);
        let found = |from, blocks| {
            let mut found = Vec::new();
            contents.read(from, blocks, 9, &mut found);
            found.iter().map(|run: &Found| (run.first, run.blocks, run.content)).collect::<Vec<_>>()
        };
        let stamped = |address, generation| Content::Stamped { address, generation };
        let expected = [
            (30, 10, stamped(30, 1)),
            (40, 20, stamped(40, 2)),
            (60, 40, stamped(60, 1)),
            (100, 5, Content::Zeros),
        ];
        assert_eq!(found(30, 75), expected);
    }

    #[test]
    fn each_fake_loses_what_its_kind_loses() {
        let mut wrap = contents("wrap:400KiB");
        wrap.write(0, 1_000, STAMP, Kept::Whole);
        assert_eq!(address_at(&wrap, 30), Some(930));
        let mut limbo = contents("limbo:400KiB");
        limbo.write(50, 100, STAMP, Kept::Whole);
        assert_eq!((address_at(&limbo, 99), address_at(&limbo, 100)), (Some(99), None));
        let mut tail = contents("tail:400KiB");
        tail.write(850, 150, STAMP, Kept::Whole);
        assert_eq!((address_at(&tail, 899), address_at(&tail, 900)), (Some(899), None));
        let mut cache = contents("limbo:400KiB+cache:40KiB");
        cache.write(200, 5, STAMP, Kept::Whole);
        assert_eq!(address_at(&cache, 204), Some(204));
        cache.write(300, 8, STAMP, Kept::Whole);
        assert_eq!((address_at(&cache, 204), address_at(&cache, 307)), (None, Some(307)));
        let mut dying = contents("dying:400KiB");
        dying.write(0, 100, STAMP, Kept::Whole);
        assert!(!dying.is_dead());
        dying.write(100, 1, STAMP, Kept::Whole);
        assert!(dying.is_dead());
    }

    #[test]
    fn a_kind_that_does_not_exist_is_refused_with_the_known_ones() {
        for text in ["", "wrap", "wrap:x", "hole:1GB", "wrap:1KB"] {
            assert!(Fake::parse(text).is_err(), "{text}");
        }
    }
}
