//! The checks of claims: named functions with their numbers, as data.
//!
//! Each check says what must be true of runs; a claim holds where all of its checks hold.

use crate::reading::{QUANTITY, Word};
use crate::reference::{Curve, Needs, Value};
use crate::shape;
use serde::Deserialize;
use ssdgauge_core::{Estimate, Verdict};
use ssdgauge_statistics::consistency::{self, Consistency};

/// One check of a claim.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(tag = "check", rename_all = "kebab-case", deny_unknown_fields)]
#[expect(missing_docs, reason = "the line of each check explains its keys")]
pub enum Check {
    /// `of` is `is`, within `tolerance` (a share; 15 % without one).
    Level { of: Value, is: f64, tolerance: Option<f64> },
    /// `of` ÷ `to` is `is`, within `tolerance` (a share; 15 % without one).
    Factor { of: Value, to: Value, is: f64, tolerance: Option<f64> },
    /// `of` lies between `from` and `until`.
    Bounds { of: Value, from: Option<f64>, until: Option<f64> },
    /// `of` ÷ `to` lies in the band of a word.
    Compare { of: Value, is: Word, to: Value },
    /// `of[0]` ÷ `of[1]` compares by a word with `to[0]` ÷ `to[1]`.
    CompareFactors { of: [Value; 2], is: Word, to: [Value; 2] },
    /// `of` has the place `place` or a better one among itself and `among`; the largest is first.
    Place { of: Value, among: Vec<Value>, place: usize },
    /// `of` is within 5 % of the value at the place `place` among itself and `among`, or above it.
    TiedFor { of: Value, among: Vec<Value>, place: usize },
    /// Each value is above the next one.
    Order { of: Vec<Value> },
    /// `of` is nearer to `to` than to `than`.
    Nearer { of: Value, to: Value, than: Value },
    /// The curve has the shape, or with `not` it does not.
    Shape {
        of: Curve,
        is: Shape,
        #[serde(default)]
        not: bool,
    },
    /// The curve `of` has the relation to the curve `to`.
    Relation { of: Curve, is: Relation, to: Curve },
    /// The curves are alike within 5 % for the first `points`, and the first is ahead by more at the
    /// last one.
    AlikeUntil { of: Curve, to: Curve, points: usize },
    /// The curve turns at least so often.
    Turns { of: Curve, at_least: usize },
    /// The first point of `of` that reaches `to` lies at the position `from` or later.
    ReachesFrom { of: Curve, to: Value, from: f64 },
    /// Beyond the knee of the sweep, the mean latency grows in proportion to the queue depth.
    LatencyGrows { of: Curve, knee: Value },
    /// The seconds of the series vary in this way.
    Class { of: Curve, is: Variation },
    /// The series show all three ways to vary.
    AllClasses { of: Vec<Curve> },
    /// At most so large a share of the seconds is below `limit`, or at least.
    ShareBelow { of: Curve, limit: f64, at_least: Option<f64>, at_most: Option<f64> },
    /// The halves of the series differ by 5 % at most.
    Settled { of: Curve },
}

/// A shape of one curve, see `crate::shape`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Shape {
    /// `shape::accelerates`.
    AcceleratingRise,
    /// `shape::flat_until_late`.
    FlatUntilLate,
    /// `shape::ends_in_spike`.
    FinalSpike,
    /// `shape::rises_at_the_end`.
    FinalRise,
    /// `shape::is_bathtub`.
    Bathtub,
    /// `shape::climbs`.
    Climb,
    /// `shape::levels_off`.
    LevelsOff,
}

/// A relation of two curves, see `crate::shape`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Relation {
    /// `shape::crosses_once_late`: the second one ends ahead.
    OvertakenLate,
    /// `shape::pulls_ahead_late`: the second one leads late.
    LeftBehindLate,
}

/// The variation of a series of seconds, see [`consistency`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Variation {
    /// Close to its mean.
    Steady,
    /// A narrow level with deep drops.
    Periodic,
    /// A wide spread.
    Wide,
}

/// What a check found, with the number that it compared, and a sentence.
#[derive(Clone, Debug, PartialEq)]
pub struct Outcome {
    /// The verdict.
    pub verdict: Verdict,
    /// The compared number; `None` for shapes.
    pub measured: Option<f64>,
    /// What was measured, and against which limit.
    pub text: String,
}

/// Where a check finds numbers and curves.
pub(crate) struct Data<'a> {
    /// Returns a number.
    pub(crate) value: &'a dyn Fn(&Value) -> Option<Estimate>,
    /// Returns the values of a curve.
    pub(crate) curve: &'a dyn Fn(&Curve) -> Option<Vec<f64>>,
    /// Returns the swept values of the test of a curve.
    pub(crate) positions: &'a dyn Fn(&Curve) -> Option<Vec<f64>>,
}

impl Check {
    /// Returns what the check finds in `data`; not decided where something was not measured.
    pub(crate) fn evaluate(&self, data: &Data<'_>) -> Outcome {
        self.outcome(data).unwrap_or_else(|| Outcome {
            verdict: Verdict::NotDecided,
            measured: None,
            text: "a number that it needs was not measured".into(),
        })
    }

    fn outcome(&self, data: &Data<'_>) -> Option<Outcome> {
        let value = |reference: &Value| (data.value)(reference);
        let curve = |reference: &Curve| (data.curve)(reference);
        match self {
            Check::Level { of, is, tolerance } => Some(around(value(of)?, *is, *tolerance)),
            Check::Factor { of, to, is, tolerance } => {
                Some(around(value(of)?.over(value(to)?)?, *is, *tolerance))
            }
            Check::Bounds { of, from, until } => {
                let (from, until) = (from.unwrap_or(f64::NEG_INFINITY), *until);
                Some(banded(value(of)?, from, until.unwrap_or(f64::INFINITY)))
            }
            Check::Compare { of, is, to } => {
                let (from, until) = is.band();
                Some(banded(value(of)?.over(value(to)?)?, from, until))
            }
            Check::CompareFactors { of, is, to } => {
                let factor = |pair: &[Value; 2]| value(&pair[0])?.over(value(&pair[1])?);
                let (from, until) = is.band();
                Some(banded(factor(of)?.over(factor(to)?)?, from, until))
            }
            Check::Place { of, among, place } => placed(of, among, *place, data),
            Check::TiedFor { of, among, place } => tied_for(of, among, *place, data),
            Check::Order { of } => ordered(of, data),
            Check::Nearer { of, to, than } => {
                let [of, to, than] = [of, to, than].map(|one| value(one).map(|one| one.value));
                let (near, far) = ((of? - to?).abs(), (of? - than?).abs());
                let text = format!("{} from the one, {} from the other", text(near), text(far));
                Some(plain(near < far, of, text))
            }
            Check::Shape { of, is, not } => {
                let values = curve(of)?;
                let stated = if *not { "stated not" } else { "stated" };
                let text = format!("{}; {stated} {}", list(&values), is.words());
                Some(plain(is.fits(&values) != *not, None, text))
            }
            Check::Relation { of, is, to } => {
                let (first, second) = (curve(of)?, curve(to)?);
                let text = format!("{}; stated {} by {}", list(&first), is.words(), list(&second));
                Some(plain(is.fits(&first, &second), None, text))
            }
            Check::AlikeUntil { of, to, points } => alike(&curve(of)?, &curve(to)?, *points),
            Check::Turns { of, at_least } => {
                let turns = shape::turns(&curve(of)?);
                let text = format!("{turns} turns, {at_least} or more are needed");
                Some(plain(turns >= *at_least, Some(turns as f64), text))
            }
            Check::ReachesFrom { of, to, from } => {
                let (values, level) = (curve(of)?, value(to)?.value);
                let reached = values.iter().position(|value| *value >= level);
                let position = *(data.positions)(of)?.get(reached?)?;
                let text = format!("{} is reached at {}", text(level), text(position));
                Some(plain(position >= *from, Some(position), text))
            }
            Check::LatencyGrows { of, knee } => {
                grows(&curve(of)?, &(data.positions)(of)?, value(knee)?.value)
            }
            Check::Class { of, is } => {
                let found = Variation::find(&curve(of)?)?;
                Some(plain(found == *is, None, format!("{}, stated {}", found.word(), is.word())))
            }
            Check::AllClasses { of } => {
                let found: Option<Vec<Variation>> =
                    of.iter().map(|one| Variation::find(&curve(one)?)).collect();
                let mut found = found?;
                let words: Vec<&str> = found.iter().map(|one| one.word()).collect();
                let text = words.join(", ");
                found.sort();
                found.dedup();
                Some(plain(found.len() == 3, Some(found.len() as f64), text))
            }
            Check::ShareBelow { of, limit, at_least, at_most } => {
                let share = Estimate::exact(shape::share_below(&curve(of)?, *limit)?);
                Some(banded(share, at_least.unwrap_or(0.0), at_most.unwrap_or(1.0)))
            }
            Check::Settled { of } => settled(&curve(of)?),
        }
    }

    /// Adds the drives and tests that the check refers to.
    pub(crate) fn add_needs(&self, needs: &mut Needs) {
        let (values, curves) = self.references();
        values.iter().for_each(|value| value.source.add_to(needs));
        curves.iter().for_each(|curve| curve.source.add_to(needs));
    }

    /// Returns the number that the check expects, with the band that is accepted; `None` where it
    /// compares measured ones only.
    pub(crate) fn stated(&self) -> Option<(&Value, f64, f64)> {
        match self {
            Check::Level { of, is, tolerance } => {
                let (low, high) = band(*is, *tolerance);
                Some((of, low, high))
            }
            _ => None,
        }
    }

    /// Returns the drive that the check names first.
    pub(crate) fn subject(&self) -> &str {
        let (values, curves) = self.references();
        let of = match self {
            Check::ReachesFrom { of, .. } | Check::LatencyGrows { of, .. } => Some(&of.source),
            _ => values.first().map(|value| &value.source),
        };
        of.or(curves.first().map(|curve| &curve.source)).map_or("", |source| &source.drive)
    }

    /// Returns every number and every curve that the check refers to.
    pub(crate) fn references(&self) -> (Vec<&Value>, Vec<&Curve>) {
        match self {
            Check::Level { of, .. } | Check::Bounds { of, .. } => (vec![of], vec![]),
            Check::Factor { of, to, .. } | Check::Compare { of, to, .. } => (vec![of, to], vec![]),
            Check::CompareFactors { of, to, .. } => (of.iter().chain(to).collect(), vec![]),
            Check::Place { of, among, .. } | Check::TiedFor { of, among, .. } => {
                (std::iter::once(of).chain(among).collect(), vec![])
            }
            Check::Order { of } => (of.iter().collect(), vec![]),
            Check::Nearer { of, to, than } => (vec![of, to, than], vec![]),
            Check::Shape { of, .. }
            | Check::Turns { of, .. }
            | Check::Class { of, .. }
            | Check::ShareBelow { of, .. }
            | Check::Settled { of } => (vec![], vec![of]),
            Check::Relation { of, to, .. } | Check::AlikeUntil { of, to, .. } => {
                (vec![], vec![of, to])
            }
            Check::ReachesFrom { of, to, .. } => (vec![to], vec![of]),
            Check::LatencyGrows { of, knee } => (vec![knee], vec![of]),
            Check::AllClasses { of } => (vec![], of.iter().collect()),
        }
    }
}

impl Shape {
    /// Returns the words used in texts.
    fn words(self) -> &'static str {
        match self {
            Shape::AcceleratingRise => "an accelerating rise",
            Shape::FlatUntilLate => "flat until late",
            Shape::FinalSpike => "a final spike",
            Shape::FinalRise => "a final rise",
            Shape::Bathtub => "a bathtub",
            Shape::Climb => "a climb",
            Shape::LevelsOff => "a rise that levels off",
        }
    }

    fn fits(self, curve: &[f64]) -> bool {
        match self {
            Shape::AcceleratingRise => shape::accelerates(curve),
            Shape::FlatUntilLate => shape::flat_until_late(curve),
            Shape::FinalSpike => shape::ends_in_spike(curve),
            Shape::FinalRise => shape::rises_at_the_end(curve),
            Shape::Bathtub => shape::is_bathtub(curve),
            Shape::Climb => shape::climbs(curve),
            Shape::LevelsOff => shape::levels_off(curve),
        }
    }
}

impl Relation {
    /// Returns the words used in texts.
    fn words(self) -> &'static str {
        match self {
            Relation::OvertakenLate => "overtaken late",
            Relation::LeftBehindLate => "left behind late",
        }
    }

    fn fits(self, first: &[f64], second: &[f64]) -> bool {
        match self {
            Relation::OvertakenLate => shape::crosses_once_late(first, second),
            Relation::LeftBehindLate => shape::pulls_ahead_late(first, second),
        }
    }
}

impl Variation {
    /// Returns the word used in texts.
    fn word(self) -> &'static str {
        match self {
            Variation::Steady => "steady",
            Variation::Periodic => "periodic",
            Variation::Wide => "wide",
        }
    }

    fn find(seconds: &[f64]) -> Option<Variation> {
        Some(match consistency::classify(seconds)? {
            Consistency::Steady => Variation::Steady,
            Consistency::Periodic { .. } => Variation::Periodic,
            Consistency::Wide => Variation::Wide,
        })
    }
}

/// Returns whether `number` is `target` within `tolerance`.
fn around(number: Estimate, target: f64, tolerance: Option<f64>) -> Outcome {
    let (low, high) = band(target, tolerance);
    banded(number, low, high)
}

/// Returns the limits of `target` within `tolerance`.
fn band(target: f64, tolerance: Option<f64>) -> (f64, f64) {
    let tolerance = tolerance.unwrap_or(QUANTITY);
    (target * (1.0 - tolerance), target * (1.0 + tolerance))
}

/// Returns whether `number` lies between `from` and `until`.
fn banded(number: Estimate, from: f64, until: f64) -> Outcome {
    let limits = match (from.is_finite(), until.is_finite()) {
        (true, true) => format!("{} to {}", text(from), text(until)),
        (true, false) => format!("at least {}", text(from)),
        (false, _) => format!("at most {}", text(until)),
    };
    Outcome {
        verdict: number.lies_in(from, until),
        measured: Some(number.value),
        text: format!("{}, stated {limits}", text(number.value)),
    }
}

fn plain(holds: bool, measured: Option<f64>, text: String) -> Outcome {
    Outcome { verdict: Verdict::from_bool(holds), measured, text }
}

fn placed(of: &Value, among: &[Value], place: usize, data: &Data<'_>) -> Option<Outcome> {
    let own = (data.value)(of)?.value;
    let others: Option<Vec<f64>> =
        among.iter().map(|one| (data.value)(one).map(|number| number.value)).collect();
    let found = 1 + others?.iter().filter(|other| **other > own).count();
    let text = format!("place {found} of {}, stated {place} or better", among.len() + 1);
    Some(plain(found <= place, Some(found as f64), text))
}

fn tied_for(of: &Value, among: &[Value], place: usize, data: &Data<'_>) -> Option<Outcome> {
    let own = (data.value)(of)?.value;
    let others: Option<Vec<f64>> =
        among.iter().map(|one| (data.value)(one).map(|number| number.value)).collect();
    let mut all = others?;
    all.push(own);
    all.sort_by(|a, b| b.total_cmp(a));
    let share = own / all.get(place.checked_sub(1)?)?;
    let text =
        format!("{} of place {place} among {}, stated tied or above", text(share), all.len());
    Some(plain(share >= Word::Tied.band().0, Some(share), text))
}

fn ordered(of: &[Value], data: &Data<'_>) -> Option<Outcome> {
    let numbers: Option<Vec<Estimate>> = of.iter().map(|one| (data.value)(one)).collect();
    let numbers = numbers?;
    let mut verdict = Verdict::Holds;
    for pair in numbers.windows(2) {
        verdict = verdict.max(pair[0].over(pair[1])?.lies_in(1.0, f64::INFINITY));
    }
    let values: Vec<f64> = numbers.iter().map(|number| number.value).collect();
    Some(Outcome { verdict, measured: None, text: format!("in this order: {}", list(&values)) })
}

fn alike(first: &[f64], second: &[f64], points: usize) -> Option<Outcome> {
    let found = shape::alike_for(first, second, 1.0 - Word::Tied.band().0);
    let (a, b) = (*first.last()?, *second.last()?);
    let holds = found >= points && a > b * Word::Tied.band().1;
    let text =
        format!("alike for {found} points, stated {points}; then {} and {}", text(a), text(b));
    Some(plain(holds, Some(found as f64), text))
}

/// Returns whether the latency at the last depth is that at the knee times the depths, within 25 %
/// (chosen: the rate may fall a little).
fn grows(latencies: &[f64], depths: &[f64], knee: f64) -> Option<Outcome> {
    let at = depths.iter().position(|depth| *depth == knee)?;
    let factor = latencies.last()? / latencies[at];
    let depth = depths.last()? / knee;
    let text = format!("latency {}x at {}x the depth of the knee", text(factor), text(depth));
    let holds = depth > 1.0 && (0.75..=1.25).contains(&(factor / depth));
    Some(plain(holds, Some(factor / depth), text))
}

fn settled(series: &[f64]) -> Option<Outcome> {
    let (first, second) = series.split_at(series.len() / 2);
    let mean = ssdgauge_statistics::summary::mean;
    let change = (mean(second)? / mean(first)? - 1.0).abs();
    Some(banded(Estimate::exact(change), 0.0, 1.0 - Word::Tied.band().0))
}

/// Returns three significant digits of `value`.
fn text(value: f64) -> String {
    if value == 0.0 {
        return "0".into();
    }
    let digits = (2.0 - value.abs().log10().floor()).clamp(0.0, 6.0) as usize;
    format!("{value:.digits$}")
}

fn list(values: &[f64]) -> String {
    values.iter().map(|value| text(*value)).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests;
