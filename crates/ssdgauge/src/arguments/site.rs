//! Arguments of `ssdgauge site`.

use clap::Args;
use std::path::PathBuf;

#[derive(Debug, Args)]
pub(crate) struct SiteArguments {
    /// Run files, and folders of them.
    #[arg(value_name = "RUN", required = true)]
    pub(crate) sources: Vec<PathBuf>,
    /// Folder of the site; what has not changed since the last time stays.
    #[arg(short, long = "out", alias = "output", value_name = "FOLDER")]
    pub(crate) output: PathBuf,
    /// Title of the site.
    #[arg(long, value_name = "TEXT", default_value = "Bench")]
    pub(crate) title: String,
}
