//! The options of `run`.

use super::values::{parse_finding, parse_size};
use super::{ReplayOptions, RunOptions};
use clap::Args;
use ssdgauge_core::{Bytes, Finding};

#[derive(Debug, Args)]
pub(crate) struct RunArguments {
    /// Suite of the list (`ssdgauge suites`), path of a suite file, or trace:FILE to replay a trace.
    pub(crate) suite: String,
    /// Target to test; several run side by side, each by a process of its own.
    #[arg(required = true, value_name = "TARGET")]
    pub(crate) targets: Vec<String>,
    /// Size of the scratch file, or of the tested range of another target.
    #[arg(long, value_name = "SIZE", value_parser = parse_size, allow_hyphen_values = true)]
    pub(crate) size: Option<Bytes>,
    /// Check before the runs whether the targets disturb each other, by short loads on each alone and
    /// with the others. A drive that the suite only reads is only read.
    #[arg(long, hide_short_help = true)]
    pub(crate) check_interference: bool,
    /// The result of that check for the target of this process; set by the program itself.
    #[arg(long, hide = true, value_parser = parse_finding)]
    pub(crate) interference_found: Option<Finding>,
    #[command(flatten)]
    pub(crate) replay: ReplayOptions,
    #[command(flatten)]
    pub(crate) options: RunOptions,
}
