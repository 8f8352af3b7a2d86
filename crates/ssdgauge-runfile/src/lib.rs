//! The run file: one SQLite file per run, the one stable format of the project.
//!
//! It stores the plan and the samples; every number on a page is computed from them again. Each
//! record carries its own checksum, because SQLite pages have none. `docs/reference/run-file.md` describes
//! every table for readers with a sqlite3 shell.
//!
//! Files are written only on Linux; every system can read them.
//!
//! This crate must never rewrite a finished record, and never change a file of another program or
//! of a newer format.

#![cfg_attr(not(target_os = "linux"), expect(dead_code, reason = "only writers use it"))]

pub mod attempts;
mod contradictions;
mod digested;
mod error;
mod header;
mod histogram;
mod journal;
mod neighbours;
#[cfg(target_os = "linux")]
mod origin;
mod packed;
mod record;
mod room;
mod samples;
mod schema;
mod temp_files;
mod untrusted;
#[cfg(target_os = "linux")]
mod writer;

pub use contradictions::Contradictions;
pub use digested::DigestedStep;
pub use error::RunFileError;
pub use histogram::{decode, encode};
pub use neighbours::check_new;
#[cfg(target_os = "linux")]
pub use origin::is_own;
#[cfg(target_os = "linux")]
pub use record::reader::follow::{Follower, News};
pub use record::{
    Answer, Digest, FindingRecord, Head, ImportedPercentile, Outcome, OutcomeKind, PROOF_SUITE,
    PropertyRecord, StepId, StepPlace, StepRecord, StepState, XRAY_SUITE,
    reader::{
        Digests, FLUSH, MAX_WRITES, RATED_ENDURANCE, READ_BACK, REPETITIONS, RunFile, VERIFIED,
        XRAY,
    },
};
pub use room::Room;
pub use schema::FORMAT;
pub use temp_files::stale_temp_files;
#[cfg(target_os = "linux")]
pub use writer::{Opening, RESERVE, StepEnd, Writer};
