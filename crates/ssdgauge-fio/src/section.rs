//! Sections of a job file: one for each stream of a workload, or for a preparation.

use crate::line::one_line;
use ssdgauge_core::{
    Access, Arrival, Bytes, Data, Distribution, Engine, LatencyClock, Nanos, Preparation,
    SizeShare, Stream, Until, Workload, Zone,
};

/// A section: its options in their order, and what fio cannot do of it.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Section {
    pub(crate) name: String,
    pub(crate) options: Vec<(&'static str, String)>,
    pub(crate) missing: Vec<String>,
}

impl Section {
    fn set(&mut self, key: &'static str, value: impl ToString) {
        self.options.push((key, value.to_string()));
    }

    /// Polls for completions, where the engine can.
    pub(crate) fn poll(&mut self) {
        if self.options.contains(&("ioengine", "io_uring".to_owned())) {
            self.set("hipri", 1);
        }
    }
}

/// Returns the name of a section: letters, digits and hyphens only, because brackets end it.
pub(crate) fn name(test: usize, id: &str, label: &str, stream: Option<&str>) -> String {
    let words = [Some(id), Some(label), stream];
    let joined = words.into_iter().flatten().map(one_line).collect::<Vec<_>>().join("-");
    let plain: String =
        joined.chars().map(|one| if one.is_ascii_alphanumeric() { one } else { '-' }).collect();
    let words: Vec<&str> = plain.split('-').filter(|word| !word.is_empty()).collect();
    format!("{:02}-{}", test + 1, words.join("-"))
}

/// Returns the section of a preparation, or the words for what fio cannot do.
pub(crate) fn of_preparation(preparation: &Preparation) -> Result<Section, String> {
    let mut section = Section::default();
    match preparation {
        Preparation::Fill { access, block_size, offset, span } => {
            section.set("rw", if *access == Access::Random { "randwrite" } else { "write" });
            section.set("bs", block_size.0);
            section.set("offset", offset.0);
            section.set("size", span.0);
            section.set("ioengine", "io_uring");
            section.set("iodepth", 32);
            section.set("refill_buffers", 1);
        }
        Preparation::Trim { offset, span } => {
            section.set("rw", "trim");
            section.set("bs", span.0.min(1 << 30));
            section.set("offset", offset.0);
            section.set("size", span.0);
            section.set("ioengine", "psync");
            section.missing.push("trim works on block devices only".into());
        }
        Preparation::Purge => {
            return Err("a purge of the drive (nvme format, or blkdiscard)".into());
        }
        Preparation::PurgeBy(method) => {
            return Err(format!("a purge of the drive by {}", method.name()));
        }
        Preparation::Power(_) | Preparation::WriteCache(_) => {
            return Err(format!("a setting of the drive: {}", preparation.label()));
        }
    }
    Ok(section)
}

/// Returns the sections of `workload`, one for each stream that addresses blocks: fio has no job of
/// flushes alone.
pub(crate) fn of_workload(workload: &Workload, until: &Until) -> Vec<Section> {
    let streams = workload.streams.iter().filter(|stream| stream.addresses());
    let mut sections: Vec<Section> =
        streams.map(|stream| of_stream(stream, workload.engine, until)).collect();
    if let ([first, _, ..], Some(bytes)) = (sections.as_mut_slice(), until.bytes) {
        first.missing.push(format!("one limit of {} for all streams together", bytes.about()));
    }
    sections
}

fn of_stream(stream: &Stream, engine: Engine, until: &Until) -> Section {
    let mut section = Section::default();
    // fio sends trims of every engine as system calls that wait, and times those of an asynchronous
    // engine before they are sent: one job for each request in flight has their latencies.
    let engine = if stream.trims() { Engine::Synchronous } else { engine };
    let jobs = match engine {
        Engine::IoUring => stream.threads,
        Engine::Synchronous => stream.total_depth(),
    };
    addresses(&mut section, stream, jobs);
    match engine {
        Engine::IoUring => {
            section.set("ioengine", "io_uring");
            section.set("iodepth", depth(stream, jobs));
            section.set("fixedbufs", 1);
            section.set("registerfiles", 1);
            section.set("iodepth_batch_submit", stream.queue_depth.div_ceil(8).clamp(1, 4));
            section.set("iodepth_batch_complete_min", 1);
        }
        Engine::Synchronous => section.set("ioengine", "psync"),
    }
    section.set("numjobs", jobs);
    if !stream.cpus.is_empty() {
        section.set("cpus_allowed", &stream.cpus);
        section.set("cpus_allowed_policy", "split");
    }
    arrivals(&mut section, stream, jobs);
    if stream.trims() {
        section.missing.push("trim works on block devices only".into());
    }
    if stream.writes() {
        match stream.data {
            Data::Incompressible => section.set("refill_buffers", 1),
            Data::Zeros => section.set("zero_buffers", 1),
            Data::Repeated => {
                section.set("dedupe_percentage", 100);
                section.missing.push(
                    "a random block: fio repeats 512 bytes within it, which a drive may compress"
                        .into(),
                );
            }
            Data::Half => {
                section.set("refill_buffers", 1);
                section.set("buffer_compress_percentage", 50);
                section.set("buffer_compress_chunk", 4_096);
            }
        }
        if stream.sync {
            section.set("sync", "dsync");
        }
        if stream.flush_at_end {
            section.set("end_fsync", 1);
        }
        if let Some(writes) = stream.flush_every {
            section.set("fdatasync", writes);
            if jobs < stream.total_depth() {
                section.missing.push(
                    "flushes alone: fio keeps other requests of the job in flight at the same time"
                        .into(),
                );
            }
        }
    }
    pauses(&mut section, stream, jobs);
    limits(&mut section, until, jobs);
    section
}

/// The requests in flight of an open loop without a limit of its own: enough to keep the rate while
/// the drive stalls, and below the largest ring of the kernel.
const OPEN_DEPTH: u32 = 1_024;

/// Returns the requests in flight of each job. In an open loop they must not limit the rate.
fn depth(stream: &Stream, jobs: u32) -> u32 {
    match (stream.arrival.per_second(), stream.in_flight_limit()) {
        (None, _) => stream.queue_depth,
        (Some(_), Some(limit)) => (limit / jobs).max(1),
        (Some(_), None) => OPEN_DEPTH,
    }
}

/// Sets direction, order and range of the requests.
fn addresses(section: &mut Section, stream: &Stream, jobs: u32) {
    let direction = match (stream.reads(), stream.writes()) {
        _ if stream.trims() => "trim",
        (true, false) => "read",
        (false, _) => "write",
        (true, true) => "rw",
    };
    let is_random = !stream.is_sequential();
    let gap = stream.stride.map(|stride| format!(":{}", stride.0 - stream.block_size.0));
    let order = if is_random { "rand" } else { "" };
    section.set("rw", format!("{order}{direction}{}", gap.unwrap_or_default()));
    if stream.reads() && stream.writes() {
        section.set("rwmixread", stream.read_percent);
        section.missing.push(format!(
            "a mix that is exact over every 100 requests: fio draws each request with a \
             probability of {} %",
            stream.read_percent
        ));
    }
    if is_random && !stream.is_random() {
        section.set("percentage_random", stream.random_percent);
        section.missing.push(
            "a share of random requests that is exact over every 100: fio draws each request"
                .into(),
        );
    }
    sizes(section, stream);
    distribution(section, &stream.distribution);
    if is_random {
        // Requests are independent of each other: no block is left out because it was met before.
        section.set("norandommap", 1);
        section.set("random_generator", "tausworthe64");
    }
    if is_random || jobs == 1 {
        section.set("offset", stream.offset.0);
        section.set("size", stream.span.0);
        return;
    }
    // Each thread has its own share of the span.
    let share = stream.places() / u64::from(jobs) * stream.step().0;
    section.set("offset", stream.offset.0);
    section.set("offset_increment", share);
    section.set("size", share);
}

/// Sets the lengths of the requests.
fn sizes(section: &mut Section, stream: &Stream) {
    if !stream.has_sizes() {
        section.set("bs", stream.block_size.0);
        return;
    }
    let share = |one: &SizeShare| format!("{}/{}", one.size.0, one.percent);
    let shares: Vec<String> = stream.sizes.0.iter().map(share).collect();
    section.set("bssplit", shares.join(":"));
    section
        .missing
        .push("sizes that are exact over every 100 requests: fio draws each request".into());
    if !stream.is_sequential() {
        let words = "requests that begin on multiples of their own size: those of fio begin on \
                     multiples of the smallest one";
        section.missing.push(words.into());
    }
    if !stream.distribution.is_uniform() {
        let words = format!(
            "hot blocks of {}: those of fio have the smallest size",
            stream.block_size.as_block()
        );
        section.missing.push(words);
    }
}

/// Sets how often each block is addressed. fio counts zones in percent, up to two places.
fn distribution(section: &mut Section, distribution: &Distribution) {
    let percent = |share: f64| (share * 1e4).round() / 1e2;
    match distribution {
        Distribution::Uniform => {}
        Distribution::Zipf(exponent) => {
            section.set("random_distribution", format!("zipf:{exponent}"));
        }
        Distribution::Zones(zones) => {
            let zone = |zone: &Zone| format!("{}/{}", percent(zone.accesses), percent(zone.space));
            let zones: Vec<String> = zones.iter().map(zone).collect();
            section.set("random_distribution", format!("zoned:{}", zones.join(":")));
            section
                .missing
                .push("zones over shuffled blocks: those of fio lie side by side".into());
        }
    }
}

/// Sets the rate of an open loop.
fn arrivals(section: &mut Section, stream: &Stream, jobs: u32) {
    let Some(rate) = stream.arrival.per_second() else { return };
    let of_job = rate / f64::from(jobs);
    section.set("rate_iops", of_job.round().max(1.0));
    if of_job.fract() != 0.0 {
        section.missing.push(format!("the exact rate of {of_job:.3} per job and second"));
    }
    match stream.arrival {
        // A replay has no section.
        Arrival::Recorded { .. } => {}
        Arrival::Poisson { .. } => section.set("rate_process", "poisson"),
        Arrival::InPhase { .. } => {
            section.missing.push("all threads send at the same moments".into());
        }
        Arrival::Uniform { .. } | Arrival::Closed => {}
    }
    if stream.clock == LatencyClock::Due {
        section.missing.push(
            "latencies from the due time: fio counts from the submission, so the wait of a late \
             request is not in them"
                .into(),
        );
    }
}

/// Sets think times, and the off times of pulses.
fn pauses(section: &mut Section, stream: &Stream, jobs: u32) {
    let micros = |time: Nanos| format!("{}us", time.0.div_ceil(1_000));
    if let Some(time) = stream.think_time {
        section.set("thinktime", micros(time));
        section.set("thinktime_blocks", stream.total_depth() / jobs.max(1));
    }
    let Some(pulse) = stream.pulse else { return };
    match (stream.think_time, stream.arrival.per_second()) {
        (None, None) => {
            section.set("thinktime", micros(pulse.off));
            section.set("thinktime_iotime", micros(pulse.on));
            section.missing.push(
                "pulses at fixed times: fio begins an off time after the last completion".into(),
            );
        }
        (Some(_), _) => section.missing.push("pulses together with a think time".into()),
        (None, Some(_)) => section.missing.push("pulses of an open loop".into()),
    }
}

/// Sets the limits of time and bytes.
fn limits(section: &mut Section, until: &Until, jobs: u32) {
    if let Some(time) = until.time {
        section.set("runtime", format!("{}us", time.0.div_ceil(1_000)));
        if until.bytes.is_none() {
            section.set("time_based", 1);
        }
    }
    if let Some(Bytes(bytes)) = until.bytes {
        section.set("io_size", bytes.div_ceil(u64::from(jobs)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ssdgauge_core::{BlockSizes, Pulse};

    /// Returns the section of `stream`, one option each line, and what fio cannot do of it.
    fn options(stream: Stream) -> (String, String) {
        let until = Until { time: Some(Nanos::from_secs(9)), bytes: None };
        let workload = Workload { engine: Engine::IoUring, streams: vec![stream] };
        let [section] = &of_workload(&workload, &until)[..] else { panic!("one section") };
        let lines = section.options.iter().map(|(key, value)| format!("{key}={value}\n"));
        (lines.collect(), section.missing.join("\n"))
    }

    #[test]
    fn several_sizes_are_a_split() {
        let share = |(size, percent)| SizeShare { size: Bytes(size), percent };
        let sizes = BlockSizes([(4_096, 90), (131_072, 10)].map(share).to_vec());
        let (block_size, span) = (Bytes(131_072), Bytes(1 << 30));
        let stream = Stream { sizes, block_size, span, ..Stream::default() };
        let (lines, missing) = options(stream.clone());
        assert!(
            lines.contains("bssplit=4096/90:131072/10\n") && !lines.contains("\nbs="),
            "{lines}"
        );
        assert!(missing.contains("multiples of their own size"), "{missing}");
        let (_, missing) = options(Stream { access: Access::Sequential, ..stream });
        assert!(missing.contains("exact over every 100") && !missing.contains("own size"));
    }

    #[test]
    fn a_share_of_random_requests_is_a_percentage() {
        let (lines, _) = options(Stream::default());
        assert!(!lines.contains("percentage_random"), "{lines}");
        let (lines, missing) = options(Stream { random_percent: 30, ..Stream::default() });
        assert!(lines.contains("rw=randread\npercentage_random=30\n"), "{lines}");
        assert!(missing.contains("share of random requests"), "{missing}");
    }

    #[test]
    fn processors_are_split_among_the_jobs() {
        let cpus = "0-1,4".parse().expect("a list");
        let (lines, missing) = options(Stream { cpus, threads: 3, ..Stream::default() });
        assert!(lines.contains("cpus_allowed=0-1,4\ncpus_allowed_policy=split\n"), "{lines}");
        assert_eq!(missing, "");
    }

    #[test]
    fn only_jobs_of_io_uring_are_polled() {
        let trims = ssdgauge_core::Operation::Trim;
        for (operation, polls) in [(ssdgauge_core::Operation::Transfer, true), (trims, false)] {
            let stream = Stream { operation, span: Bytes(1 << 20), ..Stream::default() };
            let workload = Workload { engine: Engine::IoUring, streams: vec![stream] };
            let until = Until { time: Some(Nanos::from_secs(9)), bytes: None };
            let mut sections = of_workload(&workload, &until);
            sections[0].poll();
            assert_eq!(sections[0].options.contains(&("hipri", "1".to_owned())), polls);
        }
    }

    #[test]
    fn gaps_in_space_and_time_have_their_options() {
        let stream = Stream {
            access: Access::Sequential,
            queue_depth: 4,
            span: Bytes(1 << 20),
            stride: Some(Bytes(16_384)),
            think_time: Some(Nanos(1_500_000)),
            ..Stream::default()
        };
        let (lines, _) = options(stream.clone());
        for line in ["rw=read:12288\n", "thinktime=1500us\n", "thinktime_blocks=4\n"] {
            assert!(lines.contains(line), "{line}: {lines}");
        }
        let second = Nanos::SECOND;
        let pulse = Some(Pulse { on: second + second, off: second });
        let (lines, missing) = options(Stream { think_time: None, pulse, ..stream });
        assert!(lines.contains("thinktime=1000000us\nthinktime_iotime=2000000us\n"), "{lines}");
        assert!(missing.contains("fixed times"), "{missing}");
    }

    #[test]
    fn a_name_has_no_character_that_ends_it() {
        assert_eq!(name(0, "mixed-random", "70 % read", None), "01-mixed-random-70-read");
        assert_eq!(name(11, "a]\n[b", "µs", Some("reads")), "12-a-b-s-reads");
    }
}
