//! What is true of the drive: the counts that the analysis is judged by.
//!
//! It must never take part in what the drive does.

/// Counts since the birth of the drive.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Truth {
    /// Bytes that the host wrote.
    pub host_bytes: u64,
    /// Pages that the host wrote, parts counted as whole pages.
    pub host_pages: u64,
    /// Pages that were copied by garbage collection and by folding.
    pub moved_pages: u64,
    /// Pages that were copied by garbage collection alone.
    pub collected_pages: u64,
    /// Bytes that the host had written when garbage collection first copied a page.
    pub cliff: Option<u64>,
    /// Bytes that the host had written when the fast cache was first found full in the step at
    /// work, after a time in which it had room.
    pub cache_exhausted: Option<u64>,
}

impl Truth {
    #[inline]
    pub(crate) fn moved(&mut self, pages: u32) {
        self.moved_pages += u64::from(pages);
    }

    pub(crate) fn collected(&mut self, pages: u32) {
        self.collected_pages += u64::from(pages);
        if pages > 0 && self.cliff.is_none() {
            self.cliff = Some(self.host_bytes);
        }
    }

    pub(crate) fn exhausted_cache(&mut self) {
        self.cache_exhausted = self.cache_exhausted.or(Some(self.host_bytes));
    }

    /// Returns the write amplification from `before` to now, or `None` where nothing was written.
    pub fn write_amplification_since(&self, before: &Truth) -> Option<f64> {
        let bytes = self.host_bytes - before.host_bytes;
        let pages = self.host_pages - before.host_pages + self.moved_pages - before.moved_pages;
        (bytes > 0).then(|| pages as f64 * crate::profile::PAGE as f64 / bytes as f64)
    }
}
