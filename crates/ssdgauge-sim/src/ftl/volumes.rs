//! Independent volumes: a drive whose addresses are split, by adjacent bits, among parts that share link, controller and
//! queue, and have dies, channels, write buffer, map, cache and collection of their own.
//!
//! Here is which volume a page belongs to, whatever a volume is. No page may belong to two of them.

/// The volumes of a drive; none for a drive that is one.
#[derive(Clone, Debug)]
pub(super) struct Volumes<L> {
    pub(super) parts: Vec<L>,
    /// Pages in a row that belong to one volume.
    pages: u32,
    /// The generation of the last write to any volume.
    pub(super) generation: u32,
}

/// Pages in a row that lie in one volume.
pub(super) struct Piece {
    pub(super) volume: usize,
    /// The first page in the volume.
    pub(super) first: u32,
    pub(super) pages: u32,
}

impl<L> Volumes<L> {
    /// Returns `parts`, among which the addresses are split by `pages` in a row.
    pub(super) fn new(parts: Vec<L>, pages: u32) -> Volumes<L> {
        Volumes { parts, pages, generation: 0 }
    }

    /// Returns whether the drive is one.
    #[inline]
    pub(super) fn are_none(&self) -> bool {
        self.parts.is_empty()
    }

    pub(super) fn parts(&self) -> &[L] {
        &self.parts
    }

    pub(super) fn parts_mut(&mut self) -> &mut [L] {
        &mut self.parts
    }

    /// Returns the volume of `page`, and the page in it.
    pub(super) fn find(&self, page: u32) -> Option<(&L, u32)> {
        let piece = (!self.are_none()).then(|| self.piece(page, 1))?;
        Some((&self.parts[piece.volume], piece.first))
    }

    /// Returns the first of the pieces of `pages` pages from `first` on.
    fn piece(&self, first: u32, pages: u32) -> Piece {
        let volumes = self.parts.len() as u32;
        let (row, place) = (first / self.pages, first % self.pages);
        Piece {
            volume: (row % volumes) as usize,
            first: row / volumes * self.pages + place,
            pages: pages.min(self.pages - place),
        }
    }

    /// Returns the pieces of `pages` pages from `first` on.
    pub(super) fn pieces(&self, first: u32, pages: u32) -> Vec<Piece> {
        let end = first + pages;
        let mut from = first;
        let mut pieces = Vec::new();
        while from < end {
            let piece = self.piece(from, end - from);
            from += piece.pages;
            pieces.push(piece);
        }
        pieces
    }
}
