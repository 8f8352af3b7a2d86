//! The output of fio in JSON (`--output-format=json+`), as fio 3 writes it (fio, stat.c).

use serde::Deserialize;
use std::collections::BTreeMap;

/// The whole output.
#[derive(Debug, Deserialize)]
pub(crate) struct Output {
    #[serde(rename = "fio version")]
    pub(crate) version: String,
    /// The end of the load, in milliseconds since 1970 (UTC).
    #[serde(default)]
    pub(crate) timestamp_ms: i64,
    #[serde(default, rename = "global options")]
    pub(crate) options: Options,
    #[serde(default)]
    pub(crate) jobs: Vec<Job>,
    /// Results of several machines, which stand in place of `jobs`.
    #[serde(default)]
    pub(crate) client_stats: Vec<serde::de::IgnoredAny>,
}

/// Options of a job by their names, as they were written.
pub(crate) type Options = BTreeMap<String, String>;

/// One job, or several that fio reports together.
#[derive(Debug, Deserialize)]
pub(crate) struct Job {
    pub(crate) jobname: String,
    /// Jobs of one group ran at the same time.
    #[serde(default)]
    pub(crate) groupid: u32,
    /// The error that ended the job; 0 for none.
    #[serde(default)]
    pub(crate) error: i64,
    /// Seconds since the begin of the run.
    #[serde(default)]
    pub(crate) elapsed: u64,
    /// Requests that failed while the job continued.
    #[serde(default)]
    pub(crate) total_err: u64,
    #[serde(default, rename = "job options")]
    pub(crate) options: Options,
    #[serde(default = "Side::absent")]
    pub(crate) read: Side,
    #[serde(default = "Side::absent")]
    pub(crate) write: Side,
    #[serde(default)]
    pub(crate) trim: Option<Side>,
    /// The sum of all directions (`unified_rw_reporting`): in their place, or beside them.
    #[serde(default)]
    pub(crate) mixed: Option<Side>,
}

/// The requests of a job in one direction.
#[derive(Debug, Default, Deserialize)]
pub(crate) struct Side {
    pub(crate) io_bytes: u64,
    /// Milliseconds.
    pub(crate) runtime: u64,
    pub(crate) total_ios: u64,
    /// From the submission to the completion.
    #[serde(default)]
    pub(crate) clat_ns: Option<Latency>,
    /// From the creation of the request in fio to its completion.
    #[serde(default)]
    pub(crate) lat_ns: Option<Latency>,
    /// Whether the job has no such direction in its output.
    #[serde(skip)]
    pub(crate) is_absent: bool,
}

impl Side {
    fn absent() -> Side {
        Side { is_absent: true, ..Side::default() }
    }
}

/// Latencies in nanoseconds.
#[derive(Debug, Deserialize)]
pub(crate) struct Latency {
    pub(crate) min: u64,
    pub(crate) max: u64,
    pub(crate) mean: f64,
    #[serde(default, rename = "N")]
    pub(crate) count: u64,
    /// The middle of each bin and its count, with `json+` alone.
    #[serde(default)]
    pub(crate) bins: Option<BTreeMap<u64, u64>>,
}
