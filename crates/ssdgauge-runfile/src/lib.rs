//! The run file: one SQLite file per run, the one stable format of the project.
//!
//! It stores the plan and the samples; every number on a page is computed from them anew. Each
//! record carries its own checksum, because SQLite pages have none. `docs/reference/run-file.md` describes
//! every table for readers with a sqlite3 shell.
//!
//! This crate must never rewrite a finished record, and never change a file of another program or
//! of a newer format.

pub mod attempts;
mod chain;
mod contradictions;
mod digest;
mod error;
mod header;
mod histogram;
mod journal;
mod neighbours;
mod origin;
mod packed;
mod record;
mod room;
mod samples;
mod schema;
mod temp_files;
mod untrusted;
mod writer;

pub use contradictions::Contradictions;
pub use error::RunFileError;
pub use histogram::{decode, encode};
pub use neighbours::check_new;
pub use origin::is_own;
pub use record::{
    Answer, Digest, FindingRecord, Head, ImportedPercentile, Outcome, OutcomeKind, PropertyRecord,
    StepId, StepPlace, StepRecord, StepState,
    reader::follow::{Follower, News},
    reader::{FLUSH, MAX_WRITES, RATED_ENDURANCE, READ_BACK, REPETITIONS, RunFile, VERIFIED, XRAY},
};
pub use room::Room;
pub use schema::FORMAT;
pub use temp_files::stale_temp_files;
pub use writer::{Opening, RESERVE, StepEnd, Writer};
