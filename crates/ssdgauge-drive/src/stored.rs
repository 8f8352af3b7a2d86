//! Drives described from a stored output of smartctl or nvme-cli, as text or JSON.
//!
//! The output becomes the structures that a drive returns (SMART log, Identify data, attributes, Device
//! Statistics), so that the decoders and rules of an attached drive apply. What an output does not contain
//! is missing with [`NOT_IN_OUTPUT`]; a number is never assumed. Formats: smartmontools 6.3 to 7.5
//! (`smartctl.8`, `ataprint.cpp`, `nvmeprint.cpp`, `scsiprint.cpp`), nvme-cli 1.9 to 2.11 (`nvme-print*.c`).

#[cfg(test)]
mod doubt_tests;
mod names;
mod numbers;
mod nvme_cli;
mod output;
mod smartctl_json;
mod smartctl_text;
#[cfg(test)]
mod tests;

use output::Output;
use serde_json::Value as Json;
use ssdgauge_core::DriveDescription;
use thiserror::Error;

/// The reason for a value that the output does not contain.
pub const NOT_IN_OUTPUT: &str = "not in this output";

/// The largest file that is read, in bytes: an output has up to 0.2 MB, so this is hundreds of them.
pub const MAX_LENGTH: u64 = 64 << 20;

/// A file that describes no drive.
#[derive(Debug, Error, PartialEq)]
#[error("line {line}: {what}")]
pub struct StoredError {
    /// The line, from 1.
    pub line: usize,
    /// What is wrong there.
    pub what: String,
    /// What to do.
    pub remedy: &'static str,
}

const MAKE_ANEW: &str = "store the output of `smartctl -x DRIVE`, `smartctl -x --json DRIVE`, \
     `nvme smart-log DRIVE` or `nvme id-ctrl DRIVE`";
const AS_ROOT: &str =
    "run smartctl as root, and name the drive, with `-d TYPE` behind a RAID controller";

/// Returns the descriptions of the drives in a stored output, in their order. `target` is empty.
///
/// # Errors
/// The file is not such an output, or one without a drive.
pub fn describe_stored(bytes: &[u8]) -> Result<Vec<DriveDescription>, StoredError> {
    let text = decode(bytes);
    let start = text.find(|c: char| !c.is_whitespace()).unwrap_or(text.len());
    let outputs = match text[start..].starts_with(['{', '[']) {
        true => from_json(&text[start..], text[..start].matches('\n').count())?,
        false => from_text(&text)?,
    };
    Ok(outputs.iter().map(Output::describe).collect())
}

/// Decodes UTF-8, or UTF-16 with its mark, which a redirection in PowerShell writes.
fn decode(bytes: &[u8]) -> String {
    let units = |from: fn([u8; 2]) -> u16| -> Vec<u16> {
        bytes[2..].as_chunks::<2>().0.iter().map(|pair| from(*pair)).collect()
    };
    match bytes {
        [0xff, 0xfe, ..] => String::from_utf16_lossy(&units(u16::from_le_bytes)),
        [0xfe, 0xff, ..] => String::from_utf16_lossy(&units(u16::from_be_bytes)),
        _ => String::from_utf8_lossy(bytes).trim_start_matches('\u{feff}').to_owned(),
    }
}

fn from_json(text: &str, lines_before: usize) -> Result<Vec<Output>, StoredError> {
    let mut outputs: Vec<Output> = Vec::new();
    let mut stream = serde_json::Deserializer::from_str(text).into_iter::<Json>();
    loop {
        let line = lines_before + text[..stream.byte_offset()].trim_end().matches('\n').count() + 1;
        let Some(document) = stream.next() else { break };
        let document = document.map_err(|error| StoredError {
            line: lines_before + error.line(),
            what: match error.is_eof() {
                true => "the JSON document ends here, before its end".into(),
                false => format!("this is not JSON: {error}"),
            },
            remedy: MAKE_ANEW,
        })?;
        let documents = match document {
            Json::Array(documents) => documents,
            document => vec![document],
        };
        for document in documents {
            add_document(&document, line, &mut outputs)?;
        }
    }
    match outputs.is_empty() {
        true => Err(unknown(1, "no JSON document of a drive here")),
        false => Ok(outputs),
    }
}

fn add_document(
    document: &Json,
    line: usize,
    outputs: &mut Vec<Output>,
) -> Result<(), StoredError> {
    if document.get("smartctl").is_some() {
        outputs.push(smartctl_json::read(document, line)?);
        return Ok(());
    }
    match nvme_cli::document(document) {
        Some(part) => output::add(outputs, part),
        None => {
            return Err(unknown(line, "this JSON document is neither of smartctl nor of nvme-cli"));
        }
    }
    Ok(())
}

fn from_text(text: &str) -> Result<Vec<Output>, StoredError> {
    let mut outputs = Vec::new();
    // A last line without its end may have lost a part of its number.
    let complete = text.rfind('\n').map_or("", |end| &text[..=end]);
    for part in parts(complete) {
        if part.is_of_smartctl {
            outputs.push(smartctl_text::read(&part.lines, part.line)?);
        } else if let Some(one) = nvme_cli::text(&part.lines) {
            output::add(&mut outputs, one);
        }
    }
    match outputs.is_empty() {
        true if text.trim().is_empty() => Err(unknown(1, "the file is empty")),
        true => Err(unknown(1, "nothing in this file is an output of smartctl or nvme-cli")),
        false => Ok(outputs),
    }
}

fn unknown(line: usize, what: &str) -> StoredError {
    StoredError { line, what: what.into(), remedy: MAKE_ANEW }
}

/// A part of a text that one call of a program has printed.
struct Part<'a> {
    /// Its first line, from 1.
    line: usize,
    lines: Vec<&'a str>,
    is_of_smartctl: bool,
}

/// Divides a text where an output begins. What comes before the first one, such as a prompt, is left out.
fn parts(text: &str) -> Vec<Part<'_>> {
    let mut parts: Vec<Part<'_>> = Vec::new();
    // Whether the information section of the last part has begun: another one is another drive.
    let mut is_informed = false;
    for (number, line) in text.lines().enumerate() {
        let line = line.trim_end();
        let is_header = is_smartctl_header(line);
        let is_section = line.starts_with("=== START OF ");
        let is_information = line.starts_with("=== START OF INFORMATION SECTION");
        let of_smartctl = parts.last().is_some_and(|part| part.is_of_smartctl);
        let begins = is_header
            || is_section && !of_smartctl
            || is_information && is_informed
            || nvme_cli::begins(line);
        if begins {
            is_informed = false;
            let is_of_smartctl = is_header || is_section;
            parts.push(Part { line: number + 1, lines: Vec::new(), is_of_smartctl });
        }
        is_informed |= is_information;
        if let Some(part) = parts.last_mut() {
            part.lines.push(line);
        }
    }
    parts
}

fn is_smartctl_header(line: &str) -> bool {
    let version = line.strip_prefix("smartctl ").or_else(|| line.strip_prefix("smartctl version "));
    version.is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()))
        || line.starts_with("smartctl pre-")
}
