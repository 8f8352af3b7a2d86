//! Arguments of `ssdgauge prove`.

use super::values::parse_size;
use super::{ConsentOptions, NotifyOptions};
use clap::Args;
use ssdgauge_core::{Bytes, Nanos};
use std::path::PathBuf;

#[derive(Debug, Args)]
pub(crate) struct ProveArguments {
    /// Drive to prove; all data on it is lost. With --read also an image of it.
    pub(crate) target: String,
    /// Write about an eighth of the drive at most, spread over all addresses.
    #[arg(long)]
    pub(crate) quick: bool,
    /// Write every block but the first; the default.
    #[arg(long, conflicts_with = "quick")]
    pub(crate) full: bool,
    /// Write nothing: read what the proof in this run file wrote, and list what is kept, lost, torn,
    /// stale and misplaced.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["quick", "full", "out", "confirm", "erase", "confined", "max_writes", "size"])]
    pub(crate) read: Option<PathBuf>,
    /// Size of the scratch file, where the target is a folder [default: 4GiB].
    #[arg(long, value_name = "SIZE", value_parser = parse_size, allow_hyphen_values = true)]
    pub(crate) size: Option<Bytes>,
    /// Run file with the evidence [default: prove-TIME.ssdg].
    #[arg(short, long, alias = "output", value_name = "FILE")]
    pub(crate) out: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) consent: ConsentOptions,
    #[command(flatten)]
    pub(crate) notify: NotifyOptions,
    /// Wait up to this time while another run uses the drive, such as 2h.
    #[arg(long, value_name = "TIME")]
    pub(crate) wait: Option<Nanos>,
    /// Print the result as JSON.
    #[arg(long)]
    pub(crate) json: bool,
}
