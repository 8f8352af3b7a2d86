//! The command line of `quick`.

use super::RunOptions;
use super::values::parse_size;
use clap::{Args, ValueEnum};
use ssdgauge_core::Bytes;

#[derive(Debug, Args)]
pub(crate) struct QuickArguments {
    /// Folder of the scratch file, or any other target.
    #[arg(default_value = ".")]
    pub(crate) target: String,
    /// Test for one kind of work, in place of the common loads: ai (language models that are read from
    /// the drive), database (durable commits) or desktop (everyday work).
    #[arg(long = "for", value_name = "WORK", hide_possible_values = true)]
    pub(crate) work: Option<Work>,
    /// Size of the scratch file, or of the tested range of another target [default: 4GiB].
    // No default for clap: a drive smaller than 4 GiB is accepted unless a size was given.
    #[arg(long, value_name = "SIZE", value_parser = parse_size, allow_hyphen_values = true)]
    pub(crate) size: Option<Bytes>,
    #[command(flatten)]
    pub(crate) options: RunOptions,
}

/// A kind of work.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Work {
    /// Language models that are read from the drive.
    Ai,
    /// Databases: durable commits.
    Database,
    /// Everyday work on a desktop.
    Desktop,
}

impl QuickArguments {
    /// Returns the suite of the work.
    pub(crate) fn suite(&self) -> &'static str {
        match self.work {
            None => "quick",
            Some(Work::Ai) => "quick-ai",
            Some(Work::Database) => "quick-database",
            Some(Work::Desktop) => "quick-desktop",
        }
    }
}
