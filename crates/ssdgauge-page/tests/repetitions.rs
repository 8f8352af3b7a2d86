//! Tests that were carried out several times, and steps that leave their steady state.

use crate::support;
use crate::support::{Pace, Recipe, plan, step, stream, test};
use ssdgauge_analysis::{CompareOptions, Difference, Run, compare};
use ssdgauge_core::{
    Access, Action, ConfidenceInterval, FindingKind, Metric, Nanos, Phase, PhaseKind, Plan, Scope,
    Score, Stream, Test, Window,
};
use ssdgauge_export::{json, markdown};
use ssdgauge_page::page;

/// A test whose repetitions are paced by the names of their streams.
fn repeated(paces: &[u64]) -> Plan {
    let one = |(number, iops): (usize, &u64)| {
        let mut stream = stream(Access::Random, 4_096, 100, 4);
        stream.name = iops.to_string();
        let steps = vec![step("QD4", 4.0, stream, 20)];
        let score = Score::MeanOf(Metric::Iops);
        Test { repetition: number as u32 + 1, ..test("reads", "Reads", score, &[], steps) }
    };
    plan("own", paces.iter().enumerate().map(one).collect())
}

fn by_name(stream: &Stream, second: u32) -> Pace {
    let iops: u64 = stream.name.parse().expect("the name of the stream is its pace");
    Pace { iops: iops + u64::from(second % 7), lat_us: 100.0 }
}

fn run(id: &str, paces: &[u64]) -> Run {
    let mut recipe = Recipe::new(id, repeated(paces), "Disk");
    recipe.pace = &by_name;
    support::run(&recipe)
}

fn kinds(run: &Run) -> Vec<FindingKind> {
    run.tests[0].findings.iter().map(|found| found.finding.kind).collect()
}

#[test]
fn repetitions_are_one_result_with_the_interval_between_them() {
    let run = run("a", &[1_000, 1_040, 980]);
    assert_eq!(run.tests.len(), 1);
    let test = &run.tests[0];
    let each: Vec<f64> = test.repetitions.iter().map(|each| each.headline.value.unwrap()).collect();
    assert_eq!(each.len(), 3);
    let mean = each.iter().sum::<f64>() / 3.0;
    assert!((test.headline.value.unwrap() - mean).abs() < 1e-9);
    // Student's t with two degrees of freedom: 4.303 s ÷ √3.
    let sigma = (each.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / 2.0).sqrt();
    let half = 4.303 * sigma / 3f64.sqrt();
    let ends = test.headline.interval.ends().unwrap();
    assert!((ends.1 - mean - half).abs() < 0.01, "{ends:?}");
    assert_eq!(test.headline.n, 60);
    // The point has the samples of all three; the seconds are those of the one in the middle.
    let totals = &test.points[0].point.totals;
    assert!((totals.value(Metric::Iops, Scope::All).unwrap() - mean).abs() < 1e-9);
    assert_eq!((totals.elapsed, test.points[0].seconds().len()), (Nanos::from_secs(60), 20));
    assert!(test.points[0].seconds().all(|second| (1_000.0..1_010.0).contains(&second.iops())));
    assert!(!kinds(&run).contains(&FindingKind::OrderEffect));
    let document = json(std::slice::from_ref(&run));
    let test = &document["runs"][0]["tests"][0];
    assert_eq!(test["repetitions"].as_array().unwrap().len(), 3);
    assert!(test["remarks"].to_string().contains("mean of 3 repetitions"), "{}", test["remarks"]);
    assert!(page(&[run], &Default::default()).contains("mean of 3 repetitions"));
}

#[test]
fn the_best_point_of_a_repeated_run_is_one_point_of_all_repetitions() {
    // The best of each repetition has 1,070 in the mean, which is that of no point.
    let paces = [(1_000, 1_050), (1_100, 1_000), (1_000, 1_060)];
    let one = |(number, (shallow, deep)): (usize, &(u64, u64))| {
        let load = |depth: u32, iops: &u64| {
            let mut stream = stream(Access::Random, 4_096, 100, depth);
            stream.name = iops.to_string();
            step(&format!("QD{depth}"), f64::from(depth), stream, 20)
        };
        let steps = vec![load(1, shallow), load(4, deep)];
        let score = Score::BestOf(Metric::Iops);
        Test { repetition: number as u32 + 1, ..test("reads", "Reads", score, &[], steps) }
    };
    let plan = plan("own", paces.iter().enumerate().map(one).collect());
    let mut recipe = Recipe::new("a", plan, "Disk");
    recipe.pace = &by_name;
    let run = support::run(&recipe);
    let test = &run.tests[0];
    // The pace of a second rises by its number modulo 7: 57 in 20 s.
    let rise = 57.0 / 20.0;
    let each: Vec<f64> = test.repetitions.iter().map(|each| each.headline.value.unwrap()).collect();
    for (value, (_, deep)) in each.iter().zip(paces) {
        assert!((value - deep as f64 - rise).abs() < 1e-9, "{each:?}");
    }
    let mean = (1_050.0 + 1_000.0 + 1_060.0) / 3.0 + rise;
    assert!((test.headline.value.unwrap() - mean).abs() < 1e-9, "{:?}", test.headline);
    let deep = &test.points[1].point;
    assert!((deep.totals.value(Metric::Iops, Scope::All).unwrap() - mean).abs() < 1e-9);
    let (low, high) = test.headline.interval.ends().unwrap();
    assert!(low < mean && mean < high);
    // Its latency is that of the same point.
    let text = markdown(std::slice::from_ref(&run));
    assert!(text.contains("| 1,040 IOPS |"), "{text}");
}

#[test]
fn a_repeated_run_with_an_interval_has_no_note_that_there_is_none() {
    let short = |paces: &[u64], seconds: u64| {
        let mut plan = repeated(paces);
        for test in &mut plan.tests {
            let name = test.phases[0].steps[0].action.workload().unwrap().streams[0].name.clone();
            let mut stream = stream(Access::Random, 4_096, 100, 4);
            stream.name = name;
            test.phases[0].steps = vec![step("QD4", 4.0, stream, seconds)];
        }
        let mut recipe = Recipe::new("a", plan, "Disk");
        recipe.pace = &by_name;
        support::run(&recipe)
    };
    let words = |run: &Run| markdown(std::slice::from_ref(run));
    let once = words(&short(&[1_000], 1));
    assert!(once.contains("has no 95 % interval: it uses 1 full second,"), "{once}");
    assert!(words(&short(&[1_000], 4)).contains("it uses 4 full seconds,"));
    for seconds in [1, 4] {
        let run = short(&[1_000, 1_040, 980], seconds);
        assert!(run.tests[0].headline.interval.ends().is_some());
        let repeated = words(&run);
        assert!(!repeated.contains("has no 95 % interval"), "{repeated}");
    }
}

#[test]
fn points_of_repetitions_leave_out_the_preparation_of_the_first() {
    let mut plan = repeated(&[1_000, 1_040, 980]);
    let mut fill = stream(Access::Sequential, 131_072, 0, 32);
    fill.name = "54".into();
    let preparation = Phase { kind: PhaseKind::Fill, steps: vec![step("fill", 0.0, fill, 30)] };
    plan.tests[0].phases.insert(0, preparation);
    let mut recipe = Recipe::new("a", plan, "Disk");
    recipe.pace = &by_name;
    let run = support::run(&recipe);
    let [point] = run.tests[0].points.as_slice() else { panic!("one measured step") };
    let value = point.point.totals.value(Metric::Iops, Scope::All).unwrap();
    assert!((value - run.tests[0].headline.value.unwrap()).abs() < 1e-9, "{value}");
    assert_eq!(point.point.totals.elapsed, Nanos::from_secs(60));
}

#[test]
fn every_figure_of_a_repeated_point_has_an_interval_between_the_repetitions() {
    let mut recipe = Recipe::new("a", repeated(&[1_000, 1_040, 980]), "Disk");
    recipe.pace = &by_name;
    recipe.power_w = Some(3.0);
    let run = support::run(&recipe);
    let document = json(std::slice::from_ref(&run));
    let point = &document["runs"][0]["tests"][0]["points"][0];
    for key in ["iops", "lat_mean_us", "lat_p99_us", "lat_max_us", "power_w", "efficiency_kiops_w"]
    {
        let interval = &point["intervals"][key];
        assert_eq!(interval["kind"], "between-repetitions", "{key}: {interval}");
        let (low, high) = (interval["low"].as_f64().unwrap(), interval["high"].as_f64().unwrap());
        let value = point["metrics"][key].as_f64().unwrap();
        assert!(low <= value && value <= high, "{key}: {low} {value} {high}");
    }
    // The point and the headline of one step are the same number.
    let headline = run.tests[0].headline.interval.ends().unwrap();
    let of_point = run.tests[0].points[0].interval(Metric::Iops, Scope::All).ends().unwrap();
    assert!((headline.0 - of_point.0).abs() < 1e-6 && (headline.1 - of_point.1).abs() < 1e-6);
    // One repetition more or less changes nothing about a single one.
    let once = self::run("b", &[1_000]);
    let interval = once.tests[0].points[0].interval(Metric::Iops, Scope::All);
    assert!(matches!(interval, ConfidenceInterval::WithinRun(_)), "{interval:?}");
}

#[test]
fn further_numbers_of_repeated_runs_are_compared_by_their_repetitions() {
    let with_further = |id: &str, paces: &[u64]| {
        let mut plan = repeated(paces);
        plan.tests.iter_mut().for_each(|test| test.also = vec![Score::MeanOf(Metric::LatMaxUs)]);
        let mut recipe = Recipe::new(id, plan, "Disk");
        recipe.pace = &by_name;
        support::run(&recipe)
    };
    let (a, b) = (with_further("a", &[1_000, 1_010]), with_further("b", &[1_000, 1_010]));
    let comparison = compare(&a, &b, &CompareOptions::default()).unwrap();
    assert_eq!(comparison.tests[1].difference, Difference::Equal);
    let (a, b) = (with_further("a", &[1_000]), with_further("b", &[1_000]));
    let comparison = compare(&a, &b, &CompareOptions::default()).unwrap();
    let Difference::Unknown(reason) = &comparison.tests[1].difference else {
        panic!("a maximum has no interval within a run")
    };
    assert!(reason.contains("not a mean"), "{reason}");
}

#[test]
fn a_drift_over_repetitions_raises_a_finding() {
    let falling = run("a", &[1_100, 1_050, 1_000]);
    let found = falling.tests[0]
        .findings
        .iter()
        .find(|found| found.finding.kind == FindingKind::OrderEffect)
        .unwrap();
    assert!(found.finding.text.contains("falls monotonically over 3"), "{}", found.finding.text);
    assert!(!kinds(&run("b", &[1_100, 1_000])).contains(&FindingKind::OrderEffect));
}

#[test]
fn a_comparison_of_repeated_runs_uses_the_variation_between_repetitions() {
    let difference = |a: &[u64], b: &[u64]| {
        let (a, b) = (run("a", a), run("b", b));
        let comparison = compare(&a, &b, &CompareOptions::default()).unwrap();
        let test = comparison.tests[0].clone();
        (test.ratio.unwrap(), test.difference)
    };
    let (ratio, judged) = difference(&[1_000, 1_010, 990], &[1_200, 1_210, 1_190]);
    assert_eq!(judged, Difference::Better);
    assert!((ratio.value - 1.2).abs() < 0.01, "{ratio:?}");
    // The same means, and repetitions so far apart that nothing can be said.
    let (wide, judged) = difference(&[700, 1_300, 1_000], &[900, 1_500, 1_200]);
    assert_eq!(judged.outcome(), "cannot-tell", "{wide:?}");
    // A run that was carried out once varies as the repetitions of the other do, besides its own seconds.
    let (once, judged) = difference(&[1_000, 1_010, 990], &[1_200]);
    assert_eq!(judged, Difference::Better);
    assert!((once.value - 1.2).abs() < 0.01 && once.interval.is_some());
    // Its seconds alone would tell it from runs that it lies between.
    for (a, b) in [(&[930, 1_000, 1_070][..], &[950][..]), (&[950], &[930, 1_000, 1_070])] {
        let (ratio, judged) = difference(a, b);
        let means = [a, b].map(|paces| paces.iter().sum::<u64>() as f64 / paces.len() as f64);
        assert!((ratio.value - means[1] / means[0]).abs() < 0.005, "{ratio:?}");
        assert_eq!(judged.outcome(), "cannot-tell", "{ratio:?}");
    }
}

#[test]
fn a_run_that_stalled_once_is_not_surer_than_its_own_seconds() {
    // A virtual drive repeats itself to the last request; the other run stalls in three of its seconds.
    let stalling = |stream: &Stream, second: u32| match stream.name.as_str() {
        "1500" if (8..11).contains(&second) => Pace { iops: 1, lat_us: 100.0 },
        _ => by_name(stream, second),
    };
    let mut recipe = Recipe::new("once", repeated(&[1_500]), "Disk");
    recipe.pace = &stalling;
    let (once, thrice) = (support::run(&recipe), run("thrice", &[1_000; 3]));
    let headline = &once.tests[0].headline;
    let (value, (low, high)) = (headline.value.unwrap(), headline.interval.ends().unwrap());
    assert!(high / low > 1.2, "the stall is in its interval: {headline:?}");
    let (below, above) = (1.0 - low / value, high / value - 1.0);
    for (a, b, [down, up]) in [(&thrice, &once, [below, above]), (&once, &thrice, [above, below])] {
        let comparison = compare(a, b, &CompareOptions::default()).unwrap();
        let ratio = comparison.tests[0].ratio.unwrap();
        let (low, high) = ratio.interval.unwrap();
        // The repetitions are equal, so that all of it is its own.
        let [found_down, found_up] = [(ratio.value / low).ln(), (high / ratio.value).ln()];
        assert!((found_down - down).abs() < 1e-9 && (found_up - up).abs() < 1e-9, "{ratio:?}");
        assert_eq!(comparison.tests[0].difference.outcome(), "cannot-tell", "{ratio:?}");
    }
    // Seconds too few for an interval are not a certainty.
    let short = |id: &str, paces: &[u64]| {
        let mut plan = repeated(paces);
        for test in &mut plan.tests {
            test.phases[0].steps = vec![step("QD4", 4.0, first_stream(test), 5)];
        }
        let mut recipe = Recipe::new(id, plan, "Disk");
        recipe.pace = &by_name;
        support::run(&recipe)
    };
    let comparison =
        compare(&short("a", &[1_000; 3]), &short("b", &[1_200]), &CompareOptions::default());
    let Difference::Unknown(reason) = &comparison.unwrap().tests[0].difference else {
        panic!("five seconds have no interval")
    };
    assert!(reason.contains("too few full seconds"), "{reason}");
}

fn first_stream(test: &Test) -> Stream {
    let workload = test.phases[0].steps[0].action.workload().expect("a load");
    workload.streams[0].clone()
}

#[test]
fn a_run_interrupted_in_a_repetition_has_no_headline() {
    let mut recipe = Recipe::new("a", repeated(&[1_000, 1_100, 1_200]), "Disk");
    recipe.pace = &by_name;
    recipe.steps = 2;
    let run = support::run(&recipe);
    assert_eq!((run.complete, run.tests[0].headline.value), (false, None));
    assert!(run.tests[0].repetitions[0].headline.value.is_some());
}

#[test]
fn a_loss_of_steady_state_raises_a_finding() {
    let score =
        Score::MeanOfLast { metric: Metric::Iops, window: Window::Time(Nanos::from_secs(400)) };
    let long = |leaves: bool| {
        let steps = vec![step("write", 0.0, stream(Access::Random, 4_096, 0, 32), 1_200)];
        let mut recipe =
            Recipe::new("a", plan("own", vec![test("w", "W", score.clone(), &[], steps)]), "Disk");
        let lower = |_: &Stream, second: u32| Pace {
            iops: if second < 900 { 1_000 } else { 600 },
            lat_us: 100.0,
        };
        recipe.pace = if leaves { &lower } else { &|_, _| Pace { iops: 1_000, lat_us: 100.0 } };
        support::run(&recipe)
    };
    let run = long(true);
    let left = run.tests[0]
        .findings
        .iter()
        .find(|found| found.finding.kind == FindingKind::LeftSteadyState)
        .unwrap();
    assert!(left.finding.text.contains("lost in minute 16"), "{}", left.finding.text);
    assert!(!kinds(&long(false)).contains(&FindingKind::LeftSteadyState));
    assert!(matches!(run.tests[0].test.phases[0].steps[0].action, Action::Run { .. }));
}

/// A run with one test of `n` equal bursts of two seconds, in MB/s around `level`.
fn bursts(id: &str, level: f64, n: u32) -> Run {
    let one = |turn: u32| {
        let mut burst = stream(Access::Sequential, 131_072, 100, 2);
        burst.name = "burst".into();
        // Each burst has a part of the drive.
        burst.offset = ssdgauge_core::Bytes(u64::from(turn) << 30);
        step(&format!("#{}", turn + 1), f64::from(turn + 1), burst, 2)
    };
    let score = Score::MeanOf(Metric::ThroughputMbS);
    let test = test("burst", "Burst", score, &[], (0..n).map(one).collect());
    let count = std::cell::Cell::new(0u64);
    let pace = |_: &Stream, _: u32| {
        // The bursts differ by some per cent.
        let turn = count.replace(count.get() + 1) / 2;
        let rate = level * (1.0 + 0.01 * ((turn * 37 % 11) as f64 - 5.0));
        Pace { iops: (rate * 1e6 / 131_072.0) as u64, lat_us: 800.0 }
    };
    let mut recipe = Recipe::new(id, plan("bursts", vec![test]), id);
    recipe.pace = &pace;
    support::run(&recipe)
}

#[test]
fn equal_steps_are_a_sample_and_decide_leads_and_comparisons() {
    let (fast, slow) = (bursts("Fast", 302.0, 32), bursts("Slow", 220.0, 32));
    let ConfidenceInterval::BetweenRepetitions { low, high } = fast.tests[0].headline.interval
    else {
        panic!("{:?}", fast.tests[0].headline)
    };
    // s = 3.16 % of 32 values: t(31) s ÷ √32 = 1.1 %.
    let value = fast.tests[0].headline.value.unwrap();
    assert!(low < value && value < high && (high - low) / value < 0.03, "{low} {high}");
    let comparison = compare(&slow, &fast, &CompareOptions::default()).unwrap();
    assert_eq!(comparison.tests[0].difference, Difference::Better);
    let ratio = comparison.tests[0].ratio.unwrap();
    let (low, high) = ratio.interval.unwrap();
    assert!(low < 302.0 / 220.0 && 302.0 / 220.0 < high && high - low < 0.08, "{ratio:?}");
    let runs = [fast, slow];
    let text = page(&runs, &Default::default());
    assert!(!text.contains("without 95"), "a lead of 37 % over 32 bursts is one");
    assert!(text.contains("between 32 equal steps"));
    // Two are not a sample.
    let two = bursts("Two", 302.0, 2);
    assert_eq!(two.tests[0].headline.interval, ConfidenceInterval::TooFewSeconds);
}
