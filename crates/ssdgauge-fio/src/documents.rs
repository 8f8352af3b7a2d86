//! The documents in an output of fio: one, or with `--status-interval` one for each interval and a last
//! one, which is the result.

use crate::import_error::ImportError;
use crate::output::{Job, Output, Side};
use ssdgauge_core::{Finding, FindingKind, Severity};

/// The longest name of a version.
const MAX_VERSION: usize = 40;
/// The most milliseconds by which the begin of a run, as its documents state it, moves: both of its times
/// are rounded to seconds.
const MAX_BEGIN_SHIFT: u64 = 5_000;

/// Returns the last document in `text`, whose counts include those of all before, and what is to be said
/// of the others. Lines before, between and after the documents are skipped: fio prints messages there.
///
/// # Errors
/// A text without a document of fio 3, and documents of several runs.
pub(crate) fn last(text: &str) -> Result<(Output, Vec<Finding>), ImportError> {
    let mut begin = next_begin(text, 0);
    if begin.is_none() {
        return Err(ImportError::NoOutput("no line begins with '{'".into()));
    }
    let mut last: Option<Output> = None;
    let mut documents = 0u64;
    let mut is_cut = false;
    while let Some(at) = begin {
        let mut parsed = serde_json::Deserializer::from_str(&text[at..]).into_iter::<Output>();
        let output = match parsed.next() {
            Some(Ok(output)) => output,
            Some(Err(error)) if last.is_some() && error.is_eof() => {
                is_cut = true;
                break;
            }
            Some(Err(error)) => return Err(no_output(&text[at..], &error)),
            None => return Err(ImportError::NoOutput("it is empty".into())),
        };
        check(&output)?;
        documents += 1;
        if last.as_ref().is_some_and(|before| !is_later(before, &output)) {
            return Err(ImportError::SeveralRuns(documents));
        }
        last = Some(output);
        begin = next_begin(text, at + parsed.byte_offset());
    }
    let output = last.ok_or_else(|| ImportError::NoOutput("it is empty".into()))?;
    let finding = finding(documents, is_cut);
    Ok((output, finding.into_iter().collect()))
}

/// Returns the place of the first line from `from` on that begins with a brace.
fn next_begin(text: &str, from: usize) -> Option<usize> {
    let rest = &text[from..];
    if rest.starts_with('{') && (from == 0 || text[..from].ends_with('\n')) {
        return Some(from);
    }
    rest.find("\n{").map(|at| from + at + 1)
}

/// Refuses a document of another version or of several machines, and jobs without results.
fn check(output: &Output) -> Result<(), ImportError> {
    // Development versions have the commit behind the number: fio-3.33-12-g1234.
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

/// Returns whether `after` is a later document of the run of `before`: the same jobs, the same begin, and
/// counts that do not fall. A ramp resets the counts.
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
            && (has_ramp(other)
                || (counts(&one.read) <= counts(&other.read)
                    && counts(&one.write) <= counts(&other.write)))
    };
    before.jobs.len() == after.jobs.len()
        && elapsed(before) <= elapsed(after)
        && begun(before).abs_diff(begun(after)) <= MAX_BEGIN_SHIFT
        && before.jobs.iter().zip(&after.jobs).all(continues)
}

fn finding(documents: u64, is_cut: bool) -> Option<Finding> {
    let advice = "run the job again, and let fio end by itself";
    match (is_cut, documents) {
        (false, ..=1) => None,
        (false, _) => Some(Finding::new(
            FindingKind::Imported,
            Severity::Note,
            format!(
                "the output has {documents} documents of one run (--status-interval): these numbers \
                 are those of the last one, which includes the others"
            ),
            "nothing has to be done; a course in time needs a histogram log (--hist-log)",
        )),
        (true, _) => Some(Finding::new(
            FindingKind::Imported,
            Severity::Warning,
            format!(
                "the output ends within document {}: these numbers are those of the one before, a \
                 status of the run (--status-interval) and not its result",
                documents + 1
            ),
            advice,
        )),
    }
}
