//! A recording sink, short forms of workloads and limits, and random profiles.

use ssdgauge_core::{
    Access, Arrival, Bytes, Data, Direction, Engine, Finding, Interval, Nanos, Random, Reading,
    Sink, Stream, Until, Workload,
};

/// The keys of a drive whose pages are equal, so that a test can compute single latencies.
pub(crate) const EQUAL_PAGES: &str = "&effects.page_type_ratio=0&effects.read_spread=0";

/// Records everything that a rig emits.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Recording {
    pub(crate) intervals: Vec<Interval>,
    pub(crate) readings: Vec<Reading>,
    pub(crate) findings: Vec<Finding>,
    /// Requests a stop at this poll; never if 0.
    pub(crate) stop_after: u32,
    pub(crate) polls: u32,
    /// Intervals are counted, not recorded: for long runs.
    pub(crate) brief: bool,
    /// Writes of each whole second.
    pub(crate) writes: Vec<u64>,
    /// Requests of each stream, reads and writes together.
    pub(crate) counted: Vec<u64>,
    /// Latencies of all requests in nanoseconds, added up.
    pub(crate) latency_sum: u128,
}

impl Sink for Recording {
    fn interval(&mut self, interval: &Interval) {
        let stream = usize::from(interval.stream);
        self.counted.resize(self.counted.len().max(stream + 1), 0);
        self.counted[stream] += interval.ios;
        self.latency_sum += interval.latency.sum();
        if interval.direction == Direction::Write && interval.length == Nanos::SECOND {
            self.writes.push(interval.ios);
        }
        if !self.brief {
            self.intervals.push(interval.clone());
        }
    }
    fn reading(&mut self, reading: &Reading) {
        self.readings.push(reading.clone());
    }
    fn finding(&mut self, finding: Finding) {
        self.findings.push(finding);
    }
    fn announce(&mut self, finding: Finding) -> bool {
        self.findings.push(finding);
        true
    }
    fn stop(&mut self) -> bool {
        self.polls += 1;
        self.stop_after > 0 && self.polls >= self.stop_after
    }
}

impl Recording {
    /// Returns a sink for long runs, which counts intervals and records readings.
    pub(crate) fn brief() -> Recording {
        Recording { brief: true, ..Recording::default() }
    }

    /// Returns all values of `quantity` in order.
    pub(crate) fn values(&self, quantity: &str) -> Vec<f64> {
        self.readings.iter().filter(|r| r.quantity == quantity).map(|r| r.value).collect()
    }

    /// Returns the last value of `quantity`.
    pub(crate) fn last(&self, quantity: &str) -> Option<f64> {
        self.values(quantity).last().copied()
    }

    /// Returns the requests that completed.
    pub(crate) fn ios(&self) -> u64 {
        self.counted.iter().sum()
    }

    /// Returns the requests of `direction` that completed, for each second.
    pub(crate) fn rates(&self, direction: Direction) -> Vec<u64> {
        self.intervals.iter().filter(|i| i.direction == direction).map(|i| i.ios).collect()
    }
}

/// Returns a stream over the first `span` bytes.
pub(crate) fn stream(
    access: Access,
    block: u64,
    read_percent: u8,
    depth: u32,
    span: Bytes,
) -> Stream {
    Stream {
        name: "main".into(),
        access,
        block_size: Bytes(block),
        read_percent,
        queue_depth: depth,
        threads: 1,
        offset: Bytes(0),
        span,
        arrival: Arrival::Closed,
        data: Data::Incompressible,
        sync: false,
        ..Stream::default()
    }
}

/// Returns the workload of one stream.
pub(crate) fn workload(stream: Stream) -> Workload {
    Workload { engine: Engine::IoUring, streams: vec![stream] }
}

/// Returns a limit of time.
pub(crate) fn seconds(seconds: u64) -> Until {
    Until { time: Some(Nanos::from_secs(seconds)), bytes: None }
}

/// Returns a limit of bytes.
pub(crate) fn bytes(bytes: u64) -> Until {
    Until { time: None, bytes: Some(Bytes(bytes)) }
}

/// Returns the TOML text of a small random drive with many superblocks and without an SLC cache.
pub(crate) fn random_profile(seed: u64) -> String {
    // Greedy collection beats the formula where superblocks are small; from 1,536 pages on by less
    // than 0.5 %.
    random_profile_of(seed, 1_536, 260)
}

/// Returns the TOML text of a random drive with `superblocks` or up to 140 more, each of
/// `superblock_pages` or up to a row of all dies more.
pub(crate) fn random_profile_of(seed: u64, superblock_pages: u32, superblocks: u32) -> String {
    let mut random = Random::new(seed, 0x9f0);
    let mut pick = |from: &[u32]| from[random.below(from.len() as u64) as usize];
    let dies = pick(&[1, 2, 3, 4, 8]);
    let channels = pick(&[1, 2, 4]);
    let bits = pick(&[1, 2, 3, 4]);
    // Whole pages also in SLC mode.
    let program_kib = 4 * bits * pick(&[1, 2, 4, 8]);
    let page_kib = pick(&[4, 8, 16]);
    let reserve = pick(&[2, 3, 4, 8]);
    let suspend = pick(&[0, 1]) == 1;
    let superblocks = superblocks + pick(&[0, 20, 50, 100, 140]);
    let policy = ["greedy", "fifo"][pick(&[0, 1]) as usize];
    let t_prog = pick(&[100, 200, 700, 2_000]);
    let t_r = pick(&[3, 30, 60, 90]);
    let t_bers = pick(&[0, 2_000, 6_000]);
    let buffer_kib = 3 * program_kib * pick(&[1, 2, 8, 32]);
    let command_us = pick(&[1, 3, 9]);
    let over_provisioning = 0.07 + 0.21 * random.unit();
    let row = dies * program_kib / 4;
    let rows = superblock_pages.div_ceil(row);
    let block_mib = f64::from(rows * program_kib) / 1_024.0;
    let pages = f64::from(superblocks * rows * row);
    let data = f64::from((superblocks - reserve - 1) * rows * row) / (1.0 + over_provisioning);
    let (raw, capacity) = (pages * 4_096.0 / 1_073_741_824.0, data * 4_096.0 / 1e9);
    format!(
        "inherits = 'tiny'\n\
         [drive]\nclass = 'random-{seed}'\ncapacity_gb = {capacity:.9}\nraw_gib = {raw:.9}\n\
         [nand]\nchannels = {channels}\ndies = {dies}\nbits = {bits}\npage_kib = {page_kib}\n\
         program_kib = {program_kib}\nblock_mib = {block_mib:.9}\nt_r_us = {t_r}\n\
         t_prog_us = {t_prog}\nt_bers_us = {t_bers}\nsuspend = {suspend}\n\
         [slc]\nfixed_gb = 0\ndynamic_gb = 0\n\
         [front]\nbuffer_kib = {buffer_kib}\nread_command_us = {command_us}\n\
         write_command_us = {command_us}\n\
         [gc]\npolicy = '{policy}'\nreserve_superblocks = {reserve}\n"
    )
}
