//! Logs of the Aerospike Certification Tool (ACT 5 and 6, `act_storage`): a configuration, then blocks
//! `after N sec:` with cumulative histograms whose bins are powers of two of a millisecond or, on request,
//! of a microsecond (act, src/common/histogram.c).
//!
//! The log is read line by line, because that of a day has 100 MB. It must never yield a percentile: of a
//! latency, its bin alone is known.

use crate::act_bins::{ActDevice, ActError, ActForm, BinUnit, Bins, Failed};
use crate::act_lines::{Lines, number};
use std::collections::BTreeMap;
use std::io::BufRead;

/// The longest time of a log: a year.
const MAX_SECONDS: u64 = 366 * 86_400;
/// The length of a slice (`act_latency.py -t`).
const SLICE_S: u64 = 3_600;

/// The counts at the end of a block, all since the start of the test.
#[derive(Clone, Debug, Default)]
pub struct Block {
    /// Its time in seconds.
    pub seconds: u64,
    /// Its histograms by name.
    pub histograms: BTreeMap<String, Bins>,
    /// The requests that failed.
    pub failed: Failed,
}

/// The small reads of a slice.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Slice {
    /// Those that succeeded.
    pub reads: Bins,
    /// Reads that failed, of any size.
    pub failed: u64,
}

impl Slice {
    /// Returns the smallest and the largest share of reads above `nanos`, in percent, as
    /// [`Bins::share_above`] does; the largest one has every failed read above each latency.
    pub fn share_above(&self, nanos: u64, unit: BinUnit) -> (f64, f64) {
        let (least, most) = self.reads.share_above(nanos, unit);
        let (answered, failed) = (self.reads.total as f64, self.failed as f64);
        match self.failed {
            0 => (least, most),
            _ => (least, (most * answered + 100.0 * failed) / (answered + failed)),
        }
    }
}

/// How late a stream was for its configured rate.
#[derive(Clone, Debug, PartialEq)]
pub struct Lag {
    /// The name of its histogram.
    pub name: &'static str,
    /// The time of the block in seconds.
    pub at: u64,
    /// The requests that were configured up to then.
    pub asked: f64,
    /// The requests that were answered or failed.
    pub done: f64,
    /// The time by which it was late, in seconds; negative where it was early.
    pub seconds: f64,
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
    /// Its devices; empty where the log does not describe them.
    pub devices: Vec<ActDevice>,
    /// The unit of its bins.
    pub unit: BinUnit,
    /// The last whole block.
    pub end: Block,
    /// The last block that is judged: that of the last whole hour, or of a shorter or stopped log the last one.
    pub judged: Block,
    /// The reads of each hour, and those after the last hour of a log that was stopped; of a shorter log those
    /// of all of it.
    pub slices: Vec<Slice>,
    /// The reads after the last block that is judged.
    pub rest: Option<Slice>,
    /// For each stream the judged block where it was latest, then the last judged one.
    pub lags: Vec<[Lag; 2]>,
    /// The first block that does not follow the one before after the report interval: its line and both times.
    pub gap: Option<(usize, u64, u64)>,
    /// The first failed request, with its line.
    pub first_failed: Option<(usize, String)>,
    /// The message that stopped the test, with its line.
    pub stopped: Option<(usize, String)>,
    /// The line of a last block that was cut off, and is left out.
    pub cut_at: Option<usize>,
}

/// The name of the histogram of the small reads.
pub(crate) const READS: &str = "reads";
/// The name of the histogram of the large reads.
pub(crate) const LARGE_READS: &str = "large-block-reads";
/// The name of the histogram of the large writes.
pub(crate) const LARGE_WRITES: &str = "large-block-writes";

/// Reads a log.
///
/// # Errors
/// A text that is not a log of ACT 5 or 6, is not readable, or contradicts itself, with the line.
pub fn read_act_log(input: impl BufRead) -> Result<ActLog, ActError> {
    let mut lines = Lines::new(input);
    let (version, form) = lines.version()?;
    let (configuration, devices) = lines.configuration()?;
    let unit = match configuration.get("microsecond-histograms").map(String::as_str) {
        Some("yes") => BinUnit::Microsecond,
        Some(_) | None => BinUnit::Millisecond,
    };
    let mut log = ActLog {
        version,
        form,
        configuration,
        devices,
        unit,
        end: Block::default(),
        judged: Block::default(),
        slices: Vec::new(),
        rest: None,
        lags: Vec::new(),
        gap: None,
        first_failed: None,
        stopped: None,
        cut_at: None,
    };
    let mut lags: Vec<[Lag; 2]> = Vec::new();
    while let Some((line, text)) = lines.next()? {
        let Some(seconds) = text.strip_prefix("after ").and_then(|rest| rest.strip_suffix(" sec:"))
        else {
            // A log can end within the line that begins a block.
            let is_begin =
                !text.is_empty() && (text.starts_with("after ") || "after ".starts_with(&*text));
            log.cut_at = (lines.is_cut && is_begin).then_some(line);
            continue;
        };
        let seconds = number(line, seconds, MAX_SECONDS)?;
        if seconds <= log.end.seconds {
            let what = format!("the block of {seconds} s follows that of {} s", log.end.seconds);
            return Err(ActError::Line { line, what });
        }
        let Some(histograms) = lines.block()? else {
            log.cut_at = Some(line);
            break;
        };
        check_growth(line, &log.end.histograms, &histograms)?;
        let interval = log.rate("report-interval-sec").filter(|interval| *interval >= 1.0);
        let before = log.end.seconds;
        if log.gap.is_none() && interval.is_some_and(|one| one != (seconds - before) as f64) {
            log.gap = Some((line, before, seconds));
        }
        log.end = Block { seconds, histograms, failed: lines.failed };
        log.note_lag(&mut lags);
        if seconds >= log.judged.seconds + SLICE_S {
            log.judge_rest(&lags);
        }
    }
    (log.stopped, log.first_failed) = (lines.stopped, lines.first_failed);
    if log.end.seconds == 0 {
        return Err(match log.cut_at {
            Some(line) => ActError::Line { line, what: "its only block is cut off".into() },
            None => ActError::NoLog("it has no block 'after N sec:'"),
        });
    }
    if log.end.seconds > log.judged.seconds {
        match log.slices.is_empty() || log.stopped.is_some() {
            true => log.judge_rest(&lags),
            false => log.rest = log.since_judged(),
        }
    }
    Ok(log)
}

impl ActLog {
    /// Returns the number of the configuration under `key`.
    pub(crate) fn rate(&self, key: &str) -> Option<f64> {
        let rate: f64 = self.configuration.get(key)?.parse().ok()?;
        (rate.is_finite() && rate >= 0.0).then_some(rate)
    }

    /// Returns the small reads since the last block that is judged.
    fn since_judged(&self) -> Option<Slice> {
        let reads = |block: &Block| block.histograms.get(READS).cloned().unwrap_or_default();
        let failed = self.end.failed.reads.saturating_sub(self.judged.failed.reads);
        Some(Slice { reads: reads(&self.end).since(&reads(&self.judged))?, failed })
    }

    /// Takes what follows the last block that is judged as a slice.
    fn judge_rest(&mut self, lags: &[[Lag; 2]]) {
        self.slices.extend(self.since_judged());
        self.judged = self.end.clone();
        self.lags = lags.to_vec();
    }

    /// Takes note of how late each stream is at the end of the last block.
    fn note_lag(&self, lags: &mut Vec<[Lag; 2]>) {
        for (name, rate) in self.rates() {
            let failed = match name {
                LARGE_WRITES => self.end.failed.writes,
                _ => self.end.failed.reads,
            };
            let answered = self.end.histograms.get(name).map_or(0, |bins| bins.total);
            let (asked, done) = (rate * self.end.seconds as f64, answered as f64 + failed as f64);
            let seconds = (asked - done) / rate;
            let now = Lag { name, at: self.end.seconds, asked, done, seconds };
            match lags.iter_mut().find(|[most, _]| most.name == name) {
                Some([most, last]) => {
                    if seconds > most.seconds {
                        *most = now.clone();
                    }
                    *last = now;
                }
                None => lags.push([now.clone(), now]),
            }
        }
    }

    /// Returns the requests per second that the configuration has ACT send, by histogram.
    fn rates(&self) -> impl Iterator<Item = (&'static str, f64)> {
        let reads = self.rate("internal-read-reqs-per-sec").or(self.rate("read-reqs-per-sec"));
        let writes = self.rate("internal-write-reqs-per-sec").unwrap_or(0.0);
        // Each thread of ACT 6 sends the whole number of requests per second that is its share.
        let threads = self.rate("service-threads").filter(|threads| *threads >= 1.0);
        let sent = |reads: f64| match (self.form, threads) {
            (ActForm::FromCall, Some(threads)) => {
                let all = reads + writes;
                reads * (all / threads).floor() * threads / all
            }
            (ActForm::FromCall | ActForm::FromQueue, _) => reads,
        };
        let large = [
            (LARGE_READS, self.rate("large-block-reads-per-sec")),
            (LARGE_WRITES, self.rate("large-block-writes-per-sec")),
        ];
        let all = [(READS, reads.map(sent))].into_iter().chain(large);
        all.filter_map(|(name, rate)| Some((name, rate.filter(|rate| *rate > 0.0)?)))
    }
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
