//! Several streams in one step, in a sweep of one of them and in a list of steps.

use crate::suites::support::{carried_out, rig};
use ssdgauge_core::{Arrival, Bytes, Headline, Metric, Rig, Scope, Stream};
use ssdgauge_lab::{Options, Suite, plan};

/// Returns the suite of one test with these keys.
fn suite(keys: &str) -> Suite {
    let head = "[suite]\nid = \"own\"\nrevision = 1\ntitle = \"Own\"\n[[test]]\nid = \"t\"\n\
                revision = 1\ntitle = \"T\"\n";
    Suite::parse("own.toml", &format!("{head}{keys}")).unwrap_or_else(|error| panic!("{error}"))
}

/// Two tenants, of which the sweep varies one.
fn tenants(sweep: &str) -> Suite {
    suite(&format!(
        r#"
        prepare = [{{ fill = "sequential" }}]
        streams = [
            {{ name = "tenant", access = "random", block_size = "4KiB", read_percent = 100, queue_depth = 1 }},
            {{ name = "neighbour", access = "sequential", block_size = "128KiB", read_percent = 0 }},
        ]
        sweep = {{ {sweep} }}
        until = {{ time = "3s" }}
        score = {{ mean_of = "iops" }}
        figures = ["curve"]
        "#
    ))
}

/// Returns the labels, the positions and the second streams of the points of `suite`.
fn neighbours(suite: &Suite) -> Vec<(String, f64, Stream)> {
    let rig = rig("tiny");
    let plan = plan(suite, rig.drive(), &Options::default()).unwrap();
    let steps = plan.steps().filter_map(|(_, _, step)| {
        let [tenant, neighbour] = step.action.workload()?.streams.as_slice() else {
            panic!("{:?}", step.action)
        };
        assert_eq!((tenant.queue_depth, tenant.block_size), (1, Bytes(4_096)), "it stays");
        Some((step.label.clone(), step.position, neighbour.clone()))
    });
    steps.collect()
}

#[test]
fn a_sweep_of_one_stream_leaves_the_others_as_they_are() {
    let check = |sweep: &str, expected: &[(&str, f64)], value: &dyn Fn(&Stream) -> f64| {
        let found = neighbours(&tenants(&format!("stream = \"neighbour\", {sweep}")));
        let labels: Vec<(&str, f64)> = found.iter().map(|(l, at, _)| (l.as_str(), *at)).collect();
        assert_eq!(labels, expected);
        for (label, at, neighbour) in &found {
            assert_eq!(value(neighbour), *at, "{label}");
        }
    };
    check("queue_depth = [1, 16]", &[("neighbour QD1", 1.0), ("neighbour QD16", 16.0)], &|s| {
        f64::from(s.queue_depth)
    });
    check("threads = [2]", &[("neighbour QD2", 2.0)], &|s| f64::from(s.threads));
    check("total_queue_depth = [8]", &[("neighbour QD8", 8.0)], &|s| f64::from(s.total_depth()));
    check("block_size = [\"1MiB\"]", &[("neighbour 1MiB", 1_048_576.0)], &|s| {
        s.block_size.0 as f64
    });
    check("read_percent = [30]", &[("neighbour 30 % read", 30.0)], &|s| f64::from(s.read_percent));
    check("span = [\"64MB\"]", &[("neighbour span 64MB", 64e6)], &|s| s.span.0 as f64);
    check("per_second = [500.0]", &[("neighbour 500/s", 500.0)], &|s| match s.arrival {
        Arrival::Uniform { per_second } => per_second,
        other => panic!("{other:?}"),
    });
}

#[test]
fn a_sweep_of_one_stream_combines_with_a_sweep_of_the_drive() {
    let both = tenants("power = [\"PS0\", \"PS1\"], stream = \"neighbour\", queue_depth = [1, 4]");
    let labels: Vec<String> = neighbours(&both).into_iter().map(|(label, ..)| label).collect();
    assert_eq!(
        labels,
        ["PS0 neighbour QD1", "PS0 neighbour QD4", "PS1 neighbour QD1", "PS1 neighbour QD4"]
    );
}

#[test]
fn the_curve_of_a_neighbour_has_its_queue_depth_on_the_axis() {
    let mut rig = rig("tiny");
    let suite = tenants("stream = \"neighbour\", queue_depth = [1, 4, 16]");
    let plan = plan(&suite, rig.drive(), &Options::default()).unwrap();
    let run = carried_out(&plan, &mut rig);
    let figures = ssdgauge_page::figures(std::slice::from_ref(&run), &Default::default());
    for title in ["IOPS", "IOPS of reads", "99th percentile latency of writes"] {
        let title = format!("{title} by requests in flight of neighbour");
        assert!(figures.iter().any(|figure| figure.svg.contains(&title)), "no curve: {title}");
    }
    let page = ssdgauge_page::page(std::slice::from_ref(&run), &Default::default());
    assert!(page.contains("neighbour QD16"), "the page does not name the points of the neighbour");
    let json = ssdgauge_export::json(std::slice::from_ref(&run));
    let points = json["runs"][0]["tests"][0]["points"].as_array().unwrap();
    let places: Vec<(&str, f64)> = points
        .iter()
        .map(|p| (p["label"].as_str().unwrap(), p["position"].as_f64().unwrap()))
        .collect();
    assert_eq!(places, [("neighbour QD1", 1.0), ("neighbour QD4", 4.0), ("neighbour QD16", 16.0)]);
    // A deeper queue of writes leaves the reads of the other tenant a smaller share of the drive.
    let reads = |place: usize| {
        run.tests[0].points[place].point.totals.value(Metric::Iops, Scope::Read).unwrap()
    };
    assert!(reads(2) < 0.8 * reads(0), "{} {}", reads(0), reads(2));
}

#[test]
fn a_listed_step_has_one_stream_or_several() {
    let listed = suite(
        r#"
        prepare = [{ fill = "sequential" }]
        steps = [
            { label = "alone", stream = { access = "random", block_size = "4KiB", read_percent = 100 }, until = { time = "2s" } },
            { label = "disturbed", streams = [
                { name = "reads", access = "random", block_size = "4KiB", read_percent = 100 },
                { name = "writes", access = "sequential", block_size = "128KiB", read_percent = 0 },
            ], until = { time = "2s" }, repeat = 2 },
        ]
        score = { metric = "lat_mean_us", at = 2 }
        "#,
    );
    let mut rig = rig("tiny");
    let plan = plan(&listed, rig.drive(), &Options::default()).unwrap();
    let run = carried_out(&plan, &mut rig);
    let points = &run.tests[0].points;
    let places: Vec<(&str, f64, usize)> = points
        .iter()
        .map(|p| (p.point.label.as_str(), p.point.position, p.workload.streams.len()))
        .collect();
    assert_eq!(places, [("alone", 1.0, 1), ("disturbed #1", 2.0, 2), ("disturbed #2", 2.0, 2)]);
    assert!(points[1].point.totals.value(Metric::Iops, Scope::Write).unwrap() > 0.0);
}

/// A step in which reads, commits and trims run at the same time, with a score of each part.
const PARTS: &str = r#"
    prepare = [{ fill = "sequential" }]
    steps = [{ label = "all", streams = [
        { name = "tenant", access = "random", block_size = "4KiB", read_percent = 30, queue_depth = 4 },
        { name = "log", access = "sequential", block_size = "8KiB", read_percent = 0, flush_every = 1 },
        { name = "cleaner", operation = "trim", access = "random", block_size = "64KiB", per_second = 50.0 },
    ], until = { time = "20s" } }]
"#;

#[test]
fn a_score_counts_one_stream_and_one_direction() {
    let parts = suite(&format!(
        r#"{PARTS}
        score = {{ metric = "lat_p99_us", at = 1, stream = "log", direction = "flush" }}
        also = [
            {{ metric = "iops", at = 1, stream = "tenant", direction = "read" }},
            {{ metric = "iops", at = 1, stream = "tenant", direction = "write" }},
            {{ metric = "throughput_mb_s", at = 1, direction = "write" }},
            {{ metric = "lat_mean_us", at = 1, direction = "trim" }},
            {{ metric = "iops", at = 1, stream = "log" }},
        ]
        "#
    ));
    let mut rig = rig("tiny");
    let plan = plan(&parts, rig.drive(), &Options::default()).unwrap();
    let run = carried_out(&plan, &mut rig);
    let test = &run.tests[0];
    let point = &test.points[0].point;
    let of = |stream: usize, metric, scope| point.streams[stream].value(metric, scope).unwrap();
    // The sums of the streams count all seconds, as the protocol does.
    let number = |headline: &Headline| headline.protocol.or(headline.value).unwrap();
    let also: Vec<f64> = test.also.iter().map(number).collect();
    assert_eq!(test.headline.value, Some(of(1, Metric::LatP99Us, Scope::Flush)));
    assert_eq!(also[0], of(0, Metric::Iops, Scope::Read));
    assert_eq!(also[1], of(0, Metric::Iops, Scope::Write));
    let share = also[0] / (also[0] + also[1]);
    assert!((share - 0.3).abs() < 0.001, "{share}");
    let whole = |metric, scope| point.totals.value(metric, scope).unwrap();
    assert_eq!(also[2], whole(Metric::ThroughputMbS, Scope::Write));
    assert_eq!(also[3], whole(Metric::LatMeanUs, Scope::Trim));
    assert_eq!(also[4], of(1, Metric::Iops, Scope::Write));
    // A direction of all streams has the interval of its seconds, one of a stream has none.
    assert!(test.also[2].interval.ends().is_some() && test.headline.interval.ends().is_none());
    let json = ssdgauge_export::json(std::slice::from_ref(&run));
    let said = json["runs"][0]["tests"][0].to_string();
    for rule in ["flushes of stream log at", "reads of stream tenant at", "trims at"] {
        assert!(said.contains(rule), "no rule: {rule}");
    }
}

#[test]
fn a_score_of_a_direction_that_is_not_sent_is_refused() {
    let head = "[suite]\nid = \"own\"\nrevision = 1\ntitle = \"Own\"\n[[test]]\nid = \"t\"\n\
                revision = 1\ntitle = \"T\"\n";
    let check = |score: &str, words: &[&str]| {
        let error = Suite::parse("own.toml", &format!("{head}{PARTS}score = {score}\n"));
        let error = error.map(|_| ()).expect_err(score);
        let said = format!("{error} {}", error.hint);
        for word in words {
            assert!(said.contains(word), "'{word}' is not in: {said}");
        }
    };
    check(
        "{ metric = \"iops\", at = 1, stream = \"cleaner\", direction = \"read\" }",
        &["'cleaner' sends no reads", "trims"],
    );
    check(
        "{ metric = \"iops\", at = 1, stream = \"tenant\", direction = \"flush\" }",
        &["'tenant' sends no flushes", "reads, writes"],
    );
    check("{ metric = \"power_w\", at = 1, direction = \"read\" }", &["single directions"]);
    check("{ mean_of = \"iops\", direction = \"read\" }", &["one rule", "at = VALUE"]);
    check("{ metric = \"iops\", at = 1, direction = \"discard\" }", &["discard", "trim"]);
    check("{ metric = \"iops\", at = 4, direction = \"read\" }", &["no point has the position 4"]);
}
