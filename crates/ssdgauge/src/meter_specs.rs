//! Power meters: the specifications of `--power` and of meter files, and their entries in the
//! environment of a run.

use crate::arguments::PowerOptions;
use crate::failure::{Failure, FailureKind};
use crate::reader::{self, Input};
use crate::settings;
use crate::text_file::read_text_file;
use serde::Deserialize;
use ssdgauge_core::{Finding, FindingKind, Severity};
use ssdgauge_meter::MeterSpec;
use std::collections::BTreeMap;

/// A meter file, in TOML.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct MeterFile {
    #[serde(default)]
    power: Vec<MeterEntry>,
}

/// A meter of a meter file: the specification as in `--power`, with its options as keys.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct MeterEntry {
    spec: String,
    name: Option<String>,
    scope: Option<String>,
    scale: Option<f64>,
    period: Option<String>,
    pointer: Option<String>,
    reads: Option<String>,
    wraps: Option<f64>,
}

impl MeterEntry {
    /// Returns the same specification in the syntax of `--power`.
    fn to_spec(&self) -> String {
        let MeterEntry { spec, name, scope, scale, period, pointer, reads, wraps } = self;
        let [scale, wraps] = [scale, wraps].map(|number| number.map(|number| number.to_string()));
        let options = [
            ("name", name),
            ("scope", scope),
            ("scale", &scale),
            ("period", period),
            ("pointer", pointer),
            ("reads", reads),
            ("wraps", &wraps),
        ];
        let options: Vec<String> = options
            .into_iter()
            .filter_map(|(key, value)| Some(format!("{key}={}", value.as_ref()?)))
            .collect();
        match options.is_empty() {
            true => spec.clone(),
            false => format!("{}@{spec}", options.join(",")),
        }
    }
}

/// Returns the meters of a run: those of `--power`, otherwise those of the settings where the target
/// `has_power`; none for `--power none`.
///
/// # Errors
///
/// As [`parse`].
pub(crate) fn of_run(power: &PowerOptions, has_power: bool) -> Result<Vec<MeterSpec>, Failure> {
    let specs = match power.specs.is_empty() {
        true if has_power => &settings::current().meters,
        true | false => &power.specs,
    };
    match specs.as_slice() {
        [none] if none == "none" => Ok(Vec::new()),
        specs => parse(specs),
    }
}

/// Parses specifications of meters; one that ends in `.toml` is the path of a meter file.
///
/// # Errors
///
/// Fails on an invalid specification, an unreadable meter file, or two meters of one name.
pub(crate) fn parse(texts: &[String]) -> Result<Vec<MeterSpec>, Failure> {
    let mut specs = Vec::new();
    for text in texts {
        match text.ends_with(".toml") && !text.contains(':') {
            true => specs.extend(read_file(text)?),
            false => specs.push(MeterSpec::parse(text)?),
        }
    }
    for (index, spec) in specs.iter().enumerate() {
        if specs[..index].iter().any(|other| other.name == spec.name) {
            return Err(Failure::new(
                FailureKind::Usage,
                format!("two power meters have the name '{}'", spec.name),
                "give each its own name: name=plug@SPEC",
            ));
        }
    }
    Ok(specs)
}

/// The form of a meter file.
const FILE_HINT: &str = "a meter file has [[power]] entries with spec = \"hwmon:NAME/power1\", and \
                         optionally name, scope, scale, period, pointer, reads and wraps: docs/reference/meters.md";

fn read_file(path: &str) -> Result<Vec<MeterSpec>, Failure> {
    let failure = |error: String| Failure::new(FailureKind::Usage, error, FILE_HINT);
    let text = read_text_file(path).map_err(failure)?;
    let specs = specs_of_file(path, &text)?;
    specs.iter().map(|spec| Ok(MeterSpec::parse(spec)?)).collect()
}

/// Returns the specifications in the meter file `path` with the contents `text`, as in `--power`.
///
/// # Errors
///
/// Fails where it is not a valid meter file, or has no meter.
pub(crate) fn specs_of_file(path: &str, text: &str) -> Result<Vec<String>, Failure> {
    let here = || specs_here(path, text);
    reader::ask(here, &["meters"], &[path.into()], Input::Text(text))
}

fn specs_here(path: &str, text: &str) -> Result<Vec<String>, Failure> {
    let failure = |error: String| Failure::new(FailureKind::Usage, error, FILE_HINT);
    let file: MeterFile =
        toml::from_str(text).map_err(|error| failure(format!("{path}: {error}")))?;
    if file.power.is_empty() {
        return Err(failure(format!("{path} has no [[power]] entry")));
    }
    Ok(file.power.iter().map(MeterEntry::to_spec).collect())
}

/// The prefix of the environment keys of meters.
const KEY_PREFIX: &str = "power_meter ";

/// Returns the environment entries of meters, from their names and descriptions.
pub(crate) fn environment_entries(described: &[(String, String)]) -> Vec<(String, String)> {
    let entry = |(name, text): &(String, String)| (format!("{KEY_PREFIX}{name}"), text.clone());
    described.iter().map(entry).collect()
}

/// Returns the finding of a run that was started in the environment `before` and is resumed with
/// the meters of `described`; `None` if they are the same.
pub(crate) fn change_finding(
    before: &BTreeMap<String, String>,
    described: &[(String, String)],
) -> Option<Finding> {
    let now: BTreeMap<String, String> = environment_entries(described).into_iter().collect();
    let is_meter = |(key, _): &(&String, &String)| key.starts_with(KEY_PREFIX);
    let before: BTreeMap<String, String> =
        before.iter().filter(is_meter).map(|(key, value)| (key.clone(), value.clone())).collect();
    let names = |meters: &BTreeMap<String, String>| match meters.is_empty() {
        true => "none".to_owned(),
        false => {
            let name = |(key, text): (&String, &String)| {
                format!("{} ({text})", key.strip_prefix(KEY_PREFIX).unwrap_or(key))
            };
            meters.iter().map(name).collect::<Vec<_>>().join(", ")
        }
    };
    (before != now).then(|| {
        Finding::new(
            FindingKind::Meter,
            Severity::Warning,
            format!(
                "the run was resumed with other power meters: before {}; now {}",
                names(&before),
                names(&now)
            ),
            "pass the same meters with --power when you resume; power before and after the \
             interruption cannot be compared",
        )
    })
}
