//! Jobs of fio without results: each is left out with its reason, so that one failed job does not cost
//! the results of the others.

use crate::import_error::ImportError;
use crate::job_file::REST;
use crate::output::{Job, Latency, Output};
use crate::samples::check_limits;
use ssdgauge_core::rounded::count;
use ssdgauge_core::{Finding, FindingKind, Severity};

/// Takes the jobs without results out of `outputs`, and returns a finding for each. The requests of the
/// others are those that completed, in the direction that they have.
///
/// # Errors
/// No job has results, or one has numbers beyond any drive.
pub(crate) fn take_out(outputs: &mut [Output]) -> Result<Vec<Finding>, ImportError> {
    let mut reasons: Vec<(FindingKind, String)> = Vec::new();
    let mut read_back: Vec<Finding> = Vec::new();
    for output in outputs.iter_mut() {
        output.jobs.retain(|job| !is_rest(job));
        for job in &output.jobs {
            check_limits(job)?;
        }
        let global = &output.options;
        output.jobs.retain_mut(|job| {
            let order = ["rw", "readwrite"].iter().find_map(|key| {
                let own = job.options.get(*key).or_else(|| global.get(*key));
                own.map(|text| text.trim().to_owned())
            });
            count_completed(job);
            divide_sum(job, order.as_deref());
            let verifies = job.options.contains_key("verify") || global.contains_key("verify");
            if verifies && order.as_deref().is_some_and(is_write_only) {
                read_back.extend(take_read_back(job));
            }
            let reason = reason(job);
            let is_kept = reason.is_none();
            reasons.extend(reason);
            is_kept
        });
    }
    if outputs.iter().all(|output| output.jobs.is_empty()) && !reasons.is_empty() {
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
    Ok(reasons.into_iter().map(finding).chain(read_back).collect())
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
    let sides = [Some(&mut job.read), Some(&mut job.write), job.trim.as_mut(), job.mixed.as_mut()];
    for side in sides.into_iter().flatten() {
        let counted = side.clat_ns.as_ref().and_then(Latency::counted);
        if let Some(counted) = counted.filter(|count| *count > 0 || side.io_bytes == 0) {
            side.total_ios = side.total_ios.min(counted);
        }
    }
}

/// Returns whether a job of this order only writes.
fn is_write_only(order: &str) -> bool {
    matches!(order.split(':').next(), Some("write" | "randwrite"))
}

/// Takes the reads of a job that only writes: `verify` reads back what was written, after it and not with it.
fn take_read_back(job: &mut Job) -> Option<Finding> {
    let reads = std::mem::take(&mut job.read);
    (reads.total_ios > 0).then(|| {
        let (name, ios) = (&job.jobname, count(reads.total_ios));
        let text = format!(
            "{ios} reads of job '{name}' read back what it wrote (verify): they did not run with its writes, and \
             are left out"
        );
        let advice = "for the rate of reads, run a job that reads";
        Finding::new(FindingKind::Imported, Severity::Note, text, advice)
    })
}

/// Gives the sum of all directions (`unified_rw_reporting=1`) to the one that the job has; of reads and
/// writes that are not told apart, to the reads.
fn divide_sum(job: &mut Job, order: Option<&str>) {
    if !job.read.is_absent || !job.write.is_absent {
        return;
    }
    let kind = order.map(|order| order.split(':').next().unwrap_or(order));
    let to = match kind {
        None | Some("read" | "randread") => &mut job.read,
        Some("write" | "randwrite") => &mut job.write,
        Some("trim" | "randtrim") => job.trim.get_or_insert_default(),
        Some(_) => {
            job.is_sum = true;
            &mut job.read
        }
    };
    *to = job.mixed.take().unwrap_or_default();
}

/// Returns why `job` has no results that can be imported, with the kind of its finding.
fn reason(job: &Job) -> Option<(FindingKind, String)> {
    let Job { jobname: name, read, write, .. } = job;
    let sides = [Some(read), Some(write), job.trim.as_ref()].into_iter().flatten();
    if sides.clone().all(|side| side.total_ios == 0) {
        return Some(match job.error {
            0 => (
                FindingKind::Imported,
                format!("job '{name}' took no time: it completed no request"),
            ),
            error => (
                FindingKind::Faults,
                format!("job '{name}' failed with {}, and has no results", describe(error)),
            ),
        });
    }
    sides.clone().all(|side| side.runtime == 0).then(|| {
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
