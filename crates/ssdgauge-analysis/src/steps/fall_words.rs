//! Falls of the write speed in words: the observation, and its cause where the run shows one.

use crate::model::{FallCause, SpeedFall};
use crate::steps::slc_cache;
use crate::text::number;
use ssdgauge_core::rounded;

impl FallCause {
    /// Returns the cause as a remark, such as `throttled by heat`.
    pub fn remark(self) -> &'static str {
        match self {
            FallCause::Cache => "SLC cache full",
            FallCause::Heat => "throttled by heat",
            FallCause::SpareArea => "spare area used up",
            FallCause::GiveBack => "free space used up",
            FallCause::Unknown => "cause unknown",
        }
    }

    /// Returns what happened, as the subject of a time: `cache full`.
    pub fn event(self) -> &'static str {
        match self {
            FallCause::Cache => "cache full",
            FallCause::Heat => "throttled",
            FallCause::SpareArea => "spare area used up",
            FallCause::GiveBack => "free space used up",
            FallCause::Unknown => "slower, cause unknown,",
        }
    }

    /// Returns the end of a sentence about one drive, such as ` once its cache is full`.
    pub(crate) fn clause(self) -> &'static str {
        match self {
            FallCause::Cache => " once the cache is full",
            FallCause::Heat => " when throttled by heat",
            FallCause::SpareArea => " once the spare area is used up",
            FallCause::GiveBack => " once the free space is used up",
            FallCause::Unknown => ", cause unknown",
        }
    }
}

/// Returns the end of a sentence about several falls: their common cause, or that they differ.
pub(crate) fn common_clause(causes: impl IntoIterator<Item = FallCause>) -> &'static str {
    let mut causes = causes.into_iter();
    match causes.next() {
        Some(first) if causes.all(|cause| cause == first) => first.clause(),
        Some(_) => ", for different causes",
        None => "",
    }
}

/// Returns the words after a write speed, such as `until its cache is full (22 ± 2 GB)` or `for the first
/// 22 ± 2 GB`.
pub fn until(fall: &SpeedFall) -> String {
    let size = rounded::edge(&fall.edge);
    match (fall.cause, fall.edge.is_bounded_below()) {
        (FallCause::Cache, _) => format!("until its cache is full ({size})"),
        (FallCause::Heat, _) => format!("until it is throttled by heat (after {size})"),
        (FallCause::SpareArea, _) => format!("until its spare area is used up (after {size})"),
        (FallCause::GiveBack, _) => format!("until its free space is used up (after {size})"),
        (FallCause::Unknown, true) => format!("for the first {size}"),
        (FallCause::Unknown, false) => format!("for {size}"),
    }
}

/// Returns the end of a later level in words, such as `until its cache is full (22 ± 2 GB)`: the amount counts
/// from the start of the step, so that it is not that of the level.
fn until_later(fall: &SpeedFall) -> String {
    match fall.cause {
        FallCause::Unknown => format!("until {}", rounded::edge(&fall.edge)),
        FallCause::Cache | FallCause::Heat | FallCause::SpareArea | FallCause::GiveBack => {
            until(fall)
        }
    }
}

/// Returns the remark on a fall whose cause no other word of the sentence states: empty but for an
/// unknown one.
pub fn doubt(fall: &SpeedFall) -> &'static str {
    match fall.cause {
        FallCause::Unknown => " (cause unknown)",
        FallCause::Cache | FallCause::Heat | FallCause::SpareArea | FallCause::GiveBack => "",
    }
}

/// Returns the speeds of `falls` in order, with each amount written and its cause: `2,300 MB/s until its
/// cache is full (22 ± 2 GB), then 700 MB/s`. Empty without a fall.
pub fn levels(falls: &[SpeedFall]) -> String {
    let Some((first, later)) = falls.split_first() else { return String::new() };
    let before = first.edge.before_in_words(|bytes| number::text(bytes / 1e6));
    format!("{before}\u{a0}MB/s {}, {}{}", until(first), then(first), later_levels(later))
}

/// Returns the speeds after the `falls` that follow the first one, as [`levels`] does, from the end of the
/// level before them on: ` until 34 ± 1 GB, then 34 MB/s (cause unknown)`. Empty without a fall.
pub(crate) fn later_levels(falls: &[SpeedFall]) -> String {
    falls.iter().map(|fall| format!(" {}, {}", until_later(fall), then(fall))).collect()
}

/// Returns the speed after `fall`: `then 700 MB/s`.
fn then(fall: &SpeedFall) -> String {
    format!("then {}\u{a0}MB/s{}", number::text(fall.edge.after / 1e6), doubt(fall))
}

/// Returns what is left after `fall` with its cause: `then 30 %, throttled by heat`.
pub fn left(fall: &SpeedFall) -> String {
    format!("then {}, {}", slc_cache::left_in_words(&fall.edge), fall.cause.remark())
}
