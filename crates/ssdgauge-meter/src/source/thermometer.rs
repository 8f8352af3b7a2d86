//! The temperature sensors of the drive under test, as the kernel shows them.
//!
//! The driver asks the drive for them. That is why they are silent while a drive is left alone:
//! a question each second keeps a drive awake, and made one 20 K warmer (lm-sensors issue 511).

use super::hwmon::{names, number, read};
use crate::sample::Batch;
use crate::sample::Failures;
use crate::sample::PollTimer;
use crate::sample::Sample;
use ssdgauge_os::sysfs::attribute;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// All temperature sensors of one drive.
#[derive(Debug)]
pub struct Thermometer {
    files: Vec<PathBuf>,
    factors: Vec<f64>,
    timer: PollTimer,
    failures: Failures,
    /// What each channel is.
    pub(crate) channels: Vec<HeatChannel>,
}

/// What a channel of a thermometer reads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct HeatChannel {
    /// The instrument, such as `nvme Composite`.
    pub(crate) instrument: String,
    /// The quantity; the first sensor is `temperature_c`, because the others are parts.
    pub(crate) quantity: String,
    /// Whether it is an alarm, 0 or 1, and no temperature.
    pub(crate) is_alarm: bool,
}

impl Thermometer {
    /// How often the sensors are read.
    pub const PERIOD: Duration = Duration::from_secs(1);

    /// Returns the sensors of the block device whose folder in /sys is `folder`; `None` where
    /// the kernel shows none.
    pub fn of(folder: &Path) -> Option<Thermometer> {
        let chip = chip_of(folder)?;
        let name = attribute(&chip.join("name")).unwrap_or_else(|| "drive".into());
        let (mut files, mut factors, mut channels) = (Vec::new(), Vec::new(), Vec::new());
        let mut numbers: Vec<u32> = names(&chip)
            .iter()
            .filter_map(|name| number(name.strip_suffix("_input")?, "temp"))
            .collect();
        numbers.sort_unstable();
        for (place, sensor) in numbers.iter().enumerate() {
            let label = attribute(&chip.join(format!("temp{sensor}_label")));
            let label = label.unwrap_or_else(|| format!("sensor {sensor}"));
            let quantity = match place {
                0 => "temperature_c".to_owned(),
                _ => format!("temperature_{}_c", place + 1),
            };
            files.push(chip.join(format!("temp{sensor}_input")));
            factors.push(1e-3);
            let instrument = format!("{name} {label}");
            channels.push(HeatChannel { instrument, quantity, is_alarm: false });
        }
        let alarm = chip.join("temp1_alarm");
        if alarm.is_file() {
            files.push(alarm);
            factors.push(1.0);
            let (instrument, quantity) = (format!("{name} alarm"), "temperature_alarm".to_owned());
            channels.push(HeatChannel { instrument, quantity, is_alarm: true });
        }
        let (timer, failures) = (PollTimer::every(Thermometer::PERIOD), Failures::default());
        (!files.is_empty()).then_some(Thermometer { files, factors, timer, failures, channels })
    }

    pub(crate) fn next(&mut self, timeout: Duration) -> Result<Batch, String> {
        if !self.timer.wait(timeout) {
            return Ok(Batch::default());
        }
        let at = Instant::now();
        let mut samples = Vec::new();
        for (channel, (file, factor)) in self.files.iter().zip(&self.factors).enumerate() {
            // One sensor that fails is a gap; the first one speaks for the drive.
            match (read(file), channel) {
                (Ok(value), _) => samples.push(Sample { at, channel, value: value * factor }),
                (Err(cause), 0) => {
                    self.failures.judge(Err(cause))?;
                    return Ok(Batch { samples, remarks: Vec::new() });
                }
                (Err(_), _) => {}
            }
        }
        self.failures = Failures::default();
        Ok(Batch { samples, remarks: Vec::new() })
    }
}

/// Returns the folder of the drive's own chip: below the controller of an NVMe drive, or below
/// the SCSI device (`drivetemp`), directly or in a folder called `hwmon`.
fn chip_of(folder: &Path) -> Option<PathBuf> {
    let device = folder.join("device");
    [device.join("hwmon"), device.clone(), device.join("device/hwmon")]
        .iter()
        .flat_map(|parent| {
            let is_chip = |name: &String| number(name, "hwmon").is_some();
            names(parent).into_iter().filter(is_chip).map(|name| parent.join(name))
        })
        .find(|chip| chip.join("name").is_file())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn every_sensor_of_the_drive_is_read_and_the_first_one_is_the_drive() {
        let root = tempfile::tempdir().unwrap();
        let chip = root.path().join("device/hwmon4");
        fs::create_dir_all(&chip).unwrap();
        for (name, text) in [
            ("name", "nvme"),
            ("temp1_input", "49850"),
            ("temp1_label", "Composite"),
            ("temp1_alarm", "1"),
            ("temp3_input", "61850"),
            ("temp2_input", "48000"),
        ] {
            fs::write(chip.join(name), text).unwrap();
        }
        let mut thermometer = Thermometer::of(root.path()).unwrap();
        let batch = thermometer.next(Duration::from_secs(1)).unwrap();
        let values: Vec<f64> = batch.samples.iter().map(|sample| sample.value).collect();
        assert_eq!(values, [49.85, 48.0, 61.85, 1.0]);
        let quantities: Vec<&str> =
            thermometer.channels.iter().map(|channel| channel.quantity.as_str()).collect();
        let expected = ["temperature_c", "temperature_2_c", "temperature_3_c", "temperature_alarm"];
        assert_eq!(quantities, expected);
        assert_eq!(thermometer.channels[0].instrument, "nvme Composite");
    }

    #[test]
    fn a_drive_without_sensors_has_no_thermometer() {
        let root = tempfile::tempdir().unwrap();
        assert!(Thermometer::of(root.path()).is_none());
    }
}
