//! The samples of one step, summed up over all records that are its result.

use crate::contradictions::Contradictions;
use crate::error::RunFileError;
use crate::record::reader::RunFile;
use crate::record::{StepId, StepRecord};
use crate::room::Room;
use ssdgauge_core::{
    AggregatedStep, Bytes, Interval, Nanos, PercentileSeries, Preparation, Reading, Rest,
    SecondAggregator, Step, Totals, Workload,
};
use std::path::Path;

/// More requests in one second than any drive completes. It keeps sums far from overflowing.
const MAX_IOS: u64 = 1 << 44;

/// More bytes, or nanoseconds, in one second than any drive moves.
const MAX_BYTES: u64 = 1 << 54;

/// More intervals of one step than a year of seconds has, for eight streams and two directions.
const MAX_INTERVALS: u64 = 1 << 29;

/// The samples of steps, of a file that is read or of one that is written.
pub(crate) trait Samples {
    /// Calls `take` with every interval of `step`, in the order of recording.
    fn each_interval(
        &self,
        step: StepId,
        take: &mut dyn FnMut(Interval),
    ) -> Result<(), RunFileError>;

    /// Calls `take` with every reading of `step`, in the order of recording.
    fn each_reading(
        &self,
        step: StepId,
        take: &mut dyn FnMut(&Reading),
    ) -> Result<(), RunFileError>;

    /// Returns whether another program measured.
    fn is_imported(&self) -> bool;

    /// Returns the path of the file.
    fn path(&self) -> &Path;
}

impl Samples for RunFile {
    fn each_interval(
        &self,
        step: StepId,
        take: &mut dyn FnMut(Interval),
    ) -> Result<(), RunFileError> {
        self.intervals(step, take)
    }

    fn each_reading(
        &self,
        step: StepId,
        take: &mut dyn FnMut(&Reading),
    ) -> Result<(), RunFileError> {
        self.readings(step, take)
    }

    fn is_imported(&self) -> bool {
        self.head().imported_from().is_some()
    }

    fn path(&self) -> &Path {
        RunFile::path(self)
    }
}

impl RunFile {
    /// Returns the samples of `step` with `workload` from `records`, one after the other, with the
    /// intervals of its percentiles where `percentiles` is true. Calls `see` with each reading of
    /// the step, which returns the bytes of memory that it keeps. The memory of the result is taken
    /// from `room`. What the samples contradict is added to `contradictions`, and readings that cannot
    /// be measured values are left out.
    ///
    /// # Errors
    ///
    /// [`RunFileError::Damaged`] where a record fails its check, [`RunFileError::Impossible`] for
    /// values that no drive can reach, [`RunFileError::TooLarge`] where `room` is too small.
    pub fn samples(
        &self,
        step: &Step,
        workload: &Workload,
        records: &[&StepRecord],
        percentiles: bool,
        checked: (&mut Room, &mut Contradictions),
        mut see: impl FnMut(&Reading) -> usize,
    ) -> Result<AggregatedStep, RunFileError> {
        aggregate(self, (step, workload), records, percentiles, checked, &mut see)
    }
}

/// The minimum time of a step whose latencies are kept over time. Chosen: stalls and cycles show within a minute.
const LEAST_OF_MAP: Nanos = Nanos::from_secs(60);

/// Returns the samples of `step` with its workload from `records`, as [`RunFile::samples`] does.
pub(crate) fn aggregate(
    file: &dyn Samples,
    (step, workload): (&Step, &Workload),
    records: &[&StepRecord],
    percentiles: bool,
    (room, contradictions): (&mut Room, &mut Contradictions),
    see: &mut dyn FnMut(&Reading) -> usize,
) -> Result<AggregatedStep, RunFileError> {
    // Not as plain numbers, whose sum overflows where a prepared file states centuries.
    let recorded = records.iter().filter_map(|record| record.elapsed);
    let recorded = recorded.fold(Nanos::ZERO, |sum, time| sum + time);
    let series =
        percentiles.then(|| PercentileSeries::new(&workload.directions(), recorded)).flatten();
    let has_own_lengths = has_own_lengths(file, records)?;
    // fio counts requests and bytes at other moments than latencies.
    let is_ours = !file.is_imported();
    // Of one stream the whole is the sum; a file may claim any number of streams.
    let mut aggregator = SecondAggregator::new(series)
        .of_workload(workload, Workload::MAX_STREAMS)
        .with_worst_seconds(workload.never_pauses())
        .with_latency_map(percentiles && is_ours && recorded >= LEAST_OF_MAP)
        .with_own_lengths(has_own_lengths);
    let mut wrong = None;
    let mut kept = 0;
    let mut intervals = 0u64;
    let mut elapsed = Nanos::ZERO;
    let mut begin = 0;
    let mut before_this: Option<&StepRecord> = None;
    for record in records {
        // Other steps of a round, or a rest, part the rounds of this one.
        let rests = step.rest != Rest::None;
        if before_this.is_some_and(|last| rests || record.id.0 != last.id.0.saturating_add(1)) {
            aggregator.gap_before(begin);
        }
        before_this = Some(record);
        file.each_interval(record.id, &mut |interval| {
            intervals += 1;
            // Nothing here ends the reading, so the first error is kept and what follows is ignored.
            wrong = wrong.take().or_else(|| impossible(file.path(), &interval, intervals).err());
            wrong = wrong.take().or_else(|| room.check(aggregator.size()).err());
            if wrong.is_none() {
                if is_ours {
                    contradictions.interval(step, &interval);
                }
                let second = interval.second.saturating_add(begin);
                aggregator.interval(Interval { second, ..interval });
            }
        })?;
        let before = Nanos::SECOND * u64::from(begin);
        let time = record.elapsed.unwrap_or(Nanos::ZERO);
        if workload.streams.is_empty() {
            aggregator.seconds_without_load(begin, time);
        }
        file.each_reading(record.id, &mut |reading| {
            // Readings taken after the load, while the drive is idle, do not belong to the step.
            wrong = wrong.take().or_else(|| room.check(kept + aggregator.size()).err());
            if reading.at > time || wrong.is_some() {
                return;
            }
            if !contradictions.reading(reading, time) {
                return;
            }
            kept += see(reading);
            let at = Nanos(reading.at.0.saturating_add(before.0));
            aggregator.reading_at(at, reading);
        })?;
        if wrong.is_some() {
            break;
        }
        aggregator.end_record(time);
        contradictions.end_record(record.elapsed);
        elapsed += time;
        // Rounds never share a second: each one starts at the next full second.
        let seconds = u32::try_from(time.0.div_ceil(Nanos::SECOND.0)).unwrap_or(u32::MAX);
        begin = begin.saturating_add(seconds);
    }
    match wrong {
        Some(error) => Err(error),
        None => {
            let mut samples = aggregator.finish(elapsed);
            room.take(kept + samples.size())?;
            samples.whole.executions = u32::try_from(records.len()).unwrap_or(u32::MAX);
            if let Some(span) = step.action.preparation().and_then(Preparation::trim_span) {
                add_trims(&mut samples.whole, span, records);
            }
            Ok(samples)
        }
    }
}

/// Returns whether `records` are of an imported result without a course in time: one interval for each
/// stream and direction, over its own length.
fn has_own_lengths(file: &dyn Samples, records: &[&StepRecord]) -> Result<bool, RunFileError> {
    if !file.is_imported() {
        return Ok(false);
    }
    let mut has_course = false;
    for record in records {
        file.each_interval(record.id, &mut |interval| has_course |= interval.second > 0)?;
    }
    Ok(!has_course)
}

/// Returns an error where `interval`, number `number` of its step, is impossible.
fn impossible(path: &Path, interval: &Interval, number: u64) -> Result<(), RunFileError> {
    let too_large = interval.ios > MAX_IOS
        || interval.errors > MAX_IOS
        || interval.latency.count() > MAX_IOS
        || interval.bytes > MAX_BYTES
        || interval.length.0 > MAX_BYTES
        || number > MAX_INTERVALS;
    if !too_large {
        return Ok(());
    }
    let what = format!("second {} of a step exceeds the limits of any drive", interval.second);
    Err(RunFileError::Impossible { path: path.to_owned(), what })
}

/// Adds the trims of `span` that are recorded in `records`. One without effect has no time either: a
/// drive that ignores the command is not the fastest.
fn add_trims(whole: &mut Totals, span: Bytes, records: &[&StepRecord]) {
    let had_effect = |record: &&StepRecord| record.prepared().is_some_and(|one| one.had_effect());
    match records.iter().all(had_effect) {
        true => whole.trimmed = span.0.saturating_mul(records.len() as u64),
        false => whole.elapsed = Nanos::ZERO,
    }
}
