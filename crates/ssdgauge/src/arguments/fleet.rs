//! Arguments of `ssdgauge fleet`.

use clap::{Args, Subcommand};
use std::path::PathBuf;

#[derive(Debug, Args)]
pub(crate) struct FleetArguments {
    #[command(subcommand)]
    pub(crate) action: FleetAction,
}

#[derive(Debug, Subcommand)]
pub(crate) enum FleetAction {
    /// Print how the results of each drive change over its runs, and which drives are slower than the
    /// others of their model and firmware.
    Drift(DriftArguments),
}

#[derive(Debug, Args)]
pub(crate) struct DriftArguments {
    /// Run files, and folders of them.
    #[arg(value_name = "RUN", required = true)]
    pub(crate) sources: Vec<PathBuf>,
    /// Print JSON.
    #[arg(long)]
    pub(crate) json: bool,
}
