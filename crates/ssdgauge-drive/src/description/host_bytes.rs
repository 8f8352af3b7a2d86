//! What hosts wrote and read by a SATA drive: the Device Statistics log, whose fields and units ACS-3 defines, and
//! SMART attributes, which have no standard.
//!
//! On 18,858 stored outputs (linuxhw/EnterpriseDrive) both agree on most drives in one of a few units. On the others
//! the log has the low 32 bits of its sectors (Crucial, Apacer AS340, Supermicro, Kingston A400 and others: the
//! attributes have the same remainder), or either is wrong. What contradicts itself is not stated.

use super::QueryResults;
use super::paired::{power_on_hours, raw};
use super::source::reported;
use crate::media::{Family, Source, may_wrap};
use crate::plausible::{impossible_speed, impossible_transfer};
use ssdgauge_core::rounded::count;
use ssdgauge_core::{Bytes, Value};

/// The attributes that count what hosts wrote, with their units in bytes on real drives: that of most
/// makers, of Crucial and Micron, of Intel.
const WRITTEN: [(u8, &[u64]); 3] =
    [(241, &[512, MIB_32, 1_000_000_000, 1 << 30]), (246, &[512]), (225, &[MIB_32])];
/// The attribute that counts what hosts read, in the unit of 241 or 225.
const READ: u8 = 242;
const MIB_32: u64 = 32 << 20;
/// The difference of two counters that were stored at different times, as a share.
const LAG: f64 = 0.03;
/// The bytes by which they may differ in addition.
const LAG_BYTES: u64 = 1 << 31;
/// Why what hosts wrote is not stated where nothing confirms a small count of the log.
pub(super) const MAY_WRAP: &str = "only the Device Statistics log counts what hosts wrote, and it may have only the low \
                                   32 bits of the sectors";
/// The bytes of a write command on average, at most, in all that hosts wrote. Chosen: Linux splits larger requests by default.
const LARGEST_WRITES: u64 = 4 << 20;
/// The bytes per second of SATA 6 Gb/s.
const LINK: f64 = 600e6;

/// What hosts wrote and read in bytes, by how many commands, and which counter says so.
pub(super) struct HostBytes {
    pub(super) written: Value,
    pub(super) read: Value,
    pub(super) write_commands: Value,
    pub(super) read_commands: Value,
    pub(super) counter: Value,
    /// Whether an attribute confirms the bytes written and read.
    confirmed: [bool; 2],
    /// What the drive reports and cannot be, one sentence each.
    pub(super) impossible: Vec<String>,
}

/// How an attribute compares with the log.
enum Compared {
    /// Both are equal in this unit.
    Agrees(u64),
    /// In this unit the log has the low 32 bits of the sectors of these bytes.
    Wraps(u64, u64),
}

/// Returns what hosts wrote and read by the log, or by an attribute that is known. Of bytes that commands cannot have
/// transferred either can be wrong: bytes that an attribute confirms stay.
pub(super) fn host_bytes(results: &QueryResults) -> HostBytes {
    let mut hosts = by_counters(results);
    let hours = count_in(&power_on_hours(results));
    let [written_is_confirmed, read_is_confirmed] = hosts.confirmed;
    let sides = [
        (&mut hosts.written, &mut hosts.write_commands, "written", written_is_confirmed),
        (&mut hosts.read, &mut hosts.read_commands, "read", read_is_confirmed),
    ];
    for (bytes, commands, verb, is_confirmed) in sides {
        let Some(number) = count_in(bytes) else { continue };
        let by = count_in(commands);
        if let Some(text) = impossible_transfer(number, verb, by, results.sector) {
            *commands = Value::Missing(text.clone());
            // Many drives count commands in a few bits: that puts nothing else in doubt.
            if !is_confirmed {
                *bytes = Value::Missing(text.clone());
                hosts.impossible.push(text);
            }
        } else if let Some(text) = impossible_speed(number, verb, hours, LINK) {
            *bytes = Value::Missing(text.clone());
            hosts.impossible.push(text);
        }
    }
    hosts
}

fn count_in(value: &Value) -> Option<u64> {
    match value {
        Value::Count(count) => Some(*count),
        _ => None,
    }
}

fn by_counters(results: &QueryResults) -> HostBytes {
    let log = results.statistics.as_ref().ok();
    let logged = |sectors: Option<u64>| sectors?.checked_mul(results.sector);
    let written = logged(log.and_then(|log| log.sectors_written));
    let read = logged(log.and_then(|log| log.sectors_read));
    let unreported = || reported(&results.statistics, |_| None::<u64>);
    let mut hosts = HostBytes {
        written: unreported(),
        read: read.map_or_else(unreported, Value::Count),
        write_commands: reported(&results.statistics, |log| log.write_commands),
        read_commands: reported(&results.statistics, |log| log.read_commands),
        counter: unreported(),
        confirmed: [false; 2],
        impossible: Vec::new(),
    };
    let Some(written) = written else {
        if let Some((bytes, name)) = without_log(results) {
            hosts.written = bytes.into();
            hosts.counter = format!("{name}, confirmed").into();
        }
        return hosts;
    };
    let compared = compared(results, written, read);
    let reads_are_compared = compared.as_ref().is_some_and(|(id, _)| *id != 246);
    match compared {
        Some((id, Compared::Agrees(unit))) => {
            let unit_name = unit_name(unit);
            hosts.written = written.into();
            hosts.counter =
                format!("Device Statistics log; attribute {id} agrees, in units of {unit_name}")
                    .into();
            if let Some(read) = read.filter(|_| reads_are_compared) {
                hosts.read = read_in(results, unit, read);
            }
        }
        Some((id, Compared::Wraps(unit, bytes))) => {
            let unit_name = if unit == 512 {
                "sectors".into()
            } else {
                format!("units of {}", unit_name(unit))
            };
            hosts.written = bytes.into();
            hosts.counter = format!(
                "attribute {id}, in {unit_name}: the Device Statistics log has only the low 32 bits of the sectors"
            )
            .into();
            hosts.read = match read.filter(|_| reads_are_compared) {
                Some(read) => read_in(results, unit, read),
                None => Value::Missing(
                    "the Device Statistics log counts only the low 32 bits of the sectors".into(),
                ),
            };
        }
        None => {
            undecided(results, written, &mut hosts);
            return hosts;
        }
    }
    hosts.confirmed = [true, reads_are_compared && raw(results, READ).is_some_and(|raw| raw > 0)];
    hosts
}

/// States the bytes of the log where no attribute agrees with it, unless one that is known contradicts it, or the log may
/// have only 32 bits.
fn undecided(results: &QueryResults, written: u64, hosts: &mut HostBytes) {
    let mut unknown = |text: String| {
        hosts.written = Value::Missing(text.clone());
        hosts.read = Value::Missing(text.clone());
        hosts.counter = Value::Missing(text);
    };
    let attributes = results.attributes.as_deref().unwrap_or_default();
    let family = Family::of_model(&results.model).ok();
    if let Some(text) = family.and_then(|family| family.contradiction(attributes, written)) {
        return unknown(text);
    }
    // Attribute 246 is another counter on drives of other makers.
    let other = [241, 225].into_iter().find_map(|id| Some((id, raw(results, id)?)));
    match other.filter(|(_, raw)| *raw > 0) {
        Some((id, raw)) if written == 0 => unknown(format!(
            "the counters contradict each other: nothing by the Device Statistics log, {} units by attribute {id}",
            count(raw)
        )),
        _ if may_be_part(results) => unknown(MAY_WRAP.into()),
        other => {
            hosts.written = written.into();
            let note = other.map_or(String::new(), |(id, _)| {
                format!(", whose unit ACS-3 defines; attribute {id} agrees with it in none of the usual units")
            });
            hosts.counter = format!("Device Statistics log{note}").into();
        }
    }
}

/// Returns whether the log may have only the low 32 bits of what hosts wrote: no attribute of a family counts it, and the
/// commands that it counts could have written one round more.
fn may_be_part(results: &QueryResults) -> bool {
    let written = results.media.as_ref().ok().map(|(_, written)| written);
    let is_counted = written.is_some_and(|written| written.host.is_some() && !written.may_wrap);
    let media = written.and_then(|written| written.media.bytes());
    let Ok(log) = &results.statistics else { return false };
    let round = results.sector << 32;
    let may_write = |commands: u64| commands >= round / LARGEST_WRITES;
    !is_counted && may_wrap(*log, media, results.sector) && log.write_commands.is_none_or(may_write)
}

/// Returns the first attribute that agrees with the `written` bytes of the log, or of which the log has 32 bits.
fn compared(results: &QueryResults, written: u64, read: Option<u64>) -> Option<(u8, Compared)> {
    let known: Vec<(u8, u64, &[u64])> =
        WRITTEN.iter().filter_map(|(id, units)| Some((*id, raw(results, *id)?, *units))).collect();
    let agrees = known.iter().find_map(|(id, raw, units)| {
        let unit = units.iter().find(|unit| agree(*raw, **unit, written))?;
        Some((*id, Compared::Agrees(*unit)))
    });
    // By chance one drive of 500 has a remainder within a lag of 2 GB: coarse units need both directions.
    let reads_too = |unit: u64| {
        let counted = raw(results, READ).zip(read);
        counted.is_some_and(|(raw, read)| {
            agree(raw, unit, read) || wrapped(results, raw, unit, read).is_some()
        })
    };
    agrees.or_else(|| {
        known.iter().find_map(|(id, raw, units)| {
            units.iter().find_map(|unit| {
                let bytes = wrapped(results, *raw, *unit, written)?;
                (*unit == 512 || reads_too(*unit)).then_some((*id, Compared::Wraps(*unit, bytes)))
            })
        })
    })
}

/// Returns the bytes read, where the attribute of reads is in `unit` and the log has `read` bytes.
fn read_in(results: &QueryResults, unit: u64, read: u64) -> Value {
    match raw(results, READ) {
        Some(raw) if raw > 0 && !agree(raw, unit, read) => {
            match wrapped(results, raw, unit, read) {
                Some(bytes) => bytes.into(),
                None => Value::Missing(format!(
                    "the counters contradict each other: {} by the Device Statistics log, {} by attribute {READ}",
                    Bytes(read).about(),
                    Bytes(raw.saturating_mul(unit)).about()
                )),
            }
        }
        _ => read.into(),
    }
}

fn unit_name(bytes: u64) -> String {
    match bytes {
        MIB_32 => "32 MiB".into(),
        0x4000_0000 => "1 GiB".into(),
        bytes => Bytes(bytes).about(),
    }
}

/// Returns whether `raw` units are `logged` bytes.
fn agree(raw: u64, unit: u64, logged: u64) -> bool {
    let bytes = u128::from(raw) * u128::from(unit);
    let most = (logged as f64 * LAG).max(unit as f64);
    bytes.abs_diff(logged.into()) as f64 <= most
}

/// Returns the bytes of `raw` units, where they have more than 32 bits of sectors, and `logged` has these 32 bits.
fn wrapped(results: &QueryResults, raw: u64, unit: u64, logged: u64) -> Option<u64> {
    let round = results.sector.checked_mul(1 << 32)?;
    let bytes = raw.checked_mul(unit)?;
    let apart = (bytes % round).abs_diff(logged);
    let most = LAG_BYTES.max(2 * unit);
    (bytes >= round && logged < round && apart.min(round - apart) <= most).then_some(bytes)
}

/// Returns what the confirmed attributes of a family count, and its name.
fn without_log(results: &QueryResults) -> Option<(u64, &'static str)> {
    let Ok((Source::Attributes(family, _), written)) = &results.media else { return None };
    let by_family = written.host.and_then(|host| host.bytes());
    let sectors = || family.host_sectors().and_then(|id| raw(results, id)?.checked_mul(512));
    by_family.or_else(sectors).map(|bytes| (bytes, family.name))
}
