//! Records of a run file and their checksums.

pub(crate) mod chain;
pub(crate) mod digest;
mod flushes;
pub(crate) mod pages;
pub(crate) mod reader;
mod since_format_3;

pub(crate) use since_format_3::with_percentiles;
pub use since_format_3::{Answer, Digest, ImportedPercentile, Outcome, OutcomeKind};

use rusqlite::types::{Value, ValueRef};
use serde::{Deserialize, Serialize};
use ssdgauge_core::{DriveInfo, Finding, Nanos, Plan, Prepared, TargetKind};
use std::collections::BTreeMap;

/// Number of a step record in its file, from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct StepId(pub i64);

/// Position of a step in the plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct StepPlace {
    /// The test in the plan, from 0.
    pub test: usize,
    /// The phase in the test, from 0.
    pub phase: usize,
    /// The step in the phase, from 0.
    pub step: usize,
}

impl StepPlace {
    /// Returns whether `plan` has this step.
    pub fn is_in(self, plan: &Plan) -> bool {
        let phase = plan.tests.get(self.test).and_then(|test| test.phases.get(self.phase));
        phase.is_some_and(|phase| self.step < phase.steps.len())
    }
}

/// State of a step record.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum StepState {
    /// In progress, or cut off when the program was killed.
    Running,
    /// Complete; its samples count.
    Finished,
    /// Ended early; its samples are kept and do not count.
    Broken,
}

impl StepState {
    /// Returns the value of the column `state`.
    pub fn name(self) -> &'static str {
        match self {
            StepState::Running => "running",
            StepState::Finished => "finished",
            StepState::Broken => "broken",
        }
    }

    fn from_name(name: &str) -> Option<StepState> {
        [StepState::Running, StepState::Finished, StepState::Broken]
            .into_iter()
            .find(|state| state.name() == name)
    }
}

/// The opening record of a run: plan, drive and host.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Head {
    /// The id of the run.
    pub id: String,
    /// The program that wrote it, with its version.
    pub program: String,
    /// Start of the run in milliseconds since 1970 (UTC). A label: no duration is computed from it,
    /// because the time of day can be set while a run goes on. 0 where it is not known ([`Head::started`]).
    pub started_unix_ms: i64,
    /// The plan.
    pub plan: Plan,
    /// The drive.
    pub drive: DriveInfo,
    /// The host: kernel, processor, memory and settings by key.
    pub environment: BTreeMap<String, String>,
}

/// The suite of X-rays.
pub const XRAY_SUITE: &str = "xray";

/// The suite of proofs of the capacity.
pub const PROOF_SUITE: &str = "prove";

impl Head {
    /// The key in the environment of the program that measured, where it is another one.
    pub const IMPORTED_FROM: &str = "imported_from";

    /// Returns the start of the run in milliseconds since 1970 (UTC); `None` where it is not known: results of
    /// other programs may state none.
    pub fn started(&self) -> Option<i64> {
        Some(self.started_unix_ms).filter(|unix_ms| *unix_ms != 0)
    }

    /// Returns why the plan cannot be carried out, or was not by another program, as a clause.
    pub(crate) fn plan_defect(&self) -> Option<String> {
        let capacity = self.drive.capacity;
        match self.imported_from() {
            Some(_) => self.plan.defect_of_imported(capacity),
            None => self.plan.defect(capacity),
        }
    }

    /// Returns the program that measured, such as `fio-3.33`, where that is not the one that wrote the
    /// file; `None` for every run of ssdgauge.
    pub fn imported_from(&self) -> Option<&str> {
        self.environment.get(Head::IMPORTED_FROM).map(String::as_str)
    }

    /// Returns whether what the run wrote has ended with it: an X-ray or a proof knows only its own data.
    pub fn has_lost_its_target(&self) -> bool {
        let is_adaptive = [PROOF_SUITE, XRAY_SUITE].contains(&self.plan.suite.id.as_str());
        is_adaptive && self.drive.kind == TargetKind::File && self.plan.is_destructive()
    }
}

/// Record of one attempt at one step.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct StepRecord {
    /// Its number in the file.
    pub id: StepId,
    /// Its place in the plan.
    pub place: StepPlace,
    /// Number of the attempt, from 1.
    pub attempt: u32,
    /// Start in milliseconds since 1970 (UTC).
    pub started_unix_ms: i64,
    /// End in milliseconds since 1970 (UTC); `None` while it runs.
    pub ended_unix_ms: Option<i64>,
    /// Its state.
    pub state: StepState,
    /// Duration by the clock of the rig; `None` while it runs.
    pub elapsed: Option<Nanos>,
    /// The limit that ended it: `time`, `bytes`, `stop`, `faults`, `device-lag`, `host-lag` or
    /// `steady`; `done` for a preparation or a pause.
    pub ended_by: Option<String>,
    /// Report of the engine or of the preparation, as JSON.
    pub report: Option<String>,
}

impl StepRecord {
    /// Returns the report of a preparation; `None` for other steps, and while it runs.
    pub fn prepared(&self) -> Option<Prepared> {
        serde_json::from_str(self.report.as_deref()?).ok()
    }
}

/// A property of a run or of one of its steps.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PropertyRecord {
    /// Its step; `None` for the whole run.
    pub step: Option<StepId>,
    /// The key, such as `label`.
    pub key: String,
    /// The value.
    pub value: String,
}

/// A finding with its step and time.
#[derive(Clone, Debug, PartialEq)]
pub struct FindingRecord {
    /// Its step; `None` for the whole run.
    pub step: Option<StepId>,
    /// Time of the finding in milliseconds since 1970 (UTC).
    pub unix_ms: i64,
    /// The finding.
    pub finding: Finding,
}

/// Returns the checksum of a record: CRC-32 over every value with its type and length.
///
/// It finds damage, not forgery.
pub(crate) fn checksum<'a>(values: impl Iterator<Item = ValueRef<'a>>) -> i64 {
    // The hasher takes longer for each call than for the bytes of a number: small values are gathered.
    let mut crc = crc32fast::Hasher::new();
    let mut gathered = [0; 256];
    let mut length = 0;
    encode(values, |bytes| {
        if length + bytes.len() > gathered.len() {
            crc.update(&gathered[..length]);
            length = 0;
        }
        match gathered.get_mut(length..length + bytes.len()) {
            Some(place) => {
                place.copy_from_slice(bytes);
                length += bytes.len();
            }
            None => crc.update(bytes),
        }
    });
    crc.update(&gathered[..length]);
    i64::from(crc.finalize())
}

/// Calls `add` with the bytes of a record, which its checksum and the hash of its link are of.
///
/// Type and length are included so that a value that moves from one column to the next, or changes
/// its type, changes both.
pub(crate) fn encode<'a>(values: impl Iterator<Item = ValueRef<'a>>, mut add: impl FnMut(&[u8])) {
    fn head(tag: u8, length: usize) -> [u8; 9] {
        let mut head = [tag; 9];
        head[1..].copy_from_slice(&(length as u64).to_le_bytes());
        head
    }
    // A number is added at once with its head.
    fn number(tag: u8, value: [u8; 8]) -> [u8; 17] {
        let mut bytes = [0; 17];
        bytes[..9].copy_from_slice(&head(tag, 8));
        bytes[9..].copy_from_slice(&value);
        bytes
    }
    for value in values {
        match value {
            ValueRef::Null => add(&head(0, 0)),
            ValueRef::Integer(value) => add(&number(1, value.to_le_bytes())),
            ValueRef::Real(value) => add(&number(2, value.to_bits().to_le_bytes())),
            ValueRef::Text(bytes) => {
                add(&head(3, bytes.len()));
                add(bytes);
            }
            ValueRef::Blob(bytes) => {
                add(&head(4, bytes.len()));
                add(bytes);
            }
        }
    }
}

/// Converts `number` for SQLite, whose integers have 63 bits and a sign.
///
/// A larger number is stored as the largest: the nanoseconds of 292 years, far beyond any run, and
/// the reader refuses totals that no drive can reach.
pub(crate) fn integer(number: impl TryInto<i64>) -> Value {
    Value::Integer(number.try_into().unwrap_or(i64::MAX))
}

/// Converts `text` for SQLite.
pub(crate) fn text(text: impl Into<String>) -> Value {
    Value::Text(text.into())
}

/// Converts a value that may be absent.
pub(crate) fn optional(value: Option<Value>) -> Value {
    value.unwrap_or(Value::Null)
}
