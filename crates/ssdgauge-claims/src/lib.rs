//! Claims of published reviews as data, and their checks on runs.
//!
//! `claims/*.toml` has the claims of five reviews in our own words: `claim` is their shape, `catalogue`
//! reads them, `held_out` lists those that no parameter may be fitted to. A claim has checks, which
//! are named functions with their numbers: `check`, on the numbers and curves that `reference` names,
//! by the shapes of `shape` and the reading rules of `reading`. `measure` takes numbers and curves
//! from runs, `judge` gives every claim its state, and `output` writes them down. `picture` has the charts
//! that the claims are about. `fit` lists the fitted figures of the profiles with their published numbers, `parameters`
//! the quantities of all fitted ones, and `every_profile` tries each check on every profile.
//!
//! This crate never runs a drive, and opens no file.

mod catalogue;
mod check;
mod claim;
mod every_profile;
mod fit;
mod gate;
mod held_out;
mod judge;
mod measure;
mod output;
mod parameters;
mod picture;
mod reading;
mod reference;
mod shape;

pub use catalogue::{CatalogueError, MEASURED_SUITE, RunNeed, check_ids, measured, parse, reviews};
pub use check::{Check, Outcome, Relation, Shape, Variation};
pub use claim::{Claim, Group, Kind, Label, Review, TestNeed};
pub use every_profile::{Substitute, Tried, every_profile, substitutes};
pub use fit::{FIT_SUITE, Fit, Fits, Quantified, fits};
pub use gate::{GateError, changes};
pub use held_out::{held_out, is_held_out};
pub use judge::{Count, Judgement, State, Summary, judge};
pub use output::{json, list, markdown, one_claim, table};
pub use parameters::{Mark, ProfileMarks, marks_of, parameters};
pub use picture::{Picture, pictures};
pub use reading::{QUANTITY, Word};
pub use reference::{Curve, Pick, Quantity, Seconds, Source, Value};
