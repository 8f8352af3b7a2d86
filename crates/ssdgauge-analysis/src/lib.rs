//! From run files to results: every number, finding, comparison and claim.
//!
//! `load` reads a run file into the types of `model`. The other modules compute from these, each of them only from
//! those above it: `text` (words and numbers), `steps`, `findings`, `groups`, `headlines`, `comparison`, `drives`,
//! `quick`, `inputs`, `answers`, `bench`. Every number is recomputed from the samples of its run file.
//!
//! This crate draws nothing, opens no drive, depends on no program that wrote a run, and writes no file.

pub mod answers;
pub mod bench;
pub mod comparison;
pub mod drives;
pub mod findings;
pub mod groups;
pub mod headlines;
pub mod inputs;
mod load;
pub mod model;
pub mod quick;
mod reading;
pub mod steps;
pub mod text;

pub use answers::run_line::{grade as run_grade, headline as run_headline};
pub use comparison::compare::{
    CompareError, CompareOptions, Comparison, Difference, TestComparison, compare,
    compare_with_history,
};
pub use comparison::history::History;
pub use comparison::label_comparison::{LabelError, compared_labels};
pub use comparison::repeated_runs::{RepeatedRun, once_each};
pub use drives::peers::Background;
pub use drives::report_drives::{are_of_one_ssd, find_run};
pub use findings::run_outcome::{RunOutcome, of as run_outcome};
pub use groups::group::power_meters;
pub use inputs::batch::{Batch, BatchDot, BatchDrive, BatchState, BatchStrip};
pub use inputs::input_error::InputError;
pub use inputs::notes::{DriveNotes, Notes, Photograph};
pub use inputs::options::{DriveXray, PageOptions, Progress};
pub use inputs::spec_file::{CacheSide, State};
pub use inputs::specification::{Claim, Specification};
pub use inputs::stated_figures::stated_figures;
pub use model::{
    CachePlace, Durability, FallCause, LifeCounter, LocatedFinding, PointRun, Proof, Repetition,
    ReportError, Run, Second, SpeedFall, StepFinding, StepLevels, TestRun, Tracked, VerifiedRun,
    Wear,
};
pub use quick::cohort::Cohort;
pub use reading::{read, read_all, read_all_by_digests, read_open};
pub use text::labels::{data_origin, imported_mark};
pub use text::sanitize::{
    device as sanitize_device, json as sanitize_json, prose as sanitize_prose,
};
