//! Power meters as they are named on the command line and recorded in a run file.

use crate::failure::{Failure, Kind};
use crate::text_file::read_text_file;
use serde::Deserialize;
use ssdgauge_core::{Finding, FindingKind, Severity};
use ssdgauge_meter::MeterSpec;
use std::collections::BTreeMap;

/// A file of meters.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    #[serde(default)]
    power: Vec<Entry>,
}

/// A meter of a file: the text of `--power`, its options as keys.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Entry {
    spec: String,
    name: Option<String>,
    scope: Option<String>,
    scale: Option<f64>,
    period: Option<String>,
    pointer: Option<String>,
}

impl Entry {
    /// Returns the text of `--power`.
    fn text(&self) -> String {
        let Entry { spec, name, scope, scale, period, pointer } = self;
        let scale = scale.map(|scale| scale.to_string());
        let options = [
            ("name", name),
            ("scope", scope),
            ("scale", &scale),
            ("period", period),
            ("pointer", pointer),
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

/// Returns the meters that `texts` name; one that ends in `.toml` is a file of them.
pub(crate) fn specs(texts: &[String]) -> Result<Vec<MeterSpec>, Failure> {
    let mut specs = Vec::new();
    for text in texts {
        match text.ends_with(".toml") && !text.contains(':') {
            true => specs.extend(of_file(text)?),
            false => specs.push(MeterSpec::parse(text)?),
        }
    }
    for (place, spec) in specs.iter().enumerate() {
        if specs[..place].iter().any(|other| other.name == spec.name) {
            return Err(Failure::new(
                Kind::Usage,
                format!("there are two power meters called '{}'", spec.name),
                "give each a name: name=plug@SPEC",
            ));
        }
    }
    Ok(specs)
}

fn of_file(path: &str) -> Result<Vec<MeterSpec>, Failure> {
    let hint = "a file of meters has [[power]] with spec = \"hwmon:NAME/power1\", and name, scope, \
                scale, period or pointer where they are needed; docs/meters.md";
    let failure = |error: String| Failure::new(Kind::Usage, error, hint);
    let text = read_text_file(path).map_err(failure)?;
    let file: File = toml::from_str(&text).map_err(|error| failure(format!("{path}: {error}")))?;
    if file.power.is_empty() {
        return Err(failure(format!("{path} names no power meter")));
    }
    file.power.iter().map(|entry| Ok(MeterSpec::parse(&entry.text())?)).collect()
}

/// What the facts about meters begin with.
const FACT: &str = "power_meter ";

/// Returns how meters are read, as facts of the surroundings.
pub(crate) fn facts(described: &[(String, String)]) -> Vec<(String, String)> {
    let fact = |(name, text): &(String, String)| (format!("{FACT}{name}"), text.clone());
    described.iter().map(fact).collect()
}

/// Returns what bears on a run that was begun in the surroundings of `before` and goes on with the
/// meters of `described`; `None` where they are the same.
pub(crate) fn changed(
    before: &BTreeMap<String, String>,
    described: &[(String, String)],
) -> Option<Finding> {
    let now: BTreeMap<String, String> = facts(described).into_iter().collect();
    let is_meter = |(key, _): &(&String, &String)| key.starts_with(FACT);
    let before: BTreeMap<String, String> =
        before.iter().filter(is_meter).map(|(key, value)| (key.clone(), value.clone())).collect();
    let names = |facts: &BTreeMap<String, String>| match facts.is_empty() {
        true => "none".to_owned(),
        false => {
            let name = |(key, text): (&String, &String)| {
                format!("{} ({text})", key.strip_prefix(FACT).unwrap_or(key))
            };
            facts.iter().map(name).collect::<Vec<_>>().join(", ")
        }
    };
    (before != now).then(|| {
        Finding::new(
            FindingKind::Meter,
            Severity::Warning,
            format!(
                "the run goes on with other power meters than it was begun with: before {}; now {}",
                names(&before),
                names(&now)
            ),
            "name the same meters with --power when you resume; power before and behind the pause \
             cannot be compared",
        )
    })
}
