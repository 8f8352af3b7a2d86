//! Arguments of `ssdgauge crosscheck`.

use super::ConsentOptions;
use clap::Args;
use ssdgauge_core::Nanos;
use std::path::PathBuf;

#[derive(Debug, Args)]
pub(crate) struct CrosscheckArguments {
    /// Run file whose finished steps are checked, on the target of the run.
    pub(crate) file: PathBuf,
    /// Check this step: its number in the run file, TEST, or TEST/LABEL; may be repeated [default: all
    /// measured steps].
    #[arg(long = "step", value_name = "ID")]
    pub(crate) steps: Vec<String>,
    /// Check steps that write as well. A drive has to be confirmed for every check.
    #[arg(long)]
    pub(crate) writes: bool,
    /// Repetitions by each program, in turn.
    #[arg(long, default_value_t = 3, value_name = "N", value_parser = clap::value_parser!(u32).range(3..=100), hide_short_help = true)]
    pub(crate) turns: u32,
    /// Longest time of each repetition, such as 5min.
    #[arg(long, default_value = "30s", value_name = "TIME")]
    pub(crate) time: Nanos,
    /// The program fio, of version 3.
    #[arg(long, default_value = "fio", value_name = "PROGRAM", hide_short_help = true)]
    pub(crate) fio: PathBuf,
    #[command(flatten)]
    pub(crate) consent: ConsentOptions,
    /// Print JSON.
    #[arg(long)]
    pub(crate) json: bool,
}
