//! The samples of a job of fio: one interval for each direction.

use crate::import_error::ImportError;
use crate::output::{Job, Latency, Side};
use ssdgauge_core::{Direction, Histogram, Interval, Nanos};

/// The maximum number of requests and bytes of a job, and nanoseconds of all its latencies together, such as those of 256
/// requests in flight for 25 days: sums over a thousand jobs stay within 63 bits, and are checked.
const MAX_IOS: u64 = 1 << 40;
const MAX_BYTES: u64 = 1 << 52;
pub(crate) const MAX_LATENCY_SUM: f64 = (1u64 << 59) as f64;
/// The longest duration: 99 days.
const MAX_RUNTIME_MS: u64 = 1 << 33;

/// Checks that no number of a job is beyond any drive.
pub(crate) fn check_limits(job: &Job) -> Result<(), ImportError> {
    for side in [&job.read, &job.write].into_iter().chain(&job.trim).chain(&job.mixed) {
        let sums = [&side.clat_ns, &side.lat_ns].into_iter().flatten();
        let sum = sums.map(|one| one.mean * one.counted().unwrap_or(side.total_ios) as f64);
        let sum = sum.fold(0.0, f64::max);
        let is_counted = side.total_ios <= MAX_IOS && side.io_bytes <= MAX_BYTES;
        if !is_counted || side.runtime > MAX_RUNTIME_MS || sum > MAX_LATENCY_SUM {
            return Err(ImportError::unfit(
                &job.jobname,
                "its counts are beyond those of any drive",
            ));
        }
    }
    Ok(())
}

/// Returns the requests of one direction as one interval of stream 0; `None` where there are none.
pub(crate) fn interval_of(
    job: &Job,
    direction: Direction,
    side: &Side,
    length: Nanos,
) -> Result<Option<Interval>, ImportError> {
    if side.total_ios == 0 {
        return Ok(None);
    }
    let latency = match latency_of(side) {
        None => Histogram::default(),
        Some(latency) if latency.bins.is_empty() => stated(job, latency, side.total_ios)?,
        Some(latency) => histogram_of(job, latency)?,
    };
    Ok(Some(Interval {
        second: 0,
        stream: 0,
        direction,
        length,
        ios: side.total_ios,
        bytes: side.io_bytes,
        errors: 0,
        latency,
    }))
}

/// Returns the latencies of `side`: whole ones where fio was told to put them into bins or percentiles
/// (`lat_percentiles`), otherwise their larger part; `None` where it measured none.
pub(crate) fn latency_of(side: &Side) -> Option<&Latency> {
    let is_measured =
        |latency: &&Latency| latency.counted().is_none_or(|count| count > 0) && latency.max > 0;
    let both = [&side.lat_ns, &side.clat_ns].map(|one| one.as_ref().filter(is_measured));
    let first = |has: fn(&Latency) -> bool| both.into_iter().flatten().find(|one| has(one));
    let [whole, larger_part] = both;
    first(|latency| !latency.bins.is_empty())
        .or_else(|| first(|latency| !latency.percentiles.is_empty()))
        .or(larger_part)
        .or(whole)
}

/// Returns whether the latencies of `side` are whole ones.
pub(crate) fn has_whole_latency(side: &Side) -> bool {
    let same = |whole: &Latency| latency_of(side).is_some_and(|used| std::ptr::eq(used, whole));
    side.lat_ns.as_ref().is_some_and(same)
}

/// Returns the mean, minimum, maximum and percentiles that fio states, for `count` requests: after a ramp
/// it counts requests and latencies from different moments on.
fn stated(job: &Job, latency: &Latency, count: u64) -> Result<Histogram, ImportError> {
    let &Latency { min, max, mean, .. } = latency;
    check_order(job, latency)?;
    let is_ascending = latency.percentiles.is_sorted_by(|one, other| one.1 <= other.1);
    if min > max || !mean.is_finite() || mean < 0.0 || !is_ascending {
        let what = "its mean, minimum, maximum and percentiles are not of one set of latencies";
        return Err(ImportError::contradiction(&job.jobname, what));
    }
    let figures = (count, sum_of(latency, count), min, max);
    Ok(Histogram::from_stated(figures, &latency.percentiles))
}

/// Refuses a mean, percentiles or bins beyond the smallest or the largest latency: fio prints them within its
/// bins, 64 for each octave, and the mean with six digits after the point.
fn check_order(job: &Job, latency: &Latency) -> Result<(), ImportError> {
    let (min, max) = (latency.min as f64, latency.max as f64);
    let most = max * (1.0 + 2.0 / 64.0) + 1.0;
    let least = min * (1.0 - 2.0 / 64.0) - 1.0;
    let bins = latency.bins.iter().filter(|(_, n)| **n > 0).map(|(value, _)| *value);
    let percentiles = latency.percentiles.iter().map(|(_, value)| *value);
    // Early versions fill the list with zeros.
    let values = bins.chain(percentiles.filter(|value| *value > 0)).map(|value| value as f64);
    let outside = values.chain([latency.mean]).find(|value| *value > most || *value < least);
    match outside {
        Some(value) => {
            let what = format!(
                "{value} ns is not between its smallest and largest latency, {min} and {max} ns"
            );
            Err(ImportError::contradiction(&job.jobname, &what))
        }
        None => Ok(()),
    }
}

/// Returns the sum of `count` latencies with the mean of `latency`.
fn sum_of(latency: &Latency, count: u64) -> u128 {
    let sum = (latency.mean * count as f64).round() as u128;
    let [least, most] = [latency.min, latency.max].map(|one| u128::from(one) * u128::from(count));
    sum.clamp(least, most)
}

/// Returns the histogram of the bins, with the exact sum, minimum and maximum of fio.
fn histogram_of(job: &Job, latency: &Latency) -> Result<Histogram, ImportError> {
    let &Latency { min, max, mean, ref bins, .. } = latency;
    let count = latency.counted().unwrap_or(0);
    check_order(job, latency)?;
    // The value of a bin is its middle, which can lie beyond the smallest and the largest latency.
    let mut values: Vec<(u64, u64)> = bins
        .iter()
        .filter(|(_, n)| **n > 0)
        .map(|(value, n)| ((*value).max(min).min(max.max(min)), *n))
        .collect();
    let total = values.iter().try_fold(0u64, |sum, (_, n)| sum.checked_add(*n));
    let what = match total {
        None => Some(format!("its bins hold more latencies than {}", u64::MAX)),
        Some(total) if total != count => {
            Some(format!("its bins hold {total} latencies, and it counts {count}"))
        }
        Some(_) if min > max => {
            Some(format!("its minimum of {min} ns is above its maximum of {max} ns"))
        }
        Some(_) if !mean.is_finite() || mean < 0.0 => Some(format!("its mean is {mean} ns")),
        Some(_) => None,
    };
    if let Some(what) = what {
        return Err(ImportError::contradiction(&job.jobname, &what));
    }
    // The smallest and the largest latency are known exactly, and are members of the outer bins.
    if let Some(first) = values.first_mut() {
        first.1 -= 1;
        values.push((min, 1));
    }
    if let Some(last) = values.iter_mut().rev().skip(1).find(|(_, n)| *n > 0) {
        last.1 -= 1;
        values.push((max, 1));
    }
    values.retain(|(_, n)| *n > 0);
    Histogram::from_parts(values, sum_of(latency, count), min, max, 0).ok_or_else(|| {
        ImportError::contradiction(
            &job.jobname,
            "its smallest or largest latency is in none of its bins",
        )
    })
}
