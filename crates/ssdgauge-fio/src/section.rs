//! Sections of a job file: one for each stream of a workload, or for a preparation.

use crate::line::one_line;
use ssdgauge_core::{
    Access, Arrival, Bytes, Data, Distribution, Engine, LatencyClock, Preparation, Stream, Until,
    Workload, Zone,
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
        first.missing.push(format!("one limit of {bytes} for all streams together"));
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
    arrivals(&mut section, stream, jobs);
    if stream.trims() {
        section.missing.push("trim works on block devices only".into());
    }
    if stream.writes() {
        match stream.data {
            Data::Incompressible => section.set("refill_buffers", 1),
            Data::Zeros => section.set("zero_buffers", 1),
        }
        if stream.sync {
            section.set("sync", "dsync");
        }
        if let Some(writes) = stream.flush_every {
            section.set("fdatasync", writes);
            if jobs < stream.total_depth() {
                section.missing.push(
                    "flushes alone: fio keeps other requests of the job in flight beside them"
                        .into(),
                );
            }
        }
    }
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
    let is_random = stream.access == Access::Random;
    section.set("rw", format!("{}{direction}", if is_random { "rand" } else { "" }));
    if stream.reads() && stream.writes() {
        section.set("rwmixread", stream.read_percent);
        section.missing.push(format!(
            "a mix that is exact over every 100 requests: fio draws each request with a \
             probability of {} %",
            stream.read_percent
        ));
    }
    section.set("bs", stream.block_size.0);
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
    let share = stream.span.blocks_of(stream.block_size) / u64::from(jobs) * stream.block_size.0;
    section.set("offset", stream.offset.0);
    section.set("offset_increment", share);
    section.set("size", share);
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

    #[test]
    fn a_name_has_no_character_that_ends_it() {
        assert_eq!(name(0, "mixed-random", "70 % read", None), "01-mixed-random-70-read");
        assert_eq!(name(11, "a]\n[b", "µs", Some("reads")), "12-a-b-s-reads");
    }
}
