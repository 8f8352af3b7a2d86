//! The bytes that a run may write: the limit of the user, and the question before a lot is written to a
//! scratch file, which is on a drive that nobody confirms.

use crate::arguments::ConsentOptions;
use crate::failure::{Failure, FailureKind};
use crate::settings;
use ssdgauge_core::{Bytes, Detail, Direction, DriveInfo, Until, Workload};
use ssdgauge_lab::{Expectation, assumed_rates};
use ssdgauge_watch::terminal;
use std::io::{BufRead, IsTerminal};

/// The bytes that are written to a scratch file without a question. Chosen: a quick look and the suites of
/// everyday work stay below, protocols of reviews, which wear a drive, exceed it.
pub(crate) const WITHOUT_QUESTION: Bytes = Bytes(100_000_000_000);

/// What a run, or the rest of one, is expected to do.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Expected<'a> {
    /// The line about it.
    pub(crate) text: &'a str,
    /// The bytes that it writes.
    pub(crate) written: Expectation<Bytes>,
    /// The bytes that the run wrote before it was interrupted.
    pub(crate) earlier: Bytes,
}

impl<'a> Expected<'a> {
    /// Returns what a new run is expected to do.
    pub(crate) fn new(text: &'a str, written: Expectation<Bytes>) -> Expected<'a> {
        Expected { text, written, earlier: Bytes(0) }
    }
}

/// Returns the bytes that the run called `name` on `drive` may write: those of `consent`, else those that are
/// permitted at the terminal where it writes a lot to a scratch file; `None` for no limit.
///
/// # Errors
///
/// Refuses a run that is expected to write more, and one that is not permitted.
pub(crate) fn ask(
    name: &str,
    drive: &DriveInfo,
    is_scratch: bool,
    consent: &ConsentOptions,
    expected: Expected<'_>,
) -> Result<Option<Bytes>, Failure> {
    let written = expected.written.map(|bytes| bytes + expected.earlier);
    let refused =
        |error: String, hint: String| Err(Failure::new(FailureKind::Refused, error, hint));
    if let Some(limit) = consent.max_writes {
        return match written.expected > limit {
            false => Ok(Some(limit)),
            true => refused(
                format!("{}; --max-writes allows {}", would_write(name, written), limit.about()),
                format!(
                    "nothing was written; permit more, such as --max-writes {}, or run fewer tests (--test)",
                    typable(written.at_most)
                ),
            ),
        };
    }
    // A limit that was set once is not permission for this run.
    let limit = settings::current().max_writes;
    if let Some(limit) = limit.filter(|limit| written.expected > *limit) {
        return refused(
            format!("{}; max_writes allows {}", would_write(name, written), limit.about()),
            format!(
                "nothing was written; permit more for this run: --max-writes {}; `ssdgauge config` shows what \
                 sets max_writes",
                typable(written.at_most)
            ),
        );
    }
    if !is_scratch || expected.written.expected <= WITHOUT_QUESTION {
        return Ok(limit);
    }
    let what = format!("{} to a scratch file: {}", would_write(name, written), place_of(drive));
    let option = format!("--max-writes {}", typable(written.at_most));
    if !std::io::stdin().is_terminal() {
        return refused(
            what,
            format!("nothing was written; to permit it, add {option}; --test runs fewer tests"),
        );
    }
    let question = format!("Type yes to permit it ({option}); anything else: nothing is written:");
    let lines = [what.as_str()].into_iter().chain(expected.text.lines());
    terminal::print_lines(lines.chain(["", &question]));
    let mut line = String::new();
    // An input that cannot be read is an empty line, which permits nothing.
    let _ = std::io::stdin().lock().read_line(&mut line);
    match line.trim() {
        "yes" => {
            let permitted = rounded_up(written.at_most);
            Ok(Some(limit.map_or(permitted, |limit| limit.min(permitted))))
        }
        _ => refused(
            format!("{what}; it was not permitted"),
            "nothing was written; --test runs fewer tests, and `ssdgauge plan` lists what each writes"
                .to_owned(),
        ),
    }
}

/// Returns the bytes that `workload` is expected to write on `drive` `until` a limit: in its time at the assumed rate of
/// large writes, in the share of its writes, and never more than its limit of bytes.
pub(crate) fn of_load(workload: &Workload, until: &Until, drive: &DriveInfo) -> Expectation<Bytes> {
    let rates = assumed_rates(drive);
    let [_, most] = rates.bounds_of_large_writes();
    let writes = workload.streams.iter().filter(|one| one.writes());
    let share =
        writes.map(|one| f64::from(one.percent_of(Direction::Write)) / 100.0).fold(0.0, f64::max);
    let seconds = until.time.map_or(f64::INFINITY, |time| time.as_secs_f64());
    let at = |bytes_per_second: f64| {
        let in_time = Bytes((bytes_per_second * seconds * share) as u64);
        until.bytes.map_or(in_time, |limit| limit.min(in_time))
    };
    Expectation { expected: at(rates.large_write_mb_s * 1e6), at_most: at(most.0 as f64) }
}

fn would_write(name: &str, written: Expectation<Bytes>) -> String {
    let (expected, most) = (written.expected.about(), written.at_most.about());
    format!("{name} would write about {expected}, at most {most}")
}

/// Returns where the scratch file of `drive` is, with the drive below it where it is known.
fn place_of(drive: &DriveInfo) -> String {
    let device = drive.detail(Detail::Device).or(drive.model.as_deref());
    let device = device.map_or_else(String::new, |device| format!(" on {device}"));
    format!("{}{device}", drive.target)
}

/// Returns `bytes` in whole gigabytes, rounded up.
fn rounded_up(bytes: Bytes) -> Bytes {
    Bytes(bytes.0.div_ceil(1_000_000_000) * 1_000_000_000)
}

/// Returns `bytes` as an option takes it, rounded up.
fn typable(bytes: Bytes) -> String {
    format!("{}GB", rounded_up(bytes).0 / 1_000_000_000)
}
