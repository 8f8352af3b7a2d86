//! The report of the engine on pages and in JSON: the lateness of open loops, and the counters of
//! the kernel.

mod support;

use ssdgauge_core::{
    Access, Arrival, EngineReport, Figure, KernelQueue, Metric, Nanos, OpenLoop, OpenLoopCount,
    Score,
};
use ssdgauge_report::{PageOptions, Run, json, page, terminal_summary};
use support::{Recipe, plan, run, step, stream, test};

/// A run of two steps in an open loop, whose requests were sent 3 µs late, and 943 of them up to
/// 942 ms because no slot was free.
fn open_loop() -> Run {
    let mut requests = stream(Access::Random, 4_096, 100, 1);
    requests.arrival = Arrival::Uniform { per_second: 997.0 };
    let mut count = OpenLoopCount { sent: 8_973, slots: 2_058, ..OpenLoopCount::default() };
    (0..8_030).for_each(|_| count.lateness.record(2_700));
    (0..943).for_each(|ms| count.withheld.record(ms * 1_000_000));
    count.service.record(1_000);
    let figures = OpenLoop::from_count(&requests, Nanos::from_secs(9), &count);
    let steps = [("slow", 1.0), ("fast", 2.0)]
        .map(|(label, position)| step(label, position, requests.clone(), 9));
    let figure = [Figure::Ranking];
    let tests = vec![test("open", "Open loop", Score::BestOf(Metric::Iops), &figure, steps.into())];
    let mut recipe = Recipe::new("run-1", plan("own", tests), "Disk");
    recipe.report = EngineReport {
        open_loop: vec![figures],
        kernel: KernelQueue::new("sda", 9_000, 45_000_000_000, Nanos::from_secs(9)),
        ..EngineReport::default()
    };
    run(&recipe)
}

#[test]
fn the_lateness_of_an_open_loop_is_beside_its_results() {
    let runs = [open_loop()];
    let document = json(&runs);
    let open = &document["runs"][0]["tests"][0]["points"][1]["open_loop"][0];
    assert_eq!((&open["withheld"], &open["withheld_bytes"]), (&943.into(), &3_862_528.into()));
    assert_eq!(open["withheld_max_us"], 942_000.0);
    assert_eq!((&open["lateness_p50_us"], &open["unsent"]), (&2.701.into(), &0.into()));
    assert_eq!(open["lateness_max_us"], 942_000.0);
    assert!(open["lateness_p99_us"].as_f64().unwrap() > 800_000.0, "{open}");
    assert!(open.get("service_histogram").is_none(), "the run file keeps it");
    let page = page(&runs, &PageOptions::default());
    let late = "sent late: p50 2.70, p99";
    // Below the result, and in the table for each of the two steps.
    assert_eq!(page.matches(late).count(), 3, "{late}");
    assert!(page.contains("max 942,000 µs; withheld 943 (latest step: fast)."));
    let summary = terminal_summary(&runs[0], 100, false);
    assert!(summary.contains("  sent late: p50 2.70, p99"), "{summary}");
}

#[test]
fn the_counters_of_the_kernel_are_beside_those_of_the_engine() {
    let runs = [open_loop()];
    let document = json(&runs);
    let kernel = &document["runs"][0]["tests"][0]["points"][0]["kernel"];
    assert_eq!((&kernel["device"], &kernel["requests"]), (&"sda".into(), &9_000.into()));
    assert_eq!((&kernel["in_flight"], &kernel["time_mean_us"]), (&5.0.into(), &5_000.0.into()));
    let page = page(&runs, &PageOptions::default());
    assert!(page.contains("In the device, by the kernel"));
    assert_eq!(page.matches("<td class=\"n\">5,000</td>").count(), 2);
}

#[test]
fn a_closed_loop_without_counters_has_neither() {
    let runs = [run(&Recipe::new("run-1", support::quick(6), "Disk"))];
    let point = &json(&runs)["runs"][0]["tests"][0]["points"][0];
    assert!(point["kernel"].is_null() && point["open_loop"].as_array().unwrap().is_empty());
    let page = page(&runs, &PageOptions::default());
    assert!(!page.contains("by the kernel") && !page.contains("sent late"));
}
