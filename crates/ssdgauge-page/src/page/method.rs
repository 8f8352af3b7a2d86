//! How the numbers came about: in prose, with drives, runs and machine folded.

use crate::chart::band;
use crate::page::environment;
use maud::{Markup, html};
use ssdgauge_analysis::answers::many_drives::{MANY, RULE};
use ssdgauge_analysis::answers::statements::RULES;
use ssdgauge_analysis::drives::report_drives::ReportDrives;
use ssdgauge_analysis::model::Run;
use ssdgauge_analysis::text::interval;
use ssdgauge_analysis::text::labels;
use ssdgauge_analysis::text::sanitize;

/// Returns the prose.
pub(super) fn prose(runs: &[Run], drives: &ReportDrives) -> Markup {
    html! {
        div.prose {
            div.columns {
            p {
                (suites(runs))
                @if runs.iter().any(|run| run.head.imported_from().is_none()) {
                    " Every second is kept with its own latency histogram, and every number is computed from "
                    "these samples. A latency counts from before the submission of a request to after its "
                    "completion; in an open loop, from the time when it was due."
                }
                @if runs.iter().any(|run| run.head.imported_from().is_some()) {
                    " Imported numbers are those of the program that measured them; the notes of each say how."
                }
            }
            p {
                "The 95\u{a0}% interval is that " (interval::BASIS) ". Within one run it does not cover "
                "the variation between runs, drives of one model or machines. A percentile is printed "
                "only where a request lies beyond it; a dash means not measured."
            }
            @if drives.count() > 1 {
                p {
                    "Drives are compared only where suite, test, revision, duration and span are equal, "
                    "and models only with models. The order of the answer is the mean rank over its "
                    "columns. Colours and shapes belong to a drive, not to its place."
                }
                @let tests = runs.iter().flat_map(|run| &run.tests);
                @if let Some(unseen) = interval::unseen(tests.map(|test| &test.headline)) {
                    p { (unseen) }
                }
                @for rule in RULES { p { (rule) } }
                @if drives.count() > MANY { p { (RULE) } p { (band::RULE) } }
            }
            }
            (environment::tables(runs, drives))
        }
    }
}

/// Returns every suite with its title, once.
fn suites(runs: &[Run]) -> String {
    let mut suites: Vec<String> = Vec::new();
    for run in runs {
        let title = sanitize::prose(&run.head.plan.suite.title);
        let suite = format!("{} ({title})", labels::suite(&run.head));
        if !suites.contains(&suite) {
            suites.push(suite);
        }
    }
    match suites.as_slice() {
        [] => String::new(),
        [one] => format!("Suite {one}."),
        several => format!("Suites {}.", several.join("; ")),
    }
}
