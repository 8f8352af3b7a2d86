//! Outputs of nvme-cli: the SMART log, Identify Controller and Namespace, and two logs of media writes.

use super::names::{Fields, plain};
use super::numbers;
use super::output::{Identify, Kind, Output, written};
use crate::controller::IDENTIFY_LENGTH;
use crate::media::LogSource;
use serde_json::Value as Json;

/// The places of the texts in Identify Controller: name, offset, length.
const TEXTS: [(&str, usize, usize); 4] =
    [("sn", 4, 20), ("mn", 24, 40), ("fr", 64, 8), ("subnqn", 768, 256)];
/// The place of the OUI, of the power states and of the LBA formats.
const OUI_AT: usize = 73;
const STATES_AT: usize = 2_048;
const FORMATS_AT: usize = 128;
/// The granule of both counters of Intel's additional SMART log: 65,536 sectors.
const INTEL_BYTES: u64 = 32 << 20;

/// Returns whether an output of nvme-cli begins with `line`.
pub(super) fn begins(line: &str) -> bool {
    let line = line.trim_start().to_ascii_lowercase();
    ["smart log for nvme device", "nvme identify controller", "nvme identify namespace"]
        .iter()
        .any(|start| line.starts_with(start))
        || line.starts_with("additional smart log for nvme device")
        || line.starts_with("smart cloud attributes")
}

/// Reads a part of a text; `None` where it has no known field.
pub(super) fn text(lines: &[&str]) -> Option<Output> {
    let title = lines.first()?.trim_start().to_ascii_lowercase();
    if title.starts_with("smart cloud attributes") {
        return ocp(lines.iter().find_map(|line| {
            let rest = line.trim().strip_prefix("Physical media units written")?;
            let mut halves = rest.trim_start_matches([' ', '-', ':', '\t']).split_whitespace();
            let (high, low) = (halves.next()?, halves.next());
            match low {
                Some(low) => Some((numbers::whole(high)?, numbers::whole(low)?)),
                None => Some((0, numbers::whole(high)?)),
            }
        })?);
    }
    let (mut states, mut formats) = (Vec::new(), Vec::new());
    let mut fields = Fields::new();
    for line in &lines[1..] {
        let Some((name, value)) = line.split_once(':') else { continue };
        let (name, value) = (name.trim(), value.trim());
        match name.split_once(' ') {
            Some(("ps", number)) => states.extend(state(number, value)),
            Some(("lbaf", number)) => formats.extend(format(number, value)),
            _ => {
                // The first wins: what follows is a table of details with other names.
                fields.entry(plain(name)).or_insert_with(|| value.to_owned());
            }
        }
    }
    if title.starts_with("additional smart log") {
        // `nand_bytes_written : 100%  sectors: 12345`
        let count = |name: &str| numbers::whole(fields.get(name)?.rsplit_once(':')?.1);
        return additional(count("nandbyteswritten")?, count("hostbyteswritten"));
    }
    build(fields, &states, &formats)
}

/// Reads a JSON document; `None` where it is of another program.
pub(super) fn document(document: &Json) -> Option<Output> {
    let fields = document.as_object()?;
    let media = fields.get("Physical media units written");
    if let Some(media) = media {
        let half = |name: &str| media.get(name).and_then(numbers::whole_of);
        return ocp((half("hi").unwrap_or(0), half("lo").or_else(|| numbers::whole_of(media))?));
    }
    let stats = fields.get("Device stats").or_else(|| fields.get("device stats"));
    if let Some(stats) = stats {
        let raw = |name: &str| numbers::whole_of(stats.get(name)?.get("raw")?);
        return additional(raw("nand_bytes_written")?, raw("host_bytes_written"));
    }
    let text_of = |name: &str, value: &Json| match value {
        Json::String(text) => Some(text.clone()),
        // The text form has hexadecimal digits here.
        other if name == "ieee" => numbers::whole_of(other).map(|oui| format!("{oui:06x}")),
        other => numbers::whole_of(other).map(|number| number.to_string()),
    };
    let list =
        |name: &str| fields.get(name).and_then(Json::as_array).into_iter().flatten().enumerate();
    let number = |of: &Json, name: &str| of.get(name).and_then(numbers::whole_of).unwrap_or(0);
    let states: Vec<State> = list("psds")
        .map(|(at, one)| State {
            at,
            centiwatts: number(one, "max_power"),
            is_scaled: number(one, "max_power_scale") == 1,
            is_operational: number(one, "non-operational_state") == 0,
            entry_us: number(one, "entry_lat"),
            exit_us: number(one, "exit_lat"),
        })
        .collect();
    let formats: Vec<Format> = list("lbafs")
        .map(|(at, one)| (at, number(one, "ms"), number(one, "ds"), number(one, "rp")))
        .collect();
    let fields: Fields = fields
        .iter()
        .filter_map(|(name, value)| Some((plain(name), text_of(name, value)?)))
        .collect();
    build(fields, &states, &formats)
}

fn build(fields: Fields, states: &[State], formats: &[Format]) -> Option<Output> {
    let mut output = Output::new(Kind::Nvme);
    let has = |name: &str| fields.contains_key(name);
    if has("mn") && has("sn") {
        let mut data = vec![0; IDENTIFY_LENGTH];
        for (name, at, length) in TEXTS {
            let text = fields.get(name).map(String::as_bytes).unwrap_or_default();
            let length = text.len().min(length);
            data[at..at + length].copy_from_slice(&text[..length]);
        }
        for (name, key) in [("mn", "model"), ("sn", "serial"), ("fr", "firmware")] {
            let text = fields.get(name).map(|text| text.trim().to_owned());
            output.add("identity", key, text.filter(|text| !text.is_empty()));
        }
        write_oui(&fields, &mut data);
        states.iter().for_each(|state| state.write(&mut data));
        output.controller = Some(Identify { fields, data });
    } else if has("nsze") && has("flbas") {
        let mut data = vec![0; IDENTIFY_LENGTH];
        for (at, metadata, shift, performance) in formats.iter().filter(|one| one.0 < 64) {
            let word = *metadata as u32 & 0xffff
                | (*shift as u32 & 0xff) << 16
                | (*performance as u32 & 3) << 24;
            data[FORMATS_AT + 4 * at..][..4].copy_from_slice(&word.to_le_bytes());
        }
        output.namespace = Some(Identify { fields, data });
    } else if has("dataunitswritten") || has("percentageused") || has("percentused") {
        output.smart = Some(fields);
    } else {
        return None;
    }
    Some(output)
}

fn write_oui(fields: &Fields, data: &mut [u8]) {
    if let Some(oui) = fields.get("ieee").and_then(|text| u32::from_str_radix(text, 16).ok()) {
        data[OUI_AT..OUI_AT + 3].copy_from_slice(&oui.to_le_bytes()[..3]);
    }
}

/// A power state: its number, its power in hundredths of a watt, or in ten-thousandths.
struct State {
    at: usize,
    centiwatts: u128,
    is_scaled: bool,
    is_operational: bool,
    entry_us: u128,
    exit_us: u128,
}

impl State {
    fn write(&self, data: &mut [u8]) {
        if self.at > 31 {
            return;
        }
        let entry = &mut data[STATES_AT + 32 * self.at..][..32];
        entry[..2].copy_from_slice(&(self.centiwatts as u16).to_le_bytes());
        entry[3] = u8::from(self.is_scaled) | u8::from(!self.is_operational) << 1;
        entry[4..8].copy_from_slice(&(self.entry_us as u32).to_le_bytes());
        entry[8..12].copy_from_slice(&(self.exit_us as u32).to_le_bytes());
    }
}

/// Reads `0 : mp:7.80W operational enlat:0 exlat:0 …`.
fn state(number: &str, value: &str) -> Option<State> {
    let after = |name: &str| value.split_once(name).map(|(_, rest)| rest);
    let watts = after("mp:").and_then(numbers::fraction)?;
    let count = |name: &str| after(name).and_then(numbers::whole).unwrap_or(0);
    let is_scaled = watts < 655.0 / 100.0 && (watts * 100.0).fract().abs() > 1e-6;
    let scale = if is_scaled { 10_000.0 } else { 100.0 };
    Some(State {
        at: number.trim().parse().ok()?,
        centiwatts: (watts * scale).round() as u128,
        is_scaled,
        is_operational: !value.contains("non-operational"),
        entry_us: count("enlat:"),
        exit_us: count("exlat:"),
    })
}

/// An LBA format: number, bytes of metadata, exponent of the block, performance.
type Format = (usize, u128, u128, u128);

/// Reads `0 : ms:0   lbads:9  rp:0x1 (in use)`.
fn format(number: &str, value: &str) -> Option<Format> {
    let count = |name: &str| value.split_once(name).and_then(|(_, rest)| numbers::whole(rest));
    let number = number.trim().parse().ok()?;
    Some((number, count("ms:")?, count("lbads:")?, count("rp:").unwrap_or(0)))
}

fn ocp((high, low): (u128, u128)) -> Option<Output> {
    (high >> 64 == 0 && low >> 64 == 0).then_some(())?;
    let mut output = Output::new(Kind::Nvme);
    output.media = Some((LogSource::Ocp, written(high << 64 | low, None, 1)));
    Some(output)
}

fn additional(media: u128, host: Option<u128>) -> Option<Output> {
    let mut output = Output::new(Kind::Nvme);
    output.media = Some((LogSource::Additional, written(media, host, INTEL_BYTES)));
    Some(output)
}
