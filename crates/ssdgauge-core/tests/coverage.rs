//! The short form of the example `coverage`: intervals contain the truth as often as
//! `docs/handbook/intervals.md` states.
//!
//! The limits leave four standard errors of the number of series to the long form.
#![allow(dead_code, reason = "the long form uses the rest")]

#[path = "../examples/coverage/comparison.rs"]
mod comparison;
#[path = "../examples/coverage/coverage.rs"]
mod coverage;
#[path = "../examples/coverage/percentiles.rs"]
mod percentiles;
#[path = "../examples/coverage/series.rs"]
mod series;

use series::Kind;

#[test]
fn intervals_of_means_contain_the_truth_for_stationary_series() {
    let check = |kind: Kind, n: usize, least: f64| {
        let cell = coverage::measure(kind, n, 200);
        assert!(cell.coverage >= least, "{}, n = {n}: {}", kind.name(), cell.coverage);
        assert!(cell.settling <= 0.02, "{}, n = {n}: {} settle", kind.name(), cell.settling);
    };
    for n in [30, 60, 400] {
        for phi in [0.0, 0.5, 0.7] {
            check(Kind::Correlated(phi), n, 0.90);
        }
    }
    check(Kind::Correlated(0.9), 400, 0.88);
    check(Kind::CorrelatedAndWhite(0.9), 400, 0.88);
    check(Kind::Periodic(7), 60, 0.90);
    check(Kind::LogNormal, 60, 0.86);
    check(Kind::Stalls, 400, 0.87);
    check(Kind::Oscillating, 60, 0.90);
    check(Kind::MovingAverage, 60, 0.90);
    check(Kind::TwoStates, 400, 0.87);
    check(Kind::HeavyShocks, 60, 0.90);
    check(Kind::Counts, 400, 0.88);
}

#[test]
fn intervals_of_an_hour_are_almost_ideally_narrow() {
    for phi in [0.0, 0.9] {
        let cell = coverage::measure(Kind::Correlated(phi), 3_600, 40);
        // The ideal width is estimated from 40 means, to 11 %.
        assert!(cell.width < 1.6, "φ {phi}: {}", cell.width);
        assert!(cell.coverage >= 0.85, "φ {phi}: {}", cell.coverage);
    }
}

#[test]
fn a_flattering_start_is_cut_or_reported() {
    let shift = coverage::measure(Kind::Shift, 60, 200);
    assert!(shift.coverage >= 0.89, "{}", shift.coverage);
    let slow = coverage::measure(Kind::Settling(6.0), 400, 100);
    assert!(slow.settling >= 0.08, "{}", slow.settling);
    assert!(slow.coverage >= 0.84, "{}", slow.coverage);
}

#[test]
fn equal_runs_are_seldom_found_to_differ_and_different_ones_often() {
    for phi in [0.0, 0.5, 0.7, 0.9] {
        let alarms = comparison::share_apart(phi, 60, 0.0, 300);
        assert!(alarms <= 0.08, "φ {phi}: {alarms}");
    }
    let power = comparison::share_apart(0.0, 60, 0.05, 200);
    assert!(power >= 0.90, "{power}");
    let power = comparison::share_apart(0.5, 60, 0.05, 200);
    assert!(power >= 0.40, "{power}");
}

#[test]
fn intervals_of_percentiles_contain_the_truth() {
    for phi in [0.0, 0.7] {
        let held = percentiles::coverage(phi, 60, 0.99, 50);
        assert!(held >= 0.82, "φ {phi}: {held}");
    }
}
