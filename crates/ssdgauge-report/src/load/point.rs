//! One measured step: its samples from all records that are its result.

use crate::load::engine_report;
use crate::load::percentiles::PercentileSeries;
use crate::load::seconds::{AggregatedStep, SecondAggregator};
use crate::model::{PointRun, ReportError};
use crate::text::sanitize;
use ssdgauge_core::{
    Bytes, Interval, Nanos, Point, Preparation, Prepared, Reading, Step, Totals, Workload,
};
use ssdgauge_runfile::{RunFile, StepRecord};
use std::collections::{BTreeMap, BTreeSet};

/// More requests in one second than any drive completes. It keeps sums far from overflowing.
const MOST_IOS: u64 = 1 << 44;

/// More bytes, or nanoseconds, in one second than any drive moves.
const MOST_BYTES: u64 = 1 << 54;

/// More intervals of one step than a year of seconds has, for eight streams and two directions.
const MOST_INTERVALS: u64 = 1 << 29;

/// The most pairs of a quantity and an instrument that are cached, to skip sanitizing them again.
const MOST_KNOWN: usize = 32;

/// Reads the samples of `step` from `records`, one after the other.
pub(crate) fn read(
    file: &RunFile,
    step: &Step,
    workload: &Workload,
    records: &[&StepRecord],
) -> Result<PointRun, ReportError> {
    let recorded = records.iter().filter_map(|record| record.elapsed).map(|time| time.0).sum();
    let percentiles = PercentileSeries::new(&workload.directions(), Nanos(recorded));
    let mut aggregator = SecondAggregator::new(percentiles);
    let mut wrong = None;
    let mut intervals = 0u64;
    let mut instruments: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    let mut known: Vec<(String, String)> = Vec::new();
    let mut elapsed = Nanos::ZERO;
    let mut begin = 0;
    for record in records {
        file.intervals(record.id, |interval| {
            intervals += 1;
            wrong = wrong.take().or_else(|| impossible(&interval, intervals));
            if wrong.is_none() {
                let second = interval.second.saturating_add(begin);
                aggregator.interval(Interval { second, ..interval });
            }
        })?;
        let before = Nanos::SECOND * u64::from(begin);
        let time = record.elapsed.unwrap_or(Nanos::ZERO);
        if workload.streams.is_empty() {
            aggregator.seconds_without_load(begin, time);
        }
        file.readings(record.id, |reading| {
            // Readings taken after the load, while the drive is idle, do not belong to the step.
            if reading.at > time {
                return;
            }
            // Readings repeat the same few names, so known ones skip sanitizing.
            let is_known = |(quantity, instrument): &(String, String)| {
                *quantity == reading.quantity && *instrument == reading.instrument
            };
            if !known.iter().any(is_known) {
                let quantity = sanitize::prose(&reading.quantity);
                let instrument = sanitize::prose(&reading.instrument);
                instruments.entry(quantity).or_default().insert(instrument);
                if known.len() < MOST_KNOWN {
                    known.push((reading.quantity.clone(), reading.instrument.clone()));
                }
            }
            let at = Nanos(reading.at.0.saturating_add(before.0));
            aggregator.reading(&Reading { at, ..reading });
        })?;
        elapsed += time;
        // Rounds never share a second: each one starts at the next full second.
        let seconds = u32::try_from(time.0.div_ceil(Nanos::SECOND.0)).unwrap_or(u32::MAX);
        begin = begin.saturating_add(seconds);
    }
    if let Some(what) = wrong {
        return Err(ReportError::Impossible { path: file.path().to_owned(), what });
    }
    let last = records.last();
    let (open_loop, kernel) = engine_report::read(records);
    let AggregatedStep { mut whole, totals, seconds, percentiles } = aggregator.finish(elapsed);
    whole.executions = u32::try_from(records.len()).unwrap_or(u32::MAX);
    if let Some(span) = step.action.preparation().and_then(Preparation::trim_span) {
        add_trims(&mut whole, span, records);
    }
    Ok(PointRun {
        point: Point {
            label: step.label.clone(),
            position: step.position,
            totals: whole,
            seconds: totals,
            percentiles,
        },
        workload: workload.clone(),
        seconds,
        instruments,
        ended_by: last.and_then(|record| record.ended_by.clone()).unwrap_or_default(),
        open_loop,
        kernel,
        cache: None,
        levels: None,
        between: None,
    })
}

/// Adds the trims of `span` that are recorded in `records`. One without effect has no time either: a
/// drive that ignores the command is not the fastest.
fn add_trims(whole: &mut Totals, span: Bytes, records: &[&StepRecord]) {
    let had_effect = |record: &&StepRecord| {
        let report = record.report.as_deref().unwrap_or_default();
        serde_json::from_str(report).is_ok_and(|prepared: Prepared| prepared.had_effect())
    };
    match records.iter().all(had_effect) {
        true => whole.trimmed = span.0.saturating_mul(records.len() as u64),
        false => whole.elapsed = Nanos::ZERO,
    }
}

/// Returns the reason why `interval` is impossible, where it is.
fn impossible(interval: &Interval, number: u64) -> Option<String> {
    let too_large = interval.ios > MOST_IOS
        || interval.errors > MOST_IOS
        || interval.latency.count() > MOST_IOS
        || interval.bytes > MOST_BYTES
        || interval.length.0 > MOST_BYTES
        || number > MOST_INTERVALS;
    let second = interval.second;
    too_large.then(|| format!("second {second} of a step exceeds the limits of any drive"))
}
