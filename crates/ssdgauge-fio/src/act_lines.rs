//! The lines of a log of ACT: its version, its configuration, its blocks, and the messages that other threads
//! print between any two of them.

use crate::act_bins::{ActDevice, ActError, ActForm, BINS, Bins, Failed};
use std::collections::BTreeMap;
use std::io::BufRead;

/// The longest line.
const MAX_LINE: u64 = 4_096;
/// The maximum number of lines: four days of blocks of 25 lines, each second.
const MAX_LINES: usize = 9_000_000;
/// The maximum number of entries of a configuration, and the maximum number of characters of one.
const MAX_ENTRIES: usize = 100;
/// The maximum number of devices.
const MAX_DEVICES: usize = 100;
/// The maximum number of histograms of a block: two for each device, and those of all.
const MAX_HISTOGRAMS: usize = 210;
/// The maximum number of requests of a histogram: no drive reaches them.
const MAX_REQUESTS: u64 = 1 << 40;
/// The largest device in bytes, so that the sum of all fits: 2 PiB.
const MAX_DEVICE_BYTES: u64 = 1 << 51;
/// The largest smallest request in bytes: ACT tries 512 to 4,096 (act_storage.c, HI_IO_MIN_SIZE).
const MAX_MINIMUM_IO: u64 = 4_096;
/// The begin of a message about an error.
const ERROR: &str = "ERROR: ";
/// The end of the message about the end of a test.
const STOPPED: &str = "test stopped";

/// The lines of a log.
pub(crate) struct Lines<R> {
    input: R,
    number: usize,
    /// Whether the last line that was read has no end: the log was truncated there.
    pub(crate) is_cut: bool,
    /// The requests that failed so far.
    pub(crate) failed: Failed,
    /// The first of them, with its line.
    pub(crate) first_failed: Option<(usize, String)>,
    /// The last message of an error, which another thread may print within a block.
    error: Option<String>,
    /// The line that states the end of the test, and the error before it.
    pub(crate) stopped: Option<(usize, String)>,
}

impl<R: BufRead> Lines<R> {
    /// Returns the lines of `input`.
    pub(crate) fn new(input: R) -> Lines<R> {
        Lines {
            input,
            number: 0,
            is_cut: false,
            failed: Failed::default(),
            first_failed: None,
            error: None,
            stopped: None,
        }
    }

    /// Returns the next line with its number, without its end.
    pub(crate) fn next(&mut self) -> Result<Option<(usize, String)>, ActError> {
        let mut bytes = Vec::new();
        self.number += 1;
        let line = self.number;
        let failed = |what: String| ActError::Line { line, what };
        if line > MAX_LINES {
            return Err(failed(format!("the log has more than {MAX_LINES} lines")));
        }
        let mut limited = std::io::Read::take(&mut self.input, MAX_LINE);
        let read = limited.read_until(b'\n', &mut bytes);
        let length = read.map_err(|error| failed(error.to_string()))?;
        if length as u64 == MAX_LINE {
            return Err(failed(format!("it is longer than {MAX_LINE} bytes")));
        }
        self.is_cut = length > 0 && !bytes.ends_with(b"\n");
        let text = String::from_utf8(bytes).map_err(|_| failed("it is not UTF-8".into()))?;
        let text = text.trim_end_matches(['\n', '\r']).to_owned();
        self.note_message(line, &text);
        Ok((length > 0).then_some((line, text)))
    }

    /// Takes note of an error: a request that failed (act_storage.c, read_from_device, write_to_device, fd_get),
    /// or the end of the test, followed by `… - test stopped`.
    fn note_message(&mut self, line: usize, text: &str) {
        if let Some(error) = text.strip_prefix(ERROR) {
            let failed = match error.split(' ').next() {
                Some("reading" | "open") => Some(&mut self.failed.reads),
                Some("writing") => Some(&mut self.failed.writes),
                Some(_) | None => None,
            };
            let error: String = error.chars().take(200).collect();
            if let Some(count) = failed {
                *count += 1;
                self.first_failed.get_or_insert_with(|| (line, error.clone()));
            }
            self.error = Some(error);
        }
        if text.ends_with(STOPPED) && self.stopped.is_none() {
            let cause = self.error.clone().unwrap_or_else(|| text.chars().take(200).collect());
            self.stopped = Some((line, cause));
        }
    }

    /// Reads up to the line of the version.
    pub(crate) fn version(&mut self) -> Result<(String, ActForm), ActError> {
        while let Some((line, text)) = self.next()? {
            let version = text.strip_prefix("ACT version ");
            let Some(version) = version.or_else(|| text.strip_prefix("Aerospike act version "))
            else {
                continue;
            };
            let version: String = version.trim().chars().take(20).collect();
            return match version.split('.').next() {
                Some("5") => Ok((version, ActForm::FromQueue)),
                Some("6") => Ok((version, ActForm::FromCall)),
                Some(_) | None => Err(ActError::Version { line, version }),
            };
        }
        Err(ActError::NoLog("no line begins with 'ACT version'"))
    }

    /// Reads the configuration, the derived one and the devices, up to the names of the histograms.
    pub(crate) fn configuration(
        &mut self,
    ) -> Result<(BTreeMap<String, String>, Vec<ActDevice>), ActError> {
        let mut configuration = BTreeMap::new();
        let mut devices = Vec::new();
        let mut is_storage = false;
        while let Some((line, text)) = self.next()? {
            if text == "HISTOGRAM NAMES" {
                return match is_storage {
                    true => Ok((configuration, devices)),
                    false => Err(ActError::NoLog("it has no configuration of act_storage")),
                };
            }
            is_storage |= text.starts_with("ACT-STORAGE CONFIGURATION")
                || text.starts_with("ACT_STORAGE CONFIGURATION");
            if let Some(device) = device(line, &text)? {
                devices.push(device);
                if devices.len() > MAX_DEVICES {
                    let what = format!("the log has more than {MAX_DEVICES} devices");
                    return Err(ActError::Line { line, what });
                }
            } else if let Some((key, value)) = text.split_once(':') {
                if configuration.len() == MAX_ENTRIES {
                    let what = format!("the configuration has more than {MAX_ENTRIES} entries");
                    return Err(ActError::Line { line, what });
                }
                configuration.insert(key.trim().to_owned(), value.trim().to_owned());
            }
        }
        Err(ActError::NoLog("it ends before 'HISTOGRAM NAMES'"))
    }

    /// Reads the histograms of a block up to its empty line; `None` where the log ends before it.
    pub(crate) fn block(&mut self) -> Result<Option<BTreeMap<String, Bins>>, ActError> {
        let mut block: BTreeMap<String, Bins> = BTreeMap::new();
        let mut current: Option<(usize, String, Bins)> = None;
        loop {
            let Some((line, text)) = self.next()? else { return Ok(None) };
            // The last line has no end: whatever it states may be a part of it.
            if self.is_cut {
                return Ok(None);
            }
            // Another thread prints its messages between any two lines of a block.
            if is_message(&text) {
                continue;
            }
            if text.starts_with(" (") {
                let Some((_, _, bins)) = &mut current else {
                    let what = "bins without the name of a histogram".into();
                    return Err(ActError::Line { line, what });
                };
                add_bins(line, &text, bins)?;
                continue;
            }
            if let Some((line, name, bins)) = current.take() {
                check_total(line, &name, &bins)?;
                block.insert(name, bins);
                if block.len() > MAX_HISTOGRAMS {
                    let what = format!("its block has more than {MAX_HISTOGRAMS} histograms");
                    return Err(ActError::Line { line, what });
                }
            }
            if text.is_empty() {
                return Ok(Some(block));
            }
            // Lines without a histogram, such as `requests-queued: 0`.
            if let Some((name, total)) =
                text.strip_suffix(" total)").and_then(|text| text.rsplit_once(" ("))
            {
                let total = number(line, total, MAX_REQUESTS)?;
                let name = name.trim().chars().take(100).collect();
                current = Some((line, name, Bins { total, ..Bins::default() }));
            }
        }
    }
}

/// Returns whether `text` is a message of another thread (act_storage.c).
fn is_message(text: &str) -> bool {
    text.starts_with(ERROR) || text.ends_with(STOPPED) || text.starts_with("try configuring ")
}

/// Returns the device that `text` describes (act_storage.c, discover_device).
fn device(line: usize, text: &str) -> Result<Option<ActDevice>, ActError> {
    let parts = text.rsplit_once(" size = ").filter(|(_, rest)| rest.ends_with(" bytes"));
    let Some((head, minimum)) =
        parts.and_then(|(head, rest)| head.strip_suffix("minimum IO").zip(Some(rest)))
    else {
        return Ok(None);
    };
    let Some((_, size)) = head.rsplit_once(" size = ") else { return Ok(None) };
    let size = size.split(' ').next().unwrap_or_default();
    let bytes = number(line, size, MAX_DEVICE_BYTES)?;
    let minimum_io = number(line, minimum.trim_end_matches(" bytes"), MAX_MINIMUM_IO)?;
    Ok((bytes > 0 && minimum_io > 0).then_some(ActDevice { bytes, minimum_io }))
}

/// Adds the bins of a line, such as ` (00: 0000012345) (01: 0000000067)`.
fn add_bins(line: usize, text: &str, bins: &mut Bins) -> Result<(), ActError> {
    let unreadable = || ActError::Line { line, what: "its bins are not readable".into() };
    for pair in text.split(" (").skip(1) {
        let pair = pair.strip_suffix(')').ok_or_else(unreadable)?;
        let (bin, count) = pair.split_once(": ").ok_or_else(unreadable)?;
        let bin = number(line, bin, BINS as u64 - 1)? as usize;
        // They ascend, and empty ones are left out.
        if bins.counts[bin..].iter().any(|count| *count > 0) {
            let what = format!("bin {bin} follows a bin that is not below it");
            return Err(ActError::Line { line, what });
        }
        bins.counts[bin] += number(line, count, MAX_REQUESTS)?;
        if bins.counts[bin] > MAX_REQUESTS {
            return Err(unreadable());
        }
    }
    Ok(())
}

fn check_total(line: usize, name: &str, bins: &Bins) -> Result<(), ActError> {
    let sum: u64 = bins.counts.iter().sum();
    match sum == bins.total {
        true => Ok(()),
        false => {
            let what = format!("'{name}' has {} requests, and its bins have {sum}", bins.total);
            Err(ActError::Line { line, what })
        }
    }
}

/// Reads a number up to `most`.
pub(crate) fn number(line: usize, text: &str, most: u64) -> Result<u64, ActError> {
    let number = text.trim().parse::<u64>().ok().filter(|number| *number <= most);
    let shown: String = text.trim().chars().take(40).collect();
    number.ok_or_else(|| ActError::Line {
        line,
        what: format!("'{shown}' is not a number up to {most}"),
    })
}
