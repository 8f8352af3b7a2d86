//! Arguments of `ssdgauge export`.

use super::PlanOptions;
use clap::Args;
use ssdgauge_core::Bytes;
use std::path::PathBuf;

#[derive(Debug, Args)]
pub(crate) struct ExportArguments {
    /// Run file; or suite of the list or path of a suite file, with a target.
    pub(crate) source: String,
    /// Target that the jobs address; it is not written [default: that of the run].
    pub(crate) target: Option<String>,
    /// Write a job file of fio.
    #[arg(long, required = true)]
    pub(crate) fio: bool,
    /// Size of the scratch file, or of the tested range of another target.
    #[arg(long, value_name = "SIZE", value_parser = super::parse_size, allow_hyphen_values = true)]
    pub(crate) size: Option<Bytes>,
    /// File that is written [default: the standard output].
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) options: PlanOptions,
}
