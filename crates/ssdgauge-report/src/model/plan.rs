//! The measured part of a planned test.

use ssdgauge_core::{Bytes, PhaseKind, Step, Test};

/// Returns the steps of `test` that are measured.
pub(crate) fn measured_steps(test: &Test) -> impl Iterator<Item = &Step> {
    let phases = test.phases.iter().filter(|phase| phase.kind == PhaseKind::Measure);
    phases.flat_map(|phase| &phase.steps).filter(|step| step.action.measured_workload().is_some())
}

/// Returns the spans of everything that `test` measures, as planned.
pub(crate) fn measured_spans(test: &Test) -> Vec<Bytes> {
    let workloads = measured_steps(test).filter_map(|step| step.action.workload());
    let streams = workloads.flat_map(|workload| &workload.streams);
    let mut spans: Vec<Bytes> = streams.map(|stream| stream.span).collect();
    spans.dedup();
    spans
}
