//! The plan of a proof: what it writes and reads at most, for the confirmation, the estimate and the
//! write budget.

use super::ProofError;
use super::layout::{Depth, Layout};
use ssdgauge_core::{
    Access, Action, Bytes, DriveInfo, Engine, Metric, Phase, PhaseKind, Plan, Rest, Restart, Score,
    Step, Stream, SuiteIdentity, Test, Until, Workload,
};
use ssdgauge_runfile::PROOF_SUITE;

/// The requests of a proof.
const REQUEST: Bytes = Bytes(1 << 20);

/// Returns the plan of a proof of `drive`.
///
/// # Errors
/// [`ProofError::TooSmall`].
pub fn proof_plan(drive: &DriveInfo, depth: Depth, seed: u64) -> Result<Plan, ProofError> {
    if drive.capacity < Layout::LEAST {
        let (drive, capacity) = (drive.target.clone(), drive.capacity);
        return Err(ProofError::TooSmall { drive, capacity });
    }
    let layout = Layout::new(drive.capacity, depth);
    let steps = vec![
        step("blocks that name their address", 0, drive.capacity, layout.written()),
        step("the same blocks, read back", 100, drive.capacity, layout.read()),
    ];
    let test = Test {
        id: PROOF_SUITE.into(),
        revision: 1,
        title: "Proof of the capacity".into(),
        source: "docs/reference/prove.md".into(),
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
    };
    Ok(Plan {
        suite: SuiteIdentity {
            id: PROOF_SUITE.into(),
            revision: 1,
            title: "Proof of the capacity".into(),
        },
        shortened: 1,
        span_scaled: false,
        seed,
        tests: vec![test],
        repeat_until: None,
        verify: false,
        polled: false,
        pass_through: false,
    })
}

fn step(label: &str, read_percent: u8, capacity: Bytes, bytes: Bytes) -> Step {
    let stream = Stream {
        access: Access::Sequential,
        block_size: REQUEST,
        read_percent,
        span: capacity,
        ..Stream::default()
    };
    let workload = Workload { engine: Engine::Synchronous, streams: vec![stream] };
    let until = Until { time: None, bytes: Some(bytes) };
    let action = Action::Run { workload, until, steady: None };
    Step { label: label.into(), position: 0.0, action, rest: Rest::None }
}
