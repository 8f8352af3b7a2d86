//! Values tracked from round to round, for the steady-state criterion.

use crate::model::{ReportError, Tracked};
use ssdgauge_core::{Scope, SteadyRounds, Test, Totals, Workload};
use ssdgauge_runfile::attempts::CountedAttempts;
use ssdgauge_runfile::{RunFile, StepId};

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
        let workload = step.action.measured_workload().unwrap_or(Workload::no_load());
        let rounds =
            test.rounds.filter(|rounds| (rounds.phase, rounds.tracking) == (*phase, *place));
        let (metric, round, values, least) = match (rounds, step.action.steady()) {
            (Some(rounds), _) => {
                let mut values = Vec::with_capacity(records.len());
                for record in records {
                    let mut totals = sums(file, record.id, workload)?;
                    totals.elapsed = record.elapsed.unwrap_or_default();
                    values.push(totals.value(rounds.metric, Scope::All).unwrap_or(0.0));
                }
                (rounds.metric, "all steps of the test".to_owned(), values, 0)
            }
            (None, Some(rule)) => {
                let Some(record) = records.last() else { continue };
                let mut rounds = SteadyRounds::new(rule, workload);
                file.sums(record.id, |interval| rounds.add(&interval))?;
                let least = rounds.rounds_before_least().unwrap_or(usize::MAX);
                (rule.metric, rule.describe_round(), rounds.values().to_vec(), least)
            }
            (None, None) => continue,
        };
        all.push(Tracked { step: step.label.clone(), metric, round, values, least });
    }
    Ok(all)
}

fn sums(file: &RunFile, step: StepId, workload: &Workload) -> Result<Totals, ReportError> {
    let mut totals = Totals::of_workload(workload);
    file.sums(step, |interval| totals.add(&interval))?;
    Ok(totals)
}
