//! Comparison of the samples of a repeated step with the recorded ones.

use ssdgauge_core::{Interval, Reading};
use ssdgauge_runfile::{RunFile, RunFileError, StepId};

/// A digest of samples, by which a repeated step is compared with its record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Digest {
    count: u64,
    hash: u64,
}

impl Digest {
    const EMPTY: Digest = Digest { count: 0, hash: 0xcbf2_9ce4_8422_2325 };

    /// Adds a sample by its `words` (FNV-1a; Fowler, Noll and Vo).
    fn add(&mut self, words: impl IntoIterator<Item = u64>) {
        self.count += 1;
        for byte in words.into_iter().flat_map(u64::to_le_bytes) {
            self.hash = (self.hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3);
        }
    }

    /// Adds an interval. The exact sum of its latencies stands for their histogram.
    fn add_interval(&mut self, interval: &Interval) {
        let latency = &interval.latency;
        let sum = latency.sum();
        self.add([
            u64::from(interval.second),
            u64::from(interval.stream),
            interval.direction as u64,
            interval.length.0,
            interval.ios,
            interval.bytes,
            interval.errors,
            sum as u64,
            (sum >> 64) as u64,
            latency.min().unwrap_or(u64::MAX),
            latency.max().unwrap_or(u64::MAX),
            latency.overflow(),
        ]);
    }

    fn add_reading(&mut self, reading: &Reading) {
        let texts = reading.instrument.bytes().chain(reading.quantity.bytes()).map(u64::from);
        self.add(texts.chain([reading.at.0, reading.value.to_bits()]));
    }
}

/// Digests of the samples of a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Samples {
    intervals: Digest,
    readings: Digest,
}

impl Samples {
    const NONE: Samples = Samples { intervals: Digest::EMPTY, readings: Digest::EMPTY };

    /// Returns those of the recorded step `id`.
    pub(super) fn recorded(run: &RunFile, id: StepId) -> Result<Samples, RunFileError> {
        let mut samples = Samples::NONE;
        run.sums(id, |interval| samples.intervals.add_interval(&interval))?;
        run.readings(id, |reading| samples.readings.add_reading(reading))?;
        Ok(samples)
    }
}

/// The samples of a repeated step next to the recorded ones.
#[derive(Debug)]
pub(super) struct Comparison {
    recorded: Samples,
    now: Samples,
    /// Whether the readings were equal up to the last recorded one.
    readings_agree: bool,
    /// The readings after the last recorded one: the run was interrupted in the pause.
    missing: Vec<Reading>,
}

impl Comparison {
    /// Returns the comparison with `recorded`, before the first sample.
    pub(super) fn new(recorded: Samples) -> Comparison {
        let readings_agree = recorded.readings == Digest::EMPTY;
        Comparison { recorded, now: Samples::NONE, readings_agree, missing: Vec::new() }
    }

    /// Adds an interval of the repeated step.
    pub(super) fn interval(&mut self, interval: &Interval) {
        self.now.intervals.add_interval(interval);
    }

    /// Adds a reading of the repeated step, or of the pause after it.
    pub(super) fn reading(&mut self, reading: &Reading) {
        if self.now.readings.count >= self.recorded.readings.count {
            self.missing.push(reading.clone());
            return;
        }
        self.now.readings.add_reading(reading);
        if self.now.readings.count == self.recorded.readings.count {
            self.readings_agree = self.now.readings == self.recorded.readings;
        }
    }

    pub(super) fn intervals_agree(&self) -> bool {
        self.now.intervals == self.recorded.intervals
    }

    /// Returns the readings that are not recorded; `None` where the recorded ones differ.
    pub(super) fn missing(&self) -> Option<&[Reading]> {
        self.readings_agree.then_some(self.missing.as_slice())
    }
}
