//! Arguments of `ssdgauge xray`.

use super::values::parse_size;
use super::{ConsentOptions, NotifyOptions};
use clap::Args;
use ssdgauge_core::{Bytes, Nanos};
use std::path::PathBuf;

#[derive(Debug, Args)]
pub(crate) struct XrayArguments {
    /// Drive whose internal structures are inferred; without --gentle all data on it is lost.
    #[arg(required_unless_present_any = ["compare", "from"])]
    pub(crate) target: Option<String>,
    /// Compare two earlier X-rays, run files or cards as JSON, and do nothing else.
    #[arg(
        long,
        num_args = 2,
        value_names = ["CARD", "CARD"],
        conflicts_with_all = [
            "target", "from", "gentle", "steady", "only", "size", "plan", "out", "spec", "wait", "picture"
        ], hide_short_help = true)]
    pub(crate) compare: Option<Vec<PathBuf>>,
    /// Show the card of an earlier X-ray, a run file or a card as JSON, and do nothing else.
    #[arg(
        long,
        value_name = "CARD",
        conflicts_with_all = [
            "target", "gentle", "steady", "only", "size", "plan", "out", "wait", "json"
        ]
    )]
    pub(crate) from: Option<PathBuf>,
    /// Page with a cross-section of the drive, each value and the series that it was inferred from.
    #[arg(long, value_name = "FILE", conflicts_with = "plan")]
    pub(crate) page: Option<PathBuf>,
    /// Image of the cross-section, .svg or .png.
    #[arg(long, value_name = "FILE", conflicts_with = "plan", hide_short_help = true)]
    pub(crate) picture: Option<PathBuf>,
    /// Judge the data-sheet claims in this spec file by the card.
    #[arg(long, value_name = "FILE")]
    pub(crate) spec: Option<PathBuf>,
    /// Only read; needs no confirmation, and identifies fewer structures.
    #[arg(long)]
    pub(crate) gentle: bool,
    /// Bring the drive to the steady state of random writes as well, which takes up to seven drive writes and several
    /// hours; for effective-spare and separation.
    #[arg(long, conflicts_with = "gentle", hide_short_help = true)]
    pub(crate) steady: bool,
    /// Infer only these structures and what they need, such as cache,folding; the spare area is measured only where it is
    /// named.
    #[arg(long, value_name = "STRUCTURE", value_delimiter = ',')]
    pub(crate) only: Vec<String>,
    /// Size of the scratch file, where the target is a folder [default: 4GiB].
    #[arg(long, value_name = "SIZE", value_parser = parse_size, allow_hyphen_values = true, hide_short_help = true)]
    pub(crate) size: Option<Bytes>,
    /// Print what would be written and how long it takes; nothing is written.
    #[arg(long)]
    pub(crate) plan: bool,
    /// Run file with the answers of the drive, for `report`, `resume` and --from [default: xray-TIME.ssdg].
    #[arg(short, long, alias = "output", value_name = "FILE")]
    pub(crate) out: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) consent: ConsentOptions,
    #[command(flatten)]
    pub(crate) notify: NotifyOptions,
    /// Wait up to this time while another run uses the drive, such as 2h.
    #[arg(long, value_name = "TIME", hide_short_help = true)]
    pub(crate) wait: Option<Nanos>,
    /// Seed of all random numbers.
    #[arg(
        long,
        default_value_t = 1,
        value_name = "NUMBER",
        allow_negative_numbers = true,
        hide_short_help = true
    )]
    pub(crate) seed: u64,
    /// Print the card as JSON.
    #[arg(long)]
    pub(crate) json: bool,
}
