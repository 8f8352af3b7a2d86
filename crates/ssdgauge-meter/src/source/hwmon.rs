//! Sensor chips that the kernel drives: files in /sys/class/hwmon.
//!
//! Units are those of Documentation/hwmon/sysfs-interface.rst: µW, mV, mA, m°C, ms.

use crate::sample::Batch;
use crate::sample::Failures;
use crate::sample::PollTimer;
use crate::sample::Sample;
use crate::spec::Channel;
use ssdgauge_os::sysfs::attribute;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// Where the chips are.
pub(crate) const CLASS: &str = "/sys/class/hwmon";

/// How often a chip is read that does not say how often it measures.
const USUAL: Duration = Duration::from_millis(100);

/// A power channel of a chip.
#[derive(Debug)]
pub(crate) struct Hwmon {
    files: Vec<PathBuf>,
    channel: Channel,
    timer: PollTimer,
    failures: Failures,
}

/// Something that a chip of this machine measures.
#[derive(Clone, Debug, PartialEq)]
pub struct Sensor {
    /// The kernel's name of its place, such as `hwmon3`.
    pub place: String,
    /// The name of the chip.
    pub chip: String,
    /// The channel, such as `power1` or `temp2`.
    pub channel: String,
    /// What the driver calls it; empty where it has no label.
    pub label: String,
    /// The value now in W, V, A or °C; `None` where it cannot be read.
    pub value: Option<f64>,
    /// Its unit.
    pub unit: &'static str,
}

/// Returns everything that the chips below `class` measure of power and temperature.
pub fn sensors(class: &Path) -> Vec<Sensor> {
    let mut sensors = Vec::new();
    for (place, folder, chip) in chips(class) {
        for name in names(&folder) {
            let kinds = [
                ("power", "W", 1e-6),
                ("in", "V", 1e-3),
                ("curr", "A", 1e-3),
                ("temp", "°C", 1e-3),
            ];
            let stem = name.strip_suffix("_input").or_else(|| name.strip_suffix("_average"));
            let Some(channel) = stem else { continue };
            let found = kinds.into_iter().find(|(kind, ..)| number(channel, kind).is_some());
            let Some((_, unit, factor)) = found else { continue };
            if sensors.iter().any(|s: &Sensor| s.place == place && s.channel == channel) {
                continue;
            }
            let label = attribute(&folder.join(format!("{channel}_label"))).unwrap_or_default();
            let value = read(&folder.join(&name)).ok().map(|value| value * factor);
            let (place, chip, channel) = (place.clone(), chip.clone(), channel.to_owned());
            sensors.push(Sensor { place, chip, channel, label, value, unit });
        }
    }
    sensors
}

/// Returns each chip below `class`: the name of its place, its folder, the name of the chip.
fn chips(class: &Path) -> Vec<(String, PathBuf, String)> {
    let mut chips: Vec<(String, PathBuf, String)> = names(class)
        .into_iter()
        .filter_map(|place| {
            let folder = class.join(&place);
            let chip = attribute(&folder.join("name"))?;
            Some((place, folder, chip))
        })
        .collect();
    chips.sort_by_key(|(place, ..)| number(place, "hwmon"));
    chips
}

/// Returns the names in `folder`, in order.
pub(crate) fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut names: Vec<String> =
        entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    names
}

/// Returns the number behind `prefix`.
pub(crate) fn number(name: &str, prefix: &str) -> Option<u32> {
    name.strip_prefix(prefix)?.parse().ok()
}

/// Reads one number.
pub(crate) fn read(path: &Path) -> Result<f64, String> {
    let text = fs::read_to_string(path).map_err(|error| error.to_string())?;
    let text = text.trim();
    text.parse::<i64>().map(|value| value as f64).map_err(|_| format!("'{text}' is no number"))
}

impl Hwmon {
    /// Opens a channel of the chip called `chip`, by its name or the kernel's name of its place.
    pub(crate) fn open(
        class: &Path,
        chip: &str,
        channel: Channel,
        period: Option<Duration>,
    ) -> Result<Hwmon, String> {
        let all = chips(class);
        let found: Vec<_> =
            all.iter().filter(|(place, _, name)| place == chip || name == chip).collect();
        let folder = match found.as_slice() {
            [(_, folder, _)] => folder,
            [] if all.is_empty() => return Err("this machine has no sensor chips".into()),
            [] => {
                let names: Vec<String> =
                    all.iter().map(|(place, _, name)| format!("{name} ({place})")).collect();
                return Err(format!("no chip is called {chip}; there are: {}", names.join(", ")));
            }
            several => {
                let places: Vec<&str> = several.iter().map(|(place, ..)| place.as_str()).collect();
                return Err(format!(
                    "several chips are called {chip}: say {}",
                    places.join(" or ")
                ));
            }
        };
        let input = |name: String| {
            let direct = folder.join(format!("{name}_input"));
            let average = folder.join(format!("{name}_average"));
            match (direct.is_file(), average.is_file()) {
                (true, _) => Ok(direct),
                (false, true) => Ok(average),
                (false, false) => Err(format!("{chip} has no {name}")),
            }
        };
        let files = match channel {
            Channel::Power(n) => vec![input(format!("power{n}"))?],
            Channel::Product(volts, amperes) => {
                vec![input(format!("in{volts}"))?, input(format!("curr{amperes}"))?]
            }
        };
        let own = attribute(&folder.join("update_interval")).and_then(|text| text.parse().ok());
        // Half the time between two measurements, so that none is missed.
        let usual = own
            .map_or(USUAL, |ms: u64| Duration::from_millis(ms / 2).max(Duration::from_millis(10)));
        let timer = PollTimer::every(period.unwrap_or(usual));
        let mut hwmon = Hwmon { files, channel, timer, failures: Failures::default() };
        hwmon.watts()?;
        Ok(hwmon)
    }

    pub(crate) fn period(&self) -> Duration {
        self.timer.period
    }

    fn watts(&mut self) -> Result<f64, String> {
        match (self.channel, self.files.as_slice()) {
            (Channel::Power(_), [power]) => read(power).map(|microwatts| microwatts * 1e-6),
            (Channel::Product(..), [volts, amperes]) => {
                Ok(read(volts)? * 1e-3 * (read(amperes)? * 1e-3))
            }
            (Channel::Power(_) | Channel::Product(..), _) => Err("it has no files".into()),
        }
    }

    pub(crate) fn next(&mut self, timeout: Duration) -> Result<Batch, String> {
        if !self.timer.wait(timeout) {
            return Ok(Batch::default());
        }
        let at = Instant::now();
        let result = self.watts();
        let value = self.failures.judge(result)?;
        let samples = value.map(|value| Sample { at, channel: 0, value }).into_iter().collect();
        Ok(Batch { samples, remarks: Vec::new() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chip(class: &Path, place: &str, files: &[(&str, &str)]) {
        let folder = class.join(place);
        fs::create_dir_all(&folder).unwrap();
        for (name, text) in files {
            fs::write(folder.join(name), format!("{text}\n")).unwrap();
        }
    }

    fn class() -> tempfile::TempDir {
        let root = tempfile::tempdir().unwrap();
        let ina = [("name", "ina226"), ("power1_input", "4250000"), ("update_interval", "36")];
        chip(root.path(), "hwmon2", &ina);
        let ltc = [("name", "ltc4151"), ("in1_input", "12010"), ("curr1_input", "350")];
        chip(root.path(), "hwmon10", &ltc);
        chip(
            root.path(),
            "hwmon0",
            &[("name", "nvme"), ("temp1_input", "41850"), ("temp1_label", "Composite")],
        );
        chip(root.path(), "hwmon1", &[("name", "nvme"), ("temp1_input", "fault")]);
        root
    }

    fn once(class: &Path, chip: &str, channel: Channel) -> Result<f64, String> {
        let mut hwmon = Hwmon::open(class, chip, channel, None)?;
        Ok(hwmon.next(Duration::from_secs(1))?.samples[0].value)
    }

    #[test]
    fn watts_are_read_from_power_or_from_volts_and_amperes() {
        let root = class();
        assert_eq!(once(root.path(), "ina226", Channel::Power(1)), Ok(4.25));
        assert_eq!(once(root.path(), "hwmon2", Channel::Power(1)), Ok(4.25));
        let product = once(root.path(), "ltc4151", Channel::Product(1, 1)).unwrap();
        assert!((product - 4.2035).abs() < 1e-9, "{product}");
        let ina = Hwmon::open(root.path(), "ina226", Channel::Power(1), None).unwrap();
        assert_eq!(ina.period(), Duration::from_millis(18));
    }

    #[test]
    fn a_chip_that_is_not_there_names_those_that_are() {
        let root = class();
        let error = |chip, channel| once(root.path(), chip, channel).unwrap_err();
        let missing = error("ina219", Channel::Power(1));
        assert!(missing.contains("ina226 (hwmon2)") && missing.contains("ltc4151"), "{missing}");
        assert_eq!(
            error("nvme", Channel::Power(1)),
            "several chips are called nvme: say hwmon0 or hwmon1"
        );
        assert_eq!(error("ltc4151", Channel::Power(1)), "ltc4151 has no power1");
        let empty = tempfile::tempdir().unwrap();
        assert!(
            once(empty.path(), "x", Channel::Power(1)).unwrap_err().contains("no sensor chips")
        );
    }

    #[test]
    fn a_chip_that_goes_away_ends_after_three_readings_and_not_after_one() {
        let root = class();
        let period = Some(Duration::from_millis(2));
        let mut hwmon = Hwmon::open(root.path(), "ina226", Channel::Power(1), period).unwrap();
        let file = root.path().join("hwmon2/power1_input");
        fs::write(&file, "oops").unwrap();
        let mut next = || hwmon.next(Duration::from_secs(1));
        assert_eq!(next().unwrap().samples, []);
        fs::write(&file, "1000000").unwrap();
        assert_eq!(next().unwrap().samples[0].value, 1.0);
        fs::remove_file(&file).unwrap();
        assert!(next().is_ok() && next().is_ok() && next().is_err());
    }

    #[test]
    fn sensors_are_listed_with_their_units_and_what_cannot_be_read_has_no_value() {
        let root = class();
        let all = sensors(root.path());
        let of = |place: &str, channel: &str| {
            all.iter().find(|s| s.place == place && s.channel == channel).unwrap().clone()
        };
        let composite = of("hwmon0", "temp1");
        assert_eq!((composite.value, composite.unit), (Some(41.85), "°C"));
        assert_eq!(composite.label, "Composite");
        assert_eq!(of("hwmon1", "temp1").value, None);
        assert_eq!(of("hwmon2", "power1").value, Some(4.25));
        assert_eq!(all.len(), 5);
    }
}
