//! Logs of the Aerospike Certification Tool (ACT 5 and 6, `act_storage`): a configuration, then blocks
//! `after N sec:` with cumulative histograms whose bins are powers of two of a millisecond or, on request,
//! of a microsecond (act, src/common/histogram.c).
//!
//! The log is read line by line, because that of a day has 100 MB. It must never yield a percentile: of a
//! latency, its bin alone is known.

use std::collections::BTreeMap;
use std::io::BufRead;

/// The longest line.
const MAX_LINE: u64 = 4_096;
/// The maximum number of lines: four days of blocks of 25 lines, each second.
const MAX_LINES: usize = 9_000_000;
/// The maximum number of entries of a configuration, and the maximum number of characters of one.
const MAX_ENTRIES: usize = 100;
/// The maximum number of histograms of a block: two for each of a hundred devices, and those of all.
const MAX_HISTOGRAMS: usize = 210;
/// The bins of a histogram.
const BINS: usize = 64;
/// The maximum number of requests of a histogram: no drive reaches them.
const MAX_REQUESTS: u64 = 1 << 40;
/// The longest time of a log: a year.
const MAX_SECONDS: u64 = 366 * 86_400;
/// The length of a slice (`act_latency.py -t`).
const SLICE_S: u64 = 3_600;

/// Why a log is not imported.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ActError {
    /// Not a log of ACT.
    #[error("it is not a log of ACT: {0}")]
    NoLog(&'static str),
    /// Another version.
    #[error("line {line}: it was written by ACT {version}; logs of ACT 5 and 6 are known")]
    Version {
        /// The number of the line, from 1.
        line: usize,
        /// The version.
        version: String,
    },
    /// A line that contradicts others, or is not readable.
    #[error("line {line}: {what}")]
    Line {
        /// The number of the line, from 1.
        line: usize,
        /// The reason.
        what: String,
    },
}

/// The form of a log: where its latencies begin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ActForm {
    /// ACT 5: the latency of a read counts from the queue.
    FromQueue,
    /// ACT 6: it counts from the call.
    FromCall,
}

/// The unit of the bins of a log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BinUnit {
    /// Milliseconds.
    Millisecond,
    /// Microseconds.
    Microsecond,
}

impl BinUnit {
    /// Returns the unit in nanoseconds.
    fn nanos(self) -> u64 {
        match self {
            BinUnit::Millisecond => 1_000_000,
            BinUnit::Microsecond => 1_000,
        }
    }
}

/// The requests of one histogram: bin 0 is below one unit, bin b from 2^(b−1) to 2^b units.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Bins {
    /// All requests.
    pub total: u64,
    counts: [u64; BINS],
}

impl Default for Bins {
    fn default() -> Bins {
        Bins { total: 0, counts: [0; BINS] }
    }
}

impl Bins {
    /// Returns the smallest and the largest share of requests above `nanos` that the bins allow, in
    /// percent; both are equal where `nanos` is the border of a bin.
    pub fn share_above(&self, nanos: u64, unit: BinUnit) -> (f64, f64) {
        let upper_edge = |bin: usize| unit.nanos().checked_shl(bin as u32).unwrap_or(u64::MAX);
        let lower_edge = |bin: usize| if bin == 0 { 0 } else { upper_edge(bin - 1) };
        let sum = |is_above: &dyn Fn(usize) -> bool| {
            let counts = self.counts.iter().enumerate().filter(|(bin, _)| is_above(*bin));
            counts.map(|(_, n)| n).sum::<u64>()
        };
        let percent = |count: u64| count as f64 * 100.0 / self.total.max(1) as f64;
        let least = sum(&|bin| lower_edge(bin) >= nanos);
        let most = sum(&|bin| upper_edge(bin) > nanos);
        (percent(least), percent(most))
    }

    /// Returns the requests since `earlier`; `None` where a bin has lost some.
    fn since(&self, earlier: &Bins) -> Option<Bins> {
        let mut counts = [0; BINS];
        for (bin, count) in counts.iter_mut().enumerate() {
            *count = self.counts[bin].checked_sub(earlier.counts[bin])?;
        }
        Some(Bins { total: self.total.checked_sub(earlier.total)?, counts })
    }
}

/// A log.
#[derive(Clone, Debug)]
pub struct ActLog {
    /// The version, such as `6.4`.
    pub version: String,
    /// Where its latencies begin.
    pub form: ActForm,
    /// The configuration and the derived one, by key.
    pub configuration: BTreeMap<String, String>,
    /// The unit of its bins.
    pub unit: BinUnit,
    /// The time of the last whole block, in seconds.
    pub seconds: u64,
    /// The histograms of the last whole block, by name.
    pub whole: BTreeMap<String, Bins>,
    /// The reads of each whole hour; of a shorter log those of all of it.
    pub slices: Vec<Bins>,
    /// The message that stopped the test, with its line.
    pub stopped: Option<(usize, String)>,
    /// The line of a last block that was cut off, and is left out.
    pub cut_at: Option<usize>,
}

/// The name of the histogram of the small reads.
pub(crate) const READS: &str = "reads";

/// Reads a log.
///
/// # Errors
/// A text that is not a log of ACT 5 or 6, is not readable, or contradicts itself, with the line.
pub fn read_act_log(input: impl BufRead) -> Result<ActLog, ActError> {
    let mut lines = Lines { input, number: 0, error: None, stopped: None };
    let (version, form) = lines.version()?;
    let configuration = lines.configuration()?;
    let unit = match configuration.get("microsecond-histograms").map(String::as_str) {
        Some("yes") => BinUnit::Microsecond,
        Some(_) | None => BinUnit::Millisecond,
    };
    let mut log = ActLog {
        version,
        form,
        configuration,
        unit,
        seconds: 0,
        whole: BTreeMap::new(),
        slices: Vec::new(),
        stopped: None,
        cut_at: None,
    };
    let mut slice_began = (0, Bins::default());
    while let Some((line, text)) = lines.next()? {
        let Some(seconds) = text.strip_prefix("after ").and_then(|rest| rest.strip_suffix(" sec:"))
        else {
            continue;
        };
        let seconds = number(line, seconds, MAX_SECONDS)?;
        if seconds <= log.seconds {
            let what = format!("the block of {seconds} s follows that of {} s", log.seconds);
            return Err(ActError::Line { line, what });
        }
        let Some(block) = lines.block()? else {
            log.cut_at = Some(line);
            break;
        };
        check_growth(line, &log.whole, &block)?;
        log.seconds = seconds;
        log.whole = block;
        if seconds >= slice_began.0 + SLICE_S {
            let reads = log.whole.get(READS).cloned().unwrap_or_default();
            log.slices.extend(reads.since(&slice_began.1));
            slice_began = (seconds, reads);
        }
    }
    log.stopped = lines.stopped;
    if log.seconds == 0 {
        return Err(match log.cut_at {
            Some(line) => ActError::Line { line, what: "its only block is cut off".into() },
            None => ActError::NoLog("it has no block 'after N sec:'"),
        });
    }
    if log.slices.is_empty() {
        log.slices.extend(log.whole.get(READS).cloned());
    }
    Ok(log)
}

/// Refuses a histogram that has lost requests since the block before: all are cumulative.
fn check_growth(
    line: usize,
    before: &BTreeMap<String, Bins>,
    block: &BTreeMap<String, Bins>,
) -> Result<(), ActError> {
    for (name, earlier) in before {
        let now = block.get(name);
        if now.is_none_or(|now| now.since(earlier).is_none()) {
            let what = format!("'{name}' has fewer requests than in the block before");
            return Err(ActError::Line { line, what });
        }
    }
    Ok(())
}

fn number(line: usize, text: &str, most: u64) -> Result<u64, ActError> {
    let number = text.trim().parse::<u64>().ok().filter(|number| *number <= most);
    let shown: String = text.trim().chars().take(40).collect();
    number.ok_or_else(|| ActError::Line {
        line,
        what: format!("'{shown}' is not a number up to {most}"),
    })
}

/// The lines of a log.
struct Lines<R> {
    input: R,
    number: usize,
    /// The last message of an error, which another thread may print within a block.
    error: Option<String>,
    /// The line that states the end of the test, and the error before it.
    stopped: Option<(usize, String)>,
}

impl<R: BufRead> Lines<R> {
    /// Returns the next line with its number, without its end.
    fn next(&mut self) -> Result<Option<(usize, String)>, ActError> {
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
        let text = String::from_utf8(bytes).map_err(|_| failed("it is not UTF-8".into()))?;
        let text = text.trim_end_matches(['\n', '\r']).to_owned();
        self.note_end(line, &text);
        Ok((length > 0).then_some((line, text)))
    }

    /// Takes note of a message that ends the test: an error, and `… - test stopped` after it.
    fn note_end(&mut self, line: usize, text: &str) {
        if let Some(error) = text.strip_prefix("ERROR: ") {
            self.error = Some(error.chars().take(200).collect());
        }
        if text.ends_with("test stopped") && self.stopped.is_none() {
            let cause = self.error.clone().unwrap_or_else(|| text.chars().take(200).collect());
            self.stopped = Some((line, cause));
        }
    }

    /// Reads up to the line of the version.
    fn version(&mut self) -> Result<(String, ActForm), ActError> {
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

    /// Reads the configuration and the derived one, up to the names of the histograms.
    fn configuration(&mut self) -> Result<BTreeMap<String, String>, ActError> {
        let mut configuration = BTreeMap::new();
        let mut is_storage = false;
        while let Some((line, text)) = self.next()? {
            if text == "HISTOGRAM NAMES" {
                return match is_storage {
                    true => Ok(configuration),
                    false => Err(ActError::NoLog("it has no configuration of act_storage")),
                };
            }
            is_storage |= text.starts_with("ACT-STORAGE CONFIGURATION")
                || text.starts_with("ACT_STORAGE CONFIGURATION");
            if let Some((key, value)) = text.split_once(':') {
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
    fn block(&mut self) -> Result<Option<BTreeMap<String, Bins>>, ActError> {
        let mut block: BTreeMap<String, Bins> = BTreeMap::new();
        let mut current: Option<(usize, String, Bins)> = None;
        loop {
            let Some((line, text)) = self.next()? else { return Ok(None) };
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

/// Adds the bins of a line, such as ` (00: 0000012345) (01: 0000000067)`.
fn add_bins(line: usize, text: &str, bins: &mut Bins) -> Result<(), ActError> {
    let unreadable = || ActError::Line { line, what: "its bins are not readable".into() };
    for pair in text.split(" (").skip(1) {
        let pair = pair.strip_suffix(')').ok_or_else(unreadable)?;
        let (bin, count) = pair.split_once(": ").ok_or_else(unreadable)?;
        let bin = number(line, bin, BINS as u64 - 1)? as usize;
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
