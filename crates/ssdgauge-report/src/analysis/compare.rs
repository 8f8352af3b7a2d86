//! Comparison of two runs: significant differences and noise.
//!
//! Only comparable tests are compared. An interval within two runs is not an interval between runs
//! or between drives of one model, so a noise allowance is added.

use crate::analysis::group::{self, Member};
use crate::analysis::history::{self, History, Variation};
use crate::analysis::workload_text;
use crate::model::Run;
use crate::text::interval;
use crate::text::labels;
use crate::text::sanitize;
use ssdgauge_core::rounded::count_of;
use ssdgauge_core::{Headline, Metric, Ratio, Score};
use thiserror::Error;

/// Options of a comparison.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CompareOptions {
    /// Compares a drive with itself under another firmware.
    pub any_firmware: bool,
    /// A difference within this share counts as noise between runs: 0.03 is 3 %. Chosen, because
    /// two runs cannot show it; repeated runs of one drive can.
    pub noise: f64,
    /// The gate fails where the second run is worse by more than this share beyond doubt.
    pub threshold: Option<f64>,
}

impl Default for CompareOptions {
    fn default() -> Self {
        CompareOptions { any_firmware: false, noise: 0.03, threshold: None }
    }
}

/// The reason why two runs are not compared.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum CompareError {
    /// The firmware of the drive differs, and the options do not allow it.
    #[error("{drive} ran firmware {a} in the first run and {b} in the second")]
    Firmware {
        /// The drive.
        drive: String,
        /// The firmware of the first run.
        a: String,
        /// The firmware of the second run.
        b: String,
    },
    /// The runs are of two drives, and a history is of one.
    #[error("a history is of one drive, and the runs are of {0}")]
    OtherDrive(String),
    /// No test of one run may be compared with one of the other.
    #[error("no test of the two runs can be compared: {0}")]
    NothingInCommon(String),
}

/// The comparison of two runs.
#[derive(Clone, Debug, PartialEq)]
pub struct Comparison {
    /// The names of the drives, the first run's first.
    pub names: [String; 2],
    /// The ids of the runs.
    pub ids: [String; 2],
    /// The marks of both runs, such as `MODEL`.
    pub marks: Vec<String>,
    /// The tests of the first run, in their order.
    pub tests: Vec<TestComparison>,
    /// The options of the comparison.
    pub options: CompareOptions,
    /// The result of the gate; `None` where no threshold was given.
    pub gate: Option<Gate>,
}

/// The comparison of two tests.
#[derive(Clone, Debug, PartialEq)]
pub struct TestComparison {
    /// The id of the test.
    pub id: String,
    /// Its revision in the first run.
    pub revision: u32,
    /// Its title.
    pub title: String,
    /// The metric of its headline.
    pub metric: Metric,
    /// The rule of the headline in words.
    pub rule: String,
    /// True for a further number of the test, which the gate ignores.
    pub further: bool,
    /// The headlines of both runs; `None` where there is none.
    pub values: [Option<f64>; 2],
    /// The second headline divided by the first, with its interval.
    pub ratio: Option<Ratio>,
    /// What the number has varied in earlier runs; `None` where it is judged by its interval and the noise
    /// of the options.
    pub variation: Option<Variation>,
    /// The meaning of the ratio.
    pub difference: Difference,
}

/// The meaning of a ratio.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Difference {
    /// The second run is better, beyond its interval and the noise between runs.
    Better,
    /// The second run is worse, beyond its interval and the noise between runs.
    Worse,
    /// The difference is within the noise.
    WithinNoise,
    /// Not comparable, for this reason.
    Unknown(String),
}

/// The result of a gate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Gate {
    /// No test is worse than the threshold allows, and every test could be compared.
    Passed,
    /// A test is worse than the threshold allows, beyond doubt.
    Failed,
    /// No test failed, and at least one could not be judged.
    Undecided,
}

/// Compares the headlines of `b` with those of `a`.
///
/// # Errors
///
/// Returns [`CompareError::NothingInCommon`] where no test of one run is comparable with one of the
/// other, and [`CompareError::Firmware`] for one model under two firmware revisions, unless the
/// options allow it.
pub fn compare(a: &Run, b: &Run, options: &CompareOptions) -> Result<Comparison, CompareError> {
    compare_all(a, b, options, None)
}

/// Compares the headlines of `b` with those of `a`, and judges each difference by the changes between the
/// earlier runs of the same test in `history`.
///
/// # Errors
///
/// As [`compare`]; and [`CompareError::OtherDrive`] for runs of two drives.
pub fn compare_with_history(
    a: &Run,
    b: &Run,
    options: &CompareOptions,
    history: &History,
) -> Result<Comparison, CompareError> {
    if history::identity(a) != history::identity(b) {
        let names = distinct([a, b]).join(" and ");
        return Err(CompareError::OtherDrive(names));
    }
    compare_all(a, b, options, Some(history))
}

fn compare_all(
    a: &Run,
    b: &Run,
    options: &CompareOptions,
    history: Option<&History>,
) -> Result<Comparison, CompareError> {
    check_firmware(a, b, options)?;
    let mut tests = Vec::new();
    for test in &a.tests {
        let member = Member { index: 0, run: a, test };
        let other = b.tests.iter().find(|other| other.test.id == test.test.id);
        let other = other.map(|test| Member { index: 1, run: b, test });
        let mut numbers = vec![(history::HEADLINE, compared(member, other, options))];
        numbers.extend(further(member, other, options));
        if let Some(history) = history {
            for (place, number) in &mut numbers {
                judge_by_history(number, history.variation(&test.test.id, *place));
            }
        }
        tests.extend(numbers.into_iter().map(|(_, number)| number));
    }
    if tests.iter().all(|test| test.values[1].is_none()) {
        let reason = |test: &TestComparison| match &test.difference {
            Difference::Unknown(reason) => Some(reason.clone()),
            Difference::Better | Difference::Worse | Difference::WithinNoise => None,
        };
        let reason = tests.iter().find_map(reason).unwrap_or_else(|| "there are none".to_owned());
        return Err(CompareError::NothingInCommon(reason));
    }
    let marks_of_b = labels::marks(&b.head, b.complete);
    let marks = labels::marks(&a.head, a.complete)
        .into_iter()
        .filter(|mark| marks_of_b.contains(mark))
        .collect();
    let [name_a, name_b] = distinct([a, b]);
    let gate = options.threshold.map(|threshold| gate(&tests, threshold));
    let ids = [a, b].map(|run| sanitize::prose(&run.head.id));
    Ok(Comparison { names: [name_a, name_b], ids, marks, tests, options: *options, gate })
}

fn check_firmware(a: &Run, b: &Run, options: &CompareOptions) -> Result<(), CompareError> {
    let firmware = |run: &Run| match &run.head.drive.firmware {
        Some(firmware) => sanitize::device(firmware),
        None => "unknown".to_owned(),
    };
    let one_model = a.head.drive.model == b.head.drive.model;
    match options.any_firmware || !one_model || firmware(a) == firmware(b) {
        true => Ok(()),
        false => Err(CompareError::Firmware {
            drive: labels::drive_name(&a.head.drive),
            a: firmware(a),
            b: firmware(b),
        }),
    }
}

/// Returns the names of both runs, with run ids where they are equal.
fn distinct(runs: [&Run; 2]) -> [String; 2] {
    let [a, b] = runs.map(|run| labels::run_name(&run.head));
    match a == b {
        false => [a, b],
        true => runs.map(|run| format!("{a} ({})", labels::short_id(&run.head.id))),
    }
}

fn compared(a: Member<'_>, b: Option<Member<'_>>, options: &CompareOptions) -> TestComparison {
    let test = &a.test.test;
    let metric = a.test.headline.metric;
    let mut comparison = TestComparison {
        id: sanitize::prose(&test.id),
        revision: test.revision,
        title: sanitize::prose(&test.title),
        metric,
        rule: workload_text::rule(test, &test.score),
        further: false,
        values: [a.test.headline.value, None],
        ratio: None,
        variation: None,
        difference: Difference::Unknown("the second run has no such test".to_owned()),
    };
    let Some(b) = b else { return comparison };
    if let Some(why) = group::incomparable(a, b) {
        comparison.difference = Difference::Unknown(why.to_owned());
        return comparison;
    }
    if let Some(why) = group::other_meters(metric, a, b) {
        comparison.difference = Difference::Unknown(why);
        return comparison;
    }
    comparison.values[1] = b.test.headline.value;
    comparison.ratio = b.test.over(a.test);
    let headlines = [&a.test.headline, &b.test.headline];
    comparison.difference = difference(comparison.ratio, headlines, options.noise);
    comparison
}

/// Compares the further numbers of a test that both runs have by the same rule; each with its place among
/// the numbers of the first run.
fn further(
    a: Member<'_>,
    b: Option<Member<'_>>,
    options: &CompareOptions,
) -> Vec<(usize, TestComparison)> {
    let Some(b) = b.filter(|b| group::incomparable(a, *b).is_none()) else { return Vec::new() };
    let number = |(place, score): (usize, &Score)| {
        let of_b = b.test.test.also.iter().position(|other| other == score)?;
        let headlines = [a.test.also.get(place)?, b.test.also.get(of_b)?];
        let mut values = headlines.map(|headline| headline.value);
        let metric = score.metric();
        let meters = group::other_meters(metric, a, b);
        if meters.is_some() {
            // As for a headline: the value of another meter is not shown beside the first one.
            values[1] = None;
        }
        let ratio = match values {
            [Some(_), Some(_)] => b.test.also_over(a.test, score),
            [_, _] => None,
        };
        let difference = match meters {
            Some(why) => Difference::Unknown(why),
            None => difference(ratio, headlines, options.noise),
        };
        let comparison = TestComparison {
            id: sanitize::prose(&a.test.test.id),
            revision: a.test.test.revision,
            title: format!("{}, {}", sanitize::prose(&a.test.test.title), metric.title()),
            metric,
            rule: workload_text::rule(&a.test.test, score),
            further: true,
            values,
            ratio,
            variation: None,
            difference,
        };
        Some((history::HEADLINE + 1 + place, comparison))
    };
    a.test.test.also.iter().enumerate().filter_map(number).collect()
}

fn difference(ratio: Option<Ratio>, headlines: [&Headline; 2], noise: f64) -> Difference {
    let metric = headlines[0].metric;
    let Some(ratio) = ratio else {
        return Difference::Unknown("one of the runs has no result".to_owned());
    };
    let Some((low, high)) = ratio.interval else {
        let reason = headlines.iter().find_map(|headline| interval::reason(&headline.interval));
        let reason = reason.unwrap_or("no 95 % interval: one of the results is not above zero");
        return Difference::Unknown(reason.to_owned());
    };
    match (low > 1.0 + noise, high < 1.0 - noise) {
        (true, _) if metric.more_is_better() => Difference::Better,
        (true, _) => Difference::Worse,
        (_, true) if metric.more_is_better() => Difference::Worse,
        (_, true) => Difference::Better,
        (false, false) => Difference::WithinNoise,
    }
}

/// Judges a number by what it has varied before. One without two values that may be compared stays as it is.
fn judge_by_history(number: &mut TestComparison, variation: Variation) {
    let limit = variation.limit.map(|limit| limit.max(number.metric.resolution()));
    number.variation = Some(Variation { limit, ..variation });
    let [Some(a), Some(b)] = number.values else { return };
    if a <= 0.0 || b <= 0.0 {
        return;
    }
    let (better, worse) = match number.metric.more_is_better() {
        true => (b / a, a / b),
        false => (a / b, b / a),
    };
    number.difference = match limit {
        None => Difference::Unknown(format!(
            "the history has {} of this test, and {} are needed",
            count_of(variation.runs, "run"),
            Variation::LEAST_RUNS
        )),
        Some(limit) if better > 1.0 + limit => Difference::Better,
        Some(limit) if worse > 1.0 + limit => Difference::Worse,
        Some(_) => Difference::WithinNoise,
    };
}

/// Judges `tests`: one fails where its whole interval lies beyond the threshold; with a history, where it
/// is worse beyond its variation and beyond the threshold.
fn gate(tests: &[TestComparison], threshold: f64) -> Gate {
    let judged = || tests.iter().filter(|test| !test.further);
    let failed = |test: &TestComparison| fails(test, threshold);
    let unknown = |test: &TestComparison| match test.variation {
        Some(_) => matches!(test.difference, Difference::Unknown(_)),
        None => test.ratio.and_then(|ratio| ratio.interval).is_none(),
    };
    match (judged().any(failed), judged().any(unknown)) {
        (true, _) => Gate::Failed,
        (false, true) => Gate::Undecided,
        (false, false) => Gate::Passed,
    }
}

/// Returns whether `test` is worse than `threshold` allows, beyond doubt.
pub(crate) fn fails(test: &TestComparison, threshold: f64) -> bool {
    if let (Some(_), [Some(a), Some(b)]) = (test.variation, test.values) {
        let is_beyond = match test.metric.more_is_better() {
            true => b < a * (1.0 - threshold),
            false => b > a * (1.0 + threshold),
        };
        return test.difference == Difference::Worse && is_beyond;
    }
    let Some((low, high)) = test.ratio.and_then(|ratio| ratio.interval) else { return false };
    match test.metric.more_is_better() {
        true => high < 1.0 - threshold,
        false => low > 1.0 + threshold,
    }
}

impl Gate {
    /// Returns the word used in text and JSON.
    pub fn name(self) -> &'static str {
        match self {
            Gate::Passed => "passed",
            Gate::Failed => "failed",
            Gate::Undecided => "undecided",
        }
    }
}
