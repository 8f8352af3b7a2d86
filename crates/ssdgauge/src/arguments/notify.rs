//! The command at the end of a run.

use clap::Args;

#[derive(Clone, Debug, Default, Args)]
pub(crate) struct NotifyOptions {
    /// Call this command by a shell when the run has ended, also where it failed or was stopped; it has
    /// SSDGAUGE_OUTCOME (complete, unfinished or failed), SSDGAUGE_FILE and SSDGAUGE_DRIVE, and 10 s.
    #[arg(long = "notify", value_name = "COMMAND", hide_short_help = true)]
    pub(crate) command: Option<String>,
}
