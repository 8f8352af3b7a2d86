//! `report --json`: the measured steps of a test.

use super::parts::Interval;
use serde::Serialize;
use std::collections::BTreeMap;

/// A measured step.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct Step {
    /// Its label.
    pub(crate) label: String,
    /// The value of the swept key, such as the queue depth.
    pub(crate) position: f64,
    /// Its time.
    pub(crate) elapsed_ns: u64,
    /// Its full seconds.
    pub(crate) full_seconds: usize,
    /// Its requests.
    pub(crate) ios: u64,
    /// Their bytes.
    pub(crate) bytes: u64,
    /// Requests that failed.
    pub(crate) errors: u64,
    /// What ended it.
    pub(crate) ended_by: String,
    /// Where its writes lie: `inside`, `crossing`, `beyond` or `unknown`.
    pub(crate) cache: Option<&'static str>,
    /// The levels of a step that changes in its middle.
    pub(crate) levels: Option<Levels>,
    /// The falls of its write speed.
    pub(crate) write_speed_falls: Vec<SpeedFall>,
    /// The first fall of an ordered write, where the cache caused it.
    pub(crate) cache_end: Option<CacheEnd>,
    /// The numbers of each of several streams.
    pub(crate) streams: Vec<Stream>,
    /// The percentiles of an import without histograms.
    pub(crate) stated_percentiles: Vec<StatedPercentile>,
    /// The generator of each stream with a rate.
    pub(crate) open_loop: Vec<OpenLoop>,
    /// The use of the device by counters of the kernel.
    pub(crate) kernel: Option<Kernel>,
    /// The flush after the step.
    pub(crate) flush: Option<Flush>,
    /// What the drive wrote to its media.
    pub(crate) media_writes: Option<MediaWrites>,
    /// The requests of latencies without direction: `reads`, `writes`, `reads and writes` or `flushes`
    /// (definition D30).
    pub(crate) latency_of: Option<String>,
    /// Each number by its key: `read_`, `write_`, `flush_` and `trim_` separate directions that the
    /// workload has.
    pub(crate) metrics: BTreeMap<String, Option<f64>>,
    /// The 95 % intervals by the same keys; absent for a number without one.
    pub(crate) intervals: BTreeMap<String, Interval>,
    /// Numbers over all seconds by the same keys, where they differ.
    pub(crate) protocol: BTreeMap<String, f64>,
}

/// Two levels of a step.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct Levels {
    /// The key of the metric.
    pub(crate) metric: &'static str,
    /// The mean before the change.
    pub(crate) before: f64,
    /// The mean after it.
    pub(crate) after: f64,
    /// The bytes before the change.
    pub(crate) bytes: u64,
    /// The smallest amount, at 95 %.
    pub(crate) bytes_low: u64,
    /// The largest amount.
    pub(crate) bytes_high: u64,
}

/// A fall of the write speed.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct SpeedFall {
    /// The bytes from the start of the step.
    pub(crate) bytes: u64,
    /// The uncertainty, to either side.
    pub(crate) uncertainty_bytes: u64,
    /// The mean before it.
    pub(crate) before_mb_s: f64,
    /// Its 95 % interval; null below 12 seconds.
    pub(crate) before_interval_mb_s: Option<[f64; 2]>,
    /// Whether the fall is within the first seconds.
    pub(crate) before_is_lower_bound: bool,
    /// The mean after it.
    pub(crate) after_mb_s: f64,
    /// Its 95 % interval.
    pub(crate) after_interval_mb_s: Option<[f64; 2]>,
    /// After ÷ before.
    pub(crate) left_percent: f64,
    /// `cache`, `heat`, `spare-area`, `give-back` or `unknown`.
    pub(crate) cause: &'static str,
}

/// The end of the cache.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct CacheEnd {
    /// The bytes written until then.
    pub(crate) bytes: u64,
    /// The uncertainty, to either side.
    pub(crate) uncertainty_bytes: u64,
    /// The mean before it.
    pub(crate) before_mb_s: f64,
    /// Whether it is within the first seconds.
    pub(crate) before_is_lower_bound: bool,
    /// The mean after it, without the second of the change.
    pub(crate) behind_mb_s: f64,
    /// After ÷ before.
    pub(crate) left_percent: f64,
}

/// The numbers of one of several streams.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct Stream {
    /// Its name.
    pub(crate) name: String,
    /// Its requests.
    pub(crate) ios: u64,
    /// Their bytes.
    pub(crate) bytes: u64,
    /// Requests that failed.
    pub(crate) errors: u64,
    /// Each number by its key, with the direction before it.
    pub(crate) metrics: BTreeMap<String, f64>,
}

/// A percentile that another program stated.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct StatedPercentile {
    /// The number of the stream, from 0.
    pub(crate) stream: usize,
    /// The direction.
    pub(crate) direction: &'static str,
    /// The percentile.
    pub(crate) percent: f64,
    /// Its latency.
    pub(crate) lat_ns: u64,
}

/// The generator of a stream with a rate. Latencies of the step count from the due time.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct OpenLoop {
    /// The stream.
    pub(crate) stream: String,
    /// The requested rate.
    pub(crate) asked_per_second: f64,
    /// The sent rate.
    pub(crate) sent_per_second: f64,
    /// Maximum number of requests in flight.
    pub(crate) slots: u32,
    /// Requests that were due and not sent.
    pub(crate) unsent: u64,
    /// Requests sent late because no slot was free.
    pub(crate) withheld: u64,
    /// Their bytes.
    pub(crate) withheld_bytes: u64,
    /// Limit of the protocol for requests in flight; null for none.
    pub(crate) in_flight_at_most: Option<u32>,
    /// The longest time from the due time to a withheld request.
    pub(crate) withheld_max_us: Option<f64>,
    /// The time from the due time to the submission, median.
    pub(crate) lateness_p50_us: Option<f64>,
    /// The same, 90th percentile.
    pub(crate) lateness_p90_us: Option<f64>,
    /// 99th percentile.
    pub(crate) lateness_p99_us: Option<f64>,
    /// 99.9th percentile.
    pub(crate) lateness_p999_us: Option<f64>,
    /// Maximum.
    pub(crate) lateness_max_us: Option<f64>,
    /// The latency from the submission, mean.
    pub(crate) service_mean_us: Option<f64>,
    /// 99th percentile.
    pub(crate) service_p99_us: Option<f64>,
    /// 99.9th percentile.
    pub(crate) service_p999_us: Option<f64>,
    /// Maximum.
    pub(crate) service_max_us: Option<f64>,
    /// The shares above 1, 8 and 64 ms.
    pub(crate) service_above: [f64; 3],
    /// The time of a replay without a request in flight before requests of this stream; absent without
    /// one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) idle_s: Option<f64>,
    /// The latencies from the submission: the lowest nanoseconds of each bucket, and its count.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) service_histogram: Vec<(u64, u64)>,
}

/// The use of the device by counters of the kernel.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct Kernel {
    /// The device that counts.
    pub(crate) device: String,
    /// Requests that it completed, after the kernel split and merged them.
    pub(crate) requests: u64,
    /// Mean requests in the device.
    pub(crate) in_flight: f64,
    /// Mean time of a request in the device.
    pub(crate) time_mean_us: f64,
}

/// A flush.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct Flush {
    /// Flushes requested from the kernel.
    pub(crate) sent: u64,
    /// The time until the last one completed.
    pub(crate) elapsed_us: f64,
    /// The device that counts flushes.
    pub(crate) device: Option<String>,
    /// Those that it completed meanwhile.
    pub(crate) counted: Option<u64>,
}

/// What a drive wrote to its media, and hosts to the drive.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct MediaWrites {
    /// The log page or the attributes that counted.
    pub(crate) source: String,
    /// `bytes`, or `pages` of a size that the drive does not report.
    pub(crate) unit: &'static str,
    /// Written to the media.
    pub(crate) media: f64,
    /// The granule of that counter.
    pub(crate) media_granule: f64,
    /// Written by hosts.
    pub(crate) host: f64,
    /// The granule of that counter.
    pub(crate) host_granule: f64,
    /// Media ÷ hosts.
    pub(crate) write_amplification: Option<Amplification>,
    /// Why it is not stated.
    pub(crate) not_stated: Option<String>,
}

/// A write amplification with the bounds of its granules.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct Amplification {
    /// The quotient.
    pub(crate) value: f64,
    /// The lower bound.
    pub(crate) low: f64,
    /// The upper bound.
    pub(crate) high: f64,
}
