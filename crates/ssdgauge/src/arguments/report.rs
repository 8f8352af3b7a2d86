//! The arguments of `ssdgauge report` and `ssdgauge demo`.

use super::values::{parse_address, parse_percent};
use clap::Args;
use std::path::PathBuf;

/// Notes to copy: the how-to on publishing has them with a photograph.
const NOTES: &str = "\
Notes to start from, in the file of --notes (keys as in TOML, then Markdown):

+++
title = \"A drive for a small office\"
byline = \"NAME, DATE\"
currency = \"EUR\"

[[drive]]
name = \"PART OF ITS NAME\"
price = 89.90
pros = [\"Fast within its cache\"]
cons = [\"No heat spreader\"]
+++
The introduction.

# Conclusion

The last words of the page.";

#[derive(Debug, Default, Args)]
#[command(after_long_help = NOTES)]
pub(crate) struct ReportArguments {
    /// Run files, folders of them, or numbers of the library.
    #[arg(required = true)]
    pub(crate) files: Vec<PathBuf>,
    /// File of the page [default: the name of the first run file, with the suffix .html].
    #[arg(short, long = "out", alias = "output", value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    /// Compare the results with the manufacturer's claims in a spec file; may be repeated.
    #[arg(long = "spec", value_name = "FILE")]
    pub(crate) specifications: Vec<PathBuf>,
    /// Highlight this drive (part of its name, or a run ID).
    #[arg(long, value_name = "DRIVE", hide_short_help = true)]
    pub(crate) highlight: Option<String>,
    /// Rank by the result at this fill level (percent), for tests that sweep it.
    #[arg(long, value_name = "PERCENT", value_parser = parse_percent, hide_short_help = true)]
    pub(crate) fill_level: Option<f64>,
    /// Headline of the page, in place of the generated one.
    #[arg(long, value_name = "TEXT", hide_short_help = true)]
    pub(crate) title: Option<String>,
    /// Compare runs of one drive by their labels (`run --label`).
    #[arg(long, hide_short_help = true)]
    pub(crate) compare_labels: bool,
    /// Compare one run with those of other drives in this folder [default for quick: virtual drives].
    #[arg(long, value_name = "FOLDER")]
    pub(crate) cohort: Option<PathBuf>,
    /// Add an editor's notes: introduction, photographs, prices, pros and cons, conclusion.
    #[arg(long, value_name = "FILE")]
    pub(crate) notes: Option<PathBuf>,
    /// Add a script to the page: dragging enlarges a chart over time, a press sorts the answer.
    #[arg(long, hide_short_help = true)]
    pub(crate) script: bool,
    /// Print one part of the page as an HTML fragment with its styles; ID is an anchor of the page.
    #[arg(long, value_name = "ID", conflicts_with_all = ["json", "csv", "markdown", "openmetrics"], hide_short_help = true)]
    pub(crate) embed: Option<String>,
    /// Write an image of 1,200 by 630 pixels for shared links.
    #[arg(long, value_name = "FILE", hide_short_help = true)]
    pub(crate) share_image: Option<PathBuf>,
    /// Address at which the page will be found, for the preview of shared links; with --share-image, whose file is put
    /// next to the page.
    #[arg(long, value_name = "ADDRESS", value_parser = parse_address, hide_short_help = true)]
    pub(crate) url: Option<String>,
    /// Write every chart as SVG files into this folder, on light and dark ground, and a list of them.
    #[arg(long, value_name = "FOLDER")]
    pub(crate) svg: Option<PathBuf>,
    /// Write every chart as PNG files into this folder, in two sizes on light and dark ground, and a list of them.
    #[arg(long, value_name = "FOLDER")]
    pub(crate) png: Option<PathBuf>,
    /// Read all samples, also those of steps with a recorded digest.
    #[arg(long, hide_short_help = true)]
    pub(crate) recompute: bool,
    /// Print the headlines as OpenMetrics text.
    #[arg(long, conflicts_with_all = ["json", "csv", "markdown"], hide_short_help = true)]
    pub(crate) openmetrics: bool,
    /// Print the results as JSON.
    #[arg(long, conflicts_with_all = ["csv", "markdown"])]
    pub(crate) json: bool,
    /// Print the results as CSV.
    #[arg(long, conflicts_with = "markdown")]
    pub(crate) csv: bool,
    /// Print the results as Markdown.
    #[arg(long)]
    pub(crate) markdown: bool,
}

#[derive(Debug, Args)]
pub(crate) struct DemoArguments {
    /// File of the page; its run files are written into a folder next to it [default:
    /// ssdgauge-demo-TIME.html].
    #[arg(short, long = "out", alias = "output", value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    /// Carry out two whole reviews, of client drives and of servers' drives, each with a page of its own.
    #[arg(long)]
    pub(crate) reviews: bool,
    /// Write a site of the drives too, in a folder next to the page.
    #[arg(long)]
    pub(crate) site: bool,
}
