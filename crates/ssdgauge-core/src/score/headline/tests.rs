//! Tests of headlines, ratios and their intervals.

use super::*;
use crate::sample::{Direction, Interval, Reading};
use crate::score::ratio::Ratio;
use crate::totals::seconds::Seconds;
use crate::{Bytes, Nanos, Random, Window};
use ssdgauge_statistics::histogram::Histogram;
use std::collections::BTreeMap;

fn point(position: f64, ios_each_second: &[u64]) -> Point {
    let mut whole = Totals::default();
    let mut seconds = Vec::new();
    for (second, ios) in ios_each_second.iter().enumerate() {
        let interval = Interval {
            second: second as u32,
            stream: 0,
            direction: Direction::Read,
            length: Nanos::SECOND,
            ios: *ios,
            bytes: ios * 4_096,
            errors: 0,
            latency: Histogram::default(),
        };
        let mut totals = Totals::over(Nanos::SECOND);
        totals.add(&interval);
        whole.add(&interval);
        whole.elapsed += Nanos::SECOND;
        seconds.push(totals);
    }
    Point {
        label: position.to_string(),
        position,
        totals: whole,
        seconds: seconds.into_iter().collect(),
        streams: Vec::new(),
        percentiles: BTreeMap::new(),
    }
}

/// Returns a point with independent seconds around `mean`, and a standard deviation of 5 %.
fn noisy(position: f64, mean: f64, seconds: usize, random: &mut Random) -> Point {
    let normal = |random: &mut Random| (0..12).map(|_| random.unit()).sum::<f64>() - 6.0;
    let ios: Vec<u64> =
        (0..seconds).map(|_| (mean * (1.0 + 0.05 * normal(random))) as u64).collect();
    point(position, &ios)
}

#[test]
fn a_mean_over_points_lies_in_its_interval() {
    let points = [
        point(1.0, &[100, 110, 90, 100, 105, 95, 100, 100, 98, 102]),
        point(2.0, &[200, 220, 180, 200, 210, 190, 200, 200, 196, 204]),
    ];
    let headline = Headline::from_points(&Score::MeanOf(Metric::Iops), &points);
    assert_eq!((headline.value, headline.n), (Some(150.0), 20));
    let (low, high) = headline.interval.ends().unwrap();
    assert!(low < 150.0 && 150.0 < high && high - low < 20.0, "{low} {high}");
    // Two independent points: the half-widths add up as a root of squares.
    let each = points.map(|point| {
        let (low, high) = point.interval(Metric::Iops, Scope::All).ends().unwrap();
        (high - low) / 2.0
    });
    assert!(((high - low) / 2.0 - each[0].hypot(each[1]) / 2.0).abs() < 1e-9);
}

#[test]
fn a_start_that_flatters_leaves_the_value_and_its_interval_and_stays_in_that_of_the_protocol() {
    let mut random = Random::new(41, 0);
    let mut ios = vec![4_000; 10];
    ios.extend((0..50).map(|_| 1_000 + random.below(11)));
    let headline = Headline::from_points(&Score::MeanOf(Metric::Iops), &[point(1.0, &ios)]);
    let within = headline.interval.within_run().unwrap();
    assert!((10..=15).contains(&within.cut) && within.cut + within.n == 60, "{within:?}");
    assert!((within.mean - 1_005.0).abs() < 1.0 && within.high < 1_010.0, "{within:?}");
    assert_eq!((headline.value, headline.n), (Some(within.mean), within.n as u64));
    assert!(headline.protocol.unwrap() > 1_500.0, "the protocol counts every second");
    // The last part of a step is treated alike, and so is the best of several points.
    let flattering = point(2.0, &ios);
    for score in [
        Score::MeanOfLast { metric: Metric::Iops, window: Window::Time(Nanos::from_secs(58)) },
        Score::BestOf(Metric::Iops),
        Score::At { metric: Metric::Iops, position: 2.0 },
        Score::Knee(Metric::Iops),
    ] {
        let points = [point(1.0, &[900; 60]), flattering.clone()];
        let points = &points[usize::from(score.last_part().is_some())..];
        let headline = Headline::from_points(&score, points);
        let (low, high) = headline.interval.ends().unwrap();
        let value = headline.value.unwrap();
        assert!(low <= value && value <= high && value < 1_010.0, "{score:?}: {headline:?}");
        let all: Vec<&Point> = points.iter().collect();
        assert!(!headline.points(&score, &all).is_empty(), "{score:?}");
    }
}

#[test]
fn a_start_that_does_not_flatter_stays() {
    let mut ios = vec![100; 10];
    ios.extend((0..50).map(|second| 1_000 + second * 37 % 11));
    let point = point(1.0, &ios);
    let within = point.interval(Metric::Iops, Scope::All).within_run().unwrap();
    assert_eq!((within.cut, within.n), (0, 60));
    assert!(within.low < 860.0 && within.high > 860.0, "{within:?}");
}

#[test]
fn falling_and_short_steps_state_why_they_have_no_interval() {
    let falling: Vec<u64> = (0..60).map(|second| 6_000 - 100 * second).collect();
    let of = |ios: &[u64]| point(1.0, ios).interval(Metric::Iops, Scope::All);
    assert_eq!(of(&falling), ConfidenceInterval::StillSettling);
    assert_eq!(of(&[100; 9]), ConfidenceInterval::TooFewSeconds);
    assert_eq!(of(&[100; 10]).ends(), Some((100.0, 100.0)));
    let points = [point(1.0, &[100; 60]), point(2.0, &falling)];
    let headline = Headline::from_points(&Score::MeanOf(Metric::Iops), &points);
    assert_eq!(headline.interval, ConfidenceInterval::StillSettling);
    assert_eq!(headline.value, Some((100.0 + 3_050.0) / 2.0));
}

#[test]
fn a_ratio_contains_the_truth_and_is_none_where_it_was_not_measured() {
    let a = [point(1.0, &[100, 110, 90, 100, 105, 95, 100, 100, 99, 101])];
    let b = [point(1.0, &[150, 160, 140, 150, 155, 145, 150, 150, 149, 151])];
    let score = Score::MeanOf(Metric::Iops);
    let ratio = Ratio::from_points(&score, &a, &b).unwrap();
    let (low, high) = ratio.interval.unwrap();
    assert_eq!(ratio.value, 1.5);
    assert!(1.35 < low && low < 1.5 && 1.5 < high && high < 1.68, "{low} {high}");
    assert_eq!(Ratio::from_points(&score, &[point(1.0, &[0; 10])], &b), None);
    let short = Ratio::from_points(&score, &[point(1.0, &[100])], &b).unwrap();
    assert_eq!((short.value, short.interval), (1.5, None));
    assert_eq!(Ratio::from_points(&Score::MeanOf(Metric::PowerW), &a, &b), None);
}

#[test]
fn ratios_of_equal_drives_contain_one_and_those_of_different_ones_do_not() {
    let mut random = Random::new(6, 0);
    let score = Score::MeanOf(Metric::Iops);
    let mut apart = |of_b: f64| {
        (0..200)
            .filter(|_| {
                let a = [noisy(1.0, 10_000.0, 60, &mut random)];
                let b = [noisy(1.0, of_b, 60, &mut random)];
                let (low, high) = Ratio::from_points(&score, &a, &b).unwrap().interval.unwrap();
                low > 1.0 || high < 1.0
            })
            .count()
    };
    let (equal, different) = (apart(10_000.0), apart(10_500.0));
    assert!(equal <= 10 && different >= 180, "{equal} and {different} of 200");
}

#[test]
fn one_run_against_repetitions_is_as_uncertain_as_both() {
    // Both have the same mean in truth. The repetitions vary from run to run, or as those of a virtual drive not at
    // all; the seconds of the single run always vary.
    let mut random = Random::new(12, 0);
    let score = Score::MeanOf(Metric::Iops);
    let mut normal_random = Random::new(13, 0);
    let mut normal = || (0..12).map(|_| normal_random.unit()).sum::<f64>() - 6.0;
    for between in [0.0, 0.01, 0.03] {
        let mut held = |factor: f64| {
            (0..400)
                .filter(|_| {
                    let repeated: Vec<Headline> = (0..3)
                        .map(|_| (10_000.0 * (1.0 + between * normal())) as u64)
                        .map(|ios| Headline::from_points(&score, &[point(1.0, &[ios; 60])]))
                        .collect();
                    let mean = factor * 10_000.0 * (1.0 + between * normal());
                    let single = [noisy(1.0, mean, 60, &mut random)];
                    let single = [Headline::from_points(&score, &single)];
                    let ratio = Ratio::of_repetitions(&repeated, &single).unwrap();
                    let (low, high) = ratio.interval.unwrap();
                    let other = Ratio::of_repetitions(&single, &repeated).unwrap();
                    let (from, to) = other.interval.unwrap();
                    assert!((low * to - 1.0).abs() < 1e-9 && (high * from - 1.0).abs() < 1e-9);
                    low <= 1.0 && 1.0 <= high
                })
                .count()
        };
        // 95 % less three standard errors of 400 pairs, and no less.
        let equal = held(1.0);
        assert!(equal >= 367, "{equal} of 400 at {between}");
        if between == 0.0 {
            let different = held(1.05);
            assert!(different <= 8, "{different} of 400 differences of 5 % not seen");
        }
    }
    let few = [Headline::from_points(&score, &[point(1.0, &[100; 5])])];
    let repeated = vec![Headline::from_points(&score, &[point(1.0, &[90; 60])]); 3];
    for ratio in [Ratio::of_repetitions(&repeated, &few), Ratio::of_repetitions(&few, &repeated)] {
        assert_eq!(ratio.unwrap().interval, None, "nothing is known of its seconds");
    }
}

#[test]
fn the_interval_of_a_ratio_always_contains_the_ratio() {
    let mut random = Random::new(81, 0);
    let scores = [
        Score::MeanOf(Metric::Iops),
        Score::BestOf(Metric::ThroughputMbS),
        Score::Knee(Metric::Iops),
        Score::MeanOfLast { metric: Metric::Iops, window: Window::Time(Nanos::from_secs(20)) },
        Score::MeanOverSigmaOfLast {
            metric: Metric::Iops,
            window: Window::Time(Nanos::from_secs(20)),
        },
    ];
    let (mut judged, mut cut) = (0, 0);
    for round in 0..400 {
        // Half of the points begin up to nine times as fast as they go on.
        let mut side = || -> Vec<Point> {
            (1..=2)
                .map(|position| {
                    let mean = 100.0 + random.unit() * 10_000.0;
                    let seconds = 10 + random.below(50) as usize;
                    let flattering = random.below(2) * random.below(seconds as u64 / 3);
                    let factor = 1.0 + 8.0 * random.unit();
                    let steady = noisy(1.0, mean, seconds, &mut random);
                    let ios = steady.seconds.totals().enumerate().map(|(second, totals)| {
                        let ios = totals.directions[Direction::Read as usize].ios as f64;
                        let is_start = (second as u64) < flattering;
                        (ios * if is_start { factor } else { 1.0 }) as u64
                    });
                    point(f64::from(position), &ios.collect::<Vec<u64>>())
                })
                .collect()
        };
        let (a, b) = (side(), side());
        for score in &scores {
            let Some(ratio) = Ratio::from_points(score, &a, &b) else { continue };
            let Some((low, high)) = ratio.interval else { continue };
            assert!(
                low <= ratio.value && ratio.value <= high,
                "seed 81, round {round}, {score:?}: {ratio:?}"
            );
            judged += 1;
            cut += usize::from(ratio.cut_seconds != [0, 0]);
        }
    }
    assert!(judged > 500 && cut > 100, "{judged} intervals, {cut} of them behind a cut");
}

#[test]
fn rules_of_one_point_select_their_point() {
    let points = [point(1.0, &[10]), point(2.0, &[96]), point(4.0, &[100])];
    let value = |score| Headline::from_points(&score, &points).value;
    assert_eq!(value(Score::BestOf(Metric::Iops)), Some(100.0));
    assert_eq!(value(Score::At { metric: Metric::Iops, position: 1.0 }), Some(10.0));
    assert_eq!(value(Score::At { metric: Metric::Iops, position: 3.0 }), None);
    assert_eq!(value(Score::Knee(Metric::Iops)), Some(96.0));
}

#[test]
fn a_headline_names_the_points_that_it_is_taken_from() {
    let points = [point(1.0, &[10]), point(2.0, &[96]), point(4.0, &[100]), point(8.0, &[100])];
    let check = |score: Score, expected: &[usize]| {
        let all: Vec<&Point> = points.iter().collect();
        assert_eq!(
            Headline::from_points(&score, &points).points(&score, &all),
            expected,
            "{score:?}"
        );
    };
    let metric = Metric::Iops;
    check(Score::MeanOf(metric), &[0, 1, 2, 3]);
    check(Score::MeanAt { metric, positions: vec![1.0, 8.0] }, &[0, 3]);
    check(Score::At { metric, position: 2.0 }, &[1]);
    check(Score::BestOf(metric), &[2]);
    check(Score::Knee(metric), &[1]);
    check(Score::MeanOf(Metric::PowerW), &[]);
}

#[test]
fn the_highest_passing_load_is_the_point_of_the_headline() {
    let mut points = [point(1.0, &[10]), point(2.0, &[20]), point(4.0, &[40])];
    for (point, value) in points.iter_mut().zip([1.0, 1.0, 0.0]) {
        point.totals.add_reading(&Reading {
            at: Nanos(0),
            instrument: "search".into(),
            quantity: "borne".into(),
            value,
        });
    }
    let headline = Headline::from_points(&Score::HighestPassing, &points);
    assert_eq!((headline.value, headline.interval.ends()), (Some(2.0), None));
    let all: Vec<&Point> = points.iter().collect();
    assert_eq!(headline.points(&Score::HighestPassing, &all), [1]);
}

#[test]
fn a_knee_has_intervals_over_its_seconds() {
    let varied = |mean: u64| -> Vec<u64> { (0..60).map(|s| mean + (s * 37) % 11).collect() };
    let points = [
        point(1.0, &varied(300)),
        point(2.0, &varied(600)),
        point(4.0, &varied(950)),
        point(8.0, &varied(1_000)),
    ];
    let found = KneeFound::find(Metric::Iops, &points).unwrap();
    // The value at QD4 equals the threshold: the interval contains both depths.
    assert_eq!(found.depth, Some((4, 8)), "{found:?}");
    let (low, high) = found.interpolated.unwrap();
    assert!(low <= found.knee.interpolated && found.knee.interpolated <= high, "{found:?}");
    assert!(low > 2.0 && high < 8.0 && high - low < 2.0, "{found:?}");
    // The headline contains the values of both.
    let headline = Headline::from_points(&Score::Knee(Metric::Iops), &points);
    let (low, high) = headline.interval.ends().unwrap();
    assert!(low < 956.0 && high > 1_004.0, "{low} {high}");
    let short = points.map(|point| Point { seconds: Seconds::default(), ..point });
    let found = KneeFound::find(Metric::Iops, &short).unwrap();
    assert_eq!((found.depth, found.interpolated), (None, None));
}

#[test]
fn a_mean_at_some_points_excludes_the_others() {
    let points = [point(1.0, &[10]), point(2.0, &[20]), point(4.0, &[60]), point(8.0, &[900])];
    let score = Score::MeanAt { metric: Metric::Iops, positions: vec![1.0, 2.0, 4.0] };
    let headline = Headline::from_points(&score, &points);
    assert_eq!((headline.value, headline.n), (Some(30.0), 3));
}

#[test]
fn a_window_contains_the_last_seconds_or_bytes_only() {
    let points = [point(0.0, &[900, 900, 900, 10, 20, 30])];
    let headline = |window| {
        let score = Score::MeanOfLast { metric: Metric::Iops, window };
        let headline = Headline::from_points(&score, &points);
        (headline.value, headline.n)
    };
    assert_eq!(headline(Window::Time(Nanos::from_secs(3))), (Some(20.0), 3));
    assert_eq!(headline(Window::Time(Nanos::from_secs(7))), (None, 0));
    assert_eq!(headline(Window::Bytes(Bytes(40 * 4_096))), (Some(25.0), 2));
    assert_eq!(headline(Window::Bytes(Bytes(1 << 40))), (None, 0));
}

#[test]
fn mean_over_sigma_counts_the_window_and_is_none_without_variation() {
    let window = Window::Time(Nanos::from_secs(8));
    let score = Score::MeanOverSigmaOfLast { metric: Metric::Iops, window };
    let headline = Headline::from_points(&score, &[point(0.0, &[900, 2, 4, 4, 4, 5, 5, 7, 9])]);
    let expected = 5.0 / (32.0f64 / 7.0).sqrt();
    assert_eq!(headline.metric, Metric::MeanOverSigma);
    assert!((headline.value.unwrap() - expected).abs() < 1e-12);
    let flat = Headline::from_points(&score, &[point(0.0, &[100; 9])]);
    assert_eq!((flat.value, flat.n), (None, 8));
}

#[test]
fn power_of_different_scopes_has_no_mean() {
    let metered = |quantity: &str| {
        let mut point = point(1.0, &[100; 6]);
        let reading = Reading {
            at: Nanos(0),
            instrument: "meter".into(),
            quantity: quantity.into(),
            value: 5.0,
        };
        point.totals.add_reading(&reading);
        let metered = |mut second: Totals| {
            second.add_reading(&reading);
            second
        };
        point.seconds = point.seconds.totals().map(metered).collect();
        point
    };
    let value = |quantities: [&str; 2], metric| {
        Headline::from_points(&Score::MeanOf(metric), &quantities.map(metered)).value
    };
    assert_eq!(value(["power_w", "power_w"], Metric::PowerW), Some(5.0));
    assert_eq!(value(["host_ac_power_w", "host_ac_power_w"], Metric::PowerW), Some(5.0));
    assert_eq!(value(["power_w", "host_ac_power_w"], Metric::PowerW), None);
    assert_eq!(value(["power_w", "host_ac_power_w"], Metric::EfficiencyMbSW), None);
    assert_eq!(value(["power_w", "host_ac_power_w"], Metric::Iops), Some(100.0));
}

#[test]
fn an_unmeasured_metric_has_no_value_and_no_interval() {
    let headline = Headline::from_points(&Score::MeanOf(Metric::PowerW), &[point(1.0, &[10; 9])]);
    assert_eq!((headline.value, headline.interval), (None, ConfidenceInterval::Undefined));
}

#[test]
fn the_interval_of_mean_over_sigma_contains_the_truth() {
    let mut random = Random::new(9, 0);
    let window = Window::Time(Nanos::from_secs(100));
    let score = Score::MeanOverSigmaOfLast { metric: Metric::Iops, window };
    let held = (0..200)
        .filter(|_| {
            let points = [noisy(1.0, 10_000.0, 120, &mut random)];
            let (low, high) = Headline::from_points(&score, &points).interval.ends().unwrap();
            low <= 20.0 && 20.0 <= high
        })
        .count();
    assert!(held >= 184, "{held} of 200");
}

#[test]
fn latency_and_efficiency_have_intervals_of_ratios() {
    let mut point = point(1.0, &[0; 20]);
    let mut seconds: Vec<Totals> = point.seconds.totals().collect();
    for (second, totals) in seconds.iter_mut().enumerate() {
        let ios = 100 + (second as u64 * 7) % 5;
        let mut latency = Histogram::default();
        (0..ios).for_each(|_| latency.record(10_000_000 / ios));
        totals.add(&Interval {
            second: second as u32,
            stream: 0,
            direction: Direction::Read,
            length: Nanos::SECOND,
            ios,
            bytes: ios * 1_000_000,
            errors: 0,
            latency: latency.without_buckets(),
        });
        let (quantity, value) = ("power_w".to_owned(), 4.0 + (second % 3) as f64 / 10.0);
        totals.add_reading(&Reading { at: Nanos(0), instrument: "m".into(), quantity, value });
    }
    point.seconds = seconds.into_iter().collect();
    let contains = |metric: Metric, truth: f64| {
        let within = point.interval(metric, Scope::All).within_run().unwrap();
        assert!((within.mean - truth).abs() < 0.01 * truth, "{metric:?}: {within:?}");
        assert!(within.low <= truth && truth <= within.high && within.high < 1.05 * truth);
    };
    contains(Metric::LatMeanUs, 98.0);
    contains(Metric::PowerW, 4.095);
    contains(Metric::EfficiencyMbSW, 102.0 / 4.095);
    contains(Metric::EfficiencyKiopsW, 0.102 / 4.095);
    assert_eq!(point.interval(Metric::LatMaxUs, Scope::All), ConfidenceInterval::Undefined);
    assert_eq!(point.interval(Metric::LatP99Us, Scope::All), ConfidenceInterval::TooFewSeconds);
}

#[test]
fn the_score_of_a_stream_is_that_of_its_own_requests() {
    let mut both = point(2.0, &[300, 300]);
    both.streams = [100, 200].map(|ios| point(2.0, &[ios, ios]).totals).to_vec();
    let score = |stream| Score::OfStream {
        metric: Metric::Iops,
        position: 2.0,
        stream,
        name: "one".into(),
        direction: None,
    };
    let value = |stream| Headline::from_points(&score(stream), std::slice::from_ref(&both));
    assert_eq!((value(0).value, value(1).value), (Some(100.0), Some(200.0)));
    assert_eq!(value(0).interval, ConfidenceInterval::Undefined);
    assert_eq!(value(2).value, None);
    assert_eq!(value(1).points(&score(1), &[&both]), [0]);
}

#[test]
fn the_score_of_a_direction_is_that_of_its_own_requests_with_its_interval() {
    let rates: Vec<u64> = (0..60).map(|second| 300 + second % 7).collect();
    let one = point(2.0, &rates);
    let of = |direction| Score::OfDirection { metric: Metric::Iops, position: 2.0, direction };
    for direction in Direction::ALL {
        let score = of(direction);
        let found = Headline::from_points(&score, std::slice::from_ref(&one));
        let scope = Scope::from(direction);
        assert_eq!(found.value, one.totals.value(Metric::Iops, scope), "{direction:?}");
        let own = one.interval(Metric::Iops, scope);
        let expected = found.value.map_or(ConfidenceInterval::Undefined, |_| own);
        assert_eq!(found.interval, expected, "{direction:?}");
    }
    // One stream and one direction of it.
    let mut both = one.clone();
    both.streams = vec![Totals::default(), one.totals.clone()];
    let score = |direction| Score::OfStream {
        metric: Metric::Iops,
        position: 2.0,
        stream: 1,
        name: "one".into(),
        direction: Some(direction),
    };
    let value = |one| Headline::from_points(&score(one), std::slice::from_ref(&both)).value;
    assert!(value(Direction::Read) > Some(0.0));
    assert_ne!(value(Direction::Write), value(Direction::Read));
}
