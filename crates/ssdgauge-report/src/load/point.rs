//! One measured step: its samples from all records that are its result.

use crate::load::engine_report;
use crate::model::{PointRun, ReportError, Second};
use crate::text::sanitize;
use ssdgauge_core::{
    AggregatedSecond, AggregatedStep, Metric, Nanos, Point, Scope, Step, Workload,
};
use ssdgauge_runfile::{RunFile, StepRecord};
use std::collections::{BTreeMap, BTreeSet};

/// The most pairs of a quantity and an instrument that are cached, to skip sanitizing them again.
const MOST_KNOWN: usize = 32;

/// Reads the samples of `step` from `records`, one after the other.
pub(crate) fn read(
    file: &RunFile,
    step: &Step,
    workload: &Workload,
    records: &[&StepRecord],
) -> Result<PointRun, ReportError> {
    let mut instruments: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    let mut known: Vec<(String, String)> = Vec::new();
    let samples = file.samples(step, workload, records, true, |reading| {
        // Readings repeat the same few names, so known ones skip sanitizing.
        let is_known = |(quantity, instrument): &(String, String)| {
            *quantity == reading.quantity && *instrument == reading.instrument
        };
        if known.iter().any(is_known) {
            return;
        }
        let quantity = sanitize::prose(&reading.quantity);
        let instrument = sanitize::prose(&reading.instrument);
        instruments.entry(quantity).or_default().insert(instrument);
        if known.len() < MOST_KNOWN {
            known.push((reading.quantity.clone(), reading.instrument.clone()));
        }
    })?;
    let last = records.last();
    let (open_loop, kernel) = engine_report::read(records);
    let AggregatedStep { whole, seconds, percentiles } = samples;
    let for_figures = seconds_for_figures(&seconds);
    Ok(PointRun {
        point: Point {
            label: step.label.clone(),
            position: step.position,
            totals: whole,
            seconds: seconds.into_iter().map(|second| second.totals).collect(),
            percentiles,
        },
        workload: workload.clone(),
        seconds: for_figures,
        instruments,
        ended_by: last.and_then(|record| record.ended_by.clone()).unwrap_or_default(),
        open_loop,
        kernel,
        cache: None,
        levels: None,
        between: None,
    })
}

/// Returns the values of `all` that figures use.
fn seconds_for_figures(all: &[AggregatedSecond]) -> Vec<Second> {
    let second = |one: &AggregatedSecond| {
        let value = |metric| one.totals.value(metric, Scope::All);
        Second {
            second: one.number,
            iops: value(Metric::Iops).unwrap_or(0.0),
            throughput_mb_s: value(Metric::ThroughputMbS).unwrap_or(0.0),
            lat_mean_us: value(Metric::LatMeanUs),
            lat_p99_us: one.lat_p99_us,
            lat_max_us: value(Metric::LatMaxUs),
            readings: one.readings.clone(),
        }
    };
    let mut seconds: Vec<Second> = all.iter().map(second).collect();
    // What was in flight at the end completes in a last bin of microseconds. It counts in the
    // totals; as a rate it would be a spike that the drive never had.
    if all.len() > 1 && all.last().is_some_and(|last| last.totals.elapsed < Nanos::SECOND) {
        seconds.pop();
    }
    seconds
}
