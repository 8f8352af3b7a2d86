//! The guard: from the name of a target to the one descriptor that may be written.
//!
//! A name is resolved once ([`Candidate::find`]), the drive behind it is admitted by an ordered list
//! of rules (`admission`), and every step that writes passes the write budget, which checks the
//! drive again. This is the only crate that opens a block device for writing.

mod admission;
mod identity;
mod lease;
mod refusal;
pub mod signatures;
mod survey;
mod target;
mod text;
mod uses;
mod write_budget;

pub use admission::{Admitted, Continued, TargetOptions, writers_of};
pub use refusal::Refusal;
pub use survey::drives;
pub use target::{Candidate, OpenTarget, OpenedTarget, TargetError, TargetPlace};
pub use write_budget::WriteBudget;
