//! Open loops: exact rates, and latencies that include the waiting time of a stall.

use crate::suites::support::{carried_out, rig, run};
use ssdgauge_analysis::Run;
use ssdgauge_core::{FindingKind, Metric, Rig, Scope, Totals};
use ssdgauge_lab::{Options, Suite, plan};

fn suite(stream: &str, until: &str) -> Suite {
    let text = format!(
        "[suite]\nid = \"own\"\nrevision = 1\ntitle = \"Own\"\n[[test]]\nid = \"t\"\nrevision = 1\n\
         title = \"T\"\n\
         stream = {{ access = \"random\", block_size = \"4KiB\", read_percent = 100, {stream} }}\n\
         until = {until}\nscore = {{ best_of = \"iops\" }}\n"
    );
    Suite::parse("own.toml", &text).unwrap()
}

fn run_own(target: &str, stream: &str, until: &str) -> Run {
    let mut rig = rig(target);
    let plan = plan(&suite(stream, until), rig.drive(), &Options::default()).unwrap();
    carried_out(&plan, &mut rig)
}

fn totals(run: &Run) -> &Totals {
    &run.tests[0].points[0].point.totals
}

#[test]
fn a_uniform_rate_is_exact_and_a_poisson_rate_within_five_sigma() {
    for (arrival, allowed) in [("uniform", 1.0), ("poisson", 5.0 * 44.8)] {
        let stream = format!("per_second = 200.5, arrival = \"{arrival}\", threads = 3");
        let run = run_own("tiny?state=filled", &stream, "{ time = \"10s\" }");
        let ios = totals(&run).directions[0].ios as f64;
        assert!((ios - 2_005.0).abs() <= allowed, "{arrival}: {ios}");
        assert_eq!(totals(&run).elapsed.0, 10_000_000_000, "{arrival}");
        assert_eq!(run.tests[0].points[0].seconds().len(), 10);
    }
}

#[test]
fn a_stall_of_a_second_shows_in_full() {
    // 1,000 reads a second and one stall of 1 s within 6 s: the requests due in the stall wait
    // for its end. By calculation: p95 = 700 ms, p99 = 940 ms, p99.9 = 994 ms.
    let run = run_own(
        "tiny?state=filled&fault.stall_at_s=2.0&fault.stall_for_s=1.0",
        "per_second = 1000",
        "{ time = \"6s\" }",
    );
    for (metric, truth) in [(Metric::LatP99Us, 940e3), (Metric::LatP999Us, 994e3)] {
        let value = totals(&run).value(metric, Scope::All).unwrap();
        assert!((value / truth - 1.0).abs() < 0.06, "{metric:?}: {value}");
    }
    let totals = totals(&run);
    let latency = totals.latency(Scope::All);
    let p95 = latency.percentile(0.95).unwrap() as f64;
    assert!((p95 / 700e6 - 1.0).abs() < 0.06, "{p95}");
    let later = latency.share_above(100_000_000).unwrap() * latency.count() as f64;
    assert!((later - 900.0).abs() <= 9.0, "{later} waited longer than 100 ms");
}

#[test]
fn a_step_ends_when_the_drive_falls_ten_seconds_behind_and_is_complete() {
    let run = run_own("tiny?state=filled", "per_second = 200000", "{ time = \"10min\" }");
    assert!(run.complete);
    assert_eq!(run.tests[0].points[0].ended_by, "device-lag");
    assert!(totals(&run).elapsed.as_secs_f64() < 120.0, "{:?}", totals(&run).elapsed);
    let fell_behind = |run: &Run| {
        let found = run.tests[0].findings.iter().map(|found| &found.finding);
        found.filter(|one| one.text.contains("after its due time, and the step ended")).count()
    };
    assert_eq!(fell_behind(&run), 1);
    let run = run_own("tiny?state=filled", "per_second = 200", "{ time = \"5s\" }");
    assert_eq!(fell_behind(&run), 0);
}

#[test]
fn requests_that_were_due_and_not_sent_are_a_finding() {
    let run = run_own("tiny?state=filled", "per_second = 200000", "{ time = \"5s\" }");
    let kinds: Vec<FindingKind> =
        run.tests[0].findings.iter().map(|found| found.finding.kind).collect();
    assert!(kinds.contains(&FindingKind::Overloaded), "{kinds:?}");
}

#[test]
fn latency_grows_with_the_load() {
    let run = run("load-curve", &["random-read"], "tlc-client?capacity=20GB", 10);
    let p99: Vec<f64> = run.tests[0]
        .points
        .iter()
        .map(|point| point.point.totals.value(Metric::LatP99Us, Scope::All).unwrap())
        .collect();
    assert_eq!(p99.len(), 10);
    assert!(p99[9] > 20.0 * p99[0], "{p99:?}");
    let rate = run.tests[0].points[2].point.totals.value(Metric::Iops, Scope::All).unwrap();
    assert!((rate / 4_000.0 - 1.0).abs() < 0.05, "{rate}");
}
