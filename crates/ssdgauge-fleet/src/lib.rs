//! Runs as tables, for questions over many of them: Parquet for DuckDB, Polars and Spark, JSON lines
//! for everything else.
//!
//! A table has one row for each run, each measured value, each direction of each step with its
//! histogram of latency, each finding, and, where that is asked for, each second. Values are those of
//! the report; nothing is computed here. This crate never opens a file.

mod json_lines;
mod parquet_file;
mod path;
mod rows;
mod table;

pub use json_lines::{json_lines, json_lines_head};
pub use parquet_file::{ParquetError, parquet};
pub use path::path;
pub use rows::tables;
pub use table::{Cell, Kind, Table};

/// The name of the program in each file: `created_by` of Parquet, `program` of the first JSON line.
pub const MARK: &str = "ssdgauge tables";
