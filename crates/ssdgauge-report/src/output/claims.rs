//! Judged claims as Markdown and JSON, for each drive that a spec file is about.

use super::{Specification, judge};
use crate::cast::Cast;
use crate::clean;
use crate::markdown::escaped;
use crate::number;
use crate::run::Run;
use serde_json::{Value, json};

/// Returns the numbers of the drives that `specification` is about.
pub(super) fn drives(specification: &Specification, runs: &[Run], cast: &Cast) -> Vec<usize> {
    let model = specification.model.to_lowercase();
    let fits = |drive: &usize| {
        let first = cast.runs_of(*drive).next();
        first.is_some_and(|run| {
            clean::device(runs[run].head.drive.name()).to_lowercase().contains(&model)
        })
    };
    (0..cast.count()).filter(fits).collect()
}

impl Specification {
    /// Returns whether any of `runs` is of the drive that the claims are about.
    pub fn is_about(&self, runs: &[Run]) -> bool {
        !drives(self, runs, &Cast::of(runs, None)).is_empty()
    }

    /// Returns each drive that the claims are about, by its number, with its runs.
    pub(crate) fn subjects<'a>(&self, runs: &'a [Run], cast: &Cast) -> Vec<(usize, Vec<&'a Run>)> {
        let of = |drive: usize| (drive, cast.runs_of(drive).map(|run| &runs[run]).collect());
        drives(self, runs, cast).into_iter().map(of).collect()
    }
}

/// Returns the judged claims of `specifications` as a JSON list, one entry for each drive.
pub fn claims_json(runs: &[Run], specifications: &[Specification]) -> Value {
    let cast = Cast::of(runs, None);
    let mut entries = Vec::new();
    for specification in specifications {
        for (drive, of_drive) in specification.subjects(runs, &cast) {
            let claims = judge(specification, &of_drive).into_iter().map(|judged| {
                json!({
                    "metric": judged.claim.metric.key(),
                    "unit": judged.claim.metric.unit(),
                    "conditions": judged.claim.conditions(),
                    "source": clean::prose(judged.source),
                    "claimed": judged.claim.value,
                    "measured": judged.measured,
                    "verdict": judged.verdict.key(),
                    "reason": judged.reason,
                })
            });
            let first = cast.runs_of(drive).next();
            entries.push(json!({
                "drive": first.map(|run| &cast.names[run]),
                "tolerance": specification.tolerance,
                "claims": claims.collect::<Vec<_>>(),
            }));
        }
    }
    Value::Array(entries)
}

/// Returns the judged claims of `specifications` as Markdown tables.
pub fn claims_markdown(runs: &[Run], specifications: &[Specification]) -> String {
    let cast = Cast::of(runs, None);
    let mut text = String::new();
    for specification in specifications {
        for (drive, of_drive) in specification.subjects(runs, &cast) {
            let name = cast.runs_of(drive).next().map_or(number::NOTHING, |run| &cast.names[run]);
            text.push_str(&format!(
                "\n## Specification against measurement: {}\n\n\
                 | Claim | Claimed | Measured | Verdict | Where, or why not | Source |\n\
                 |---|--:|--:|---|---|---|\n",
                escaped(name)
            ));
            for judged in judge(specification, &of_drive) {
                let claim = judged.claim;
                let value = |value: f64| number::with_unit(value, claim.metric);
                text.push_str(&format!(
                    "| {} | {} | {} | {} | {} | {} |\n",
                    escaped(&claim.conditions()),
                    value(claim.value),
                    judged.measured.map_or(number::NOTHING.to_owned(), value),
                    judged.verdict.words(),
                    escaped(&judged.reason),
                    escaped(&clean::prose(judged.source)),
                ));
            }
        }
    }
    text
}
