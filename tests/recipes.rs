//! Run files with known samples, for the tests of analysis, page and export. Their programs include
//! this file by its path.
#![allow(dead_code, unreachable_pub, reason = "each test program uses its part")]
#![allow(clippy::unwrap_used, reason = "a test that cannot be set up has failed")]

use ssdgauge_core::*;
use ssdgauge_runfile::{FindingRecord, Opening, StepEnd, StepPlace, StepState, Writer};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// 2026-11-20 22:32 UTC.
pub const STARTED: i64 = 1_795_213_920_000;

pub fn stream(access: Access, block_size: u64, read_percent: u8, queue_depth: u32) -> Stream {
    Stream {
        name: "requests".into(),
        access,
        block_size: Bytes(block_size),
        read_percent,
        queue_depth,
        threads: 1,
        offset: Bytes(0),
        span: Bytes(64_000_000_000),
        arrival: Arrival::Closed,
        data: Data::Incompressible,
        sync: false,
        ..Stream::default()
    }
}

pub fn step(label: &str, position: f64, stream: Stream, seconds: u64) -> Step {
    Step {
        label: label.into(),
        position,
        action: Action::Run {
            workload: Workload { engine: Engine::IoUring, streams: vec![stream] },
            until: Until { time: Some(Nanos::from_secs(seconds)), bytes: None },
            steady: None,
        },
        rest: Rest::None,
    }
}

pub fn test(id: &str, title: &str, score: Score, figures: &[Chart], steps: Vec<Step>) -> Test {
    Test {
        id: id.into(),
        revision: 1,
        title: title.into(),
        source: "an invented review, 2018".into(),
        score,
        also: Vec::new(),
        figures: figures.to_vec(),
        chosen: vec![Chosen { key: "score".into(), value: "mean over the points".into() }],
        deviations: Vec::new(),
        restart: Restart::Step,
        search: None,
        rounds: None,
        repetition: 1,
        phases: vec![Phase { kind: PhaseKind::Measure, steps }],
    }
}

pub fn plan(suite: &str, tests: Vec<Test>) -> Plan {
    Plan {
        suite: SuiteIdentity { id: suite.into(), revision: 1, title: format!("Suite {suite}") },
        shortened: 1,
        span_scaled: false,
        seed: 7,
        tests,
        repeat_until: None,
        verify: false,
        polled: false,
        pass_through: false,
    }
}

/// The tests of the suite `quick`, with `seconds` for each step.
pub fn quick(seconds: u64) -> Plan {
    let random = |read| {
        [1, 32].map(|qd| {
            let stream = stream(Access::Random, 4_096, read, qd);
            step(&format!("QD{qd}"), f64::from(qd), stream, seconds)
        })
    };
    let sequential = |read| {
        [(131_072, "128KiB", 1), (131_072, "128KiB", 8), (1 << 20, "1MiB", 1), (1 << 20, "1MiB", 8)]
            .map(|(block, name, qd)| {
                let stream = stream(Access::Sequential, block, read, qd);
                step(&format!("{name} QD{qd}"), f64::from(qd), stream, seconds)
            })
    };
    let all = [Chart::Ranking, Chart::Curve, Chart::Distribution];
    let best = Score::BestOf(Metric::ThroughputMbS);
    let tests = vec![
        test("sequential-read", "Sequential read", best.clone(), &all, sequential(100).into()),
        test("sequential-write", "Sequential write", best, &all, sequential(0).into()),
        test(
            "random-read-4k",
            "Random read 4 KiB",
            Score::BestOf(Metric::Iops),
            &all,
            random(100).into(),
        ),
        test(
            "random-write-4k",
            "Random write 4 KiB",
            Score::BestOf(Metric::Iops),
            &all,
            random(0).into(),
        ),
        test(
            "mixed-70-30",
            "Mixed 70/30",
            Score::MeanOf(Metric::Iops),
            &[Chart::Ranking, Chart::Timeline, Chart::LatencyTimeline],
            vec![step("70 % read", 70.0, stream(Access::Random, 4_096, 70, 4), seconds)],
        ),
    ];
    plan("quick", tests)
}

/// A suite with a sweep of mixes, a ladder of queue depths and a long write.
pub fn client(seconds: u64, long: u64) -> Plan {
    let mixes = (0..=10).rev().map(|tenth| {
        let read = tenth * 10;
        let stream = stream(Access::Random, 4_096, read, 4);
        step(&format!("{read} % read"), f64::from(read), stream, seconds)
    });
    let ladder = (0..=9).map(|power| {
        let qd = 1 << power;
        step(&format!("QD{qd}"), f64::from(qd), stream(Access::Random, 4_096, 100, qd), seconds)
    });
    let write = step("write", 1.0, stream(Access::Sequential, 131_072, 0, 32), long);
    let curve = [Chart::Ranking, Chart::Curve, Chart::Timeline, Chart::Distribution];
    let times = [Chart::Ranking, Chart::Timeline, Chart::LatencyTimeline, Chart::Distribution];
    let mean = |metric| Score::MeanOf(metric);
    plan(
        "client-2018",
        vec![
            test(
                "mixed-random",
                "Mixed 4 kB random read/write",
                mean(Metric::ThroughputMbS),
                &curve,
                mixes.collect(),
            ),
            test(
                "queue-depth",
                "Random read by queue depth",
                Score::Knee(Metric::Iops),
                &curve,
                ladder.collect(),
            ),
            test(
                "sustained",
                "Sequential write of the whole drive",
                mean(Metric::ThroughputMbS),
                &times,
                vec![write],
            ),
        ],
    )
}

pub fn drive(kind: TargetKind, model: &str) -> DriveInfo {
    DriveInfo {
        kind,
        target: "/dev/nvme0n1".into(),
        model: Some(model.into()),
        serial: Some("S123".into()),
        firmware: Some("FW01".into()),
        capacity: Bytes(1_000_204_886_016),
        logical_block: Bytes(512),
        physical_block: Bytes(4_096),
        details: BTreeMap::from([("file_system".into(), "ext4".into())]),
    }
}

/// What a synthetic drive does in one second of a stream.
#[derive(Clone, Copy, Debug)]
pub struct Pace {
    /// Requests completed.
    pub iops: u64,
    /// The typical latency.
    pub lat_us: f64,
}

/// How a run file is made.
pub struct Recipe<'a> {
    pub id: &'a str,
    pub plan: Plan,
    pub drive: DriveInfo,
    /// What the drive does: (workload stream, second) to pace.
    pub pace: &'a dyn Fn(&Stream, u32) -> Pace,
    /// The steps that finish; the next one is left running.
    pub steps: usize,
    /// Whether the steps of each phase run from the last to the first, as a search may.
    pub backwards: bool,
    pub power_w: Option<f64>,
    /// What the power meter sees.
    pub scope: PowerScope,
    pub findings: Vec<(Option<usize>, Finding)>,
    /// Changes each interval before it is recorded.
    pub twist: &'a dyn Fn(&mut Interval),
    /// The duration of a step, from that of its seconds.
    pub elapsed: &'a dyn Fn(Nanos) -> Nanos,
    /// Readings of the steps by their number, such as counters of the drive.
    pub readings: Vec<(usize, Reading)>,
    /// Properties of the run.
    pub properties: Vec<(String, String)>,
    /// The report of the engine after each step.
    pub report: EngineReport,
}

impl Recipe<'_> {
    pub fn new(id: &str, plan: Plan, model: &str) -> Recipe<'static> {
        Recipe {
            id: Box::leak(id.to_owned().into_boxed_str()),
            plan,
            drive: drive(TargetKind::File, model),
            pace: &steady,
            steps: usize::MAX,
            backwards: false,
            power_w: None,
            scope: PowerScope::Drive,
            findings: Vec::new(),
            twist: &|_| (),
            elapsed: &|time| time,
            readings: Vec::new(),
            properties: Vec::new(),
            report: EngineReport::default(),
        }
    }
}

/// A plain pace: more in flight, more done, with a latency by Little's law.
pub fn steady(stream: &Stream, second: u32) -> Pace {
    let depth = f64::from(stream.queue_depth);
    let service_us = 60.0 + stream.block_size.0 as f64 / 4_000.0;
    let writes = f64::from(100 - stream.read_percent) / 100.0;
    let parallel = depth.min(16.0 + depth / 64.0);
    let wobble = 1.0 + 0.03 * (f64::from(second) * 1.7).sin();
    let lat_us = service_us * depth / parallel * (1.0 - 0.5 * writes) / wobble;
    Pace { iops: ((depth / lat_us * 1e6) as u64).min(600_000), lat_us }
}

/// Records the recipe and reads it back.
pub fn run(recipe: &Recipe<'_>) -> ssdgauge_analysis::Run {
    let folder = tempfile::tempdir().unwrap();
    ssdgauge_analysis::read(&record(folder.path(), recipe)).unwrap()
}

/// Records the recipe into `folder` and returns the path of the run file.
pub fn record(folder: &Path, recipe: &Recipe<'_>) -> PathBuf {
    let path = folder.join(format!("{}.ssdg", recipe.id));
    let environment =
        [("kernel".to_owned(), "Linux 6.18".to_owned()), ("processor".into(), "invented".into())];
    let opening = Opening {
        id: recipe.id,
        program: "ssdgauge 0.1.0",
        unix_ms: STARTED,
        plan: &recipe.plan,
        drive: &recipe.drive,
        environment: &environment,
        properties: &recipe.properties,
    };
    let mut writer = Writer::create(&path, &opening).unwrap();
    let mut number = 0;
    let mut ids = Vec::new();
    'run: for (test_index, test) in recipe.plan.tests.iter().enumerate() {
        for (phase_index, phase) in test.phases.iter().enumerate() {
            let mut order: Vec<usize> = (0..phase.steps.len()).collect();
            if recipe.backwards {
                order.reverse();
            }
            for step_index in order {
                let step = &phase.steps[step_index];
                let place = StepPlace { test: test_index, phase: phase_index, step: step_index };
                let id = writer.begin_step(place, 1, &recipe.plan, STARTED).unwrap();
                ids.push(id);
                if number == recipe.steps {
                    break 'run;
                }
                let of_step = recipe.readings.iter().filter(|(of, _)| *of == number);
                of_step.for_each(|(_, reading)| writer.reading(id, reading).unwrap());
                number += 1;
                let elapsed = run_step(&mut writer, id, step, recipe);
                let end = StepEnd {
                    state: StepState::Finished,
                    unix_ms: STARTED,
                    elapsed,
                    ended_by: "time".into(),
                    report: serde_json::to_string(&recipe.report).unwrap(),
                };
                writer.finish_step(id, &end).unwrap();
            }
        }
    }
    // A run that has ended was flushed; without figures, which these tests do not need.
    let has_ended = ids.len() == number;
    if let Some(last) = ids.last().filter(|_| has_ended) {
        writer.property(Some(*last), ssdgauge_runfile::FLUSH, "null").unwrap();
    }
    for (step, finding) in &recipe.findings {
        let step = step.map(|step| ids[step]);
        let record = FindingRecord { step, unix_ms: STARTED, finding: finding.clone() };
        writer.finding(&record).unwrap();
    }
    writer.commit().unwrap();
    path
}

fn run_step(
    writer: &mut Writer,
    id: ssdgauge_runfile::StepId,
    step: &Step,
    recipe: &Recipe<'_>,
) -> Nanos {
    let Action::Run { workload, until, .. } = &step.action else { return Nanos::ZERO };
    let seconds = until.time.unwrap().0 / Nanos::SECOND.0;
    let mut random = Random::new(seconds, 3);
    for second in 0..seconds as u32 {
        for (number, stream) in workload.streams.iter().enumerate() {
            let pace = (recipe.pace)(stream, second);
            for direction in Direction::TRANSFERS {
                let share = match direction {
                    Direction::Read => u64::from(stream.read_percent),
                    Direction::Write => 100 - u64::from(stream.read_percent),
                    Direction::Flush | Direction::Trim => 0,
                };
                if share == 0 {
                    continue;
                }
                let ios = pace.iops * share / 100;
                let latency = latencies(ios, pace.lat_us, &mut random);
                let mut interval = Interval {
                    second,
                    stream: number as u16,
                    direction,
                    length: Nanos::SECOND,
                    ios,
                    bytes: ios * stream.block_size.0,
                    errors: 0,
                    latency,
                };
                (recipe.twist)(&mut interval);
                writer.interval(id, &interval).unwrap();
            }
        }
        if let Some(power_w) = recipe.power_w {
            let at = Nanos::from_secs(u64::from(second));
            for (quantity, value) in [
                (recipe.scope.quantity(), power_w),
                ("temperature_c", 40.0 + f64::from(second) / 10.0),
            ] {
                let reading =
                    Reading { at, instrument: "meter".into(), quantity: quantity.into(), value };
                writer.reading(id, &reading).unwrap();
            }
        }
    }
    (recipe.elapsed)(Nanos::from_secs(seconds))
}

/// Returns `n` latencies around `typical` microseconds: most near it, a few far beyond.
fn latencies(n: u64, typical: f64, random: &mut Random) -> Histogram {
    let drawn = n.min(400);
    let mut parts: BTreeMap<u64, u64> = BTreeMap::new();
    for number in 0..drawn {
        let tail = random.unit().powi(-1).powf(0.22) * (0.8 + 0.2 * random.unit());
        let weight = n / drawn + u64::from(number < n % drawn);
        *parts.entry((typical * tail * 1e3) as u64).or_default() += weight;
    }
    if n > 1_000 && random.unit() < 0.5 {
        *parts.entry((typical * 20.0 * 1e3) as u64).or_default() += n / 5_000 + 1;
        let (_, most) = parts.iter_mut().max_by_key(|(_, n)| **n).unwrap();
        *most -= n / 5_000 + 1;
    }
    let sum = parts.iter().map(|(value, n)| u128::from(*value) * u128::from(*n)).sum();
    let (min, max) = match (parts.keys().next(), parts.keys().last()) {
        (Some(min), Some(max)) => (*min, *max),
        _ => (0, 0),
    };
    Histogram::from_parts(parts, sum, min, max, 0).unwrap()
}

/// Returns `count` drives through `client`, each with half of the speed of the one before it.
pub fn drives(count: u32) -> Vec<ssdgauge_analysis::Run> {
    let drive = |number: u32| {
        let pace = move |stream: &Stream, second: u32| {
            let pace = steady(stream, second);
            Pace { iops: pace.iops >> number, lat_us: pace.lat_us * f64::from(1 << number) }
        };
        let mut recipe = Recipe::new(&format!("run-{number}"), client(6, 30), "Disk");
        recipe.pace = &pace;
        recipe.drive.kind = TargetKind::Block;
        recipe.drive.model = Some(format!("Model number {number}"));
        recipe.drive.serial = Some(format!("S{number}"));
        run(&recipe)
    };
    (0..count).map(drive).collect()
}
