//! From run files to pages: metrics, figures, reports and comparisons.
//!
//! Data flows one way: run file → [`Run`] → figure → page. Every number is recomputed from the
//! samples of its run file.
//!
//! This crate never knows a drive, never asks which program wrote a run, and writes no file.

mod cached;
mod card;
mod cast;
mod clean;
mod compare;
mod csv;
mod error;
mod figure;
mod five;
mod group;
mod json;
mod levels;
mod markdown;
mod missing;
mod names;
mod number;
mod openmetrics;
mod page;
mod pictures;
mod portrait;
mod remarks;
mod repetitions;
mod rests;
mod run;
mod settings;
mod specification;
mod steadiness;
mod timeline;
mod verdict;

pub use cached::CachePlace;
pub use card::card;
pub use clean::{device as clean_device, prose as clean_prose};
pub use compare::{
    CompareError, CompareOptions, Comparison, Difference, Gate, TestComparison, compare,
};
pub use csv::csv;
pub use error::ReportError;
pub use figure::vega::VEGA_LITE_MARK;
pub use json::json;
pub use markdown::markdown;
pub use names::find_run;
pub use openmetrics::openmetrics;
pub use page::{PAGE_MARK, PageOptions, page};
pub use pictures::{NamedFigure, PNG_MARK, SVG_MARK, figures};
pub use run::{PlacedFinding, PointRun, Repetition, Run, StepFinding, TestRun, read, read_all};
pub use specification::{
    CacheSide, Claim, Specification, SpecificationError, State, claims_json, claims_markdown,
};
pub use steadiness::Tracked;
pub use timeline::Second;
