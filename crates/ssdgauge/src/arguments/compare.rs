//! The arguments of `ssdgauge compare`.

use super::values::parse_percent;
use clap::Args;
use std::path::PathBuf;

#[derive(Debug, Args)]
pub(crate) struct CompareArguments {
    /// The reference and the run that is compared with it: run files, numbers of the library, or a folder with both.
    #[arg(value_name = "RUN", required_unless_present = "last")]
    pub(crate) files: Vec<PathBuf>,
    /// Compare the last complete run of the library with the one of its suite before: --last 2.
    #[arg(long, value_name = "N", conflicts_with = "files")]
    pub(crate) last: Option<usize>,
    /// Exit with code 4 if the second run is worse by more than this percentage, and with 75 if the
    /// intervals are too wide to tell.
    #[arg(long, value_name = "PERCENT", value_parser = parse_percent)]
    pub(crate) threshold: Option<f64>,
    /// Largest difference within which results are equal, in percent: the noise between runs.
    #[arg(long, value_name = "PERCENT", default_value_t = 3.0, value_parser = parse_percent, hide_short_help = true)]
    pub(crate) noise: f64,
    /// Folder with earlier runs of the drive under the same suite: a difference is significant where it is
    /// larger than the changes between them, in place of --noise.
    #[arg(long, value_name = "FOLDER", conflicts_with = "noise")]
    pub(crate) history: Option<PathBuf>,
    /// Compare runs of one drive with different firmware.
    #[arg(long, hide_short_help = true)]
    pub(crate) any_firmware: bool,
    /// Print JSON.
    #[arg(long, conflicts_with_all = ["markdown", "junit"])]
    pub(crate) json: bool,
    /// Print Markdown.
    #[arg(long, conflicts_with = "junit")]
    pub(crate) markdown: bool,
    /// Print JUnit XML.
    #[arg(long, hide_short_help = true)]
    pub(crate) junit: bool,
}
