//! The sources of samples that this crate knows.

use crate::sample::Batch;
pub(crate) mod command;
pub(crate) mod http;
pub(crate) mod hwmon;
pub(crate) mod nvme;
pub(crate) mod quarch;
pub(crate) mod thermometer;

use std::time::Duration;
use thermometer::Thermometer;

/// How long a meter may take to give its first reading.
pub(crate) const FIRST: Duration = Duration::from_secs(5);

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
    /// Waits at most about `timeout` for samples; an error means that the meter is gone.
    pub(crate) fn next(&mut self, timeout: Duration) -> Result<Batch, String> {
        match self {
            Source::Hwmon(hwmon) => hwmon.next(timeout),
            Source::Quarch(quarch) => quarch.next(timeout),
            Source::Nvme(nvme) => nvme.next(timeout),
            Source::Command(command) => command.next(timeout),
            Source::Http(http) => http.next(timeout),
            Source::Thermometer(thermometer) => thermometer.next(timeout),
        }
    }

    /// Returns whether reading it asks something of the drive under test, which wakes it.
    pub(crate) fn asks_the_drive(&self) -> bool {
        match self {
            Source::Nvme(_) | Source::Thermometer(_) => true,
            Source::Hwmon(_) | Source::Quarch(_) | Source::Command(_) | Source::Http(_) => false,
        }
    }

    /// Returns how often it is read, and by whose clock, in words.
    pub(crate) fn manner(&self) -> String {
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
