//! Constructed tests with steps whose seconds are known, for unit tests.

use crate::headlines::headline;
use crate::model::{PointRun, RecordedRepetition, TestRun};
use ssdgauge_core::{
    Access, Action, Bytes, Direction, DriveInfo, Engine, Histogram, Interval, Metric, Nanos, Phase,
    PhaseKind, Point, Reading, Rest, Restart, Score, SecondAggregator, Step, Stream, TargetKind,
    Test, Until, Workload,
};
use std::collections::BTreeMap;

/// One megabyte.
pub(crate) const MB: u64 = 1_000_000;

/// Returns a drive of `capacity` bytes.
pub(crate) fn drive(kind: TargetKind, capacity: u64) -> DriveInfo {
    DriveInfo {
        kind,
        target: "constructed".into(),
        model: None,
        serial: None,
        firmware: None,
        capacity: Bytes(capacity),
        logical_block: Bytes(512),
        physical_block: Bytes(4_096),
        details: BTreeMap::new(),
    }
}

/// Returns writes with `access`.
pub(crate) fn writes(access: Access) -> Workload {
    let stream = Stream { access, read_percent: 0, queue_depth: 8, ..Stream::default() };
    Workload { engine: Engine::IoUring, streams: vec![stream] }
}

/// Returns a step with this action and `rest` seconds without load after it.
pub(crate) fn step(label: &str, action: Action, rest: u64) -> Step {
    let rest = if rest == 0 { Rest::None } else { Rest::For(Nanos::from_secs(rest)) };
    Step { label: label.into(), position: 0.0, action, rest }
}

/// Returns a step of writes with `access`.
pub(crate) fn write(label: &str, access: Access, rest: u64) -> Step {
    let until = Until { time: Some(Nanos::from_secs(3_600)), bytes: None };
    step(label, Action::Run { workload: writes(access), until, steady: None }, rest)
}

/// The samples of a step of writes with these megabytes in each second, and readings (second, quantity,
/// value).
pub(crate) fn point(
    label: &str,
    access: Access,
    megabytes: &[u64],
    readings: &[(u64, &str, f64)],
) -> PointRun {
    let workload = writes(access);
    let mut samples = SecondAggregator::default().of_workload(&workload, 16);
    for (second, megabytes) in (0..).zip(megabytes) {
        let bytes = megabytes * MB;
        samples.interval(Interval {
            second,
            stream: 0,
            direction: Direction::Write,
            length: Nanos::SECOND,
            ios: bytes / 131_072,
            bytes,
            errors: 0,
            latency: Histogram::default(),
        });
    }
    for (second, quantity, value) in readings {
        samples.reading(&Reading {
            at: Nanos::SECOND * *second,
            instrument: "drive".into(),
            quantity: (*quantity).to_owned(),
            value: *value,
        });
    }
    let samples = samples.finish(Nanos::from_secs(megabytes.len() as u64));
    PointRun {
        point: Point {
            label: label.into(),
            position: 0.0,
            totals: samples.whole,
            seconds: samples.seconds,
            streams: Vec::new(),
            percentiles: BTreeMap::new(),
        },
        latency_map: None,
        workload,
        instruments: BTreeMap::new(),
        order: 0,
        ended_by: "time".into(),
        open_loop: Vec::new(),
        kernel: None,
        flush: None,
        cache: None,
        falls: Vec::new(),
        levels: None,
        between: None,
    }
}

/// Returns a test with `phases` of which `points` were measured.
pub(crate) fn test(phases: Vec<(PhaseKind, Vec<Step>)>, points: Vec<PointRun>) -> TestRun {
    let phases = phases.into_iter().map(|(kind, steps)| Phase { kind, steps }).collect();
    let test = Test {
        id: "constructed".into(),
        revision: 1,
        title: "Constructed".into(),
        source: "ssdgauge".into(),
        score: Score::MeanOf(Metric::ThroughputMbS),
        also: Vec::new(),
        figures: Vec::new(),
        chosen: Vec::new(),
        deviations: Vec::new(),
        restart: Restart::Step,
        phases,
        search: None,
        rounds: None,
        repetition: 1,
    };
    let planned = test.measured_steps().count();
    headline::score(RecordedRepetition {
        test,
        points,
        checks: Vec::new(),
        planned,
        findings: Vec::new(),
        complete: true,
        is_searched: true,
        tracked: Vec::new(),
    })
}
