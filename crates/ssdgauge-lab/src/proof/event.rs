//! The records of a proof in its run file: one property for each operation, durable before the next.

use super::layout::{Depth, Layout, Set};
use serde::{Deserialize, Serialize};
use ssdgauge_core::Bytes;
use ssdgauge_core::proof::{Conclusion, Observation};
use ssdgauge_runfile::{RunFile, RunFileError};

/// The property that holds the [`Settings`].
pub(super) const SETTINGS: &str = "proof";
/// The property that holds an [`Event`].
pub(crate) const EVENT: &str = "proof_event";
/// The version of contents, order and records. A file of another one is not continued.
const VERSION: u32 = 1;

/// What a proof follows from, besides the answers of the drive.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Settings {
    /// The version of contents, order and records.
    pub version: u32,
    /// How much is proved.
    pub depth: Depth,
    /// The capacity that the drive states.
    pub capacity_bytes: u64,
    /// The number in each block, which follows from the id of the run.
    pub tag: u64,
}

impl Settings {
    /// Returns the settings of the run `id` on a drive with `capacity`.
    pub fn new(id: &str, capacity: Bytes, depth: Depth) -> Settings {
        // FNV-1a (64 bits).
        let hash = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3);
        let tag = id.bytes().fold(0xcbf2_9ce4_8422_2325, hash);
        Settings { version: VERSION, depth, capacity_bytes: capacity.0, tag }
    }

    /// Returns the property that a run file of the proof begins with.
    pub fn property(&self) -> (String, String) {
        let text = serde_json::to_string(self).expect("plain numbers always serialise");
        (SETTINGS.to_owned(), text)
    }

    /// Returns the places of the proof.
    pub fn layout(&self) -> Layout {
        Layout::new(Bytes(self.capacity_bytes), self.depth)
    }
}

/// Something that happened in a proof.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Event {
    /// When it was recorded, in milliseconds since 1970 (UTC).
    pub unix_ms: i64,
    /// What happened.
    #[serde(flatten)]
    pub what: What,
}

/// The kinds of events.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "lowercase")]
pub enum What {
    /// Members `from` to `to` of `set` were written and flushed.
    Written {
        /// The set.
        set: Set,
        /// The first member.
        from: u64,
        /// The member after the last one.
        to: u64,
    },
    /// Members `from` to `to` of `set` were read.
    Read {
        /// The number of the pass.
        pass: u32,
        /// The set.
        set: Set,
        /// The first member.
        from: u64,
        /// The member after the last one.
        to: u64,
        /// What did not hold what was written there last, in ascending order of each range.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        bad: Vec<Observation>,
    },
    /// An operation failed; it is repeated when the run is resumed.
    Failed {
        /// The error.
        error: String,
    },
    /// The proof ended.
    Ended {
        /// Its verdict.
        verdict: Conclusion,
    },
}

/// The records of a proof.
#[derive(Clone, Debug, PartialEq)]
pub struct Recorded {
    /// Its settings.
    pub settings: Settings,
    /// Its events, in their order.
    pub events: Vec<Event>,
}

impl Recorded {
    /// Returns the bytes that were written, with those of operations that did not end as far as they are recorded.
    pub fn written(&self) -> Bytes {
        let layout = self.settings.layout();
        let written = self.events.iter().map(|event| match &event.what {
            What::Written { set, from, to } => layout.bytes(*set, *from, *to),
            What::Read { .. } | What::Failed { .. } | What::Ended { .. } => Bytes(0),
        });
        written.fold(Bytes(0), |sum, bytes| sum + bytes)
    }

    /// Reads the records of `run`; `None` where it is not a proof.
    ///
    /// # Errors
    /// [`RunFileError::Damaged`] where a record fails its check or lies outside the drive.
    pub fn read(run: &RunFile) -> Result<Option<Recorded>, RunFileError> {
        let damaged = |what: String| RunFileError::Damaged { path: run.path().to_owned(), what };
        let mut settings = None;
        let mut events = Vec::new();
        for property in run.properties()? {
            let unreadable = |error: serde_json::Error| {
                damaged(format!("the property {}: {error}", property.key))
            };
            match property.key.as_str() {
                SETTINGS => {
                    let read: Settings =
                        serde_json::from_str(&property.value).map_err(unreadable)?;
                    settings = Some(read);
                }
                EVENT => events.push(serde_json::from_str(&property.value).map_err(unreadable)?),
                _ => {}
            }
        }
        let Some(settings) = settings else { return Ok(None) };
        let stated = run.head().drive.capacity.0;
        if settings.version != VERSION {
            return Err(damaged(format!("a proof of version {}", settings.version)));
        }
        if settings.capacity_bytes != stated || Bytes(stated) < Layout::LEAST {
            let capacity = settings.capacity_bytes;
            return Err(damaged(format!("a proof of {capacity} bytes on a drive of {stated}")));
        }
        let layout = settings.layout();
        match events.iter().find(|event| !is_valid(event, &layout)) {
            Some(event) => {
                let event = serde_json::to_string(event).expect("events always serialise");
                Err(damaged(format!("an event outside the drive: {event}")))
            }
            None => Ok(Some(Recorded { settings, events })),
        }
    }
}

/// Returns whether everything that `event` names lies within `layout`.
fn is_valid(event: &Event, layout: &Layout) -> bool {
    match &event.what {
        What::Written { set, from, to } => {
            *set != Set::Samples && from < to && *to <= layout.count(*set)
        }
        What::Read { set, from, to, bad, .. } => {
            let is_inside = |one: &Observation| one.blocks > 0 && one.end() <= layout.capacity;
            from < to && *to <= layout.count(*set) && bad.iter().all(is_inside)
        }
        What::Failed { .. } | What::Ended { .. } => true,
    }
}
