//! The guard: resolves the name of a target and opens the one descriptor that may be written.
//!
//! A name is resolved once ([`Candidate::find`]). A `look` at a device takes place in a process that
//! can be given up, since a device may never answer. The drive behind it is admitted by an ordered
//! list of rules (`admission`), which find its `uses`, read its `signatures` and take its `lease`.
//! Every step that writes passes the [`WriteBudget`], which checks the drive again and limits the
//! bytes.
//!
//! This is the only crate that opens a block device for writing, and it never opens one that a rule
//! refuses.

mod access;
mod admission;
mod command_node;
mod identity;
mod lease;
mod look;
mod look_place;
mod objections;
mod options;
mod origin;
mod place;
mod refusal;
mod scratch;
pub mod signatures;
mod survey;
mod target;
mod text;
mod uses;
mod write_budget;

pub use admission::{Admitted, find_writers};
pub use command_node::{CommandNode, check_pass_through};
pub use look::{ANSWER_LIMIT, check_answer, serve as serve_looks};
pub use look_place::LookPlace;
pub use options::{Continued, TargetOptions};
pub use place::{Candidate, TargetError, TargetPlace};
pub use refusal::Refusal;
pub use survey::{ListedDrive, drives};
pub use target::{OpenTarget, OpenedTarget};
pub use write_budget::{CountingSink, StepBytes, WriteBudget};
