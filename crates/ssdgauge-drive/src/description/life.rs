//! The write amplification of a drive over its life, by its own counters.

use super::QueryResults;
use crate::health::DATA_UNIT;
use crate::media::{Counter, LEAST_AMPLIFICATION, Unit};
use ssdgauge_core::{Amplification, Bytes, Counted, MediaWrites, Value};
use std::ops::RangeInclusive;

/// The write amplifications that are stated. Below 0.95 a drive would write less than hosts did: it
/// compresses, or its counters are wrong, and nothing tells which. Above 100 its own work (tests, formats,
/// retention) outweighs what hosts wrote.
const STATED: RangeInclusive<f64> = LEAST_AMPLIFICATION..=100.0;

/// Returns the write amplification, rounded to thousandths, or why it is not stated.
pub(super) fn amplification(results: &QueryResults) -> Value {
    match known(results) {
        Ok(value) => Value::Real((value * 1_000.0).round() / 1_000.0),
        Err(reason) => Value::Missing(reason),
    }
}

fn known(results: &QueryResults) -> Result<f64, String> {
    let (_, written) = results.media.as_ref().map_err(String::clone)?;
    if written.may_wrap {
        return Err(super::host_bytes::MAY_WRAP.into());
    }
    let host = written
        .host
        .or_else(|| counted_by_the_drive(results))
        .ok_or("the drive does not report what hosts wrote")?;
    let (media, host, is_in_pages) = match (granules(written.media), granules(host)) {
        ((media, is_in_pages), (host, in_pages)) if is_in_pages == in_pages => {
            (media, host, is_in_pages)
        }
        _ => return Err("the drive counts its media in pages, and hosts in bytes".into()),
    };
    match (MediaWrites { media, host, is_in_pages }).amplification() {
        Amplification::Known { value, .. } if STATED.contains(&value) => Ok(value),
        Amplification::Known { value, .. } if value < *STATED.start() => Err(format!(
            "the counters give {value:.3}: a drive that writes less than its hosts compresses, or its \
             counters are wrong"
        )),
        Amplification::Known { value, .. } => Err(format!(
            "the counters give {value:.0}: hosts wrote so little that the drive's own work outweighs it"
        )),
        Amplification::TooCoarse { granules, granule, .. } => Err(format!(
            "a counter is too coarse: {granules:.0} steps of {}",
            if is_in_pages { "a page".into() } else { Bytes(granule as u64).about() }
        )),
        Amplification::NothingWritten => Err("hosts wrote nothing".into()),
    }
}

/// Returns what hosts wrote by the SMART log or the Device Statistics log.
fn counted_by_the_drive(results: &QueryResults) -> Option<Counter> {
    let nvme = || {
        let bytes = results.health.as_ref().ok()?.written_bytes?;
        Some(Counter::of_bytes(u128::from(bytes) / DATA_UNIT, DATA_UNIT as u64))
    };
    let ata = || {
        let sectors = results.statistics.as_ref().ok()?.sectors_written?;
        Some(Counter::of_bytes(sectors.into(), results.sector))
    };
    nvme().or_else(ata)
}

/// Returns a counter as an amount, and whether it is in pages.
fn granules(counter: Counter) -> (Counted, bool) {
    let (granule, is_in_pages) = match counter.unit {
        Unit::Bytes(bytes) => (bytes as f64, false),
        Unit::Pages => (1.0, true),
    };
    (Counted { amount: counter.count as f64 * granule, granule }, is_in_pages)
}
