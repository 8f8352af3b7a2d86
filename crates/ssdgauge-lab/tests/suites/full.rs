//! Every suite in full length in virtual time: the relations between results that the drive profile
//! implies.

use crate::suites::support::{remarks, run};
use ssdgauge_analysis::{Run, TestRun};
use ssdgauge_core::search::TRIALS;
use ssdgauge_core::{Action, Metric, Nanos, Scope};

/// Runs a whole suite in full length on a drive of 1 GB, to which spans are reduced.
pub fn whole(suite: &str, target: &str) -> Run {
    in_full_length(suite, &[], target)
}

/// The same of some `tests` of a suite, of all without any.
pub fn in_full_length(suite: &str, tests: &[&str], target: &str) -> Run {
    let run = run(suite, tests, target, 1);
    assert!(run.complete && run.head.plan.shortened == 1, "{suite}");
    for test in &run.tests {
        assert!(test.complete, "{suite}/{}", test.test.id);
        // 1 GB has no last 16 GB: a test without a headline has a finding with the reason.
        let explained =
            test.findings.iter().any(|found| found.metrics.contains(&"headline".to_owned()));
        assert!(
            test.headline.value.is_some_and(|value| value > 0.0) || explained,
            "{}",
            test.test.id
        );
        let limit = |point: &ssdgauge_analysis::PointRun| {
            let steps = test.test.phases.iter().flat_map(|phase| &phase.steps);
            let mut same = steps.filter(|step| step.label == point.point.label);
            same.find_map(|step| match &step.action {
                Action::Run { until, .. } => until.time,
                Action::Idle(time) => Some(*time),
                Action::Prepare(_) | Action::Replay(_) | Action::Rest(_) => None,
            })
        };
        for point in &test.points {
            // A step with a time limit lasts that long, and then until its last request completes;
            // a step that fell behind its load ended earlier.
            let asked = limit(point).filter(|_| point.ended_by == "time");
            let late = Nanos(asked.unwrap_or_default().0 * 3 / 2 + Nanos::SECOND.0 * 20);
            let lasted = point.point.totals.elapsed;
            let rounds = if test.test.rounds.is_some() { 5 } else { 1 };
            // The loads next to the answer of a search are tried more than once.
            let trials = if test.test.search.is_some() { TRIALS as u64 } else { 1 };
            let latest = late * (rounds * trials);
            assert!(
                asked.is_none_or(|asked| lasted >= asked * rounds && lasted <= latest),
                "{suite}/{} {}: {lasted:?}",
                test.test.id,
                point.point.label
            );
        }
    }
    run
}

pub fn test<'a>(run: &'a Run, id: &str) -> &'a TestRun {
    run.tests.iter().find(|test| test.test.id == id).unwrap_or_else(|| panic!("no test {id}"))
}

/// Returns `metric` at every point of the test `id`.
pub fn values(run: &Run, id: &str, metric: Metric) -> Vec<f64> {
    let value = |point: &ssdgauge_analysis::PointRun| {
        let value = point.point.totals.value(metric, Scope::All);
        value.unwrap_or_else(|| panic!("{id} {}: no {metric:?}", point.point.label))
    };
    test(run, id).points.iter().map(value).collect()
}

pub fn headline(run: &Run, id: &str) -> f64 {
    let headline = &test(run, id).headline;
    // The sums over steps count all seconds, as the protocol does.
    headline.protocol.or(headline.value).unwrap_or_else(|| panic!("{id} has no headline"))
}

/// Expects each value to be at most `at_most` times the one before it.
pub fn falls(values: &[f64], at_most: f64) {
    assert!(values.windows(2).all(|pair| pair[1] <= at_most * pair[0]), "{values:?}");
}

/// Expects each value to be at least `at_least` times the one before it.
pub fn rises(values: &[f64], at_least: f64) {
    assert!(values.windows(2).all(|pair| pair[1] >= at_least * pair[0]), "{values:?}");
}

#[test]
fn quick_and_the_demonstration() {
    let quick = whole("quick", "tiny");
    assert!(headline(&quick, "sequential-read") > 5.0 * headline(&quick, "sequential-write"));
    let random = values(&quick, "random-read-4k", Metric::Iops);
    rises(&random, 4.0);
    let demo = whole("demo", "tiny");
    rises(&values(&demo, "random-read", Metric::Iops), 1.0);
    falls(&values(&demo, "mixed-random", Metric::ThroughputMbS), 1.02);
    assert_eq!(headline(&demo, "database"), 4.0);
}

#[test]
#[ignore = "second tier"]
fn the_suite_of_2015() {
    let run = whole("iometer-2015", "tiny");
    for id in ["random-read", "random-write", "sequential-read", "sequential-write"] {
        assert_eq!(test(&run, id).points.len(), 6, "{id}");
        let first = &values(&run, id, Metric::ThroughputMbS)[..3];
        let mean = first.iter().sum::<f64>() / 3.0;
        assert!((headline(&run, id) / mean - 1.0).abs() < 1e-9, "{id}");
    }
    rises(&values(&run, "random-read", Metric::ThroughputMbS), 1.05);
    // Garbage collection bounds writes at every depth.
    rises(&values(&run, "random-write", Metric::ThroughputMbS), 0.85);
    falls(&values(&run, "random-write", Metric::ThroughputMbS), 1.05);
    for id in ["mixed-random", "mixed-sequential"] {
        let mixes = values(&run, id, Metric::ThroughputMbS);
        falls(&mixes, 0.85);
        let mean = mixes.iter().sum::<f64>() / 6.0;
        assert!((headline(&run, id) / mean - 1.0).abs() < 1e-9, "{id}");
    }
}

#[test]
#[ignore = "second tier"]
fn the_client_suite_of_2018() {
    let run = whole("client-2018", "tiny");
    let bursts = ["burst-random-read", "burst-random-write", "burst-sequential-read"];
    let counts = bursts.map(|id| test(&run, id).points.len());
    assert_eq!(counts, [32, 32, 8]);
    // A burst fits into the SLC cache, a minute of writes does not.
    assert!(
        headline(&run, "burst-random-write") > 3.0 * headline(&run, "sustained-random-write"),
        "bursts are written to the cache"
    );
    rises(&values(&run, "sustained-random-read", Metric::ThroughputMbS), 1.05);
    for id in ["mixed-random", "mixed-sequential"] {
        assert_eq!(test(&run, id).points.len(), 11, "{id}");
        falls(&values(&run, id, Metric::ThroughputMbS), 0.95);
    }
    let fill = test(&run, "whole-drive-fill");
    let written = fill.points[0].point.totals.directions[1].bytes;
    assert!(written.abs_diff(run.head.drive.capacity.0) < 131_072, "{written}");
    assert!(headline(&run, "idle-power-low") < 0.01 * headline(&run, "idle-power-active"));
    let awake = values(&run, "burst-random-read", Metric::LatMeanUs)[0];
    assert!(headline(&run, "wake-up") > 50.0 * awake, "asleep and awake: {awake}");
}

#[test]
#[ignore = "second tier"]
fn the_client_suite_of_2021() {
    let run = whole("client-2021", "tiny");
    for id in ["burst-random-read", "sustained-random-read", "mixed-random", "mixed-sequential"] {
        let points = |state: &str| test(&run, &format!("{id}-{state}")).points.len();
        assert_eq!(points("empty"), points("full"), "{id}");
    }
    for state in ["empty", "full"] {
        rises(&values(&run, &format!("sustained-random-read-{state}"), Metric::Iops), 1.05);
        falls(&values(&run, &format!("mixed-sequential-{state}"), Metric::ThroughputMbS), 0.95);
        let burst = headline(&run, &format!("burst-random-write-{state}"));
        let sustained = headline(&run, &format!("sustained-random-write-{state}"));
        assert!(burst > 1.2 * sustained, "{state}: {burst} {sustained}");
    }
    // The second pass overwrites in the order of the first one, so garbage collection copies
    // little.
    let pass = |id: &str| values(&run, id, Metric::ThroughputMbS)[0];
    let ratio = pass("fill-second-pass") / pass("fill-first-pass");
    assert!((0.8..=1.01).contains(&ratio), "{ratio}");
}

#[test]
#[ignore = "second tier"]
fn the_enterprise_suites_of_2019_and_2020() {
    let [of_2019, of_2020] = ["enterprise-2019", "enterprise-2020"].map(|id| whole(id, "tiny"));
    for run in [&of_2019, &of_2020] {
        let iops = values(run, "peak-random-read", Metric::Iops);
        assert_eq!(iops.len(), 10);
        rises(&iops, 1.0);
        let knee = headline(run, "peak-random-read");
        let place = iops.iter().position(|value| *value == knee).unwrap();
        assert!(knee >= 0.95 * iops[9] && iops[place - 1] < 0.95 * iops[9], "{iops:?}");
        let index = run.tests.iter().position(|t| t.test.id == "peak-random-read").unwrap();
        let words = remarks(run, index);
        assert!(words.contains("knee at QD32 ("), "{words}");
        assert!(words.contains("interpolated at 31") && words.contains("(95 %: "), "{words}");
        check_knee(run, "peak-random-read", Metric::EfficiencyKiopsW);
        check_knee(run, "steady-sequential-write", Metric::EfficiencyMbSW);
        let blocks = values(run, "qd1-random-read", Metric::ThroughputMbS);
        assert_eq!(blocks.len(), 12);
        rises(&blocks, 1.03);
        assert!(headline(run, "steady-random-write") < 0.3 * headline(run, "qd1-random-read"));
        for id in ["mixed-random-qd32", "mixed-random-qd128"] {
            let mixes = values(run, id, Metric::ThroughputMbS);
            falls(&mixes, 0.97);
            assert_eq!(headline(run, id), mixes[3], "the point of 70 % reads");
        }
        let tail = values(run, "peak-random-read", Metric::LatP99999Us);
        let middle = values(run, "peak-random-read", Metric::LatP50Us);
        // A drive that has settled answers every single read alike; queues differ.
        assert!(tail.iter().zip(&middle).all(|(tail, middle)| tail >= middle), "{tail:?}");
        assert!(tail[9] > middle[9], "{tail:?} {middle:?}");
    }
    // Virtual time has no processor limit: threads and rings give the same results.
    for id in ["qd1-random-read", "peak-random-read", "mixed-random-qd32"] {
        let ratio = headline(&of_2020, id) / headline(&of_2019, id);
        assert!((ratio - 1.0).abs() < 0.02, "{id}: {ratio}");
    }
}

/// Checks that queue depth, latencies and efficiency of the step at the knee of a test stand in JSON, CSV,
/// Markdown and the card, as the review of 2019 states them.
fn check_knee(run: &Run, id: &str, efficiency: Metric) {
    let found = test(run, id);
    let metric = found.headline.metric;
    let totals = |point: &ssdgauge_analysis::PointRun| point.point.totals.clone();
    let best = values(run, id, metric).into_iter().fold(0.0, f64::max);
    // The lowest depth with 95 % of the best, by the steps themselves.
    let mut points: Vec<_> = found.points.iter().collect();
    points.sort_by(|a, b| a.point.position.total_cmp(&b.point.position));
    let value =
        |point: &ssdgauge_analysis::PointRun| totals(point).value(metric, Scope::All).unwrap();
    let knee = *points.iter().find(|point| value(point) >= 0.95 * best).unwrap();
    let depth = knee.point.position;
    let json = ssdgauge_export::json(std::slice::from_ref(run));
    let tests = json["runs"][0]["tests"].as_array().unwrap();
    let row = &tests.iter().find(|test| test["id"] == id).unwrap()["headline"]["knee"];
    assert_eq!(row["queue_depth"].as_f64(), Some(depth), "{id}: {row}");
    let csv = ssdgauge_export::csv(std::slice::from_ref(run));
    // A number and its unit stay on one line.
    let markdown = ssdgauge_export::markdown(std::slice::from_ref(run)).replace('\u{a0}', " ");
    let card = ssdgauge_export::terminal_summary(run, 120, true);
    // The card breaks lines.
    let card: Vec<&str> = card.split_whitespace().collect();
    let card = card.join(" ");
    assert!(card.contains(&format!("at QD{depth}")), "{card}");
    for metric in [Metric::LatMeanUs, Metric::LatP99Us, Metric::LatP9999Us, efficiency] {
        let Some(value) = totals(knee).value(metric, Scope::All) else {
            assert_eq!(metric, Metric::LatP9999Us, "{id}: only a long percentile may be missing");
            continue;
        };
        let key = metric.key();
        assert_eq!(row[key].as_f64(), Some(value), "{id} {key}");
        let words = metric.about(value);
        assert!(markdown.contains(&format!("| {words} | – |")), "{id} {key} {words}: {markdown}");
        assert!(card.contains(&words), "{id} {key} {words}: {card}");
        let row = format!("\"headline: at the knee, QD{depth}\",{depth},{key},{value}");
        let row_without_quotes = row.replace('"', "");
        assert!(csv.contains(&row) || csv.contains(&row_without_quotes), "{id} {row}");
    }
}

#[test]
#[ignore = "second tier"]
fn the_load_of_a_database() {
    // The long check runs whole hours: some four minutes of processor time.
    let is_long = std::env::var_os("SSDGAUGE_LONG").is_some();
    let shorten = if is_long { 1 } else { 10 };
    let run = match is_long {
        true => whole("act", "tiny"),
        false => run("act", &[], "tiny", shorten),
    };
    assert!(run.complete);
    let storage = test(&run, "act-5");
    let multiple = storage.headline.value.unwrap();
    assert_eq!(multiple, 4.0);
    let passed = |multiple: f64| {
        let point = storage.points.iter().find(|point| point.point.position == multiple);
        point.and_then(|point| point.point.totals.reading("borne"))
    };
    assert_eq!(passed(multiple), Some(1.0));
    // The next multiple failed in a probe or in an attempt of full length.
    assert_ne!(passed(multiple + 1.0), Some(1.0));
    let slice = storage.points.iter().find(|point| point.point.position == multiple).unwrap();
    // Two trials; the requests in flight at the end of each are drained.
    let length = Nanos::from_secs(2 * 3_600 / u64::from(shorten));
    let drained = slice.point.totals.elapsed.0 - length.0;
    assert!(drained < 20_000_000, "{drained} ns");
    // 2,000 + 23.5 + 23.5 requests a second for each multiple, each of them sent: exact to 0.1 %.
    let all: u64 = slice.point.totals.directions.iter().map(|direction| direction.ios).sum();
    let asked = multiple * (2_000.0 + 2.0 * 2.0 * 1_000.0 / 85.0) * length.as_secs_f64();
    assert!((all as f64 / asked - 1.0).abs() < 1e-3, "{all} of {asked}");
}

#[test]
#[ignore = "second tier"]
fn fill_levels_loads_and_sizes() {
    let levels = whole("fill-ladder", "tiny");
    falls(&values(&levels, "random-write", Metric::Iops), 0.95);
    falls(&values(&levels, "mixed-random", Metric::Iops), 0.95);
    let load = whole("load-curve", "tiny");
    let offered: Vec<f64> = (0..10).map(|step| 1_000.0 * f64::from(1 << step)).collect();
    let served = values(&load, "random-read", Metric::Iops);
    let p99 = values(&load, "random-read", Metric::LatP99Us);
    for (step, offered) in offered.iter().enumerate() {
        assert!(served[step] <= 1.05 * offered, "{served:?}");
        // Below the knee all requests are served at low latency; above it the queue grows.
        let below = *offered <= 64_000.0;
        assert_eq!(served[step] > 0.95 * offered, below, "{served:?}");
        assert_eq!(p99[step] < 1_000.0, below, "{p99:?}");
    }
    assert_eq!(headline(&load, "random-read"), served[6]);
    let sizes = whole("size-curve", "tiny");
    let read = values(&sizes, "read", Metric::ThroughputMbS);
    assert_eq!(read.len(), 18);
    rises(&read, 0.98);
    for id in ["read", "write"] {
        // The virtual drive does not compress, so the content makes no difference.
        let pair = [id.to_owned(), format!("{id}-compressible")].map(|id| headline(&sizes, &id));
        assert!((pair[1] / pair[0] - 1.0).abs() < 0.05, "{id}: {pair:?}");
    }
}
