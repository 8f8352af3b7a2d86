//! `ssdgauge meters`: lists the sensors of this machine, or shows what power meters read.

use crate::arguments;
use crate::failure::{Failure, Kind};
use crate::meter_specs::specs;
use crate::process::StopFlag;
use crate::terminal;
use serde_json::json;
use ssdgauge_core::Nanos;
use ssdgauge_host::open_meters;
use ssdgauge_meter::{LiveReading, MeterSpec, Meters, Sensor, sensors};
use std::path::Path;
use std::time::{Duration, Instant};

/// How often the live values are drawn.
const EVERY: Duration = Duration::from_secs(1);

/// Shows what meters read, or lists what there is.
pub(crate) fn show(arguments: &arguments::Meters) -> Result<(), Failure> {
    if arguments.specs.is_empty() {
        list(arguments.json);
        return Ok(());
    }
    let specs = specs(&arguments.specs)?;
    let of_the_drive = specs.iter().find(|spec| spec.reads_drive());
    if let (Some(spec), None) = (of_the_drive, &arguments.drive) {
        return Err(Failure::new(
            Kind::Usage,
            format!("'{}' reads the drive under test, and none is named", spec.name),
            "name it: --drive /dev/nvme0n1; nothing is written to it",
        ));
    }
    let stop = StopFlag::listen()?;
    let mut meters = open_meters(&specs, arguments.drive.as_deref())?;
    for (name, text) in meters.described(&specs) {
        terminal::talk(&format!("{name}: {text}"));
    }
    watch(arguments, &specs, &mut meters, &stop)
}

fn watch(
    arguments: &arguments::Meters,
    specs: &[MeterSpec],
    meters: &mut Meters,
    stop: &StopFlag,
) -> Result<(), Failure> {
    let begin = Instant::now();
    let end = arguments.time.map(|time| begin + Duration::from(time));
    let mut cards: Vec<Card> = specs.iter().map(|_| Card::default()).collect();
    let mut due = begin + EVERY;
    let mut is_first = true;
    loop {
        let now = Instant::now();
        let over = stop.is_set() || end.is_some_and(|end| now >= end);
        let all_gone = cards.iter().all(|card| card.gone.is_some());
        meters.live().into_iter().for_each(|live| cards[live.meter].take(live));
        if now >= due || over || all_gone {
            due += EVERY;
            let since = Nanos(now.duration_since(begin).as_nanos() as u64);
            match arguments.json {
                true => terminal::print(&as_json(specs, &cards, since)),
                false => terminal::print_words(&drawn(specs, &cards, is_first)),
            }
            is_first = false;
            cards.iter_mut().for_each(|card| card.now = (0, 0.0));
        }
        if over || all_gone {
            break;
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    let gone = cards.iter().zip(specs).find_map(|(card, spec)| Some((spec, card.gone.clone()?)));
    match gone {
        Some((spec, cause)) => Err(Failure::new(
            Kind::Broke,
            format!("{} is gone: {cause}", spec.name),
            "in a run this would cost a finding, not the run",
        )),
        None => Ok(()),
    }
}

/// What one meter has read.
#[derive(Debug, Default)]
struct Card {
    taken: u64,
    /// Readings of this second, and their sum.
    now: (u64, f64),
    last: Option<f64>,
    least: Option<f64>,
    most: Option<f64>,
    gone: Option<String>,
}

impl Card {
    fn take(&mut self, live: LiveReading) {
        match live.value {
            Ok(value) => {
                self.taken += 1;
                self.now = (self.now.0 + 1, self.now.1 + value);
                self.last = Some(value);
                self.least = Some(self.least.map_or(value, |least| least.min(value)));
                self.most = Some(self.most.map_or(value, |most| most.max(value)));
            }
            Err(cause) => self.gone = Some(cause),
        }
    }

    /// Returns the mean of this second.
    fn mean(&self) -> Option<f64> {
        (self.now.0 > 0).then(|| self.now.1 / self.now.0 as f64)
    }
}

fn drawn(specs: &[MeterSpec], cards: &[Card], with_head: bool) -> String {
    let watts = |value: Option<f64>| value.map_or("-".to_owned(), |value| format!("{value:.3}"));
    let mut text = String::new();
    if with_head {
        text = format!(
            "{:<32} {:<8} {:>8} {:>10} {:>10} {:>10} {:>10}\n",
            "meter", "scope", "readings", "mean 1 s", "last", "least", "most"
        );
    }
    for (spec, card) in specs.iter().zip(cards) {
        let name: String = spec.name.chars().take(32).collect();
        text.push_str(&format!(
            "{name:<32} {:<8} {:>8} {:>10} {:>10} {:>10} {:>10}{}\n",
            spec.scope.name(),
            card.now.0,
            watts(card.mean()),
            watts(card.last),
            watts(card.least),
            watts(card.most),
            card.gone.as_ref().map_or("", |_| " W  gone"),
        ));
    }
    text
}

fn as_json(specs: &[MeterSpec], cards: &[Card], since: Nanos) -> String {
    let line = |(spec, card): (&MeterSpec, &Card)| {
        let line = json!({
            "schema_version": 1,
            "meter": spec.name,
            "scope": spec.scope.name(),
            "at_s": since.as_secs_f64(),
            "readings": card.now.0,
            "power_w": card.mean(),
            "last_w": card.last,
            "least_w": card.least,
            "most_w": card.most,
            "gone": card.gone,
        });
        format!("{line}\n")
    };
    specs.iter().zip(cards).map(line).collect()
}

/// Lists the sensors of this machine.
fn list(json: bool) {
    let sensors = sensors(Path::new("/sys/class/hwmon"));
    if json {
        let all: Vec<_> = sensors
            .iter()
            .map(|sensor| {
                json!({
                    "place": sensor.place, "chip": sensor.chip, "channel": sensor.channel,
                    "label": sensor.label, "value": sensor.value, "unit": sensor.unit,
                })
            })
            .collect();
        terminal::print(&format!("{:#}\n", json!({ "schema_version": 1, "sensors": all })));
        return;
    }
    for sensor in &sensors {
        let value = sensor
            .value
            .map_or("not available".to_owned(), |value| format!("{value:.3} {}", sensor.unit));
        let spec = spec_of(sensor, &sensors).unwrap_or_default();
        terminal::print_words(&format!(
            "{:<8} {:<16} {:<8} {:<20} {value:>16}  {spec}",
            sensor.place, sensor.chip, sensor.channel, sensor.label
        ));
    }
    if sensors.iter().all(|sensor| spec_of(sensor, &sensors).is_none()) {
        terminal::talk(
            "no sensor chip of this machine measures power; Quarch modules, smart plugs and \
             programs can be named too: docs/meters.md",
        );
    }
}

/// Returns how a run reads power from `sensor`: from a power channel, or from a current with the
/// voltage of the same number.
fn spec_of(sensor: &Sensor, all: &[Sensor]) -> Option<String> {
    let Sensor { place, channel, .. } = sensor;
    if channel.starts_with("power") {
        return Some(format!("--power hwmon:{place}/{channel}"));
    }
    let volts = format!("in{}", channel.strip_prefix("curr")?);
    let has_volts = all.iter().any(|other| other.place == *place && other.channel == volts);
    has_volts.then(|| format!("--power 'hwmon:{place}/{volts}*{channel}'"))
}
