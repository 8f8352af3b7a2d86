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
    /// Write one page of many drives, which leads with those that stand out.
    Page(FleetPageArguments),
}

#[derive(Debug, Args)]
pub(crate) struct FleetPageArguments {
    /// Run files, and folders of them.
    #[arg(value_name = "RUN", required = true)]
    pub(crate) sources: Vec<PathBuf>,
    /// File of the page of all drives.
    #[arg(short, long = "out", alias = "output", value_name = "FILE")]
    pub(crate) output: PathBuf,
    /// Write the page of each drive too, next to its run file, with the suffix .html.
    #[arg(long)]
    pub(crate) pages: bool,
    /// State run files that are named and do not exist on the page, with the last error in the log next to
    /// them (suffix .log).
    #[arg(long)]
    pub(crate) expected: bool,
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
