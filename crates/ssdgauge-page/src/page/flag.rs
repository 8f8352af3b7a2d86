//! The line above the page that says why its numbers must not be quoted as those of a product.

use maud::{Markup, html};
use ssdgauge_analysis::findings::run_outcome::{self, RunOutcome};
use ssdgauge_analysis::model::Run;

/// Returns a line for each mark that `runs` have; nothing where none applies.
pub(super) fn flag(runs: &[Run]) -> Markup {
    let count = |holds: fn(&Run) -> bool| runs.iter().filter(|run| holds(run)).count();
    let of = |n: usize| match runs.len() {
        total if n == total => String::new(),
        total => format!("{n} of {total} runs: "),
    };
    // The page of a single run says it in its headline.
    let ended = |outcome: RunOutcome| match runs {
        [_] => 0,
        [] | [_, ..] => runs.iter().filter(|run| run_outcome::of(run) == outcome).count(),
    };
    let flags: [(usize, &str, &str); 9] = [
        (
            count(Run::is_model),
            "MODEL",
            "Virtual drives. The numbers show how classes of drives behave, and say nothing about any \
             product.",
        ),
        (
            count(|run| run.head.imported_from().is_some()),
            "IMPORTED",
            "Measured by another program. Percentiles follow from its bins or are those that it stated; values \
             over time and intervals are not known.",
        ),
        (
            count(Run::is_shortened),
            "SHORTENED",
            "Durations and byte limits were divided for a test run. The results do not follow the \
             protocol.",
        ),
        (
            count(|run| run.head.plan.span_scaled),
            "SPAN SCALED",
            "The span was reduced to fit a small target, on request.",
        ),
        (
            count(|run| run.head.plan.polled),
            "POLLED",
            "Completions were polled in measured loads. Latencies contain no interrupt, and are compared \
             with those of polled runs alone.",
        ),
        (
            count(|run| run.head.plan.pass_through),
            "PASS-THROUGH",
            "Requests were sent as NVMe commands in measured loads. Latencies contain no block layer, and are \
             compared with those of such runs alone.",
        ),
        (
            ended(RunOutcome::Failed),
            "FAILED",
            "Drive or host failed before the end. The results are not those of a sound drive.",
        ),
        (
            ended(RunOutcome::Disturbed),
            "DISTURBED",
            "Something outside of the drive changed most of the results.",
        ),
        (
            ended(RunOutcome::Unfinished),
            "UNFINISHED",
            "Not all steps have finished, or what they wrote was not flushed. Missing results are named at \
             each test.",
        ),
    ];
    html! {
        @if flags.iter().any(|(n, _, _)| *n > 0) {
            aside.flag aria-label="Marks of the runs" { div.wrap {
                @for (n, word, sentence) in flags.iter().filter(|(n, _, _)| *n > 0) {
                    p { strong { (word) } " " (of(*n)) (sentence) }
                }
            } }
        }
    }
}
