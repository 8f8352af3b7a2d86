//! What the engine itself costs: processor time for each request, full histograms included.

use crate::arguments;
use crate::failure::{Failure, Kind};
use crate::world;
use ssdgauge_core::{
    Access, Arrival, Bytes, Data, Engine, EngineReport, Finding, Interval, Nanos, Preparation,
    Reading, Rig, RigError, Sink, Stream, Until, Workload,
};
use ssdgauge_host::{Candidate, LinuxRig};

/// The runs whose median is shown.
const RUNS: usize = 5;

/// Measures and prints the cost of each request.
pub(crate) fn bench(arguments: &arguments::Bench) -> Result<(), Failure> {
    let size = (arguments.target != "null:").then_some(arguments.size);
    let candidate = Candidate::find(&arguments.target, size)?;
    let span = Bytes(candidate.info.capacity.0.min(arguments.size.0));
    let mut rig = LinuxRig::open(candidate, None, 1)?;
    let broke = |error: RigError| Failure::new(Kind::Broke, error.to_string(), "");
    let fill = Preparation::Fill {
        access: Access::Sequential,
        block_size: Bytes(128 << 10),
        offset: Bytes(0),
        span,
    };
    rig.prepare(&fill, &mut Nobody).map_err(broke)?;
    // The clock of the processor needs a moment to be calibrated; a run before the first warms up.
    let mut costs = Vec::new();
    for number in 0..=RUNS {
        let report = once(&mut rig, arguments, span).map_err(broke)?;
        if number > 0 {
            costs.extend(report.cpu_per_io.map(|cost| (cost.0, report.ios_per_enter)));
        }
        if number == RUNS {
            world::print(&format!(
                "engine {} ({}), {}\n",
                report.engine, report.setup, report.clock
            ));
        }
    }
    costs.sort_by_key(|(cost, _)| *cost);
    let Some((median, ios_per_enter)) = costs.get(costs.len() / 2) else {
        return Err(Failure::new(Kind::Broke, "nothing completed", ""));
    };
    let (least, most) = (costs[0].0, costs[costs.len() - 1].0);
    world::print(&format!(
        "{} QD{}: {median} ns of processor time for each I/O [{least}-{most}], median of {RUNS} runs \
         of {} s; {:.1} I/Os a call; full histograms\n",
        arguments.target,
        arguments.queue_depth,
        arguments.seconds,
        ios_per_enter.unwrap_or_default(),
    ));
    Ok(())
}

fn once(
    rig: &mut LinuxRig,
    arguments: &arguments::Bench,
    span: Bytes,
) -> Result<EngineReport, RigError> {
    let stream = Stream {
        name: "main".into(),
        access: Access::Random,
        block_size: Bytes(4_096),
        read_percent: 100,
        queue_depth: arguments.queue_depth,
        threads: 1,
        offset: Bytes(0),
        span,
        arrival: Arrival::Closed,
        data: Data::Incompressible,
        sync: false,
    };
    let workload = Workload { engine: Engine::IoUring, streams: vec![stream] };
    let until = Until { time: Some(Nanos::from_secs(arguments.seconds)), bytes: None };
    rig.run(&workload, &until, &mut Nobody).map(|ended| ended.engine)
}

/// Takes everything and keeps nothing.
struct Nobody;

impl Sink for Nobody {
    fn interval(&mut self, _: &Interval) {}
    fn reading(&mut self, _: &Reading) {}
    fn finding(&mut self, finding: Finding) {
        world::talk(&format!("finding: {}", finding.text));
    }
    fn stop(&mut self) -> bool {
        false
    }
}
