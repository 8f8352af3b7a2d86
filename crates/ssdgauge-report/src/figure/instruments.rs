//! What instruments saw: efficiency, power and temperature.
//!
//! Efficiency is never compared across meters: what one meter sees of a host another does not.

use crate::figure::timeline::{self, Parts};
use crate::figure::{Axis, Bar, Cast, Chart, Drawing, Scale, Table, title};
use crate::group::{Group, Member};
use crate::missing;
use crate::number;
use crate::timeline::Second;
use ssdgauge_core::statistics::summary;
use ssdgauge_core::{Metric, Scope};

/// Returns the figures of power and temperature, as far as somebody measured them.
pub(super) fn of(group: &Group<'_>, cast: &Cast) -> Vec<Chart> {
    let mut charts = Vec::new();
    if group.members.iter().any(|member| !meters(member, "power_w").is_empty()) {
        charts.push(efficiency(group, cast));
        charts.extend(over_time(
            group,
            cast,
            &Instrument { quantity: "power_w", name: "power", unit: "W", kind: "power" },
            |second| second.readings.get("power_w").copied(),
        ));
    }
    charts.extend(over_time(
        group,
        cast,
        &Instrument {
            quantity: "temperature_c",
            name: "temperature",
            unit: "°C",
            kind: "temperature",
        },
        |second| second.readings.get("temperature_c").copied(),
    ));
    charts
}

/// A quantity that is drawn over time.
struct Instrument {
    quantity: &'static str,
    name: &'static str,
    unit: &'static str,
    kind: &'static str,
}

/// Returns the instruments that read `quantity` in the test of `member`.
fn meters(member: &Member<'_>, quantity: &str) -> Vec<String> {
    let mut meters: Vec<String> = Vec::new();
    for point in &member.test.points {
        for name in point.instruments.get(quantity).into_iter().flatten() {
            if !meters.contains(name) {
                meters.push(name.clone());
            }
        }
    }
    meters
}

fn efficiency(group: &Group<'_>, cast: &Cast) -> Chart {
    let in_bytes = group.first().test.headline.metric.unit().starts_with("MB/s");
    let metric = if in_bytes { Metric::EfficiencyMbSW } else { Metric::EfficiencyKiopsW };
    let first = group.members.iter().map(|member| meters(member, "power_w"));
    let meter = first.into_iter().find(|meters| !meters.is_empty()).unwrap_or_default();
    let mean = |member: &Member<'_>, metric| -> Option<f64> {
        let points = member.test.points.iter();
        let values: Option<Vec<f64>> =
            points.map(|point| missing::value(point, metric, Scope::All)).collect();
        summary::mean(&values?)
    };
    let value = |member: &Member<'_>| -> Result<f64, String> {
        let own = meters(member, "power_w");
        match mean(member, metric) {
            _ if own.is_empty() => Err("no power meter".to_owned()),
            _ if own != meter => Err(format!("another meter: {}", own.join(", "))),
            None => Err("no power was read at some steps".to_owned()),
            Some(value) => Ok(value),
        }
    };
    let bar = |member: &Member<'_>| Bar {
        label: cast.names[member.index].clone(),
        colour: member.index,
        value: value(member),
        interval: None,
        highlighted: cast.highlighted == Some(member.index),
    };
    let mut bars: Vec<Bar> = group.members.iter().map(bar).collect();
    let rank = |bar: &Bar| bar.value.as_ref().map_or(f64::NEG_INFINITY, |value| *value);
    bars.sort_by(|a, b| rank(b).total_cmp(&rank(a)));
    let row = |member: &Member<'_>| {
        let value = value(member).map_or_else(|reason| reason, number::text);
        let power = number::optional(mean(member, Metric::PowerW));
        vec![cast.names[member.index].clone(), value, power]
    };
    let unit = metric.unit();
    let head = ["Drive".to_owned(), format!("Efficiency, {unit}"), "Power, W".to_owned()];
    Chart {
        title: format!("{}: efficiency", title(group)),
        notes: vec![format!(
            "{unit}, more is better: arithmetic mean over the steps; n = 1 run each; power by the instrument: {}.",
            meter.join(", ")
        )],
        drawing: Drawing::Bars { unit: unit.to_owned(), bars },
        table: Table { head: head.to_vec(), rows: group.members.iter().map(row).collect() },
        kind: "efficiency",
    }
}

fn over_time(
    group: &Group<'_>,
    cast: &Cast,
    instrument: &Instrument,
    value: fn(&Second) -> Option<f64>,
) -> Option<Chart> {
    let Instrument { quantity, name, unit, kind } = instrument;
    let lines = group.members.iter().map(|member| timeline::line(member, cast, value, false));
    let mut meters: Vec<String> =
        group.members.iter().flat_map(|member| meters(member, quantity)).collect();
    meters.sort();
    meters.dedup();
    let note = format!(
        "{unit}; mean of the readings of each second; instrument: {}. The axis starts at zero.",
        meters.join(", ")
    );
    let mut label = (*name).to_owned();
    label[..1].make_ascii_uppercase();
    timeline::chart(
        group,
        Parts {
            title: format!("{}: {name} for every second", title(group)),
            note,
            y: Axis { label: format!("{label}, {unit}"), scale: Scale::Linear },
            lines: lines.collect(),
            table: timeline::table(group, cast, value, unit),
            kind,
        },
    )
}
