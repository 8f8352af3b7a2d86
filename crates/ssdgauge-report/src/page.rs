//! The page: one self-contained HTML file of any number of runs.
//!
//! It asks for nothing from the network, needs no script, prints, and reads in light and dark, on
//! a phone and by a screen reader. It claims nothing beyond its runs: results are "after the
//! protocol of" a source, and never equal to published ones.

mod environment;
mod figure;
mod findings;
mod specification;
mod steady;
mod style;
mod summary;
mod swatch;
mod test;

use crate::analysis::group;
use crate::analysis::report_drives::ReportDrives;
use crate::figure::PageOptions;
use crate::model::Run;
use crate::text::labels;
use crate::text::sanitize;
use maud::{DOCTYPE, Markup, PreEscaped, html};

/// Stands in the head of every page: how the program recognises one.
pub const PAGE_MARK: &str = r#"<meta name="generator" content="ssdgauge">"#;

/// What the page may do: nothing but show itself.
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

/// Returns what must not be overlooked, above everything else.
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
                "these numbers come from a virtual drive. They show a shape and exercise the tool; "
                "they say nothing about any product."
            }
        }
        @if shortened > 0 {
            p.banner role="note" {
                strong { "SHORTENED" } " " (of(shortened))
                "durations and byte limits were divided for a trial. The results are not those of "
                "the full protocol and are not ranked with them."
            }
        }
        @if scaled > 0 {
            p.banner role="note" {
                strong { "SPAN SCALED" } " " (of(scaled))
                "the span was cut down to fit a small target, by explicit wish."
            }
        }
        @if unfinished > 0 {
            p.banner role="note" {
                strong { "UNFINISHED" } " " (of(unfinished))
                "not every step has finished. What is missing is named beside each test."
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
                "not printed where no request lies beyond it. A dash means: nobody measured it, and "
                "a finding says why."
            }
            p {
                "A 95 % interval comes from resampling the seconds of one run. It says how much "
                "that run varied, not how much another run or another drive of the same model "
                "would differ."
            }
        }
    }
}
