//! Instruments of a rig: power meters and temperature sensors, mapped to the time of each step.
//!
//! [`ReadingSink`] forwards to the sink of a step and adds the readings each time the step checks
//! for a stop, so that no further thread writes to the sink. This module sends nothing to the
//! drive.

use ssdgauge_core::{Finding, FindingKind, Interval, LogPage, Nanos, Reading, Severity, Sink};
use ssdgauge_meter::{Aggregate, Distribution, Message, Meters, Thermometer};
use std::path::Path;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

/// The maximum number of remarks of one meter that a step reports: a broken meter repeats the same one.
const MAX_REMARKS: u32 = 3;

/// The meters of a rig, and the readings of the step so far.
#[derive(Debug)]
pub(crate) struct Instruments {
    meters: Meters,
    /// The aggregate of each channel of each meter.
    aggregates: Vec<Vec<Aggregate>>,
    /// Whether each meter still responds.
    alive: Vec<bool>,
    remarks: Vec<u32>,
    begin: Instant,
    /// The time from which on the drive is polled again, where polling is suspended.
    poll_from: Option<Instant>,
    /// The distribution of power that the drive measures itself, where it is requested.
    pub distribution: Option<Distribution>,
}

/// Permission of the instruments to poll the drive in a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PollPolicy {
    /// They poll it.
    Poll,
    /// They poll it after the first second: the first request of the workload has to wake the
    /// drive.
    AfterFirstSecond,
    /// They do not poll it: the step is an idle time.
    Silent,
}

impl Default for Instruments {
    fn default() -> Self {
        Instruments::new(Meters::default())
    }
}

impl Instruments {
    /// Returns the temperature sensor of the block device whose folder in sysfs is `folder`.
    pub(crate) fn for_drive(folder: Option<&Path>) -> Instruments {
        let mut meters = Meters::default();
        if let Some(thermometer) = folder.and_then(Thermometer::open) {
            meters.add_thermometer(thermometer);
        }
        Instruments::new(meters)
    }

    /// Returns the period of the temperature readings; `None` where the kernel has no sensor.
    pub(crate) fn temperature_period(&self) -> Option<Duration> {
        // Power meters have a scope, temperature sensors have none.
        let is_thermometer = self.meters.running.iter().any(|running| running.scope.is_none());
        is_thermometer.then_some(Thermometer::PERIOD)
    }

    /// Returns the instruments with `meters`.
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
            poll_from: None,
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

    /// Begins a step: earlier readings are discarded.
    pub(crate) fn begin(&mut self, policy: PollPolicy) {
        self.meters.pause_drive_queries(policy != PollPolicy::Poll);
        let now = Instant::now();
        self.poll_from =
            (policy == PollPolicy::AfterFirstSecond).then(|| now + Duration::from_secs(1));
        for (meter, running) in self.meters.running.iter().enumerate() {
            // The message of a meter that was lost between two steps is reported in the next one.
            if self.alive[meter] {
                self.aggregates[meter].iter_mut().for_each(Aggregate::begin);
            }
            running.lost.store(0, Ordering::Relaxed);
        }
        self.remarks.fill(0);
        self.begin = Instant::now();
    }

    /// Takes the samples of the meters, and forwards the readings of complete seconds.
    fn forward_readings(&mut self, sink: &mut dyn Sink) {
        if self.poll_from.is_some_and(|at| at <= Instant::now()) {
            self.poll_from = None;
            self.meters.pause_drive_queries(false);
        }
        for (meter, running) in self.meters.running.iter().enumerate() {
            // A limit, so that a fast meter cannot delay the check for a stop.
            for message in running.messages.try_iter().take(8_192) {
                let batch = match message {
                    Message::Batch(batch) => batch,
                    Message::Gone(cause) => {
                        self.alive[meter] = false;
                        sink.finding(lost_meter(&running.name, &cause));
                        continue;
                    }
                };
                for sample in &batch.samples {
                    let Some(at) = sample.at.checked_duration_since(self.begin) else { continue };
                    let Some(aggregate) = self.aggregates[meter].get_mut(sample.channel) else {
                        continue;
                    };
                    let nanos =
                        |time: Duration| Nanos(u64::try_from(time.as_nanos()).unwrap_or(u64::MAX));
                    let (at, value) = (nanos(at), running.scaled(sample));
                    let readings = match sample.since {
                        // What a counter counted before the step had the same mean power.
                        Some(since) => {
                            let from = nanos(since.saturating_duration_since(self.begin));
                            aggregate.mean(from, at, value)
                        }
                        None => aggregate.sample(at, value),
                    };
                    readings.iter().for_each(|reading| sink.reading(reading));
                }
                for one in batch.unusable.iter().filter(|one| one.at >= self.begin) {
                    // It is one of the first channel.
                    if let Some(aggregate) = self.aggregates[meter].first_mut() {
                        aggregate.without_number(&one.what);
                    }
                }
                for remark in &batch.warnings {
                    self.remarks[meter] += 1;
                    if self.remarks[meter] <= MAX_REMARKS {
                        sink.finding(meter_remark(&running.name, remark));
                    }
                }
            }
        }
    }

    /// Ends a step after `elapsed`.
    pub(crate) fn finish(&mut self, elapsed: Nanos, sink: &mut dyn Sink) {
        self.forward_readings(sink);
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
                let text = format!("{lost} batches of readings were lost: the queue was full");
                sink.finding(meter_remark(&running.name, &text));
            }
        }
    }
}

fn lost_meter(name: &str, cause: &str) -> Finding {
    Finding::new(
        FindingKind::Meter,
        Severity::Warning,
        format!("{name} is gone: {cause}"),
        "the run continued without it; power and efficiency are missing from here on",
    )
}

fn meter_remark(name: &str, remark: &str) -> Finding {
    let advice = "the mean power of the step is that of the readings received";
    Finding::new(FindingKind::Meter, Severity::Warning, format!("{name}: {remark}"), advice)
}

/// A sink that forwards everything and adds the readings of the instruments.
pub(crate) struct ReadingSink<'a> {
    pub(crate) sink: &'a mut dyn Sink,
    pub(crate) instruments: &'a mut Instruments,
}

impl Sink for ReadingSink<'_> {
    fn interval(&mut self, interval: &Interval) {
        self.sink.interval(interval);
    }

    fn reading(&mut self, reading: &Reading) {
        self.sink.reading(reading);
    }

    fn log_page(&mut self, page: LogPage) {
        self.sink.log_page(page);
    }

    fn finding(&mut self, finding: Finding) {
        self.sink.finding(finding);
    }

    fn announce(&mut self, finding: Finding) -> bool {
        self.sink.announce(finding)
    }

    fn stop(&mut self) -> bool {
        self.instruments.forward_readings(self.sink);
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
            check(&mut ReadingSink { sink: inner, instruments: &mut instruments });
        });
    }
}
