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
    /// Pages copied by garbage collection and by folding.
    pub moved_pages: u64,
    /// Pages copied by garbage collection alone.
    pub collected_pages: u64,
    /// Bytes that the host had written when garbage collection first copied a page.
    pub cliff: Option<u64>,
    /// Bytes that the host had written when a host write of the current step first found the SLC
    /// cache full after it had had room.
    pub cache_exhausted: Option<u64>,
}

impl GroundTruth {
    #[inline]
    pub(crate) fn add_moved(&mut self, pages: u32) {
        self.moved_pages += u64::from(pages);
    }

    pub(crate) fn add_collected(&mut self, pages: u32) {
        self.collected_pages += u64::from(pages);
        if pages > 0 && self.cliff.is_none() {
            self.cliff = Some(self.host_bytes);
        }
    }

    pub(crate) fn record_cache_exhausted(&mut self) {
        self.cache_exhausted = self.cache_exhausted.or(Some(self.host_bytes));
    }

    /// Returns the write amplification since `before`: bytes programmed for each byte of the host.
    /// `None` where the host wrote nothing.
    pub fn write_amplification_since(&self, before: &GroundTruth) -> Option<f64> {
        let bytes = self.host_bytes - before.host_bytes;
        let pages = self.host_pages - before.host_pages + self.moved_pages - before.moved_pages;
        (bytes > 0).then(|| pages as f64 * PAGE as f64 / bytes as f64)
    }
}
