//! A small run that is written and read by the tests.

use ssdgauge_core::{
    Access, Action, Arrival, Bytes, Chart, Chosen, Data, Direction, DriveInfo, Engine, Finding,
    FindingKind, Histogram, Interval, LogPage, Metric, Nanos, Phase, PhaseKind, Plan, Random,
    Reading, Rest, Restart, Score, Severity, Step, Stream, SuiteIdentity, TargetKind, Test, Until,
    Workload,
};
use ssdgauge_runfile::{
    Answer, Digest, FindingRecord, ImportedPercentile, Opening, Outcome, OutcomeKind,
    PropertyRecord, RunFile, RunFileError, StepEnd, StepId, StepPlace, StepState, Writer,
};
use std::path::Path;
use tempfile::TempDir;

pub(crate) fn plan() -> Plan {
    let stream = Stream {
        name: "main".into(),
        access: Access::Random,
        block_size: Bytes(4_096),
        read_percent: 70,
        queue_depth: 32,
        threads: 1,
        offset: Bytes(0),
        span: Bytes(1 << 30),
        arrival: Arrival::Closed,
        data: Data::Incompressible,
        sync: false,
        ..Stream::default()
    };
    let step = |label: &str| Step {
        label: label.into(),
        position: 70.0,
        action: Action::Run {
            workload: Workload { engine: Engine::IoUring, streams: vec![stream.clone()] },
            until: Until { time: Some(Nanos::from_secs(3)), bytes: None },
            steady: None,
        },
        rest: Rest::None,
    };
    Plan {
        suite: SuiteIdentity { id: "golden".into(), revision: 1, title: "Golden".into() },
        shortened: 1,
        span_scaled: false,
        seed: u64::MAX,
        tests: vec![Test {
            id: "mix".into(),
            revision: 2,
            title: "A mix".into(),
            source: "nobody".into(),
            score: Score::MeanOf(Metric::Iops),
            also: Vec::new(),
            figures: vec![Chart::Ranking, Chart::Timeline],
            chosen: vec![Chosen { key: "score".into(), value: "mean".into() }],
            deviations: Vec::new(),
            restart: Restart::Step,
            search: None,
            rounds: None,
            repetition: 1,
            phases: vec![Phase {
                kind: PhaseKind::Measure,
                steps: vec![step("first"), step("second")],
            }],
        }],
        repeat_until: None,
        verify: false,
        polled: false,
        pass_through: false,
    }
}

pub(crate) fn drive() -> DriveInfo {
    DriveInfo {
        kind: TargetKind::Virtual,
        target: "sim:golden".into(),
        model: Some("MODEL golden".into()),
        serial: Some("it's \"0\"; DROP TABLE step; --".into()),
        firmware: None,
        capacity: Bytes(1 << 30),
        logical_block: Bytes(512),
        physical_block: Bytes(4_096),
        details: [("class".to_owned(), "golden".to_owned())].into(),
    }
}

pub(crate) fn interval(random: &mut Random, second: u32, direction: Direction) -> Interval {
    let mut latency = Histogram::default();
    for _ in 0..random.below(200) {
        latency.record((random.exponential() * 80_000.0) as u64 + 9_000);
    }
    let ios = latency.count();
    let length = Nanos::SECOND;
    Interval { second, stream: 0, direction, length, ios, bytes: ios * 4_096, errors: 0, latency }
}

/// All records of a run file, for comparison.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Content {
    pub(crate) head: ssdgauge_runfile::Head,
    pub(crate) steps: Vec<ssdgauge_runfile::StepRecord>,
    pub(crate) intervals: Vec<Vec<Interval>>,
    pub(crate) readings: Vec<Vec<Reading>>,
    /// The readings of temperatures, by their name.
    pub(crate) temperatures: Vec<(StepId, Reading)>,
    pub(crate) findings: Vec<FindingRecord>,
    pub(crate) properties: Vec<PropertyRecord>,
    pub(crate) answers: Vec<(StepId, Answer)>,
    pub(crate) percentiles: Vec<(StepId, ImportedPercentile)>,
    pub(crate) log_pages: Vec<(StepId, LogPage)>,
    pub(crate) digests: Vec<(StepId, Digest)>,
    pub(crate) outcome: Option<Outcome>,
}

impl Content {
    /// Returns what a file by version 1 of the arithmetic holds of the same run: numbers without samples.
    pub(crate) fn by_arithmetic_1(mut self) -> Content {
        for (_, digest) in &mut self.digests {
            digest.arithmetic = 1;
            let (numbers, _) = digest.content.split_once(",\"samples\":").unwrap();
            digest.content = format!("{numbers}}}");
        }
        self
    }

    /// Returns what a file of format 2 holds of the same run.
    pub(crate) fn in_format_2(self) -> Content {
        Content {
            answers: Vec::new(),
            percentiles: Vec::new(),
            log_pages: Vec::new(),
            digests: Vec::new(),
            outcome: None,
            ..self
        }
    }
}

/// Writes a small run, the same one in every call.
pub(crate) fn write(path: &Path) {
    write_with_readings(path, 1);
}

/// Writes the small run with so many readings in each second of its steps.
pub(crate) fn write_with_readings(path: &Path, readings: u32) {
    let (plan, drive) = (plan(), drive());
    let environment = [("kernel".to_owned(), "6.1".to_owned())];
    let opening = Opening {
        id: "20261120-000000-00000001",
        program: "golden 1",
        unix_ms: 1_795_000_000_000,
        plan: &plan,
        drive: &drive,
        environment: &environment,
        properties: &[("label".to_owned(), "bare".to_owned())],
    };
    let mut writer = Writer::create(path, &opening).unwrap();
    let mut random = Random::new(42, 0);
    for (step, state) in
        [(0, StepState::Broken), (0, StepState::Finished), (1, StepState::Finished)]
    {
        let id = begin_step(&mut writer, step, 1);
        for second in 0..3 {
            for direction in Direction::TRANSFERS {
                writer.interval(id, &interval(&mut random, second, direction)).unwrap();
            }
            for number in 0..readings {
                let reading = Reading {
                    at: Nanos::SECOND * u64::from(second),
                    instrument: "virtual".into(),
                    quantity: "temperature_c".into(),
                    value: 40.5 + f64::from(second) + f64::from(number),
                };
                writer.reading(id, &reading).unwrap();
            }
        }
        add_records_of_format_3(&mut writer, id);
        let end = StepEnd {
            state,
            unix_ms: 1_795_000_004_000,
            elapsed: Nanos::from_secs(3),
            ended_by: "time".into(),
            report: "{}".into(),
        };
        writer.finish_step(id, &end).unwrap();
        let finding =
            Finding::new(FindingKind::Punted, Severity::Note, "a <b>bold</b> finding", "none");
        writer.finding(&FindingRecord { step: Some(id), unix_ms: 5, finding }).unwrap();
        writer.property(Some(id), "golden", "of a step").unwrap();
    }
    let (kind, reason) = (OutcomeKind::Unfinished, "stopped".into());
    writer.end_run(&Outcome { unix_ms: 1_795_000_005_000, kind, reason }).unwrap();
    writer.commit().unwrap();
}

/// Adds an answer, a percentile and a log page to a step that runs.
fn add_records_of_format_3(writer: &mut Writer, step: StepId) {
    let answer = Answer {
        unix_ms: 1_795_000_002_000,
        kind: "send".into(),
        asked: "{\"requests\":3}".into(),
        answer: "[70000,71000,69000]".into(),
    };
    writer.answer(step, &answer).unwrap();
    let (direction, latency) = (Direction::Write, Nanos(1_250_000));
    let stated = ImportedPercentile { stream: 0, direction, percent: 99.9, latency };
    writer.percentile(step, &stated).unwrap();
    let content = (0..=255).chain(0..=255).collect();
    let page = LogPage { at: Nanos::from_secs(3), page: "nvme-02h".into(), content };
    writer.log_page(step, &page).unwrap();
}

/// Reads all records, or returns the first error.
pub(crate) fn read(path: &Path) -> Result<Content, RunFileError> {
    let run = RunFile::open(path)?;
    let steps = run.steps()?;
    let (mut intervals, mut readings) = (Vec::new(), Vec::new());
    for step in &steps {
        let (mut of_step, mut read) = (Vec::new(), Vec::new());
        run.intervals(step.id, |interval| of_step.push(interval))?;
        run.readings(step.id, |reading| read.push(reading.clone()))?;
        intervals.push(of_step);
        readings.push(read);
    }
    let mut temperatures = Vec::new();
    run.readings_of(&["temperature_c"], |step, reading| temperatures.push((step, reading)))?;
    let (findings, mut properties) = (run.findings()?, run.properties()?);
    // Inode and time of creation are those of each file.
    properties.retain(|one| one.key != "file_origin");
    let mut answers = Vec::new();
    run.answers(|step, answer| answers.push((step, answer)))?;
    let (percentiles, log_pages) = (run.percentiles()?, run.log_pages()?);
    let (digests, outcome) = (run.digests()?, run.outcome()?);
    let head = run.head().clone();
    Ok(Content {
        head,
        steps,
        intervals,
        readings,
        temperatures,
        findings,
        properties,
        answers,
        percentiles,
        log_pages,
        digests,
        outcome,
    })
}

/// Begins attempt number `attempt` at `step` of the plan.
pub(crate) fn begin_step(writer: &mut Writer, step: usize, attempt: u32) -> StepId {
    let place = StepPlace { test: 0, phase: 0, step };
    writer.begin_step(place, attempt, &plan(), 1_795_000_001_000).unwrap()
}

/// Returns a folder for files that are read and rewritten thousands of times: in memory where the
/// system has a file system for that, because no claim of these tests is about durability.
pub(crate) fn folder() -> TempDir {
    TempDir::new_in("/dev/shm").or_else(|_| TempDir::new()).unwrap()
}
