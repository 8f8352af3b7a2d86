//! The card of an X-ray, as text and as JSON, and its plan.

use crate::terminal;
use serde_json::json;
use ssdgauge_core::{Bytes, DriveInfo, Plan, Severity};
use ssdgauge_lab::Examined;
use ssdgauge_xray::{Answer, CARD_FORMAT, CARD_VERSION, Unit, Value};

/// The width of the column of names.
const NAME: usize = 18;
/// The width of the column of values.
const VALUE: usize = 14;
/// The width of the column of intervals.
const INTERVAL: usize = 22;

/// Returns the card of `examined` as text.
pub(super) fn text(examined: &Examined, drive: &DriveInfo) -> String {
    let found = examined.answers.iter().filter(|answer| answer.outcome.is_ok()).count();
    let mut lines = vec![
        format!(
            "X-ray of {}: {found} of {} structures identified; {} written, {} read",
            drive.name(),
            examined.answers.len(),
            examined.written.about(),
            examined.read.about()
        ),
        String::new(),
    ];
    let named = |answer: &Answer| format!("  {:<NAME$}", answer.structure.title());
    for answer in &examined.answers {
        if let Ok(value) = &answer.outcome {
            let unit = answer.structure.unit();
            let (shown, interval) = (one(value.value, unit), interval(value, unit));
            lines.push(format!(
                "{}{shown:<VALUE$}{interval:<INTERVAL$}{}",
                named(answer),
                answer.structure.method()
            ));
        }
    }
    lines.extend([String::new(), "  not identifiable".into()]);
    for answer in &examined.answers {
        if let Err(reason) = &answer.outcome {
            lines.push(format!("{}{}", named(answer), reason.0));
        }
    }
    if found == examined.answers.len() {
        lines.push("  none of those that were looked for".into());
    }
    for finding in examined.findings.iter().filter(|finding| finding.severity > Severity::Note) {
        lines.push(format!("warning: {}", finding.text));
    }
    lines.join("\n")
}

/// Returns the card of `examined` as JSON.
pub(super) fn json(examined: &Examined, drive: &DriveInfo) -> serde_json::Value {
    let answers: Vec<serde_json::Value> = examined.answers.iter().map(answer_json).collect();
    json!({
        "format": CARD_FORMAT,
        "version": CARD_VERSION,
        "target": drive.target,
        "drive": drive.name(),
        "is_model": drive.is_model(),
        "capacity_bytes": drive.capacity.0,
        "is_complete": examined.is_complete,
        "written_bytes": examined.written.0,
        "read_bytes": examined.read.0,
        "structures": answers,
        "findings": examined.findings,
    })
}

fn answer_json(answer: &Answer) -> serde_json::Value {
    let structure = answer.structure;
    let mut json = json!({
        "structure": structure.key(),
        "unit": structure.unit().key(),
        "method": structure.method(),
        "source": structure.source(),
    });
    match &answer.outcome {
        Ok(Value { value, low, high }) => {
            json["value"] = json!(value);
            json["interval"] = json!([low, high]);
        }
        Err(reason) => json["not_identifiable"] = json!(reason.0),
    }
    json
}

/// Prints the experiments of `plan` with `expected`, its cost.
pub(super) fn print_plan(plan: &Plan, drive: &DriveInfo, expected: &str, as_json: bool) {
    let steps = || plan.steps().map(|(_, _, step)| step);
    if as_json {
        let list: Vec<serde_json::Value> = steps()
            .map(|step| {
                json!({
                    "experiment": step.label,
                    "action": step.action.describe(),
                    "writes_at_most_bytes": step.action.writes_at_most().map(|bytes| bytes.0),
                })
            })
            .collect();
        let target = &drive.target;
        return terminal::print_json(
            &json!({ "target": target, "experiments": list, "expected": expected }),
        );
    }
    let mut lines = vec![format!("X-ray of {}", drive.name()), String::new()];
    for step in steps() {
        let written = step.action.writes_at_most().unwrap_or_default();
        let bytes = if written > Bytes(0) { written.about() } else { "-".into() };
        lines.push(format!("  {:<48}writes {bytes}", step.label));
    }
    lines.extend([String::new(), expected.to_owned()]);
    terminal::print_text(&lines.join("\n"));
}

/// Returns `value` with its unit.
pub(super) fn one(value: f64, unit: Unit) -> String {
    match unit {
        Unit::MegabytesPerSecond => format!("{value:.0} MB/s"),
        Unit::Microseconds => format!("{value:.2} us"),
        Unit::Count => format!("{value:.0}"),
        // A chunk is some whole pages.
        Unit::Bytes if value < 16e6 && value % 4_096.0 == 0.0 => Bytes(value as u64).to_string(),
        Unit::Bytes => Bytes(value.max(0.0) as u64).about(),
        Unit::YesNo => if value > 0.5 { "yes" } else { "no" }.into(),
        Unit::Celsius => format!("{value:.0} °C"),
    }
}

/// Returns the interval of `value`; nothing for yes and no.
pub(super) fn interval(value: &Value, unit: Unit) -> String {
    if value.low == value.high {
        return match unit {
            Unit::YesNo => String::new(),
            Unit::MegabytesPerSecond
            | Unit::Microseconds
            | Unit::Count
            | Unit::Bytes
            | Unit::Celsius => "exact".into(),
        };
    }
    let (low, high) = (one(value.low, unit), one(value.high, unit));
    let (number, _) = low.split_once(' ').unwrap_or((&low, ""));
    match low.split_once(' ').map(|low| low.1) == high.split_once(' ').map(|high| high.1) {
        true => format!("{number}-{high}"),
        false => format!("{low}-{high}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ssdgauge_xray::Structure;

    #[test]
    fn intervals_repeat_their_unit_only_where_it_differs() {
        let value = |low, high| Value { value: low, low, high };
        assert_eq!(interval(&value(10.0, 12.0), Unit::MegabytesPerSecond), "10-12 MB/s");
        assert_eq!(interval(&value(0.9e9, 1.1e9), Unit::Bytes), "900 MB-1.10 GB");
        assert_eq!(interval(&Value::exact(16.0), Structure::Units.unit()), "exact");
        assert_eq!(interval(&Value::exact(1.0), Unit::YesNo), "");
    }
}
