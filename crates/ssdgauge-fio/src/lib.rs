//! Plans as job files of fio, so that a result can be reproduced with another program; results of fio
//! and of the Aerospike Certification Tool as a plan with samples, so that they are shown with runs.
//!
//! fio cannot express everything that a plan does. What it cannot is a comment in the job file, at the
//! place where it would happen: a job file without such comments does the same work. In the other
//! direction, what a plan cannot express is a finding. Where both programs ran a step in turn, the
//! verdict whether they agree is a function of their repetitions.
//!
//! This crate never runs a program and never opens a file.

mod act_bins;
mod act_lines;
mod act_log;
mod act_plan;
mod act_verdict;
mod agreement;
mod block_sizes;
mod check_job;
mod documents;
mod group;
mod hist_log;
mod import;
mod import_error;
mod imported;
mod job_file;
mod left_out;
mod line;
mod output;
mod samples;
mod section;
mod size;
mod stream;
mod unexpressed;

pub use act_bins::{ActDevice, ActError, ActForm, BinUnit, Bins, Failed};
pub use act_log::{ActLog, Block, Lag, Slice, read_act_log};
pub use act_plan::ASSUMED_CAPACITY;
pub use agreement::{Agreement, Comparison, LEAST_TURNS, Quantity, Repetition, compare, verdict};
pub use check_job::{check_job, limitations};
pub use import::{import, import_with_logs};
pub use import_error::ImportError;
pub use imported::{Imported, ImportedStep};
pub use job_file::{JobTarget, MARK, job_file};
pub use line::NameError;
