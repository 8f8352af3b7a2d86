//! The page: one self-contained HTML file for any number of runs.
//!
//! It loads nothing from the network and has no script. It supports print, light and dark themes,
//! phones and screen readers. Results are labelled "after the protocol of" a source, because they
//! are not equal to published ones.

mod environment;
mod figure;
mod findings;
mod specification;
mod steady;
mod style;
mod summary;
mod swatch;
mod test;
mod tried_loads;

use crate::analysis::group;
use crate::analysis::report_drives::ReportDrives;
use crate::figure::PageOptions;
use crate::model::Run;
use crate::text::labels;
use crate::text::sanitize;
use maud::{DOCTYPE, Markup, PreEscaped, html};

/// The mark in the head of every page, by which the program recognises its own pages.
pub const PAGE_MARK: &str = r#"<meta name="generator" content="ssdgauge">"#;

/// The content security policy: styles of the page itself, no scripts, no network.
const POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; \
                      base-uri 'none'; form-action 'none'";

/// Returns the page of `runs`. Equal runs and options give an equal page.
pub fn page(runs: &[Run], options: &PageOptions) -> String {
    let drives = ReportDrives::new(runs, options.highlight);
    let groups = group::groups(runs);
    let title = title(runs, &drives, options);
    html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta http-equiv="Content-Security-Policy" content=(POLICY);
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                (PreEscaped(PAGE_MARK))
                title { (title) }
                style { (maud::PreEscaped(style::sheet())) }
            }
            body {
                a.skip href="#main" { "Skip to the results" }
                (banners(runs))
                header.page {
                    p.kicker { "SSD review · ssdgauge" }
                    h1 { (title) }
                    (summary::origins(runs, &drives))
                }
                main #main {
                    (summary::section(runs, &drives, &groups))
                    @for (number, group) in groups.iter().enumerate() {
                        (test::section(number, group, runs, &drives))
                    }
                    (specification::section(runs, &drives, &options.specifications))
                    (environment::section(runs, &drives))
                }
                (footer())
            }
        }
    }
    .into_string()
}

fn title(runs: &[Run], drives: &ReportDrives, options: &PageOptions) -> String {
    match (&options.title, runs) {
        (Some(title), _) => sanitize::prose(title),
        (None, []) => "No runs".to_owned(),
        (None, [run]) => labels::drive_name(&run.head.drive),
        (None, [_, ..]) if runs.len() <= 3 && drives.count() == runs.len() => {
            drives.names.join(" · ")
        }
        (None, [_, ..]) => format!("{} drives compared", drives.count()),
    }
}

/// Returns the banners for models, shortened, scaled and unfinished runs.
fn banners(runs: &[Run]) -> Markup {
    let all = |holds: fn(&Run) -> bool| runs.iter().filter(|run| holds(run)).count();
    let of = |n: usize| match runs.len() {
        1 => String::new(),
        total if n == total => "All runs: ".to_owned(),
        total => format!("{n} of {total} runs: "),
    };
    let models = all(Run::is_model);
    let shortened = all(Run::is_shortened);
    let scaled = all(|run| run.head.plan.span_scaled);
    let unfinished = all(|run| !run.complete);
    html! {
        @if models > 0 {
            p.banner.model role="note" {
                strong { "MODEL" } " " (of(models))
                "these results come from a virtual drive. They demonstrate the program and do not "
                "describe any product."
            }
        }
        @if shortened > 0 {
            p.banner role="note" {
                strong { "SHORTENED" } " " (of(shortened))
                "durations and byte limits were divided for a test run. The results do not follow "
                "the full protocol and are not ranked with results of full length."
            }
        }
        @if scaled > 0 {
            p.banner role="note" {
                strong { "SPAN SCALED" } " " (of(scaled))
                "the span was reduced to fit a small target, on explicit request."
            }
        }
        @if unfinished > 0 {
            p.banner role="note" {
                strong { "UNFINISHED" } " " (of(unfinished))
                "not all steps have finished. Missing results are named at each test."
            }
        }
    }
}

fn footer() -> Markup {
    html! {
        footer.page {
            p {
                "Every number is recomputed from the samples of its run file. MB/s are 10" sup { "6" }
                " bytes per second; block sizes are binary (4 KiB is 4,096 bytes). A percentile is "
                "the smallest value that at least its share of all requests does not exceed; it is "
                "not printed where no request lies beyond it. A dash means not measured; a "
                "finding gives the reason."
            }
            p {
                "Chosen in every test, unless its source states otherwise: a span begins at the "
                "start of the target; a mix of reads and writes is dealt from a shuffled deck of 100 "
                "requests; data is incompressible; a standard deviation is that of a sample (n − 1); "
                "a sample is one second. The terms are defined in docs/handbook/glossary.md of "
                "ssdgauge, the rules in docs/handbook/definitions.md."
            }
            p {
                "A 95 % interval of one run comes from its seconds and their correlation, behind a "
                "start that flatters. It covers the variation within that run, but not the "
                "variation between runs or between drives of the same model. The interval of a "
                "published number is the one between repetitions (--repeat)."
            }
        }
    }
}
