//! Loads that the evening does not have: what the twin predicts, and what the drive does.

use super::drives;
use ssdgauge_core::{
    Access, Bytes, Direction, Finding, Histogram, Interval, Nanos, Preparation, Reading, Rig, Sink,
    Stream, Until, Workload,
};
use ssdgauge_sim::VirtualRig;
use ssdgauge_twin::{Kind, Number, Question, Twin, answer};
use std::error::Error;

/// Requests that are measured of each load, of small blocks and of large ones, and those before them.
const REQUESTS: [u64; 2] = [16_000, 1_600];
const WARM_UP: u64 = 200;
/// Those in the steady state: collection comes and goes with each superblock, of which these fill several.
const STEADY: u64 = 131_072;
/// Rest between the data and the load.
const REST: Nanos = Nanos::from_secs(600);

/// A prediction and the truth.
pub(super) struct Outcome {
    pub(super) kind: Kind,
    pub(super) number: Number,
    /// Value and band; `None` where the twin gave none.
    pub(super) predicted: Option<(f64, f64)>,
    pub(super) truth: f64,
}

/// Returns what the `twin` of the drive of `seed` predicts of each load that is asked for, with the truth.
pub(super) fn outcomes(seed: u64, twin: &Twin) -> Result<Vec<Outcome>, Box<dyn Error>> {
    let mut all = Vec::new();
    let worn = worn(seed)?;
    for question in questions() {
        let Some(kind) = Kind::of(&question.workload(), question.is_steady) else { continue };
        let truth = truth(seed, &question, &worn)?;
        let answer = answer(twin, &question);
        for (number, truth) in truth {
            let given = answer.predicted.iter().find(|one| one.number == number);
            let predicted = given.map(|one| (one.value, one.band));
            all.push(Outcome { kind, number, predicted, truth });
        }
    }
    Ok(all)
}

fn questions() -> Vec<Question> {
    let ask = |text: &str| Question::parse(text).expect("the questions are understood");
    let mut all = Vec::new();
    for depth in [3, 8, 32] {
        all.push(ask(&format!("random, 4KiB, reads, QD{depth}")));
    }
    for depth in [3, 8] {
        all.push(ask(&format!("sequential, 128KiB, reads, QD{depth}")));
    }
    for rate in [2_000, 10_000, 24_000] {
        all.push(ask(&format!("random, 4KiB, reads, {rate}/s")));
    }
    all.push(ask("sequential, 128KiB, writes, QD3, 50 % full"));
    for depth in [3, 8, 16] {
        all.push(ask(&format!("random, 4KiB, writes, QD{depth}, 50 % full")));
    }
    for reads in [80, 60, 40] {
        all.push(ask(&format!("random, 4KiB, {reads} % read, QD4, 50 % full")));
        all.push(ask(&format!("random, 4KiB, {reads} % read, QD16, steady, full")));
    }
    for rate in [2_000, 6_000, 12_000] {
        all.push(ask(&format!("random, 4KiB, 70 % read, {rate}/s, 50 % full")));
    }
    for depth in [8, 32] {
        all.push(ask(&format!("random, 4KiB, writes, QD{depth}, steady, full")));
    }
    all
}

#[derive(Default)]
struct Latencies([Histogram; 2]);

impl Sink for Latencies {
    fn interval(&mut self, interval: &Interval) {
        self.0[interval.direction.side()].merge(&interval.latency);
    }
    fn reading(&mut self, _: &Reading) {}
    fn finding(&mut self, _: Finding) {}
    fn announce(&mut self, _: Finding) -> bool {
        true
    }
    fn stop(&mut self) -> bool {
        false
    }
}

fn born(seed: u64, state: &str) -> Result<VirtualRig, Box<dyn Error>> {
    Ok(VirtualRig::open(&format!("{}&state={state}", drives::target(seed)), seed)?)
}

/// Returns the drive of `seed` in the steady state of random writes: one that is born in it has an empty cache.
fn worn(seed: u64) -> Result<VirtualRig, Box<dyn Error>> {
    let mut rig = born(seed, "steady")?;
    let question = Question::parse("random, 4KiB, writes, QD32")?;
    let span = Bytes(rig.drive().capacity.0 / 4_096 * 4_096);
    let stream = Stream { span, ..question.stream.clone() };
    let workload = Workload { streams: vec![stream], ..question.workload() };
    rig.run(&workload, &Until { time: None, bytes: Some(span) }, &mut Latencies::default())?;
    Ok(rig)
}

/// Returns the numbers of the load on the drive of `seed` itself; `worn` is in the steady state.
fn truth(
    seed: u64,
    question: &Question,
    worn: &VirtualRig,
) -> Result<Vec<(Number, f64)>, Box<dyn Error>> {
    let stream = &question.stream;
    let mut rig = match (question.is_steady, stream.writes()) {
        (true, _) => worn.clone(),
        (false, false) => born(seed, "filled")?,
        (false, true) => born(seed, "fresh")?,
    };
    let block = 128 << 10;
    let whole = rig.drive().capacity.0 as f64 * question.full_percent / 100.0;
    let span = Bytes(whole as u64 / block * block);
    let sink = || Latencies::default();
    if !question.is_steady && stream.writes() {
        let (access, offset) = (Access::Sequential, Bytes(0));
        let fill = Preparation::Fill { access, block_size: Bytes(block), offset, span };
        rig.prepare(&fill, &mut sink())?;
        rig.rest(REST, &mut sink())?;
    }
    let stream = Stream { span, ..stream.clone() };
    let asked = stream.arrival.per_second();
    let size = stream.block_size.0;
    let requests = match question.is_steady {
        true => STEADY,
        false => REQUESTS[usize::from(size >= 64 << 10)],
    };
    let in_flight = u64::from(stream.total_depth());
    let workload = Workload { streams: vec![stream], ..question.workload() };
    let until = |requests: u64| Until { time: None, bytes: Some(Bytes(requests * size)) };
    rig.run(&workload, &until(WARM_UP + 4 * in_flight), &mut sink())?;
    let mut latencies = sink();
    let ended = rig.run(&workload, &until(requests), &mut latencies)?;
    let count: u64 = latencies.0.iter().map(Histogram::count).sum();
    let mut numbers = Vec::new();
    if asked.is_none() {
        numbers.push((Number::Rate, count as f64 / ended.elapsed.as_secs_f64()));
    }
    let percentiles = [
        (Number::ReadP50, Direction::Read, 0.5),
        (Number::ReadP99, Direction::Read, 0.99),
        (Number::WriteP50, Direction::Write, 0.5),
        (Number::WriteP99, Direction::Write, 0.99),
    ];
    for (number, direction, share) in percentiles {
        let latency = &latencies.0[direction.side()];
        // Sequential requests of large blocks are too few for a tail.
        let is_known = latency.count() >= if share > 0.9 { 2_000 } else { 100 };
        let value = latency.percentile(share).filter(|_| is_known);
        numbers.extend(value.map(|ns| (number, ns as f64 / 1e3)));
    }
    Ok(numbers)
}
