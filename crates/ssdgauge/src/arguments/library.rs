//! Arguments of the commands on the library: `list`, `show` and `open`.

use super::values::parse_since;
use clap::{Args, ValueEnum};
use std::path::PathBuf;

#[derive(Debug, Args)]
pub(crate) struct ListArguments {
    /// Run files, and folders of them [default: the library].
    #[arg(value_name = "RUN")]
    pub(crate) sources: Vec<PathBuf>,
    /// List only runs of drives with this text in name, serial or label.
    #[arg(long, value_name = "TEXT")]
    pub(crate) drive: Option<String>,
    /// List only runs of this suite.
    #[arg(long, value_name = "SUITE")]
    pub(crate) suite: Option<String>,
    /// List only what ended so: complete, disturbed, unfinished, failed, running or defective; may be repeated.
    #[arg(long, value_name = "OUTCOME", hide_possible_values = true)]
    pub(crate) outcome: Vec<ListedOutcome>,
    /// List only runs since this day (2026-11-20), or of the last days (7d), hours (12h) or weeks (2w).
    #[arg(long, value_name = "TIME", value_parser = parse_since)]
    pub(crate) since: Option<i64>,
    /// Print JSON.
    #[arg(long)]
    pub(crate) json: bool,
}

/// How a listed run ended, or stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ListedOutcome {
    /// It is complete.
    Complete,
    /// It is complete, and something outside of the drive changed most of its results.
    Disturbed,
    /// It is not complete.
    Unfinished,
    /// The drive or the host failed.
    Failed,
    /// A program writes it.
    Running,
    /// The file is damaged, foreign, of a newer format or unreadable.
    Defective,
}

#[derive(Debug, Args)]
pub(crate) struct ShowArguments {
    /// Numbers of runs (`ssdgauge list`), run files or folders [default: the last run of the library].
    #[arg(value_name = "RUN")]
    pub(crate) files: Vec<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct OpenArguments {
    /// Numbers of runs (`ssdgauge list`), run files or folders: each gets its page [default: the last run of the
    /// library].
    #[arg(value_name = "RUN")]
    pub(crate) files: Vec<PathBuf>,
}
