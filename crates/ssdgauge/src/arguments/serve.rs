//! Arguments of `ssdgauge serve`.

use clap::Args;

#[derive(Debug, Args)]
pub(crate) struct ServeArguments {
    /// Virtual drive, such as sim:tlc-client?capacity=16GB.
    pub(crate) target: String,
    /// Listen for NBD clients on this address: unix:PATH, or 127.0.0.1:PORT (port 0 for a free one).
    #[arg(long, value_name = "ADDRESS", required = true)]
    pub(crate) nbd: String,
    /// Keep what clients write in memory, so that reads return it; without it, reads return zeros.
    #[arg(long)]
    pub(crate) keep_data: bool,
    /// End two seconds after the last client has disconnected [default: at Ctrl-C].
    #[arg(long)]
    pub(crate) once: bool,
    /// Seed of all random numbers.
    #[arg(long, default_value_t = 1, value_name = "NUMBER")]
    pub(crate) seed: u64,
    /// Print JSON: a line when the server is ready, and a line at the end.
    #[arg(long)]
    pub(crate) json: bool,
}
