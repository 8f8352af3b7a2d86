//! Turns, in each of which every test is carried out once: the check after each turn of a run that
//! ends when the intervals between its repetitions are narrow.
//!
//! The numbers are computed from the recorded samples alone, by the functions of the report: a
//! resumed run decides as an uninterrupted one with the same samples.

use super::{ConductError, Conductor};
use ssdgauge_core::{
    Contribution, Finding, FindingKind, Plan, Point, RepeatUntil, Score, Severity, Test,
    chosen_point,
};
use ssdgauge_runfile::{Contradictions, REPETITIONS, RunFile, RunFileError, StepRecord, attempts};
use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

/// The widest intervals that a text names.
const MAX_NAMED: usize = 3;

/// The numbers of the tests so far: what each contributes to the headline and the further numbers, in their
/// order, by the index of the test in the plan.
pub(super) type Numbers = BTreeMap<usize, Vec<Contribution>>;

impl Conductor<'_> {
    /// Returns whether the run ends before test number `next`, because a turn is complete and all
    /// intervals are narrow, or no turn is left. The check is durable then.
    pub(super) fn ends_before(&mut self, next: usize) -> Result<bool, ConductError> {
        let plan = self.plan;
        let Some(rule) = plan.repeat_until else { return Ok(false) };
        let Some(turns) = complete_before(plan, next) else { return Ok(false) };
        // A run that had ended at an earlier turn is not resumed.
        if turns < rule.at_least || self.is_replaying() {
            return Ok(false);
        }
        self.wait_for_room()?;
        let file = self.writer.read_back()?;
        add(&mut self.numbers, &file, next)?;
        drop(file);
        let check = WidthCheck::new(plan, rule, turns, &self.numbers);
        self.watcher.turn_ended(&check.progress());
        if check.ends {
            self.find(check.finding())?;
            self.writer.property(None, REPETITIONS, &turns.to_string())?;
            self.wait_for_room()?;
            self.commit()?;
        }
        Ok(check.ends)
    }
}

/// Returns the number of turns that are complete before test number `next` begins; `None` where it
/// is not the first of its turn.
fn complete_before(plan: &Plan, next: usize) -> Option<u32> {
    let turn = |index: usize| plan.tests.get(index).map(|test| test.repetition);
    let before = next.checked_sub(1).and_then(turn)?;
    (turn(next) != Some(before)).then_some(before)
}

/// Adds the numbers of every test before number `next` that has none in `numbers` yet.
fn add(numbers: &mut Numbers, file: &RunFile, next: usize) -> Result<(), RunFileError> {
    let steps = file.steps()?;
    for index in 0..next {
        if let Entry::Vacant(missing) = numbers.entry(index) {
            missing.insert(of_test(file, &steps, index)?);
        }
    }
    Ok(())
}

/// Returns the numbers of one test of the plan.
fn of_test(
    file: &RunFile,
    steps: &[StepRecord],
    index: usize,
) -> Result<Vec<Contribution>, RunFileError> {
    let test = &file.head().plan.tests[index];
    let of_test: Vec<&StepRecord> = steps.iter().filter(|step| step.place.test == index).collect();
    let counted = attempts::counted(test, &of_test);
    let mut points = Vec::new();
    for (place, step) in test.measured_steps() {
        let measured = counted.get(&place).zip(step.action.measured_workload());
        let Some((records, workload)) = measured else { continue };
        let records = attempts::window(test, records);
        // One turn is judged at a time, so that each test has the whole room.
        let checked = (&mut file.room(), &mut Contradictions::default());
        let samples = file.samples(step, workload, records, false, checked, |_| 0)?;
        points.push(Point {
            label: step.label.clone(),
            position: step.position,
            totals: samples.whole,
            seconds: samples.seconds,
            streams: samples.streams,
            percentiles: samples.percentiles,
        });
    }
    let is_searched = file.is_searched(index)?;
    let scores = std::iter::once(&test.score).chain(&test.also);
    let contribution = |score: &Score| {
        let headline = test.headline(score, points.iter(), is_searched);
        Contribution::new(test, score, points.iter(), &headline)
    };
    Ok(scores.map(contribution).collect())
}

/// The check after a turn.
#[derive(Debug)]
struct WidthCheck {
    rule: RepeatUntil,
    /// The turns so far.
    turns: u32,
    /// Whether the run ends.
    ends: bool,
    /// The half-width of each number as a share of its mean, with its name, the widest first.
    widths: Vec<(String, f64)>,
    /// The numbers that a repetition has not measured.
    left_out: usize,
}

impl WidthCheck {
    /// Judges the first `turns` turns of `plan`, whose tests have these `numbers`.
    fn new(plan: &Plan, rule: RepeatUntil, turns: u32, numbers: &Numbers) -> WidthCheck {
        let mut series: Vec<(String, Vec<f64>)> = Vec::new();
        let mut left_out = 0;
        for test in plan.tests.iter().filter(|test| test.repetition == 1) {
            let is_same =
                |(_, other): &(usize, &Test)| other.id == test.id && other.repetition <= turns;
            let repetitions = plan.tests.iter().enumerate().filter(is_same);
            let each: Vec<&Vec<Contribution>> =
                repetitions.filter_map(|(index, _)| numbers.get(&index)).collect();
            let scores = std::iter::once(&test.score).chain(&test.also);
            for (place, (name, score)) in names(test).into_iter().zip(scores).enumerate() {
                let of_number: Vec<&Contribution> =
                    each.iter().filter_map(|one| one.get(place)).collect();
                let chosen = chosen_point(score, &of_number);
                let value = |one: &Vec<Contribution>| one.get(place)?.value(chosen);
                match each.iter().map(|one| value(one)).collect::<Option<Vec<f64>>>() {
                    Some(values) => series.push((name, values)),
                    None => left_out += 1,
                }
            }
        }
        let ends = rule.ends(turns, series.iter().map(|(_, values)| values));
        let width = |(name, values): (String, Vec<f64>)| Some((name, rule.half_width_of(&values)?));
        let mut widths: Vec<(String, f64)> = series.into_iter().filter_map(width).collect();
        widths.sort_by(|a, b| b.1.total_cmp(&a.1));
        WidthCheck { rule, turns, ends, widths, left_out }
    }

    /// Returns the state after the turn in words.
    fn progress(&self) -> String {
        let (goal, turns) = (self.rule.half_width_percent(), self.turns);
        let widest = self.widths.first().map(|widest| {
            format!("the widest interval is that of {}, requested ±{goal} %", named(widest))
        });
        let widest = widest.unwrap_or_else(|| "no number was measured in all of them".to_owned());
        format!("after {turns} repetitions: {widest}")
    }

    /// Returns the finding of the run that ends.
    fn finding(&self) -> Finding {
        let WidthCheck { rule, turns, widths, .. } = self;
        let goal = rule.half_width_percent();
        let is_wide = |one: &&(String, f64)| one.1 > rule.half_width;
        let wide: Vec<String> = widths.iter().filter(is_wide).map(named).collect();
        let left_out = match self.left_out {
            0 => String::new(),
            1 => "; one number is left out, which a repetition did not measure".to_owned(),
            n => format!("; {n} numbers are left out, which a repetition did not measure"),
        };
        let (kind, text, advice) = if widths.is_empty() {
            let text = format!(
                "no number was measured in each of {turns} repetitions: there is no interval"
            );
            (FindingKind::IntervalNotReached, text, "see the findings of the tests for the reasons")
        } else if wide.is_empty() {
            let most = rule.at_most;
            let text = format!(
                "stopped after {turns} of at most {most} repetitions: every interval within \
                 ±{goal} %{left_out}"
            );
            return Finding::new(FindingKind::IntervalReached, Severity::Note, text, "");
        } else {
            let more = match wide.len().saturating_sub(MAX_NAMED) {
                0 => String::new(),
                more => format!(" and {more} more"),
            };
            let named = wide[..wide.len().min(MAX_NAMED)].join(", ");
            let text =
                format!("not within ±{goal} % after {turns} repetitions: {named}{more}{left_out}");
            let advice = "quote the interval of the report; for a narrower one raise at-most, or \
                          find what changes from one repetition to the next";
            (FindingKind::IntervalNotReached, text, advice)
        };
        Finding::new(kind, Severity::Warning, text, advice)
    }
}

/// Returns the name of a number with the half-width of its interval.
fn named((name, half): &(String, f64)) -> String {
    // Rounded up: an interval that is too wide does not read as the requested one.
    let rounded_up = |steps: f64| (half * 100.0 * steps).ceil() / steps;
    match *half {
        half if !half.is_finite() => format!("{name} (mean 0)"),
        half if half < 0.01 => format!("{name} ±{:.3} %", rounded_up(1_000.0)),
        _ => format!("{name} ±{:.1} %", rounded_up(10.0)),
    }
}

/// Returns the names of the numbers of `test`, the headline first.
fn names(test: &Test) -> Vec<String> {
    let of = |metric: &str| format!("{} ({})", test.title, metric.to_lowercase());
    let further = test.also.iter().map(|score| of(score.metric().title()));
    std::iter::once(test.title.clone()).chain(further).collect()
}
