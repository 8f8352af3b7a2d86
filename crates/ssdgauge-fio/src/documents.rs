//! The documents in an output of fio: one, with `--status-interval` one for each interval and a last one,
//! which is the result, or those of several runs one after the other.

use crate::import_error::{ImportError, MAX_GROUPS};
use crate::output::{Job, Output, Side};
use ssdgauge_core::{Finding, FindingKind, Severity};
use std::cell::OnceCell;

/// The longest name of a version.
const MAX_VERSION: usize = 40;
/// The maximum number of milliseconds by which the begin of a run, as its documents state it, moves: both of its times
/// are rounded to seconds.
const MAX_BEGIN_SHIFT: u64 = 5_000;

/// The same by the milliseconds that the jobs ran: fio prints the last document up to half a second after them.
const MAX_RUNTIME_SHIFT: u64 = 1_000;

/// The name that every document begins with.
const FIRST_NAME: &str = "\"fio version\"";

/// How often the bytes of a text may be read as documents that turn out to be none. Braces that are nested at the
/// begins of lines would have the rest of the text read once for each of them.
const MAX_ATTEMPTS: usize = 4;

/// The bytes that may be read in vain in every text, however short.
const FREE_BYTES: usize = 1 << 20;

/// Returns the last document of each run in `text`, whose counts include those of all before, and what is
/// to be said of the others. Lines before, between and after the documents are skipped: fio prints
/// messages and its other formats there.
///
/// # Errors
/// A text without a document of fio 3.
pub(crate) fn results(text: &str) -> Result<(Vec<Output>, Vec<Finding>), ImportError> {
    let mut runs: Vec<(Output, u64)> = Vec::new();
    let mut is_cut = false;
    let text_of_json = Text { text, without_nan: OnceCell::new() };
    let mut spare = text.len().saturating_mul(MAX_ATTEMPTS).saturating_add(FREE_BYTES);
    let mut begin = next_begin(text, 0);
    if begin.is_none() {
        return Err(ImportError::NoOutput("no line begins with '{'".into()));
    }
    while let Some(at) = begin {
        let rest = &text[at..];
        let (output, length) = match text_of_json.read(at) {
            Ok(read) => read,
            Err(error) if !runs.is_empty() && error.is_eof() && has_first_name(rest) => {
                is_cut = true;
                break;
            }
            Err(error) => {
                // A message can begin like a document.
                begin = next_begin(text, at + 1);
                if has_first_name(rest) || (begin.is_none() && runs.is_empty()) {
                    return Err(no_output(rest, &error));
                }
                spare = spare.checked_sub(place_of(rest, &error)).ok_or_else(|| {
                    ImportError::NoOutput("its braces are nested too often".into())
                })?;
                continue;
            }
        };
        check(&output)?;
        begin = next_begin(text, at + length);
        match runs.last_mut().filter(|(before, _)| is_later(before, &output)) {
            Some(run) => *run = (output, run.1 + 1),
            None => runs.push((output, 1)),
        }
        if runs.len() > MAX_GROUPS {
            return Err(ImportError::Groups(runs.len()));
        }
    }
    let findings = findings(&runs, is_cut);
    Ok((runs.into_iter().map(|(output, _)| output).collect(), findings))
}

/// A text with documents.
struct Text<'a> {
    text: &'a str,
    /// The same with numbers for `nan` and `inf`, where it has any.
    without_nan: OnceCell<Option<String>>,
}

impl Text<'_> {
    /// Reads the document that begins at the byte `at`, and returns it with its length.
    fn read(&self, at: usize) -> serde_json::Result<(Output, usize)> {
        let document = |text: &str| {
            let mut parsed = serde_json::Deserializer::from_str(text).into_iter::<Output>();
            let output =
                parsed.next().unwrap_or_else(|| Err(serde::de::Error::custom("it is empty")));
            output.map(|output| (output, parsed.byte_offset()))
        };
        document(&self.text[at..]).or_else(|error| {
            match self.without_nan.get_or_init(|| without_nan(self.text)) {
                Some(text) => document(&text[at..]),
                None => Err(error),
            }
        })
    }
}

/// Returns `text` with a number in place of each `nan` and `inf` that fio prints for a rate or a deviation
/// over no time, which JSON does not have; `None` where it has none.
fn without_nan(text: &str) -> Option<String> {
    const NONE: [(&str, &str); 4] =
        [(": -nan", ": -0.0"), (": nan", ": 0.0"), (": -inf", ": -0.0"), (": inf", ": 0.0")];
    let is_in = |(none, _): &&(&str, &str)| text.contains(none);
    let found = NONE.iter().filter(is_in);
    // Of the same length, so that places in the text stay.
    found.fold(None, |text_so_far: Option<String>, (none, number)| {
        Some(text_so_far.as_deref().unwrap_or(text).replace(none, number))
    })
}

/// Returns the bytes of `text` in front of the place of `error`.
fn place_of(text: &str, error: &serde_json::Error) -> usize {
    let lines = error.line().saturating_sub(1);
    let begin = match lines {
        0 => 0,
        lines => text.match_indices('\n').nth(lines - 1).map_or(text.len(), |(at, _)| at + 1),
    };
    begin.saturating_add(error.column()).min(text.len())
}

/// Returns the place of the first brace from `from` on with which a document may begin: that of a line, or
/// one before the name that every document begins with.
fn next_begin(text: &str, from: usize) -> Option<usize> {
    let may_begin = |at: usize| {
        let is_first = at == 0 || text[..at].ends_with(['\n', '\r', '\u{feff}']);
        is_first || has_first_name(&text[at..])
    };
    text[from..].match_indices('{').map(|(at, _)| from + at).find(|at| may_begin(*at))
}

/// Returns whether the object at the begin of `text` has the first name of a document.
fn has_first_name(text: &str) -> bool {
    text.strip_prefix('{').is_some_and(|text| text.trim_start().starts_with(FIRST_NAME))
}

/// Refuses a document of another version or of several machines, and jobs without results.
fn check(output: &Output) -> Result<(), ImportError> {
    // Development versions have the commit after the number: fio-3.33-12-g1234.
    if !output.version.starts_with("fio-3.") || output.version.len() > MAX_VERSION {
        return Err(ImportError::Version(output.version.chars().take(MAX_VERSION).collect()));
    }
    if !output.client_stats.is_empty() {
        return Err(ImportError::Clients);
    }
    let lacks = |job: &&Job| job.mixed.is_none() && (job.read.is_absent || job.write.is_absent);
    match output.jobs.iter().find(lacks) {
        Some(job) => Err(ImportError::NoOutput(format!(
            "job '{}' has no reads, no writes and no sum of both",
            job.jobname
        ))),
        None => Ok(()),
    }
}

/// Returns the error of JSON that is not read: by its version where it has one.
fn no_output(text: &str, error: &serde_json::Error) -> ImportError {
    let version = text.split_once("\"fio version\"").and_then(|(_, rest)| {
        let version = rest.split('"').nth(1)?;
        Some(version.chars().take(MAX_VERSION).collect::<String>())
    });
    match version {
        Some(version) if !version.starts_with("fio-3.") => ImportError::Version(version),
        Some(_) | None => ImportError::NoOutput(error.to_string()),
    }
}

/// Returns whether `after` is a later document of the run of `before`: the same jobs with equal options, the
/// same begin, and counts that do not fall. A ramp resets the counts.
fn is_later(before: &Output, after: &Output) -> bool {
    let elapsed = |output: &Output| output.jobs.iter().map(|job| job.elapsed).max().unwrap_or(0);
    let begun = |output: &Output| {
        let elapsed = i64::try_from(elapsed(output)).unwrap_or(i64::MAX);
        output.timestamp_ms.saturating_sub(elapsed.saturating_mul(1_000))
    };
    let has_ramp = |job: &Job| {
        job.options.contains_key("ramp_time") || after.options.contains_key("ramp_time")
    };
    let counts = |side: &Side| side.total_ios;
    let continues = |(one, other): (&Job, &Job)| {
        one.jobname == other.jobname
            && one.groupid == other.groupid
            && one.options == other.options
            && (has_ramp(other)
                || (counts(&one.read) <= counts(&other.read)
                    && counts(&one.write) <= counts(&other.write)))
    };
    before.jobs.len() == after.jobs.len()
        && before.options == after.options
        && begins_agree(before, after)
        && elapsed(before) <= elapsed(after)
        && begun(before).abs_diff(begun(after)) <= MAX_BEGIN_SHIFT
        && before.jobs.iter().zip(&after.jobs).all(continues)
}

/// Returns whether two documents have the same begin by the milliseconds that their jobs ran, where all of them
/// run from the begin on; true where they need not.
fn begins_agree(before: &Output, after: &Output) -> bool {
    let is_late = |job: &Job| {
        ["ramp_time", "startdelay"]
            .iter()
            .any(|key| job.options.contains_key(*key) || after.options.contains_key(*key))
    };
    let has_one_group = after.jobs.iter().all(|job| job.groupid == after.jobs[0].groupid);
    let runtime = |output: &Output| {
        let sides = output.jobs.iter().flat_map(|job| [&job.read, &job.write]);
        sides.map(|side| side.runtime).max().unwrap_or(0)
    };
    let begun = |output: &Output| {
        let runtime = i64::try_from(runtime(output)).unwrap_or(i64::MAX);
        output.timestamp_ms.saturating_sub(runtime)
    };
    if !has_one_group || after.jobs.iter().any(is_late) || runtime(before) == 0 {
        return true;
    }
    begun(before).abs_diff(begun(after)) <= MAX_RUNTIME_SHIFT
}

/// Returns what is to be said of the documents that are not the result of a run.
fn findings(runs: &[(Output, u64)], is_cut: bool) -> Vec<Finding> {
    let imported =
        |severity, text, advice: &str| Finding::new(FindingKind::Imported, severity, text, advice);
    let mut findings = Vec::new();
    if runs.len() > 1 {
        let text = format!(
            "the output has results of {} runs: each group of jobs of each run is a test",
            runs.len()
        );
        findings.push(imported(
            Severity::Note,
            text,
            "import runs that differ from files of their own",
        ));
    }
    for (_, documents) in runs.iter().filter(|(_, documents)| *documents > 1) {
        let text = format!(
            "the output has {documents} documents of one run (--status-interval): these numbers are \
             those of the last one, which includes the others"
        );
        let advice = "nothing has to be done; a course in time needs a histogram log (--hist-log)";
        findings.push(imported(Severity::Note, text, advice));
    }
    if is_cut {
        let number = runs.iter().map(|(_, documents)| documents).sum::<u64>() + 1;
        let text = format!(
            "the output ends within document {number}: these numbers are those of the one before, a \
             status of the run (--status-interval) and not its result"
        );
        findings.push(imported(
            Severity::Warning,
            text,
            "run the job again, and let fio end by itself",
        ));
    }
    findings
}
