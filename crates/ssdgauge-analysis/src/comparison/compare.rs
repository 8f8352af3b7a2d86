//! Comparison of two runs: what differs, what is equal, and what is not decided.
//!
//! Only comparable tests are compared, and all of them by one rule ([`difference`]). An interval
//! within two runs is not an interval between runs or between drives of one model, so a difference
//! also has to exceed a noise allowance.

use crate::comparison::history::{self, History};
use crate::findings::run_outcome::{self, RunOutcome};
use crate::findings::trust::{self, Grade};
use crate::groups::group::{self, Member};
use crate::groups::lower_bound;
use crate::groups::workload_text;
use crate::model::Run;
use crate::text::interval;
use crate::text::labels;
use crate::text::number;
use crate::text::sanitize;
use ssdgauge_core::rounded::count_of;
use ssdgauge_core::{Headline, Metric, Ratio, Verdict};
use ssdgauge_statistics::difference::earlier::Earlier;
use ssdgauge_statistics::difference::{self, Outcome};
use std::borrow::Cow;
use thiserror::Error;

/// Options of a comparison.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CompareOptions {
    /// Compares a drive with itself under another firmware.
    pub any_firmware: bool,
    /// Results are equal where they differ by at most this share: [`difference::NOISE`] unless repeated
    /// runs of one drive show another one.
    pub noise: f64,
    /// The largest loss that the gate allows, as a share.
    pub threshold: Option<f64>,
}

impl Default for CompareOptions {
    fn default() -> Self {
        CompareOptions { any_firmware: false, noise: difference::NOISE, threshold: None }
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
    /// What puts the numbers of each run in doubt, such as `C, 2 of 5 results in doubt: throttled`; `None`
    /// without a doubt.
    pub doubts: [Option<String>; 2],
    /// The tests of the first run, in their order.
    pub tests: Vec<TestComparison>,
    /// The options of the comparison.
    pub options: CompareOptions,
    /// Whether every test keeps to the largest loss that the threshold allows; `None` where none was given.
    pub gate: Option<Verdict>,
    /// Why the gate decides nothing, whatever the numbers are: a run was disturbed. `None` without a threshold.
    pub gate_reason: Option<&'static str>,
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
    /// The loads between which trials of a search disagree; `None` where they agree.
    pub ranges: [Option<(f64, f64)>; 2],
    /// The second headline divided by the first, with its interval.
    pub ratio: Option<Ratio>,
    /// What earlier runs show about the number; `None` where it is judged by its interval and the noise
    /// of the options.
    pub earlier: Option<Earlier>,
    /// The meaning of the ratio.
    pub difference: Difference,
    /// Whether the number keeps to the threshold; `None` without one, and for further numbers.
    pub gate: Option<Verdict>,
}

/// The meaning of a ratio.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Difference {
    /// The second run is better: the interval excludes equality, and the ratio is beyond the noise.
    Better,
    /// The second run is worse, by the same rule.
    Worse,
    /// Both are equal: the whole interval is within the noise.
    Equal,
    /// It is not decided, or the numbers are not comparable, for this reason.
    Unknown(String),
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
        let mut numbers = numbers(member, other, options);
        if let Some(history) = history {
            for (place, number) in &mut numbers {
                let earlier = history.earlier(&test.test.id, *place, number.metric);
                judge_by_history(number, earlier);
            }
        }
        tests.extend(numbers.into_iter().map(|(_, number)| number));
    }
    let disturbed = disturbed([a, b]);
    if let Some(why) = disturbed {
        tests.iter_mut().for_each(|test| doubt(test, why));
    }
    let gate = options.threshold.map(|threshold| gate(&mut tests, threshold, disturbed));
    let gate_reason = disturbed.filter(|_| gate.is_some());
    if tests.iter().all(|test| test.values[1].is_none()) {
        let reason = |test: &TestComparison| match &test.difference {
            Difference::Unknown(reason) => Some(reason.clone()),
            Difference::Better | Difference::Worse | Difference::Equal => None,
        };
        let reason = tests.iter().find_map(reason).unwrap_or_else(|| "there are none".to_owned());
        return Err(CompareError::NothingInCommon(reason));
    }
    let marks_of_b = run_outcome::marks(b);
    let marks =
        run_outcome::marks(a).into_iter().filter(|mark| marks_of_b.contains(mark)).collect();
    let [name_a, name_b] = distinct([a, b]);
    let ids = [a, b].map(|run| sanitize::prose(&run.head.id));
    let doubts = [a, b].map(|run| {
        let trust = trust::of_runs([run]).filter(|trust| trust.grade > Grade::A)?;
        Some(format!("{}, {}", trust.grade.letter(), trust.in_words()))
    });
    let (names, options) = ([name_a, name_b], *options);
    Ok(Comparison { names, ids, marks, doubts, tests, options, gate, gate_reason })
}

/// Returns which of the runs something outside its drive disturbed: a difference may be the disturbance.
fn disturbed(runs: [&Run; 2]) -> Option<&'static str> {
    match runs.map(|run| run_outcome::of(run) == RunOutcome::Disturbed) {
        [false, false] => None,
        [true, false] => Some("the first run was disturbed by something outside its drive"),
        [false, true] => Some("the second run was disturbed by something outside its drive"),
        [true, true] => Some("both runs were disturbed by something outside their drives"),
    }
}

/// Takes back that `test` is better or worse. The numbers stay.
fn doubt(test: &mut TestComparison, why: &str) {
    if matches!(test.difference, Difference::Better | Difference::Worse) {
        test.difference = Difference::Unknown(why.to_owned());
    }
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

/// Compares the headlines of a test, and the further numbers that both runs have, by one rule; each with its
/// place among the numbers of the first run.
fn numbers(
    a: Member<'_>,
    b: Option<Member<'_>>,
    options: &CompareOptions,
) -> Vec<(usize, TestComparison)> {
    let b = b.ok_or_else(|| "the second run has no such test".to_owned()).and_then(|b| {
        let why = invalid([a, b]).or_else(|| group::incomparable(a, b).map(Cow::into_owned));
        why.map_or(Ok(b), Err)
    });
    let further = if b.is_ok() { a.test.also.len() } else { 0 };
    let places = history::HEADLINE..=further;
    let number = |place| Some((place, compared(a, b.clone(), place, options)?));
    places.filter_map(number).collect()
}

/// Compares the number at `place` of the test of `a` with that of `b`, or says why there is none to compare with;
/// `None` where the test of `b` lacks a further number.
fn compared(
    a: Member<'_>,
    b: Result<Member<'_>, String>,
    place: usize,
    options: &CompareOptions,
) -> Option<TestComparison> {
    let test = &a.test.test;
    let further = place.checked_sub(history::HEADLINE + 1);
    let (score, of_a) = match further {
        None => (&test.score, &a.test.headline),
        Some(further) => (test.also.get(further)?, a.test.also.get(further)?),
    };
    let (metric, title) = (of_a.metric, sanitize::prose(&test.title));
    let mut comparison = TestComparison {
        id: sanitize::prose(&test.id),
        revision: test.revision,
        title: further.map_or(title.clone(), |_| format!("{title}, {}", metric.title())),
        metric,
        rule: workload_text::rule(test, score),
        further: further.is_some(),
        values: [of_a.value.filter(|_| invalid([a]).is_none()), None],
        ranges: [interval::range_of_trials(of_a), None],
        ratio: None,
        earlier: None,
        difference: Difference::Equal,
        gate: None,
    };
    let b = b.and_then(|b| group::other_meters(metric, a, b).map_or(Ok(b), Err));
    let b = match b {
        Ok(b) => b,
        Err(why) => {
            comparison.difference = Difference::Unknown(why);
            return Some(comparison);
        }
    };
    let (of_b, ratio) = match further {
        None => (&b.test.headline, b.test.over(a.test)),
        Some(_) => {
            let of_b = b.test.test.also.iter().position(|other| other == score)?;
            (b.test.also.get(of_b)?, b.test.also_over(a.test, score))
        }
    };
    comparison.values[1] = of_b.value;
    comparison.ranges[1] = interval::range_of_trials(of_b);
    let ratio = ratio.map(|ratio| of_one_run(ratio, a, b, comparison.values));
    (comparison.ratio, comparison.difference) = decided(ratio, [of_a, of_b], options.noise);
    if metric == Metric::LoadMultiple && lower_bound::is_open(a.test, b.test) {
        comparison.ratio = None;
        comparison.difference = Difference::Unknown(ONLY_PASSED.to_owned());
    }
    Some(comparison)
}

/// Why two searches are not compared.
const ONLY_PASSED: &str =
    "the run with the lower result has no load that failed: it may hold more than it was tried at";

/// Returns which of the tests has an invalid result, and why: it is compared with nothing.
fn invalid<const N: usize>(members: [Member<'_>; N]) -> Option<String> {
    let why = |member: Member<'_>| trust::invalid(member.run, member.test);
    let mut named = ["first", "second"].into_iter().zip(members);
    named.find_map(|(name, member)| Some(format!("the {name} run is invalid: {}", why(member)?)))
}

/// Returns `ratio`, without an uncertainty where it is that of a run and a copy of it.
fn of_one_run(ratio: Ratio, a: Member<'_>, b: Member<'_>, values: [Option<f64>; 2]) -> Ratio {
    match a.run.head.id == b.run.head.id && values[0] == values[1] {
        true => Ratio { value: 1.0, interval: Some((1.0, 1.0)), ..ratio },
        false => ratio,
    }
}

/// Returns the ratio of two headlines as far as it means something, and its meaning.
pub(crate) fn decided(
    ratio: Option<Ratio>,
    headlines: [&Headline; 2],
    noise: f64,
) -> (Option<Ratio>, Difference) {
    match headlines.map(|headline| headline.value) {
        // A zero has no ratio to another number, in neither order; two are equal.
        [Some(0.0), Some(0.0)] => {
            let same = Ratio { value: 1.0, interval: Some((1.0, 1.0)), cut_seconds: [0, 0] };
            (Some(same), Difference::Equal)
        }
        [Some(0.0), Some(_)] | [Some(_), Some(0.0)] => {
            let why = "one of the results is zero, which has no ratio".to_owned();
            (None, Difference::Unknown(why))
        }
        [Some(_) | None, Some(_) | None] => (ratio, judged(ratio, headlines, noise)),
    }
}

fn judged(ratio: Option<Ratio>, headlines: [&Headline; 2], noise: f64) -> Difference {
    let metric = headlines[0].metric;
    let Some(ratio) = ratio else {
        let why = match headlines.map(|headline| headline.value.is_some()) {
            [false, false] => "neither run has a result",
            [false, true] => "the first run has no result",
            [true, false] => "the second run has no result",
            [true, true] => "the results have no ratio",
        };
        return Difference::Unknown(why.to_owned());
    };
    let Some(interval) = ratio.interval else {
        let reason = interval::reason_of(headlines.map(|headline| &headline.interval));
        let reason = reason.unwrap_or("no 95 % interval: one of the results may be zero");
        return Difference::Unknown(reason.to_owned());
    };
    let outcome = difference::judge(ratio.value, Some(interval), noise);
    match outcome.in_quality(metric.more_is_better()) {
        Outcome::Higher => Difference::Better,
        Outcome::Lower => Difference::Worse,
        Outcome::Equal => Difference::Equal,
        Outcome::NotDecided => {
            let kind = if headlines[0].metric == Metric::LoadMultiple {
                "the range of the trials"
            } else {
                "the 95 % interval"
            };
            Difference::Unknown(too_wide(kind, interval, noise))
        }
    }
}

/// Returns why an interval decides nothing.
fn too_wide(kind: &str, (low, high): (f64, f64), noise: f64) -> String {
    let within = number::share(noise);
    let why = match low <= 1.0 && high >= 1.0 {
        true => format!("includes 0 % and reaches beyond {within}"),
        false => format!("excludes 0 %, and reaches from within {within} to beyond it"),
    };
    format!("{kind}, {} to {}, {why}", number::change(low), number::change(high))
}

/// Judges a number by what it has varied before. One without two values that may be compared stays as it is.
fn judge_by_history(number: &mut TestComparison, earlier: Earlier) {
    number.earlier = Some(earlier);
    let [Some(a), Some(b)] = number.values.map(|value| value.filter(|value| *value > 0.0)) else {
        return;
    };
    number.difference = match earlier.judge(b / a).in_quality(number.metric.more_is_better()) {
        Outcome::Higher => Difference::Better,
        Outcome::Lower => Difference::Worse,
        Outcome::Equal => Difference::Equal,
        Outcome::NotDecided => Difference::Unknown(format!(
            "the history has {} of this test, and {} are needed",
            count_of(earlier.runs, "run"),
            Earlier::LEAST_RUNS
        )),
    };
}

/// Judges each of `tests` that counts, and all together: the worst decides. Further numbers do not count. Where a run was
/// `disturbed` none is decided: a loss may be the disturbance, and so may be its absence.
fn gate(tests: &mut [TestComparison], threshold: f64, disturbed: Option<&str>) -> Verdict {
    for test in tests.iter_mut().filter(|test| !test.further) {
        test.gate = Some(match disturbed {
            Some(_) => Verdict::NotDecided,
            None => gate_of(test, threshold),
        });
    }
    tests.iter().filter_map(|test| test.gate).max().unwrap_or(Verdict::Holds)
}

/// Judges one test by its interval. With a history its limit takes the place of the interval: a loss
/// beyond both the limit and the threshold fails, and one beyond the threshold alone is not decided. A
/// threshold of zero then allows what the limit does.
fn gate_of(test: &TestComparison, threshold: f64) -> Verdict {
    let more = test.metric.more_is_better();
    if let (Some(_), [Some(a), Some(b)]) = (test.earlier, test.values) {
        let is_beyond = match more {
            true => b < a * (1.0 - threshold),
            false => b > a * (1.0 + threshold),
        };
        return match (&test.difference, is_beyond) {
            (Difference::Unknown(_), _) => Verdict::NotDecided,
            (_, false) => Verdict::Holds,
            (Difference::Worse, true) => Verdict::Fails,
            (Difference::Better | Difference::Equal, true) if threshold == 0.0 => Verdict::Holds,
            (Difference::Better | Difference::Equal, true) => Verdict::NotDecided,
        };
    }
    let ratio = test.ratio.and_then(|ratio| Some((ratio.value, ratio.interval?)));
    ratio.map_or(Verdict::NotDecided, |(ratio, interval)| {
        difference::keeps_to(ratio, interval, more, threshold)
    })
}

impl Difference {
    /// Returns the word of the three outcomes in JSON.
    pub fn outcome(&self) -> &'static str {
        match self {
            Difference::Better | Difference::Worse => "differs",
            Difference::Equal => "equal",
            Difference::Unknown(_) => "cannot-tell",
        }
    }
}

impl TestComparison {
    /// Returns the number of the run at `place`, 0 or 1, with its unit: both ends where trials of a load
    /// disagree, such as `6 to 7×`.
    pub fn value_words(&self, place: usize) -> String {
        match (self.values[place], self.ranges[place]) {
            (None, _) => number::NOTHING.to_owned(),
            (Some(value), None) => self.metric.about(value),
            (Some(_), Some((low, high))) => interval::range(low, high, self.metric),
        }
    }
}

impl Comparison {
    /// Returns the numbers that have a verdict, each with those of its test that state the same quantity by another
    /// rule and that a run has: one name has one verdict.
    pub fn rows(&self) -> Vec<(&TestComparison, Vec<&TestComparison>)> {
        let mut rows: Vec<(&TestComparison, Vec<&TestComparison>)> = Vec::new();
        for test in &self.tests {
            let of_headline = |(row, _): &&mut (&TestComparison, Vec<&TestComparison>)| {
                test.further && !row.further && row.id == test.id && row.metric == test.metric
            };
            match rows.iter_mut().rev().find(of_headline) {
                Some(_) if test.values == [None; 2] => {}
                Some((_, others)) => others.push(test),
                None => rows.push((test, Vec::new())),
            }
        }
        rows
    }

    /// Returns how many numbers count for the gate, and how many of them have the result `gate`.
    pub fn gates(&self, gate: Verdict) -> (usize, usize) {
        let counted = || self.tests.iter().filter_map(|test| test.gate);
        (counted().filter(|one| *one == gate).count(), counted().count())
    }
}
