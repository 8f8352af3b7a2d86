//! A run as its owner publishes it: a record without samples, in one small file for the repository of a collection.

use crate::bench::check::{self, Checked, ensure};
use crate::bench::record::Record;
use crate::findings::run_outcome::{self, RunOutcome};
use crate::findings::trust::{self, Grade};
use crate::model::Run;
use crate::text::{labels, sanitize};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::collections::BTreeSet;

/// The version of the file. A key that changes its meaning raises it.
pub const VERSION: u32 = 1;

/// The largest file that is read, in bytes.
pub const MAX_BYTES: u64 = 1 << 20;

/// What a file of a submission holds.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Submission {
    /// The version of the file.
    #[serde(rename = "ssdgauge-run")]
    pub version: u32,
    /// The results of the run.
    pub record: Record,
    /// Tells the units of one submitter apart: a keyed hash of the serial number.
    pub unit: Option<String>,
    /// The serial number, where the submitter wishes it.
    pub serial: Option<String>,
    /// The label of the run, where the submitter wishes it.
    pub label: Option<String>,
    /// The place of a signature over the rest, which no program checks yet.
    pub signature: Option<String>,
}

/// The version of a file, whatever else it holds.
#[derive(Deserialize)]
struct Version {
    #[serde(rename = "ssdgauge-run")]
    version: u32,
}

/// Returns why `run` is not to be published; `None` where it may be.
pub fn objection(run: &Run) -> Option<String> {
    if labels::imported_mark(&run.head).is_some() {
        return Some("another program measured it: publish what that program wrote".to_owned());
    }
    match run_outcome::of(run) {
        RunOutcome::Complete => {}
        other => return Some(format!("its outcome is `{}`", other.name())),
    }
    if run.tests.iter().all(|test| test.headline.value.is_none()) {
        return Some("it has no result".to_owned());
    }
    let trust = trust::of_runs([run])?;
    (trust.grade > Grade::B)
        .then(|| format!("its grade is {}: {}", trust.grade.letter(), trust.in_words()))
}

impl Submission {
    /// Returns what is published of `run`. `hashed` makes a keyed hash of a text; without it, nothing tells units and meters
    /// apart.
    pub fn new(run: &Run, hashed: Option<&dyn Fn(&str) -> String>) -> Submission {
        let mut record = Record::of(run);
        for test in &mut record.tests {
            // The name of a meter may hold its address.
            let meters = test.meters.iter().filter_map(|meter| Some(hashed?(meter)));
            test.meters = meters.collect();
        }
        let serial = run.head.drive.serial.as_deref();
        let unit = serial.and_then(|serial| Some(hashed?(serial)));
        Submission { version: VERSION, record, unit, serial: None, label: None, signature: None }
    }

    /// Reads the text of a file. `now_unix_ms` is the time of the check.
    ///
    /// # Errors
    ///
    /// The place in the file and what is wrong there, where it is not a submission, or says what none can say.
    pub fn parse(text: &str, now_unix_ms: i64) -> Result<Submission, String> {
        // First, because another version has other keys.
        let version = serde_json::from_str(text).map(|Version { version }| version);
        if let Some(version) = version.ok().filter(|version| *version != VERSION) {
            return Err(format!("it has version {version}, and this program reads {VERSION}"));
        }
        let mut submission: Submission = serde_json::from_str(text).map_err(|error| {
            let (line, column) = (error.line(), error.column());
            let why = error.to_string();
            let why = sanitize::short_prose(why.split(" at line ").next().unwrap_or_default());
            format!("line {line}, column {column}: this is not what a submission has ({why})")
        })?;
        submission.record.submitted = true;
        submission.check(now_unix_ms).map_err(|wrong| wrong.to_string())?;
        Ok(submission)
    }

    fn check(&self, now_unix_ms: i64) -> Checked {
        for (place, text) in [("serial", &self.serial), ("label", &self.label)] {
            text.iter().try_for_each(|text| check::prose(place, text))?;
        }
        let is_hash = |text: &String| {
            text.len() == 16 && text.bytes().all(|byte| b"0123456789abcdef".contains(&byte))
        };
        let not_hash = || "it is not a keyed hash of 16 digits".to_owned();
        ensure(self.unit.as_ref().is_none_or(is_hash), "unit", not_hash)?;
        self.signature.iter().try_for_each(|text| check::prose("signature", text))?;
        self.record.check(now_unix_ms)?;
        for (number, test) in self.record.tests.iter().enumerate() {
            let place = format!("record.tests[{number}].meters");
            ensure(test.meters.iter().all(is_hash), &place, not_hash)?;
        }
        self.record.check_published()
    }
}

impl Record {
    /// Checks that a run with these marks and this grade may be published, as [`objection`] does for a run. One that others have
    /// published has no samples that could be graded.
    fn check_published(&self) -> Checked {
        if self.origin.is_some() {
            return ensure(self.grade.is_none(), "record.grade", || {
                "a run with an `origin` has none".into()
            });
        }
        let published = ["MODEL", "SPAN SCALED", "POLLED", "PASS-THROUGH"];
        let other = self.marks.iter().find(|mark| !published.contains(&mark.as_str()));
        ensure(other.is_none(), "record.marks", || {
            format!("a run marked {} is not published", other.map_or("", String::as_str))
        })?;
        let grade = [Grade::A, Grade::B]
            .into_iter()
            .find(|grade| self.grade.as_deref() == Some(grade.letter()));
        ensure(grade.is_some(), "record.grade", || {
            format!(
                "a run with the grade {} is not published",
                self.grade.as_deref().unwrap_or("none")
            )
        })?;
        let results = || self.tests.iter().filter(|test| test.headline.0.value.is_some());
        ensure(results().next().is_some(), "record.tests", || "no test has a result".into())?;
        let doubted = results().filter(|test| !test.doubts.is_empty()).count();
        let permitted = match grade {
            Some(Grade::A) => 0,
            _ => (trust::FEW * results().count() as f64) as usize,
        };
        ensure(doubted <= permitted, "record.grade", || {
            format!(
                "it is {}, and {doubted} results are in doubt",
                self.grade.as_deref().unwrap_or("none")
            )
        })
    }
}

/// Returns in what `submitted` differs from `computed`, which follows from the samples of the same run: the keys that lead to
/// the first difference, with both values.
pub fn contradiction(submitted: &Record, computed: &Record) -> Option<String> {
    let value = |record: &Record| serde_json::to_value(record).unwrap_or_default();
    difference("record", &value(submitted), &value(computed))
}

/// Keys that differ without a contradiction: meters are published as hashes.
const NOT_COMPARED: [&str; 2] = ["submitted", "meters"];

/// Returns the first place where `own` differs from `other`. Numbers may differ in their last digits.
fn difference(place: &str, own: &Value, other: &Value) -> Option<String> {
    let differs = || {
        let text = |value: &Value| sanitize::short_prose(&value.to_string());
        Some(format!("`{place}` is {}, and {} by the samples", text(own), text(other)))
    };
    match (own, other) {
        (Value::Object(own), Value::Object(other)) => {
            let keys: BTreeSet<&String> = own.keys().chain(other.keys()).collect();
            let of = |values: &Map<String, Value>, key: &str| {
                values.get(key).cloned().unwrap_or_default()
            };
            keys.into_iter().filter(|key| !NOT_COMPARED.contains(&key.as_str())).find_map(|key| {
                difference(&format!("{place}.{key}"), &of(own, key), &of(other, key))
            })
        }
        (Value::Array(own), Value::Array(other)) if own.len() == other.len() => {
            let mut each = own.iter().zip(other).enumerate();
            each.find_map(|(at, (own, other))| difference(&format!("{place}[{at}]"), own, other))
        }
        (Value::Number(a), Value::Number(b)) => match (a.as_f64(), b.as_f64()) {
            (Some(a), Some(b)) if (a - b).abs() <= 1e-9 * a.abs().max(b.abs()) => None,
            _ => differs(),
        },
        _ if own == other => None,
        _ => differs(),
    }
}
