//! The output of fio in JSON (`--output-format=json` and `json+`), as fio 3 writes it (fio, stat.c).

use serde::{Deserialize, Deserializer};
use serde_json::Value;
use std::collections::BTreeMap;

/// The whole output.
#[derive(Debug, Deserialize)]
pub(crate) struct Output {
    #[serde(rename = "fio version")]
    pub(crate) version: String,
    /// The end of the load, in milliseconds since 1970 (UTC).
    #[serde(default)]
    pub(crate) timestamp_ms: i64,
    #[serde(default, rename = "global options", deserialize_with = "options")]
    pub(crate) options: Options,
    #[serde(default)]
    pub(crate) jobs: Vec<Job>,
    /// Results of several machines, which take the place of `jobs`.
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
    #[serde(default, rename = "job options", deserialize_with = "options")]
    pub(crate) options: Options,
    #[serde(default = "Side::absent")]
    pub(crate) read: Side,
    #[serde(default = "Side::absent")]
    pub(crate) write: Side,
    #[serde(default)]
    pub(crate) trim: Option<Side>,
    /// The sum of all directions (`unified_rw_reporting`): instead of them, or in addition to them.
    #[serde(default)]
    pub(crate) mixed: Option<Side>,
    /// Whether the reads are the sum of reads and writes, which cannot be divided.
    #[serde(skip)]
    pub(crate) is_sum: bool,
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
#[derive(Debug, Default, Deserialize)]
pub(crate) struct Latency {
    pub(crate) min: u64,
    pub(crate) max: u64,
    pub(crate) mean: f64,
    /// Not stated by the first versions of fio 3.
    #[serde(default, rename = "N")]
    pub(crate) count: Option<u64>,
    /// The middle of each bin and its count, with `json+` only.
    #[serde(default, deserialize_with = "bins")]
    pub(crate) bins: BTreeMap<u64, u64>,
    /// Each percentile in percent with its value, in ascending order.
    #[serde(default, rename = "percentile", deserialize_with = "percentiles")]
    pub(crate) percentiles: Vec<(f64, u64)>,
}

impl Latency {
    /// Returns the number of latencies, where it or the bins are stated.
    pub(crate) fn counted(&self) -> Option<u64> {
        let of_bins = || self.bins.values().fold(0u64, |sum, n| sum.saturating_add(*n));
        self.count.or_else(|| (!self.bins.is_empty()).then(of_bins))
    }
}

/// Reads options, whose values are texts but for those that other programs rewrote.
fn options<'de, D: Deserializer<'de>>(from: D) -> Result<Options, D::Error> {
    let text = |value: Value| match value {
        Value::String(text) => text,
        Value::Null => String::new(),
        other => other.to_string(),
    };
    let read = Option::<BTreeMap<String, Value>>::deserialize(from)?.unwrap_or_default();
    Ok(read.into_iter().map(|(key, value)| (key, text(value))).collect())
}

/// Reads bins; early versions have constants among them, under names.
fn bins<'de, D: Deserializer<'de>>(from: D) -> Result<BTreeMap<u64, u64>, D::Error> {
    let read = BTreeMap::<String, u64>::deserialize(from)?;
    let bins = read.into_iter().filter(|(key, _)| !key.starts_with("FIO_IO_U_PLAT"));
    let number = |key: String| key.parse().map_err(|_| serde::de::Error::custom("an unknown bin"));
    bins.map(|(key, n)| Ok((number(key)?, n))).collect()
}

/// Reads percentiles; early versions fill the list with percentiles of `0.00`.
fn percentiles<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<(f64, u64)>, D::Error> {
    let read = BTreeMap::<String, u64>::deserialize(from)?;
    let number = |(key, value): (String, u64)| Some((key.trim().parse::<f64>().ok()?, value));
    let mut read: Vec<(f64, u64)> = read.into_iter().filter_map(number).collect();
    read.retain(|(percent, _)| *percent > 0.0 && *percent <= 100.0);
    read.sort_by(|one, other| one.0.total_cmp(&other.0));
    Ok(read)
}
