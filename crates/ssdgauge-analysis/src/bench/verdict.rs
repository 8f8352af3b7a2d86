//! The verdicts of all pairs of drives in one test, by the scale of `compare`, packed into a text.

use crate::bench::record::TestRecord;
use crate::comparison::compare::{CompareOptions, Difference, decided};
use crate::headlines::headline::ratio_of;

/// What is known of two drives in one test.
#[derive(Clone, Debug, PartialEq)]
pub struct Verdict {
    /// Whether the first one is better, as `compare` words it.
    pub kind: Kind,
    /// How many times as good the first one is, with its bounds: of a latency the inverse of the ratio. `None` where
    /// there is no interval.
    pub ratio: Option<(f64, f64)>,
}

/// The kinds of a verdict.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// The first one is better.
    Ahead,
    /// The second one is.
    Behind,
    /// Both are equal within the noise.
    Equal,
    /// It is too close to call.
    Open,
    /// The numbers are not comparable.
    Apart,
}

impl Kind {
    /// Returns its letter in packed verdicts.
    fn letter(self) -> char {
        match self {
            Kind::Ahead => '>',
            Kind::Behind => '<',
            Kind::Equal => '=',
            Kind::Open => '?',
            Kind::Apart => 'x',
        }
    }
}

/// Returns the verdict on two results with equal keys.
pub fn verdict(first: &TestRecord, second: &TestRecord) -> Verdict {
    const APART: Verdict = Verdict { kind: Kind::Apart, ratio: None };
    let is_other_meter =
        first.meters != second.meters && !first.meters.is_empty() && !second.meters.is_empty();
    let (Some(a), Some(b)) = (first.valid(), second.valid()) else { return APART };
    if first.key != second.key || is_other_meter {
        return APART;
    }
    let each = |test: &TestRecord| test.repetitions.iter().map(|one| one.0.clone()).collect();
    // As `compare` does for a pair of run files: the second divided by the first.
    let ratio = ratio_of((a, each(first)), (b, each(second)));
    let (ratio, difference) = decided(ratio, [a, b], CompareOptions::default().noise);
    let quality = |(low, high): (f64, f64)| match a.metric.more_is_better() {
        true => (1.0 / high, 1.0 / low),
        false => (low, high),
    };
    Verdict {
        kind: match difference {
            Difference::Better => Kind::Behind,
            Difference::Worse => Kind::Ahead,
            Difference::Equal => Kind::Equal,
            Difference::Unknown(_) => Kind::Open,
        },
        ratio: ratio.and_then(|ratio| ratio.interval).map(quality),
    }
}

/// Levels to one unit of the inverse hyperbolic sine of the logarithm of a ratio: a step is 0.04 % of a ratio near 1 and
/// less than 0.1 % of the first value up to twice it, which is the last digit that `compare` prints.
pub const FINE: f64 = 2_500.0;

/// The highest level, a ratio of 1,100; the lowest is its negative.
pub const HIGHEST: i32 = 6_612;

/// The first letter, that of the lowest level and of a width of no steps. All letters have three bytes each, are one unit
/// of a string of a script, and none of them ends it.
pub const FIRST_LETTER: u32 = 0x4e00;

/// Returns the ratio of a level.
pub fn ratio_of_level(level: i32) -> f64 {
    (f64::from(level) / FINE).sinh().exp()
}

/// Returns the levels around `bounds`: the nearest one below the lower bound and above the upper one.
fn levels((low, high): (f64, f64)) -> (i32, i32) {
    let level = |ratio: f64| FINE * ratio.ln().asinh();
    let inside = |level: f64| level.clamp(f64::from(-HIGHEST), f64::from(HIGHEST)) as i32;
    (inside((level(low) + 1e-6).floor()), inside((level(high) - 1e-6).ceil()))
}

/// Packs the verdicts on all pairs of `tests`, which are in the order of their ranks: for each place `a` and each later one
/// `b` three letters: the kind, the level of the lower bound, and by how many levels the upper one is above it, as widths
/// repeat themselves and compress. The pair begins at 3 · (a · (2n − a − 1) ÷ 2 + b − a − 1).
pub fn packed(verdicts: &[Vec<Verdict>]) -> String {
    let letter =
        |steps: i32| char::from_u32(FIRST_LETTER.saturating_add_signed(steps)).unwrap_or('?');
    let mut text = String::new();
    for (a, row) in verdicts.iter().enumerate() {
        for one in &row[a + 1..] {
            let (low, high) = one.ratio.map_or((0, 0), levels);
            // Without an interval there are no bounds to show.
            let kind =
                if one.ratio.is_none() && one.kind == Kind::Open { 'o' } else { one.kind.letter() };
            text.extend([kind, letter(low + HIGHEST), letter(high - low)]);
        }
    }
    text
}

/// Returns the verdicts on all pairs of `tests`.
pub fn all(tests: &[&TestRecord]) -> Vec<Vec<Verdict>> {
    let mut rows: Vec<Vec<Verdict>> = Vec::with_capacity(tests.len());
    for (place, first) in tests.iter().enumerate() {
        // Half of them is the other half read from the other side.
        let mut row: Vec<Verdict> = (0..place).map(|other| rows[other][place].turned()).collect();
        row.extend(tests[place..].iter().map(|second| verdict(first, second)));
        rows.push(row);
    }
    rows
}

impl Verdict {
    /// Returns the verdict with the drives changed over.
    pub fn turned(&self) -> Verdict {
        let kind = match self.kind {
            Kind::Ahead => Kind::Behind,
            Kind::Behind => Kind::Ahead,
            same @ (Kind::Equal | Kind::Open | Kind::Apart) => same,
        };
        Verdict { kind, ratio: self.ratio.map(|(low, high)| (1.0 / high, 1.0 / low)) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn levels_enclose_their_bounds_and_have_letters_of_their_own() {
        for ratio in [0.002, 0.5, 0.97, 0.9999, 1.0, 1.0004, 1.03, 1.5, 2.0, 900.0] {
            let (below, above) = levels((ratio, ratio));
            let (low, high) = (ratio_of_level(below), ratio_of_level(above));
            assert!(low <= ratio * 1.000_001 && ratio <= high * 1.000_001, "{low} {ratio} {high}");
            assert!((above - below) <= 1);
        }
        assert!(ratio_of_level(HIGHEST) > 1_000.0);
        let own = Verdict { kind: Kind::Apart, ratio: None };
        let lead = Verdict { kind: Kind::Ahead, ratio: Some((1e-9, 1e9)) };
        let rows = vec![vec![own.clone(), lead.clone()], vec![lead.turned(), own]];
        let text: Vec<char> = packed(&rows).chars().collect();
        assert_eq!(text.len(), 3);
        assert!(text[1..].iter().all(|letter| letter.is_alphabetic() && letter.len_utf8() == 3));
        assert_eq!(rows[1][0].kind, Kind::Behind);
    }
}
