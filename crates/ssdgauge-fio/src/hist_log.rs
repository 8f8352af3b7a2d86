//! Histogram logs of fio (`write_hist_log`): the course in time of a result, second by second.
//!
//! A line holds the end of its window in milliseconds, the direction (0 read, 1 write, 2 trim), the block
//! size, and 1,856 counts of completion latencies. fio loses windows: the counts of the JSON stay the
//! result, and what the log lacks is in a last interval without a place in time.

use crate::import_error::ImportError;
use crate::output::{Job, Latency, Side};
use ssdgauge_core::rounded::count;
use ssdgauge_core::{Direction, Finding, FindingKind, Histogram, Interval, Nanos, Severity};
use std::collections::BTreeMap;

/// The bins of a line: 29 groups of 64 (fio, stat.h, FIO_IO_U_PLAT_NR).
const BINS: usize = 29 * 64;
/// The longest log: a day.
const MAX_SECONDS: u64 = 86_400;

/// The counts of each second: by direction and second, the count of each bin.
type Seconds = BTreeMap<(Direction, u32), BTreeMap<u64, u64>>;

/// The course in time of the one stream of a result.
pub(crate) struct Course {
    /// One interval for each second and direction, and a last one for what the log lacks.
    pub(crate) intervals: Vec<Interval>,
    /// The finding about requests that the log lacks.
    pub(crate) findings: Vec<Finding>,
}

/// Returns the course in time of `job` from its `logs`, one for each of its threads. `window` is the value
/// of `log_hist_msec`.
pub(crate) fn course(
    job: &Job,
    window: Option<&String>,
    logs: &[String],
    elapsed: Nanos,
) -> Result<Course, ImportError> {
    let unfit = |what: String| ImportError::unfit(&job.jobname, what);
    let window = window.and_then(|text| text.trim().parse::<u64>().ok());
    let window = window.filter(|ms| (1..=1_000).contains(ms)).ok_or_else(|| {
        unfit("a course in seconds needs log_hist_msec=1000 or less in the job".into())
    })?;
    let mut seconds = Seconds::new();
    for log in logs {
        read(job, log, window, &mut seconds)?;
    }
    let mut course = Course { intervals: Vec::new(), findings: Vec::new() };
    for (direction, side) in [(Direction::Read, &job.read), (Direction::Write, &job.write)] {
        let is_logged = seconds.keys().any(|(one, _)| *one == direction);
        if side.total_ios == 0 && is_logged {
            let what = format!("its log has {}s, its JSON none", direction.name());
            return Err(ImportError::contradiction(&job.jobname, &what));
        }
        if side.total_ios > 0 {
            add_direction(&mut course, job, direction, side, &seconds, elapsed)?;
        }
    }
    course.intervals.sort_by_key(|one| (one.second, one.direction as usize));
    Ok(course)
}

/// Adds the lines of a log to the seconds in whose middle their windows lie.
fn read(job: &Job, log: &str, window: u64, seconds: &mut Seconds) -> Result<(), ImportError> {
    for (index, line) in log.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
        let bad = |what: &str| {
            let what = format!("line {} of its histogram log {what}", index + 1);
            ImportError::contradiction(&job.jobname, &what)
        };
        let values: Result<Vec<u64>, _> =
            line.split(',').map(|value| value.trim().parse::<u64>()).collect();
        let values = values.map_err(|_| bad("is not a list of numbers"))?;
        let [ended, direction, _, counts @ ..] = values.as_slice() else {
            return Err(bad("has fewer than three numbers"));
        };
        if counts.len() != BINS {
            return Err(bad(&format!("has {} bins, not {BINS}", counts.len())));
        }
        let direction = match direction {
            0 => Direction::Read,
            1 => Direction::Write,
            _ => continue,
        };
        let second = ended.saturating_sub(window / 2) / 1_000;
        if second >= MAX_SECONDS {
            return Err(bad("is later than a day"));
        }
        let bins = seconds.entry((direction, second as u32)).or_default();
        for (bin, count) in counts.iter().enumerate().filter(|(_, count)| **count > 0) {
            let sum = bins.entry(value_of(bin)).or_default();
            *sum = sum.checked_add(*count).ok_or_else(|| bad("has counts beyond any drive"))?;
        }
    }
    Ok(())
}

/// Returns the value of a bin in nanoseconds, as fio prints it in JSON: its middle (stat.c,
/// plat_idx_to_val).
fn value_of(bin: usize) -> u64 {
    if bin < 128 {
        return bin as u64;
    }
    let shift = bin / 64 - 1;
    (1 << (shift + 6)) + ((bin as u64 % 64) << shift) + (1 << (shift - 1))
}

/// Adds the intervals of one direction, whose sum is the result in the JSON to the request.
fn add_direction(
    course: &mut Course,
    job: &Job,
    direction: Direction,
    side: &Side,
    seconds: &Seconds,
    elapsed: Nanos,
) -> Result<(), ImportError> {
    let contradicts = |what: String| ImportError::contradiction(&job.jobname, &what);
    if side.lat_ns.as_ref().is_some_and(|latency| !latency.bins.is_empty()) {
        let what = "its log has completion latencies, its JSON others (lat_percentiles=1)";
        return Err(ImportError::unfit(&job.jobname, what));
    }
    let latency = side.clat_ns.as_ref().filter(|latency| !latency.bins.is_empty());
    let latency = latency.ok_or_else(|| ImportError::NoBins(job.jobname.clone()))?;
    let mut rest = latency.bins.clone();
    let mut parts: Vec<(u32, BTreeMap<u64, u64>)> = Vec::new();
    let of_direction = seconds.iter().filter(|((one, _), _)| *one == direction);
    for ((_, second), bins) in of_direction {
        for (value, count) in bins {
            let left = rest.get(value).copied().unwrap_or(0).checked_sub(*count);
            let left = left.ok_or_else(|| {
                contradicts(format!("its log has more requests at {value} ns than its JSON"))
            })?;
            rest.insert(*value, left);
        }
        parts.push((*second, bins.clone()));
    }
    if parts.is_empty() {
        let name = direction.name();
        return Err(contradicts(format!("its log has no line of direction {name}")));
    }
    let last = parts.iter().map(|(second, _)| *second).max().unwrap_or(0);
    let present: Vec<u32> = parts.iter().map(|(second, _)| *second).collect();
    parts.extend((0..last).filter(|one| !present.contains(one)).map(|one| (one, BTreeMap::new())));
    parts.sort_by_key(|(second, _)| *second);
    rest.retain(|_, count| *count > 0);
    let lost: u64 = rest.values().sum();
    if lost > 0 {
        course.findings.push(lost_finding(job, direction, lost, latency.counted().unwrap_or(0)));
        parts.push((last + 1, rest));
    }
    let bytes_each = side.io_bytes / side.total_ios;
    // Several block sizes: the last interval has the remainder, so that the sum is that of the JSON.
    let mut remainder = side.io_bytes - bytes_each * side.total_ios;
    let end = parts.len() - 1;
    let histograms = histograms(job, latency, parts.iter().map(|(_, bins)| bins))?;
    for (index, ((second, _), latency)) in parts.iter().zip(histograms).enumerate() {
        let is_rest = *second > last;
        let before = Nanos::SECOND * u64::from(*second);
        let length = if is_rest || *second == last {
            Nanos(elapsed.0.saturating_sub(before.0).max(1_000_000))
        } else {
            Nanos::SECOND
        };
        course.intervals.push(Interval {
            second: *second,
            stream: 0,
            direction,
            length: if is_rest { length } else { length.min(Nanos::SECOND) },
            ios: latency.count(),
            bytes: latency.count() * bytes_each
                + if index == end { std::mem::take(&mut remainder) } else { 0 },
            errors: 0,
            latency,
        });
    }
    Ok(())
}

/// Returns a histogram for each part. Together they have the count, the sum, the minimum and the maximum
/// of `latency`.
fn histograms<'a>(
    job: &Job,
    latency: &Latency,
    parts: impl Iterator<Item = &'a BTreeMap<u64, u64>> + Clone,
) -> Result<Vec<Histogram>, ImportError> {
    let &Latency { min, max, mean, .. } = latency;
    let count = latency.counted().unwrap_or(0);
    let broken = |what: &str| ImportError::contradiction(&job.jobname, what);
    if min > max || !mean.is_finite() || mean < 0.0 {
        return Err(broken("its latencies have no range"));
    }
    let total: u64 = parts.clone().flat_map(BTreeMap::values).sum();
    if total != count {
        return Err(broken(&format!("its bins hold {total} latencies, and it counts {count}")));
    }
    let held = |value: u64| value.clamp(min, max);
    let middle: f64 = parts.clone().flatten().map(|(v, n)| held(*v) as f64 * *n as f64).sum();
    let scale = if middle > 0.0 { mean * count as f64 / middle } else { 1.0 };
    let (mut has_min, mut has_max) = (false, false);
    let lowest = parts.clone().filter_map(|bins| bins.keys().next()).min().copied();
    let highest = parts.clone().filter_map(|bins| bins.keys().next_back()).max().copied();
    let mut histograms = Vec::new();
    for bins in parts {
        let mut values: Vec<(u64, u64)> = bins.iter().map(|(v, n)| (held(*v), *n)).collect();
        let sum: f64 = values.iter().map(|(v, n)| *v as f64 * *n as f64).sum::<f64>() * scale;
        // The smallest and the largest latency are known exactly, and are members of the outer bins.
        if !has_min && bins.keys().next() == lowest.as_ref() && lowest.is_some() {
            has_min = true;
            replace_one(&mut values, 0, min);
        }
        let end = values.len().saturating_sub(1);
        if !has_max && bins.keys().next_back() == highest.as_ref() && highest.is_some() {
            let place = values.iter().rposition(|(v, n)| *n > 0 && *v != min).unwrap_or(end);
            has_max = values.get(place).is_some_and(|(_, n)| *n > 0);
            replace_one(&mut values, place, max);
        }
        values.retain(|(_, n)| *n > 0);
        let first = values.iter().map(|(v, _)| *v).min().unwrap_or(0);
        let last = values.iter().map(|(v, _)| *v).max().unwrap_or(0);
        let n: u64 = values.iter().map(|(_, n)| n).sum();
        let sum = (sum.round() as u128)
            .clamp(u128::from(first) * u128::from(n), u128::from(last) * u128::from(n));
        let histogram = Histogram::from_parts(values, sum, first, last, 0);
        histograms.push(histogram.ok_or_else(|| broken("its latencies are beyond any drive"))?);
    }
    Ok(histograms)
}

/// Replaces one latency at `place` by `value`.
fn replace_one(values: &mut Vec<(u64, u64)>, place: usize, value: u64) {
    if let Some(one) = values.get_mut(place).filter(|one| one.1 > 0) {
        one.1 -= 1;
        values.push((value, 1));
    }
}

fn lost_finding(job: &Job, direction: Direction, lost: u64, of: u64) -> Finding {
    let (name, share) = (direction.name(), lost as f64 * 100.0 / of.max(1) as f64);
    Finding::new(
        FindingKind::Imported,
        Severity::Warning,
        format!(
            "the histogram log of job '{}' lacks {} of {} {name}s ({share:.1} %): the course \
             in time is that of the others; totals and percentiles are those of the JSON",
            job.jobname,
            count(lost),
            count(of)
        ),
        "fio loses windows of this log; a run of ssdgauge records every second",
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bins_have_the_values_that_fio_prints() {
        // Keys of the bins in an output of fio 3.33.
        let known =
            [(0, 0), (127, 127), (128, 129), (129, 131), (191, 255), (192, 258), (255, 510)];
        for (bin, value) in known {
            assert_eq!(value_of(bin), value, "bin {bin}");
        }
        let values: Vec<u64> = (0..BINS).map(value_of).collect();
        assert!(values.windows(2).all(|pair| pair[0] < pair[1]));
        assert!(values[BINS - 1] > 17_000_000_000, "above 17 s");
    }
}
