//! What a virtual drive does at a point of a curve.

use super::curves::{Curve, Measured};
use super::family::Family;
use super::host;
use ssdgauge_core::{
    Access, Bytes, Engine, Finding, Histogram, Interval, Reading, Rig, Sink, Stream, Until,
    Workload,
};
use ssdgauge_sim::VirtualRig;
use std::error::Error;

/// The seed of every drive.
const SEED: u64 = 1;
/// Requests that are measured, and those before them.
const REQUESTS: u64 = 120_000;
const WARM_UP: u64 = 20_000;

/// Adds up the latencies of a step.
#[derive(Default)]
struct Latencies(Histogram);

impl Sink for Latencies {
    fn interval(&mut self, interval: &Interval) {
        self.0.merge(&interval.latency);
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

/// Returns the latencies of the virtual drive of `family` at `point` of `curve`.
pub(crate) fn point(
    family: &Family,
    curve: &Curve,
    point: u32,
) -> Result<Measured, Box<dyn Error>> {
    let latency = match curve.drives {
        1 => one_drive(family, curve, point)?,
        _ => host::run(family, curve, point, SEED)?,
    };
    let us = |ns: Option<u64>| ns.unwrap_or(0) as f64 / 1e3;
    Ok(Measured {
        mean: latency.sum() as f64 / latency.count().max(1) as f64 / 1e3,
        p50: us(latency.percentile(0.5)),
        tail: us(latency.percentile(curve.tail())),
        iops: None,
    })
}

fn one_drive(family: &Family, curve: &Curve, point: u32) -> Result<Histogram, Box<dyn Error>> {
    let mut rig = VirtualRig::from_toml("curves", family.profile, &family.query(), SEED)?;
    let block = u64::from(curve.block);
    let stream = Stream {
        name: "main".into(),
        access: if curve.load.starts_with("rand") { Access::Random } else { Access::Sequential },
        block_size: Bytes(block),
        read_percent: if curve.load.ends_with("read") { 100 } else { 0 },
        queue_depth: point,
        threads: curve.processes,
        span: Bytes(rig.drive().capacity.0 / block * block),
        ..Stream::default()
    };
    let workload = Workload { engine: Engine::IoUring, streams: vec![stream] };
    let limit = |requests: u64| Until { time: None, bytes: Some(Bytes(requests * block)) };
    let in_flight = u64::from(point * curve.processes);
    rig.run(&workload, &limit(WARM_UP + 4 * in_flight), &mut Latencies::default())?;
    let mut latencies = Latencies::default();
    rig.run(&workload, &limit(REQUESTS + 20 * in_flight), &mut latencies)?;
    Ok(latencies.0)
}
