//! The measured part of a planned test.

use ssdgauge_core::{Action, Bytes, Engine, PhaseKind, Step, Test, Workload};

/// The load of an idle step: no streams.
pub(crate) const NO_LOAD: Workload = Workload { engine: Engine::IoUring, streams: Vec::new() };

/// Returns the steps of `test` that are measured.
pub(crate) fn measured_steps(test: &Test) -> impl Iterator<Item = &Step> {
    let phases = test.phases.iter().filter(|phase| phase.kind == PhaseKind::Measure);
    phases
        .flat_map(|phase| &phase.steps)
        .filter(|step| matches!(step.action, Action::Run { .. } | Action::Idle(_)))
}

/// Returns the spans of everything that `test` measures, as planned.
pub(crate) fn measured_spans(test: &Test) -> Vec<Bytes> {
    let streams = measured_steps(test).flat_map(|step| match &step.action {
        Action::Run { workload, .. } => workload.streams.as_slice(),
        Action::Prepare(_) | Action::Rest(_) | Action::Idle(_) => &[],
    });
    let mut spans: Vec<Bytes> = streams.map(|stream| stream.span).collect();
    spans.dedup();
    spans
}
