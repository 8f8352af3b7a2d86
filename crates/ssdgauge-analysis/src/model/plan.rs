//! The measured part of a planned test.

use ssdgauge_core::{Bytes, Step, Test};

/// Returns the steps of `test` that are measured.
pub(crate) fn measured_steps(test: &Test) -> impl Iterator<Item = &Step> {
    test.measured_steps().map(|(_, step)| step)
}

/// Returns the spans of everything that `test` measures, as planned.
pub(crate) fn measured_spans(test: &Test) -> Vec<Bytes> {
    let workloads = measured_steps(test).filter_map(|step| step.action.workload());
    let streams = workloads.flat_map(|workload| &workload.streams);
    let mut spans: Vec<Bytes> = streams.map(|stream| stream.span).collect();
    spans.dedup();
    spans
}
