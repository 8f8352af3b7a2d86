//! Plans as job files of fio, so that a result can be reproduced with another program.
//!
//! fio cannot express everything that a plan does. What it cannot is a comment in the job file, at the
//! place where it would happen: a job file without such comments does the same work.
//!
//! This crate never runs a program and never opens a file.

mod job_file;
mod line;
mod section;

pub use job_file::{JobTarget, MARK, job_file};
pub use line::NameError;
