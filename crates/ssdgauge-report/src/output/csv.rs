//! CSV for spreadsheets: one row for each measured value.

use crate::analysis::workload_text;
use crate::model::metrics;
use crate::model::{PointRun, Run, TestRun};
use crate::text::{labels, sanitize};
use ssdgauge_core::{Headline, Metric};

const HEAD: [&str; 19] = [
    "run_id",
    "started_unix_ms",
    "drive",
    "serial",
    "firmware",
    "capacity_bytes",
    "model_data",
    "suite",
    "suite_revision",
    "shortened",
    "span_scaled",
    "test",
    "test_revision",
    "point",
    "position",
    "metric",
    "value",
    "unit",
    "label",
];

/// The cells that all rows of a test have.
struct TestCells {
    /// The first ones.
    cells: Vec<String>,
    /// The label of the run, which is the last cell: earlier columns keep their places.
    label: String,
}

/// Returns `runs` as a table with one row for each value: run × test × point × metric.
///
/// The headline of a test has the point `headline`, further ones say their rule behind it; an
/// interval has the metrics with the suffixes `_low` and `_high`, for steps only where there is one.
/// A value that was not measured is an empty cell. Lines end with CR LF (RFC 4180); a text cell that a spreadsheet would take for a
/// formula begins with an apostrophe.
pub fn csv(runs: &[Run]) -> String {
    let mut text = HEAD.join(",");
    text.push_str("\r\n");
    for run in runs {
        let of_run = run_cells(run);
        let label = cell(&labels::label(&run.head).unwrap_or_default());
        for test in &run.tests {
            let mut cells = of_run.clone();
            cells.push(cell(&test.test.id));
            cells.push(test.test.revision.to_string());
            let prefix = TestCells { cells, label: label.clone() };
            headline_rows(&mut text, &prefix, test);
            for point in &test.points {
                point_rows(&mut text, &prefix, point);
            }
        }
    }
    text
}

fn run_cells(run: &Run) -> Vec<String> {
    let (drive, plan) = (&run.head.drive, &run.head.plan);
    let device = |text: Option<&str>| cell(&sanitize::device(text.unwrap_or_default()));
    vec![
        cell(&run.head.id),
        run.head.started_unix_ms.to_string(),
        device(Some(drive.name())),
        device(drive.serial.as_deref()),
        device(drive.firmware.as_deref()),
        drive.capacity.0.to_string(),
        if run.is_model() { "MODEL".to_owned() } else { String::new() },
        cell(&plan.suite.id),
        plan.suite.revision.to_string(),
        plan.shortened.max(1).to_string(),
        plan.span_scaled.to_string(),
    ]
}

fn headline_rows(text: &mut String, prefix: &TestCells, test: &TestRun) {
    write_headline(text, prefix, "headline", &test.headline);
    for (score, headline) in test.test.also.iter().zip(&test.also) {
        let place = format!("headline: {}", workload_text::rule(&test.test, score));
        write_headline(text, prefix, &place, headline);
    }
}

fn write_headline(text: &mut String, prefix: &TestCells, place: &str, headline: &Headline) {
    let metric = headline.metric;
    let (low, high) = headline.interval.ends().unzip();
    let rows = [("", headline.value), ("_low", low), ("_high", high)];
    for (suffix, value) in rows {
        let key = format!("{}{suffix}", metric.key());
        row(text, prefix, [cell(place), String::new()], &key, value, metric);
    }
}

fn point_rows(text: &mut String, prefix: &TestCells, point: &PointRun) {
    let place = [cell(&point.point.label), point.point.position.to_string()];
    for (metric, scope, key, value) in metrics::shown(point) {
        row(text, prefix, place.clone(), &key, value, metric);
        let is_own = value.is_some() && point.has_own_intervals(scope);
        let ends = is_own.then(|| point.interval(metric, scope)).and_then(|found| found.ends());
        if let Some((low, high)) = ends {
            row(text, prefix, place.clone(), &format!("{key}_low"), Some(low), metric);
            row(text, prefix, place.clone(), &format!("{key}_high"), Some(high), metric);
        }
    }
}

fn row(
    text: &mut String,
    prefix: &TestCells,
    place: [String; 2],
    key: &str,
    value: Option<f64>,
    metric: Metric,
) {
    let value = value.map(|value| value.to_string()).unwrap_or_default();
    let tail = [key.to_owned(), value, metric.unit().to_owned(), prefix.label.clone()];
    let cells: Vec<&str> =
        prefix.cells.iter().chain(&place).chain(&tail).map(String::as_str).collect();
    text.push_str(&cells.join(","));
    text.push_str("\r\n");
}

/// Returns one text cell: quoted where CSV needs it, never a formula.
fn cell(text: &str) -> String {
    let text = sanitize::prose(text);
    let formula = text.trim_start().starts_with(['=', '+', '-', '@']);
    let text = if formula { format!("'{text}") } else { text };
    match formula || text.contains([',', '"', ' ', ';']) {
        true => format!("\"{}\"", text.replace('"', "\"\"")),
        false => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_cell_is_a_formula_and_quotes_are_doubled() {
        let cases = [
            ("plain", "plain"),
            ("=HYPERLINK(\"x\")", "\"'=HYPERLINK(\"\"x\"\")\""),
            ("+1", "\"'+1\""),
            ("-1", "\"'-1\""),
            ("@a", "\"'@a\""),
            ("a,b", "\"a,b\""),
            ("\t=1", "\"' =1\""),
            ("\r\n@x", "\"'  @x\""),
        ];
        for (given, expected) in cases {
            assert_eq!(cell(given), expected);
        }
    }
}
