//! Arguments of `ssdgauge config`.

use clap::Args;

#[derive(Debug, Args)]
pub(crate) struct ConfigArguments {
    /// Print JSON.
    #[arg(long)]
    pub(crate) json: bool,
}
