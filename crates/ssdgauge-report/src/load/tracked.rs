//! Values tracked from round to round, for the steady-state criterion.

use crate::load::attempts::CountedAttempts;
use crate::model::{ReportError, Tracked};
use ssdgauge_core::{Nanos, Scope, SteadyRule, Test, Totals};
use ssdgauge_runfile::{RunFile, StepId};

/// More rounds of one step than any suite has; it bounds memory.
const MOST_ROUNDS: usize = 100_000;

/// Returns everything that `test` tracked from round to round.
pub(crate) fn tracked(
    file: &RunFile,
    test: &Test,
    counted: &CountedAttempts<'_>,
) -> Result<Vec<Tracked>, ReportError> {
    let mut all = Vec::new();
    for ((phase, place), records) in counted {
        let Some(step) = test.phases.get(*phase).and_then(|phase| phase.steps.get(*place)) else {
            continue;
        };
        let rounds =
            test.rounds.filter(|rounds| (rounds.phase, rounds.tracking) == (*phase, *place));
        let (metric, round, values) = match (rounds, step.action.steady()) {
            (Some(rounds), _) => {
                let mut values = Vec::with_capacity(records.len());
                for record in records {
                    let mut totals = sums(file, record.id)?;
                    totals.elapsed = record.elapsed.unwrap_or_default();
                    values.push(totals.value(rounds.metric, Scope::All).unwrap_or(0.0));
                }
                (rounds.metric, "all steps of the test".to_owned(), values)
            }
            (None, Some(rule)) => {
                let Some(record) = records.last() else { continue };
                (rule.metric, rule.round.to_string(), in_rounds(file, record.id, rule)?)
            }
            (None, None) => continue,
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
