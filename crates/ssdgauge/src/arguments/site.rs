//! Arguments of `ssdgauge site` and `ssdgauge submit`.

use clap::Args;
use std::path::PathBuf;

#[derive(Debug, Args)]
pub(crate) struct SiteArguments {
    /// Run files and files of `submit`, and folders of them.
    #[arg(value_name = "RUN", required = true)]
    pub(crate) sources: Vec<PathBuf>,
    /// Folder of the site; what has not changed since the last time stays.
    #[arg(short, long = "out", alias = "output", value_name = "FOLDER")]
    pub(crate) output: PathBuf,
    /// Title of the site.
    #[arg(long, value_name = "TEXT", default_value = "Bench")]
    pub(crate) title: String,
    /// Notes with the prices of drives, as for `report`; nothing else in them is used.
    #[arg(long, value_name = "FILE")]
    pub(crate) notes: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct SubmitArguments {
    /// Run files, and folders of them.
    #[arg(value_name = "RUN", required = true)]
    pub(crate) sources: Vec<PathBuf>,
    /// Folder of the collection, such as the one that `site` reads.
    #[arg(short, long = "out", alias = "output", value_name = "FOLDER")]
    pub(crate) output: PathBuf,
    /// File with a secret of your own, created where it is missing: a keyed hash of the serial number
    /// distinguishes your units.
    #[arg(long, value_name = "FILE")]
    pub(crate) secret: Option<PathBuf>,
    /// Publish the serial number too.
    #[arg(long)]
    pub(crate) serial: bool,
    /// Publish the label of the run too.
    #[arg(long)]
    pub(crate) label: bool,
    /// Write what was shown without a question.
    #[arg(long)]
    pub(crate) yes: bool,
}
