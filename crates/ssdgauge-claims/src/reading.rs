//! The reading rules: what a word of a review, or a number in it, means as a band.
//!
//! The reviews define none of their words. All bands are chosen, and listed in `docs/explanation/reviews.md`.

use serde::Deserialize;

/// The largest relative difference of a measured quantity from the published one. Chosen: models of
/// SSDs that were fitted to drives are published with differences of 6 to 18 %.
pub const QUANTITY: f64 = 0.15;

/// A word that compares two numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Word {
    /// Tied, about the same: within 5 %.
    Tied,
    /// Slightly, a bit, a little above: by 1 to 15 %.
    SlightlyAbove,
    /// Slightly, a bit, a little below: by 1 to 15 %.
    SlightlyBelow,
    /// Evenly matched: within 15 %, because drives that are "a bit" apart may be evenly matched, too.
    EvenlyMatched,
    /// In the same league: within a factor of 1.5.
    SameLeague,
    /// Above, without a word for the distance.
    Above,
    /// Significantly, clearly above: by a factor of 1.2 or more.
    SignificantlyAbove,
    /// Much, far, well above: by a factor of 1.5 or more.
    MuchAbove,
}

impl Word {
    /// All words.
    pub const ALL: [Word; 8] = [
        Word::Tied,
        Word::SlightlyAbove,
        Word::SlightlyBelow,
        Word::EvenlyMatched,
        Word::SameLeague,
        Word::Above,
        Word::SignificantlyAbove,
        Word::MuchAbove,
    ];

    /// Returns the band of the ratio of the first number to the second one.
    pub fn band(self) -> (f64, f64) {
        match self {
            Word::Tied => (0.95, 1.0 / 0.95),
            Word::SlightlyAbove => (1.01, 1.15),
            Word::SlightlyBelow => (0.85, 0.99),
            Word::EvenlyMatched => (0.85, 1.0 / 0.85),
            Word::SameLeague => (1.0 / 1.5, 1.5),
            Word::Above => (1.0, f64::INFINITY),
            Word::SignificantlyAbove => (1.2, f64::INFINITY),
            Word::MuchAbove => (1.5, f64::INFINITY),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_band_has_the_limits_of_the_handbook() {
        assert_eq!(
            Word::ALL.map(|word| word.band().0),
            [0.95, 1.01, 0.85, 0.85, 1.0 / 1.5, 1.0, 1.2, 1.5]
        );
        assert!(Word::ALL.iter().all(|word| word.band().0 < word.band().1));
    }
}
