//! The threads that read meters, and what they have read so far.
//!
//! A sampler thread hands its samples over a queue of limited length and touches nothing else. It
//! is never waited for: a meter that hangs hangs alone.

use crate::aggregate::Kind;
use crate::error::MeterError;
use crate::sample::Batch;
use crate::sample::Sample;
use crate::source::FIRST;
use crate::source::Source;
use crate::source::command::Command;
use crate::source::http::Http;
use crate::source::hwmon;
use crate::source::nvme;
use crate::source::quarch::Quarch;
use crate::source::thermometer::Thermometer;
use crate::spec::MeterSpec;
use crate::spec::SourceSpec;
use ssdgauge_core::PowerScope;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::time::{Duration, Instant};

/// The batches that wait to be taken; the control thread looks ten times a second.
const MOST_WAITING: usize = 4_096;
/// How long a source waits before it looks whether it shall end.
const PATIENCE: Duration = Duration::from_millis(200);

/// Some power meters that read, from the first opened to the last.
#[derive(Debug, Default)]
pub struct Meters {
    /// The meters whose threads run.
    pub running: Vec<Running>,
}

/// What a power meter has to say at a moment.
#[derive(Clone, Debug, PartialEq)]
pub struct Live {
    /// Its place among the meters, from 0.
    pub meter: usize,
    /// When it was read.
    pub at: Instant,
    /// Watts, or why there will be no more.
    pub value: Result<f64, String>,
}

/// A meter with its thread.
#[derive(Debug)]
pub struct Running {
    /// What it is called.
    pub name: String,
    /// How it is read, for the run file.
    pub(crate) manner: String,
    /// What its channels read: instrument, quantity, kind.
    pub channels: Vec<(String, String, Kind)>,
    /// What it measures, where it is a power meter.
    pub scope: Option<PowerScope>,
    pub messages: Receiver<Message>,
    scale: f64,
    /// Batches that nobody took in time.
    pub lost: Arc<AtomicU64>,
    stop: Arc<AtomicBool>,
    paused: Arc<AtomicBool>,
}

/// What a sampler thread says.
#[derive(Debug)]
pub enum Message {
    /// Samples that were read.
    Batch(Batch),
    /// The meter is gone, and why.
    Gone(String),
}

/// Returns what can be in `scope`, in watts. A drive in a slot takes at most 75 W (PCIe CEM), one
/// with a power connector of its own more; negative values of a few milliwatts are offsets.
fn plausible(scope: PowerScope) -> (f64, f64) {
    match scope {
        PowerScope::Drive => (-0.5, 150.0),
        PowerScope::HostDc => (-0.5, 5_000.0),
        PowerScope::HostAc => (-0.5, 20_000.0),
    }
}

impl Meters {
    /// Opens every meter of `specs` and waits for its first reading. `drive` reads log pages of
    /// the drive under test, where there is one that has them.
    ///
    /// # Errors
    /// The first meter that is not there, does not speak, or reads what cannot be.
    pub fn open_with(
        specs: &[MeterSpec],
        mut drive: impl FnMut() -> Option<nvme::LogReader>,
    ) -> Result<Meters, MeterError> {
        let mut meters = Meters::default();
        for spec in specs {
            let absent = |what| MeterError::Absent { meter: spec.text.clone(), what };
            let source = open(spec, Path::new(hwmon::CLASS), &mut drive).map_err(absent)?;
            let before = meters.running.iter().filter(|other| other.scope == Some(spec.scope));
            let channel = channel(spec, before.count());
            let running =
                Running::start(&spec.name, source, vec![channel], Some(spec.scope), spec.scale);
            let mut running = running.map_err(absent)?;
            running.first(spec)?;
            meters.running.push(running);
        }
        Ok(meters)
    }

    /// Returns for each meter of `specs` its name, and what it measures how, as a run file keeps
    /// them.
    pub fn described(&self, specs: &[MeterSpec]) -> Vec<(String, String)> {
        let describe = |(running, spec): (&Running, &MeterSpec)| {
            let said = if spec.scope_is_said { "" } else { " (usual for its kind)" };
            let scale =
                if spec.scale == 1.0 { String::new() } else { format!(", × {}", spec.scale) };
            let text = format!("{}{said}, {}{scale}", spec.scope.name(), running.manner);
            (spec.name.clone(), text)
        };
        self.running.iter().zip(specs).map(describe).collect()
    }

    /// Returns what the meters said since the last call, oldest first for each.
    pub fn live(&mut self) -> Vec<Live> {
        let mut lives = Vec::new();
        for (meter, running) in self.running.iter_mut().enumerate() {
            while let Ok(message) = running.messages.try_recv() {
                match message {
                    Message::Batch(batch) => {
                        lives.extend(batch.samples.iter().map(|sample| Live {
                            meter,
                            at: sample.at,
                            value: Ok(sample.value * running.scale),
                        }));
                    }
                    Message::Gone(cause) => {
                        lives.push(Live { meter, at: Instant::now(), value: Err(cause) });
                    }
                }
            }
        }
        lives
    }

    /// Adds the temperature sensors of the drive.
    pub fn add_thermometer(&mut self, thermometer: Thermometer) {
        let channels = thermometer.channels.iter().map(|channel| {
            let kind = if channel.is_alarm { Kind::Alarm } else { Kind::Temperature };
            (channel.instrument.clone(), channel.quantity.clone(), kind)
        });
        let channels = channels.collect();
        let source = Source::Thermometer(thermometer);
        // A drive that cannot be felt is tested all the same.
        self.running.extend(Running::start("temperature", source, channels, None, 1.0));
    }

    /// Keeps silent whatever asks something of the drive, or lets it go on.
    pub fn keep_quiet(&self, quiet: bool) {
        self.running.iter().for_each(|running| running.paused.store(quiet, Ordering::Relaxed));
    }
}

/// Returns what a power meter reads: the first of its scope is the one that counts.
fn channel(spec: &MeterSpec, before: usize) -> (String, String, Kind) {
    let (least, most) = plausible(spec.scope);
    let quantity = match before {
        0 => spec.scope.quantity().to_owned(),
        n => spec.scope.quantity().replacen("power", &format!("power{}", n + 1), 1),
    };
    let energy = (before == 0).then(|| spec.scope.energy_quantity());
    (spec.name.clone(), quantity, Kind::Power { least, most, energy })
}

fn open(
    spec: &MeterSpec,
    hwmon: &Path,
    drive: &mut dyn FnMut() -> Option<nvme::LogReader>,
) -> Result<Source, String> {
    let period = spec.period;
    Ok(match &spec.source {
        SourceSpec::Hwmon { chip, channel } => {
            Source::Hwmon(hwmon::Hwmon::open(hwmon, chip, *channel, period)?)
        }
        SourceSpec::Quarch { address, module } => {
            Source::Quarch(Box::new(Quarch::open(address, module, period)?))
        }
        SourceSpec::Nvme => {
            let read = drive().ok_or("the target is no NVMe drive that can be asked")?;
            Source::Nvme(nvme::NvmePower::open(read, period)?)
        }
        SourceSpec::Command { words, pointer } => {
            Source::Command(Command::open(words, pointer.as_deref(), period)?)
        }
        SourceSpec::Http { url, pointer } => {
            Source::Http(Box::new(Http::open(url, pointer, period)?))
        }
    })
}

impl Running {
    fn start(
        name: &str,
        mut source: Source,
        channels: Vec<(String, String, Kind)>,
        scope: Option<PowerScope>,
        scale: f64,
    ) -> Result<Running, String> {
        let (sender, messages) = sync_channel(MOST_WAITING);
        let (stop, paused) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicBool::new(false)));
        let lost = Arc::new(AtomicU64::new(0));
        let manner = source.manner();
        let flags = (stop.clone(), paused.clone(), lost.clone());
        std::thread::Builder::new()
            .name("ssdgauge-meter".into())
            .spawn(move || sample(&mut source, &sender, &flags))
            .map_err(|error| format!("cannot start a thread: {error}"))?;
        let name = name.to_owned();
        Ok(Running { name, manner, channels, scope, messages, scale, lost, stop, paused })
    }

    /// Waits for the first reading, and sees whether it can be.
    fn first(&mut self, spec: &MeterSpec) -> Result<(), MeterError> {
        let absent = |what: String| MeterError::Absent { meter: spec.text.clone(), what };
        let end = Instant::now() + FIRST;
        loop {
            let left = end.saturating_duration_since(Instant::now());
            let value = match self.messages.recv_timeout(left) {
                Ok(Message::Batch(batch)) => batch.samples.first().map(|sample| sample.value),
                Ok(Message::Gone(cause)) => return Err(absent(cause)),
                Err(RecvTimeoutError::Timeout) => {
                    return Err(absent(format!("it gave no reading within {FIRST:?}")));
                }
                Err(RecvTimeoutError::Disconnected) => return Err(absent("it is gone".into())),
            };
            let Some(value) = value.map(|value| value * spec.scale) else { continue };
            let (least, most) = plausible(spec.scope);
            if !(least..=most).contains(&value) {
                return Err(MeterError::Implausible {
                    meter: spec.text.clone(),
                    value: value.to_string(),
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

    /// Returns a sample in the units of readings.
    pub fn scaled(&self, sample: &Sample) -> f64 {
        sample.value * self.scale
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
    }
}

/// The life of a sampler thread.
fn sample(
    source: &mut Source,
    sender: &SyncSender<Message>,
    (stop, paused, lost): &(Arc<AtomicBool>, Arc<AtomicBool>, Arc<AtomicU64>),
) {
    while !stop.load(Ordering::Relaxed) {
        if source.asks_the_drive() && paused.load(Ordering::Relaxed) {
            std::thread::sleep(Duration::from_millis(20));
            continue;
        }
        let message = match source.next(PATIENCE) {
            Ok(batch) if batch == Batch::default() => continue,
            Ok(batch) => Message::Batch(batch),
            Err(cause) => {
                // The last word: it may wait for the queue, but not for a reader that is gone.
                let _ = sender.send(Message::Gone(cause));
                return;
            }
        };
        if sender.try_send(message).is_err() {
            lost.fetch_add(1, Ordering::Relaxed);
        }
    }
}

/// Returns the folder in /sys of the block device called `name`.
pub fn folder_of(name: &str) -> PathBuf {
    Path::new("/sys/class/block").join(name)
}
