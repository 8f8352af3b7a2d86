//! The temperature sensors of the drive under test, through its kernel driver (hwmon).
//!
//! For each reading the driver sends a command to the drive. The sensors are therefore not read
//! while a drive is idle: one query per second keeps a drive awake, and raised the temperature of
//! one by 20 K (lm-sensors issue 511).

use super::hwmon::{names, number, read};
use super::interface::Source;
use crate::aggregate::ChannelKind;
use crate::sample::{Batch, ConsecutiveFailures, PollTimer, Sample, in_words};
use ssdgauge_os::sysfs::attribute;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// All temperature sensors of one drive.
#[derive(Debug)]
pub struct Thermometer {
    files: Vec<PathBuf>,
    factors: Vec<f64>,
    timer: PollTimer,
    failures: ConsecutiveFailures,
    pub(crate) channels: Vec<TemperatureChannel>,
}

/// A channel of a thermometer.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct TemperatureChannel {
    /// The instrument, such as `nvme Composite`.
    pub(crate) instrument: String,
    /// The quantity: `temperature_c` for the first sensor, which is the composite temperature of an
    /// NVMe drive, and `temperature_N_c` for the others.
    pub(crate) quantity: String,
    /// A temperature or an alarm.
    pub(crate) kind: ChannelKind,
}

impl Thermometer {
    /// The sampling period.
    pub const PERIOD: Duration = Duration::from_secs(1);

    /// Returns the sensors of the block device with the sysfs folder `folder`; `None` without a
    /// kernel driver for them.
    pub fn open(folder: &Path) -> Option<Thermometer> {
        let chip = find_chip(folder)?;
        let name = attribute(&chip.join("name")).unwrap_or_else(|| "drive".into());
        let (mut files, mut factors, mut channels) = (Vec::new(), Vec::new(), Vec::new());
        let mut numbers: Vec<u32> = names(&chip)
            .iter()
            .filter_map(|name| number(name.strip_suffix("_input")?, "temp"))
            .collect();
        numbers.sort_unstable();
        for (index, sensor) in numbers.iter().enumerate() {
            let label = attribute(&chip.join(format!("temp{sensor}_label")));
            let label = label.unwrap_or_else(|| format!("sensor {sensor}"));
            let quantity = match index {
                0 => "temperature_c".to_owned(),
                _ => format!("temperature_{}_c", index + 1),
            };
            files.push(chip.join(format!("temp{sensor}_input")));
            factors.push(1e-3);
            let instrument = format!("{name} {label}");
            let kind = ChannelKind::Temperature;
            channels.push(TemperatureChannel { instrument, quantity, kind });
        }
        let alarm = chip.join("temp1_alarm");
        if alarm.is_file() {
            files.push(alarm);
            factors.push(1.0);
            let (instrument, quantity) = (format!("{name} alarm"), "temperature_alarm".to_owned());
            channels.push(TemperatureChannel { instrument, quantity, kind: ChannelKind::Alarm });
        }
        debug_assert_eq!((files.len(), factors.len()), (channels.len(), channels.len()));
        let timer = PollTimer::with_period(Thermometer::PERIOD);
        let failures = ConsecutiveFailures::default();
        (!files.is_empty()).then_some(Thermometer { files, factors, timer, failures, channels })
    }
}

impl Source for Thermometer {
    fn next(&mut self, timeout: Duration) -> Result<Batch, String> {
        if !self.timer.wait(timeout) {
            return Ok(Batch::default());
        }
        let at = Instant::now();
        let mut samples = Vec::new();
        for (channel, (file, factor)) in self.files.iter().zip(&self.factors).enumerate() {
            // Another sensor that fails leaves a gap; the first one is the temperature of the
            // drive, and ends the meter when it keeps failing.
            match (read(file), channel) {
                (Ok(value), _) => {
                    samples.push(Sample { since: None, at, channel, value: value * factor })
                }
                (Err(cause), 0) => {
                    return Ok(Batch::from_reading(at, self.failures.record(Err(cause))?));
                }
                (Err(_), _) => {}
            }
        }
        self.failures = ConsecutiveFailures::default();
        Ok(Batch { samples, ..Batch::default() })
    }

    fn wakes_drive(&self) -> bool {
        true
    }

    fn sampling(&self) -> String {
        format!("every {}, host clock", in_words(Thermometer::PERIOD))
    }
}

/// Returns the hwmon folder of the drive: below the controller of an NVMe drive, or below the SCSI
/// device (`drivetemp`), directly or in a folder called `hwmon`.
fn find_chip(folder: &Path) -> Option<PathBuf> {
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
    fn every_sensor_is_read_and_the_first_one_is_the_temperature_of_the_drive() {
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
        let mut thermometer = Thermometer::open(root.path()).unwrap();
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
        assert!(Thermometer::open(root.path()).is_none());
    }
}
