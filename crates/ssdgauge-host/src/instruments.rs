//! The instruments of a rig: meters and thermometers, mapped to the time of each step.
//!
//! It stands between a rig and its sink, and hands readings on whenever the sink is asked whether
//! to stop. It never touches the drive.

use crate::drive::ask;
use crate::drive::wire::{Port, Wire};
use crate::meter::ledger::Ledger;
use crate::meter::{Distribution, LogReader, Message, MeterError, MeterSpec, Meters, Thermometer};
use crate::rig::LinuxRig;
use ssdgauge_core::{Finding, FindingKind, Interval, Nanos, Reading, RigError, Severity, Sink};
use std::fs::File;
use std::path::Path;
use std::sync::Arc;
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
    /// The distribution of power that the drive measures itself, where it is asked for.
    distribution: Option<Distribution>,
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
        let nvme = self.info.details.get("kernel_name").filter(|name| name.starts_with("nvme"));
        let drive = nvme.and_then(|_| self.file().cloned());
        let meters = Meters::open_with(specs, || drive.as_ref().map(log_reader))?;
        let mut described = meters.described(specs);
        self.instruments.add(meters);
        let own = specs.iter().position(MeterSpec::is_of_the_drive);
        if let (Some(place), Some(drive)) = (own, drive) {
            let wire: Arc<dyn Wire> = Arc::new(Port(drive));
            let words = match Distribution::of(wire) {
                Ok(distribution) => {
                    self.instruments.distribution = Some(distribution);
                    ", with the distribution of each step (log 25h)".to_owned()
                }
                Err(reason) => format!(", without a distribution: {reason}"),
            };
            described[place].1.push_str(&words);
        }
        Ok(described)
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
        if quiet == Quiet::No
            && let Some(distribution) = &mut instruments.distribution
            && let Some(finding) = distribution.begin()
        {
            sink.finding(finding);
        }
        instruments.begin(quiet);
        let since = Instant::now();
        let mut watched = Watched { sink, instruments: &mut instruments };
        let result = work(self, &mut watched);
        let elapsed = match &result {
            Ok((_, elapsed)) => *elapsed,
            Err(_) => Nanos(since.elapsed().as_nanos() as u64),
        };
        instruments.finish(elapsed, sink);
        // A drive that failed in the step may be gone, or never answer.
        if let (true, Some(distribution)) = (result.is_ok(), &mut instruments.distribution) {
            let (readings, finding) = distribution.end(elapsed);
            readings.iter().for_each(|reading| sink.reading(reading));
            finding.into_iter().for_each(|finding| sink.finding(finding));
        }
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
        self.watched(quiet, sink, |rig, sink| {
            let begin = Instant::now();
            let end = begin + Duration::from(duration);
            // Who asks keeps a drive awake: not where it shall fall asleep.
            let mut vitals = rig.vitals.as_mut().filter(|_| quiet == Quiet::No);
            if let Some(vitals) = &mut vitals {
                vitals.begin(true, sink);
            }
            while !sink.stop() {
                let left = end.saturating_duration_since(Instant::now());
                if left.is_zero() {
                    break;
                }
                std::thread::sleep(left.min(Duration::from_millis(50)));
            }
            let elapsed = Nanos(begin.elapsed().as_nanos() as u64).min(duration);
            if let Some(vitals) = vitals {
                vitals.end(begin, elapsed, true, sink);
            }
            Ok(((), elapsed))
        })
    }
}

/// Returns what reads the log pages of the NVMe drive that is open as `drive`.
fn log_reader(drive: &Arc<File>) -> LogReader {
    let port = Port(Arc::clone(drive));
    Box::new(move |log, length| ask::log(&port, log, length).map_err(|error| error.to_string()))
}

/// Opens the meters of `specs` to look at them, without a run; `drive` is the NVMe drive whose own
/// figures one of them reads, and is opened for reading alone.
///
/// # Errors
/// The drive that cannot be opened, and the first meter that is not there, does not speak, or
/// reads what cannot be.
pub fn look_at_meters(specs: &[MeterSpec], drive: Option<&Path>) -> Result<Meters, MeterError> {
    let open = |path: &Path| match File::open(path) {
        Ok(file) => Ok(Arc::new(file)),
        Err(error) => {
            let meter = path.display().to_string();
            Err(MeterError::Absent { meter, what: error.to_string() })
        }
    };
    let drive = drive.map(open).transpose()?;
    Meters::open_with(specs, || drive.as_ref().map(log_reader))
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

    /// Returns how often the temperature of the drive is read; `None` where the kernel shows none.
    pub(crate) fn temperature_period(&self) -> Option<Duration> {
        // Power meters have a scope.
        let is_thermometer = self.meters.running.iter().any(|running| running.scope.is_none());
        is_thermometer.then_some(Thermometer::PERIOD)
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
        Instruments {
            meters,
            ledgers,
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
