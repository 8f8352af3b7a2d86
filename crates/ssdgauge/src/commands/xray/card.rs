//! The card of an X-ray, as text and as JSON, and its plan.

use super::spec::JudgedBound;
use crate::failure::{Failure, FailureKind};
use serde::Serialize;
use ssdgauge_analysis::{sanitize_device, sanitize_prose};
use ssdgauge_core::{Bytes, DriveInfo, Plan};
use ssdgauge_lab::{RecordedXray, XrayError, review_xray};
use ssdgauge_runfile::RunFile;
use ssdgauge_watch::terminal;
use ssdgauge_xray::{
    Answer, CARD_FORMAT, CARD_VERSION, CheckedCard, NegotiatedLink, Series, Structure, Value, axes,
};
use ssdgauge_xray::{shown, shown_interval};
use std::path::Path;

/// The severity of a finding that is no doubt.
const NOTE: &str = "note";
/// The maximum that is shown of the name of a drive.
const NAME_SHOWN: usize = 200;
/// The width of the column of names.
const NAME: usize = 20;
/// The width of the column of values.
const VALUE: usize = 14;
/// The width of the column of intervals.
const INTERVAL: usize = 22;

/// The result of an X-ray: `xray --json`, which `ssdgauge_xray::Card` reads again.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct Document {
    /// `ssdgauge-xray`.
    format: &'static str,
    /// The version of the format.
    version: u32,
    /// Raised by an incompatible change.
    schema_version: u32,
    /// The target as it was named.
    target: String,
    /// The name of the drive.
    drive: String,
    /// Whether it is a virtual one.
    is_model: bool,
    /// Its capacity.
    capacity_bytes: u64,
    /// Whether every experiment was carried out; false after an interruption.
    is_complete: bool,
    /// The negotiated link, by the kernel or by the description of the drive; absent where it is not known.
    #[serde(skip_serializing_if = "Option::is_none")]
    negotiated_link: Option<ShownLink>,
    /// Bytes that the X-ray wrote.
    written_bytes: u64,
    /// Bytes that the X-ray read.
    read_bytes: u64,
    /// What was found of each structure.
    structures: Vec<ShownAnswer>,
    /// Doubts about the conditions.
    findings: Vec<ShownFinding>,
    /// The series that the values follow from.
    series: Vec<ShownSeries>,
    /// With `--spec`: stated numbers, and whether what was found agrees with them.
    #[serde(skip_serializing_if = "Option::is_none")]
    stated: Option<Vec<JudgedBound>>,
}

/// A negotiated link.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct ShownLink {
    /// Its name, such as `PCIe 4.0 x4`.
    name: String,
    /// What it carries, headers of packets included, in 10^6 bytes per second.
    mb_s: f64,
}

/// What was found of a structure: its value, or why it is not identifiable.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct ShownAnswer {
    /// Its key, as in `--only`.
    structure: &'static str,
    /// `MB/s` (10^6 bytes per second), `us`, `count`, `bytes`, `yes-no` (1 and 0), `celsius` or `percent`.
    unit: &'static str,
    /// Load and rule, in one line.
    method: &'static str,
    /// The publication of the method.
    source: &'static str,
    /// The value; absent where it is not identifiable.
    #[serde(skip_serializing_if = "Option::is_none")]
    value: Option<f64>,
    /// Lower and upper end of the interval; absent without a value.
    #[serde(skip_serializing_if = "Option::is_none")]
    interval: Option<[f64; 2]>,
    /// The reason; absent with a value.
    #[serde(skip_serializing_if = "Option::is_none")]
    not_identifiable: Option<String>,
    /// The lowest and the highest temperature of the drive meanwhile; absent where none was read.
    #[serde(skip_serializing_if = "Option::is_none")]
    celsius: Option<[f64; 2]>,
}

/// A doubt about the conditions.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct ShownFinding {
    /// Its key, such as `flush-without-work`.
    kind: &'static str,
    /// `note`, `warning` or `invalid`.
    severity: &'static str,
    /// What was seen.
    text: String,
    /// What to do.
    advice: String,
}

/// A line of measured points.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct ShownSeries {
    /// The structure whose chart it is a line of.
    structure: &'static str,
    /// The name of the line, such as `QD128`.
    line: &'static str,
    /// The title of the axis.
    x: &'static str,
    /// The title of the axis.
    y: &'static str,
    /// Up to 400 points: means or medians of measurements.
    points: Vec<[f64; 2]>,
}

/// `xray --plan --json`.
#[derive(Serialize)]
struct XrayPlan<'a> {
    target: &'a str,
    experiments: Vec<PlannedExperiment>,
    /// Time and bytes in words.
    expected: &'a str,
}

/// A step of an X-ray.
#[derive(Serialize)]
struct PlannedExperiment {
    experiment: String,
    action: String,
    /// Null without a limit.
    writes_at_most_bytes: Option<u64>,
}

/// Returns `card` as text.
pub(super) fn text(card: &CheckedCard) -> String {
    let CheckedCard { card, answers, .. } = card;
    let found = answers.iter().filter(|answer| answer.outcome.is_ok()).count();
    let name: String = card.drive.chars().take(NAME_SHOWN).collect();
    let mut lines = vec![
        format!(
            "X-ray of {name}{}: {found} of {} structures identified; {} written, {} read",
            if card.is_model && !name.contains("MODEL") { " (MODEL)" } else { "" },
            answers.len(),
            Bytes(card.written_bytes).about(),
            Bytes(card.read_bytes).about()
        ),
        String::new(),
    ];
    let named = |answer: &Answer| format!("  {:<NAME$}", answer.structure.title());
    for answer in answers {
        if let Ok(value) = &answer.outcome {
            let unit = answer.structure.unit();
            let (shown, interval) = (shown(value.value, unit), shown_interval(value, unit));
            let doubt = of_controller(answer.structure, value, card.negotiated_link.as_ref());
            lines.push(format!(
                "{}{shown:<VALUE$}{interval:<INTERVAL$}{}{doubt}",
                named(answer),
                answer.structure.method()
            ));
        }
    }
    lines.extend([String::new(), "  not identifiable".into()]);
    for answer in answers {
        if let Err(reason) = &answer.outcome {
            lines.push(format!("{}{}", named(answer), reason.0));
        }
    }
    if found == answers.len() {
        lines.push("  none of those that were looked for".into());
    }
    for finding in card.findings.iter().filter(|finding| finding.severity != NOTE) {
        lines.push(format!("warning: {}", finding.text));
    }
    lines.join("\n")
}

/// Returns what to add to a ceiling `value` that is far below what the `negotiated` link carries; else nothing.
fn of_controller(
    structure: Structure,
    value: &Value,
    negotiated: Option<&NegotiatedLink>,
) -> String {
    let is_below =
        |link: &&NegotiatedLink| structure == Structure::Link && link.is_above(value.high);
    match negotiated.filter(is_below) {
        Some(NegotiatedLink { name, mb_s }) => {
            let share = 100.0 * value.value / mb_s;
            format!("; {share:.0} % of {name}: the controller may be the limit")
        }
        None => String::new(),
    }
}

fn read(file: &Path) -> Result<(RunFile, RecordedXray), Failure> {
    let run = RunFile::open(file)?;
    let recorded = RecordedXray::read(&run)?.ok_or_else(|| {
        let text = format!("{} is not the run file of an X-ray", file.display());
        Failure::new(FailureKind::Usage, text, "name the file that `ssdgauge xray` wrote")
    })?;
    run.check_chain()?;
    Ok((run, recorded))
}

/// Returns whether the X-ray in `file` asked other questions than one of this version would.
///
/// # Errors
/// The file cannot be read, or is not an X-ray.
pub(super) fn asks_otherwise(file: &Path) -> Result<bool, Failure> {
    let (run, recorded) = read(file)?;
    Ok(matches!(review_xray(&run.head().drive, &recorded), Err(XrayError::Differs(_))))
}

/// Returns the card of the X-ray in `file` as JSON: what its recorded answers show.
///
/// # Errors
/// The file cannot be read, or is not an X-ray of this version.
pub(super) fn of_run(file: &Path) -> Result<serde_json::Value, Failure> {
    let (run, recorded) = read(file)?;
    let drive = &run.head().drive;
    let examined = review_xray(drive, &recorded)?;
    // Texts of the drive are in some findings.
    let findings = run.findings()?.into_iter().map(|record| ShownFinding {
        kind: record.finding.kind.key(),
        severity: record.finding.severity.name(),
        text: sanitize_prose(&record.finding.text),
        advice: sanitize_prose(&record.finding.advice),
    });
    let card = Document {
        format: CARD_FORMAT,
        version: CARD_VERSION,
        schema_version: 1,
        target: sanitize_prose(&drive.target),
        drive: sanitize_device(drive.name()),
        is_model: drive.is_model(),
        capacity_bytes: drive.capacity.0,
        is_complete: examined.is_complete,
        negotiated_link: NegotiatedLink::of(drive)
            .map(|NegotiatedLink { name, mb_s }| ShownLink { name, mb_s: rounded(mb_s) }),
        written_bytes: recorded.written.0,
        read_bytes: examined.read.0,
        structures: examined.answers.iter().map(shown_answer).collect(),
        findings: findings.collect(),
        series: examined.series.iter().map(shown_series).collect(),
        stated: None,
    };
    Ok(serde_json::to_value(card).expect("keys are strings"))
}

/// Returns a series, with its numbers in four digits or more.
fn shown_series(series: &Series) -> ShownSeries {
    let axes = axes(series.structure).expect("a series is made for a structure with axes");
    ShownSeries {
        structure: series.structure.key(),
        line: axes.lines[series.line],
        x: axes.x,
        y: axes.y,
        points: series.points.iter().map(|(x, y)| [rounded(*x), rounded(*y)]).collect(),
    }
}

/// Returns `value` to five digits: a chart shows fewer.
fn rounded(value: f64) -> f64 {
    let text = format!("{value:.4e}");
    text.parse().expect("a number in digits is a number")
}

/// Returns `card` as indented text, each of its series in one line.
pub(super) fn json_text(mut card: serde_json::Value) -> String {
    let series = card.as_object_mut().and_then(|card| card.remove("series"));
    let series = series.as_ref().and_then(serde_json::Value::as_array);
    let lines: Vec<String> = series.into_iter().flatten().map(ToString::to_string).collect();
    let card = format!("{card:#}");
    let card = card.strip_suffix("\n}").unwrap_or(&card);
    format!("{card},\n  \"series\": [\n    {}\n  ]\n}}\n", lines.join(",\n    "))
}

fn shown_answer(answer: &Answer) -> ShownAnswer {
    let structure = answer.structure;
    let (value, interval, not_identifiable) = match &answer.outcome {
        Ok(Value { value, low, high }) => (Some(*value), Some([*low, *high]), None),
        Err(reason) => (None, None, Some(reason.0.clone())),
    };
    ShownAnswer {
        structure: structure.key(),
        unit: structure.unit().key(),
        method: structure.method(),
        source: structure.source(),
        value,
        interval,
        not_identifiable,
        celsius: answer.celsius.map(|ends| ends.map(rounded)),
    }
}

/// Prints the experiments of `plan` with `expected`, its cost.
pub(super) fn print_plan(plan: &Plan, drive: &DriveInfo, expected: &str, as_json: bool) {
    let steps =
        || plan.steps().map(|(test, _, step)| (format!("{}: {}", test.title, step.label), step));
    if as_json {
        let experiments = steps().map(|(experiment, step)| PlannedExperiment {
            experiment,
            action: step.action.describe(),
            writes_at_most_bytes: step.action.writes_at_most().map(|bytes| bytes.0),
        });
        let experiments = experiments.collect();
        return terminal::print_document(&XrayPlan {
            target: &drive.target,
            experiments,
            expected,
        });
    }
    let mut lines = vec![format!("X-ray of {}", drive.name()), String::new()];
    for (label, step) in steps() {
        let written = step.action.writes_at_most().unwrap_or_default();
        let bytes = if written > Bytes(0) { written.about() } else { "-".into() };
        lines.push(format!("  {label:<56}writes {bytes}"));
    }
    lines.extend([String::new(), expected.to_owned()]);
    terminal::print_text(&lines.join("\n"));
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn the_published_schema_is_that_of_the_types() {
        crate::published::check::<Document>("xray.json");
    }

    #[test]
    fn a_ceiling_far_below_its_link_may_be_that_of_the_controller() {
        let link = NegotiatedLink { name: "PCIe 3.0 x4".into(), mb_s: 3_938.0 };
        let words = |structure, mb_s| {
            of_controller(structure, &Value::within(mb_s, 0.0, 0.01), Some(&link))
        };
        assert_eq!(words(Structure::Link, 3_400.0), "");
        let expected = "; 38 % of PCIe 3.0 x4: the controller may be the limit";
        assert_eq!(words(Structure::Link, 1_500.0), expected);
        assert_eq!(words(Structure::NativeRate, 700.0), "");
        assert_eq!(of_controller(Structure::Link, &Value::exact(1.0), None), "");
    }

    #[test]
    fn the_text_of_a_card_is_the_json_that_it_was_made_from() {
        let card = json!({ "a": { "b": 1 }, "series": [{ "points": [[1.0, 2.5]] }, {}] });
        let text = json_text(card.clone());
        assert_eq!(serde_json::from_str::<serde_json::Value>(&text).unwrap(), card, "{text}");
        assert_eq!(text.lines().filter(|line| line.contains("points")).count(), 1, "{text}");
        let empty = json!({ "a": 1, "series": [] });
        let text = json_text(empty.clone());
        assert_eq!(serde_json::from_str::<serde_json::Value>(&text).unwrap(), empty, "{text}");
        assert_eq!(
            (rounded(1234.567), rounded(0.0), rounded(-0.000_123_456)),
            (1_234.6, 0.0, -0.000_123_46)
        );
    }
}
