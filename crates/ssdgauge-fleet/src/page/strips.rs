//! The strips of the page of a fleet: each latency that was compared, with a dot for each drive.

use super::judged::{Extract, Judged};
use crate::Strip;
use ssdgauge_analysis::{BatchDot, BatchDrive, BatchState, BatchStrip};
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
    all.sort_by(|a, b| b.farthest().total_cmp(&a.farthest()));
    let strip = |one: &&Strip| {
        let own = if models.len() > 1 { format!("{}: ", one.kind.model) } else { String::new() };
        let test = titles.get(one.test.test.as_str()).copied().unwrap_or(&one.test.test);
        let metric = if one.metric == Metric::LatP99Us { "p99" } else { "mean" };
        let dot = |place: &crate::Place| {
            let drive = *of_serial.get(place.serial.as_str())?;
            Some(BatchDot {
                drive,
                excess: place.excess,
                value: rounded::latency(place.latency_us),
                is_slow: place.of_bound() > 1.0 && drives[drive].state == BatchState::Slow,
            })
        };
        BatchStrip {
            title: format!(
                "{own}{test}, {}: {metric} of {}s",
                rounded::step_label(&one.step),
                one.direction.name()
            ),
            median: middle(one.places.iter().map(|place| place.latency_us))
                .map_or_else(String::new, rounded::latency),
            bound: middle(one.places.iter().map(|place| place.bound)).unwrap_or_default(),
            dots: one.places.iter().filter_map(dot).collect(),
        }
    };
    all.iter().map(strip).collect()
}

/// Returns the value in the middle, of two the upper one.
fn middle(values: impl Iterator<Item = f64>) -> Option<f64> {
    let mut values: Vec<f64> = values.collect();
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied()
}
