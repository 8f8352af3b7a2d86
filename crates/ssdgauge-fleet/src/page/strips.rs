//! The strips of the page of a fleet: each latency that was compared, with a dot for each drive.

use super::judged::{Extract, Judged};
use crate::{Place, Strip};
use ssdgauge_analysis::{BatchDot, BatchDrive, BatchStrip};
use ssdgauge_core::{Metric, rounded};
use std::collections::{BTreeMap, BTreeSet};

/// Returns the strips, the one with the clearest outlier first. `places` are those of the runs of `drives`.
pub(super) fn strips(
    judged: &Judged<'_>,
    runs: &[Extract],
    places: &[Option<usize>],
    drives: &[BatchDrive],
) -> Vec<BatchStrip> {
    let titles: BTreeMap<&str, &str> =
        runs.iter().flat_map(|one| &one.titles).map(|(id, title)| (&**id, &**title)).collect();
    let of_serial: BTreeMap<&str, usize> = places
        .iter()
        .enumerate()
        .filter_map(|(drive, place)| Some((runs[(*place)?].identity(), drive)))
        .collect();
    let models: BTreeSet<&str> =
        judged.strips().iter().map(|one| one.kind.model.as_str()).collect();
    let mut all: Vec<&Strip> = judged.strips().iter().collect();
    let is_slow = |place: &Place| {
        let drive = of_serial.get(place.serial.as_str());
        drive.is_some_and(|drive| drives[*drive].is_slow)
    };
    let clear = |strip: &Strip| clearness(&strip.places, is_slow);
    // Where the bound holds for no healthy drive, the longest latency of one does not stand out.
    let scatters = |strip: &Strip| scatters(&strip.places, is_slow);
    let by_scatter = |a: &Strip, b: &Strip| scatters(a).cmp(&scatters(b));
    // What makes a drive slow is drawn before latencies in which no drive is.
    let shows = |strip: &Strip| shows_slow(&strip.places, is_slow);
    all.sort_by(|a, b| {
        let by_clearness = clear(b).total_cmp(&clear(a)).then_with(|| by_scatter(a, b));
        let by_distance = || b.farthest().total_cmp(&a.farthest());
        shows(b).cmp(&shows(a)).then(by_clearness).then_with(by_distance)
    });
    let strip = |one: &&Strip| {
        let own = if models.len() > 1 { format!("{}: ", one.kind.model) } else { String::new() };
        let test = titles.get(one.test.test.as_str()).copied().unwrap_or(&one.test.test);
        let metric = if one.metric == Metric::LatP99Us { "p99" } else { "mean" };
        let dot = |place: &Place| {
            let drive = *of_serial.get(place.serial.as_str())?;
            Some(BatchDot {
                drive,
                excess: place.excess,
                value: rounded::latency(place.latency_us),
                is_slow: place.of_bound() > 1.0 && drives[drive].is_slow,
            })
        };
        BatchStrip {
            title: format!(
                "{own}{}: {metric} of {}s",
                of_step(test, &one.step),
                one.direction.name()
            ),
            median: middle(one.places.iter().map(|place| place.latency_us))
                .map_or_else(String::new, rounded::latency),
            scatters: scatters(one),
            bound: middle(one.places.iter().map(|place| place.bound)).unwrap_or_default(),
            dots: one.places.iter().filter_map(dot).collect(),
        }
    };
    all.iter().map(strip).collect()
}

/// Returns the title of a test with the label of its step, unless that is in it already.
fn of_step(test: &str, step: &str) -> String {
    let step = rounded::step_label(step);
    let is_said = test.split(", ").any(|part| part == step);
    if is_said { test.to_owned() } else { format!("{test}, {step}") }
}

/// Returns how far the slowest of the slow drives is beyond the slowest of the others, in multiples of the bound: a
/// latency that scatters among healthy drives shows nothing, however long it is. Without a slow drive it is 0.
fn clearness(places: &[Place], is_slow: impl Fn(&Place) -> bool) -> f64 {
    let farthest = |slow: bool| {
        let of = places.iter().filter(|place| is_slow(place) == slow);
        of.map(Place::of_bound).reduce(f64::max)
    };
    farthest(true).map_or(0.0, |slow| slow - farthest(false).unwrap_or(0.0))
}

/// Returns whether a slow drive is beyond the bound.
fn shows_slow(places: &[Place], is_slow: impl Fn(&Place) -> bool) -> bool {
    places.iter().any(|place| is_slow(place) && place.of_bound() > 1.0)
}

/// Returns whether two drives or more that are not slow are beyond the bound: of drives that scatter normally, two of ten
/// are there once in twenty thousand fleets.
fn scatters(places: &[Place], is_slow: impl Fn(&Place) -> bool) -> bool {
    places.iter().filter(|place| !is_slow(place) && place.of_bound() > 1.0).count() > 1
}

/// Returns the value in the middle, of two the upper one.
fn middle(values: impl Iterator<Item = f64>) -> Option<f64> {
    let mut values: Vec<f64> = values.collect();
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied()
}

#[cfg(test)]
mod tests {
    use super::{clearness, scatters, shows_slow};
    use crate::Place;

    #[test]
    fn the_label_of_a_step_is_said_once() {
        let title = "Mixed random, 70 % read, 4 KiB, QD32";
        assert_eq!(super::of_step(title, "70 % read"), title);
        assert_eq!(super::of_step("Random read, 4 KiB", "QD1"), "Random read, 4 KiB, QD1");
        assert_eq!(super::of_step("Random read", "128KiB QD8"), "Random read, 128 KiB QD8");
    }

    #[test]
    fn a_slow_drive_among_scattered_ones_is_less_clear_than_one_among_equal_ones() {
        let places = |excesses: &[(&str, f64)]| -> Vec<Place> {
            let place = |(serial, excess): &(&str, f64)| Place {
                serial: (*serial).to_owned(),
                latency_us: 100.0 * (1.0 + excess),
                excess: *excess,
                bound: 0.04,
            };
            excesses.iter().map(place).collect()
        };
        let is_slow = |place: &Place| place.serial == "slow";
        let scattered = places(&[("a", 0.0), ("b", 1.3), ("slow", 4.2), ("c", 5.0)]);
        let equal = places(&[("a", 0.0), ("b", 0.01), ("slow", 0.65)]);
        assert!(clearness(&equal, is_slow) > 10.0);
        assert!(clearness(&scattered, is_slow) < 0.0);
        assert_eq!(clearness(&scattered, |_| false), 0.0);
        assert!(scatters(&scattered, is_slow) && !scatters(&equal, is_slow));
        // Less clear than nothing, but what makes the drive slow.
        let none = places(&[("a", 0.0), ("slow", 0.01)]);
        assert!(clearness(&none, is_slow) > clearness(&scattered, is_slow));
        assert!(shows_slow(&scattered, is_slow) && !shows_slow(&none, is_slow));
    }
}
