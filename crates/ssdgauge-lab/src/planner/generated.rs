//! Traces that are generated from published sums: the numbers of their requests on one drive.
//!
//! The shares of the lengths are those of the source. Lengths that it does not list are one or two of
//! [`OTHER_LENGTHS`], so that the bytes of all requests are those of the source. How many requests of a
//! length write follows a logistic curve over the logarithm of the length, whose two parameters give the
//! published numbers and bytes of the writes.

use crate::suite::{DepthRule, TraceRule};
use ssdgauge_core::{
    Access, Arrival, Bytes, ComparedFigure, DriveInfo, Engine, GeneratedTrace, LengthCount, Replay,
    Stream, TraceIdentity, Until, Workload,
};

/// The lengths of requests that a source does not list: halfway between powers of two.
const OTHER_LENGTHS: [u64; 6] = [6 << 10, 12 << 10, 24 << 10, 48 << 10, 96 << 10, 192 << 10];
/// The longest burst of a trace of which the mean depth alone is published.
const LONGEST_BURST: usize = 256;
/// The alignment of requests that are not sequential.
const ALIGNMENT: u64 = 4_096;
/// The bisections of a parameter: more than the bits of a fraction.
const BISECTIONS: usize = 60;

/// Returns the replay of the trace after `rule` on `span` of `drive`, of one `shorten`th of the
/// requests. A target smaller than `rule.whole_from` gets the share of them that its capacity is of it.
pub(super) fn replay(rule: &TraceRule, span: Bytes, drive: &DriveInfo, shorten: u32) -> Replay {
    let block = drive.logical_block.0.max(512);
    let whole = drive.capacity.0 as f64 / rule.whole_from.0.max(1) as f64;
    let share = whole.min(1.0) / f64::from(shorten);
    let requests = rule.requests.map(|count| ((count as f64 * share).round() as u64).max(1));
    let bytes = rule.bytes.map(|bytes| bytes.0 as f64 * share);
    let counts = count_lengths(rule, requests[0] + requests[1], bytes[0] + bytes[1]);
    let mut lengths = split(&counts, requests[1], bytes[1]);
    // Requests are whole logical blocks.
    for one in &mut lengths {
        one.length = Bytes(one.length.0.next_multiple_of(block));
    }
    let alignment = Bytes(ALIGNMENT.next_multiple_of(block));
    let total = requests[0] + requests[1];
    let mut trace = GeneratedTrace {
        seed: rule.seed,
        share,
        sequential: (total as f64 * rule.sequential_percent / 100.0).round() as u64,
        lengths,
        bursts: bursts(&rule.depth),
        idle_per_million: (rule.idle_percent * 1e4).round() as u32,
        idle_time: rule.idle_cut,
        span,
        alignment,
        compared: Vec::new(),
    };
    trace.compared = compare(rule, &counts, &trace, bytes);
    bound(rule, trace, block)
}

/// Returns the replay of a bound trace.
fn bound(rule: &TraceRule, trace: GeneratedTrace, block: u64) -> Replay {
    let (requests, bytes) = (trace.requests(), trace.bytes());
    let (total, all) = (requests[0] + requests[1], bytes[0].0 + bytes[1].0);
    let idle = trace.idle();
    let stream = Stream {
        name: "trace".into(),
        access: Access::Random,
        block_size: Bytes((all / total / block).max(1) * block),
        read_percent: (100 * requests[0] / total).clamp(1, 99) as u8,
        span: trace.span,
        // Bursts follow completions: there is no rate, and this is the highest one.
        arrival: Arrival::Recorded { per_second: 1e9 },
        ..Stream::default()
    };
    Replay {
        trace: TraceIdentity {
            name: rule.name.clone(),
            path: String::new(),
            format: "generated".into(),
            id: format!("{:016x}", hash(&trace)),
            time_resolution_ns: 1,
        },
        workload: Workload { engine: Engine::IoUring, streams: vec![stream] },
        streams: Vec::new(),
        shared_streams: 0,
        until: Until { time: None, bytes: Some(Bytes(all)) },
        requests,
        bytes,
        commands: [0, 0],
        trimmed: Bytes(0),
        left_out: [0, 0],
        longest: trace.longest(),
        folded: 0,
        aligned: 0,
        recorded: idle,
        after_cut: idle,
        idle_cut: Some(rule.idle_cut),
        has_response_times: true,
        at_most: u64::MAX,
        generated: Some(trace),
    }
}

/// Returns the numbers of requests of each length: the listed ones by their shares, and others so that
/// `total` requests have `bytes`.
fn count_lengths(rule: &TraceRule, total: u64, bytes: f64) -> Vec<(u64, u64)> {
    let mut left = total;
    let mut counts = Vec::new();
    for (length, percent) in &rule.sizes {
        let count = ((total as f64 * percent / 100.0).round() as u64).min(left);
        left -= count;
        counts.push((length.0, count));
    }
    let listed: f64 = counts.iter().map(|(length, count)| (length * count) as f64).sum();
    let mean = (bytes - listed) / (left.max(1)) as f64;
    let next = OTHER_LENGTHS.iter().position(|length| *length as f64 >= mean);
    let next = next.unwrap_or(OTHER_LENGTHS.len() - 1).max(1);
    let (low, high) = (OTHER_LENGTHS[next - 1], OTHER_LENGTHS[next]);
    let share = ((mean - low as f64) / (high - low) as f64).clamp(0.0, 1.0);
    let longer = (left as f64 * share).round() as u64;
    counts.extend([(low, left - longer), (high, longer)]);
    counts.retain(|(_, count)| *count > 0);
    counts
}

/// Splits the requests of each length into reads and `writes` with about `written` bytes in all.
fn split(counts: &[(u64, u64)], writes: u64, written: f64) -> Vec<LengthCount> {
    let logarithms: Vec<f64> =
        counts.iter().map(|(length, _)| (*length as f64 / 32_768.0).ln()).collect();
    let shares = |slope: f64| -> Vec<f64> {
        let share =
            |level: f64, logarithm: &f64| 1.0 / (1.0 + (-(level + slope * logarithm)).exp());
        let sum = |level: f64| -> f64 {
            let each = counts.iter().zip(&logarithms);
            each.map(|((_, count), logarithm)| *count as f64 * share(level, logarithm)).sum()
        };
        let level = bisect((-60.0, 60.0), |level| sum(level) < writes as f64);
        logarithms.iter().map(|logarithm| share(level, logarithm)).collect()
    };
    let bytes = |shares: &[f64]| -> f64 {
        let each = counts.iter().zip(shares);
        each.map(|((length, count), share)| (length * count) as f64 * share).sum()
    };
    let slope = bisect((-8.0, 8.0), |slope| bytes(&shares(slope)) < written);
    let mut lengths: Vec<LengthCount> = counts
        .iter()
        .zip(shares(slope))
        .map(|(&(length, count), share)| {
            let writes = ((count as f64 * share).round() as u64).min(count);
            LengthCount { length: Bytes(length), requests: [count - writes, writes] }
        })
        .collect();
    level_out(&mut lengths, writes);
    lengths
}

/// Turns reads into writes, or writes into reads, of the lengths with most of them, until there are
/// `writes`: what rounding has left.
fn level_out(lengths: &mut [LengthCount], writes: u64) {
    loop {
        let now: u64 = lengths.iter().map(|one| one.requests[1]).sum();
        let (from, to, missing) = match now.cmp(&writes) {
            std::cmp::Ordering::Less => (0, 1, writes - now),
            std::cmp::Ordering::Greater => (1, 0, now - writes),
            std::cmp::Ordering::Equal => return,
        };
        let Some(most) = lengths.iter_mut().max_by_key(|one| one.requests[from]) else { return };
        let moved = missing.min(most.requests[from]);
        if moved == 0 {
            return;
        }
        most.requests[from] -= moved;
        most.requests[to] += moved;
    }
}

/// Returns the point of `range` from which on `is_below` is false, for one that changes once.
fn bisect(range: (f64, f64), is_below: impl Fn(f64) -> bool) -> f64 {
    let (mut low, mut high) = range;
    for _ in 0..BISECTIONS {
        let middle = (low + high) / 2.0;
        match is_below(middle) {
            true => low = middle,
            false => high = middle,
        }
    }
    (low + high) / 2.0
}

/// Returns the shares of bursts with at most 1, 2, … requests, in units of 2^-32.
///
/// The requests of a burst are submitted at once, so request number k of a burst meets a depth of k. The
/// share of requests at depth k is then the share of bursts with at least k requests, divided by their
/// mean; and bursts of a geometric distribution meet a mean depth that is their mean.
fn bursts(depth: &DepthRule) -> Vec<u32> {
    let at_most: Vec<f64> = match depth {
        DepthRule::Mean(mean) => {
            let on = 1.0 - 1.0 / mean;
            (1..=LONGEST_BURST).map(|size| 1.0 - on.powi(size as i32)).collect()
        }
        DepthRule::Shares { classes, .. } => {
            let mut at_depth = Vec::new();
            for &(first, last, percent) in classes {
                let depths = f64::from(last - first + 1);
                // A burst that meets a depth has met all smaller ones.
                let most = at_depth.last().copied().unwrap_or(f64::INFINITY);
                at_depth.extend((first..=last).map(|_| (percent / depths).min(most)));
            }
            let first = at_depth.first().copied().unwrap_or(1.0);
            let beyond = at_depth.iter().skip(1).map(|percent| 1.0 - percent / first);
            beyond.chain([1.0]).collect()
        }
    };
    let edge = |share: &f64| ((share * 4_294_967_296.0) as u64).saturating_sub(1) as u32;
    let mut edges: Vec<u32> = at_most.iter().map(edge).collect();
    if let Some(last) = edges.last_mut() {
        *last = u32::MAX;
    }
    edges
}

/// Returns the published figures, of the share of the requests, next to those of `trace`.
fn compare(
    rule: &TraceRule,
    counts: &[(u64, u64)],
    trace: &GeneratedTrace,
    bytes: [f64; 2],
) -> Vec<ComparedFigure> {
    let compared = |figure: &str, published: f64, generated: f64| ComparedFigure {
        figure: figure.to_owned(),
        published,
        generated,
    };
    let total: u64 = trace.requests().iter().sum();
    let [read, written] = trace.bytes();
    let mut figures = vec![
        compared("data read, GB", bytes[0] / 1e9, read.0 as f64 / 1e9),
        compared("data written, GB", bytes[1] / 1e9, written.0 as f64 / 1e9),
    ];
    for (length, percent) in rule.sizes.iter().filter(|_| rule.has_published_sizes) {
        let count = counts.iter().filter(|(one, _)| one == &length.0).map(|(_, count)| count);
        let share = 100.0 * count.sum::<u64>() as f64 / total as f64;
        figures.push(compared(&format!("requests of {}, %", length.as_block()), *percent, share));
    }
    let (burst, depth) = trace.burst_and_depth();
    match &rule.depth {
        DepthRule::Mean(mean) => figures.push(compared("mean depth", *mean, depth)),
        DepthRule::Shares { classes, mean } => {
            let first = classes.first().map_or(0.0, |(_, _, percent)| *percent);
            figures.push(compared("requests at depth 1, %", first, 100.0 / burst));
            figures.push(compared("mean depth", *mean, depth));
        }
    }
    let sequential = 100.0 * trace.sequential as f64 / total as f64;
    figures.push(compared("sequential, %", rule.sequential_percent, sequential));
    figures
}

/// Returns a number that follows from the rules of the requests (FNV-1a).
fn hash(trace: &GeneratedTrace) -> u64 {
    let rules = (&trace.lengths, &trace.bursts, trace.sequential, trace.seed);
    let more = (trace.idle_per_million, trace.idle_time, trace.span, trace.alignment);
    let text = serde_json::to_string(&(rules, more)).expect("numbers always serialise");
    text.bytes().fold(0xcbf2_9ce4_8422_2325, |hash: u64, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    })
}
