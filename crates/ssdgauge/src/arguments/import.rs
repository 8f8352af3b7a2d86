//! Arguments of `ssdgauge import`.

use super::values::parse_label;
use clap::Args;
use std::path::PathBuf;

#[derive(Debug, Args)]
pub(crate) struct ImportArguments {
    /// Output of fio 3 with --output-format=json+.
    #[arg(long, value_name = "FILE", required = true)]
    pub(crate) fio: PathBuf,
    /// Run file that is written; it must not exist [default: the name of the input, with the suffix
    /// .ssdg].
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    /// Model of the drive, which fio does not state.
    #[arg(long, value_name = "TEXT", value_parser = parse_label)]
    pub(crate) model: Option<String>,
    /// Label of the run, shown with the name of the drive.
    #[arg(long, value_name = "TEXT", value_parser = parse_label)]
    pub(crate) label: Option<String>,
}
