//! One measured step: its samples from all records that are its result.

use crate::load::engine_report;
use crate::model::{PointRun, ReportError};
use crate::text::sanitize;
use ssdgauge_core::{AggregatedStep, Point, Step, Workload};
use ssdgauge_runfile::{Contradictions, Digests, Room, RunFile, StepRecord};
use std::collections::{BTreeMap, BTreeSet};

/// The maximum number of pairs of a quantity and an instrument that are cached, to skip sanitizing them again.
const MAX_KNOWN: usize = 32;

/// The memory of a pair of names in addition to the names themselves, in bytes. Rounded up.
const OF_NAMES: usize = 256;

/// The memory of a point in addition to its samples, in bytes: workload, names, figures. Rounded up.
const OF_POINT: usize = 3 << 10;

/// Reads `step` from `records`: by its digest where it has one record and one of the digests, else by the
/// samples of one record after the other. Adds what they contradict to `contradictions`; a step with
/// contradictions has no digest.
pub(crate) fn read(
    (file, digests): (&RunFile, &Digests),
    room: &mut Room,
    step: &Step,
    workload: &Workload,
    records: &[&StepRecord],
    contradictions: &mut Contradictions,
) -> Result<PointRun, ReportError> {
    room.take(OF_POINT)?;
    let digested = match records {
        [record] => file.digested(digests, workload, record, room)?,
        [] | [_, ..] => None,
    };
    let (samples, instruments) = match digested {
        Some(step) => (step.samples, sanitized(&step.instruments, room)?),
        None => read_samples(file, room, step, workload, records, contradictions)?,
    };
    let last = records.last();
    let (open_loop, kernel) = engine_report::read(records);
    let AggregatedStep { whole, seconds, percentiles, streams, latency_map, .. } = samples;
    Ok(PointRun {
        point: Point {
            label: step.label.clone(),
            position: step.position,
            totals: whole,
            seconds,
            streams,
            percentiles,
        },
        latency_map,
        workload: workload.clone(),
        instruments,
        order: records.first().map_or(0, |record| record.id.0),
        ended_by: last.and_then(|record| record.ended_by.clone()).unwrap_or_default(),
        open_loop,
        kernel,
        flush: None,
        cache: None,
        falls: Vec::new(),
        levels: None,
        between: None,
    })
}

/// The instruments that read each quantity.
type Instruments = BTreeMap<String, BTreeSet<String>>;

/// Returns `instruments` as pages show them.
fn sanitized(instruments: &Instruments, room: &mut Room) -> Result<Instruments, ReportError> {
    let mut shown = Instruments::new();
    for (quantity, of_quantity) in instruments {
        let quantity = sanitize::prose(quantity);
        for instrument in of_quantity {
            let instrument = sanitize::prose(instrument);
            room.take(OF_NAMES + quantity.len() + instrument.len())?;
            shown.entry(quantity.clone()).or_default().insert(instrument);
        }
    }
    Ok(shown)
}

/// Reads the samples of `step`, and the instruments of its readings.
fn read_samples(
    file: &RunFile,
    room: &mut Room,
    step: &Step,
    workload: &Workload,
    records: &[&StepRecord],
    contradictions: &mut Contradictions,
) -> Result<(AggregatedStep, Instruments), ReportError> {
    let mut instruments = Instruments::new();
    let mut known: Vec<(String, String)> = Vec::new();
    // The place of the last reading's pair in `known`.
    let mut place = 0;
    let checked = (room, contradictions);
    let samples = file.samples(step, workload, records, true, checked, |reading| {
        // Readings repeat the same few names, so known ones skip sanitizing.
        let is_known = |(quantity, instrument): &(String, String)| {
            *quantity == reading.quantity && *instrument == reading.instrument
        };
        // They come in the same order in each second, so the next one is tried first.
        let next = known.get(place + 1).is_some_and(is_known).then_some(place + 1);
        if let Some(found) = next.or_else(|| known.iter().position(is_known)) {
            place = found;
            return 0;
        }
        let quantity = sanitize::prose(&reading.quantity);
        let instrument = sanitize::prose(&reading.instrument);
        if known.len() < MAX_KNOWN {
            known.push((reading.quantity.clone(), reading.instrument.clone()));
        }
        let size = OF_NAMES + quantity.len() + instrument.len();
        let is_new = instruments.entry(quantity).or_default().insert(instrument);
        if is_new { size } else { 0 }
    })?;
    Ok((samples, instruments))
}
