//! Arguments of `ssdgauge bench`.

use super::ConsentOptions;
use super::values::{parse_block_size, parse_per_second, parse_seconds, parse_size};
use clap::Args;
use ssdgauge_core::Bytes;
use std::path::PathBuf;

#[derive(Debug, Args)]
pub(crate) struct BenchArguments {
    /// Target: `null:`, a folder (a scratch file in it), a block device, or an existing file, which
    /// is only read.
    #[arg(default_value = "null:")]
    pub(crate) target: String,
    /// Requests in flight per thread.
    #[arg(long, default_value_t = 32, value_parser = clap::value_parser!(u32).range(1..=4096))]
    pub(crate) queue_depth: u32,
    /// Number of I/O threads.
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=4096))]
    pub(crate) threads: u32,
    /// Use synchronous threads, one per request in flight, instead of io_uring.
    #[arg(long)]
    pub(crate) synchronous: bool,
    /// Poll for completions (IOPOLL) instead of waiting for interrupts, as `run --polled` does.
    #[arg(long, conflicts_with = "synchronous")]
    pub(crate) polled: bool,
    /// Send the requests as NVMe commands, without the block layer, as `run --pass-through` does.
    #[arg(long, conflicts_with_all = ["synchronous", "polled"])]
    pub(crate) pass_through: bool,
    /// Length of each request.
    #[arg(long, default_value = "4KiB", value_parser = parse_block_size)]
    pub(crate) block_size: Bytes,
    /// Share of reads, in percent.
    #[arg(long, default_value_t = 100, value_parser = clap::value_parser!(u8).range(0..=100))]
    pub(crate) read_percent: u8,
    /// Use ascending offsets instead of random ones.
    #[arg(long)]
    pub(crate) sequential: bool,
    /// Read an existing file through the page cache.
    #[arg(long)]
    pub(crate) cached: bool,
    /// Do not write the target before it is read.
    #[arg(long)]
    pub(crate) no_fill: bool,
    /// Submit this many requests per second at equal intervals (open loop).
    #[arg(long, value_name = "PER_SECOND", value_parser = parse_per_second)]
    pub(crate) rate: Option<f64>,
    /// Submit the requests of --rate at random intervals (Poisson arrivals).
    #[arg(long, requires = "rate")]
    pub(crate) poisson: bool,
    /// Duration of each run, in seconds.
    #[arg(long, default_value_t = 2.0, value_parser = parse_seconds)]
    pub(crate) seconds: f64,
    /// End each run after this many requests.
    #[arg(long, value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) requests: Option<u64>,
    /// Number of runs; with more than one, a warm-up run precedes them.
    #[arg(long, default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..=100))]
    pub(crate) runs: u32,
    /// Size of the scratch file, or of the tested range of another target.
    #[arg(long, default_value = "256MiB", value_parser = parse_size, allow_hyphen_values = true)]
    pub(crate) size: Bytes,
    #[command(flatten)]
    pub(crate) consent: ConsentOptions,
    /// Write a log of all requests.
    #[arg(long, value_name = "FILE")]
    pub(crate) log_ios: Option<PathBuf>,
    /// Print JSON, one line per run.
    #[arg(long)]
    pub(crate) json: bool,
}
