//! The arguments of `ssdgauge twin`.

use clap::Args;
use std::path::PathBuf;

#[derive(Debug, Args)]
pub(crate) struct TwinArguments {
    /// Runs of one drive in full length: run files, numbers of the library or a folder; with --ask its twin.
    #[arg(value_name = "RUN", required_unless_present = "plan")]
    pub(crate) files: Vec<PathBuf>,
    /// Card of an X-ray of the drive, a run file or JSON, at which the fit begins.
    #[arg(long, value_name = "CARD", conflicts_with = "ask")]
    pub(crate) card: Option<PathBuf>,
    /// Profile to write, such as drive.toml; `run SUITE sim:drive.toml` tests it.
    #[arg(short, long, alias = "output", value_name = "FILE", required_unless_present_any = ["ask", "plan"])]
    pub(crate) out: Option<PathBuf>,
    /// Predict this load, such as "4 KiB random, 70 % read, 20000/s, 60 % full", by the twin that is named.
    #[arg(long, value_name = "LOAD", conflicts_with = "out")]
    pub(crate) ask: Option<String>,
    /// List the runs that an answer for this load needs, with their time, less those of the RUNs or the twin that are named.
    #[arg(long, value_name = "LOAD", conflicts_with_all = ["ask", "out", "card"])]
    pub(crate) plan: Option<String>,
    /// Print JSON.
    #[arg(long)]
    pub(crate) json: bool,
}
