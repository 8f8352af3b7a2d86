//! The run file: one SQLite file per run, the one stable format of the project.
//!
//! It keeps what was planned and what was seen; every number on a page is recomputed from it.
//! Each record carries its own checksum, because SQLite has none for its pages. `docs/format.md`
//! describes every table for people with a sqlite3 shell.
//!
//! This crate never rewrites a finished record and never touches a file that it does not
//! understand.

mod error;
mod histogram;
mod record;
mod schema;
mod temp_files;
mod writer;

pub use error::RunFileError;
pub use histogram::{decode, encode};
pub use record::{FindingRecord, Head, StepId, StepPlace, StepRecord, StepState, reader::RunFile};
pub use schema::FORMAT;
pub use temp_files::abandoned;
pub use writer::{Opening, StepEnd, Writer};
