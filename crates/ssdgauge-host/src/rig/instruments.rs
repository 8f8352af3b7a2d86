//! The instruments of a rig: meters and thermometers, mapped to the time of each step.
//!
//! It stands between a rig and its sink, and hands readings on whenever the sink is asked whether
//! to stop. It never touches the drive.

use ssdgauge_core::{Finding, FindingKind, Interval, Nanos, Reading, Severity, Sink};
use ssdgauge_meter::{Aggregate, Distribution, Message, Meters, Thermometer};
use std::path::Path;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

/// The remarks of one meter that a step keeps: each of them says the same.
const MOST_REMARKS: u32 = 3;

/// The meters of a rig with their books.
#[derive(Debug)]
pub(crate) struct Instruments {
    meters: Meters,
    /// The books of each channel of each meter.
    aggregates: Vec<Vec<Aggregate>>,
    /// Whether each meter still speaks.
    alive: Vec<bool>,
    remarks: Vec<u32>,
    begin: Instant,
    /// When what asks the drive may go on, where it has to be silent for a while.
    loud_at: Option<Instant>,
    /// The distribution of power that the drive measures itself, where it is asked for.
    pub distribution: Option<Distribution>,
}

/// Whether instruments may ask something of the drive in a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PollPolicy {
    /// They may.
    Poll,
    /// Not before the first second is over: the first request shall be what wakes the drive.
    AfterFirstSecond,
    /// They may not.
    Silent,
}

impl Default for Instruments {
    fn default() -> Self {
        Instruments::new(Meters::default())
    }
}

impl Instruments {
    /// Returns what the kernel shows of the block device whose folder in /sys is `folder`.
    pub(crate) fn of_drive(folder: Option<&Path>) -> Instruments {
        let mut meters = Meters::default();
        if let Some(thermometer) = folder.and_then(Thermometer::open) {
            meters.add_thermometer(thermometer);
        }
        Instruments::new(meters)
    }

    /// Returns how often the temperature of the drive is read; `None` where the kernel shows none.
    pub(crate) fn temperature_period(&self) -> Option<Duration> {
        // Power meters have a scope.
        let is_thermometer = self.meters.running.iter().any(|running| running.scope.is_none());
        is_thermometer.then_some(Thermometer::PERIOD)
    }

    pub(crate) fn new(meters: Meters) -> Instruments {
        let aggregates = meters.running.iter().map(|running| {
            let channels = running.channels.iter();
            channels
                .map(|(name, quantity, kind)| Aggregate::new(name, quantity, kind.clone()))
                .collect()
        });
        let aggregates: Vec<Vec<Aggregate>> = aggregates.collect();
        let n = aggregates.len();
        let (alive, remarks) = (vec![true; n], vec![0; n]);
        Instruments {
            meters,
            aggregates,
            alive,
            remarks,
            begin: Instant::now(),
            loud_at: None,
            distribution: None,
        }
    }

    /// Adds meters that were opened later.
    pub(crate) fn add(&mut self, meters: Meters) {
        let mut all = std::mem::take(&mut self.meters);
        all.running.extend(meters.running);
        let distribution = self.distribution.take();
        *self = Instruments { distribution, ..Instruments::new(all) };
    }

    /// Begins a step: what was read before is of no interest.
    pub(crate) fn begin(&mut self, quiet: PollPolicy) {
        self.meters.pause_drive_queries(quiet != PollPolicy::Poll);
        let now = Instant::now();
        self.loud_at =
            (quiet == PollPolicy::AfterFirstSecond).then(|| now + Duration::from_secs(1));
        for (meter, running) in self.meters.running.iter().enumerate() {
            // A meter that went between two steps is told in the next one: its word is kept.
            if self.alive[meter] {
                self.aggregates[meter].iter_mut().for_each(Aggregate::begin);
            }
            running.lost.store(0, Ordering::Relaxed);
        }
        self.remarks.fill(0);
        self.begin = Instant::now();
    }

    /// Takes in what the meters have read, and hands on the seconds that are complete.
    fn pump(&mut self, sink: &mut dyn Sink) {
        if self.loud_at.is_some_and(|at| at <= Instant::now()) {
            self.loud_at = None;
            self.meters.pause_drive_queries(false);
        }
        for (meter, running) in self.meters.running.iter().enumerate() {
            // A queue has a length: so many messages at most in a turn.
            for message in running.messages.try_iter().take(8_192) {
                let batch = match message {
                    Message::Batch(batch) => batch,
                    Message::Gone(cause) => {
                        self.alive[meter] = false;
                        sink.finding(gone(&running.name, &cause));
                        continue;
                    }
                };
                for sample in &batch.samples {
                    let Some(at) = sample.at.checked_duration_since(self.begin) else { continue };
                    let Some(aggregate) = self.aggregates[meter].get_mut(sample.channel) else {
                        continue;
                    };
                    let at = Nanos(u64::try_from(at.as_nanos()).unwrap_or(u64::MAX));
                    let readings = aggregate.sample(at, running.scaled(sample));
                    readings.iter().for_each(|reading| sink.reading(reading));
                }
                for remark in &batch.warnings {
                    self.remarks[meter] += 1;
                    if self.remarks[meter] <= MOST_REMARKS {
                        sink.finding(remarked(&running.name, remark));
                    }
                }
            }
        }
    }

    /// Ends a step after `elapsed`.
    pub(crate) fn finish(&mut self, elapsed: Nanos, sink: &mut dyn Sink) {
        self.pump(sink);
        for (meter, running) in self.meters.running.iter().enumerate() {
            for aggregate in &mut self.aggregates[meter] {
                let (readings, findings) = aggregate.finish(elapsed);
                readings.iter().for_each(|reading| sink.reading(reading));
                if self.alive[meter] {
                    findings.into_iter().for_each(|finding| sink.finding(finding));
                }
                aggregate.begin();
            }
            let lost = running.lost.swap(0, Ordering::Relaxed);
            if lost > 0 {
                let text = format!("{lost} batches of readings came faster than they were taken");
                sink.finding(remarked(&running.name, &text));
            }
        }
    }
}

fn gone(name: &str, cause: &str) -> Finding {
    Finding::new(
        FindingKind::Meter,
        Severity::Warning,
        format!("{name} is gone: {cause}"),
        "the run went on without it; power and efficiency end here",
    )
}

fn remarked(name: &str, remark: &str) -> Finding {
    let advice = "the mean power of the step rests on the readings that came";
    Finding::new(FindingKind::Meter, Severity::Warning, format!("{name}: {remark}"), advice)
}

/// A sink that hands on what a rig hands over, and readings besides.
pub(crate) struct Watched<'a> {
    pub(crate) sink: &'a mut dyn Sink,
    pub(crate) instruments: &'a mut Instruments,
}

impl Sink for Watched<'_> {
    fn interval(&mut self, interval: &Interval) {
        self.sink.interval(interval);
    }

    fn reading(&mut self, reading: &Reading) {
        self.sink.reading(reading);
    }

    fn finding(&mut self, finding: Finding) {
        self.sink.finding(finding);
    }

    fn announce(&mut self, finding: Finding) -> bool {
        self.sink.announce(finding)
    }

    fn stop(&mut self) -> bool {
        self.instruments.pump(self.sink);
        self.sink.stop()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sink_that_adds_readings_forwards_every_call() {
        ssdgauge_core::check_forwarding(|inner, check| {
            let mut instruments = Instruments::default();
            check(&mut Watched { sink: inner, instruments: &mut instruments });
        });
    }
}
