//! `ssdgauge meters`: lists the sensors of this machine, or prints readings of power meters.

use crate::arguments;
use crate::failure::{Failure, FailureKind};
use crate::look_process;
use crate::meter_specs;
use crate::process::StopFlag;
use serde::Serialize;
use ssdgauge_core::{Nanos, rounded};
use ssdgauge_guard::{LookPlace, check_answer};
use ssdgauge_host::open_meters;
use ssdgauge_meter::{LiveReading, MeterSpec, Meters, Sensor, sensors};
use ssdgauge_watch::terminal;
use std::path::Path;
use std::time::{Duration, Instant};

/// The interval between two lines of a meter.
const INTERVAL: Duration = Duration::from_secs(1);

/// Prints the readings of meters, or lists the sensors.
///
/// # Errors
///
/// Fails on invalid specifications, on a meter that does not work, and on one that stops.
pub(crate) fn execute(arguments: &arguments::MetersArguments) -> Result<(), Failure> {
    if arguments.specs.is_empty() {
        return print_sensors(arguments.json);
    }
    let specs = meter_specs::parse(&arguments.specs)?;
    let drive_meter = specs.iter().find(|spec| spec.reads_drive());
    if let (Some(spec), None) = (drive_meter, &arguments.drive) {
        return Err(Failure::new(
            FailureKind::Usage,
            format!("the meter '{}' reads an NVMe drive, and no drive is given", spec.name),
            "add --drive /dev/nvme0n1; it is opened read-only",
        ));
    }
    if let Some(drive) = &arguments.drive {
        check_answer(&LookPlace::own_process(), Path::new(drive))?;
    }
    let mut meters = open_meters(&specs, arguments.drive.as_deref())?;
    let stop = StopFlag::new();
    stop.listen()?;
    for (name, text) in meters.described(&specs) {
        terminal::print_message(&format!("{name}: {text}"));
    }
    watch(arguments, &specs, &mut meters, &stop)
}

/// Prints the readings of each interval, until the time is over, Ctrl-C, or no meter is left.
fn watch(
    arguments: &arguments::MetersArguments,
    specs: &[MeterSpec],
    meters: &mut Meters,
    stop: &StopFlag,
) -> Result<(), Failure> {
    let begin = Instant::now();
    let end = arguments.time.map(|time| begin + Duration::from(time));
    let mut rows: Vec<MeterReadings> = specs.iter().map(|_| MeterReadings::default()).collect();
    let mut due = begin + INTERVAL;
    let mut is_first = true;
    loop {
        let now = Instant::now();
        let over = stop.is_set() || end.is_some_and(|end| now >= end);
        let all_stopped = rows.iter().all(|row| row.stopped.is_some());
        meters.live().into_iter().for_each(|live| rows[live.meter].add(live));
        if now >= due || over || all_stopped {
            due += INTERVAL;
            let since = Nanos(now.duration_since(begin).as_nanos() as u64);
            match arguments.json {
                true => terminal::print(&json_lines(specs, &rows, since)),
                false => terminal::print_text(&table(specs, &rows, is_first)),
            }
            is_first = false;
            rows.iter_mut().for_each(|row| row.interval = (0, 0.0));
        }
        if over || all_stopped {
            break;
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    let stopped = rows.iter().zip(specs).find_map(|(row, spec)| Some((spec, row.stopped.clone()?)));
    match stopped {
        Some((spec, cause)) => Err(Failure::new(
            FailureKind::Failed,
            format!("the meter {} stopped: {cause}", spec.name),
            "check the meter; a run would continue without it, with a finding",
        )),
        None => Ok(()),
    }
}

/// The readings of one meter, in watts.
#[derive(Debug, Default)]
struct MeterReadings {
    /// Number and sum of the readings of this interval.
    interval: (u64, f64),
    last: Option<f64>,
    min: Option<f64>,
    max: Option<f64>,
    /// Why the meter stopped.
    stopped: Option<String>,
}

impl MeterReadings {
    fn add(&mut self, live: LiveReading) {
        match live.value {
            Ok(value) => {
                self.interval = (self.interval.0 + 1, self.interval.1 + value);
                self.last = Some(value);
                self.min = Some(self.min.map_or(value, |min| min.min(value)));
                self.max = Some(self.max.map_or(value, |max| max.max(value)));
            }
            Err(cause) => self.stopped = Some(cause),
        }
    }

    /// Returns the mean of this interval; `None` without a reading.
    fn mean(&self) -> Option<f64> {
        (self.interval.0 > 0).then(|| self.interval.1 / self.interval.0 as f64)
    }
}

/// Returns a reading with three significant digits. Below 1 it has three decimals: an idle drive takes less
/// than that, and chips resolve a milliwatt.
fn reading(value: f64) -> String {
    match value.abs() < 0.9995 && value != 0.0 {
        true => format!("{value:.3}"),
        false => rounded::number(value),
    }
}

/// Returns a line for each meter, below the names of the columns if `with_header`.
fn table(specs: &[MeterSpec], rows: &[MeterReadings], with_header: bool) -> String {
    let watts = |value: Option<f64>| value.map_or("-".to_owned(), reading);
    let mut text = String::new();
    if with_header {
        text = format!(
            "{:<32} {:<8} {:>8} {:>10} {:>10} {:>10} {:>10}\n",
            "meter", "scope", "readings", "mean [W]", "last [W]", "min [W]", "max [W]"
        );
    }
    for (spec, row) in specs.iter().zip(rows) {
        let name: String = spec.name.chars().take(32).collect();
        text.push_str(&format!(
            "{name:<32} {:<8} {:>8} {:>10} {:>10} {:>10} {:>10}{}\n",
            spec.scope.name(),
            row.interval.0,
            watts(row.mean()),
            watts(row.last),
            watts(row.min),
            watts(row.max),
            row.stopped.as_ref().map_or("", |_| "  stopped"),
        ));
    }
    text
}

/// `meters --json`, one for each meter and second.
#[derive(Serialize)]
struct MeterLine<'a> {
    schema_version: u32,
    meter: &'a str,
    /// What it measures.
    scope: &'static str,
    /// Since the start.
    at_s: f64,
    readings: u64,
    /// The mean of the second.
    power_w: Option<f64>,
    last_w: Option<f64>,
    least_w: Option<f64>,
    most_w: Option<f64>,
    /// Why it has stopped.
    gone: Option<&'a str>,
}

/// `meters --json` without a meter.
#[derive(Serialize)]
struct SensorDocument<'a> {
    schema_version: u32,
    sensors: Vec<SensorRow<'a>>,
}

/// A sensor of this machine.
#[derive(Serialize)]
struct SensorRow<'a> {
    place: &'a str,
    chip: &'a str,
    channel: &'a str,
    label: &'a str,
    value: Option<f64>,
    unit: &'static str,
}

/// Returns a line of JSON for each meter, `since` the start.
fn json_lines(specs: &[MeterSpec], rows: &[MeterReadings], since: Nanos) -> String {
    let line = |(spec, row): (&MeterSpec, &MeterReadings)| {
        let line = MeterLine {
            schema_version: 1,
            meter: &spec.name,
            scope: spec.scope.name(),
            at_s: since.as_secs_f64(),
            readings: row.interval.0,
            power_w: row.mean(),
            last_w: row.last,
            least_w: row.min,
            most_w: row.max,
            gone: row.stopped.as_deref(),
        };
        let line = serde_json::to_value(line).expect("keys are strings");
        format!("{line}\n")
    };
    specs.iter().zip(rows).map(line).collect()
}

/// Prints the sensors. They are read in a process of their own: the sensor of an NVMe drive sends it a
/// command.
fn print_sensors(json: bool) -> Result<(), Failure> {
    let json_flag = json.then_some("--json");
    let line: Vec<&str> = ["look", "sensors"].into_iter().chain(json_flag).collect();
    let text = look_process::text(&line, "a sensor of this machine")?;
    match json {
        true => terminal::print(&text),
        false => terminal::print_folded(&text),
    }
    if !json && !text.contains("  --power=") {
        terminal::print_message(
            "no hwmon sensor of this machine measures power; docs/reference/meters.md describes other \
             sources: Quarch modules, smart plugs, programs",
        );
    }
    Ok(())
}

/// Returns the sensors of this machine, each with the option that reads power from it.
pub(crate) fn list_sensors(json: bool) -> String {
    let sensors = sensors(Path::new("/sys/class/hwmon"));
    if json {
        let sensors = sensors.iter().map(|sensor| SensorRow {
            place: &sensor.place,
            chip: &sensor.chip,
            channel: &sensor.channel,
            label: &sensor.label,
            value: sensor.value,
            unit: sensor.unit,
        });
        let document = SensorDocument { schema_version: 1, sensors: sensors.collect() };
        let document = serde_json::to_value(document).expect("keys are strings");
        return format!("{document:#}\n");
    }
    let rows: Vec<[String; 6]> = sensors
        .iter()
        .map(|sensor| {
            let value = sensor.value.map_or("not available".to_owned(), |value| {
                format!("{} {}", reading(value), sensor.unit)
            });
            let Sensor { place, chip, channel, label, .. } = sensor.clone();
            let option = power_option(sensor, &sensors).unwrap_or_default();
            [place, chip, channel, label, value, option].map(|text| terminal::line(&text))
        })
        .collect();
    let width = |column: usize| {
        rows.iter().map(|row| row[column].chars().count()).max().unwrap_or_default()
    };
    let [places, chips, channels, labels, values] = [0, 1, 2, 3, 4].map(width);
    let line = |[place, chip, channel, label, value, option]: &[String; 6]| {
        let names = format!("{place:<places$}  {chip:<chips$}  {channel:<channels$}");
        format!("{names}  {label:<labels$}  {value:>values$}  {option}")
    };
    rows.iter().map(|row| format!("{}\n", line(row).trim_end())).collect()
}

/// Returns the option that reads power from `sensor`, as one word so that a fold does not divide it: from a
/// power channel, a counter of energy, or a current channel and the voltage channel of the same number.
fn power_option(sensor: &Sensor, all: &[Sensor]) -> Option<String> {
    let Sensor { place, channel, .. } = sensor;
    if channel.starts_with("power") || channel.starts_with("energy") {
        return Some(format!("--power=hwmon:{place}/{channel}"));
    }
    let volts = format!("in{}", channel.strip_prefix("curr")?);
    let has_volts = all.iter().any(|other| other.place == *place && other.channel == volts);
    has_volts.then(|| format!("--power='hwmon:{place}/{volts}*{channel}'"))
}

#[cfg(test)]
mod tests {
    #[test]
    fn readings_below_one_keep_their_thousandths() {
        let texts = [0.0, 0.0349, 0.4, 0.9996, 5.1234, 11.999].map(super::reading);
        assert_eq!(texts, ["0", "0.035", "0.400", "1.00", "5.12", "12.0"]);
    }
}
