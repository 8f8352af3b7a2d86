//! The result of a check, as JSON and as text.

use super::selection::{CheckedStep, LeftOutStep};
use serde::Serialize;
use ssdgauge_core::{Finding, Until, rounded};
use ssdgauge_fio::{Agreement, Comparison, Quantity};
use ssdgauge_watch::terminal::table::{self, Column, Fit};
use std::fmt::Write as _;

/// A step that was run by both programs.
pub(super) struct CheckResult<'a> {
    pub(super) step: CheckedStep<'a>,
    pub(super) comparisons: Vec<Comparison>,
    /// The verdict; `None` where no quantity could be compared.
    pub(super) agreement: Option<Agreement>,
    /// The findings of ssdgauge about its repetitions, each once.
    pub(super) findings: Vec<Finding>,
}

/// The conditions of all steps.
pub(super) struct Conditions<'a> {
    pub(super) fio: &'a str,
    pub(super) target: &'a str,
    pub(super) turns: u32,
}

impl Conditions<'_> {
    /// Returns them as one line.
    pub(super) fn line(&self) -> String {
        let Conditions { fio, target, turns } = self;
        format!("{fio} and ssdgauge in turn on {target}, {turns} repetitions each")
    }
}

/// `crosscheck --json`.
#[derive(Serialize)]
pub(super) struct Document<'a> {
    fio_version: &'a str,
    target: &'a str,
    repetitions: u32,
    verdict: &'static str,
    steps: Vec<StepRow<'a>>,
    not_checked: Vec<LeftOutRow<'a>>,
}

/// A step that was not checked.
#[derive(Serialize)]
struct LeftOutRow<'a> {
    number: i64,
    step: &'a str,
    reasons: &'a [String],
}

/// A step that was run by both programs.
#[derive(Serialize)]
struct StepRow<'a> {
    number: i64,
    step: String,
    workload: String,
    at_most_s: Option<f64>,
    at_most_bytes: Option<u64>,
    /// Null where no quantity could be compared.
    verdict: Option<&'static str>,
    comparisons: Vec<ComparisonRow<'a>>,
    findings: &'a [Finding],
}

/// A quantity of one direction by both programs.
#[derive(Serialize)]
struct ComparisonRow<'a> {
    direction: &'static str,
    quantity: &'static str,
    fio: &'a [f64],
    ssdgauge: &'a [f64],
    difference_percent: f64,
    /// The difference that the repetitions explain.
    noise_percent: f64,
    limit_percent: f64,
    verdict: &'static str,
}

pub(super) fn document<'a>(
    conditions: &Conditions<'a>,
    results: &'a [CheckResult<'a>],
    left_out: &'a [LeftOutStep],
    verdict: Agreement,
) -> Document<'a> {
    let left_out = left_out.iter();
    Document {
        fio_version: conditions.fio,
        target: conditions.target,
        repetitions: conditions.turns,
        verdict: verdict.name(),
        steps: results.iter().map(step_row).collect(),
        not_checked: left_out
            .map(|one| LeftOutRow { number: one.number, step: &one.name, reasons: &one.reasons })
            .collect(),
    }
}

fn step_row<'a>(result: &'a CheckResult<'a>) -> StepRow<'a> {
    let Until { time, bytes } = result.step.until;
    let comparison = |one: &'a Comparison| ComparisonRow {
        direction: one.direction.name(),
        quantity: one.quantity.key(),
        fio: &one.fio,
        ssdgauge: &one.ssdgauge,
        difference_percent: one.difference * 100.0,
        noise_percent: one.noise * 100.0,
        limit_percent: one.quantity.limit() * 100.0,
        verdict: one.agreement.name(),
    };
    StepRow {
        number: result.step.number,
        step: result.step.name(),
        workload: result.step.workload.describe(),
        at_most_s: time.map(|time| time.as_secs_f64()),
        at_most_bytes: bytes.map(|bytes| bytes.0),
        verdict: result.agreement.map(Agreement::name),
        comparisons: result.comparisons.iter().map(comparison).collect(),
        findings: &result.findings,
    }
}

const COLUMNS: [Column; 7] = [
    Column::text("", Fit::Whole),
    Column::number("fio", Fit::Whole),
    Column::number("ssdgauge", Fit::Whole),
    Column::number("difference", Fit::Whole),
    Column::number("limit", Fit::Omit),
    Column::number("noise", Fit::Whole),
    Column::text("verdict", Fit::Whole),
];

/// Returns the text of one step: its load, and a row for each quantity with the medians.
pub(super) fn step_text(result: &CheckResult<'_>, width: usize) -> String {
    let step = &result.step;
    let limits = step.until.describe().join(" or ");
    let verdict = result.agreement.map_or("too few requests to compare", Agreement::name);
    let mut text = format!(
        "step {}, {}: {verdict}\n{}; each repetition ends {limits}\n",
        step.number,
        step.name(),
        step.workload.describe()
    );
    let rows: Vec<Vec<String>> = result.comparisons.iter().map(row).collect();
    if !rows.is_empty() {
        text += &table::rows(&COLUMNS, &rows, width).concat();
    }
    for finding in &result.findings {
        let _ = writeln!(text, "finding: {}", finding.text);
    }
    text
}

fn row(one: &Comparison) -> Vec<String> {
    let percent = |share: f64| format!("{:.1} %", share * 100.0);
    vec![
        format!("{}, {}", one.direction.name(), one.quantity.title()),
        number(one.quantity, one.fio_median()),
        number(one.quantity, one.ssdgauge_median()),
        format!("{:+.1} %", one.difference * 100.0),
        percent(one.quantity.limit()),
        percent(one.noise),
        one.agreement.name().into(),
    ]
}

fn number(quantity: Quantity, value: f64) -> String {
    match quantity {
        Quantity::Throughput => rounded::number(value),
        Quantity::MeanLatency | Quantity::P99 => rounded::latency(value),
    }
}

/// Returns the lines about steps that were not checked: equal reasons together.
pub(super) fn left_out_text(left_out: &[LeftOutStep]) -> String {
    let mut text = String::new();
    for one in left_out {
        let reasons = one.reasons.join("; ");
        let _ = writeln!(text, "not checked: step {}, {}: {reasons}", one.number, one.name);
    }
    text
}
