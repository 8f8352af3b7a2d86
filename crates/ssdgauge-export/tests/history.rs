//! Comparison by what a drive has varied before.

// A test ends at its first error.
#![allow(clippy::unwrap_used)]

use crate::support::{Pace, Recipe, STARTED, quick, run, steady};
use ssdgauge_analysis::{
    CompareError, CompareOptions, Comparison, Difference, History, Run, compare,
    compare_with_history, once_each,
};
use ssdgauge_core::{Metric, PowerScope, Score, Stream, Verdict};
use ssdgauge_statistics::difference::earlier::Earlier;
use std::collections::BTreeSet;
use std::sync::LazyLock;

/// Returns a run of the drive `serial` whose rates are `factor` times the usual ones. Those with an id of
/// `earlier-N` start some days before the others.
fn recorded(id: &str, serial: &str, factor: f64) -> Run {
    changed(id, serial, factor, &|_| {})
}

/// Returns the same run with a changed recipe.
fn changed(id: &str, serial: &str, factor: f64, change: &dyn Fn(&mut Recipe<'_>)) -> Run {
    let pace = move |stream: &Stream, second: u32| {
        let pace = steady(stream, second);
        Pace { iops: (pace.iops as f64 * factor) as u64, lat_us: pace.lat_us / factor }
    };
    let mut recipe = Recipe::new(id, quick(2), "Disk");
    recipe.drive.serial = Some(serial.to_owned());
    recipe.pace = &pace;
    change(&mut recipe);
    let mut run = run(&recipe);
    if let Some(number) = id.strip_prefix("earlier-") {
        run.head.started_unix_ms = STARTED - (10 - number.parse::<i64>().unwrap()) * 86_400_000;
    }
    run
}

/// The rates of eight runs of one drive, which differ by about 1 %.
const FACTORS: [f64; 8] = [1.0, 1.01, 0.995, 1.005, 0.99, 1.0, 1.008, 0.997];

static EARLIER: LazyLock<Vec<Run>> = LazyLock::new(|| {
    let one =
        |(number, factor): (usize, &f64)| recorded(&format!("earlier-{number}"), "S1", *factor);
    FACTORS.iter().enumerate().map(one).collect()
});

fn history(reference: &Run, runs: usize) -> History {
    history_of(&EARLIER[..runs], reference)
}

fn history_of(earlier: &[Run], reference: &Run) -> History {
    let mut history = History::default();
    for earlier in earlier {
        history.add(earlier, [reference, reference]).unwrap();
    }
    history
}

fn compared(factor: f64, runs: usize, threshold: Option<f64>) -> Comparison {
    let (a, b) = (recorded("a", "S1", 1.0), recorded("b", "S1", factor));
    let options = CompareOptions { threshold, ..CompareOptions::default() };
    compare_with_history(&a, &b, &options, &history(&a, runs)).unwrap()
}

#[test]
fn a_change_is_significant_beyond_those_of_earlier_runs_in_both_directions() {
    // Steps of two seconds have no interval: without a history none of these is judged.
    for (factor, expected) in [
        (0.9, Difference::Worse),
        (1.1, Difference::Better),
        (0.985, Difference::Equal),
        (1.015, Difference::Equal),
    ] {
        let comparison = compared(factor, FACTORS.len(), None);
        assert!(comparison.tests.len() >= 4);
        for test in &comparison.tests {
            let Some(Earlier { runs: 8, limit: Some(limit) }) = test.earlier else {
                panic!("{:?}", test.earlier)
            };
            assert!((0.015..0.06).contains(&limit), "{limit}");
            assert_eq!(test.difference, expected, "{} at {factor}", test.id);
        }
        let json = ssdgauge_export::comparison_json(&comparison);
        crate::schema::check("compare.json", &json);
        assert_eq!(json["tests"][0]["history_runs"], 8);
        assert!(json["noise"].is_null(), "{json}");
        for text in [
            ssdgauge_export::comparison_markdown(&comparison),
            ssdgauge_export::comparison_text(&comparison, 200, false),
            ssdgauge_export::comparison_junit(&comparison),
        ] {
            assert!(text.contains("8 earlier runs"), "{text}");
        }
        // Each limit is printed, whatever the width.
        for width in [60, 100, 200] {
            let text = ssdgauge_export::comparison_text(&comparison, width, false);
            let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
            for test in &comparison.tests {
                let limit = 100.0 * test.earlier.unwrap().limit.unwrap();
                let words_of_limit = format!("the limit by 8 earlier runs is {limit:.1} %");
                assert!(words.contains(&words_of_limit), "{words_of_limit}: {text}");
            }
        }
    }
}

#[test]
fn the_gate_fails_beyond_the_limit_and_the_threshold_and_cannot_tell_between_them() {
    let gate = |factor, runs, threshold| compared(factor, runs, Some(threshold)).gate;
    assert_eq!(gate(0.9, 8, 0.0), Some(Verdict::Fails));
    assert_eq!(gate(0.9, 8, 0.05), Some(Verdict::Fails));
    assert_eq!(gate(0.9, 8, 0.2), Some(Verdict::Holds));
    assert_eq!(gate(0.985, 8, 0.0), Some(Verdict::Holds));
    // Worse than allowed, and by no more than the drive varies anyway.
    assert_eq!(gate(0.985, 8, 0.01), Some(Verdict::NotDecided));
    assert_eq!(gate(0.985, 8, 0.02), Some(Verdict::Holds));
    assert_eq!(gate(1.1, 8, 0.0), Some(Verdict::Holds));
    assert_eq!(gate(0.5, 7, 0.0), Some(Verdict::NotDecided));
    let short = compared(0.5, 7, None);
    let text = ssdgauge_export::comparison_markdown(&short);
    assert!(text.contains("the history has 7 runs of this test, and 8 are needed"), "{text}");
    assert!(ssdgauge_export::comparison_junit(&short).contains("failures=\"0\""));
    assert!(ssdgauge_export::comparison_junit(&compared(0.9, 8, None)).contains("<failure"));
}

#[test]
fn runs_of_other_drives_and_the_compared_ones_are_not_a_history() {
    let a = recorded("a", "S1", 1.0);
    let b = recorded("b", "S1", 1.0);
    let mut history = history(&a, 8);
    assert_eq!(history.runs(), 8);
    let mut add = |run: &Run| history.add(run, [&a, &b]);
    assert_eq!(add(&recorded("other", "S2", 1.0)), Err("another drive"));
    assert!(add(&b).is_err());
    assert_eq!(history.runs(), 8);
    let other = recorded("b", "S2", 1.0);
    let refused = compare_with_history(&a, &other, &CompareOptions::default(), &history);
    assert!(matches!(refused, Err(CompareError::OtherDrive(_))), "{refused:?}");
}

#[test]
fn a_run_that_started_at_the_second_one_or_after_it_is_not_a_history() {
    let (a, mut b) = (recorded("a", "S1", 1.0), recorded("b", "S1", 1.0));
    b.head.started_unix_ms = STARTED + 1_000;
    let mut history = History::default();
    let mut add = |id: &str, started_unix_ms: i64| {
        let mut run = recorded(id, "S1", 1.0);
        run.head.started_unix_ms = started_unix_ms;
        history.add(&run, [&a, &b])
    };
    assert_eq!(add("after", STARTED + 1_001), Err("not started before the second run"));
    assert_eq!(add("beside", STARTED + 1_000), Err("not started before the second run"));
    assert_eq!(add("between", STARTED + 999), Ok(()));
    assert_eq!(add("before", STARTED - 1), Ok(()));
    assert_eq!(history.runs(), 2);
}

#[test]
fn a_change_of_one_bucket_of_the_histogram_is_within_noise_after_equal_runs() {
    let by_percentile = |recipe: &mut Recipe<'_>| {
        recipe.plan.tests[0].score = Score::MeanOf(Metric::LatP99Us);
    };
    let equal = |id: &str| changed(id, "S1", 1.0, &by_percentile);
    let earlier: Vec<Run> = (0..8).map(|number| equal(&format!("earlier-{number}"))).collect();
    let a = equal("a");
    for (factor, expected) in [
        (1.0 + 1.0 / 1_024.0, Difference::Equal),
        (1.0 - 1.0 / 1_024.0, Difference::Equal),
        (1.003, Difference::Worse),
        (0.997, Difference::Better),
    ] {
        let mut b = equal("b");
        let value = b.tests[0].headline.value.as_mut().unwrap();
        *value *= factor;
        let history = history_of(&earlier, &a);
        let options = CompareOptions::default();
        let comparison = compare_with_history(&a, &b, &options, &history).unwrap();
        let test = &comparison.tests[0];
        assert_eq!(test.difference, expected, "{factor}");
        assert_eq!(test.earlier, Some(Earlier { runs: 8, limit: Some(0.001) }));
        // A rate is a count over a time, without buckets.
        assert_eq!(comparison.tests[1].earlier.unwrap().limit, Some(0.0));
    }
}

/// Returns a run whose first test has `also` as further numbers, with a meter that reads `power_w`.
fn with_further(id: &str, factor: f64, also: &[Score], power_w: f64) -> Run {
    changed(id, "S1", factor, &|recipe| {
        recipe.plan.tests[0].also = also.to_vec();
        recipe.power_w = Some(power_w);
    })
}

/// Eight runs with a power that varies by some 10 %, and a percentile that varies by some 1 %.
fn powers(also: &[Score]) -> Vec<Run> {
    let one = |(number, factor): (usize, &f64)| {
        let power_w = 3.0 + 10.0 * (factor - 1.0);
        with_further(&format!("earlier-{number}"), *factor, also, power_w)
    };
    FACTORS.iter().enumerate().map(one).collect()
}

#[test]
fn a_further_number_of_another_meter_stays_unknown_with_a_history() {
    let also = [Score::MeanOf(Metric::PowerW)];
    let mut earlier = powers(&also);
    let a = with_further("a", 1.0, &also, 3.0);
    let mut b = with_further("b", 1.0, &also, 30.0);
    let further = |b: &Run, earlier: &[Run]| {
        let history = history_of(earlier, &a);
        let options = CompareOptions::default();
        let comparison = compare_with_history(&a, b, &options, &history).unwrap();
        let number = comparison.tests.into_iter().find(|test| test.further).unwrap();
        assert_eq!(number.metric, Metric::PowerW);
        number
    };
    assert_eq!(further(&b, &earlier).difference, Difference::Worse, "one meter");
    read_by_another_meter(&mut b);
    let number = further(&b, &earlier);
    let reason = "power was read by different meters: meter and other".to_owned();
    assert_eq!(number.difference, Difference::Unknown(reason));
    assert_eq!((number.values[1], number.ratio), (None, None));

    // Nor does an earlier run of another meter count.
    read_by_another_meter(&mut earlier[3]);
    let Some(Earlier { runs, limit }) = further(&b, &earlier).earlier else { panic!() };
    assert_eq!((runs, limit), (7, None));
}

#[test]
fn the_power_of_a_drive_and_of_its_host_are_not_compared() {
    let also = [Score::MeanOf(Metric::PowerW)];
    let a = with_further("a", 1.0, &also, 3.0);
    let read_in = |scope: PowerScope| {
        let b = changed("b", "S1", 1.0, &|recipe| {
            recipe.plan.tests[0].also = also.to_vec();
            (recipe.power_w, recipe.scope) = (Some(3.0), scope);
        });
        let comparison = compare(&a, &b, &CompareOptions::default()).unwrap();
        comparison.tests.into_iter().find(|test| test.further).unwrap()
    };
    let equal = read_in(PowerScope::Drive);
    assert_eq!((equal.metric, equal.ratio.is_some()), (Metric::PowerW, true));
    let number = read_in(PowerScope::HostAc);
    let reason = "the scopes of the power meters differ: drive and host-ac".to_owned();
    assert_eq!(number.difference, Difference::Unknown(reason));
    assert_eq!((number.values[1], number.ratio), (None, None));
}

#[test]
fn the_most_complete_copy_of_a_run_counts_in_every_order() {
    let (a, b) = (recorded("a", "S1", 1.0), recorded("b", "S1", 1.0));
    let mut part = EARLIER[3].clone();
    part.complete = false;
    part.tests.truncate(1);
    let values = |history: &History| {
        let options = CompareOptions::default();
        let comparison = compare_with_history(&a, &b, &options, history).unwrap();
        comparison.tests.iter().map(|test| test.earlier.unwrap()).collect::<Vec<_>>()
    };
    let whole = history(&a, 8);
    for copies in [[&part, &EARLIER[3]], [&EARLIER[3], &part]] {
        let mut of_copies = History::default();
        let others = EARLIER.iter().filter(|run| run.head.id != part.head.id);
        let (counted, left_out) = once_each(others.chain(copies).cloned().collect());
        assert_eq!(left_out.len(), 1);
        counted.iter().for_each(|run| of_copies.add(run, [&a, &a]).unwrap());
        assert_eq!((of_copies.runs(), values(&of_copies)), (8, values(&whole)));
    }
}

fn read_by_another_meter(run: &mut Run) {
    for point in run.tests.iter_mut().flat_map(|test| &mut test.points) {
        let other = BTreeSet::from(["other".to_owned()]);
        assert!(point.instruments.insert("power_w".to_owned(), other).is_some());
    }
}

#[test]
fn a_further_number_is_judged_by_its_own_history_where_the_second_run_lacks_another() {
    let percentile = Score::MeanOf(Metric::LatP99Us);
    let also = [Score::MeanOf(Metric::PowerW), percentile.clone()];
    let history = powers(&also);
    let a = with_further("a", 1.0, &also, 3.0);
    let earlier = |also: &[Score]| -> Vec<Earlier> {
        let b = with_further("b", 1.0, also, 3.0);
        let options = CompareOptions::default();
        let history = history_of(&history, &a);
        let comparison = compare_with_history(&a, &b, &options, &history).unwrap();
        let further = comparison.tests.iter().filter(|test| test.further);
        further.map(|test| test.earlier.unwrap()).collect()
    };
    let both = earlier(&also);
    assert_eq!(both.len(), 2);
    assert!(both[0].limit > both[1].limit, "{both:?}");
    assert_eq!(earlier(&[percentile]), both[1..]);
}
