//! Each check on data that must pass and on data that must fail.
#![allow(clippy::unwrap_used)]

use super::*;
use crate::reference::Pick;

/// Numbers by the name of the drive.
const NUMBERS: [(&str, f64); 4] = [("a", 100.0), ("b", 97.0), ("c", 60.0), ("knee", 8.0)];

/// Curves by the name of the drive, at the depths 1 to 16 where they have five points.
const CURVES: [(&str, &[f64]); 7] = [
    ("flat", &[10.0, 10.0, 10.0, 10.0, 10.0]),
    ("rising", &[10.0, 10.0, 10.5, 12.0, 18.0]),
    ("low", &[10.1, 9.9, 10.0, 9.0, 6.0]),
    ("lat", &[1.0, 1.0, 1.2, 1.5, 3.0]),
    ("stuck", &[1.0, 1.0, 1.2, 1.5, 1.6]),
    ("drift", &[1.0, 1.1, 1.2, 1.3, 1.4]),
    ("zigzag", &[1.0, 2.0, 1.0, 2.0, 1.0]),
];

fn series(name: &str) -> Option<Vec<f64>> {
    let seconds = 0..40;
    match name {
        "quiet" => Some(seconds.map(|_| 100.0).collect()),
        "drops" => Some(seconds.map(|at| if at % 8 == 3 { 10.0 } else { 100.0 }).collect()),
        "wild" => Some(seconds.map(|at| 20.0 + f64::from(at * 37 % 100)).collect()),
        other => CURVES.iter().find(|(name, _)| *name == other).map(|(_, curve)| curve.to_vec()),
    }
}

fn number(value: &Value) -> Option<Estimate> {
    let found = NUMBERS.iter().find(|(name, _)| *name == value.source.drive)?;
    Some(Estimate::exact(if value.pick == Pick::Least { found.1 / 2.0 } else { found.1 }))
}

/// Evaluates the check of the inline table `text`.
fn check(text: &str, expected: Verdict) {
    let table: toml::Table = format!("it = {{ {text} }}").parse().unwrap();
    let check: Check = table["it"].clone().try_into().unwrap();
    let data = Data {
        value: &number,
        curve: &|curve| series(&curve.source.drive),
        positions: &|_| Some(vec![1.0, 2.0, 4.0, 8.0, 16.0]),
    };
    let outcome = check.evaluate(&data);
    assert_eq!(outcome.verdict, expected, "{text}: {}", outcome.text);
}

#[test]
fn numbers_are_compared_with_levels_factors_bounds_and_words() {
    use Verdict::*;
    check("check = 'level', of = 'a t iops', is = 110", Holds);
    check("check = 'level', of = 'a t iops', is = 130", Fails);
    check("check = 'level', of = 'a t iops', is = 110, tolerance = 0.05", Fails);
    check("check = 'level', of = 'unknown t iops', is = 110", NotDecided);
    check("check = 'factor', of = 'a t iops', to = 'c t iops', is = 1.6", Holds);
    check("check = 'factor', of = 'a t iops', to = 'b t iops', is = 1.6", Fails);
    check("check = 'bounds', of = 'c t iops', from = 50, until = 60", Holds);
    check("check = 'bounds', of = 'c t iops', until = 59", Fails);
    check(
        "check = 'tied-for', of = 'b t iops', among = ['a t iops', 'c t iops'], place = 1",
        Holds,
    );
    check(
        "check = 'tied-for', of = 'c t iops', among = ['a t iops', 'b t iops'], place = 2",
        Fails,
    );
    check(
        "check = 'tied-for', of = 'c t iops', among = ['a t iops', 'b t iops'], place = 3",
        Holds,
    );
    for (word, to, holds) in [
        ("tied", "b", true),
        ("tied", "c", false),
        ("slightly-above", "b", true),
        ("slightly-above", "c", false),
        ("much-above", "c", true),
        ("significantly-above", "b", false),
        ("same-league", "b", true),
        ("same-league", "c", false),
    ] {
        let text = format!("check = 'compare', of = 'a t iops', is = '{word}', to = '{to} t iops'");
        check(&text, Verdict::from_bool(holds));
    }
    let factors = |of: &str, to: &str| {
        format!(
            "check = 'compare-factors', is = 'above', of = ['a t iops', '{of} t iops'], \
             to = ['a t iops', '{to} t iops']"
        )
    };
    check(&factors("c", "b"), Holds);
    check(&factors("b", "c"), Fails);
}

#[test]
fn places_orders_and_distances_are_checked() {
    use Verdict::*;
    check("check = 'place', of = 'b t iops', among = ['a t iops', 'c t iops'], place = 2", Holds);
    check("check = 'place', of = 'c t iops', among = ['a t iops', 'b t iops'], place = 2", Fails);
    check("check = 'order', of = ['a t iops', 'b t iops', 'c t iops']", Holds);
    check("check = 'order', of = ['b t iops', 'a t iops']", Fails);
    check("check = 'order', of = ['b t iops', 'unknown t iops']", NotDecided);
    check("check = 'nearer', of = 'b t iops', to = 'a t iops', than = 'c t iops'", Holds);
    check("check = 'nearer', of = 'b t iops', to = 'c t iops', than = 'a t iops'", Fails);
}

#[test]
fn shapes_and_relations_of_curves_are_checked() {
    use Verdict::*;
    check("check = 'shape', of = 'rising t iops', is = 'accelerating-rise'", Holds);
    check("check = 'shape', of = 'flat t iops', is = 'accelerating-rise'", Fails);
    check("check = 'shape', of = 'rising t iops', is = 'flat-until-late'", Holds);
    check("check = 'shape', of = 'low t iops', is = 'flat-until-late'", Fails);
    check("check = 'shape', of = 'rising t iops', is = 'final-spike'", Holds);
    check("check = 'shape', of = 'low t iops', is = 'final-spike'", Fails);
    check("check = 'shape', of = 'low t iops', is = 'final-rise', not = true", Holds);
    check("check = 'shape', of = 'rising t iops', is = 'final-rise', not = true", Fails);
    check("check = 'shape', of = 'drift t iops', is = 'climb'", Holds);
    check("check = 'shape', of = 'zigzag t iops', is = 'climb'", Fails);
    check("check = 'shape', of = 'flat t iops', is = 'bathtub'", Fails);
    let related = |is: &str, of: &str, to: &str| {
        format!("check = 'relation', of = '{of} t iops', is = '{is}', to = '{to} t iops'")
    };
    check(&related("left-behind-late", "flat", "rising"), Holds);
    check(&related("left-behind-late", "flat", "low"), Fails);
    check(&related("overtaken-late", "flat", "low"), Fails);
    check("check = 'alike-until', of = 'flat t iops', to = 'low t iops', points = 3", Holds);
    check("check = 'alike-until', of = 'flat t iops', to = 'low t iops', points = 4", Fails);
    check("check = 'alike-until', of = 'flat t iops', to = 'flat t iops', points = 3", Fails);
    check("check = 'turns', of = 'zigzag t iops', at_least = 3", Holds);
    check("check = 'turns', of = 'drift t iops', at_least = 1", Fails);
}

#[test]
fn sweeps_of_queue_depths_are_checked() {
    use Verdict::*;
    let latency = "check = 'latency-grows', knee = 'knee t iops knee'";
    check(&format!("{latency}, of = 'lat t lat_mean_us'"), Holds);
    check(&format!("{latency}, of = 'stuck t lat_mean_us'"), Fails);
    let reaches = |from: u32| {
        format!("check = 'reaches-from', of = 'rising t iops', to = 'knee t iops', from = {from}")
    };
    // 8 is reached by the first point.
    check(&reaches(1), Holds);
    check(&reaches(2), Fails);
}

#[test]
fn variations_of_seconds_are_checked() {
    use Verdict::*;
    for (name, is) in [("quiet", "steady"), ("drops", "periodic"), ("wild", "wide")] {
        check(&format!("check = 'class', of = '{name} t iops seconds', is = '{is}'"), Holds);
        let other = if is == "wide" { "steady" } else { "wide" };
        check(&format!("check = 'class', of = '{name} t iops seconds', is = '{other}'"), Fails);
    }
    let all = "check = 'all-classes', of = ['quiet t iops', 'drops t iops'";
    check(&format!("{all}, 'wild t iops']"), Holds);
    check(&format!("{all}]"), Fails);
    let below = "check = 'share-below', of = 'drops t iops', limit = 20";
    check(&format!("{below}, at_least = 0.1"), Holds);
    check(&format!("{below}, at_most = 0.1"), Fails);
    check("check = 'settled', of = 'quiet t iops'", Holds);
    check("check = 'settled', of = 'drift t iops'", Fails);
}
