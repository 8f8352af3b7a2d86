//! The plan of an X-ray: what it writes and reads at most, for the estimate, the confirmation and the write
//! budget.

use super::contents;
use super::error::XrayError;
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
use ssdgauge_xray::Structure;

/// The id of the suite of an X-ray.
pub const XRAY_SUITE: &str = "xray";

/// Returns the plan of an X-ray of `drive`.
///
/// # Errors
/// [`XrayError::TooSmall`].
pub fn xray_plan(drive: &DriveInfo, options: &XrayOptions) -> Result<Plan, XrayError> {
    if drive.capacity < Sizes::LEAST {
        let (drive, capacity) = (drive.target.clone(), drive.capacity);
        return Err(XrayError::TooSmall { drive, capacity });
    }
    let test = Test {
        id: XRAY_SUITE.into(),
        revision: 1,
        title: "X-ray".into(),
        source: "docs/reference/xray.md".into(),
        score: Score::MeanOf(Metric::ThroughputMbS),
        also: Vec::new(),
        figures: Vec::new(),
        chosen: Vec::new(),
        deviations: Vec::new(),
        restart: Restart::Step,
        phases: vec![Phase { kind: PhaseKind::Check, steps: steps(drive, options) }],
        search: None,
        rounds: None,
        repetition: 1,
    };
    Ok(Plan {
        suite: SuiteIdentity { id: XRAY_SUITE.into(), revision: 1, title: "X-ray".into() },
        shortened: 1,
        span_scaled: false,
        seed: options.seed,
        tests: vec![test],
        repeat_until: None,
        verify: false,
        polled: false,
        pass_through: false,
    })
}

/// Returns the experiments as steps: those that write with their most bytes, the others with their time.
fn steps(drive: &DriveInfo, options: &XrayOptions) -> Vec<Step> {
    let sizes = Sizes::new(drive.capacity);
    let capacity = Bytes(sizes.capacity);
    let wanted = options.structures();
    let open = |structure: Structure| {
        wanted.contains(&structure) && excluded(structure, drive.kind, options.gentle).is_none()
    };
    let any = |structures: &[Structure]| structures.iter().any(|one| open(*one));
    let writes = |label: &str, bytes: u64| {
        run(label, 0, capacity, Until { time: None, bytes: Some(Bytes(bytes)) })
    };
    let writes_within = |label: &str, bytes: u64, time: Nanos| {
        run(label, 0, capacity, Until { time: Some(time), bytes: Some(Bytes(bytes)) })
    };
    let reads = |label: &str, seconds: u64| {
        let until = Until { time: Some(Nanos::from_secs(seconds)), bytes: None };
        run(label, 100, capacity, until)
    };
    let mut steps = Vec::new();
    if any(&[Structure::Link, Structure::Command, Structure::Cache]) {
        let trim = Preparation::Trim { offset: Bytes(0), span: drive.capacity };
        steps.push(step("trim", Action::Prepare(trim)));
        steps.push(step("rest", Action::Rest(Nanos::from_secs(10))));
        steps.push(reads("ceilings: reads of trimmed addresses", 5));
    }
    let of_units = [Structure::Units, Structure::Chunk, Structure::PageRead];
    let read = [&of_units[..], &[Structure::Suspend, Structure::Throttle]].concat();
    if any(&read) && !options.gentle {
        steps.push(writes("ascending writes", sizes.region));
    }
    if open(Structure::Cache) {
        steps.push(writes_within("fast cache: fill", sizes.fill, Sizes::FILL));
        let burst = "fast cache: burst behind a rest";
        steps.push(writes_within(burst, sizes.into_cache, Sizes::BURST));
    }
    if open(Structure::Suspend) {
        steps.push(writes("program suspend: reads beside writes", sizes.beside));
    }
    if open(Structure::Folding) {
        let rests = (Sizes::RESTS_S.iter().sum::<f64>() + Sizes::MORE_RESTS_S) as u64;
        steps.push(step("folding: rests", Action::Rest(Nanos::from_secs(rests))));
        steps.push(writes_within("folding: bursts", sizes.bursts, Sizes::BURSTS));
    }
    if open(Structure::Overflow) {
        let burst = "overflow kind: writes until the cache is full";
        steps.push(writes_within(burst, sizes.into_cache, Sizes::BURST));
        steps.push(writes("overflow kind: writes behind the cache", COUNTED * sizes.counted));
    }
    if open(Structure::Flush) {
        let most = BURSTS as u64 * sizes.before_flush + flushes::SINGLE as u64 * BLOCK;
        steps.push(random_writes("flush: writes with flushes behind them", most, capacity));
    }
    if open(Structure::MappingUnit) {
        let rounds = SHIFTS.len() as u64 * ROUNDS * 2;
        let most = (BEFORE + rounds) * sizes.shifted;
        steps.push(random_writes("mapping unit: aligned and shifted writes", most, capacity));
    }
    if open(Structure::Volumes) {
        let bits = u64::from((sizes.held_range().1 / volumes::LOWEST).ilog2());
        let measurements = 2 * bits * volumes::ROUNDS;
        let most = (volumes::BEFORE + measurements) * sizes.held;
        steps.push(random_writes("volumes: writes with one address bit held", most, capacity));
    }
    if any(&[Structure::Compression, Structure::Deduplication]) {
        let round = contents::MEASURED * sizes.shifted + sizes.shifted.max(contents::BEFORE);
        steps.push(random_writes(
            "contents: data of each kind",
            contents::ROUNDS * round + sizes.shifted_span,
            capacity,
        ));
    }
    if any(&of_units) {
        if open(Structure::Cache) {
            let rest = Nanos::from_secs(Sizes::FOLDING_S * (1 + Sizes::MORE_COOLING));
            steps.push(step("parallel units: rest", Action::Rest(rest)));
        }
        steps.push(reads("parallel units: pairs of reads", 10));
    }
    if open(Structure::Spare) {
        steps.push(writes("spare area: fill to the end", sizes.capacity));
        steps.push(writes("spare area: random overwrites", sizes.overwrites));
    }
    if open(Structure::EffectiveSpare) {
        if !open(Structure::Spare) {
            steps.push(writes("steady state: fill to the end", sizes.capacity));
        }
        let rest = Action::Rest(Nanos::from_secs(Sizes::FOLDING_S));
        steps.push(step("steady state: rest that empties a fast cache", rest));
        let most = sizes.round * Sizes::ROUNDS;
        steps.push(random_writes("steady state: uniform random writes", most, capacity));
        if open(Structure::Separation) {
            steps.push(random_writes("steady state: random writes to zones", most, capacity));
        }
    }
    if open(Structure::MapReach) {
        // That of the units will do where nothing is written behind it.
        if !any(&of_units) || open(Structure::Spare) || open(Structure::EffectiveSpare) {
            steps.push(step("map reach: rest", Action::Rest(Nanos::from_secs(Sizes::FOLDING_S))));
        }
        steps.push(reads("map reach: reads in growing ranges", 30));
    }
    if open(Structure::Throttle) {
        steps.push(step("throttle points: rest", Action::Rest(Nanos::from_secs(Sizes::COOLING_S))));
        steps.push(reads("throttle points: reads without a pause", Sizes::HEATING_S));
    }
    steps
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
