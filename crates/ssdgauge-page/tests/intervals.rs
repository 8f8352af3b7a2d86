//! Intervals of one run in every output.

use crate::support;
use crate::support::{Pace, Recipe, plan, step, stream, test};
use ssdgauge_analysis::{CompareOptions, Difference, Run, compare};
use ssdgauge_core::{Access, ConfidenceInterval, FindingKind, Metric, Plan, Scope, Score, Stream};
use ssdgauge_export::{csv, json, markdown};
use ssdgauge_page::page;

fn one_step(read_percent: u8, seconds: u64) -> Plan {
    let steps = vec![step("QD4", 4.0, stream(Access::Random, 4_096, read_percent, 4), seconds)];
    plan("own", vec![test("reads", "Reads", Score::MeanOf(Metric::Iops), &[], steps)])
}

fn run(id: &str, plan: Plan, pace: &dyn Fn(&Stream, u32) -> Pace) -> Run {
    support::run(&Recipe { pace, ..Recipe::new(id, plan, "Disk") })
}

/// Varies without a pattern of its own.
fn varied(second: u32) -> u64 {
    u64::from(second.wrapping_mul(2_654_435_761) >> 20) % 100
}

#[test]
fn a_step_that_still_falls_says_so_in_every_output() {
    let falling = |_: &Stream, second: u32| Pace {
        iops: 9_000 - 100 * u64::from(second) + varied(second),
        lat_us: 100.0,
    };
    let run = run("a", one_step(100, 60), &falling);
    assert_eq!(run.tests[0].headline.interval, ConfidenceInterval::StillSettling);
    let settling = |run: &Run| {
        let mut findings = run.tests[0].findings.iter();
        findings.any(|found| found.finding.kind == FindingKind::StillSettling)
    };
    assert!(settling(&run));
    let value = run.tests[0].headline.value.unwrap();
    assert!((6_000.0..6_200.0).contains(&value), "the mean of the whole step stays: {value}");
    let document = json(std::slice::from_ref(&run));
    let headline = &document["runs"][0]["tests"][0]["headline"];
    assert_eq!(headline["interval"]["kind"], "still-settling");
    assert_eq!((&headline["low"], &headline["high"]), (&json_null(), &json_null()));
    let runs = std::slice::from_ref(&run);
    assert!(page(runs, &Default::default()).contains("still settling"));
    assert!(markdown(runs).contains("| still settling |"));
    let steady = self::run("b", one_step(100, 60), &|_, second| Pace {
        iops: 6_000 + varied(second),
        lat_us: 100.0,
    });
    assert!(!settling(&steady));
    let comparison = compare(&run, &steady, &CompareOptions::default()).unwrap();
    let Difference::Unknown(reason) = &comparison.tests[0].difference else {
        panic!("a step that still settles is not compared")
    };
    assert!(reason.contains("still settling"), "{reason}");
}

fn json_null() -> serde_json::Value {
    serde_json::Value::Null
}

#[test]
fn a_flattering_start_is_left_out_of_the_value_and_the_protocol_counts_it() {
    let cached = |_: &Stream, second: u32| Pace {
        iops: if second < 10 { 40_000 } else { 5_000 } + varied(second),
        lat_us: 100.0,
    };
    let run = run("a", one_step(0, 60), &cached);
    let document = json(std::slice::from_ref(&run));
    let headline = &document["runs"][0]["tests"][0]["headline"];
    assert!(headline["protocol"].as_f64().unwrap() > 10_000.0);
    let interval = &headline["interval"];
    assert_eq!(headline["value"], interval["mean"]);
    let point = &document["runs"][0]["tests"][0]["points"][0];
    assert_eq!(point["metrics"]["iops"], headline["value"]);
    assert_eq!(point["protocol"]["iops"], headline["protocol"]);
    let protocol = run.tests[0].headline.protocol.unwrap();
    let rows = csv(std::slice::from_ref(&run));
    assert!(rows.contains(&format!(",iops_protocol,{protocol}")), "{rows}");
    // Both are named in words wherever one of them is printed.
    let words =
        |text: String| text.replace('\u{a0}', " ").split_whitespace().collect::<Vec<_>>().join(" ");
    let runs = std::slice::from_ref(&run);
    for text in [words(markdown(runs)), words(page(runs, &Default::default()))] {
        assert!(
            text.contains("faster start excluded; 10,8")
                && text.contains(" with the faster first "),
            "{text}"
        );
    }
    assert_eq!(interval["kind"], "within-run");
    let cut = interval["cut_seconds"].as_u64().unwrap();
    assert!((10..30).contains(&cut), "{interval}");
    assert_eq!(cut + interval["seconds"].as_u64().unwrap(), 60);
    assert!((interval["mean"].as_f64().unwrap() - 5_050.0).abs() < 30.0, "{interval}");
}

#[test]
fn percentiles_have_intervals_from_sixty_seconds_on() {
    let steady = |_: &Stream, second: u32| Pace {
        iops: 2_000 + varied(second),
        lat_us: 80.0 + varied(second) as f64 / 10.0,
    };
    let of = |seconds| run("a", one_step(70, seconds), &steady);
    let (short, long, longer, hour) = (of(59), of(60), of(400), of(3_600));
    let point = |run: &Run| {
        let document = json(std::slice::from_ref(run));
        document["runs"][0]["tests"][0]["points"][0].clone()
    };
    assert_eq!(point(&short)["intervals"]["lat_p99_us"], json_null());
    assert_eq!(point(&short)["intervals"]["iops"]["kind"], "within-run");
    for key in ["lat_p50_us", "lat_p99_us", "read_lat_p99_us", "write_lat_p99_us"] {
        let point = point(&long);
        let interval = &point["intervals"][key];
        assert_eq!(interval["kind"], "of-what-was-seen", "{key}: {interval}");
        let value = point["metrics"][key].as_f64().unwrap();
        let (low, high) = (interval["low"].as_f64().unwrap(), interval["high"].as_f64().unwrap());
        assert!(low <= value && value <= high && high < 2.0 * value, "{key}: {interval}");
    }
    assert_eq!(point(&longer)["intervals"]["lat_p99_us"]["kind"], "of-what-was-seen");
    assert_eq!(point(&hour)["intervals"]["lat_p99_us"]["kind"], "within-run");
    let rows = csv(std::slice::from_ref(&longer));
    assert!(rows.contains(",lat_p99_us_low,") && rows.contains(",lat_p99_us_high,"));
    let all = longer.tests[0].points[0].interval(Metric::LatP99Us, Scope::All).ends().unwrap();
    assert!(all.1 - all.0 < 0.1 * all.0, "{all:?}");
}
