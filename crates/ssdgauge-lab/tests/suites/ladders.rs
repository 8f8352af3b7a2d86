//! Ladders of writes: what a step shows does not depend on the steps before it.

use crate::suites::support::{carried_out, planned, rig};
use ssdgauge_analysis::PointRun;
use ssdgauge_core::{Metric, PhaseKind, Plan, Scope};

/// A SATA drive on which a ladder with one preparation fell from 567 to 73 MB/s.
const DRIVE: &str = "sata-datacentre?capacity=6GB";

/// Returns `plan` with the preparation of its test and the measured step `label` only.
fn alone(plan: &Plan, label: &str) -> Plan {
    let mut plan = plan.clone();
    let test = &mut plan.tests[0];
    let first = test.phases.iter().position(|phase| phase.kind == PhaseKind::Measure).unwrap();
    let measured = test.phases.iter().filter(|phase| phase.kind == PhaseKind::Measure);
    let mut measured: Vec<_> = measured.cloned().collect();
    for phase in &mut measured {
        phase.steps.retain(|step| step.label == label);
    }
    measured.retain(|phase| !phase.steps.is_empty());
    assert_eq!(measured.len(), 1, "{label}");
    test.phases.truncate(first);
    test.phases.extend(measured);
    plan
}

/// Returns `plan` as it was with one preparation: without the fills between its measured steps.
fn prepared_once(plan: &Plan) -> Plan {
    let mut plan = plan.clone();
    let phases = &mut plan.tests[0].phases;
    let first = phases.iter().position(|phase| phase.kind == PhaseKind::Measure).unwrap();
    let mut place = 0;
    phases.retain(|phase| {
        place += 1;
        place <= first || phase.kind != PhaseKind::Fill
    });
    plan
}

/// Returns the throughput of a step with the ends of its interval; without one, 3 % to either side, the
/// noise that comparisons assume.
fn throughput(point: &PointRun) -> (f64, f64, f64) {
    let value = point.point.totals.value(Metric::ThroughputMbS, Scope::All).unwrap();
    let (low, high) = point
        .interval(Metric::ThroughputMbS, Scope::All)
        .ends()
        .unwrap_or((0.97 * value, 1.03 * value));
    (value, low, high)
}

/// Returns the throughput of the step `label` of `plan` on a new drive.
fn measured(plan: &Plan, label: &str) -> (f64, f64, f64) {
    let run = carried_out(plan, &mut rig(DRIVE));
    let mut points = run.tests[0].points.iter();
    throughput(points.find(|point| point.point.label == label).unwrap())
}

fn are_equal(one: (f64, f64, f64), other: (f64, f64, f64)) -> bool {
    let overlap = one.1 <= other.2 && other.1 <= one.2;
    overlap || (one.0 / other.0 - 1.0).abs() <= 0.03
}

#[test]
fn a_depth_of_sequential_writers_shows_the_same_within_its_ladder_and_alone() {
    for suite in ["enterprise-2019", "enterprise-2020"] {
        let plan = planned(suite, &["steady-sequential-write"], &rig(DRIVE), 6);
        let label = "QD512";
        let (within, single) = (measured(&plan, label), measured(&alone(&plan, label), label));
        assert!(are_equal(within, single), "{suite}: {within:?} within, {single:?} alone");
    }
}

#[test]
fn with_one_preparation_the_ladder_would_move_its_last_depth() {
    let plan = planned("enterprise-2019", &["steady-sequential-write"], &rig(DRIVE), 6);
    let label = "QD512";
    let once = measured(&prepared_once(&plan), label);
    let single = measured(&alone(&plan, label), label);
    assert!(!are_equal(once, single), "{once:?} within, {single:?} alone");
}
