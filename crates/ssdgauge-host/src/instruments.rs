//! The instruments of a rig: meters and thermometers, mapped to the time of each step.
//!
//! It stands between a rig and its sink, and hands readings on whenever the sink is asked whether
//! to stop. It never touches the drive.

use crate::drive::ask;
use crate::drive::wire::Port;
use crate::meter::ledger::Ledger;
use crate::meter::{LogReader, Message, MeterError, MeterSpec, Meters, Thermometer};
use crate::rig::LinuxRig;
use ssdgauge_core::{Finding, FindingKind, Interval, Nanos, Reading, RigError, Severity, Sink};
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
    ledgers: Vec<Vec<Ledger>>,
    /// Whether each meter still speaks.
    alive: Vec<bool>,
    remarks: Vec<u32>,
    begin: Instant,
    /// When what asks the drive may go on, where it has to be silent for a while.
    loud_at: Option<Instant>,
}

/// Whether instruments may ask something of the drive in a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Quiet {
    /// They may.
    No,
    /// Not before the first second is over: the first request shall be what wakes the drive.
    AtFirst,
    /// They may not.
    Yes,
}

impl Default for Instruments {
    fn default() -> Self {
        Instruments::new(Meters::default())
    }
}

impl LinuxRig {
    /// Opens the power meters of `specs` and lets them read from now on; returns how each is read.
    ///
    /// # Errors
    /// The first meter that is not there, does not speak, or reads what cannot be.
    pub fn attach(&mut self, specs: &[MeterSpec]) -> Result<Vec<(String, String)>, MeterError> {
        let meters = Meters::open_with(specs, || self.log_reader())?;
        let described = meters.described(specs);
        self.instruments.add(meters);
        Ok(described)
    }

    /// Returns what reads the log pages of an NVMe drive.
    fn log_reader(&self) -> Option<LogReader> {
        self.info.details.get("kernel_name").filter(|name| name.starts_with("nvme"))?;
        let port = Port(self.file()?.clone());
        Some(Box::new(move |log, length| {
            ask::log(&port, log, length).map_err(|error| error.to_string())
        }))
    }

    /// Does `work` with the instruments reading; `quiet` says whether they may ask the drive.
    pub(crate) fn watched<T>(
        &mut self,
        quiet: Quiet,
        sink: &mut dyn Sink,
        work: impl FnOnce(&mut LinuxRig, &mut dyn Sink) -> Result<(T, Nanos), RigError>,
    ) -> Result<T, RigError> {
        self.was_idle = quiet == Quiet::Yes;
        let mut instruments = std::mem::take(&mut self.instruments);
        instruments.begin(quiet);
        let since = Instant::now();
        let mut watched = Watched { sink, instruments: &mut instruments };
        let result = work(self, &mut watched);
        let elapsed = match &result {
            Ok((_, elapsed)) => *elapsed,
            Err(_) => Nanos(since.elapsed().as_nanos() as u64),
        };
        instruments.finish(elapsed, sink);
        self.instruments = instruments;
        result.map(|(value, _)| value)
    }

    /// Leaves the drive alone for `duration`, or until the sink stops it.
    pub(crate) fn leave_alone(
        &mut self,
        duration: Nanos,
        quiet: Quiet,
        sink: &mut dyn Sink,
    ) -> Result<(), RigError> {
        self.watched(quiet, sink, |_, sink| {
            let begin = Instant::now();
            let end = begin + Duration::from(duration);
            while !sink.stop() {
                let left = end.saturating_duration_since(Instant::now());
                if left.is_zero() {
                    break;
                }
                std::thread::sleep(left.min(Duration::from_millis(50)));
            }
            Ok(((), Nanos(begin.elapsed().as_nanos() as u64).min(duration)))
        })
    }
}

impl Instruments {
    /// Returns what the kernel shows of the block device whose folder in /sys is `folder`.
    pub(crate) fn of_drive(folder: Option<&Path>) -> Instruments {
        let mut meters = Meters::default();
        if let Some(thermometer) = folder.and_then(Thermometer::of) {
            meters.add_thermometer(thermometer);
        }
        Instruments::new(meters)
    }

    pub(crate) fn new(meters: Meters) -> Instruments {
        let ledgers = meters.running.iter().map(|running| {
            let channels = running.channels.iter();
            channels
                .map(|(name, quantity, kind)| Ledger::new(name, quantity, kind.clone()))
                .collect()
        });
        let ledgers: Vec<Vec<Ledger>> = ledgers.collect();
        let n = ledgers.len();
        let (alive, remarks) = (vec![true; n], vec![0; n]);
        Instruments { meters, ledgers, alive, remarks, begin: Instant::now(), loud_at: None }
    }

    /// Adds meters that were opened later.
    pub(crate) fn add(&mut self, meters: Meters) {
        let mut all = std::mem::take(&mut self.meters);
        all.running.extend(meters.running);
        *self = Instruments::new(all);
    }

    /// Begins a step: what was read before is of no interest.
    pub(crate) fn begin(&mut self, quiet: Quiet) {
        self.meters.keep_quiet(quiet != Quiet::No);
        let now = Instant::now();
        self.loud_at = (quiet == Quiet::AtFirst).then(|| now + Duration::from_secs(1));
        for (meter, running) in self.meters.running.iter().enumerate() {
            // A meter that went between two steps is told in the next one: its word is kept.
            if self.alive[meter] {
                self.ledgers[meter].iter_mut().for_each(Ledger::begin);
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
            self.meters.keep_quiet(false);
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
                    let Some(ledger) = self.ledgers[meter].get_mut(sample.channel) else {
                        continue;
                    };
                    let at = Nanos(u64::try_from(at.as_nanos()).unwrap_or(u64::MAX));
                    let readings = ledger.sample(at, running.scaled(sample));
                    readings.iter().for_each(|reading| sink.reading(reading));
                }
                for remark in &batch.remarks {
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
            for ledger in &mut self.ledgers[meter] {
                let (readings, findings) = ledger.finish(elapsed);
                readings.iter().for_each(|reading| sink.reading(reading));
                if self.alive[meter] {
                    findings.into_iter().for_each(|finding| sink.finding(finding));
                }
                ledger.begin();
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

    fn stop(&mut self) -> bool {
        self.instruments.pump(self.sink);
        self.sink.stop()
    }
}
