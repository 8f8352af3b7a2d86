//! The report of the engine on pages and in JSON: the lateness of open loops, the counters of the
//! kernel, and the flushes after steps.

use crate::support;
use crate::support::{Recipe, plan, run, step, stream, test};
use ssdgauge_analysis::{PageOptions, Run};
use ssdgauge_core::{
    Access, Arrival, Chart, EngineReport, KernelQueue, Metric, Nanos, OpenLoop, OpenLoopCount,
    Score,
};
use ssdgauge_export::{json, terminal_summary};
use ssdgauge_page::page;
use ssdgauge_runfile::{FLUSH, READ_BACK, VERIFIED, Writer};

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
    let figure = [Chart::Ranking];
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
fn the_lateness_of_an_open_loop_is_shown_with_its_results() {
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
    let late = "sent late: p50 2.70\u{a0}µs, p99";
    // Below the result, and in the table for each of the two steps.
    assert_eq!(page.matches(late).count(), 3, "{late}");
    assert!(page.contains("max 942\u{a0}ms; withheld 943 (most of all steps: fast)."));
    let summary = terminal_summary(&runs[0], 100, false);
    assert!(summary.contains("  sent late: p50 2.70 us, p99"), "{summary}");
}

#[test]
fn the_counters_of_the_kernel_are_shown_with_those_of_the_engine() {
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

#[test]
fn flushes_and_blocks_that_were_read_back_are_reported_for_the_step_and_the_run() {
    let recipe = Recipe::new("run-1", support::quick(6), "Disk");
    let folder = tempfile::tempdir().unwrap();
    let path = support::record(folder.path(), &recipe);
    let before = ssdgauge_analysis::read(&path).unwrap();
    assert!(
        before.durability.is_none()
            && !page(&[before], &PageOptions::default()).contains("Flushes")
    );
    let (mut writer, file) = Writer::resume(&path).unwrap();
    let step = file.steps().unwrap().last().unwrap().id;
    let flush = r#"{"sent":1,"elapsed":12345000,"device":"sda\u202e","counted":2}"#;
    writer.property(Some(step), FLUSH, flush).unwrap();
    writer.property(Some(step), READ_BACK, r#"{"read":64}"#).unwrap();
    let lost = r#"{"read":60,"lost":[{"offset":4096,"found":"zeros"}]}"#;
    writer.property(Some(step), READ_BACK, lost).unwrap();
    writer.property(Some(step), FLUSH, "not JSON").unwrap();
    let verified = r#"{"bytes":4096000,"blocks":1000,"skipped":5,"wrong":0,"elapsed":2000000}"#;
    writer.property(None, VERIFIED, verified).unwrap();
    drop((writer, file));
    let runs = [ssdgauge_analysis::read(&path).unwrap()];
    let document = json(&runs);
    let of_run = &document["runs"][0]["durability"];
    assert_eq!((&of_run["flushes_sent"], &of_run["flushes_counted"]), (&1.into(), &2.into()));
    assert_eq!(of_run["flush_longest_us"], 12_345.0);
    assert_eq!((&of_run["blocks_read_back"], &of_run["blocks_lost"]), (&124.into(), &1.into()));
    let last = document["runs"][0]["tests"].as_array().unwrap().last().unwrap();
    let flush = &last["points"].as_array().unwrap().last().unwrap()["flush"];
    assert_eq!((&flush["sent"], &flush["device"]), (&1.into(), &"sda\\u{202E}".into()));
    let page = page(&runs, &PageOptions::default());
    let facts = "1 sent, 2 counted by the device; the longest took 12.3\u{a0}ms";
    assert!(page.contains(facts));
    assert!(page.contains("124, 1 of them without the data written last"));
    let expected = serde_json::json!(
        { "bytes": 4_096_000, "blocks": 1_000, "wrong": 0, "elapsed_s": 0.002 }
    );
    assert_eq!(of_run["verified"], expected);
    assert!(page.contains("4.10\u{a0}MB, every byte"));
    let summary = ssdgauge_export::terminal_summary(&runs[0], 80, false);
    assert!(summary.contains("verified: 4.10 MB, every byte"), "{summary}");
    assert!(page.contains("1 sent, 2 counted by sda"), "the step has it too");
}
