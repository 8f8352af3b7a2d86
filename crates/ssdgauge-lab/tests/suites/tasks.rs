//! Measured times: of whole steps, and of trims.

use crate::suites::support::{self, Quiet, begun, carried_out, found, rig};
use ssdgauge_analysis::{PointRun, Run};
use ssdgauge_core::{FindingKind, Metric, Rig, Scope, Severity};
use ssdgauge_lab::{Completion, Options, Repeat, Suite, conduct, plan, resume};
use ssdgauge_runfile::Writer;

const SUITE: &str = r#"
    [suite]
    id = "own"
    revision = 1
    title = "Own"
    [[test]]
    id = "copy"
    revision = 1
    title = "Copy"
    prepare = [{ purge = true }, { fill = "sequential", span = "512MB" }]
    steps = [
        { label = "write", stream = { access = "sequential", block_size = "128KiB", read_percent = 0, queue_depth = 8, span = "128MB" }, until = { passes = 1 } },
        { label = "trim", trim = "128MB" },
        { label = "write again", stream = { access = "sequential", block_size = "128KiB", read_percent = 0, queue_depth = 8, span = "128MB" }, until = { passes = 1 } },
        { label = "trim all", trim = "100%" },
    ]
    score = { metric = "time_s", at = 1 }
    also = [{ metric = "trim_gb_s", at = 2 }, { metric = "time_s", at = 4 }]
    figures = ["ranking", "curve"]
"#;

fn run(options: &Options) -> Run {
    let suite = Suite::parse("own.toml", SUITE).unwrap_or_else(|error| panic!("{error}"));
    let mut rig = rig("tiny");
    let plan = plan(&suite, rig.drive(), options).unwrap();
    carried_out(&plan, &mut rig)
}

fn value(point: &PointRun, metric: Metric) -> Option<f64> {
    point.point.totals.value(metric, Scope::All)
}

#[test]
fn a_score_in_seconds_is_the_time_of_its_step() {
    let run = run(&Options::default());
    let test = &run.tests[0];
    let write = &test.points[0];
    let (time, throughput) =
        (test.headline.value.unwrap(), value(write, Metric::ThroughputMbS).unwrap());
    assert_eq!(time, write.point.totals.elapsed.as_secs_f64());
    assert!((time * throughput - 128.0).abs() < 0.2, "{time} s at {throughput} MB/s");
    assert!(!Metric::TimeS.more_is_better());
}

#[test]
fn a_measured_trim_has_a_time_and_a_rate() {
    let run = run(&Options::default());
    let test = &run.tests[0];
    let trim = &test.points[1];
    assert_eq!(trim.point.label, "trim");
    // The model takes 1 ms for each 2 GiB that it begins.
    assert_eq!(value(trim, Metric::TimeS), Some(0.001));
    let rate = value(trim, Metric::TrimGbS).unwrap();
    assert!((rate - 128.0).abs() < 0.1, "{rate} GB/s");
    assert_eq!(test.also[0].value, Some(rate));
    assert_eq!(value(trim, Metric::Iops), Some(0.0));
    assert_eq!(value(&test.points[0], Metric::TrimGbS), None);
    let json = ssdgauge_export::json(std::slice::from_ref(&run));
    let metrics = &json["runs"][0]["tests"][0]["points"][1]["metrics"];
    assert_eq!(metrics["trim_gb_s"].as_f64(), Some(rate));
    assert!(metrics.get("iops").is_none(), "a trim has no requests: {metrics}");
}

#[test]
fn the_time_of_a_repeated_test_is_a_mean_with_an_interval() {
    let run = run(&Options { repeat: Repeat::Times(3), ..Options::default() });
    let test = &run.tests[0];
    let (low, high) = test.headline.interval.ends().unwrap();
    let mean = test.headline.value.unwrap();
    assert!(low <= mean && mean <= high, "{low} {mean} {high}");
    let of_point = value(&test.points[0], Metric::TimeS).unwrap();
    assert!((of_point / mean - 1.0).abs() < 1e-9, "{of_point} is not the mean {mean}");
    assert_eq!(value(&test.points[1], Metric::TimeS), Some(0.001));
}

#[test]
fn an_interrupted_test_of_a_trim_continues_on_the_drive_that_its_steps_left() {
    let suite = Suite::parse("own.toml", SUITE).unwrap();
    let mut first = rig("tiny");
    let plan = plan(&suite, first.drive(), &Options::default()).unwrap();
    let (_folder, path, mut writer) = begun(&plan, &first);
    let mut watcher = Quiet { steps_left: 4, ..Quiet::default() };
    let completion = conduct(&plan, &mut first, &mut writer, &mut watcher).unwrap();
    assert_eq!(completion, Completion::Interrupted);
    drop((writer, first));
    let (mut second, mut watcher) = (rig("tiny"), Quiet::default());
    let (mut writer, run) = Writer::resume(&path).unwrap();
    let completion = resume(&run, &mut second, &mut writer, &mut watcher, "test").unwrap();
    assert_eq!(completion, Completion::Finished);
    // A drive that does not repeat its steps would start again with its data.
    assert_eq!(plan.tests[0].restart, ssdgauge_core::Restart::Test);
    assert_eq!(watcher.begun, ["write again", "trim all"]);
    drop((writer, run));
    let run = ssdgauge_analysis::read(&path).unwrap();
    assert!(run.complete && run.tests[0].points.len() == 4);
    assert_eq!(found(&run.tests[0], FindingKind::NotMeasured).len(), 1, "the meter alone");
}

fn values(run: &Run, metric: Metric) -> Vec<f64> {
    run.tests[0].points.iter().map(|point| value(point, metric).unwrap()).collect()
}

#[test]
fn a_trim_restores_the_speed_of_a_used_drive() {
    let run = support::run("trim", &["recovery"], "tiny", 1);
    let [fresh, _, used, _, trimmed] = values(&run, Metric::ThroughputMbS)[..] else {
        panic!("{:?}", run.tests[0].points)
    };
    assert!(used < 0.5 * fresh && trimmed > 0.95 * fresh, "{fresh} {used} {trimmed}");
}

#[test]
fn a_lower_power_state_is_slower_and_stays_below_its_power() {
    let run = support::run("power-states", &["random-read-qd32"], "tlc-client?capacity=20GB", 5);
    let iops = values(&run, Metric::Iops);
    assert!(iops[0] > iops[1] && iops[1] > iops[2], "{iops:?}");
    // The profile states the power of each state.
    for (power, most) in values(&run, Metric::PowerW).into_iter().zip([6.2, 4.3, 2.1]) {
        assert!(power <= 1.02 * most, "{power} W, at most {most}");
    }
    assert_eq!(found(&run.tests[0], FindingKind::PowerState).len(), 0);
}

#[test]
fn a_drive_without_power_states_has_invalid_steps() {
    let target = "sata-datacentre?capacity=20GB";
    let run = support::run("power-states", &["random-read-qd1"], target, 10);
    let missing = run.tests[0].findings.iter().filter(|found| {
        found.finding.kind == FindingKind::PowerState && found.finding.severity == Severity::Invalid
    });
    let steps: Vec<Option<&str>> = missing.map(|found| found.step.as_deref()).collect();
    assert!(steps.contains(&Some("PS1")) && steps.contains(&Some("PS2")), "{steps:?}");
}

#[test]
fn a_copy_reads_as_much_as_it_writes() {
    let run = support::run("tasks", &["copy-60gb"], "tiny", 1);
    let copy = &run.tests[0].points[0].point.totals;
    let [read, written] = [0, 1].map(|direction| copy.directions[direction].bytes);
    // The target does not hold a whole number of 100 requests.
    assert!(read.abs_diff(written) <= 100 << 20, "{read} {written}");
    assert!((read + written).abs_diff(run.head.drive.capacity.0) <= 1 << 20);
    assert_eq!(run.tests[0].headline.value, Some(copy.elapsed.as_secs_f64()));
}
