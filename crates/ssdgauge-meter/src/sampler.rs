//! Sampler threads: one per open meter, and the readings that they have delivered.
//!
//! A sampler thread sends its samples through a queue of limited length and shares nothing else but
//! flags. It is never joined: a meter that does not respond must not delay the run.

use crate::aggregate::ChannelKind;
use crate::energy_counter::EnergyCounter;
use crate::error::MeterError;
use crate::sample::{Batch, Sample};
use crate::source::interface::{LogReader, OpenContext, Source};
use crate::source::thermometer::Thermometer;
use crate::spec::MeterSpec;
use ssdgauge_core::PowerScope;
use ssdgauge_core::rounded::number;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::time::{Duration, Instant};

/// The batches of a queue. The control thread empties it ten times per second, so it fills only
/// where that thread has stopped.
const MAX_QUEUED_BATCHES: usize = 4_096;
/// The time after which a waiting source returns, so that its thread sees the stop flag.
const STOP_CHECK_PERIOD: Duration = Duration::from_millis(200);
/// The period at which a paused thread checks its flags.
const PAUSE_CHECK_PERIOD: Duration = Duration::from_millis(20);
/// The time limit of the first reading.
const FIRST_READING_TIMEOUT: Duration = Duration::from_secs(5);

/// Open meters with their threads, in the order of their specifications.
#[derive(Debug, Default)]
pub struct Meters {
    /// The meters.
    pub running: Vec<RunningMeter>,
}

/// A reading of a power meter, for a live display.
#[derive(Clone, Debug, PartialEq)]
pub struct LiveReading {
    /// The index of the meter, from 0.
    pub meter: usize,
    /// The time of the reading.
    pub at: Instant,
    /// Power in watts, or the cause of the failure after which no readings follow.
    pub value: Result<f64, String>,
}

/// An open meter with its thread. The thread ends soon after this value is dropped.
#[derive(Debug)]
pub struct RunningMeter {
    /// The name of the meter.
    pub name: String,
    /// The sampling period and the clock of the time stamps, as the run file records them.
    pub(crate) sampling: String,
    /// The channels: instrument, quantity, kind.
    pub channels: Vec<(String, String, ChannelKind)>,
    /// The scope of a power meter; `None` for a thermometer.
    pub scope: Option<PowerScope>,
    /// The queue of the thread.
    pub messages: Receiver<Message>,
    scale: f64,
    /// The batches that were dropped because the queue was full.
    pub lost: Arc<AtomicU64>,
    stop: Arc<AtomicBool>,
    paused: Arc<AtomicBool>,
}

/// A message of a sampler thread.
#[derive(Debug)]
pub enum Message {
    /// Samples.
    Batch(Batch),
    /// The meter failed for this cause, and its thread has ended.
    Gone(String),
}

/// Returns the plausible range of power in `scope`, in watts. A PCIe slot supplies at most 75 W
/// (PCI Express Card Electromechanical Specification), a drive with its own power connector takes
/// more. Values slightly below 0 are offsets of a meter: of a current sensor, 10 uV over a shunt of 5 mohm
/// are 24 mW at 12 V (INA226, data sheet). Meters of hosts resolve tenths of a watt.
fn plausible_range(scope: PowerScope) -> (f64, f64) {
    match scope {
        PowerScope::Drive => (-0.05, 150.0),
        PowerScope::HostDc => (-0.5, 5_000.0),
        PowerScope::HostAc => (-0.5, 20_000.0),
    }
}

impl Meters {
    /// Opens every meter of `specs` and waits for its first reading. `log_reader` returns the log
    /// reader of the drive under test; `None` without an NVMe drive.
    ///
    /// # Errors
    /// A meter does not exist, does not respond, or reads an implausible value. The meters before
    /// it are closed again.
    pub fn open(
        specs: &[MeterSpec],
        mut log_reader: impl FnMut() -> Option<LogReader>,
    ) -> Result<Meters, MeterError> {
        let mut meters = Meters::default();
        for spec in specs {
            let absent = |what| MeterError::Absent { meter: spec.text.clone(), what };
            let context = OpenContext { period: spec.period, log_reader: &mut log_reader };
            let source = spec.source.open(context).map_err(absent)?;
            let source = as_power(source, spec);
            let before = meters.running.iter().filter(|other| other.scope == Some(spec.scope));
            let channel = channel(spec, before.count());
            let (channels, scope) = (vec![channel], Some(spec.scope));
            let meter = RunningMeter::start(&spec.name, source, channels, scope, spec.scale);
            let meter = meter.map_err(absent)?;
            meter.check_first_reading(spec)?;
            meters.running.push(meter);
        }
        Ok(meters)
    }

    /// Returns the name of each meter of `specs`, with its scope, sampling and scale in words, as
    /// the run file records them.
    pub fn described(&self, specs: &[MeterSpec]) -> Vec<(String, String)> {
        debug_assert_eq!(self.running.len(), specs.len(), "the meters of other specifications");
        let describe = |(running, spec): (&RunningMeter, &MeterSpec)| {
            let origin = if spec.scope_is_explicit { "" } else { " (default)" };
            let scale =
                if spec.scale == 1.0 { String::new() } else { format!(", × {}", spec.scale) };
            let text = format!("{}{origin}, {}{scale}", spec.scope.name(), running.sampling);
            (spec.name.clone(), text)
        };
        self.running.iter().zip(specs).map(describe).collect()
    }

    /// Returns the readings since the last call, oldest first for each meter.
    pub fn live(&mut self) -> Vec<LiveReading> {
        let mut readings = Vec::new();
        for (meter, running) in self.running.iter_mut().enumerate() {
            while let Ok(message) = running.messages.try_recv() {
                match message {
                    Message::Batch(batch) => {
                        readings.extend(batch.samples.iter().map(|sample| LiveReading {
                            meter,
                            at: sample.at,
                            value: Ok(running.scaled(sample)),
                        }));
                    }
                    Message::Gone(cause) => {
                        let value = Err(cause);
                        readings.push(LiveReading { meter, at: Instant::now(), value });
                    }
                }
            }
        }
        readings
    }

    /// Adds the temperature sensors of the drive.
    pub fn add_thermometer(&mut self, thermometer: Thermometer) {
        let channels = thermometer.channels.iter().map(|channel| {
            (channel.instrument.clone(), channel.quantity.clone(), channel.kind.clone())
        });
        let channels = channels.collect();
        let source = Box::new(thermometer);
        // Temperatures are additional data: without a thread for them the run continues.
        self.running.extend(RunningMeter::start("temperature", source, channels, None, 1.0));
    }

    /// Pauses or resumes the sources that send commands to the drive.
    pub fn pause_drive_queries(&self, paused: bool) {
        self.running.iter().for_each(|running| running.paused.store(paused, Ordering::Relaxed));
    }
}

/// Returns `source` as a source of power: where it counts energy, its differences.
fn as_power(source: Box<dyn Source>, spec: &MeterSpec) -> Box<dyn Source> {
    let Some(range) = spec.counts.or_else(|| source.counts()) else { return source };
    let (_, most) = plausible_range(spec.scope);
    Box::new(EnergyCounter::new(source, range, most / spec.scale))
}

/// Returns the channel of a power meter with `before` meters of the same scope before it. The first
/// one has the quantity of the scope and reports energy; the others are numbered.
fn channel(spec: &MeterSpec, before: usize) -> (String, String, ChannelKind) {
    let (least, most) = plausible_range(spec.scope);
    let quantity = match before {
        0 => spec.scope.quantity().to_owned(),
        n => spec.scope.quantity().replacen("power", &format!("power{}", n + 1), 1),
    };
    let reports = (before == 0).then_some(spec.scope);
    (spec.name.clone(), quantity, ChannelKind::Power { least, most, reports })
}

impl RunningMeter {
    fn start(
        name: &str,
        mut source: Box<dyn Source>,
        channels: Vec<(String, String, ChannelKind)>,
        scope: Option<PowerScope>,
        scale: f64,
    ) -> Result<RunningMeter, String> {
        let (sender, messages) = sync_channel(MAX_QUEUED_BATCHES);
        let (stop, paused) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicBool::new(false)));
        let lost = Arc::new(AtomicU64::new(0));
        let sampling = source.sampling();
        let flags = (stop.clone(), paused.clone(), lost.clone());
        std::thread::Builder::new()
            .name("ssdgauge-meter".into())
            .spawn(move || run_sampler(source.as_mut(), &sender, &flags))
            .map_err(|error| format!("cannot start a thread: {error}"))?;
        let name = name.to_owned();
        Ok(RunningMeter { name, sampling, channels, scope, messages, scale, lost, stop, paused })
    }

    /// Waits for the first reading and checks that it is plausible: a wrong unit or scope is found
    /// before a run of hours.
    fn check_first_reading(&self, spec: &MeterSpec) -> Result<(), MeterError> {
        let absent = |what: String| MeterError::Absent { meter: spec.text.clone(), what };
        let end = Instant::now() + FIRST_READING_TIMEOUT;
        let mut unusable = String::new();
        loop {
            let left = end.saturating_duration_since(Instant::now());
            let value = match self.messages.recv_timeout(left) {
                Ok(Message::Batch(batch)) => {
                    if let Some(last) = batch.unusable.last() {
                        unusable = format!(": {}", last.what);
                    }
                    batch.samples.first().map(|sample| sample.value)
                }
                Ok(Message::Gone(cause)) => return Err(absent(cause)),
                Err(RecvTimeoutError::Timeout) => {
                    return Err(absent(format!(
                        "it gave no reading within {} s{unusable}",
                        FIRST_READING_TIMEOUT.as_secs()
                    )));
                }
                Err(RecvTimeoutError::Disconnected) => {
                    return Err(absent("its thread has ended".into()));
                }
            };
            let Some(value) = value.map(|value| value * spec.scale) else { continue };
            let (least, most) = plausible_range(spec.scope);
            if !(least..=most).contains(&value) {
                return Err(MeterError::Implausible {
                    meter: spec.text.clone(),
                    value: number(value),
                    scope: match spec.scope {
                        PowerScope::Drive => "a drive",
                        PowerScope::HostDc => "a host behind its power supply",
                        PowerScope::HostAc => "a host at the wall",
                    },
                    least: least.to_string(),
                    most: most.to_string(),
                });
            }
            return Ok(());
        }
    }

    /// Returns the value of a sample in the unit of readings.
    pub fn scaled(&self, sample: &Sample) -> f64 {
        sample.value * self.scale
    }
}

impl Drop for RunningMeter {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
    }
}

/// Runs a sampler thread until it is stopped or its meter fails.
fn run_sampler(
    source: &mut dyn Source,
    sender: &SyncSender<Message>,
    (stop, paused, lost): &(Arc<AtomicBool>, Arc<AtomicBool>, Arc<AtomicU64>),
) {
    while !stop.load(Ordering::Relaxed) {
        if source.wakes_drive() && paused.load(Ordering::Relaxed) {
            std::thread::sleep(PAUSE_CHECK_PERIOD);
            continue;
        }
        let message = match source.next(STOP_CHECK_PERIOD) {
            Ok(batch) if batch == Batch::default() => continue,
            Ok(batch) => Message::Batch(batch),
            Err(cause) => {
                // The last message blocks on a full queue; it must not be dropped like a batch. It
                // fails where the receiver is dropped, and nothing is left to report to.
                let _ = sender.send(Message::Gone(cause));
                return;
            }
        };
        if sender.try_send(message).is_err() {
            lost.fetch_add(1, Ordering::Relaxed);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_meter_that_counts_energy_is_a_source_of_power() {
        let sampling = |text: &str| {
            let spec = MeterSpec::parse(text).unwrap();
            let context = OpenContext { period: None, log_reader: &mut || None };
            as_power(spec.source.open(context).unwrap(), &spec).sampling()
        };
        let program = "command:sleep 600";
        let counted = sampling(&format!("reads=energy@{program}"));
        assert!(counted.starts_with("differences of an energy counter, read "), "{counted}");
        assert!(!sampling(program).contains("counter"));
    }
}
