//! Wear: the share of the rated endurance of a drive that a run consumes, and the refusal of runs that
//! consume too much of it.

use super::expectation::Expectation;
use ssdgauge_core::{Bytes, Detail, DriveInfo};
use thiserror::Error;

/// Default share of the rated endurance that a run may write. Chosen: one such run per month for
/// four years (48 × 2 % = 96 %) stays below the rating.
pub const DEFAULT_WEAR_SHARE: f64 = 0.02;

/// Permitted wear of a drive.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Endurance {
    /// Rated endurance in bytes written as given by the user; `None` for the value that the drive
    /// reports.
    pub rated: Option<Bytes>,
    /// The share of the rating that the run may write, from 0 to 1.
    pub share: f64,
}

impl Default for Endurance {
    fn default() -> Self {
        Endurance { rated: None, share: DEFAULT_WEAR_SHARE }
    }
}

/// Share of the rated endurance that a run consumes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Wear {
    /// Bytes written by the run.
    pub written: Expectation<Bytes>,
    /// Rated endurance in bytes written (TBW).
    pub rated: Bytes,
    /// Remaining endurance in bytes, where the drive reports the percentage used.
    pub left: Option<Bytes>,
    /// The expected bytes as a share of the rating.
    pub share: f64,
}

/// Refusal of a run because of the wear of the drive. Nothing was written.
#[derive(Clone, Debug, PartialEq, Error)]
pub enum WearError {
    /// The expected bytes exceed the remaining endurance.
    #[error(
        "the run would write about {}, at most {}; {target} has about {} of its rated {} left",
        written.expected.about(), written.at_most.about(), left.about(), rated.about()
    )]
    MoreThanLeft {
        /// The target.
        target: String,
        /// Bytes written.
        written: Expectation<Bytes>,
        /// Remaining endurance.
        left: Bytes,
        /// Rated endurance.
        rated: Bytes,
    },
    /// The expected bytes exceed the permitted share of the rating.
    #[error(
        "the run would write about {}, which is {:.1} % of the {} that {target} is rated for \
         (at most {}); {:.1} % are allowed",
        written.expected.about(), share * 100.0, rated.about(), written.at_most.about(),
        allowed * 100.0
    )]
    MoreThanAllowed {
        /// The target.
        target: String,
        /// Bytes written.
        written: Expectation<Bytes>,
        /// The expected bytes as a share of the rating.
        share: f64,
        /// The permitted share.
        allowed: f64,
        /// Rated endurance.
        rated: Bytes,
    },
}

/// Returns the wear of `drive` by a run that writes `written`; `None` where the rated endurance is neither
/// given nor reported.
pub fn wear(written: Expectation<Bytes>, drive: &DriveInfo, permitted: &Endurance) -> Option<Wear> {
    let number = |detail: Detail| drive.detail(detail)?.trim_end_matches(" %").parse::<u64>().ok();
    let stated = || number(Detail::RatedEndurance).map(Bytes);
    let rated = permitted.rated.or_else(stated).filter(|rated| rated.0 > 0)?;
    // Beyond 100 % the drive exceeds its rating: nothing is left.
    let left = number(Detail::EnduranceUsed)
        .map(|used| Bytes((u128::from(rated.0) * u128::from(100 - used.min(100)) / 100) as u64));
    let share = written.expected.0 as f64 / rated.0 as f64;
    Some(Wear { written, rated, left, share })
}

/// Returns the bytes that a run on `drive` may write by `permitted`: its share of the rated endurance, and no more than
/// is left of it; `None` where the rated endurance is neither given nor reported.
pub fn allowed_writes(drive: &DriveInfo, permitted: &Endurance) -> Option<Bytes> {
    let nothing = Expectation { expected: Bytes(0), at_most: Bytes(0) };
    let Wear { rated, left, .. } = wear(nothing, drive, permitted)?;
    let share = Bytes((rated.0 as f64 * permitted.share) as u64);
    Some(left.map_or(share, |left| left.min(share)))
}

/// Checks `wear` against the remaining endurance of `drive` and the permitted share. The expected bytes
/// count: the bound would refuse runs that write a third of it.
///
/// # Errors
///
/// [`WearError::MoreThanLeft`] whatever share is permitted, then [`WearError::MoreThanAllowed`].
pub fn check_wear(wear: &Wear, drive: &DriveInfo, permitted: &Endurance) -> Result<(), WearError> {
    let Wear { written, rated, left, share } = *wear;
    let target = drive.target.clone();
    match left {
        Some(left) if written.expected > left => {
            Err(WearError::MoreThanLeft { target, written, left, rated })
        }
        Some(_) | None if share > permitted.share => {
            let allowed = permitted.share;
            Err(WearError::MoreThanAllowed { target, written, share, allowed, rated })
        }
        Some(_) | None => Ok(()),
    }
}
