//! The samples of a job of fio: one interval for each direction.

use crate::import_error::ImportError;
use crate::output::{Job, Latency, Side};
use ssdgauge_core::{Direction, Histogram, Interval, Nanos};

/// The most requests and bytes of a job, and nanoseconds of all its latencies together: no drive reaches
/// them, and sums over jobs stay within 64 bits.
const MAX_IOS: u64 = 1 << 40;
const MAX_BYTES: u64 = 1 << 52;
const MAX_LATENCY_SUM: f64 = (1u64 << 52) as f64;
/// The longest duration: 99 days.
const MAX_RUNTIME_MS: u64 = 1 << 33;

/// Checks that no number of a job is beyond any drive.
pub(crate) fn check_limits(job: &Job) -> Result<(), ImportError> {
    for side in [&job.read, &job.write].into_iter().chain(&job.mixed) {
        let sums = [&side.clat_ns, &side.lat_ns].into_iter().flatten();
        let sum = sums.map(|latency| latency.mean * latency.count as f64).fold(0.0, f64::max);
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

/// Returns the requests of one direction as one interval; `None` where there are none.
pub(crate) fn interval_of(
    job: &Job,
    stream: u16,
    direction: Direction,
    side: &Side,
    length: Nanos,
) -> Result<Option<Interval>, ImportError> {
    if side.total_ios == 0 {
        return Ok(None);
    }
    let has_bins = |latency: &&Latency| latency.bins.as_ref().is_some_and(|bins| !bins.is_empty());
    // The whole latency where fio was told to put it into bins, otherwise its larger part.
    let latency = side.lat_ns.as_ref().filter(has_bins);
    let latency = latency.or_else(|| side.clat_ns.as_ref().filter(has_bins));
    let latency = latency.ok_or_else(|| ImportError::NoBins(job.jobname.clone()))?;
    Ok(Some(Interval {
        second: 0,
        stream,
        direction,
        length,
        ios: side.total_ios,
        bytes: side.io_bytes,
        errors: 0,
        latency: histogram_of(job, latency)?,
    }))
}

/// Returns the histogram of the bins, with the exact sum, minimum and maximum of fio.
fn histogram_of(job: &Job, latency: &Latency) -> Result<Histogram, ImportError> {
    let &Latency { min, max, mean, count, ref bins } = latency;
    let bins = bins.as_ref().into_iter().flatten();
    // The value of a bin is its middle, which can lie beyond the smallest and the largest latency.
    let mut values: Vec<(u64, u64)> = bins
        .filter(|(_, n)| **n > 0)
        .map(|(value, n)| ((*value).max(min).min(max.max(min)), *n))
        .collect();
    let total = values.iter().try_fold(0u64, |sum, (_, n)| sum.checked_add(*n));
    if total != Some(count) || min > max || !mean.is_finite() || mean < 0.0 {
        let what = format!("its bins hold {total:?} latencies, and it counts {count}");
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
    let sum = (mean * count as f64).round() as u128;
    let sum = sum.clamp(u128::from(min) * u128::from(count), u128::from(max) * u128::from(count));
    Histogram::from_parts(values, sum, min, max, 0).ok_or_else(|| {
        ImportError::contradiction(
            &job.jobname,
            "its smallest or largest latency is in none of its bins",
        )
    })
}
