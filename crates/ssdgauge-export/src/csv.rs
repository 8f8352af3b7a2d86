//! CSV for spreadsheets: one row for each measured value.

use crate::values::{Value, values};
use ssdgauge_analysis::model::Run;
use ssdgauge_analysis::text::{labels, sanitize};

const HEAD: [&str; 20] = [
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
    "imported_from",
];

/// Returns `runs` as a table with one row for each value: run × test × point × metric.
///
/// The headline of a test has the point `headline`, further ones say their rule after it; an
/// interval has the metrics with the suffixes `_low` and `_high`, for steps only where there is one. The
/// suffix `_protocol` is that of a number which also counts a start that flatters. A headline that rests on a
/// write step which falls has the rows `_before` and `_after` in place of the mean, which is `_protocol`.
/// A value that was not measured is an empty cell. Lines end with CR LF (RFC 4180); a text cell that a spreadsheet would take for a
/// formula begins with an apostrophe.
pub fn csv(runs: &[Run]) -> String {
    let mut text = HEAD.join(",");
    text.push_str("\r\n");
    for run in runs {
        let of_run = run_cells(run);
        // Label and origin are the last cells: earlier columns keep their places.
        let label = cell(&labels::label(&run.head).unwrap_or_default());
        let origin = cell(&sanitize::device(run.head.imported_from().unwrap_or_default()));
        let last = format!("{label},{origin}");
        for value in values(run) {
            let (low, high) = value.interval.unzip();
            let protocol = match value.levels {
                // No second ran at the mean: two rows have its place.
                Some((before, after)) => {
                    for (suffix, level) in [("_before", before), ("_after", after)] {
                        row(&mut text, &of_run, &value, suffix, Some(level), &last);
                    }
                    value.protocol.or(value.value)
                }
                None => {
                    row(&mut text, &of_run, &value, "", value.value, &last);
                    value.protocol
                }
            };
            if protocol.is_some() {
                row(&mut text, &of_run, &value, "_protocol", protocol, &last);
            }
            let ends = [("_low", low), ("_high", high)];
            // A headline has rows for its interval also where it has none.
            for (suffix, end) in
                ends.into_iter().filter(|end| end.1.is_some() || is_headline(&value))
            {
                row(&mut text, &of_run, &value, suffix, end, &last);
            }
        }
    }
    text
}

fn is_headline(value: &Value<'_>) -> bool {
    value.position.is_none()
}

fn run_cells(run: &Run) -> Vec<String> {
    let (drive, plan) = (&run.head.drive, &run.head.plan);
    let device = |text: Option<&str>| cell(&sanitize::device(text.unwrap_or_default()));
    vec![
        cell(&run.head.id),
        run.head.started().map(|start| start.to_string()).unwrap_or_default(),
        device(Some(drive.name())),
        device(drive.serial.as_deref()),
        device(drive.firmware.as_deref()),
        drive.known_capacity().map(|capacity| capacity.0.to_string()).unwrap_or_default(),
        if run.is_model() { "MODEL".to_owned() } else { String::new() },
        cell(&plan.suite.id),
        plan.suite.revision.to_string(),
        plan.shortened.max(1).to_string(),
        plan.span_scaled.to_string(),
    ]
}

fn row(
    text: &mut String,
    of_run: &[String],
    value: &Value<'_>,
    suffix: &str,
    number: Option<f64>,
    last: &str,
) {
    let test = &value.test.test;
    let number_text =
        |number: Option<f64>| number.map(|number| number.to_string()).unwrap_or_default();
    let cells = [
        cell(&test.id),
        test.revision.to_string(),
        cell(&value.place),
        number_text(value.position),
        format!("{}{suffix}", value.key),
        number_text(number),
        value.metric.unit().to_owned(),
        last.to_owned(),
    ];
    let cells: Vec<&str> = of_run.iter().chain(&cells).map(String::as_str).collect();
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
