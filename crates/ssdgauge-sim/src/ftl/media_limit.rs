//! The limit of writes in place: media whose dies could write faster than the drive lets them, for their power or wear.
//!
//! A drive without a limit must never wait for it.

use crate::profile::PAGE;
use crate::time::SimTime;

/// The limit of writes in place, as the time at which it admits the next page.
#[derive(Clone, Copy, Debug)]
pub(super) struct MediaLimit {
    /// Time of a page, in nanoseconds; 0 for no limit.
    page: SimTime,
    free: SimTime,
}

impl MediaLimit {
    pub(super) fn new(mb_s: f64) -> MediaLimit {
        let page = if mb_s > 0.0 { (PAGE as f64 * 1e3 / mb_s).round() as SimTime } else { 0 };
        MediaLimit { page, free: 0 }
    }

    /// Returns when `pages` pages that arrive at `at` may be written.
    #[inline]
    pub(super) fn admit(&mut self, at: SimTime, pages: u32) -> SimTime {
        let begin = self.free.max(at);
        self.free = begin + self.page * u64::from(pages);
        if self.page > 0 { begin } else { at }
    }
}
