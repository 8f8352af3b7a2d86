//! Jobs of fio without results: each is left out with its reason, so that one failed job does not cost
//! the results of the others.

use crate::import_error::ImportError;
use crate::job_file::REST;
use crate::output::{Job, Output, Side};
use crate::samples::check_limits;
use ssdgauge_core::{Finding, FindingKind, Severity};

/// Takes the jobs without results out of `output`, and returns a finding for each. The requests of the
/// others are those that completed, in the direction that they have.
///
/// # Errors
/// No job has results, or one has numbers beyond any drive.
pub(crate) fn take_out(output: &mut Output) -> Result<Vec<Finding>, ImportError> {
    output.jobs.retain(|job| !is_rest(job));
    for job in &output.jobs {
        check_limits(job)?;
    }
    let global = output.options.clone();
    let mut reasons: Vec<(FindingKind, String)> = Vec::new();
    output.jobs.retain_mut(|job| {
        let order = ["rw", "readwrite"].iter().find_map(|key| {
            let own = job.options.get(*key).or_else(|| global.get(*key));
            own.map(|text| text.trim().to_owned())
        });
        count_completed(job);
        divide_sum(job, order.as_deref());
        let reason = reason(job);
        let is_kept = reason.is_none();
        reasons.extend(reason);
        is_kept
    });
    if output.jobs.is_empty() && !reasons.is_empty() {
        const MOST: usize = 3;
        let texts = reasons.iter().take(MOST).map(|(_, text)| text.as_str());
        let mut text = texts.collect::<Vec<_>>().join("; ");
        if reasons.len() > MOST {
            text += &format!("; and {} more", reasons.len() - MOST);
        }
        return Err(ImportError::NoResults(text));
    }
    let finding = |(kind, text): (FindingKind, String)| {
        let text = format!("{text}; it is left out, and the other jobs are complete without it");
        let advice = "see the messages of fio; run the job again for its results";
        Finding::new(kind, Severity::Warning, text, advice)
    };
    Ok(reasons.into_iter().map(finding).collect())
}

/// Returns whether a job is a rest of our own job files: without a request to the drive.
fn is_rest(job: &Job) -> bool {
    let option = |key: &str| job.options.get(key).map(String::as_str);
    option("ioengine") == Some("null")
        && option("description").is_some_and(|words| words.starts_with(REST))
}

/// Counts the requests that completed: a failed one is in the sum of fio, but has no latency.
fn count_completed(job: &mut Job) {
    if job.error == 0 && job.total_err == 0 {
        return;
    }
    let sides = [Some(&mut job.read), Some(&mut job.write), job.mixed.as_mut()];
    for side in sides.into_iter().flatten() {
        let counted = side.clat_ns.as_ref().map(|latency| latency.count);
        if let Some(counted) = counted.filter(|count| *count > 0 || side.io_bytes == 0) {
            side.total_ios = side.total_ios.min(counted);
        }
    }
}

/// Gives the sum of all directions (`unified_rw_reporting=1`) to the one that the job has.
fn divide_sum(job: &mut Job, order: Option<&str>) {
    if !job.read.is_absent || !job.write.is_absent {
        return;
    }
    let to = match order {
        Some("read" | "randread") => &mut job.read,
        Some("write" | "randwrite") => &mut job.write,
        _ => return,
    };
    *to = job.mixed.take().unwrap_or_default();
}

/// Returns why `job` has no results that can be imported, with the kind of its finding.
fn reason(job: &Job) -> Option<(FindingKind, String)> {
    let Job { jobname: name, read, write, .. } = job;
    let has_sum = job.mixed.as_ref().is_some_and(|mixed| mixed.total_ios > 0);
    let is_sum = read.is_absent && write.is_absent && has_sum;
    if is_sum {
        let text = format!(
            "job '{name}' reports the sum of its reads and writes (unified_rw_reporting=1), which \
             cannot be divided: run it without this option, or with unified_rw_reporting=both"
        );
        return Some((FindingKind::Imported, text));
    }
    if read.total_ios + write.total_ios == 0 {
        return Some(match job.error {
            0 if job.trim.as_ref().is_some_and(|trim| trim.total_ios > 0) => (
                FindingKind::Imported,
                format!("job '{name}' completed trims, but no read and no write"),
            ),
            0 => (
                FindingKind::Imported,
                format!("job '{name}' took no time: it completed no read and no write"),
            ),
            error => (
                FindingKind::Faults,
                format!("job '{name}' failed with {}, and has no results", describe(error)),
            ),
        });
    }
    let has_time = |side: &Side| side.runtime > 0;
    (!has_time(read) && !has_time(write)).then(|| {
        let text = format!("job '{name}' took no time that fio can state (below 1 ms)");
        (FindingKind::Imported, text)
    })
}

/// Returns the number of an error with its words.
pub(crate) fn describe(error: i64) -> String {
    let words = i32::try_from(error).ok().filter(|number| *number > 0).map(|number| {
        let words = std::io::Error::from_raw_os_error(number).to_string();
        words.split(" (os error").next().unwrap_or_default().to_owned()
    });
    words.map_or_else(|| format!("error {error}"), |words| format!("error {error} ({words})"))
}
