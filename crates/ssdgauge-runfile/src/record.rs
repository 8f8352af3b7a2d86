//! The records of a run file, and their checksums.

pub(crate) mod reader;

use rusqlite::types::Value;
use ssdgauge_core::{DriveInfo, Finding, Nanos, Plan};
use std::collections::BTreeMap;

/// The number of a step record in its file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct StepId(pub i64);

/// Which step of the plan a record belongs to, by its places in the plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct StepPlace {
    /// The test in the plan, from 0.
    pub test: usize,
    /// The phase in the test, from 0.
    pub phase: usize,
    /// The step in the phase, from 0.
    pub step: usize,
}

/// Where a step stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StepState {
    /// It runs, or the program was killed in it.
    Running,
    /// It ran to its end; its samples count.
    Finished,
    /// It ended early; its samples are kept and do not count.
    Broken,
}

impl StepState {
    /// Returns the word used in the file.
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

/// What a run began with.
#[derive(Clone, Debug, PartialEq)]
pub struct Head {
    /// The id of the run.
    pub id: String,
    /// The program that wrote it, with its version.
    pub program: String,
    /// When it began, in milliseconds since 1970 (UTC). A label: durations never come from it.
    pub started_unix_ms: i64,
    /// What was planned.
    pub plan: Plan,
    /// The drive.
    pub drive: DriveInfo,
    /// The host, in the field's words.
    pub environment: BTreeMap<String, String>,
}

/// One attempt at one step.
#[derive(Clone, Debug, PartialEq)]
pub struct StepRecord {
    /// Its number in the file.
    pub id: StepId,
    /// Its place in the plan.
    pub place: StepPlace,
    /// The number of the attempt, from 1.
    pub attempt: u32,
    /// When it began, in milliseconds since 1970 (UTC).
    pub started_unix_ms: i64,
    /// When it ended.
    pub ended_unix_ms: Option<i64>,
    /// Where it stands.
    pub state: StepState,
    /// How long it ran, by the clock of the rig.
    pub elapsed: Option<Nanos>,
    /// Which limit ended it: `time`, `bytes`, `stop`, `faults`, or `done` for a preparation.
    pub ended_by: Option<String>,
    /// What the engine or the preparation says of itself, as JSON.
    pub report: Option<String>,
}

/// A finding with what it belongs to.
#[derive(Clone, Debug, PartialEq)]
pub struct FindingRecord {
    /// The step that it belongs to; `None` for the whole run.
    pub step: Option<StepId>,
    /// When it was found, in milliseconds since 1970 (UTC).
    pub unix_ms: i64,
    /// The finding.
    pub finding: Finding,
}

/// Returns the checksum of a record: CRC-32 over every value with its type and length.
pub(crate) fn checksum(values: &[Value]) -> i64 {
    let mut crc = crc32fast::Hasher::new();
    let mut add = |tag: u8, bytes: &[u8]| {
        crc.update(&[tag]);
        crc.update(&(bytes.len() as u64).to_le_bytes());
        crc.update(bytes);
    };
    for value in values {
        match value {
            Value::Null => add(0, &[]),
            Value::Integer(number) => add(1, &number.to_le_bytes()),
            Value::Real(number) => add(2, &number.to_bits().to_le_bytes()),
            Value::Text(text) => add(3, text.as_bytes()),
            Value::Blob(bytes) => add(4, bytes),
        }
    }
    i64::from(crc.finalize())
}

/// Returns `number` for SQLite, whose integers are signed.
pub(crate) fn integer(number: impl TryInto<i64>) -> Value {
    Value::Integer(number.try_into().unwrap_or(i64::MAX))
}

/// Returns `text` for SQLite.
pub(crate) fn text(text: impl Into<String>) -> Value {
    Value::Text(text.into())
}

/// Returns a value that may be absent.
pub(crate) fn optional(value: Option<Value>) -> Value {
    value.unwrap_or(Value::Null)
}
