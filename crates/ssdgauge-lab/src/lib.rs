//! Suites, planner and conductor.
//!
//! A [`Suite`] is a protocol as data. [`plan`] binds it to one drive and returns a
//! [`ssdgauge_core::Plan`]; [`estimate`] and [`wear`] state its cost before a byte is written,
//! and an [`Outlook`] the rest of it during the run;
//! [`conduct`] executes the plan on a rig and records the samples, and [`resume`] continues a run
//! that was interrupted. [`conduct_proof`] shows how much a drive stores of what it states, and
//! [`conduct_xray`] which structures show in its answers; both are runs as well.
//!
//! This crate must never depend on Linux or on the virtual drive: it sees a `&mut dyn Rig`. It
//! opens no file, writes only through the [`ssdgauge_runfile::Writer`] that it is given, and reads
//! no clock: time comes from the rig and from the [`Watcher`].

#![cfg_attr(
    not(target_os = "linux"),
    allow(dead_code, unused_imports, reason = "for the conductor, which writes run files")
)]

mod built_in;
#[cfg(target_os = "linux")]
mod conductor;
mod cost;
mod error;
mod interference;
mod listed;
mod pause;
mod planner;
mod proof;
mod reader;
mod repeat;
mod schema;
mod suite;
#[cfg(target_os = "linux")]
mod unwatched;
mod xray;

pub use built_in::{built_in, built_in_ids, find_built_in};
#[cfg(target_os = "linux")]
pub use conductor::{
    Boot, Completion, ConductError, SEPARATE_COMMIT_INTERVAL, SHARED_COMMIT_INTERVAL, Watcher,
    conduct, conduct_proof, conduct_xray, ended, resume,
};
pub use cost::{
    AssumedRates, DEFAULT_WEAR_SHARE, Endurance, Estimate, Expectation, Limits, Outlook, Remaining,
    Spent, WRITE_RATE, Wear, WearError, allowed_writes, assumed_rates, check_wear, computing_time,
    estimate, expected_cost, limits, spent, verification_time, verified_bytes, wear, writes_most,
};
pub use error::SuiteError;
pub use interference::{
    InterferenceError, InterferenceLoad, PhaseResult, interference_plan, prepare_interference,
    run_interference,
};
pub use listed::{
    ListedSuite, SCRATCH_SIZE, computing_time_on_1_tb, expected_on_1_tb, listed, plan_on_1_tb,
};
pub use planner::{Options, PlanError, REPLAY_SUITE, needed_span, plan, plan_replay};
pub use proof::{
    Depth, Event, Fate, Fated, Layout, ProofError, Proved, Recorded, Set, Settings, What,
    proof_plan, read_kept, review,
};
pub use repeat::{MAX_REPETITIONS, Repeat, RepeatError};
pub use suite::{
    Extent, PointRule, PrepareRule, RoundsRule, SearchRule, StreamRule, Suite, TestRule, UntilRule,
};
#[cfg(target_os = "linux")]
pub use unwatched::Unwatched;
pub use xray::{
    CutShort, EndedExperiment, Examined, Exchange, Experiment, RecordedXray, Reply, XrayError,
    XrayOptions, XrayWatcher, review_xray, xray, xray_plan,
};
