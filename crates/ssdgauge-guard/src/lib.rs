//! The guard: resolves the name of a target and opens the one descriptor that may be written.
//!
//! A name is resolved once ([`Candidate::find`]). The drive behind it is admitted by an ordered
//! list of rules (`admission`), which find its `uses`, read its `signatures` and take its `lease`.
//! Every step that writes passes the [`WriteBudget`], which checks the drive again and limits the
//! bytes.
//!
//! This is the only crate that opens a block device for writing, and it never opens one that a rule
//! refuses.

mod admission;
mod identity;
mod lease;
mod options;
mod refusal;
pub mod signatures;
mod survey;
mod target;
mod text;
mod uses;
mod write_budget;

pub use admission::{Admitted, find_writers};
pub use options::{Continued, TargetOptions};
pub use refusal::Refusal;
pub use survey::drives;
pub use target::{Candidate, OpenTarget, OpenedTarget, TargetError, TargetPlace};
pub use write_budget::{CountingSink, StepBytes, WriteBudget};
