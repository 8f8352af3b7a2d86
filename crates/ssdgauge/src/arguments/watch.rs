//! Arguments of `ssdgauge watch`.

use super::values::parse_loopback;
use clap::Args;
use ssdgauge_core::Nanos;
use std::net::SocketAddr;
use std::path::PathBuf;

#[derive(Debug, Args)]
pub(crate) struct WatchArguments {
    /// Run files, folders or numbers, of runs in progress or ended; they are never locked [default: what runs in the
    /// library].
    #[arg(value_name = "RUN")]
    pub(crate) files: Vec<PathBuf>,
    /// Print one JSON object per line: each step, second and finding from the start of the run on,
    /// and its end.
    #[arg(long)]
    pub(crate) jsonl: bool,
    /// Serve metrics of the runs, as OpenMetrics or Prometheus text, at http://ADDRESS/metrics, on an
    /// address of the loopback interface such as 127.0.0.1:9184; port 0 is a free one.
    #[arg(long, value_name = "ADDRESS", value_parser = parse_loopback)]
    pub(crate) openmetrics: Option<SocketAddr>,
    /// Keep the page of the run in this file up to date, on another drive than the tested one. A new state appears every
    /// 5 s, or less often where that would take more than 1 % of a processor; at the end it is the report.
    #[arg(long, value_name = "FILE")]
    pub(crate) page: Option<PathBuf>,
    /// Wait up to this time for the run files to appear and to be readable, such as 1min.
    #[arg(long, value_name = "TIME")]
    pub(crate) wait: Option<Nanos>,
}
