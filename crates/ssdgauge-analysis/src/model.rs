//! The types that a run file becomes, and access to their metrics.
//!
//! A type here holds numbers and computes none beyond a metric of one step. It never reads a file.

mod error;
pub mod metrics;
pub(crate) mod plan;
mod record;
mod run;
mod second;
mod tracked;
mod wear;

pub use error::ReportError;
pub(crate) use record::{RecordedRepetition, RecordedRun, RecordedTest};
pub use run::{
    CachePlace, Durability, FallCause, LocatedFinding, PointRun, Proof, Repetition, Run, SpeedFall,
    StepFinding, StepLevels, TestRun, VerifiedRun,
};
pub use second::Second;
pub use tracked::Tracked;
pub use wear::{LifeCounter, Wear};
