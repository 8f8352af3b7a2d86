//! Sensor chips with a kernel driver: files in /sys/class/hwmon.
//!
//! Units follow Documentation/hwmon/sysfs-interface.rst: µW, µJ, mV, mA, m°C, ms.

use super::interface::{OpenContext, ParsedSpec, Source, SourceKind, SourceSpec, after_keyword};
use crate::counter_range::CounterRange;
use crate::sample::{Batch, ConsecutiveFailures, PollTimer, in_words};
use ssdgauge_core::PowerScope;
use ssdgauge_os::sysfs::attribute;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// The folder of the chips.
const CLASS: &str = "/sys/class/hwmon";

/// The sampling period of a chip that does not state its update interval.
const DEFAULT_PERIOD: Duration = Duration::from_millis(100);
/// The shortest sampling period that follows from an update interval.
const MIN_DERIVED_PERIOD: Duration = Duration::from_millis(10);

/// A channel of a sensor chip.
pub(crate) const KIND: SourceKind =
    SourceKind { keywords: &["hwmon"], form: "hwmon:NAME/power1", takes_pointer: false, parse };

#[derive(Debug, PartialEq, Eq)]
struct HwmonSpec {
    chip: String,
    channel: Channel,
}

/// The inputs of a chip that give watts, or joules.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Channel {
    /// The number of a power input.
    Power(u32),
    /// The number of an input that counts energy.
    Energy(u32),
    /// The numbers of a voltage input and a current input, which are multiplied.
    Product(u32, u32),
}

fn parse(spec: &str, _pointer: Option<String>) -> ParsedSpec {
    Ok(Box::new(HwmonSpec::parse(spec)?))
}

impl HwmonSpec {
    fn parse(spec: &str) -> Result<HwmonSpec, String> {
        // A name with a slash would leave the folder of the chips.
        let (chip, channel) = after_keyword(spec)
            .rsplit_once('/')
            .filter(|(chip, _)| !chip.is_empty() && !chip.contains('/'))
            .ok_or(
                "write hwmon:NAME/power1, hwmon:NAME/energy1 for a counter of energy, or \
                 hwmon:NAME/in1*curr1 for a voltage times a current",
            )?;
        let product = channel
            .split_once('*')
            .and_then(|(volts, amperes)| Some((number(volts, "in")?, number(amperes, "curr")?)));
        let channel = match (number(channel, "power"), number(channel, "energy"), product) {
            (Some(number), ..) => Channel::Power(number),
            (None, Some(number), _) => Channel::Energy(number),
            (None, None, Some((volts, amperes))) => Channel::Product(volts, amperes),
            (None, None, None) => {
                return Err(format!("'{channel}' is neither power1, energy1 nor in1*curr1"));
            }
        };
        Ok(HwmonSpec { chip: chip.to_owned(), channel })
    }
}

/// Drivers that measure a host, or a part of it other than a drive (Documentation/hwmon).
const HOST_CHIPS: [&str; 7] =
    ["power_meter", "ibmpowernv", "occ-hwmon", "fam15h_power", "amdgpu", "corsairpsu", "macsmc"];

impl SourceSpec for HwmonSpec {
    fn default_scope(&self) -> PowerScope {
        match HOST_CHIPS.iter().any(|known| self.chip.starts_with(known)) {
            true => PowerScope::HostDc,
            false => PowerScope::Drive,
        }
    }

    fn reads_drive(&self) -> bool {
        false
    }

    fn open(&self, context: OpenContext<'_>) -> Result<Box<dyn Source>, String> {
        Ok(Box::new(Hwmon::open(Path::new(CLASS), &self.chip, self.channel, context.period)?))
    }
}

/// A power channel of a chip.
#[derive(Debug)]
struct Hwmon {
    files: Vec<PathBuf>,
    channel: Channel,
    timer: PollTimer,
    failures: ConsecutiveFailures,
}

/// A channel that a chip of this machine measures.
#[derive(Clone, Debug, PartialEq)]
pub struct Sensor {
    /// The kernel name of the chip, such as `hwmon3`.
    pub place: String,
    /// The name of the chip.
    pub chip: String,
    /// The channel, such as `power1` or `temp2`.
    pub channel: String,
    /// The label of the driver; empty without one.
    pub label: String,
    /// The present value in `unit`; `None` where it cannot be read.
    pub value: Option<f64>,
    /// `W`, `J`, `V`, `A` or `°C`.
    pub unit: &'static str,
}

/// Returns every power, energy, voltage, current and temperature channel of the chips below `class`.
pub fn sensors(class: &Path) -> Vec<Sensor> {
    let mut sensors = Vec::new();
    for (place, folder, chip) in chips(class) {
        for name in names(&folder) {
            let kinds = [
                ("power", "W", 1e-6),
                ("energy", "J", 1e-6),
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

/// Returns each chip below `class`: its kernel name, its folder, its chip name.
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

/// Returns the file names in `folder`, sorted.
pub(crate) fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut names: Vec<String> =
        entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    names
}

/// Returns the number after `prefix` in `name`.
pub(crate) fn number(name: &str, prefix: &str) -> Option<u32> {
    name.strip_prefix(prefix)?.parse().ok()
}

/// Reads one integer from the file at `path`.
pub(crate) fn read(path: &Path) -> Result<f64, String> {
    let text = fs::read_to_string(path).map_err(|error| error.to_string())?;
    let text = text.trim();
    text.parse::<i64>().map(|value| value as f64).map_err(|_| format!("'{text}' is not a number"))
}

impl Hwmon {
    /// Opens a channel of the chip `chip`, which is a chip name or a kernel name.
    fn open(
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
                    "several chips are called {chip}; name {}",
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
            Channel::Energy(n) => vec![input(format!("energy{n}"))?],
            Channel::Product(volts, amperes) => {
                vec![input(format!("in{volts}"))?, input(format!("curr{amperes}"))?]
            }
        };
        let interval =
            attribute(&folder.join("update_interval")).and_then(|text| text.parse().ok());
        // Half the update interval, so that no measurement is missed.
        let default = interval.map_or(DEFAULT_PERIOD, |ms: u64| {
            Duration::from_millis(ms / 2).max(MIN_DERIVED_PERIOD)
        });
        let timer = PollTimer::with_period(period.unwrap_or(default));
        let mut hwmon = Hwmon { files, channel, timer, failures: ConsecutiveFailures::default() };
        hwmon.value()?;
        Ok(hwmon)
    }

    /// Returns the power in watts, or the energy in joules.
    fn value(&mut self) -> Result<f64, String> {
        match (self.channel, self.files.as_slice()) {
            (Channel::Power(_) | Channel::Energy(_), [file]) => {
                read(file).map(|micro| micro * 1e-6)
            }
            (Channel::Product(..), [volts, amperes]) => {
                Ok(read(volts)? * 1e-3 * (read(amperes)? * 1e-3))
            }
            (Channel::Power(_) | Channel::Energy(_) | Channel::Product(..), _) => {
                unreachable!("open() collects one file for each input of the channel")
            }
        }
    }
}

impl Source for Hwmon {
    fn next(&mut self, timeout: Duration) -> Result<Batch, String> {
        if !self.timer.wait(timeout) {
            return Ok(Batch::default());
        }
        let at = Instant::now();
        let result = self.value();
        Ok(Batch::from_reading(at, self.failures.record(result)?))
    }

    fn wakes_drive(&self) -> bool {
        false
    }

    fn counts(&self) -> Option<CounterRange> {
        match self.channel {
            // Drivers extend the counters of chips to 64 bits; one that falls was reset.
            Channel::Energy(_) => Some(CounterRange { wraps_at: None }),
            Channel::Power(_) | Channel::Product(..) => None,
        }
    }

    fn sampling(&self) -> String {
        format!("every {}, host clock", in_words(self.timer.period))
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::create as chip;
    use super::*;

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

    fn read_once(class: &Path, chip: &str, channel: Channel) -> Result<f64, String> {
        let mut hwmon = Hwmon::open(class, chip, channel, None)?;
        Ok(hwmon.next(Duration::from_secs(1))?.samples[0].value)
    }

    #[test]
    fn a_specification_names_a_chip_and_its_inputs() {
        let parse = |text| HwmonSpec::parse(text).map(|spec| (spec.chip, spec.channel));
        assert_eq!(parse("hwmon:ina226/power1"), Ok(("ina226".into(), Channel::Power(1))));
        let product = Channel::Product(1, 2);
        assert_eq!(parse("hwmon:hwmon3/in1*curr2"), Ok(("hwmon3".into(), product)));
        let scope = |text| HwmonSpec::parse(text).unwrap().default_scope();
        assert_eq!(scope("hwmon:ina226/power1"), PowerScope::Drive);
        assert_eq!(scope("hwmon:corsairpsu/power1"), PowerScope::HostDc);
    }

    #[test]
    fn watts_are_read_from_power_or_from_volts_and_amperes() {
        let root = class();
        assert_eq!(read_once(root.path(), "ina226", Channel::Power(1)), Ok(4.25));
        assert_eq!(read_once(root.path(), "hwmon2", Channel::Power(1)), Ok(4.25));
        let product = read_once(root.path(), "ltc4151", Channel::Product(1, 1)).unwrap();
        assert!((product - 4.2035).abs() < 1e-9, "{product}");
        let ina = Hwmon::open(root.path(), "ina226", Channel::Power(1), None).unwrap();
        assert_eq!(ina.timer.period, Duration::from_millis(18));
    }

    #[test]
    fn an_energy_input_is_a_counter_in_joules() {
        let root = class();
        let files = [("name", "ina238"), ("energy1_input", "7250000")];
        chip(root.path(), "hwmon4", &files);
        let parsed = HwmonSpec::parse("hwmon:ina238/energy1").unwrap();
        assert_eq!(parsed.channel, Channel::Energy(1));
        assert_eq!(read_once(root.path(), "ina238", Channel::Energy(1)), Ok(7.25));
        let counts =
            |chip, channel| Hwmon::open(root.path(), chip, channel, None).unwrap().counts();
        assert_eq!(counts("ina238", Channel::Energy(1)), Some(CounterRange { wraps_at: None }));
        assert_eq!(counts("ina226", Channel::Power(1)), None);
        let all = sensors(root.path());
        let counter = all.iter().find(|sensor| sensor.channel == "energy1").unwrap();
        assert_eq!((counter.value, counter.unit), (Some(7.25), "J"));
    }

    #[test]
    fn a_missing_chip_is_an_error_that_lists_the_chips() {
        let root = class();
        let error = |chip, channel| read_once(root.path(), chip, channel).unwrap_err();
        let missing = error("ina219", Channel::Power(1));
        assert!(missing.contains("ina226 (hwmon2)") && missing.contains("ltc4151"), "{missing}");
        assert_eq!(
            error("nvme", Channel::Power(1)),
            "several chips are called nvme; name hwmon0 or hwmon1"
        );
        assert_eq!(error("ltc4151", Channel::Power(1)), "ltc4151 has no power1");
        let empty = tempfile::tempdir().unwrap();
        assert!(
            read_once(empty.path(), "x", Channel::Power(1))
                .unwrap_err()
                .contains("no sensor chips")
        );
    }

    #[test]
    fn one_failed_reading_is_a_gap_and_three_in_a_row_end_the_meter() {
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
    fn sensors_are_listed_with_units_and_an_unreadable_one_has_no_value() {
        let root = class();
        let all = sensors(root.path());
        let sensor = |place: &str, channel: &str| {
            all.iter().find(|s| s.place == place && s.channel == channel).unwrap().clone()
        };
        let composite = sensor("hwmon0", "temp1");
        assert_eq!((composite.value, composite.unit), (Some(41.85), "°C"));
        assert_eq!(composite.label, "Composite");
        assert_eq!(sensor("hwmon1", "temp1").value, None);
        assert_eq!(sensor("hwmon2", "power1").value, Some(4.25));
        assert_eq!(all.len(), 5);
    }
}
