//! `ssdgauge drives TARGET`: the description of one drive, as text or JSON.

use crate::failure::{Failure, FailureKind};
use crate::look_process;
use crate::target::{SizeRequest, Target};
use serde_json::{Map, Value as Json, json};
use ssdgauge_analysis::{sanitize_device, sanitize_prose};
use ssdgauge_core::{
    Bytes, DriveDescription, Fact, FindingKind, Severity, Table, Value, is_virtual,
};
use ssdgauge_drive::{DescribeError, NOT_IN_OUTPUT};
use ssdgauge_guard::{LookPlace, check_answer};
use ssdgauge_watch::terminal;
use ssdgauge_watch::terminal::colour::{Paint, Role};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use textwrap::core::display_width;

/// Prints the description of the drive `target`. Nothing is written to it.
///
/// # Errors
///
/// Fails where `target` is not a drive, does not answer, or cannot be opened for reading.
pub(crate) fn print(target: &str, as_json: bool) -> Result<(), Failure> {
    let coloured = terminal::has_colour();
    let width = terminal::width::columns();
    let text = match is_virtual(target) {
        true => text_of(&virtual_card(target)?, as_json, coloured, width),
        false => {
            let path = device_path(target);
            check_answer(&LookPlace::own_process(), &path)?;
            let flags = [(as_json, "--json"), (coloured, "--coloured")];
            let flags = flags.into_iter().filter_map(|(is_set, flag)| is_set.then_some(flag));
            let columns = width.to_string();
            let line: Vec<&str> =
                ["look", "drive", target, "--width", &columns].into_iter().chain(flags).collect();
            look_process::text(&line, &path.display().to_string())?
        }
    };
    match as_json {
        true => terminal::print(&text),
        false => terminal::print_folded(&text),
    }
    Ok(())
}

/// Returns the condition of the real drive `target` as JSON, for as long as it takes.
///
/// # Errors
///
/// As [`describe`].
pub(crate) fn condition(target: &str) -> Result<String, Failure> {
    Ok(json!(ssdgauge_drive::read_condition(&device_path(target))?).to_string())
}

/// Returns the description of the real drive `target`, for as long as it takes.
///
/// # Errors
///
/// Fails where `target` is not a drive, or cannot be opened for reading.
pub(crate) fn describe(
    target: &str,
    as_json: bool,
    coloured: bool,
    width: usize,
) -> Result<String, Failure> {
    Ok(text_of(&ssdgauge_drive::describe(&device_path(target))?, as_json, coloured, width))
}

fn text_of(card: &DriveDescription, as_json: bool, coloured: bool, width: usize) -> String {
    match as_json {
        true => format!("{:#}\n", json_of(card)),
        false => to_text(card, if coloured { Paint::Colours } else { Paint::None }, width),
    }
}

/// Returns the JSON document of a description.
pub(super) fn json_of(card: &DriveDescription) -> Json {
    json!({ "schema_version": 1, "drive": document(card) })
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
pub(super) fn device_path(target: &str) -> PathBuf {
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
        let text = match &error {
            DescribeError::System { path, cause } if cause.kind() == ErrorKind::NotFound => {
                format!("device {} does not exist", path.display())
            }
            DescribeError::System { .. } | DescribeError::NotBlockDevice(_) => error.to_string(),
        };
        Failure::new(FailureKind::Usage, text, hint)
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
            "kind": finding.kind.key(), "severity": finding.severity.name(),
            "text": finding.text, "advice": finding.advice,
        })
    });
    drive.insert("findings".into(), findings.collect());
    Json::Object(drive)
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

/// Returns the card of a description. What a stored output does not contain has no line.
pub(super) fn to_text(card: &DriveDescription, paint: Paint, width: usize) -> String {
    let mut text = format!("{}\n", paint.text(Role::Value, &sanitize_prose(&card.target)));
    for finding in &card.findings {
        let (mark, role) = match finding.severity {
            Severity::Note => ("note", Role::Second),
            Severity::Warning | Severity::Invalid => ("WARNING", Role::Bad),
        };
        let alarm = match finding.kind == FindingKind::LinkBelowCapability {
            true => "*** LINK BELOW CAPABILITY *** ",
            false => "",
        };
        let text_of_finding = sanitize_prose(&finding.text);
        text.push_str(&paint.text(role, &format!("{mark}: {alarm}{text_of_finding}")));
        text.push_str(&format!("\n    {}\n", sanitize_prose(&finding.advice)));
    }
    let is_shown =
        |fact: &Fact| !matches!(&fact.value, Value::Missing(reason) if reason == NOT_IN_OUTPUT);
    for section in card.sections.iter().filter(|section| section.facts.iter().any(is_shown)) {
        text.push_str(&format!("\n{}\n", paint.text(Role::Value, section.title)));
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
            None => {
                let shown = section.facts.iter().filter(|fact| is_shown(fact));
                shown.for_each(|fact| text.push_str(&fact_line(fact, width)));
            }
        }
    }
    text
}

fn fact_line(fact: &Fact, width: usize) -> String {
    let label = sanitize_prose(&fact.label);
    match &fact.value {
        Value::Table(table) if table.rows.is_empty() => format!("  {label:<LABEL_WIDTH$}  none\n"),
        Value::Table(table) => format!("  {label}\n{}", table_text(table, width)),
        // Words of this program, which are longer than what a drive may print.
        Value::Text(words) if fact.key.ends_with("_counter") || fact.key.starts_with("field") => {
            format!("  {label:<LABEL_WIDTH$}  {}\n", sanitize_prose(words))
        }
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
        // Blocks, transfers and buffers are powers of two in the standards; capacities are decimal.
        Value::Count(count) if unit == "B" && count.is_power_of_two() && *count < 1 << 30 => {
            Bytes(*count).as_block()
        }
        Value::Count(count) if unit == "B" => Bytes(*count).about(),
        Value::Count(count) => with_unit(count.to_string()),
        Value::Real(number) => with_unit(format!("{number}")),
        Value::Flag(true) => "yes".into(),
        Value::Flag(false) => "no".into(),
        Value::Table(table) => format!("{} rows", table.rows.len()),
    }
}

/// Returns a table, in blocks of columns where it is wider than `width`; each block begins with the
/// first column.
fn table_text(table: &Table, width: usize) -> String {
    let cell = |value: &Value| match value {
        Value::Missing(_) => "-".to_owned(),
        other => value_text(other, ""),
    };
    let mut lines = vec![table.columns.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>()];
    lines.extend(table.rows.iter().map(|row| row.iter().map(cell).collect()));
    let wide = |column: usize| {
        lines.iter().filter_map(|line| line.get(column)).map(|cell| display_width(cell)).max()
    };
    let widths: Vec<usize> = (0..table.columns.len()).filter_map(wide).collect();
    let mut text = String::new();
    for block in blocks(&widths, width) {
        for line in &lines {
            text.push_str("  ");
            for column in &block {
                text.push_str(&format!("  {:>width$}", line[*column], width = widths[*column]));
            }
            text.push('\n');
        }
    }
    text
}

/// Returns the columns of each block of a table with columns of `widths`, as wide as fit into `width`.
fn blocks(widths: &[usize], width: usize) -> Vec<Vec<usize>> {
    let mut blocks: Vec<Vec<usize>> = vec![Vec::new()];
    for column in 0..widths.len() {
        let last = blocks.last_mut().expect("there is always a block");
        let taken: usize = last.iter().map(|other| widths[*other] + 2).sum();
        match last.len() > 1 && 2 + taken + widths[column] + 2 > width {
            true => blocks.push(vec![0, column]),
            false => last.push(column),
        }
    }
    blocks
}
