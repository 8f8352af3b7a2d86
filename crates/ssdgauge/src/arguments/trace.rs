//! Arguments of `ssdgauge trace`.

use clap::{Args, Subcommand};
use ssdgauge_trace::Format;
use std::path::PathBuf;

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
    /// File that is written.
    pub(crate) out: PathBuf,
    /// Format of the trace, as for `trace info` [default: recognised by the content].
    #[arg(long, value_name = "NAME")]
    pub(crate) format: Option<Format>,
}
