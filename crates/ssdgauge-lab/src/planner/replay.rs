//! The plan of a replay: one test of one measured step, after a fill where one is wanted.

use super::{Options, PlanError};
use ssdgauge_core::{
    Access, Action, Bytes, Chart, DriveInfo, Metric, Phase, PhaseKind, Plan, Preparation, Replay,
    Rest, Restart, Score, Step, SuiteIdentity, Test,
};

/// The id of every replay as a suite, and the revision of its rules.
pub const REPLAY_SUITE: &str = "trace";
const REVISION: u32 = 2;
/// The length of the writes of a fill.
const FILL_BLOCK: Bytes = Bytes(128 << 10);
/// The digits of the id of a trace in the id of its test.
const ID_DIGITS: usize = 8;

/// Returns the plan of `replay` on `drive`; with `fill`, the range of the target that it names is written
/// first. The id of the test has the trace and the cut of idle times: results of different traces or cuts
/// are never compared.
///
/// # Errors
/// [`PlanError::Shorten`] or [`PlanError::Repeat`] by the options, and [`PlanError::UnknownTest`] where
/// they name a test.
pub fn plan_replay(
    replay: &Replay,
    fill: Option<Bytes>,
    drive: &DriveInfo,
    options: &Options,
) -> Result<Plan, PlanError> {
    if options.shorten == 0 {
        return Err(PlanError::Shorten(0));
    }
    let repeat = options.repeat.check()?;
    let id = test_id(replay);
    if let Some(unknown) = options.only.iter().find(|only| **only != id) {
        let (suite, test) = (REPLAY_SUITE.to_owned(), unknown.clone());
        return Err(PlanError::UnknownTest { suite, test, known: id });
    }
    debug_assert!(replay.workload.end() <= drive.capacity, "requests were folded into the target");
    let name = &replay.trace.name;
    let title = format!("Replay of {name}, {}", replay.cut_label());
    let metrics = [Metric::Iops, Metric::LatMeanUs, Metric::LatP99Us, Metric::LatP999Us];
    let of_suite = title.clone();
    let test = |repetition| Test {
        id: id.clone(),
        revision: REVISION,
        title: title.clone(),
        source: format!("trace {name} (id {})", replay.trace.id),
        score: Score::MeanOf(Metric::ThroughputMbS),
        also: metrics.into_iter().map(Score::MeanOf).collect(),
        figures: vec![Chart::Ranking, Chart::Timeline, Chart::LatencyTimeline, Chart::Distribution],
        chosen: Vec::new(),
        deviations: Vec::new(),
        // A part of a replay is none: an interrupted one begins again after its preparation.
        restart: Restart::Test,
        phases: fill.map(filled).into_iter().chain([measured(replay)]).collect(),
        search: None,
        rounds: None,
        repetition,
    };
    Ok(Plan {
        suite: SuiteIdentity { id: REPLAY_SUITE.into(), revision: REVISION, title: of_suite },
        shortened: options.shorten,
        span_scaled: false,
        seed: options.seed,
        tests: (1..=repeat.at_most()).map(test).collect(),
        repeat_until: repeat.rule(),
        verify: false,
        polled: false,
        pass_through: false,
    })
}

/// Returns the id of the test, such as `tpcc-small-c09ef244-cut-25ms`.
fn test_id(replay: &Replay) -> String {
    let plain =
        |one: char| if one.is_ascii_alphanumeric() { one.to_ascii_lowercase() } else { '-' };
    let name: String = replay.trace.name.chars().map(plain).take(40).collect();
    let id: String = replay.trace.id.chars().take(ID_DIGITS).collect();
    match replay.idle_cut {
        Some(cut) => format!("{name}-{id}-cut-{}", cut.exact()),
        None => format!("{name}-{id}-uncut"),
    }
}

fn filled(span: Bytes) -> Phase {
    Phase::from_preparation(Preparation::Fill {
        access: Access::Sequential,
        block_size: FILL_BLOCK.min(span),
        offset: Bytes(0),
        span,
    })
}

fn measured(replay: &Replay) -> Phase {
    let action = Action::Replay(Box::new(replay.clone()));
    let step = Step { label: "replay".into(), position: 0.0, action, rest: Rest::None };
    Phase { kind: PhaseKind::Measure, steps: vec![step] }
}
