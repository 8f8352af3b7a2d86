//! Arguments of `ssdgauge trace`.

use clap::{Args, Subcommand};
use ssdgauge_trace::Format;
use std::path::{Path, PathBuf};

#[derive(Debug, Args)]
pub(crate) struct TraceArguments {
    #[command(subcommand)]
    pub(crate) action: TraceAction,
}

#[derive(Debug, Subcommand)]
pub(crate) enum TraceAction {
    /// Print what a trace holds: requests, sizes, rates, depth, working set, idle times.
    Info(TraceInfoArguments),
    /// Write a trace in the packed form, which is read faster and takes 16 to 24 bytes a request.
    Convert(TraceConvertArguments),
}

#[derive(Debug, Args)]
pub(crate) struct TraceInfoArguments {
    /// Trace in any known format.
    pub(crate) file: PathBuf,
    /// Format of the trace: fio-iolog, blkparse, blktrace, msr, alibaba, tencent, systor, mqsim,
    /// cloudphysics, vscsi, vscsi-csv, request-log or packed [default: recognised by the content].
    #[arg(long, value_name = "NAME")]
    pub(crate) format: Option<Format>,
    /// Print JSON.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct TraceConvertArguments {
    /// Trace in any known format.
    pub(crate) file: PathBuf,
    /// File that is written; -o FILE names it as well.
    #[arg(required_unless_present = "named")]
    out: Option<PathBuf>,
    /// File that is written.
    #[arg(short, long = "out", alias = "output", value_name = "FILE", conflicts_with = "out")]
    named: Option<PathBuf>,
    /// Format of the trace, as for `trace info` [default: recognised by the content].
    #[arg(long, value_name = "NAME")]
    pub(crate) format: Option<Format>,
}

impl TraceConvertArguments {
    /// Returns the file that is written.
    pub(crate) fn out(&self) -> &Path {
        let out = self.out.as_deref().or(self.named.as_deref());
        out.expect("one of both is required")
    }
}
