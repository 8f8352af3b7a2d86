//! `ssdgauge drives TARGET`: the description of one drive, as text or JSON.

use crate::failure::{Failure, FailureKind};
use crate::target::{SizeRequest, Target};
use crate::terminal;
use serde_json::{Map, Value as Json, json};
use ssdgauge_core::{Bytes, DriveDescription, Fact, FindingKind, Severity, Table, Value};
use ssdgauge_drive::DescribeError;
use ssdgauge_report::{sanitize_device, sanitize_prose};
use std::path::{Path, PathBuf};

/// Prints the description of the drive `target`. Nothing is written to it.
///
/// # Errors
///
/// Fails where `target` is not a drive, or cannot be opened for reading.
pub(crate) fn print(target: &str, as_json: bool) -> Result<(), Failure> {
    let card = match target.starts_with("sim:") {
        true => virtual_card(target)?,
        false => ssdgauge_drive::describe(&device_path(target))?,
    };
    match as_json {
        true => {
            let document = json!({ "schema_version": 1, "drive": document(&card) });
            terminal::print(&format!("{document:#}\n"));
        }
        false => terminal::print(&to_text(&card, terminal::has_colour())),
    }
    Ok(())
}

fn virtual_card(target: &str) -> Result<DriveDescription, Failure> {
    let size = SizeRequest { exact: None, scratch: Bytes(0), at_most: None };
    match Target::find(target, size, 1)? {
        Target::Virtual(rig) => Ok(rig.describe()),
        Target::Real(_) => Err(Failure::new(
            FailureKind::Usage,
            format!("{target} is not a virtual drive"),
            "name one as sim:PROFILE",
        )),
    }
}

/// Returns the path of a drive: a kernel name such as `nvme0n1` means the node in `/dev`.
fn device_path(target: &str) -> PathBuf {
    let known = Path::new("/dev").join(target);
    match !target.contains('/') && !Path::new(target).exists() && known.exists() {
        true => known,
        false => PathBuf::from(target),
    }
}

impl From<DescribeError> for Failure {
    fn from(error: DescribeError) -> Failure {
        let hint = match &error {
            DescribeError::System { .. } => {
                "nothing was written; `ssdgauge drives` lists the drives of this machine"
            }
            DescribeError::NotBlockDevice(_) => {
                "nothing was written; name a block device such as /dev/nvme0n1, or sim:PROFILE"
            }
        };
        Failure::new(FailureKind::Usage, error.to_string(), hint)
    }
}

fn document(card: &DriveDescription) -> Json {
    let mut drive = Map::new();
    drive.insert("target".into(), card.target.clone().into());
    for section in &card.sections {
        let facts = section.facts.iter().map(|fact| (fact.key.clone(), value_json(&fact.value)));
        drive.insert(section.key.into(), Json::Object(facts.collect()));
    }
    let findings = card.findings.iter().map(|finding| {
        json!({
            "kind": finding.kind.key(), "severity": severity(finding.severity),
            "text": finding.text, "advice": finding.advice,
        })
    });
    drive.insert("findings".into(), findings.collect());
    Json::Object(drive)
}

fn severity(severity: Severity) -> &'static str {
    match severity {
        Severity::Note => "note",
        Severity::Warning => "warning",
        Severity::Invalid => "invalid",
    }
}

fn value_json(value: &Value) -> Json {
    match value {
        Value::Missing(_) => Json::Null,
        Value::Text(text) => text.clone().into(),
        Value::Count(count) => (*count).into(),
        Value::Real(number) => (*number).into(),
        Value::Flag(flag) => (*flag).into(),
        Value::Table(table) => {
            let object = |row: &Vec<Value>| -> Json {
                let pairs = table.columns.iter().zip(row);
                Json::Object(pairs.map(|(key, cell)| ((*key).into(), value_json(cell))).collect())
            };
            table.rows.iter().map(object).collect()
        }
    }
}

/// The width of the column of labels.
const LABEL_WIDTH: usize = 34;

fn to_text(card: &DriveDescription, coloured: bool) -> String {
    let paint = |code: &str, text: &str| match coloured {
        true => format!("\x1b[{code}m{text}\x1b[0m"),
        false => text.to_owned(),
    };
    let mut text = format!("{}\n", paint("1", &sanitize_prose(&card.target)));
    for finding in &card.findings {
        let (mark, code) = match finding.severity {
            Severity::Note => ("note", "0"),
            Severity::Warning | Severity::Invalid => ("WARNING", "1;31"),
        };
        let alarm = match finding.kind == FindingKind::LinkBelowCapability {
            true => "*** LINK BELOW CAPABILITY *** ",
            false => "",
        };
        let text_of_finding = sanitize_prose(&finding.text);
        text.push_str(&paint(code, &format!("{mark}: {alarm}{text_of_finding}")));
        text.push_str(&format!("\n    {}\n", sanitize_prose(&finding.advice)));
    }
    for section in &card.sections {
        text.push_str(&format!("\n{}\n", paint("1", section.title)));
        // If all facts of a section are missing for one reason, it is printed once.
        let mut reasons = section.facts.iter().map(|fact| match &fact.value {
            Value::Missing(reason) => Some(reason),
            Value::Text(_)
            | Value::Count(_)
            | Value::Real(_)
            | Value::Flag(_)
            | Value::Table(_) => None,
        });
        let common = reasons.next().flatten().filter(|first| {
            section.facts.len() > 1 && reasons.all(|reason| reason == Some(*first))
        });
        match common {
            Some(reason) => {
                text.push_str(&format!("  not available: {}\n", sanitize_prose(reason)));
            }
            None => section.facts.iter().for_each(|fact| text.push_str(&fact_line(fact))),
        }
    }
    text
}

fn fact_line(fact: &Fact) -> String {
    let label = sanitize_prose(&fact.label);
    match &fact.value {
        Value::Table(table) if table.rows.is_empty() => format!("  {label:<LABEL_WIDTH$}  none\n"),
        Value::Table(table) => format!("  {label}\n{}", table_text(table)),
        other => format!("  {label:<LABEL_WIDTH$}  {}\n", value_text(other, fact.unit)),
    }
}

fn value_text(value: &Value, unit: &str) -> String {
    let with_unit = |number: String| match unit {
        "" => number,
        unit => format!("{number} {unit}"),
    };
    match value {
        Value::Missing(reason) => format!("not available ({})", sanitize_prose(reason)),
        Value::Text(text) => sanitize_device(text),
        Value::Count(count) if unit == "B" => Bytes(*count).about(),
        Value::Count(count) => with_unit(count.to_string()),
        Value::Real(number) => with_unit(format!("{number}")),
        Value::Flag(true) => "yes".into(),
        Value::Flag(false) => "no".into(),
        Value::Table(table) => format!("{} rows", table.rows.len()),
    }
}

fn table_text(table: &Table) -> String {
    let cell = |value: &Value| match value {
        Value::Missing(_) => "-".to_owned(),
        other => value_text(other, ""),
    };
    let mut lines = vec![table.columns.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>()];
    lines.extend(table.rows.iter().map(|row| row.iter().map(cell).collect()));
    let width = |column: usize| {
        lines.iter().filter_map(|line| line.get(column)).map(|cell| cell.chars().count()).max()
    };
    let widths: Vec<usize> = (0..table.columns.len()).filter_map(width).collect();
    let mut text = String::new();
    for line in &lines {
        text.push_str("   ");
        for (cell, width) in line.iter().zip(&widths) {
            text.push_str(&format!(" {cell:>width$} "));
        }
        text.push('\n');
    }
    text
}
