//! Ground truth: the exact counts that an analysis is judged by.
//!
//! It must never influence what the drive does.

use crate::profile::PAGE;

/// Counts since the drive was created or last purged. A page is 4 KiB.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct GroundTruth {
    /// Bytes written by the host.
    pub host_bytes: u64,
    /// Pages written by the host; a page written in part counts as one.
    pub host_pages: u64,
    /// Pages of the host that were programmed to native cells, in whole program operations.
    pub direct_pages: u64,
    /// Pages copied, from native cells and from the SLC cache.
    pub moved_pages: u64,
    /// Pages copied from native cells: the cost of collection.
    pub collected_pages: u64,
    /// Pages copied from the SLC cache to native cells, by folding or by collection.
    pub folded_pages: u64,
    /// Pages programmed without data: the rest of units that a read caused to be programmed early.
    pub unused_pages: u64,
    /// Pages programmed to complete mapping units: data that no write of the host brought.
    pub completing_pages: u64,
    /// Pages of the host that it wrote again before they were programmed.
    pub replaced_pages: u64,
    /// Pages of the host that took no slot of the flash: they were known, or share that of another one.
    pub spared_pages: u64,
    /// Pages of the map that were programmed because a write had changed them, in whole program operations.
    pub map_pages: u64,
    /// Bytes that the host had written when garbage collection first copied a page.
    pub cliff: Option<u64>,
    /// Bytes that the host had written when a host write of the current step first found the SLC
    /// cache full after it had had room.
    pub cache_exhausted: Option<u64>,
    /// Bytes that the host had written when a page first had to force another one out of the SLC cache: the last
    /// superblock of a cache that folds first has room then, but takes pages at the rate of folding.
    pub cache_forced: Option<u64>,
}

impl GroundTruth {
    /// Adds `pages` that were copied from a superblock, which was in SLC mode or not.
    #[inline]
    pub(crate) fn add_moved(&mut self, pages: u32, from_slc: bool) {
        self.moved_pages += u64::from(pages);
        match from_slc {
            true => self.folded_pages += u64::from(pages),
            false => self.collected_pages += u64::from(pages),
        }
    }

    /// Records that garbage collection copied `pages`.
    pub(crate) fn record_collection(&mut self, pages: u32) {
        if pages > 0 && self.cliff.is_none() {
            self.cliff = Some(self.host_bytes);
        }
    }

    /// Returns the counts of the host with those of the flash of `volumes` added up.
    pub(crate) fn of_volumes<'a>(
        &self,
        volumes: impl Iterator<Item = &'a GroundTruth>,
    ) -> GroundTruth {
        let GroundTruth { host_bytes, host_pages, cliff, cache_exhausted, cache_forced, .. } =
            *self;
        let host = GroundTruth {
            host_bytes,
            host_pages,
            cliff,
            cache_exhausted,
            cache_forced,
            ..GroundTruth::default()
        };
        volumes.fold(host, |sum, one| GroundTruth {
            host_bytes,
            host_pages,
            direct_pages: sum.direct_pages + one.direct_pages,
            moved_pages: sum.moved_pages + one.moved_pages,
            collected_pages: sum.collected_pages + one.collected_pages,
            folded_pages: sum.folded_pages + one.folded_pages,
            unused_pages: sum.unused_pages + one.unused_pages,
            completing_pages: sum.completing_pages + one.completing_pages,
            replaced_pages: sum.replaced_pages + one.replaced_pages,
            spared_pages: sum.spared_pages + one.spared_pages,
            map_pages: sum.map_pages + one.map_pages,
            // The shared layer keeps an event that it has taken over, so that the first one counts.
            cliff: sum.cliff.or(one.cliff),
            cache_exhausted: sum.cache_exhausted.or(one.cache_exhausted),
            cache_forced: sum.cache_forced.or(one.cache_forced),
        })
    }

    pub(crate) fn record_cache_exhausted(&mut self) {
        self.cache_exhausted = self.cache_exhausted.or(Some(self.host_bytes));
    }

    pub(crate) fn record_forced(&mut self) {
        self.cache_forced = self.cache_forced.or(Some(self.host_bytes));
    }

    /// Returns the bytes programmed to flash: the pages of the host but for replaced and spared ones, the copied, the
    /// unused, the completing ones, and those of the map.
    pub fn nand_bytes(&self) -> u64 {
        self.nand_pages() * PAGE
    }

    fn nand_pages(&self) -> u64 {
        self.host_pages - self.replaced_pages - self.spared_pages
            + self.moved_pages
            + self.unused_pages
            + self.completing_pages
            + self.map_pages
    }

    /// Returns the write amplification since `before`: bytes programmed for each byte of the host.
    /// `None` where the host wrote nothing.
    pub fn write_amplification_since(&self, before: &GroundTruth) -> Option<f64> {
        let bytes = self.host_bytes - before.host_bytes;
        // A page that waits in a mapping unit counts as programmed, and does not any more where zeros replace it.
        let pages = self.nand_pages().saturating_sub(before.nand_pages());
        (bytes > 0).then(|| pages as f64 * PAGE as f64 / bytes as f64)
    }

    /// Returns the write amplification by collection since `before`: pages programmed to native
    /// cells for each page that entered them from the host or from the SLC cache. `None` where no
    /// page did.
    ///
    /// It is what the formulas of write amplification give: copies from the cache are to the native
    /// cells what writes of the host are. Without a cache it is the write amplification.
    pub fn collection_amplification_since(&self, before: &GroundTruth) -> Option<f64> {
        let entered = self.direct_pages + self.folded_pages;
        let entered = entered - before.direct_pages - before.folded_pages;
        let collected = self.collected_pages - before.collected_pages;
        (entered > 0).then(|| (entered + collected) as f64 / entered as f64)
    }
}
