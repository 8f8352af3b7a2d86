//! The lab: suites, the planner and the conductor.
//!
//! A [`Suite`] is a protocol as data. [`plan`] makes a [`ssdgauge_core::Plan`] of it for one
//! drive, and [`conduct`] carries the plan out on a rig and writes down what happens.
//!
//! This crate never knows Linux or the model: it sees a `&mut dyn Rig`. It opens no file but the
//! run file it is given, and reads no clock: the rig has one.

mod built_in;
mod conductor;
mod cost;
mod error;
mod planner;
mod reader;
mod schema;
mod suite;

pub use built_in::{built_in, find_built_in};
pub use conductor::{Completion, ConductError, Glimpse, Watcher, conduct, resume};
pub use cost::{
    Endurance, Estimate, RATED_KEY, SHARE, USED_KEY, WRITE_RATE, Wear, WearError, admit, estimate,
    wear, writes_most,
};
pub use error::SuiteError;
pub use planner::{Options, PlanError, needed_span, plan};
pub use suite::{
    Extent, PointRule, PrepareRule, RoundsRule, SearchRule, StreamRule, Suite, TestRule, UntilRule,
};
