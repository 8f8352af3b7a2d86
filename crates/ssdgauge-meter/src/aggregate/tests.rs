use super::*;
use ssdgauge_core::{Metric, Random, Scope, SecondAggregator, Totals};

fn power() -> Aggregate {
    Aggregate::new(
        "meter",
        "power_w",
        ChannelKind::Power { least: -0.5, most: 100.0, reports: Some(PowerScope::Drive) },
    )
}

/// Adds samples (ms, W) and ends the step; returns readings (quantity, ms, value) and findings.
fn play(
    mut aggregate: Aggregate,
    samples: impl IntoIterator<Item = (u64, f64)>,
    elapsed_ms: u64,
) -> (Vec<(String, u64, f64)>, Vec<String>) {
    let mut readings = Vec::new();
    for (ms, value) in samples {
        readings.extend(aggregate.sample(Nanos(ms * 1_000_000), value));
    }
    let (last, findings) = aggregate.finish(Nanos(elapsed_ms * 1_000_000));
    readings.extend(last);
    let readings =
        readings.into_iter().map(|r| (r.quantity, r.at.0 / 1_000_000, r.value)).collect();
    (readings, findings.into_iter().map(|finding| finding.text).collect())
}

#[test]
fn a_second_has_its_mean_and_maximum_and_a_step_its_energy() {
    let samples = [(0, 1.0), (500, 3.0), (1_000, 5.0), (1_500, 5.0), (2_000, 5.0)];
    let (readings, findings) = play(power(), samples, 2_000);
    let values = |quantity: &str| {
        let readings = readings.iter().filter(|reading| reading.0 == quantity);
        readings.map(|reading| (reading.1, reading.2)).collect::<Vec<_>>()
    };
    // The first second: 1 to 3 W, and 3 to 5 W.
    assert_eq!(values("power_w"), [(500, 3.0), (1_500, 5.0), (2_000, 5.0)]);
    assert_eq!(values("power_max_w"), [(500, 3.0), (1_500, 5.0)]);
    assert_eq!(values("energy_j"), [(2_000, 1.0 + 2.0 + 2.5 + 2.5)]);
    assert_eq!(values("power_covered_s"), [(2_000, 2.0)]);
    assert_eq!(findings, [""; 0]);
}

#[test]
fn a_second_without_samples_has_no_reading_and_a_long_gap_is_a_finding() {
    let (readings, findings) = play(power(), [(100, 2.0), (8_000, 2.0), (9_900, 4.0)], 10_000);
    let of_seconds = readings.iter().filter(|reading| reading.0 == "power_w");
    assert_eq!(of_seconds.map(|reading| reading.1).collect::<Vec<_>>(), [100, 8_000, 9_900]);
    assert!(readings.iter().all(|reading| reading.0 != "energy_j"), "no energy over a gap");
    assert_eq!(findings[0], "meter gave no reading for 7.90 s");
    // 2.1 s of 10, exact to a bucket of the intervals.
    assert!(findings[1].starts_with("the readings of meter cover 2"), "{}", findings[1]);
    let (readings, findings) = play(power(), [], 6_000);
    assert_eq!((readings.len(), findings.len()), (0, 1));
    let (_, short) = play(power(), [], 900);
    assert_eq!(short, [""; 0], "a step may be shorter than a period");
}

/// The totals of a step, as a report computes them from the readings of a run file.
fn totals(readings: &[(String, u64, f64)], elapsed_ms: u64) -> Totals {
    let mut step = SecondAggregator::default();
    for (quantity, ms, value) in readings {
        step.reading(&Reading {
            at: Nanos(ms * 1_000_000),
            instrument: "meter".into(),
            quantity: quantity.clone(),
            value: *value,
        });
    }
    step.finish(Nanos(elapsed_ms * 1_000_000)).whole
}

/// A simulated meter: the readings of `truth` over `seconds`, at uneven times, without those in
/// `silent`, and the mean power that is true.
fn simulated(
    random: &mut Random,
    truth: impl Fn(f64) -> f64,
    seconds: f64,
    period: impl Fn(f64, f64) -> f64,
    silent: impl Fn(f64) -> bool,
) -> (Vec<(u64, f64)>, f64) {
    let unit = |random: &mut Random| random.next_u64() as f64 / u64::MAX as f64;
    let (mut samples, mut at) = (Vec::new(), 0.0);
    loop {
        at += period(truth(at), unit(random));
        if at >= seconds {
            break;
        }
        if !silent(at) {
            samples.push(((at * 1e3) as u64, truth(at)));
        }
    }
    let steps = 100_000;
    let middle = |step: u32| (f64::from(step) + 0.5) / f64::from(steps) * seconds;
    let mean = (0..steps).map(|step| truth(middle(step))).sum::<f64>() / f64::from(steps);
    (samples, mean)
}

#[test]
fn power_and_energy_of_an_uneven_meter_are_within_one_percent_of_the_truth() {
    for seed in 0..200 {
        let mut random = Random::new(seed, 43);
        let mut unit = || random.next_u64() as f64 / u64::MAX as f64;
        let (seconds, drift) = (20.0 + unit() * 40.0, unit() - 0.5);
        let (wave, cycle) = (unit(), 12.0 + unit() * 20.0);
        let truth = |t: f64| {
            5.0 + drift * 3.0 * t / seconds + wave * 2.5 * (t / cycle * std::f64::consts::TAU).sin()
        };
        // Ten times as often while the power is low, as a meter that reports changes does.
        let period = |watts: f64, unit: f64| match watts < 5.0 {
            true => 0.02 + unit * 0.05,
            false => 0.2 + unit * 0.6,
        };
        let (samples, mean) = simulated(&mut random, truth, seconds, period, |_| false);
        let elapsed = (seconds * 1e3) as u64;
        let (readings, findings) = play(power(), samples, elapsed);
        assert_eq!(findings, [""; 0], "seed {seed}");
        let totals = totals(&readings, elapsed);
        let value = |metric| totals.value(metric, Scope::All).unwrap();
        let error = value(Metric::PowerW) / mean - 1.0;
        assert!(error.abs() < 0.01, "seed {seed}: {error}");
        let joules = value(Metric::EnergyJ) / (mean * elapsed as f64 / 1e3) - 1.0;
        assert!(joules.abs() < 0.01, "seed {seed}: {joules}");
        assert!(value(Metric::PowerCoveredPercent) > 99.0, "seed {seed}");
        // The means of the seconds, as older run files have them, suffice within 3 %.
        let of_seconds: Vec<_> =
            readings.into_iter().filter(|reading| reading.0 == "power_w").collect();
        let error = self::totals(&of_seconds, elapsed).power().unwrap().1 / mean - 1.0;
        assert!(error.abs() < 0.03, "seed {seed}, by seconds: {error}");
    }
}

#[test]
fn a_step_whose_readings_cover_too_little_has_no_power_and_all_others_have_one() {
    let mut refused = 0;
    for seed in 0..200 {
        let mut random = Random::new(seed, 44);
        let mut unit = || random.next_u64() as f64 / u64::MAX as f64;
        let (seconds, drift) = (30.0 + unit() * 60.0, unit() - 0.5);
        let truth = |t: f64| 5.0 + drift * 2.0 * t / seconds;
        // One silent time, at any place of the step, also at its ends.
        let share = unit() * 0.25;
        let begin = unit() * (1.0 - share) * seconds;
        let silent = |t: f64| t >= begin && t < begin + share * seconds;
        let period = |_: f64, unit: f64| 0.05 + unit * 0.15;
        let (samples, mean) = simulated(&mut random, truth, seconds, period, silent);
        let elapsed = (seconds * 1e3) as u64;
        let (readings, findings) = play(power(), samples, elapsed);
        let totals = totals(&readings, elapsed);
        let covered = totals.value(Metric::PowerCoveredPercent, Scope::All).unwrap();
        let found = totals.value(Metric::PowerW, Scope::All);
        let has_finding = findings.iter().any(|text| text.contains("of meter cover"));
        let efficiency = totals.value(Metric::EfficiencyMbSW, Scope::All);
        assert_eq!(found.is_some(), efficiency.is_some(), "seed {seed}");
        // The last period before a gap and the first one after it are uncertain.
        let slack = 0.5 / seconds;
        if share > 0.1 + slack {
            assert_eq!((found, has_finding), (None, true), "seed {seed}, {share}");
            refused += 1;
        } else if share < 0.1 - slack {
            let error = found.unwrap() / mean - 1.0;
            assert!(error.abs() < 0.01, "seed {seed}: {error}");
            assert!(!has_finding, "seed {seed}");
        }
        // Less than a second is not a gap.
        let expected = (1.0 - share) * 100.0;
        assert!(covered > expected - 1.5, "seed {seed}: {covered} {expected}");
        assert!(covered < expected + 1.5 || share * seconds < 1.2, "seed {seed}: {covered}");
    }
    assert!((60..180).contains(&refused), "{refused}");
}

#[test]
fn a_meter_whose_unit_changes_has_no_power() {
    let watts = |n: u64| 2.0 + (n % 3) as f64 * 0.02;
    // To kilowatts after 20 s, and back.
    let unit = |n: u64| if (200..400).contains(&n) { 1e-3 } else { 1.0 };
    let samples = (0..600).map(|n| (n * 100, watts(n) * unit(n)));
    let (readings, findings) = play(power(), samples, 60_000);
    assert!(readings.iter().all(|reading| reading.0 != "energy_j"));
    assert_eq!(totals(&readings, 60_000).power(), None);
    assert!(
        findings[0].starts_with("meter read 2.02 W, and from 20 s on 0.00204 W"),
        "{findings:?}"
    );
    // A drive whose power falls by another factor, or for one reading, has not changed it.
    let falls = (0..600).map(|n| (n * 100, if n < 200 { 2.0 } else { 0.0035 } + n as f64 * 1e-9));
    let one = (0..600).map(|n| (n * 100, watts(n) * if n == 300 { 1e-3 } else { 1.0 }));
    for samples in [falls.collect::<Vec<_>>(), one.collect()] {
        let (readings, findings) = play(power(), samples, 60_000);
        assert!(totals(&readings, 60_000).power().is_some());
        assert_eq!(findings, [""; 0]);
    }
}

#[test]
fn implausible_values_are_left_out_with_a_finding() {
    let (readings, findings) = play(power(), [(0, 5_000.0), (500, 5.0), (900, f64::NAN)], 1_000);
    assert_eq!(readings[0].2, 5.0);
    assert!(findings[0].starts_with("meter read 5,000, outside -0.5 to 100 W; 2 of 3 readings"));
}

#[test]
fn a_huge_value_has_few_digits_in_its_finding() {
    let (_, findings) = play(power(), [(0, 1e308), (500, 5.0)], 1_000);
    assert!(findings[0].starts_with("meter read 1.00e308, outside"), "{findings:?}");
}

#[test]
fn readings_without_a_number_are_a_finding_with_their_count() {
    let mut step = power();
    for n in 0..10_u64 {
        match n % 2 {
            0 => drop(step.sample(Nanos(n * 100_000_000), 3.0 + n as f64 * 0.01)),
            _ => step.without_number(&format!("'error {n}' is neither a number nor JSON")),
        }
    }
    let (readings, findings) = step.finish(Nanos::from_secs(1));
    assert!(readings.iter().any(|one| one.quantity == "energy_j"));
    let text = "meter gave no number in 5 of 10 readings; the first: 'error 1' is neither";
    assert!(findings.len() == 1 && findings[0].text.starts_with(text), "{findings:?}");
    step.begin();
    step.sample(Nanos(0), 3.0);
    assert_eq!(step.finish(Nanos::from_secs(1)).1, [], "the next step begins without them");
}

#[test]
fn a_meter_that_reads_zero_all_the_time_has_no_power_and_a_finding() {
    for n in [1, 10, 600] {
        let zeros = (0..n).map(|n| (n * 100, 0.0));
        let (readings, findings) = play(power(), zeros, n * 100);
        for quantity in ["power_w", "power_max_w", "energy_j"] {
            assert!(readings.iter().all(|one| one.0 != quantity), "{readings:?}");
        }
        let totals = totals(&readings, n * 100);
        assert_eq!(totals.value(Metric::PowerW, Scope::All), None);
        let all = if n == 1 { "its one reading".to_owned() } else { format!("all {n} readings") };
        let text = format!("meter read 0 W in {all}, and a drive in use takes more");
        assert_eq!(findings.iter().filter(|one| **one == text).count(), 1, "{findings:?}");
        assert!(findings.iter().all(|one| !one.contains("exactly")), "{findings:?}");
    }
    // A coarse meter that shows a little now and then is one.
    let coarse = (0..100).map(|n| (n * 100, if n % 3 == 1 { 0.1 } else { 0.0 }));
    let (readings, findings) = play(power(), coarse, 10_000);
    let energy = readings.iter().find(|one| one.0 == "energy_j").unwrap().2;
    assert!((energy - 0.333).abs() < 0.01, "{energy}");
    assert_eq!(findings, [""; 0]);
    let cold = Aggregate::new("nvme", "temperature_c", ChannelKind::Temperature);
    assert_eq!(play(cold, (0..60).map(|n| (n * 1_000, 0.0)), 60_000).1, [""; 0]);
}

#[test]
fn a_constant_power_is_a_finding_and_a_constant_temperature_is_not() {
    let flat = (0..300).map(|n| (n * 100, 2.5));
    let (_, findings) = play(power(), flat, 30_000);
    assert_eq!(findings, ["meter read exactly 2.50 W in all 300 readings"]);
    let alive = (0..300).map(|n| (n * 100, 2.5 + (n % 2) as f64 * 0.001));
    assert_eq!(play(power(), alive, 30_000).1, [""; 0]);
    let heat = Aggregate::new("nvme", "temperature_c", ChannelKind::Temperature);
    assert_eq!(play(heat, (0..60).map(|n| (n * 1_000, 40.0)), 60_000).1, [""; 0]);
}

#[test]
fn an_alarm_is_a_throttling_finding() {
    let alarm = Aggregate::new("nvme alarm", "temperature_alarm", ChannelKind::Alarm);
    let (_, findings) = play(alarm, [(0, 0.0), (1_000, 1.0), (2_000, 1.0)], 3_000);
    assert!(findings[0].starts_with("nvme alarm was on in 2 of 3 readings, about"), "{findings:?}");
    // Read ten times as often while it is on: 10 of 20 s.
    let alarm = Aggregate::new("nvme alarm", "temperature_alarm", ChannelKind::Alarm);
    let off = (0..10).map(|n| (n * 1_000, 0.0));
    let (_, findings) = play(alarm, off.chain((100..200).map(|n| (n * 100, 1.0))), 20_000);
    let expected = "nvme alarm was on in 100 of 110 readings, about 52 % of the time";
    assert!(findings[0].starts_with(expected), "{findings:?}");
}
