//! Whether a long step that is scored by its last part is steady by the rule of the SNIA
//! Performance Test Specification, which knows no fixed window, and whether it stays so.

use crate::error::ReportError;
use crate::run::{Counted, StepFinding, TestRun};
use ssdgauge_core::statistics::steady::{self, RANGE, SLOPE, Verdict, WINDOW};
use ssdgauge_core::{
    Action, Finding, FindingKind, Metric, Nanos, Scope, Severity, SteadyRule, Test, Totals,
};
use ssdgauge_runfile::{RunFile, StepId};

/// More rounds of one step than any suite asks for; it bounds memory.
const MOST_ROUNDS: usize = 100_000;

/// A value that was tracked from round to round, to see whether it is steady.
#[derive(Clone, Debug, PartialEq)]
pub struct Tracked {
    /// The label of the step whose value it is.
    pub step: String,
    /// What was tracked.
    pub metric: Metric,
    /// What a round was, in words.
    pub round: String,
    /// The value in each round.
    pub values: Vec<f64>,
}

impl Tracked {
    /// Returns the place of the first round of the measurement window with its verdict: the first
    /// five rounds that are steady, or the last five where none are. `None` of fewer, or of
    /// silence.
    pub fn window(&self) -> Option<(usize, Verdict)> {
        let begin = |last: usize| last + 1 - WINDOW;
        if let Some((last, verdict)) = steady::find(&self.values) {
            return Some((begin(last), verdict));
        }
        let start = self.values.len().checked_sub(WINDOW)?;
        steady::judge(&self.values[start..]).map(|verdict| (start, verdict))
    }
}

/// Returns everything that `test` tracked from round to round.
pub(crate) fn tracked(
    file: &RunFile,
    test: &Test,
    counted: &Counted<'_>,
) -> Result<Vec<Tracked>, ReportError> {
    let mut all = Vec::new();
    for ((phase, place), records) in counted {
        let Some(step) = test.phases.get(*phase).and_then(|phase| phase.steps.get(*place)) else {
            continue;
        };
        let rounds =
            test.rounds.filter(|rounds| (rounds.phase, rounds.tracking) == (*phase, *place));
        let (metric, round, values) = match (rounds, &step.action) {
            (Some(rounds), _) => {
                let mut values = Vec::with_capacity(records.len());
                for record in records {
                    let mut totals = sums(file, record.id)?;
                    totals.elapsed = record.elapsed.unwrap_or_default();
                    values.push(totals.value(rounds.metric, Scope::All).unwrap_or(0.0));
                }
                (rounds.metric, "all steps of the test".to_owned(), values)
            }
            (None, Action::Run { steady: Some(rule), .. }) => {
                let Some(record) = records.last() else { continue };
                (rule.metric, rule.round.to_string(), in_rounds(file, record.id, *rule)?)
            }
            (None, Action::Run { .. } | Action::Prepare(_) | Action::Rest(_) | Action::Idle(_)) => {
                continue;
            }
        };
        all.push(Tracked { step: step.label.clone(), metric, round, values });
    }
    Ok(all)
}

fn sums(file: &RunFile, step: StepId) -> Result<Totals, ReportError> {
    let mut totals = Totals::default();
    file.sums(step, |interval| totals.add(&interval))?;
    Ok(totals)
}

/// Returns the tracked value in each full round of a step.
fn in_rounds(file: &RunFile, step: StepId, rule: SteadyRule) -> Result<Vec<f64>, ReportError> {
    let seconds = (rule.round.0 / Nanos::SECOND.0).max(1);
    let mut rounds: Vec<Totals> = Vec::new();
    let mut last = None;
    file.sums(step, |interval| {
        let round = (u64::from(interval.second) / seconds) as usize;
        if round < MOST_ROUNDS && interval.length == Nanos::SECOND {
            if rounds.len() <= round {
                rounds.resize(round + 1, Totals::over(rule.round));
            }
            rounds[round].add(&interval);
            last = last.max(Some(u64::from(interval.second)));
        }
    })?;
    // A round that a limit cut off says nothing.
    let full = last.map_or(0, |last| ((last + 1) / seconds) as usize);
    rounds.truncate(full);
    let value = |totals: &Totals| totals.value(rule.metric, Scope::All).unwrap_or(0.0);
    Ok(rounds.iter().map(value).collect())
}

/// Returns in words when the only step of `test` was steady, in rounds of a minute; `None` where
/// it is too short for a verdict or not scored by its last part.
pub(crate) fn words(test: &TestRun) -> Option<String> {
    let (_, minutes) = minutes(test)?;
    Some(match steady::find(&minutes) {
        Some((round, _)) => {
            format!("steady by the SNIA rule after {} rounds of a minute", round + 1)
        }
        None => format!("not steady by the SNIA rule in {} rounds of a minute", minutes.len()),
    })
}

/// Returns a finding where the only step of `test` left its steady state again.
pub(crate) fn left(test: &TestRun) -> Option<StepFinding> {
    let (metric, minutes) = minutes(test)?;
    let (begun, _) = steady::find(&minutes)?;
    let (round, verdict) = steady::left(&minutes, begun)?;
    Some(StepFinding {
        step: test.points.first().map(|point| point.point.label.clone()),
        metrics: vec![metric.key().to_owned()],
        finding: Finding::new(
            FindingKind::LeftSteadyState,
            Severity::Warning,
            format!(
                "steady after {} minutes by the SNIA rule, and no longer in minute {}: range \
                 {:.1} % of {:.0} % allowed, slope {:.1} % of {:.0} % allowed",
                begun + 1,
                round + 1,
                verdict.range * 100.0,
                RANGE * 100.0,
                verdict.slope * 100.0,
                SLOPE * 100.0
            ),
            "read the numbers as those of a drive that still changes, and look at the timeline",
        ),
    })
}

/// Returns the tracked metric and its values in full minutes, for a test with a single step that
/// is scored by its last part and lasts five minutes at least.
fn minutes(test: &TestRun) -> Option<(Metric, Vec<f64>)> {
    let (metric, _) = test.test.score.last_part()?;
    let [point] = test.points.as_slice() else { return None };
    let full: Vec<&Totals> =
        point.point.seconds.iter().filter(|second| second.elapsed == Nanos::SECOND).collect();
    let rate = |second: &&Totals| second.value(metric, Scope::All).unwrap_or(0.0);
    let minutes: Vec<f64> =
        full.chunks_exact(60).map(|minute| minute.iter().map(rate).sum::<f64>() / 60.0).collect();
    (minutes.len() >= steady::WINDOW).then_some((metric, minutes))
}
