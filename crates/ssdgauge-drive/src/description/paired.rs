//! Counters that a SATA drive keeps twice: in the Device Statistics log, whose fields and units ACS-3
//! defines, and in SMART attributes, which have no standard.
//!
//! On 18,858 stored outputs (linuxhw/EnterpriseDrive) both agree on 98 % of the drives. Where they do not,
//! either can be wrong: hours of 0 in the log of SanDisk and WD, a constant temperature in that of Kingston,
//! sectors modulo 2^32 in that of Crucial. Values that contradict each other are not stated.
//! Where a log has no hours, attribute 9 counts: it does so in hours on each drive whose log is right.

use super::QueryResults;
use super::source::reported;
use crate::ata::DeviceStatistics;
use crate::media::Source;
use ssdgauge_core::rounded::count;
use ssdgauge_core::{Bytes, Value};

/// The attributes that count what hosts wrote, with their units in bytes on real drives: that of most
/// makers, of Crucial and Micron, of Intel.
const HOST_ATTRIBUTES: [(u8, &[u64]); 3] =
    [(241, &[512, MIB_32, 1_000_000_000, 1 << 30]), (246, &[512]), (225, &[MIB_32])];
const MIB_32: u64 = 32 << 20;
/// The difference of two counters that were stored at different times, as a share.
const LAG: f64 = 0.03;
/// The sectors by which they may differ in addition.
const LAG_SECTORS: u64 = 1 << 22;
/// The hours of thirty years: more in an attribute are not hours.
const MOST_HOURS: u64 = 30 * 8_766;

/// What hosts wrote and read in bytes, and which counter says so.
pub(super) struct HostBytes {
    pub(super) written: Value,
    pub(super) read: Value,
    pub(super) counter: Value,
}

/// Returns what hosts wrote and read by the log of a SATA drive, or by an attribute that is known.
pub(super) fn host_bytes(results: &QueryResults) -> HostBytes {
    let bytes = |sectors: u64| sectors.checked_mul(results.sector);
    let read = reported(&results.statistics, |log| bytes(log.sectors_read?));
    let logged = results.statistics.as_ref().ok().and_then(|log| log.sectors_written);
    let Some(logged) = logged else { return without_log(results, read) };
    let written = |counter: String| HostBytes {
        written: bytes(logged).into(),
        read: read.clone(),
        counter: counter.into(),
    };
    let units = |(id, units): &(u8, &[u64])| unit_of(raw(results, *id)?, units, bytes(logged)?);
    let agreeing = HOST_ATTRIBUTES.iter().find_map(|one| Some((one.0, units(one)?)));
    if let Some((id, unit)) = agreeing {
        let unit = unit_name(unit);
        return written(format!(
            "Device Statistics log; attribute {id} agrees, in units of {unit}"
        ));
    }
    let wraps = |sectors: &u64| {
        sectors >> 32 > 0 && (sectors & 0xffff_ffff).abs_diff(logged) <= LAG_SECTORS
    };
    let wrapped = HOST_ATTRIBUTES.iter().filter(|(_, units)| units.contains(&512));
    let mut wrapped = wrapped.filter_map(|(id, _)| Some((id, raw(results, *id).filter(wraps)?)));
    if let Some((id, sectors)) = wrapped.next() {
        let counter = format!(
            "attribute {id}, in sectors: the Device Statistics log has their low 32 bits alone"
        );
        let reason = "the Device Statistics log counts the low 32 bits of the sectors alone";
        let written = bytes(sectors).into();
        return HostBytes { written, read: Value::Missing(reason.into()), counter: counter.into() };
    }
    // Attribute 246 is another counter on drives of other makers.
    let other = [241, 225].into_iter().find_map(|id| Some((id, raw(results, id)?)));
    match other.filter(|(_, raw)| *raw > 0) {
        None => written("Device Statistics log".into()),
        Some((id, raw)) if logged == 0 => {
            let value = Value::Missing(format!(
                "the counters contradict each other: nothing by the Device Statistics log, {} units by \
                 attribute {id}",
                count(raw)
            ));
            HostBytes { written: value.clone(), read: value.clone(), counter: value }
        }
        Some((id, _)) => written(format!(
            "Device Statistics log, whose unit ACS-3 defines; attribute {id} agrees with it in none \
             of the usual units"
        )),
    }
}

fn unit_name(bytes: u64) -> String {
    match bytes {
        MIB_32 => "32 MiB".into(),
        0x4000_0000 => "1 GiB".into(),
        bytes => Bytes(bytes).about(),
    }
}

/// Returns the one of `units` in which `raw` agrees with `logged` bytes.
fn unit_of(raw: u64, units: &[u64], logged: u64) -> Option<u64> {
    let agrees = |unit: &u64| {
        let bytes = u128::from(raw) * u128::from(*unit);
        let most = (logged as f64 * LAG).max(*unit as f64);
        bytes.abs_diff(logged.into()) as f64 <= most
    };
    units.iter().copied().find(agrees)
}

/// Returns what the confirmed attributes of a family count.
fn without_log(results: &QueryResults, read: Value) -> HostBytes {
    let known = match &results.media {
        Ok((Source::Attributes(family, _), written)) => {
            let by_family = written.host.and_then(|host| host.bytes());
            let sectors =
                || family.host_sectors().and_then(|id| raw(results, id)?.checked_mul(512));
            by_family.or_else(sectors).map(|bytes| (bytes, family.name))
        }
        _ => None,
    };
    match known {
        Some((bytes, name)) => {
            HostBytes { written: bytes.into(), read, counter: format!("{name}, confirmed").into() }
        }
        None => {
            let missing = || reported(&results.statistics, |_| None::<u64>);
            HostBytes { written: missing(), read, counter: missing() }
        }
    }
}

/// Returns the raw value of an attribute.
fn raw(results: &QueryResults, id: u8) -> Option<u64> {
    let attributes = results.attributes.as_ref().ok()?;
    attributes.iter().find(|one| one.id == id).map(|one| one.raw)
}

/// Returns the hours by the log, or by attribute 9, where they do not contradict each other.
pub(super) fn power_on_hours(results: &QueryResults) -> Value {
    let attribute = raw(results, 9).map(|raw| raw & 0xffff_ffff);
    // Some count minutes, half minutes or seconds: then a day is not an allowance.
    let agrees = |log: u64, raw: u64| {
        let is_near = |hours: u64, most: u64| hours.abs_diff(log) <= most.max(hours / 100);
        is_near(raw, 24) || log > 24 && [60, 120, 3_600].iter().any(|part| is_near(raw / part, 1))
    };
    let attribute = attribute.filter(|raw| *raw <= MOST_HOURS);
    match paired(results, "h", |log| log.power_on_hours, (9, attribute), agrees) {
        Value::Missing(_) if !has_hours(results) => {
            attribute.map_or_else(|| reported(&results.statistics, |_| None::<u64>), Into::into)
        }
        value => value,
    }
}

fn has_hours(results: &QueryResults) -> bool {
    results.statistics.as_ref().is_ok_and(|log| log.power_on_hours.is_some())
}

pub(super) fn power_cycles(results: &QueryResults) -> Value {
    let agrees = |log: u64, raw: u64| raw.abs_diff(log) <= 2.max(raw / 100);
    paired(results, "cycles", |log| log.power_cycles, (12, raw(results, 12)), agrees)
}

/// Returns the errors that were reported to the host (attribute 187).
pub(super) fn media_errors(results: &QueryResults) -> Value {
    let attribute = raw(results, 187);
    paired(
        results,
        "errors",
        |log| log.uncorrectable_errors,
        (187, attribute),
        |log, raw| log == raw,
    )
}

/// Returns the temperature by the log, in °C, where one of the two usual attributes is near it.
pub(super) fn temperature(results: &QueryResults) -> Value {
    let near = |celsius: i8, id: u8| {
        // The lowest of the bytes is the current temperature.
        let attribute = raw(results, id)? as u8 as i8;
        (attribute > 0).then_some((id, attribute, attribute.abs_diff(celsius) <= 3))
    };
    let logged = results.statistics.as_ref().ok().and_then(|log| log.temperature_c);
    let Some(celsius) = logged else {
        return reported(&results.statistics, |_| None::<f64>);
    };
    let attributes: Vec<(u8, i8, bool)> =
        [194, 190].iter().filter_map(|id| near(celsius, *id)).collect();
    match attributes.first() {
        Some((id, other, _)) if !attributes.iter().any(|(_, _, is_near)| *is_near) => {
            Value::Missing(contradiction(&format!("{celsius} °C"), &format!("{other} °C"), *id))
        }
        _ => f64::from(celsius).into(),
    }
}

/// Returns a counter of the log, or of an attribute where the log has none.
fn paired(
    results: &QueryResults,
    unit: &str,
    of_log: impl Fn(&DeviceStatistics) -> Option<u64>,
    (id, attribute): (u8, Option<u64>),
    agrees: impl Fn(u64, u64) -> bool,
) -> Value {
    let logged = results.statistics.as_ref().ok().and_then(&of_log);
    match (logged, attribute) {
        (Some(log), Some(raw)) if !agrees(log, raw) => {
            let words = |number: u64| format!("{} {unit}", count(number));
            Value::Missing(contradiction(&words(log), &words(raw), id))
        }
        (Some(log), _) => log.into(),
        (None, _) => reported(&results.statistics, of_log),
    }
}

fn contradiction(by_log: &str, by_attribute: &str, id: u8) -> String {
    format!(
        "the counters contradict each other: {by_log} by the Device Statistics log, {by_attribute} by \
         attribute {id}"
    )
}
