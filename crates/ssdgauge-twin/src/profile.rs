//! The profile of a twin as text: its figures with what decides each, and the bands of its predictions.

use crate::bands::Band;
use crate::evidence::Evidence;
use crate::figures::{Values, base};
use crate::fit::{Fitted, FittedFigure};
use crate::kind::Kind;
use serde::{Deserialize, Serialize};
use ssdgauge_core::Bytes;
use ssdgauge_sim::MODEL_REVISION;
use std::collections::BTreeMap;
use thiserror::Error;
use toml::{Table, Value};

/// What the profile of a twin says about itself.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct About {
    /// The drive that was measured.
    pub of: String,
    /// Its firmware, where it is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub firmware: Option<String>,
    /// The revision of the model that it was fitted with.
    pub model_revision: u32,
    /// The command that fits it.
    pub command: String,
    /// What was assumed, and what was left out.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
    /// The bands of its predictions.
    #[serde(default)]
    pub bands: Vec<Band>,
}

/// The profile of a twin.
#[derive(Clone, Debug, PartialEq)]
pub struct Twin {
    /// What it says about itself.
    pub about: About,
    /// The text of its profile, without that.
    pub profile: String,
}

/// Why a text is not the profile of a twin.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum TwinError {
    /// No twin, or one that is damaged.
    #[error("it is not the profile of a twin: {0}")]
    Text(String),
    /// Fitted with another revision of the model.
    #[error(
        "it was fitted with model revision {fitted}, this program has {MODEL_REVISION}: fit it anew with `{command}`"
    )]
    Revision {
        /// The revision that it was fitted with.
        fitted: u32,
        /// The command that fits it.
        command: String,
    },
}

impl Twin {
    /// Reads the profile of a twin; `None` where `text` is a profile of another virtual drive.
    ///
    /// # Errors
    /// [`TwinError`].
    pub fn read(text: &str) -> Result<Option<Twin>, TwinError> {
        let wrong = |error: &dyn std::fmt::Display| {
            TwinError::Text(error.to_string().lines().next().unwrap_or_default().to_owned())
        };
        let mut table: Table = text.parse().map_err(|error: toml::de::Error| wrong(&error))?;
        let Some(about) = table.remove("twin") else { return Ok(None) };
        // First the revision: another one may have other keys.
        let revision = about.get("model_revision").and_then(Value::as_integer).unwrap_or(0);
        let about: Result<About, _> = about.clone().try_into();
        if revision != i64::from(MODEL_REVISION) {
            let command = about.map_or("ssdgauge twin RUNS".to_owned(), |about| about.command);
            let fitted = u32::try_from(revision).unwrap_or(0);
            return Err(TwinError::Revision { fitted, command });
        }
        let about = about.map_err(|error: toml::de::Error| wrong(&error))?;
        Ok(Some(Twin { about, profile: table.to_string() }))
    }

    /// Returns the band of each number of `kind`.
    pub fn bands_of(&self, kind: Kind) -> Vec<&Band> {
        self.about.bands.iter().filter(|band| band.kind == kind).collect()
    }

    /// Returns what stands by its numbers: the drive that it is the twin of, and the smallest and the largest of the bands
    /// of what it predicts.
    pub fn mark(&self) -> String {
        let given = self.about.bands.iter().filter(|band| band.is_validated());
        let mut bands: Vec<f64> = given.map(|band| 100.0 * band.band).collect();
        bands.sort_by(f64::total_cmp);
        // A mark has 64 characters.
        let of: String = self.about.of.chars().take(40).collect();
        match (bands.first(), bands.last()) {
            (Some(low), Some(high)) if low.round() < high.round() => {
                format!("twin of {of}, ± {low:.0} to {high:.0} %")
            }
            (Some(low), _) => format!("twin of {of}, ± {low:.0} %"),
            (None, _) => format!("twin of {of}, no band"),
        }
    }

    /// Returns the time of an erase, in microseconds.
    pub(crate) fn erase_us(&self) -> Option<f64> {
        self.figure("nand", "t_bers_us")
    }

    pub(crate) fn capacity(&self) -> Option<Bytes> {
        let gb = self.figure("drive", "capacity_gb")?;
        (gb > 0.0 && gb < 1e6).then_some(Bytes((gb * 1e9) as u64))
    }

    /// Returns the size of the fast cache, fixed and borrowed.
    pub(crate) fn cache(&self) -> Bytes {
        let part = |name: &str| self.figure("slc", name).unwrap_or(0.0).clamp(0.0, 1e6);
        Bytes(((part("fixed_gb") + part("dynamic_gb")) * 1e9) as u64)
    }

    fn figure(&self, section: &str, name: &str) -> Option<f64> {
        let table: Table = self.profile.parse().ok()?;
        table.get(section)?.get(name)?.as_float()
    }
}

/// Returns the text of the profile of the twin that was `fitted` to `evidence` by `command`.
pub fn profile_text(evidence: &Evidence, fitted: &Fitted, command: &str) -> String {
    let name = plain(&evidence.drive);
    let about = About {
        of: name.clone(),
        firmware: evidence.firmware.as_deref().map(plain),
        model_revision: MODEL_REVISION,
        command: command.to_owned(),
        notes: evidence.notes.clone(),
        bands: fitted.bands.clone(),
    };
    let mut text = format!(
        "# The twin of {name}: a virtual drive fitted to its runs. What it says is PREDICTED, not measured.\n\
         # After each fitted figure: the interval that the runs do not exclude, and the test that decides it.\n"
    );
    text.push_str(&sections(evidence, fitted, &name));
    let mut whole = Table::new();
    let about = Value::try_from(&about).expect("a table of texts and numbers is TOML");
    whole.insert("twin".into(), about);
    text.push_str(&format!("\n{whole}"));
    text
}

/// Returns `text` without what a line of TOML or a name on a page cannot have.
fn plain(text: &str) -> String {
    text.chars().filter(|letter| !letter.is_control() && *letter != '"').take(80).collect()
}

fn sections(evidence: &Evidence, fitted: &Fitted, name: &str) -> String {
    let values: &Values = &fitted.values;
    let mut table: Table = base(evidence.capacity).parse().expect("the base is a table");
    let mut remarks: BTreeMap<(String, String), String> = BTreeMap::new();
    for (key, value) in values.keys(evidence.capacity) {
        let (section, name) = key.split_once('.').expect("keys have a section");
        let of_section = table
            .entry(section)
            .or_insert_with(|| Value::Table(Table::new()))
            .as_table_mut()
            .expect("sections are tables");
        of_section.insert(name.to_owned(), typed(&value));
        let figure = fitted.figures.iter().find(|figure| figure.key == key);
        if let Some(figure) = figure {
            // An interval is that of the figure as it is fitted, which the profile may state otherwise.
            let stated = |end: f64| {
                let mut changed = values.clone();
                changed.set(figure.key, end);
                let keys = changed.keys(evidence.capacity);
                let value = keys.iter().find(|(one, _)| *one == key)?.1.parse();
                value.ok()
            };
            remarks.insert((section.to_owned(), name.to_owned()), remark(figure, stated));
        }
    }
    let raw_gib =
        evidence.capacity.0 as f64 * (1.0 + values.get("over_provisioning")) / f64::from(1 << 30);
    let drive = table.get_mut("drive").and_then(Value::as_table_mut).expect("the base has a drive");
    let class = format!("PREDICTED (twin of {name})");
    let description = format!("Fitted to the runs of {name}; see [twin] for the errors.");
    drive.insert("class".into(), Value::String(class));
    drive.insert("title".into(), Value::String(format!("Twin of {name}")));
    drive.insert("description".into(), Value::String(description));
    drive.insert("cells".into(), Value::String("not known".into()));
    drive.insert("raw_gib".into(), Value::Float(raw_gib));
    if let Some(spare) = fitted.figures.iter().find(|figure| figure.key == "over_provisioning") {
        let of_class = remark(spare, Some);
        let remark = match &spare.decided {
            Some((low, high, test)) => {
                format!(
                    "spare area of {:.1} to {:.1} %, decided by {test}",
                    low * 100.0,
                    high * 100.0
                )
            }
            None => of_class,
        };
        remarks.insert(("drive".into(), "raw_gib".into()), remark);
    }
    lines(table, &remarks)
}

fn typed(value: &str) -> Value {
    if let Ok(whole) = value.parse() {
        return Value::Integer(whole);
    }
    if let Ok(number) = value.parse() {
        return Value::Float(number);
    }
    value.parse().map_or_else(|_| Value::String(value.to_owned()), Value::Boolean)
}

fn remark(figure: &FittedFigure, stated: impl Fn(f64) -> Option<f64>) -> String {
    let end = |value: f64| short(stated(value).unwrap_or(value));
    match &figure.decided {
        Some((low, high, test)) if low == high => format!("decided by {test}"),
        Some((low, high, test)) => {
            format!("{} to {}, decided by {test}", end(*low), end(*high))
        }
        None => "not identified".into(),
    }
}

/// Returns `value` with three significant digits.
fn short(value: f64) -> String {
    let digits = 2 - value.abs().log10().floor().clamp(-6.0, 6.0) as i32;
    format!("{value:.*}", digits.max(0) as usize)
}

fn lines(mut table: Table, remarks: &BTreeMap<(String, String), String>) -> String {
    let mut text = String::new();
    if let Some(parent) = table.remove("inherits") {
        text.push_str(&format!("inherits = {parent}\n"));
    }
    for (section, values) in &table {
        text.push_str(&format!("\n[{section}]\n"));
        for (name, value) in values.as_table().into_iter().flatten() {
            let remark = remarks.get(&(section.clone(), name.clone()));
            let remark = remark.map_or(String::new(), |remark| format!(" # {remark}"));
            text.push_str(&format!("{name} = {value}{remark}\n"));
        }
    }
    text
}
