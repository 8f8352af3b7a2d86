//! Runs as tables, for questions over many of them: Parquet for DuckDB, Polars and Spark, JSON lines
//! for everything else.
//!
//! A table has one row for each run, each measured value, each direction of each step with its
//! histogram of latency, each finding, and, where that is asked for, each second. Values are those of
//! the report. Besides: what the runs of a fleet show about each drive (`drift`). This crate never
//! opens a file.

mod drift;
pub mod drift_document;
mod drift_words;
mod json_lines;
pub mod page;
mod parquet_file;
mod path;
mod rows;
mod table;
mod trouble;

pub use drift::{
    Drift, DriveModel, DriveRun, FleetDrift, Group, HeldBack, LEAST_DRIVES, NotJudged, Place,
    Reason, Strip, Suspect, TestKey, Unjudged, drift, drive_run, serial,
};
pub use drift_words::drift_line;
pub use json_lines::{json_lines, json_lines_head};
pub use parquet_file::{ParquetError, parquet};
pub use path::path;
pub use rows::{SCHEMA_VERSION, TABLES, tables};
pub use table::{Cell, Column, Kind, Table};
pub use trouble::{Trouble, TroubleKind, trouble};

/// The name of the program in each file: `created_by` of Parquet, `program` of the first JSON line.
pub const MARK: &str = "ssdgauge tables";
