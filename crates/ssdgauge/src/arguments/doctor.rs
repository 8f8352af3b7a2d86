//! Arguments of `ssdgauge doctor`.

use super::PowerOptions;
use clap::Args;

#[derive(Debug, Args)]
pub(crate) struct DoctorArguments {
    /// Target of the run: a folder, a block device, sim:PROFILE; without it, the machine and one line for
    /// each drive.
    pub(crate) target: Option<String>,
    #[command(flatten)]
    pub(crate) power: PowerOptions,
    /// Print JSON.
    #[arg(long)]
    pub(crate) json: bool,
}
