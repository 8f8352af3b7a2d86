//! Meters: what takes readings beside the requests, each on a thread of its own.
//!
//! A [`MeterSpec`] names a meter as a person does; a [`Source`] is one that was opened; a sampler
//! thread reads it and never touches an I/O thread; a ledger puts its samples into the seconds of
//! a step. A meter that fails in mid-test costs a finding, never the run.

mod answer;
mod command;
mod distribution;
mod http;
mod hwmon;
pub(crate) mod ledger;
mod nvme;
mod order;
mod quarch;
mod sampler;
mod spec;
mod thermometer;

pub(crate) use distribution::Distribution;
pub use hwmon::{Sensor, sensors};
pub(crate) use nvme::LogReader;
pub use sampler::{Live, Meters};
pub(crate) use sampler::{Message, folder_of};
pub use spec::MeterSpec;
pub(crate) use thermometer::Thermometer;

use std::time::{Duration, Instant};
use thiserror::Error;

/// How long a meter may take to give its first reading.
const FIRST: Duration = Duration::from_secs(5);

/// Why a meter cannot be used. Nothing was written.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum MeterError {
    /// The text means no meter.
    #[error("'{text}' is no power meter: {what}")]
    Spec {
        /// What was asked for.
        text: String,
        /// What is wrong with it.
        what: String,
    },
    /// There is no such meter, or it does not speak.
    #[error("the power meter {meter} cannot be read: {what}")]
    Absent {
        /// What was asked for.
        meter: String,
        /// What happened.
        what: String,
    },
    /// Its readings are no watts of what it is said to measure.
    #[error("the power meter {meter} reads {value} W, and {scope} takes {least} to {most} W")]
    Implausible {
        /// What was asked for.
        meter: String,
        /// The reading.
        value: String,
        /// What it is said to measure.
        scope: &'static str,
        /// The least that can be.
        least: String,
        /// The most that can be.
        most: String,
    },
}

impl MeterError {
    /// Returns what to do next.
    pub fn hint(&self) -> String {
        match self {
            MeterError::Spec { .. } => {
                "write hwmon:NAME/power1, qis:HOST:PORT/MODULE, nvme, command:PROGRAM ARGS, \
                 http://HOST/PATH#/POINTER, or the path of a .toml file with [[power]]; options \
                 stand before it, as in scope=host-ac,scale=0.001@command:PROGRAM"
                    .into()
            }
            MeterError::Absent { .. } => {
                "nothing was written; `ssdgauge meters` lists what this machine offers".into()
            }
            MeterError::Implausible { .. } => {
                "nothing was written; if it counts in milliwatts add scale=0.001@ before it, and \
                 if it measures a whole host scope=host-dc@ or scope=host-ac@"
                    .into()
            }
        }
    }
}

/// One value of one channel of a source, in the units of the source.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Sample {
    /// When it was taken, by the clock of this host.
    pub(crate) at: Instant,
    /// The channel of the source, from 0.
    pub(crate) channel: usize,
    /// The value.
    pub(crate) value: f64,
}

/// What a source had to say.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Batch {
    pub(crate) samples: Vec<Sample>,
    /// What bears on the samples, such as an overrun.
    pub(crate) remarks: Vec<String>,
}

/// A meter that was opened.
pub(crate) enum Source {
    /// A sensor chip that the kernel drives.
    Hwmon(hwmon::Hwmon),
    /// A Quarch module behind a QIS server.
    Quarch(Box<quarch::Quarch>),
    /// The drive's own power figures.
    Nvme(nvme::NvmePower),
    /// A program that prints readings.
    Command(command::Command),
    /// A web address that answers with JSON.
    Http(Box<http::Http>),
    /// The temperature sensors of the drive.
    Thermometer(Thermometer),
}

impl Source {
    /// Waits at most about `patience` for samples; an error means that the meter is gone.
    fn next(&mut self, patience: Duration) -> Result<Batch, String> {
        match self {
            Source::Hwmon(hwmon) => hwmon.next(patience),
            Source::Quarch(quarch) => quarch.next(patience),
            Source::Nvme(nvme) => nvme.next(patience),
            Source::Command(command) => command.next(patience),
            Source::Http(http) => http.next(patience),
            Source::Thermometer(thermometer) => thermometer.next(patience),
        }
    }

    /// Returns whether reading it asks something of the drive under test, which wakes it.
    fn asks_the_drive(&self) -> bool {
        match self {
            Source::Nvme(_) | Source::Thermometer(_) => true,
            Source::Hwmon(_) | Source::Quarch(_) | Source::Command(_) | Source::Http(_) => false,
        }
    }

    /// Returns how often it is read, and by whose clock, in words.
    fn manner(&self) -> String {
        match self {
            Source::Hwmon(hwmon) => format!("every {:?}, host clock", hwmon.period()),
            Source::Quarch(quarch) => quarch.manner(),
            Source::Nvme(nvme) => {
                format!("every {:?}, mean of the drive's last second", nvme.period())
            }
            Source::Command(command) => command.manner(),
            Source::Http(http) => format!("every {:?}, host clock", http.period()),
            Source::Thermometer(_) => format!("every {:?}, host clock", Thermometer::PERIOD),
        }
    }
}

/// Reads at even times; a late turn is left out, never caught up with.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Beat {
    period: Duration,
    due: Instant,
}

impl Beat {
    pub(crate) fn every(period: Duration) -> Beat {
        Beat { period, due: Instant::now() }
    }

    /// Waits for the next turn, at most `patience`; returns whether it has come.
    pub(crate) fn wait(&mut self, patience: Duration) -> bool {
        let now = Instant::now();
        if self.due > now {
            let left = self.due - now;
            std::thread::sleep(left.min(patience));
            if left > patience {
                return false;
            }
        }
        let now = Instant::now();
        self.due += self.period;
        if self.due < now {
            self.due = now + self.period;
        }
        true
    }
}

/// The failed readings in a row that a polled meter survives.
const MOST_FAILURES: u32 = 3;

/// Counts failed readings of a polled meter: a single one is a gap, several in a row its end.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Failures(u32);

impl Failures {
    /// Takes the outcome of one reading.
    pub(crate) fn judge(&mut self, result: Result<f64, String>) -> Result<Option<f64>, String> {
        match result {
            Ok(value) => {
                self.0 = 0;
                Ok(Some(value))
            }
            Err(cause) if self.0 + 1 >= MOST_FAILURES => Err(cause),
            Err(_) => {
                self.0 += 1;
                Ok(None)
            }
        }
    }
}
