//! Fleets of normal numbers, in which the spread between drives and that between runs are known.

use super::*;
use ssdgauge_core::Random;

/// A normal number, from the sum of twelve uniform ones.
fn normal(random: &mut Random) -> f64 {
    (0..12).map(|_| random.unit()).sum::<f64>() - 6.0
}

fn run(serial: &str, number: i64, latencies: Vec<Latency>) -> DriveRun {
    let kind = DriveModel {
        model: "Disk".to_owned(),
        firmware: "F1".to_owned(),
        capacity: 1_000_000_000,
        model_revision: String::new(),
    };
    DriveRun {
        kind,
        serial: serial.to_owned(),
        label: None,
        is_model: false,
        run_id: format!("{serial}-{number:03}"),
        started_unix_ms: number,
        suite: "fleet".to_owned(),
        held_back: Vec::new(),
        headlines: Vec::new(),
        latencies,
    }
}

/// One step of a load: ln of its rate, 0 in a closed loop, and ln of its latency.
fn step(load: usize, step: usize, throughput: f64, latency: f64) -> Latency {
    let test = TestKey {
        suite: "fleet".to_owned(),
        test: format!("test-{load}"),
        suite_revision: 1,
        test_revision: 1,
        shortened: 1,
        is_span_scaled: false,
        path: ssdgauge_core::RequestPath::Interrupts,
    };
    Latency {
        test,
        step: format!("step-{step}"),
        direction: Direction::Read,
        metric: Metric::LatMeanUs,
        load: String::new(),
        throughput,
        latency: 100f64.ln() + latency,
        iops: throughput.exp(),
    }
}

/// The closed loops of one run of a drive that is slower by `offset`; each step has 3 % of noise.
fn closed(random: &mut Random, steps: usize, offset: f64) -> Vec<Latency> {
    let one = |load: usize| step(load, 0, 0.0, offset + 0.03 * normal(random));
    (0..steps).map(one).collect()
}

#[test]
fn a_strip_has_every_drive_at_the_distance_that_it_really_has() {
    let mut random = Random::new(20_261_128, 0);
    // The last one needs e^0.5, 1.65 times, as long as the others.
    let offset = |drive: usize| if drive == 39 { 0.5 } else { 0.0 };
    let runs: Vec<DriveRun> = (0..40)
        .map(|drive| run(&format!("S{drive:02}"), 1, closed(&mut random, 3, offset(drive))))
        .collect();
    let strips = judge(&runs).strips;
    assert_eq!(strips.len(), 3);
    for strip in strips {
        assert_eq!(strip.places.len(), 40);
        let last = &strip.places[39];
        // Three standard deviations of 3 %, of the drive and of the middle of the others.
        assert!((last.excess - 0.65).abs() < 0.65 * 0.1, "{last:?}");
        assert_eq!((last.serial.as_str(), strip.farthest()), ("S39", last.of_bound()));
        let beyond = strip.places.iter().filter(|place| place.of_bound() > 1.0).count();
        assert_eq!(beyond, 1, "the others are healthy");
    }
}

fn serials(found: &Peers) -> Vec<&str> {
    found.suspects.iter().map(|suspect| suspect.serial.as_str()).collect()
}

#[test]
fn healthy_drives_with_many_runs_are_not_suspects_and_slow_ones_are() {
    const FLEETS: u64 = 60;
    let (mut false_alarms, mut slow_found, mut healthy) = (0, 0, 0);
    for seed in 0..FLEETS {
        let mut random = Random::new(seed, 1);
        let mut runs = Vec::new();
        for drive in 0..10 {
            // The last drive takes a third longer.
            let offset = 0.01 * normal(&mut random) + if drive == 9 { 0.3 } else { 0.0 };
            for number in 0..20 {
                let latencies = closed(&mut random, 10, offset);
                runs.push(run(&format!("D{drive}"), number, latencies));
            }
        }
        let found = judge(&runs);
        assert_eq!((found.groups[0].bounds, found.unjudged.len()), (10, 0), "seed {seed}");
        assert!(found.suspects.iter().all(|suspect| suspect.judged == 10), "seed {seed}");
        healthy += 9;
        slow_found += usize::from(serials(&found).contains(&"D9"));
        false_alarms += serials(&found).iter().filter(|serial| **serial != "D9").count();
    }
    assert_eq!((slow_found, healthy), (60, 540));
    // Two of ten steps beyond a bound at 0.1 to 0.3 %: at most one drive in 2,000.
    assert!(false_alarms <= 1, "{false_alarms} of {healthy} healthy drives");
}

#[test]
fn one_step_is_enough_only_where_its_mean_is_far_beyond_the_bound() {
    for seed in 0..50 {
        let mut random = Random::new(seed, 4);
        let fleet = |offset: f64, metric: Metric, random: &mut Random| -> Vec<DriveRun> {
            let one = |drive: usize, random: &mut Random| {
                let mut latencies = closed(random, 10, 0.0);
                if drive == 9 {
                    latencies[3].latency += offset;
                }
                latencies.iter_mut().for_each(|latency| latency.metric = metric);
                run(&format!("D{drive}"), 1, latencies)
            };
            (0..10).map(|drive| one(drive, random)).collect()
        };
        // A normal scatter of 3 % has a bound at some 16 %: 1.16³ is 1.56, and the drive needs 2.7 times as long.
        let far = judge(&fleet(1.0, Metric::LatMeanUs, &mut random));
        assert_eq!(serials(&far), ["D9"], "seed {seed}");
        let (slow, judged) = far.steps["D9"];
        assert!((1..=2).contains(&slow) && judged == 10, "seed {seed}");
        // Beyond the bound, but not far: one step of many is by chance.
        let near = judge(&fleet(0.18, Metric::LatMeanUs, &mut random));
        assert!(near.suspects.iter().all(|one| one.slow >= 2), "seed {seed}");
        // A percentile of a burst is far by chance.
        let burst = judge(&fleet(1.0, Metric::LatP99Us, &mut random));
        assert!(burst.suspects.iter().all(|one| one.slow >= 2), "seed {seed}");
    }
}

#[test]
fn seven_drives_at_one_rate_are_judged_and_one_that_falls_behind_it_is_found() {
    let one = |random: &mut Random, drive: usize, is_slow: bool| {
        // The slow drive sends 3 % too few requests, the others up to 0.02 %.
        let after = if is_slow { 0.03 } else { 2e-4 * random.unit() };
        let offset = if is_slow { 0.4 } else { 0.0 };
        let rate = |load: usize| (1_000.0 * (load as f64 + 1.0)).ln() - after;
        let mut latency = || offset + 0.02 * normal(random);
        let latencies = (0..3).map(|load| step(load, 0, rate(load), latency())).collect();
        run(&format!("D{drive}"), 1, latencies)
    };
    for seed in 0..50 {
        let mut random = Random::new(seed, 2);
        let mut runs: Vec<DriveRun> = (0..7).map(|n| one(&mut random, n, false)).collect();
        let found = judge(&runs);
        // Of seven normal numbers, two are at times far from the others.
        assert!(found.groups[0].bounds >= 2, "seed {seed}: {:?}", found.unjudged);
        assert_eq!(found.suspects, [], "seed {seed}");
        runs.extend((7..10).map(|n| one(&mut random, n, n == 9)));
        assert_eq!(serials(&judge(&runs)), ["D9"], "seed {seed}");
    }
}

#[test]
fn steps_that_the_latest_run_lacks_are_not_judged_by_an_earlier_one() {
    let mut random = Random::new(5, 3);
    let mut runs: Vec<DriveRun> =
        (0..9).map(|n| run(&format!("D{n}"), 1, closed(&mut random, 4, 0.0))).collect();
    runs.push(run("D9", 1, closed(&mut random, 4, 0.5)));
    assert_eq!(serials(&judge(&runs)), ["D9"]);
    // After a repair one step was measured.
    runs.push(run("D9", 2, closed(&mut random, 1, 0.0)));
    let found = judge(&runs);
    assert_eq!(found.suspects, []);
    // The earlier run is still a latency of a drive in the other three loads.
    assert_eq!(found.groups[0].bounds, 4);
}

#[test]
fn two_outliers_of_seven_drives_are_the_reason_why_a_load_is_not_judged() {
    let one = |drive: usize, is_far: bool| {
        let offset = 0.001 * drive as f64 + if is_far { drive as f64 } else { 0.0 };
        run(&format!("D{drive}"), 1, vec![step(0, 0, 0.0, offset), step(1, 0, 0.0, offset)])
    };
    let runs: Vec<DriveRun> = (0..7).map(|drive| one(drive, drive >= 5)).collect();
    let found = judge(&runs);
    let worst = NoBound { points: 7, near: 5, needed: 6 };
    assert_eq!(found.unjudged[0].reason, NotJudged::Outliers { loads: 2, worst });
    assert_eq!((found.groups.len(), found.unjudged.len()), (0, 1));

    let runs: Vec<DriveRun> = (0..7).map(|drive| one(drive, drive == 6)).collect();
    let found = judge(&runs);
    assert_eq!((serials(&found), found.unjudged.len()), (vec!["D6"], 0));

    let found = judge(&runs[..6]);
    assert_eq!(found.unjudged[0].reason, NotJudged::FewDrives { most: 6 });
}

#[test]
fn groups_that_differ_have_different_names() {
    let kind = run("D1", 1, Vec::new()).kind;
    assert_eq!(kind.to_string(), "Disk, firmware F1, 1.00 GB (1000000000 bytes)");
    let others = [
        DriveModel { firmware: "F2".to_owned(), ..kind.clone() },
        DriveModel { capacity: 1_000_000_512, ..kind.clone() },
        DriveModel { model_revision: "2".to_owned(), ..kind.clone() },
    ];
    let mut names: BTreeSet<String> = others.iter().map(ToString::to_string).collect();
    names.insert(kind.to_string());
    assert_eq!(names.len(), 4, "{names:?}");

    let test = step(0, 0, 0.0, 0.0).test;
    assert_eq!(test.to_string(), "fleet/test-0 (revisions 1 and 1)");
    let others = [
        TestKey { suite_revision: 2, ..test.clone() },
        TestKey { test_revision: 2, ..test.clone() },
        TestKey { shortened: 10, ..test.clone() },
        TestKey { is_span_scaled: true, ..test.clone() },
        TestKey { path: ssdgauge_core::RequestPath::Polled, ..test.clone() },
    ];
    let mut names: BTreeSet<String> = others.iter().map(ToString::to_string).collect();
    names.insert(test.to_string());
    assert_eq!(names.len(), 6, "{names:?}");
}
