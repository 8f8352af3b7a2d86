//! The limit of writes in place: media whose dies could write faster than the drive lets them, for their power or wear.
//!
//! A drive without a limit must never wait for it.

use crate::profile::PAGE;
use crate::time::SimTime;

/// The limit of writes in place, as the time at which the media is free for the next page.
#[derive(Clone, Copy, Debug)]
pub(super) struct MediaLimit {
    /// Time of a page, in nanoseconds; 0 for no limit.
    page: SimTime,
    /// Time of a page on the link, in nanoseconds.
    link_page: SimTime,
    free: SimTime,
}

impl MediaLimit {
    pub(super) fn new(mb_s: f64, link_mb_s: f64) -> MediaLimit {
        let page_time = |mb_s: f64| (PAGE as f64 * 1e3 / mb_s).round() as SimTime;
        let page = if mb_s > 0.0 { page_time(mb_s) } else { 0 };
        MediaLimit { page, link_page: page_time(link_mb_s), free: 0 }
    }

    /// Returns the time of the link for a request of `pages` pages. The drive adds it to the time of the media, but
    /// the media writes the first page of a request while the link transfers the others.
    pub(super) fn lead(&self, pages: u32) -> SimTime {
        self.link_page * u64::from(pages)
    }

    /// Returns when the next `pages` pages of a request may be written whose data arrives from `at` on, less its
    /// `lead`.
    #[inline]
    pub(super) fn admit(&mut self, at: SimTime, pages: u32, lead: SimTime) -> SimTime {
        if self.page == 0 {
            return at;
        }
        let begin = self.free.saturating_sub(lead).max(at);
        self.free = self.free.max(at) + self.page * u64::from(pages);
        begin
    }
}
