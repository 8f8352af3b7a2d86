//! The result of a check for interference as a finding, a table and JSON.

use super::{Checked, CheckedDrive, CheckedLoad};
use serde::Serialize;
use serde_json::Value;
use ssdgauge_core::rounded;
use ssdgauge_core::{Finding, FindingKind, Severity};
use ssdgauge_statistics::interference::{Change, Disturbance, Quantity};
use ssdgauge_watch::terminal::table::{self, Column, Fit};
use std::collections::BTreeSet;

const COLUMNS: [Column; 7] = [
    Column::text("", Fit::Whole),
    Column::text("load", Fit::Whole),
    Column::number("alone", Fit::Omit),
    Column::number("together", Fit::Omit),
    Column::number("change", Fit::Whole),
    Column::number("95 % interval", Fit::Whole),
    Column::text("disturbance", Fit::Whole),
];

/// What a virtual drive cannot show.
const MODEL: &str = "MODEL: virtual drives have a time of their own each, in which a phase next to others \
                     is the same as one alone; this shows nothing about power, links and processors \
                     that drives share";
/// What no check of this kind shows.
const NOT_COVERED: &str = "effects that take longer than a phase, such as heat, are not covered";

impl Checked {
    /// Returns the finding of target `number`.
    pub(super) fn finding(&self, number: usize) -> Finding {
        let drive = &self.drives[number];
        let others: Vec<&str> = self.titles().filter(|title| *title != drive.title).collect();
        let others = others.join(", ");
        let (severity, verdict, advice) = match drive.disturbance {
            Disturbance::Found => (
                Severity::Warning,
                format!("the drives disturb each other: {} is slower together with {others}", drive.title),
                format!("run them one after another; {}", self.hint(drive)),
            ),
            Disturbance::NotFound => (
                Severity::Note,
                format!(
                    "together with {others} no difference was found larger than {}",
                    largest_losses(drive)
                ),
                NOT_COVERED.to_owned(),
            ),
            Disturbance::NotDecided => (
                Severity::Note,
                format!("it is not decided whether the drive is slower together with {others}"),
                "close other programs, and check again: the phases differ by more than the limit, or \
                 have too few requests"
                    .to_owned(),
            ),
        };
        let loads: Vec<String> =
            drive.loads.iter().filter(|load| !load.changes.is_empty()).map(load_text).collect();
        let loads: String = loads.iter().map(|load| format!("; {load}")).collect();
        let model = if drive.is_model { format!(". {MODEL}") } else { String::new() };
        let text = format!("{verdict}{loads}; {}{model}", self.conditions_text());
        Finding::new(FindingKind::DriveInterference, severity, text, advice)
    }

    fn titles(&self) -> impl Iterator<Item = &str> {
        self.drives.iter().map(|drive| drive.title.as_str())
    }

    fn conditions_text(&self) -> String {
        let (pairs, phase_s) = self.conditions;
        format!("{pairs} pairs of phases of {phase_s} s, all intervals together 95 %")
    }

    /// Returns what may be shared: what the kernel and the engine show, otherwise what they do not.
    fn hint(&self, drive: &CheckedDrive) -> String {
        let mut hints: Vec<String> =
            self.shared.iter().filter(|text| text.contains(&drive.title)).cloned().collect();
        let phases = self.conditions.0 * drive.loads.len();
        if drive.limited_by_processor > 0 {
            hints.push(format!(
                "the processor was a limit of {} in {} of {phases} phases together",
                drive.title, drive.limited_by_processor
            ));
        }
        if hints.is_empty() {
            hints.push(
                "no common device, PCI port or lack of processor is visible; power and memory are \
                 shared as well"
                    .to_owned(),
            );
        }
        hints.join("; ")
    }

    /// Returns the table of all changes and what it means, with the final line break.
    pub(in crate::commands::run::several) fn text(&self, width: usize) -> String {
        let mut rows = Vec::new();
        for drive in &self.drives {
            for load in &drive.loads {
                rows.extend(load.changes.iter().map(|change| row(drive, load, change)));
            }
        }
        let mut text = format!("check for interference: {}\n", self.conditions_text());
        if !rows.is_empty() {
            text += &table::rows(&COLUMNS, &rows, width).concat();
        }
        for (drive, finding) in self.drives.iter().zip(&self.findings) {
            let verdict = finding.text.split(';').next().unwrap_or_default();
            text += &format!("{}: {verdict}\n", drive.title);
        }
        let found = self.drives.iter().filter(|drive| drive.disturbance == Disturbance::Found);
        let hints: BTreeSet<String> = found.map(|drive| self.hint(drive)).collect();
        for hint in hints {
            text += &format!("in common: {hint}\n");
        }
        if self.drives.iter().any(|drive| drive.is_model) {
            text += &format!("{MODEL}\n");
        }
        format!("{text}\n")
    }

    /// Returns the result for `--json`.
    pub(in crate::commands::run::several) fn json(&self) -> Value {
        let (pairs, phase_s) = self.conditions;
        let document = Document {
            pairs,
            phase_s,
            confidence_percent: 95,
            intervals_hold: "together",
            shared: &self.shared,
            drives: self.drives.iter().map(drive_row).collect(),
        };
        serde_json::to_value(document).expect("keys are strings")
    }
}

/// `interference` next to the runs of `run --check-interference --json`.
#[derive(Serialize)]
struct Document<'a> {
    pairs: usize,
    phase_s: f64,
    confidence_percent: u32,
    /// `together`: all at once, with this confidence.
    intervals_hold: &'static str,
    /// The parts of the machine that the drives share.
    shared: &'a [String],
    drives: Vec<DriveRow<'a>>,
}

/// A drive.
#[derive(Serialize)]
struct DriveRow<'a> {
    target: &'a str,
    /// Whether it is a virtual one.
    model: bool,
    disturbance: &'static str,
    phases_limited_by_processor: usize,
    changes: Vec<ChangeRow<'a>>,
}

/// The change of one quantity of a load while the other drives are loaded.
#[derive(Serialize)]
struct ChangeRow<'a> {
    load: &'a str,
    workload: &'a str,
    quantity: &'static str,
    alone: f64,
    together: f64,
    change_percent: f64,
    low_percent: f64,
    high_percent: f64,
    limit_percent: f64,
    disturbance: &'static str,
}

fn drive_row(drive: &CheckedDrive) -> DriveRow<'_> {
    let changes = drive.loads.iter();
    let changes =
        changes.flat_map(|load| load.changes.iter().map(move |one| change_row(load, one)));
    DriveRow {
        target: &drive.target,
        model: drive.is_model,
        disturbance: drive.disturbance.name(),
        phases_limited_by_processor: drive.limited_by_processor,
        changes: changes.collect(),
    }
}

fn change_row<'a>(load: &'a CheckedLoad, change: &Change) -> ChangeRow<'a> {
    ChangeRow {
        load: &load.title,
        workload: &load.workload,
        quantity: change.quantity.key(),
        alone: change.alone,
        together: change.together,
        change_percent: change.change * 100.0,
        low_percent: change.interval.0 * 100.0,
        high_percent: change.interval.1 * 100.0,
        limit_percent: change.quantity.limit() * 100.0,
        disturbance: change.disturbance.name(),
    }
}

fn row(drive: &CheckedDrive, load: &CheckedLoad, change: &Change) -> Vec<String> {
    let number = |value: f64| match change.quantity {
        Quantity::Iops => rounded::number(value),
        Quantity::LatP99 => rounded::latency(value),
    };
    vec![
        drive.title.clone(),
        format!("{}, {}", load.title, change.quantity.title()),
        number(change.alone),
        number(change.together),
        format!("{:+.1} %", change.change * 100.0),
        interval(change),
        change.disturbance.name().to_owned(),
    ]
}

fn interval(change: &Change) -> String {
    let (low, high) = change.interval;
    format!("{:+.1} to {:+.1} %", low * 100.0, high * 100.0)
}

/// Returns the changes of a load, such as `128 KiB: IOPS -50.1 % (-51.0 to -49.2 %)`.
fn load_text(load: &CheckedLoad) -> String {
    let change = |one: &Change| {
        format!("{} {:+.1} % ({})", one.quantity.title(), one.change * 100.0, interval(one))
    };
    let changes: Vec<String> = load.changes.iter().map(change).collect();
    format!("{}: {}", load.title, changes.join(", "))
}

/// Returns the largest loss of each quantity that the intervals contain.
fn largest_losses(drive: &CheckedDrive) -> String {
    let of = |quantity: Quantity| {
        let changes = drive.loads.iter().flat_map(|load| &load.changes);
        let losses = changes.filter(|one| one.quantity == quantity).map(Change::largest_loss);
        let most = losses.reduce(f64::max)?;
        Some(format!("{:.1} % of {}", most * 100.0, quantity.title()))
    };
    Quantity::ALL.into_iter().filter_map(of).collect::<Vec<_>>().join(" and ")
}
