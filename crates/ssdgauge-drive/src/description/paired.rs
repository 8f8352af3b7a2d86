//! Values that a SATA drive keeps twice: in the Device Statistics log, whose fields and units ACS-3
//! defines, and in SMART attributes, which have no standard.
//!
//! On 18,858 stored outputs (linuxhw/EnterpriseDrive) both agree on 98 % of the drives. Where they do not,
//! either can be wrong: hours of 0 in the log of SanDisk and WD, a constant temperature in that of Kingston.
//! Values that contradict each other are not stated.
//!
//! Where a log has none, an attribute counts: 9 does so in hours on each drive whose log is right, 12 agrees
//! with the cycles of the log on 11,341 of 11,472 drives, and the temperature of 194, or of 190 where that is
//! missing, is within 3 °C of the log on 10,549 of 10,824.

use super::source::reported;
use super::{QueryResults, SctTemperatures};
use crate::ata::DeviceStatistics;
use crate::plausible::{MOST_HOURS, too_many_hours};
use ssdgauge_core::Value;
use ssdgauge_core::rounded::count;

/// The difference in °C of two temperatures that were read at different times.
const NEAR: u8 = 3;

/// Returns the raw value of an attribute.
pub(super) fn raw(results: &QueryResults, id: u8) -> Option<u64> {
    let attributes = results.attributes.as_ref().ok()?;
    attributes.iter().find(|one| one.id == id).map(|one| one.raw)
}

/// Returns the hours by the log, or by attribute 9, where they do not contradict each other.
pub(super) fn power_on_hours(results: &QueryResults) -> Value {
    if let Some(text) = impossible_hours(results) {
        return Value::Missing(text);
    }
    // Some have other values in the upper bytes: the hours are in the lower four, or three.
    let parts = |raw: u64| [raw & 0xffff_ffff, raw & 0xff_ffff];
    let attribute =
        raw(results, 9).and_then(|raw| parts(raw).into_iter().find(|one| *one <= MOST_HOURS));
    // Some count minutes, half minutes or seconds: then a day would be too much.
    let agrees = |log: u64, raw: u64| {
        let is_near = |hours: u64, most: u64| hours.abs_diff(log) <= most.max(hours / 100);
        is_near(raw, 24) || log > 24 && [60, 120, 3_600].iter().any(|part| is_near(raw / part, 1))
    };
    paired(results, "h", |log| log.power_on_hours, (9, attribute), agrees)
}

/// Returns what the log states as hours, where no SSD has them.
pub(super) fn impossible_hours(results: &QueryResults) -> Option<String> {
    let hours = results.statistics.as_ref().ok()?.power_on_hours?;
    (hours > MOST_HOURS).then(|| too_many_hours(hours))
}

pub(super) fn power_cycles(results: &QueryResults) -> Value {
    let agrees = |log: u64, raw: u64| raw.abs_diff(log) <= 2.max(raw / 100);
    // A larger number has another one in its upper bytes.
    let cycles = raw(results, 12).filter(|raw| *raw <= 0xff_ffff);
    paired(results, "cycles", |log| log.power_cycles, (12, cycles), agrees)
}

/// Returns the errors that were reported to the host (attribute 187).
pub(super) fn media_errors(results: &QueryResults) -> Value {
    // Attribute 187 alone is not known to count errors on every drive.
    let log = results.statistics.as_ref().ok();
    let attribute =
        raw(results, 187).filter(|_| log.is_some_and(|log| log.uncorrectable_errors.is_some()));
    paired(
        results,
        "errors",
        |log| log.uncorrectable_errors,
        (187, attribute),
        |log, raw| log == raw,
    )
}

/// Returns the temperature in °C by the log or the SCT status, where one of the two usual attributes is near it;
/// without both, that of an attribute.
pub(super) fn temperature(results: &QueryResults) -> Value {
    let of_log = results.statistics.as_ref().ok().and_then(|log| log.temperature_c);
    let of_sct = results.sct.current_c.map(|celsius| (celsius, "the SCT status"));
    let stated = of_log.map(|celsius| (celsius, LOG)).or(of_sct);
    // The lowest of the bytes is the current temperature. 0 stands for none.
    let by_attribute =
        |id| Some((id, raw(results, id)? as u8 as i8)).filter(|(_, c)| (1..=100).contains(c));
    let attributes: Vec<(u8, i8)> = [194, 190].into_iter().filter_map(by_attribute).collect();
    match (stated, attributes.first()) {
        (None, None) => reported(&results.statistics, |_| None::<f64>),
        (None, Some((_, celsius))) => f64::from(*celsius).into(),
        (Some((celsius, source)), Some((id, other)))
            if !attributes.iter().any(|(_, one)| one.abs_diff(celsius) <= NEAR) =>
        {
            let [celsius, other] = [celsius, *other].map(|celsius| format!("{celsius} °C"));
            Value::Missing(contradiction(&celsius, source, &other, *id))
        }
        (Some((celsius, _)), _) => f64::from(celsius).into(),
    }
}

/// Returns the highest temperature of the drive's life in °C by the log, or by the SCT status where the log has none.
/// A current one or one of this power cycle that is higher contradicts it.
pub(super) fn highest_temperature(results: &QueryResults) -> Value {
    let SctTemperatures { current_c, highest_of_cycle_c, highest_c } = results.sct;
    let log = results.statistics.as_ref().ok();
    let of_log = log.and_then(|log| log.highest_c);
    let seen = [current_c, highest_of_cycle_c, highest_c, log.and_then(|log| log.temperature_c)];
    let most = seen.into_iter().flatten().max();
    match (of_log.or(highest_c), most) {
        (None, _) => reported(&results.statistics, |_| None::<f64>),
        (Some(highest), Some(most)) if most > highest.saturating_add(NEAR as i8 - 1) => {
            Value::Missing(format!(
                "the drive contradicts itself: {highest} °C as the maximum of its life, and {most} °C by its \
                 other temperatures"
            ))
        }
        (Some(highest), _) => f64::from(highest).into(),
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
            Value::Missing(contradiction(&words(log), LOG, &words(raw), id))
        }
        (Some(counted), _) | (None, Some(counted)) => counted.into(),
        (None, None) => reported(&results.statistics, of_log),
    }
}

/// The name of the log in sentences.
const LOG: &str = "the Device Statistics log";

fn contradiction(stated: &str, source: &str, by_attribute: &str, id: u8) -> String {
    format!(
        "the counters contradict each other: {stated} by {source}, {by_attribute} by attribute {id}"
    )
}
