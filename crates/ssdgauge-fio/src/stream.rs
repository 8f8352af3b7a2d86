//! The stream of a plan that does the work of a job of fio.

use crate::act_plan::ASSUMED_CAPACITY;
use crate::block_sizes;
use crate::import_error::ImportError;
use crate::output::{Job, Options, Output, Side};
use crate::size::parse_size;
use ssdgauge_core::{
    Access, Arrival, BLOCK_SIZES, Bytes, Data, DriveInfo, Operation, Processors, Stream,
};

/// The maximum number of requests in flight and threads that a plan shows.
const MAX_IN_FLIGHT: u64 = 4_096;

/// Returns the stream with the reads and writes of `job` on a target of `capacity`.
pub(crate) fn stream_of(
    job: &Job,
    options: &Options,
    capacity: u64,
) -> Result<Stream, ImportError> {
    let ios = job.read.total_ios + job.write.total_ios;
    let bytes = job.read.io_bytes.saturating_add(job.write.io_bytes);
    if ios == 0 {
        let what = "it completed no read and no write".to_owned();
        return Err(ImportError::unfit(&job.jobname, what));
    }
    let read_percent = match (job.read.total_ios, job.write.total_ios) {
        (_, 0) if job.is_sum => mix_of(options),
        (_, 0) => 100,
        (0, _) => 0,
        (reads, _) => (reads as f64 * 100.0 / ios as f64).round().clamp(1.0, 99.0) as u8,
    };
    let random_percent = random_percent(job, options);
    Ok(Stream { read_percent, ..addressed(job, options, capacity, (ios, bytes), random_percent) })
}

/// Returns the stream with the trims of `job`, which is not its only one where `is_second`.
pub(crate) fn trims_of(
    job: &Job,
    trims: &Side,
    options: &Options,
    capacity: u64,
    is_second: bool,
) -> Stream {
    let name = match is_second {
        true => format!("{} trims", job.jobname),
        false => job.jobname.clone(),
    };
    Stream {
        name,
        operation: Operation::Trim,
        read_percent: 0,
        ..addressed(job, options, capacity, (trims.total_ios, trims.io_bytes), Some(100))
    }
}

/// Returns a stream of `ios` requests with `bytes` as the options of `job` address them: all of the target
/// where they state no size.
fn addressed(
    job: &Job,
    options: &Options,
    capacity: u64,
    (ios, bytes): (u64, u64),
    random_percent: Option<u8>,
) -> Stream {
    let sizes = block_sizes::split(options).unwrap_or_default();
    let block_size = sizes.largest().unwrap_or_else(|| block_size(options, ios, bytes));
    let is_random = order_of(options).is_some_and(|order| order.starts_with("rand"));
    let (access, random_percent) = match (is_random, random_percent) {
        (false, _) | (true, Some(0)) => (Access::Sequential, 100),
        (true, share) => (Access::Random, share.unwrap_or(100)),
    };
    let span = Bytes(stated_size(options, capacity).unwrap_or(capacity).max(block_size.0));
    Stream {
        name: job.jobname.clone(),
        access,
        random_percent,
        block_size,
        sizes,
        queue_depth: count_of(options, "iodepth").unwrap_or(1),
        threads: count_of(options, "numjobs").unwrap_or(1),
        cpus: cpus(options).unwrap_or_default(),
        offset: Bytes(0),
        span,
        arrival: Arrival::Closed,
        data: Data::Incompressible,
        sync: false,
        ..Stream::default()
    }
}

/// Returns the length of each of `ios` requests with `bytes`, exactly where all have one; else their mean, in whole
/// logical blocks as it is not a length of a request.
fn block_size(options: &Options, ios: u64, bytes: u64) -> Bytes {
    let ios = ios.max(1);
    let is_one = bytes > 0 && bytes.is_multiple_of(ios) && !block_sizes::has_several(options);
    let mean = Bytes((bytes / ios).next_multiple_of(512));
    match is_one {
        true => Bytes(bytes / ios),
        false => mean.clamp(*BLOCK_SIZES.start(), *BLOCK_SIZES.end()),
    }
}

/// Returns the capacity of the target in bytes, and what states it: `size`, which the user stated, or the
/// largest range of a job where each states its own. The bytes that a job moved are neither.
pub(crate) fn capacity_of(outputs: &[Output], size: Option<Bytes>) -> (u64, &'static str) {
    let of_job = |output: &Output, job: &Job| {
        let key = |key: &str| job.options.get(key).or_else(|| output.options.get(key));
        key("size").and_then(|size| parse_size(size))
    };
    let jobs = outputs.iter().flat_map(|output| output.jobs.iter().map(move |job| (output, job)));
    let stated: Vec<Option<u64>> = jobs.map(|(output, job)| of_job(output, job)).collect();
    let largest = stated.iter().flatten().copied().max().unwrap_or(0);
    match (size, stated.iter().all(Option::is_some)) {
        (Some(size), _) => (size.0, "--size"),
        (None, true) => (largest, DriveInfo::CAPACITY_OF_SPANS),
        (None, false) => (largest.max(ASSUMED_CAPACITY.0), DriveInfo::CAPACITY_ASSUMED),
    }
}

/// Returns the range that the options of a job state on a target of `capacity`, in bytes: a size, or a share.
fn stated_size(options: &Options, capacity: u64) -> Option<u64> {
    let size = options.get("size")?.trim();
    let share = size.strip_suffix('%').and_then(|share| share.trim().parse::<u8>().ok());
    match share.filter(|share| (1..=100).contains(share)) {
        Some(share) => Some((u128::from(capacity) * u128::from(share) / 100) as u64),
        None => parse_size(size),
    }
}

fn order_of(options: &Options) -> Option<&String> {
    options.get("rw").or_else(|| options.get("readwrite"))
}

/// Returns the option `key` as a number of requests or threads, 1 where it is absent; `None` where a plan does
/// not show it.
pub(crate) fn count_of(options: &Options, key: &str) -> Option<u32> {
    let Some(text) = options.get(key) else { return Some(1) };
    let count = parse_size(text).filter(|count| (1..=MAX_IN_FLIGHT).contains(count))?;
    u32::try_from(count).ok()
}

/// Returns the share of reads that the options of a mix state, in percent: half where they state none.
fn mix_of(options: &Options) -> u8 {
    let share = |key: &str| options.get(key).and_then(|text| text.trim().parse::<u8>().ok());
    let share = share("rwmixread").or(share("rwmixwrite").map(|share| 100 - share.min(100)));
    share.unwrap_or(50).clamp(1, 99)
}

/// Returns the share of the requests of `job` at random places, in percent; `None` where reads and writes
/// have different ones, or fio would not read the number.
pub(crate) fn random_percent(job: &Job, options: &Options) -> Option<u8> {
    let Some(text) = options.get("percentage_random") else { return Some(100) };
    let shares: Option<Vec<u8>> =
        text.split([',', ':']).map(|share| share.trim().parse().ok()).collect();
    let shares = shares.filter(|shares| shares.iter().all(|share| *share <= 100))?;
    // Reads have the first one and writes the second, or the first where there is no other.
    let of_writes = shares.get(1).or(shares.first());
    match (job.read.total_ios, job.write.total_ios) {
        (_, 0) => shares.first().copied(),
        (0, _) => of_writes.copied(),
        (_, _) => shares.first().filter(|share| Some(*share) == of_writes).copied(),
    }
}

/// Returns the processors of the threads of a job; `None` where fio does not give each thread one of them, or
/// would not read the list.
pub(crate) fn cpus(options: &Options) -> Option<Processors> {
    let Some(list) = options.get("cpus_allowed") else { return Some(Processors::default()) };
    let list: Processors = list.parse().ok()?;
    let is_split = options.get("cpus_allowed_policy").is_some_and(|policy| policy == "split");
    (is_split || list.count() == 1).then_some(list)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns order and share of random requests of a job with these requests and options.
    fn order(ios: [u64; 2], rw: &str, percentage: &str) -> (Access, u8, bool) {
        let side = |ios: u64| serde_json::json!({ "total_ios": ios, "io_bytes": ios * 4_096, "runtime": 1 });
        let options = serde_json::json!({ "rw": rw, "percentage_random": percentage });
        let job = serde_json::json!({
            "jobname": "a", "groupid": 0, "error": 0, "job options": options,
            "read": side(ios[0]), "write": side(ios[1]),
        });
        let job: Job = serde_json::from_value(job).expect("a job of fio");
        let stream = stream_of(&job, &job.options, 1 << 30).expect("a stream");
        (stream.access, stream.random_percent, random_percent(&job, &job.options).is_some())
    }

    #[test]
    fn the_share_of_random_requests_is_that_of_the_directions_that_the_job_has() {
        assert_eq!(order([9, 9], "randrw", "30"), (Access::Random, 30, true));
        assert_eq!(order([9, 0], "randread", "30,40"), (Access::Random, 30, true));
        assert_eq!(order([0, 9], "randwrite", "30,40,50"), (Access::Random, 40, true));
        assert_eq!(order([9, 9], "randrw", "30,30,50"), (Access::Random, 30, true));
        assert_eq!(order([9, 0], "randread", "0"), (Access::Sequential, 100, true));
        assert_eq!(order([9, 0], "read", "30"), (Access::Sequential, 100, true));
        // What the plan does not express is named in a finding.
        assert_eq!(order([9, 9], "randrw", "30,40"), (Access::Random, 100, false));
        assert_eq!(order([9, 9], "randrw", "many"), (Access::Random, 100, false));
    }

    #[test]
    fn processors_are_those_of_a_job_that_gives_each_thread_one() {
        let of = |pairs: &[(&str, &str)]| {
            let pairs = pairs.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned()));
            cpus(&pairs.collect()).map(|cpus| cpus.to_string())
        };
        assert_eq!(of(&[]), Some(String::new()));
        let policy = ("cpus_allowed_policy", "split");
        assert_eq!(of(&[("cpus_allowed", "0-1,4"), policy]), Some("0-1,4".to_owned()));
        assert_eq!(of(&[("cpus_allowed", "4")]), Some("4".to_owned()));
        // The threads share them.
        assert_eq!(of(&[("cpus_allowed", "0-1")]), None);
        assert_eq!(of(&[("cpus_allowed", "all"), policy]), None);
    }
}
