//! The plan of an X-ray: what it writes and reads at most, for the estimate, the confirmation and the write
//! budget.

use super::buffer::PAUSES_S;
use super::contents;
use super::error::XrayError;
use super::experiment::Experiment;
use super::fill::{COUNTED, OVERWRITE_BLOCK};
use super::flushes::{self, BLOCK, BURSTS};
use super::mapping::{BEFORE, ROUNDS, SHIFTS};
use super::options::{XrayOptions, excluded};
use super::sizes::{FILL_BLOCK, Sizes};
use super::volumes;
use ssdgauge_core::{
    Access, Action, Bytes, DriveInfo, Engine, Metric, Nanos, Phase, PhaseKind, Plan, Preparation,
    Rest, Restart, Score, Step, Stream, SuiteIdentity, Test, Until, Workload,
};
use ssdgauge_runfile::XRAY_SUITE;
use ssdgauge_xray::Structure;
use std::collections::BTreeSet;

/// The structures that pairs of reads show.
const OF_UNITS: [Structure; 3] = [Structure::Units, Structure::Chunk, Structure::PageRead];

/// The label of the rest that ends as soon as the temperature is level.
const LEVEL: &str = "rest until the temperature is level";

/// Returns the plan of an X-ray of `drive`.
///
/// # Errors
/// [`XrayError::TooSmall`].
pub fn xray_plan(drive: &DriveInfo, options: &XrayOptions) -> Result<Plan, XrayError> {
    if drive.capacity < Sizes::LEAST {
        let (drive, capacity) = (drive.target.clone(), drive.capacity);
        return Err(XrayError::TooSmall { drive, capacity });
    }
    let tests = experiments(drive, options).into_iter().map(|(experiment, steps)| Test {
        id: experiment.key().into(),
        revision: 1,
        title: experiment.title().into(),
        source: "docs/reference/xray.md".into(),
        score: Score::MeanOf(Metric::ThroughputMbS),
        also: Vec::new(),
        figures: Vec::new(),
        chosen: Vec::new(),
        deviations: Vec::new(),
        restart: Restart::Step,
        phases: vec![Phase { kind: PhaseKind::Check, steps }],
        search: None,
        rounds: None,
        repetition: 1,
    });
    Ok(Plan {
        suite: SuiteIdentity { id: XRAY_SUITE.into(), revision: 1, title: "X-ray".into() },
        shortened: 1,
        span_scaled: false,
        seed: options.seed,
        tests: tests.collect(),
        repeat_until: None,
        verify: false,
        polled: false,
        pass_through: false,
    })
}

/// Returns the experiments, each with its loads and rests as steps: those that write with their most bytes, the others
/// with their time. A record of the experiment has the place of its last step.
fn experiments(drive: &DriveInfo, options: &XrayOptions) -> Vec<(Experiment, Vec<Step>)> {
    let sizes = Sizes::new(drive.capacity);
    let wanted = options.structures();
    let is_open = |structure: &Structure| {
        wanted.contains(structure) && excluded(*structure, drive.kind, options.gentle).is_none()
    };
    let open: BTreeSet<Structure> = Structure::ALL.into_iter().filter(is_open).collect();
    // Where the cache is not looked for after all, the fill has not written it.
    let mut writes_region = !options.gentle;
    let mut experiments = Vec::new();
    for experiment in Experiment::ALL {
        let mut steps = steps_of(experiment, drive, &sizes, &open);
        if steps.is_empty() {
            continue;
        }
        let reads_region = match experiment {
            Experiment::Suspend | Experiment::Units | Experiment::Heating => true,
            Experiment::Ceilings
            | Experiment::Cache
            | Experiment::Folding
            | Experiment::Overflow
            | Experiment::Buffer
            | Experiment::Flush
            | Experiment::MappingUnit
            | Experiment::Volumes
            | Experiment::Contents
            | Experiment::Spare
            | Experiment::Steady
            | Experiment::MapReach => false,
        };
        if reads_region && std::mem::take(&mut writes_region) {
            steps.insert(0, writes("ascending writes", sizes.region, &sizes));
        }
        experiments.push((experiment, steps));
    }
    experiments
}

/// Returns the loads and rests of `experiment`; none where no structure of `open` needs it.
fn steps_of(
    experiment: Experiment,
    drive: &DriveInfo,
    sizes: &Sizes,
    open: &BTreeSet<Structure>,
) -> Vec<Step> {
    let any = |structures: &[Structure]| structures.iter().any(|one| open.contains(one));
    let capacity = Bytes(sizes.capacity);
    let has_cache = open.contains(&Structure::Cache);
    match experiment {
        Experiment::Ceilings if any(&[Structure::Link, Structure::Command, Structure::Cache]) => {
            let trim = Preparation::Trim { offset: Bytes(0), span: drive.capacity };
            vec![
                step("trim", Action::Prepare(trim)),
                rest("rest", 10),
                rest(LEVEL, Sizes::LEVEL_S * Sizes::LEVEL_RESTS),
                reads("reads of trimmed addresses", 5, sizes),
            ]
        }
        Experiment::Cache if has_cache => vec![
            writes_within("burst after a rest", sizes.into_cache, Sizes::BURST, sizes),
            writes_within("fill", sizes.fill, Sizes::FILL, sizes),
        ],
        Experiment::Suspend if open.contains(&Structure::Suspend) => {
            vec![writes("reads during writes", sizes.during_reads, sizes)]
        }
        Experiment::Folding if open.contains(&Structure::Folding) => {
            let rests = (Sizes::RESTS_S.iter().sum::<f64>() + Sizes::MORE_RESTS_S) as u64;
            let light = "reads with a few writes";
            vec![
                rest("rests", rests),
                writes_within(light, sizes.during_reads, Sizes::BURST, sizes),
                writes_within("bursts", sizes.bursts, Sizes::BURSTS, sizes),
            ]
        }
        Experiment::Overflow if open.contains(&Structure::Overflow) => {
            let burst = "writes until the cache is full";
            vec![
                writes_within(burst, sizes.into_cache, Sizes::BURST, sizes),
                writes("writes beyond the cache", COUNTED * sizes.counted, sizes),
            ]
        }
        Experiment::Buffer if open.contains(&Structure::WriteBuffer) => {
            let pauses: u64 = PAUSES_S.into_iter().sum();
            let groups = open.contains(&Structure::ProgramUnit);
            let groups = if groups { sizes.groups } else { 0 };
            let bursts = PAUSES_S.len() as u64 * sizes.into_buffer + groups;
            // Unless that was done before.
            let fill = "writes until the cache is full";
            let fill = writes_within(fill, sizes.into_cache, Sizes::BURST, sizes);
            let fill = (!open.contains(&Structure::Overflow)).then_some(fill);
            let reads = reads("reads", pauses, sizes);
            fill.into_iter().chain([reads, writes("bursts after reads", bursts, sizes)]).collect()
        }
        Experiment::Flush if open.contains(&Structure::Flush) => {
            let most = BURSTS as u64 * sizes.before_flush + flushes::SINGLE as u64 * BLOCK;
            vec![random_writes("writes with flushes after them", most, capacity)]
        }
        Experiment::MappingUnit if open.contains(&Structure::MappingUnit) => {
            let rounds = SHIFTS.len() as u64 * ROUNDS * 2;
            let most = (BEFORE + rounds) * sizes.shifted;
            vec![random_writes("aligned and shifted writes", most, capacity)]
        }
        Experiment::Volumes if open.contains(&Structure::Volumes) => {
            let bits = u64::from((sizes.held_range().1 / volumes::LOWEST).ilog2());
            let measurements = 2 * bits * volumes::ROUNDS;
            let most = (volumes::BEFORE + measurements) * sizes.held;
            vec![random_writes("writes with one address bit held", most, capacity)]
        }
        Experiment::Contents if any(&[Structure::Compression, Structure::Deduplication]) => {
            let round = contents::MEASURED * sizes.shifted + sizes.shifted.max(contents::BEFORE);
            let most = contents::ROUNDS * round + sizes.shifted_span;
            vec![random_writes("data of each kind", most, capacity)]
        }
        Experiment::Units if any(&OF_UNITS) => {
            let rests = Sizes::FOLDING_S * (1 + Sizes::MORE_COOLING);
            let rest = has_cache.then(|| rest("rest", rests));
            let pairs = reads("pairs of reads", 10, sizes);
            rest.into_iter().chain([pairs]).collect()
        }
        Experiment::Spare if open.contains(&Structure::Spare) => vec![
            writes("fill to the end", sizes.capacity, sizes),
            writes("random overwrites", sizes.overwrites, sizes),
        ],
        Experiment::Steady if open.contains(&Structure::EffectiveSpare) => {
            let fill = !open.contains(&Structure::Spare);
            let fill = fill.then(|| writes("fill to the end", sizes.capacity, sizes));
            let empties = "rest that empties a fast cache";
            let most = sizes.round * Sizes::ROUNDS;
            let uniform = random_writes("uniform random writes", most, capacity);
            let zones = open.contains(&Structure::Separation);
            let zones = zones.then(|| random_writes("random writes to zones", most, capacity));
            let rest = rest(empties, Sizes::FOLDING_S);
            fill.into_iter().chain([rest, uniform]).chain(zones).collect()
        }
        Experiment::MapReach if open.contains(&Structure::MapReach) => {
            // That of the units will do where nothing is written after it.
            let is_rested = any(&OF_UNITS) && !any(&[Structure::Spare, Structure::EffectiveSpare]);
            let rest = (!is_rested).then(|| rest("rest", Sizes::FOLDING_S));
            let reads = reads("reads in growing ranges", 30, sizes);
            rest.into_iter().chain([reads]).collect()
        }
        Experiment::Heating if open.contains(&Structure::Throttle) => vec![
            rest("rest", Sizes::COOLING_S),
            reads("reads without a pause", Sizes::HEATING_S, sizes),
        ],
        Experiment::Ceilings
        | Experiment::Cache
        | Experiment::Suspend
        | Experiment::Folding
        | Experiment::Overflow
        | Experiment::Buffer
        | Experiment::Flush
        | Experiment::MappingUnit
        | Experiment::Volumes
        | Experiment::Contents
        | Experiment::Units
        | Experiment::Spare
        | Experiment::Steady
        | Experiment::MapReach
        | Experiment::Heating => Vec::new(),
    }
}

fn writes(label: &str, bytes: u64, sizes: &Sizes) -> Step {
    run(label, 0, Bytes(sizes.capacity), Until { time: None, bytes: Some(Bytes(bytes)) })
}

fn writes_within(label: &str, bytes: u64, time: Nanos, sizes: &Sizes) -> Step {
    let until = Until { time: Some(time), bytes: Some(Bytes(bytes)) };
    run(label, 0, Bytes(sizes.capacity), until)
}

fn reads(label: &str, seconds: u64, sizes: &Sizes) -> Step {
    let until = Until { time: Some(Nanos::from_secs(seconds)), bytes: None };
    run(label, 100, Bytes(sizes.capacity), until)
}

fn rest(label: &str, seconds: u64) -> Step {
    step(label, Action::Rest(Nanos::from_secs(seconds)))
}

fn run(label: &str, read_percent: u8, capacity: Bytes, until: Until) -> Step {
    let stream = Stream {
        access: Access::Sequential,
        block_size: Bytes(FILL_BLOCK),
        read_percent,
        span: capacity,
        ..Stream::default()
    };
    let workload = Workload { engine: Engine::Synchronous, streams: vec![stream] };
    step(label, Action::Run { workload, until, steady: None })
}

fn random_writes(label: &str, bytes: u64, capacity: Bytes) -> Step {
    let stream = Stream {
        access: Access::Random,
        block_size: Bytes(OVERWRITE_BLOCK),
        read_percent: 0,
        span: capacity,
        ..Stream::default()
    };
    let workload = Workload { engine: Engine::Synchronous, streams: vec![stream] };
    let until = Until { time: Some(Sizes::STEADY), bytes: Some(Bytes(bytes)) };
    step(label, Action::Run { workload, until, steady: None })
}

fn step(label: &str, action: Action) -> Step {
    Step { label: label.into(), position: 0.0, action, rest: Rest::None }
}
