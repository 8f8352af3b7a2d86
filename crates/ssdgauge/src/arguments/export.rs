//! Arguments of `ssdgauge export`.

use super::PlanOptions;
use clap::{ArgGroup, Args};
use ssdgauge_core::Bytes;
use std::path::PathBuf;

#[derive(Debug, Args)]
#[command(group = ArgGroup::new("form").required(true))]
#[command(
    override_usage = "ssdgauge export --fio|--parquet <FOLDER>|--jsonl\n       <SOURCE>... [OPTIONS]"
)]
pub(crate) struct ExportArguments {
    /// With --fio a run file; or a suite of the list or the path of a suite file, with the target
    /// that the jobs address after it, which is not written. Else run files, and folders of them.
    #[arg(value_name = "SOURCE", required = true)]
    pub(crate) sources: Vec<String>,
    /// Write a job file of fio.
    #[arg(long, group = "form")]
    pub(crate) fio: bool,
    /// Write tables of the runs as Parquet files into a folder, for DuckDB, Polars or Spark. A run that
    /// is exported again replaces its own files.
    #[arg(long, group = "form", value_name = "FOLDER", conflicts_with = "output")]
    pub(crate) parquet: Option<PathBuf>,
    /// Print the same tables, each row as a line of JSON.
    #[arg(long, group = "form", conflicts_with = "output")]
    pub(crate) jsonl: bool,
    /// Add a table with every second.
    #[arg(long, conflicts_with = "fio")]
    pub(crate) seconds: bool,
    /// Size of the scratch file, or of the tested range of another target.
    #[arg(long, value_name = "SIZE", value_parser = super::parse_size, allow_hyphen_values = true)]
    pub(crate) size: Option<Bytes>,
    /// File that is written [default: the standard output].
    #[arg(short, long = "out", alias = "output", value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) options: PlanOptions,
}
