//! A run as its owner publishes it: a record without samples, in one small file for the repository of a collection.

use crate::bench::record::{Record, TestRecord};
use crate::findings::run_outcome::{self, RunOutcome};
use crate::findings::trust::{self, Grade};
use crate::model::Run;
use crate::text::labels;
use serde::{Deserialize, Serialize};

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

    /// Reads the text of a file.
    ///
    /// # Errors
    ///
    /// The reason in words, where it is not one or of a newer version.
    pub fn parse(text: &str) -> Result<Submission, String> {
        let mut submission: Submission =
            serde_json::from_str(text).map_err(|error| error.to_string())?;
        if submission.version != VERSION {
            return Err(format!(
                "it has version {}, and this program reads {VERSION}",
                submission.version
            ));
        }
        submission.record.submitted = true;
        Ok(submission)
    }
}

/// Returns in what `submitted` differs from `computed`, which follows from the samples of the same run.
pub fn contradiction(submitted: &Record, computed: &Record) -> Option<String> {
    let is_same = submitted.drive == computed.drive
        && submitted.firmware == computed.firmware
        && submitted.suite == computed.suite
        && submitted.marks == computed.marks
        && submitted.grade == computed.grade;
    if !is_same {
        return Some("drive, firmware, suite, marks or grade".to_owned());
    }
    let differs = |own: &&TestRecord| {
        let other = computed.tests.iter().find(|other| other.id == own.id);
        other.is_none_or(|other| !agree(own, other))
    };
    submitted.tests.iter().find(differs).map(|test| test.title.clone())
}

/// Returns whether two records of one test say the same; numbers may differ in their last digits.
fn agree(a: &TestRecord, b: &TestRecord) -> bool {
    let numbers = |test: &TestRecord| -> Vec<f64> {
        let each = std::iter::once(&test.headline).chain(&test.repetitions).map(|one| &one.0);
        each.flat_map(|one| {
            let ends = one.interval.ends().unwrap_or_default();
            [one.value.unwrap_or_default(), ends.0, ends.1]
        })
        .collect()
    };
    let is_near = |(a, b): (&f64, &f64)| (a - b).abs() <= 1e-9 * a.abs().max(b.abs());
    let (of_a, of_b) = (numbers(a), numbers(b));
    let is_same = a.key == b.key && a.invalid == b.invalid && of_a.len() == of_b.len();
    is_same && of_a.iter().zip(&of_b).all(is_near)
}
