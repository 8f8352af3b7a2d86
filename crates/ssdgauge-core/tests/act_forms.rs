//! The two forms of Aerospike ACT on a pool of four servers with exponential service times, where
//! the share of slow reads is known: from a simulation of exactly that form, and from the program
//! itself.

use ssdgauge_core::{
    Access, Arrival, Bytes, Data, Engine, LatencyClock, MAX_SLOT_MEMORY, Random, Schedule, Stream,
    open_loop_slots,
};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// The seconds that are simulated for each share.
const SECONDS: f64 = 120.0;
/// ACT counts in powers of two of a millisecond, measured in microseconds.
const SLOW: f64 = 1.024e-3;

/// A thread that sends requests when they are due and a slot is free.
struct Source {
    due: Box<dyn FnMut() -> f64>,
    next: f64,
    free: u32,
    /// Whether latencies count from the due time.
    from_due: bool,
    is_judged: bool,
}

impl Source {
    fn new(
        mut due: Box<dyn FnMut() -> f64>,
        slots: u32,
        from_due: bool,
        is_judged: bool,
    ) -> Source {
        let next = due();
        Source { due, next, free: slots, from_due, is_judged }
    }

    /// A source at equal intervals.
    fn even(rate: f64, slots: u32, from_due: bool, is_judged: bool) -> Source {
        let mut count = 0.0;
        let due = move || {
            count += 1.0;
            (count - 1.0) / rate
        };
        Source::new(Box::new(due), slots, from_due, is_judged)
    }

    /// The sources of a stream as the engines run it, one for each thread.
    fn of_stream(stream: &Stream, is_judged: bool) -> Vec<Source> {
        let slots = open_loop_slots(stream, Engine::IoUring, stream.threads, MAX_SLOT_MEMORY);
        let threads = 0..stream.threads;
        let source = |thread| {
            let mut schedule = Schedule::new(stream, thread, 1).expect("an open loop");
            let due = move || {
                let due = schedule.due() as f64 / 1e9;
                schedule.advance();
                due
            };
            let from_due = stream.clock == LatencyClock::Due;
            Source::new(Box::new(due), slots.expect("an open loop"), from_due, is_judged)
        };
        threads.map(source).collect()
    }
}

/// Returns the share of judged requests above [`SLOW`], in percent.
fn slow_share(mut sources: Vec<Source>, service: f64, seed: u64) -> f64 {
    let mut random = Random::new(seed, 0);
    let mut servers: BinaryHeap<Reverse<u64>> = (0..4).map(|_| Reverse(0)).collect();
    let mut completions: BinaryHeap<Reverse<(u64, usize)>> = BinaryHeap::new();
    let (mut now, mut judged, mut slow) = (0.0f64, 0u64, 0u64);
    loop {
        let free = sources.iter().enumerate().filter(|(_, source)| source.free > 0);
        let next = free.map(|(index, source)| (source.next.max(now), index));
        let (at, index) = next.min_by(|a, b| a.0.total_cmp(&b.0)).unwrap_or((f64::MAX, 0));
        if let Some(Reverse((end, done))) = completions.peek().copied()
            && end as f64 / 1e12 <= at
        {
            completions.pop();
            now = end as f64 / 1e12;
            sources[done].free += 1;
            continue;
        }
        if at >= SECONDS {
            return 100.0 * slow as f64 / judged as f64;
        }
        now = at;
        // First come, first served: the request takes the server that is free first.
        let Reverse(idle) = servers.pop().expect("four servers");
        let start = now.max(idle as f64 / 1e12);
        let end = start + random.exponential() * service;
        servers.push(Reverse((end * 1e12) as u64));
        completions.push(Reverse(((end * 1e12) as u64, index)));
        let source = &mut sources[index];
        let begin = if source.from_due { source.next } else { now };
        judged += u64::from(source.is_judged);
        slow += u64::from(source.is_judged && end - begin > SLOW);
        source.free -= 1;
        source.next = (source.due)();
    }
}

fn stream(arrival: Arrival, threads: u32, in_flight_at_most: Option<u32>) -> Stream {
    let clock = match arrival {
        Arrival::InPhase { .. } => LatencyClock::Submission,
        Arrival::Closed
        | Arrival::Uniform { .. }
        | Arrival::Poisson { .. }
        | Arrival::Recorded { .. } => LatencyClock::Due,
    };
    Stream {
        name: "reads".into(),
        access: Access::Random,
        block_size: Bytes(1_536),
        read_percent: 100,
        queue_depth: 1,
        threads,
        offset: Bytes(0),
        span: Bytes(1 << 30),
        arrival,
        data: Data::Incompressible,
        sync: false,
        in_flight_at_most,
        clock,
        ..Stream::default()
    }
}

/// The large requests of either form: a thread for reads and one for writes, one request each.
fn large(multiple: f64) -> Vec<Source> {
    let rate = 1_000.0 / 85.0 * 2.0 * multiple;
    vec![Source::even(rate, 1, true, false), Source::even(rate, 1, true, false)]
}

fn large_streams(multiple: f64) -> Vec<Source> {
    let per_second = 1_000.0 / 85.0 * 2.0 * multiple;
    let large = stream(Arrival::Uniform { per_second }, 1, Some(1));
    (0..2).flat_map(|_| Source::of_stream(&large, false)).collect()
}

fn check(ours: Vec<Source>, reference: Vec<Source>, service: f64, what: &str) -> f64 {
    let (ours, reference) = (slow_share(ours, service, 1), slow_share(reference, service, 2));
    assert!((ours / reference - 1.0).abs() < 0.05, "{what}: {ours} against {reference}");
    ours
}

#[test]
fn the_form_of_act_5_queues_even_arrivals_before_64_threads() {
    for service in [400e-6, 250e-6] {
        for multiple in [1.0, 2.0, 3.0, 4.0] {
            let per_second = 2_000.0 * multiple;
            let reads = stream(Arrival::Uniform { per_second }, 1, Some(64));
            let mut ours = Source::of_stream(&reads, true);
            ours.extend(large_streams(multiple));
            let mut reference = vec![Source::even(per_second, 64, true, true)];
            reference.extend(large(multiple));
            check(ours, reference, service, &format!("{multiple}x, {service}"));
        }
    }
}

#[test]
fn the_form_of_act_6_sends_from_threads_in_phase() {
    // The shares above 1.024 ms that ACT 6.6 with ten service threads printed on such a pool.
    let printed = [(400e-6, [18.0, 17.9, 18.7, 22.4]), (250e-6, [4.11, 4.21, 4.26, 4.11])];
    for (service, shares) in printed {
        for (multiple, act) in [1.0, 2.0, 3.0, 4.0].into_iter().zip(shares) {
            let per_second = 2_000.0 * multiple;
            let reads = stream(Arrival::InPhase { per_second }, 10, None);
            let mut ours = Source::of_stream(&reads, true);
            ours.extend(large_streams(multiple));
            let threads = (0..10).map(|_| Source::even(per_second / 10.0, 1, false, true));
            let reference = threads.chain(large(multiple)).collect();
            let share = check(ours, reference, service, &format!("{multiple}x, {service}"));
            println!("service {service}, {multiple}x: {share:.2} %, ACT 6.6 {act} %");
        }
    }
}
