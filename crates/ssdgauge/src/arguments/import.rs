//! Arguments of `ssdgauge import`.

use super::parse_size;
use super::values::parse_label;
use clap::{ArgGroup, Args};
use ssdgauge_core::Bytes;
use std::path::PathBuf;

#[derive(Debug, Args)]
#[command(group = ArgGroup::new("source").required(true))]
#[command(override_usage = "ssdgauge import --fio <FILE>|--act <LOG> [OPTIONS]")]
pub(crate) struct ImportArguments {
    /// Output of fio 3 with --output-format=json or json+.
    #[arg(long, group = "source", value_name = "FILE")]
    pub(crate) fio: Option<PathBuf>,
    /// Histogram log of the one job (write_hist_log with log_hist_msec=1000), for the course in time;
    /// may be repeated, once for each thread.
    #[arg(long, requires = "fio", value_name = "FILE")]
    pub(crate) hist_log: Vec<PathBuf>,
    /// Log of the Aerospike Certification Tool 5 or 6: the output of act_storage.
    #[arg(long, group = "source", value_name = "LOG")]
    pub(crate) act: Option<PathBuf>,
    /// Run file that is written; it must not exist [default: the name of the input, with the suffix
    /// .ssdg].
    #[arg(short, long = "out", alias = "output", value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    /// Capacity of the drive [default: what the input states, otherwise 1 TB is assumed].
    #[arg(long, value_name = "SIZE", value_parser = parse_size, allow_hyphen_values = true)]
    pub(crate) size: Option<Bytes>,
    /// Model of the drive, which the other program does not state.
    #[arg(long, value_name = "TEXT", value_parser = parse_label)]
    pub(crate) model: Option<String>,
    /// Label of the run, shown with the name of the drive.
    #[arg(long, value_name = "TEXT", value_parser = parse_label)]
    pub(crate) label: Option<String>,
}
