//! What the flash of a drive holds: valid pages, spare area and what lies in the SLC cache.

use crate::ftl::Ftl;
use crate::profile::PAGE;

impl Ftl {
    /// Returns the true over-provisioning of the native cells: the flash that can hold data beyond
    /// what it holds, as a share of that. Pages in the SLC cache, and superblocks that it borrows,
    /// count on neither side. `None` where nothing is held, or data is overwritten in place.
    pub(crate) fn over_provisioning(&self) -> Option<f64> {
        let (valid, pages) = match self.volumes.are_none() {
            true => self.held_and_room(),
            false => self.volumes.parts().iter().map(Ftl::held_and_room).fold((0.0, 0.0), sum),
        };
        (valid > 0.0 && !self.media.geometry.in_place).then(|| pages / valid - 1.0)
    }

    /// Returns the valid pages in native cells, and how many pages these can hold.
    fn held_and_room(&self) -> (f64, f64) {
        let media = &self.media;
        let (cached, borrowed) = self.cached();
        let valid = (media.map.valid_pages() - cached) as f64;
        let superblocks = media.full_superblocks().saturating_sub(borrowed);
        (valid, superblocks as f64 * f64::from(media.geometry.superblock_pages))
    }

    /// Returns the pages of a superblock where the one with the fewest valid pages is collected: its
    /// size counts in the formula of write amplification.
    pub(crate) fn greedy_superblock_pages(&self) -> Option<f64> {
        let geometry = &self.volumes.parts().first().unwrap_or(self).media.geometry;
        let greedy = self.gc.is_greedy() && !geometry.in_place;
        // The pages of a mapping unit become invalid together.
        let units = f64::from(geometry.superblock_pages) / f64::from(geometry.map_unit_pages);
        greedy.then_some(units)
    }

    /// Returns the valid pages in the SLC cache, and how many native superblocks it borrows.
    fn cached(&self) -> (u64, usize) {
        let map = &self.media.map;
        let open = self.host.filter(|open| open.slc).map(|open| open.superblock);
        let borrowed = self.cache.full().chain(open).chain(self.folding.superblock());
        let borrowed = borrowed.filter(|superblock| !map.is_fixed_slc(*superblock));
        let (pages, superblocks) = borrowed.fold((0, 0), |(pages, superblocks), superblock| {
            (pages + u64::from(map.valid(superblock)), superblocks + 1)
        });
        (pages + map.valid_pages_of_fixed_slc(), superblocks)
    }

    /// Returns the pages that hold valid data.
    pub(crate) fn valid_pages(&self) -> u64 {
        match self.media.geometry.in_place {
            true => u64::from(self.media.geometry.user_pages),
            false => {
                let volumes = self.volumes.parts().iter().map(Ftl::valid_pages);
                self.media.map.valid_pages() + volumes.sum::<u64>()
            }
        }
    }

    /// Returns the bytes in the SLC cache that were not folded, stale ones included.
    pub(crate) fn slc_occupancy_bytes(&self) -> u64 {
        let size = u64::from(self.media.geometry.slc_superblock_pages);
        let full = self.cache.full_superblocks() * size;
        let open = match &self.host {
            Some(open) if open.slc => u64::from(open.filled),
            Some(_) | None => 0,
        };
        let volumes = self.volumes.parts().iter().map(Ftl::slc_occupancy_bytes);
        (full + open + self.folding.remaining()) * PAGE + volumes.sum::<u64>()
    }
}

fn sum(one: (f64, f64), other: (f64, f64)) -> (f64, f64) {
    (one.0 + other.0, one.1 + other.1)
}
