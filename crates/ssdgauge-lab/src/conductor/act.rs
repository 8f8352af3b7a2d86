//! Execution of one action of a plan on a rig.

use super::rounds::RoundValues;
use super::sink::StepSink;
use super::slices::Slices;
use ssdgauge_core::rounded;
use ssdgauge_core::{
    Action, Direction, Ended, EndedBy, Finding, FindingKind, GeneratedRequests, Histogram, IDLE,
    Interval, MAX_LAG, Nanos, OpenLoop, Reading, RecordedRequests, Replay, Rig, RigError, Severity,
    Sink, SteadyRounds, Step, Stream, Test, Workload,
};

/// Result of an action.
pub(super) struct Done {
    /// What ended it.
    pub(super) by: By,
    /// Its duration by the clock of the rig.
    pub(super) elapsed: Nanos,
    /// Report of the engine or the preparation, as JSON.
    pub(super) report: String,
    /// The figures of its open loops.
    pub(super) open_loops: Vec<OpenLoop>,
}

impl Done {
    /// Returns the finding on a step that ended before its limit because an open loop fell behind. A search
    /// judges its loads itself, and a replay is compared with its trace.
    pub(super) fn fell_behind(&self, test: &Test, step: &Step) -> Option<Finding> {
        let Action::Run { until, .. } = &step.action else { return None };
        let (who, advice) = match self.by {
            By::Limit(EndedBy::DeviceLag) => ("the drive completed", "use a lower rate"),
            By::Limit(EndedBy::HostLag) => {
                ("the host sent", "use a lower rate or a faster host: the drive was not the limit")
            }
            By::Limit(EndedBy::Time | EndedBy::Bytes | EndedBy::Stop | EndedBy::Faults)
            | By::Steady
            | By::TooSlow
            | By::Done => return None,
        };
        let of = until.time.map(|time| format!(" of {}", time.about())).unwrap_or_default();
        let text = format!(
            "{who} a request more than {} after its due time, and the step ended after {}{of}: its \
             latencies are those of a queue that grows, and end with it",
            MAX_LAG.about(),
            self.elapsed.about()
        );
        test.search
            .is_none()
            .then(|| Finding::new(FindingKind::Overloaded, Severity::Warning, text, advice))
    }
}

/// End of an action.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum By {
    /// At a limit of its workload.
    Limit(EndedBy),
    /// At a steady state.
    Steady,
    /// When an attempt of a search could no longer pass.
    TooSlow,
    /// Complete, without a limit.
    Done,
}

impl By {
    /// Returns the value of `ended_by` in run files and pages.
    pub(super) fn name(self) -> &'static str {
        match self {
            By::Limit(limit) => limit.name(),
            By::Steady => "steady",
            By::TooSlow => "too-slow",
            By::Done => "done",
        }
    }

    fn from_stopped(stopped: bool) -> By {
        if stopped { By::Limit(EndedBy::Stop) } else { By::Done }
    }
}

/// Executes `action` and passes its samples to `sink`.
pub(super) fn act(
    rig: &mut dyn Rig,
    action: &Action,
    sink: &mut StepSink<'_>,
) -> Result<Done, RigError> {
    let json = "reports always serialise";
    match action {
        Action::Prepare(preparation) => {
            let prepared = rig.prepare(preparation, sink)?;
            let by = By::from_stopped(prepared.stopped);
            let report = serde_json::to_string(&prepared).expect(json);
            Ok(Done { by, elapsed: prepared.elapsed, report, open_loops: Vec::new() })
        }
        Action::Run { workload, until, steady } => {
            sink.begin_load(workload);
            sink.rounds = steady.map(|rule| SteadyRounds::new(rule, workload));
            let ended = rig.run(workload, until, sink)?;
            let ended = flush_at_end(rig, workload, ended, sink)?;
            let rounds = sink.rounds.take();
            let verdict = rounds.as_ref().and_then(SteadyRounds::steady);
            // The sink ends a steady step by a stop request, so a stop with a verdict is the rule; a
            // step that cannot pass likewise.
            let is_too_slow = sink.slices.as_ref().is_some_and(Slices::cannot_pass);
            let by = match (ended.by, verdict) {
                (EndedBy::Stop, Some(_)) => By::Steady,
                (EndedBy::Stop, None) if is_too_slow => By::TooSlow,
                (by, _) => By::Limit(by),
            };
            let report = serde_json::to_string(&ended.engine).expect(json);
            // A step that was stopped or failed is executed again: it has no verdict.
            match (steady.zip(rounds), by) {
                (Some(_), By::Limit(EndedBy::Stop | EndedBy::Faults)) | (None, _) => {}
                (Some((rule, rounds)), By::Limit(_) | By::Steady | By::TooSlow | By::Done) => {
                    let round = format!("rounds of {}", rule.describe_round());
                    sink.finding(RoundValues::from_step(rule, &rounds).finding(&round));
                }
            }
            Ok(Done { by, elapsed: ended.elapsed, report, open_loops: ended.engine.open_loop })
        }
        Action::Replay(replay) => self::replay(rig, replay, sink),
        Action::Rest(duration) => Ok(paused(rig.rest(*duration, sink)?, sink)),
        Action::Idle(duration) => Ok(paused(rig.idle(*duration, sink)?, sink)),
    }
}

/// Sends the flush that ends a step, where a stream wants one, and adds its time to that of the step. It is
/// recorded as a request after the last second, with a length of its own below one second, so that it
/// is part of no full second.
fn flush_at_end(
    rig: &mut dyn Rig,
    workload: &Workload,
    ended: Ended,
    sink: &mut StepSink<'_>,
) -> Result<Ended, RigError> {
    let wants = |stream: &Stream| stream.flush_at_end && stream.writes();
    let stream = workload.streams.iter().position(wants);
    let (Some(stream), EndedBy::Time | EndedBy::Bytes) = (stream, ended.by) else {
        return Ok(ended);
    };
    let Some(flush) = rig.flush(sink)? else { return Ok(ended) };
    let mut latency = Histogram::default();
    latency.record(flush.elapsed.0);
    sink.interval(&Interval {
        second: u32::try_from(ended.elapsed.0.div_ceil(Nanos::SECOND.0)).unwrap_or(u32::MAX),
        stream: stream as u16,
        direction: Direction::Flush,
        length: flush.elapsed.min(Nanos(Nanos::SECOND.0 - 1)),
        ios: 1,
        bytes: 0,
        errors: 0,
        latency,
    });
    Ok(Ended { elapsed: ended.elapsed + flush.elapsed, ..ended })
}

/// Replays a trace, and records its times next to those of the replay.
fn replay(rig: &mut dyn Rig, replay: &Replay, sink: &mut StepSink<'_>) -> Result<Done, RigError> {
    let cannot_read = |cause| RigError::System {
        what: format!("cannot read the trace {}", replay.trace.path),
        cause,
    };
    let requests: Box<dyn RecordedRequests> = match &replay.generated {
        Some(trace) => Box::new(GeneratedRequests::new(trace)),
        None => sink.recorded_requests(replay).map_err(cannot_read)?,
    };
    replay.findings().into_iter().for_each(|finding| sink.finding(finding));
    let ended = rig.replay(replay, requests, sink)?;
    let times = [
        ("recorded_s", replay.recorded),
        ("recorded_after_cut_s", replay.after_cut),
        ("replayed_s", ended.elapsed),
    ];
    let times = times.map(|(quantity, time)| (quantity, time.as_secs_f64()));
    let idle = ended.engine.open_loop.iter().filter_map(|one| one.idle_s).sum::<f64>();
    for (quantity, value) in times.into_iter().chain([(IDLE, idle)]) {
        let (instrument, quantity) = ("trace".to_owned(), quantity.to_owned());
        sink.reading(&Reading { at: ended.elapsed, instrument, quantity, value });
    }
    if ended.by == EndedBy::Bytes {
        sink.finding(replayed(replay, &ended));
    }
    let report = serde_json::to_string(&ended.engine).expect("reports always serialise");
    let by = By::Limit(ended.by);
    Ok(Done { by, elapsed: ended.elapsed, report, open_loops: ended.engine.open_loop })
}

/// Returns the finding with the times of a replay.
fn replayed(replay: &Replay, ended: &Ended) -> Finding {
    let seconds = replay.after_cut.as_secs_f64().max(1e-9);
    let percent = (ended.elapsed.as_secs_f64() / seconds - 1.0) * 100.0;
    let late = |us: Option<f64>| us.map_or("–".to_owned(), rounded::latency);
    let [recorded, took] = [replay.after_cut, ended.elapsed].map(Nanos::about);
    // Of several streams, that with the latest requests.
    let late_p99 = |one: &&OpenLoop| one.lateness_p99_us.map_or(0, |us| (us * 1e3) as u64);
    let latest = ended.engine.open_loop.iter().max_by_key(late_p99);
    let lateness = latest.map_or(String::new(), |open_loop| {
        let of = match ended.engine.open_loop.len() {
            1 => String::new(),
            _ => format!(" of stream '{}', the latest one", open_loop.stream),
        };
        format!(
            "; lateness of the requests{of}: {} median, {} p99, {} maximum",
            late(open_loop.lateness_p50_us),
            late(open_loop.lateness_p99_us),
            late(open_loop.lateness_max_us)
        )
    });
    if replay.generated.is_some() {
        let name = &replay.trace.name;
        let text = format!(
            "the replay of the generated trace {name} took {took}, of which about {recorded} are idle \
             times{lateness}"
        );
        return Finding::new(FindingKind::Replayed, Severity::Note, text, "");
    }
    Finding::new(
        FindingKind::Replayed,
        Severity::Note,
        format!(
            "the trace {} (id {}) has {}, {recorded} with {}; its replay took {took} \
             ({percent:+.2} %){lateness}",
            replay.trace.name,
            replay.trace.id,
            replay.recorded.about(),
            replay.cut_label()
        ),
        "",
    )
}

/// Returns the result of a pause without a load that took `elapsed`.
fn paused(elapsed: Nanos, sink: &mut StepSink<'_>) -> Done {
    Done { by: By::from_stopped(sink.stop()), elapsed, report: "{}".into(), open_loops: Vec::new() }
}
