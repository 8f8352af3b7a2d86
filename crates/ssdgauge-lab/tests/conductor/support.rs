//! A scripted rig, which logs its calls and fails or stops at a given one.

use ssdgauge_core::{
    Action, Bytes, Detail, Direction, DriveInfo, Ended, EndedBy, EngineReport, Finding, Flush,
    Histogram, Interval, LostWrite, Nanos, Phase, Plan, Preparation, Prepared, ReadBack, Reading,
    Rig, RigError, Sink, Step, TargetKind, Test, Until, Verified, Workload,
};
use ssdgauge_lab::{Options, Suite, Watcher, plan};
use ssdgauge_runfile::{Opening, Writer};
use std::path::Path;

/// Three steps with pauses after a fill, then a test with `restart = "test"`.
pub(crate) const SUITE: &str = r#"
[suite]
id = "scripted"
revision = 1
title = "Scripted"

[[test]]
id = "first"
revision = 1
title = "First"
prepare = [{ purge = true }, { fill = "sequential", span = "50%" }]
stream = { access = "random", block_size = "4KiB", queue_depth = 4, span = "50%" }
sweep = { read_percent = [100, 50, 0] }
until = { time = "2s" }
rest = { duty_cycle = 0.5, at_most = "1s" }
score = { mean_of = "iops" }

[[test]]
id = "whole"
revision = 1
title = "Whole"
prepare = [{ fill = "random" }]
restart = "test"
stream = { access = "random", block_size = "4KiB", read_percent = 0 }
sweep = { queue_depth = [1, 2] }
until = { time = "2s" }
score = { mean_of = "iops" }
"#;

/// Calls of a rig in order.
pub(crate) type Log = Vec<String>;

pub(crate) struct Script {
    info: DriveInfo,
    pub(crate) log: Log,
    /// The call, counted from 1, that fails or is stopped.
    pub(crate) fails_at: Option<usize>,
    pub(crate) stops_at: Option<usize>,
    calls: usize,
    /// The flush, counted from 1, that fails; without a flush where it is `None`.
    pub(crate) flush_that_fails: Option<usize>,
    flushes: usize,
    /// What a verification returns.
    pub(crate) verified: Option<Verified>,
    /// The steps of an earlier part of the run.
    pub(crate) earlier: usize,
    /// Whether the drive no longer holds what earlier parts of the run have filled.
    pub(crate) is_changed: bool,
}

impl Script {
    pub(crate) fn new(kind: TargetKind) -> Script {
        let info = DriveInfo {
            kind,
            target: "scripted".into(),
            model: None,
            serial: Some("S1".into()),
            firmware: None,
            capacity: Bytes(1 << 30),
            logical_block: Bytes(512),
            physical_block: Bytes(4_096),
            details: Default::default(),
        };
        Script {
            info,
            log: Vec::new(),
            fails_at: None,
            stops_at: None,
            calls: 0,
            flush_that_fails: None,
            flushes: 0,
            verified: None,
            earlier: 0,
            is_changed: false,
        }
    }

    pub(crate) fn with_model_revision(mut self, revision: u32) -> Script {
        self.info.state(Detail::ModelRevision, revision.to_string());
        self
    }

    pub(crate) fn with_serial(mut self, serial: &str) -> Script {
        self.info.serial = Some(serial.into());
        self
    }

    fn note(&mut self, words: String) -> Result<bool, RigError> {
        self.calls += 1;
        self.log.push(words);
        if self.fails_at == Some(self.calls) {
            return Err(RigError::Gone("scripted".into()));
        }
        Ok(self.stops_at == Some(self.calls))
    }
}

impl Rig for Script {
    fn drive(&self) -> &DriveInfo {
        &self.info
    }

    fn flush(&mut self, _: &mut dyn Sink) -> Result<Option<Flush>, RigError> {
        let Some(fails) = self.flush_that_fails else { return Ok(None) };
        self.flushes += 1;
        self.log.push("flush".into());
        match self.flushes == fails {
            true => Err(RigError::Gone("scripted".into())),
            false => Ok(Some(Flush { sent: 1, ..Flush::default() })),
        }
    }

    fn verify(
        &mut self,
        progress: &mut dyn FnMut(Bytes, Bytes) -> bool,
    ) -> Result<Option<Verified>, RigError> {
        assert!(progress(Bytes(0), self.info.capacity));
        self.log.push("verify".into());
        Ok(self.verified.clone())
    }

    fn carried_out_earlier(&mut self, _: &Action, _: bool) {
        self.earlier += 1;
    }

    fn read_earlier(&mut self, earlier: &[(&Action, bool)]) -> Result<Option<ReadBack>, RigError> {
        let is_fill = |(action, is_finished): &(&Action, bool)| {
            *is_finished && matches!(action, Action::Prepare(Preparation::Fill { .. }))
        };
        let lost = LostWrite { offset: 8_192, found: "zeros".into() };
        let lost = if self.is_changed { vec![lost] } else { Vec::new() };
        let read = ReadBack { read: ReadBack::BLOCKS as u64, lost, foreign_at: None };
        Ok(earlier.iter().any(is_fill).then_some(read))
    }

    fn prepare(&mut self, what: &Preparation, _: &mut dyn Sink) -> Result<Prepared, RigError> {
        let words = match what {
            Preparation::Purge | Preparation::PurgeBy(_) => "purge".to_owned(),
            Preparation::Trim { .. } => "trim".to_owned(),
            Preparation::Fill { access, span, .. } => format!("fill {access:?} {}", span.exact()),
            Preparation::Power(saving) => format!("power {saving}"),
            Preparation::WriteCache(switch) => format!("cache {switch}"),
        };
        let stopped = self.note(words)?;
        Ok(Prepared { method: "script".into(), written: Bytes(0), elapsed: Nanos::SECOND, stopped })
    }

    fn run(&mut self, load: &Workload, _: &Until, sink: &mut dyn Sink) -> Result<Ended, RigError> {
        let stream = &load.streams[0];
        let words = format!("run {} % QD{}", stream.read_percent, stream.total_depth());
        for second in 0..2 {
            let mut latency = Histogram::default();
            latency.record(1_000);
            sink.interval(&Interval {
                second,
                stream: 0,
                direction: Direction::Read,
                length: Nanos::SECOND,
                ios: 1,
                bytes: 4_096,
                errors: 0,
                latency,
            });
        }
        let stopped = self.note(words)?;
        let by = if stopped { EndedBy::Stop } else { EndedBy::Time };
        Ok(Ended { by, elapsed: Nanos::from_secs(2), engine: EngineReport::default() })
    }

    fn rest(&mut self, duration: Nanos, sink: &mut dyn Sink) -> Result<Nanos, RigError> {
        sink.reading(&Reading {
            at: Nanos::ZERO,
            instrument: "script".into(),
            quantity: "temperature_c".into(),
            value: 30.0,
        });
        self.log.push(format!("rest {}", duration.exact()));
        Ok(duration)
    }
}

/// Keeps the findings; its time of day advances by a second with each call.
#[derive(Default)]
pub(crate) struct Bystander {
    now: i64,
    pub(crate) findings: Vec<Finding>,
}

impl Watcher for Bystander {
    fn unix_ms(&mut self) -> i64 {
        self.now += 1_000;
        self.now
    }
    fn stop(&mut self) -> bool {
        false
    }
    fn step_began(&mut self, _: &Test, _: &Phase, _: &Step) {}
    fn pause_began(&mut self, _: Nanos) {}
    fn finding_recorded(&mut self, finding: &Finding) {
        self.findings.push(finding.clone());
    }
    fn step_ended(&mut self, _: &Test, _: &Step, _: Nanos) {}
}

pub(crate) fn scripted_plan(rig: &Script) -> Plan {
    let suite = Suite::parse("scripted.toml", SUITE).unwrap();
    plan(&suite, rig.drive(), &Options::default()).unwrap()
}

pub(crate) fn create(path: &Path, plan: &Plan, rig: &Script) -> Writer {
    let opening = Opening {
        id: "1",
        program: "script",
        unix_ms: 0,
        plan,
        drive: rig.drive(),
        environment: &[],
        properties: &[],
    };
    Writer::create(path, &opening).unwrap()
}
