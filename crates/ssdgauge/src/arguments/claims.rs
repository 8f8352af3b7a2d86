//! The arguments of `ssdgauge claims`.

use clap::Args;
use std::path::PathBuf;

#[derive(Debug, Args)]
pub(crate) struct ClaimsArguments {
    /// Claims to check, such as S2-4; all without any. One or a few are printed with their numbers.
    pub(crate) ids: Vec<String>,
    /// List the claims, and run nothing.
    #[arg(long)]
    pub(crate) list: bool,
    /// Folder of the run files; finished runs in it are used again.
    #[arg(long, value_name = "FOLDER", default_value = "ssdgauge-claims-runs")]
    pub(crate) runs: PathBuf,
    /// Judge by the finished runs of the folder, and carry out no other; claims without them are not run.
    #[arg(long)]
    pub(crate) no_runs: bool,
    /// Try every check on every built-in profile, and print the table as Markdown; missing runs take hours.
    #[arg(long, conflicts_with_all = ["list", "gate", "json", "markdown"])]
    pub(crate) every_profile: bool,
    /// Exit with code 4 if the state of a claim differs from the one in this list of `ID = STATE`.
    #[arg(long, value_name = "FILE")]
    pub(crate) gate: Option<String>,
    /// Print JSON.
    #[arg(long, conflicts_with = "markdown")]
    pub(crate) json: bool,
    /// Print the page of this review as Markdown.
    #[arg(long, value_name = "REVIEW", conflicts_with_all = ["ids", "list"])]
    pub(crate) markdown: Option<String>,
    /// Write the charts of that page as SVG files into this folder; the page links to them below the
    /// last part of its name.
    #[arg(long, value_name = "FOLDER", requires = "markdown", conflicts_with_all = ["ids", "list"])]
    pub(crate) pictures: Option<PathBuf>,
    /// Seed of all random numbers.
    #[arg(long, default_value_t = 1, value_name = "NUMBER", allow_negative_numbers = true)]
    pub(crate) seed: u64,
}
