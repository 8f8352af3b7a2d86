//! Efficiency, power and temperature from instruments.
//!
//! Efficiency is never compared across scopes: meters of different scopes include different parts
//! of the host.

use crate::analysis::group::{Group, Member};
use crate::analysis::power;
use crate::analysis::report_drives::ReportDrives;
use crate::analysis::workload_text;
use crate::figure::chart::{Axis, Bar, Chart, Drawing, Scale, Table};
use crate::figure::timeline::{self, Part, Parts};
use crate::model::Second;
use crate::model::metrics;
use crate::text::number;
use ssdgauge_core::{Metric, PowerScope};

/// Returns the bars of efficiency and of power, where power was measured.
pub(super) fn bar_charts(group: &Group<'_>, drives: &ReportDrives) -> Vec<Chart> {
    if group.members.iter().all(|member| metrics::power_scopes(member.test).is_empty()) {
        return Vec::new();
    }
    let headline = group.first().test.headline.metric;
    // Power that is the headline has its ranking, and work of single requests has no efficiency.
    if headline.needs_power() || headline.unit() == "µs" {
        return Vec::new();
    }
    let in_bytes = headline.unit().starts_with("MB/s");
    let efficiency = if in_bytes { Metric::EfficiencyMbSW } else { Metric::EfficiencyKiopsW };
    [efficiency, Metric::PowerW].map(|metric| bars(group, drives, metric)).into()
}

/// Returns power and temperature over time, as far as they were measured.
pub(super) fn timelines(group: &Group<'_>, drives: &ReportDrives) -> Vec<Chart> {
    let temperature = Instrument {
        quantity: "temperature_c",
        name: "temperature",
        unit: "°C",
        kind: "temperature",
    };
    let of_power = PowerScope::ALL.into_iter().filter_map(|scope| {
        let (name, kind, value): (_, _, fn(&Second) -> Option<f64>) = match scope {
            PowerScope::Drive => {
                ("power", "power-timeline", |second| read(second, PowerScope::Drive))
            }
            PowerScope::HostDc => ("power of the host, DC", "host-dc-timeline", |second| {
                read(second, PowerScope::HostDc)
            }),
            PowerScope::HostAc => ("power of the host, AC", "host-ac-timeline", |second| {
                read(second, PowerScope::HostAc)
            }),
        };
        let power = Instrument { quantity: scope.quantity(), name, unit: "W", kind };
        timeline(group, drives, &power, value)
    });
    let of_temperature =
        timeline(group, drives, &temperature, |second| second.reading("temperature_c"));
    of_power.chain(of_temperature).map(Chart::fold).collect()
}

fn read(second: &Second, scope: PowerScope) -> Option<f64> {
    second.reading(scope.quantity())
}

/// A quantity that is drawn over time.
struct Instrument {
    quantity: &'static str,
    name: &'static str,
    unit: &'static str,
    kind: &'static str,
}

/// Returns bars of `metric` at the steps that each headline speaks of.
fn bars(group: &Group<'_>, drives: &ReportDrives, metric: Metric) -> Chart {
    let scope = power::scope(group);
    let bar = |member: &Member<'_>| Bar {
        label: drives.names[member.index].clone(),
        part: "",
        colour: drives.slot_of(member.index),
        value: power::at_headline(group, member, metric),
        interval: None,
        highlighted: drives.is_highlighted(member.index),
    };
    let mut bars: Vec<Bar> = group.members.iter().map(bar).collect();
    let sign = if metric.more_is_better() { -1.0 } else { 1.0 };
    let rank = |bar: &Bar| bar.value.as_ref().map_or(f64::INFINITY, |value| sign * value);
    bars.sort_by(|a, b| rank(a).total_cmp(&rank(b)));
    let row = |bar: &Bar| {
        let value =
            bar.value.as_ref().map_or_else(Clone::clone, |value| number::words(*value, metric));
        vec![bar.label.clone(), value]
    };
    let unit = metric.unit();
    let rule = workload_text::rule(&group.first().test.test, &group.first().test.test.score);
    let better = if metric.more_is_better() { "more" } else { "less" };
    let rows = bars.iter().map(row).collect();
    Chart {
        title: format!("{}: {}", group.title(), lower(metric)),
        notes: vec![format!(
            "{unit}, {better} is better: arithmetic mean over the steps of the headline ({rule}); \
             n = 1 run each; {}.",
            power::measured_by(group, &scope)
        )],
        drawing: Drawing::Bars { unit: unit.to_owned(), bars },
        table: Table {
            head: vec!["Drive".to_owned(), format!("{}, {unit}", metric.title())],
            rows,
        },
        kind: if metric == Metric::PowerW { "power" } else { "efficiency" },
        folded: false,
    }
}

fn lower(metric: Metric) -> &'static str {
    if metric == Metric::PowerW { "average power" } else { "power efficiency" }
}

fn timeline(
    group: &Group<'_>,
    drives: &ReportDrives,
    instrument: &Instrument,
    value: fn(&Second) -> Option<f64>,
) -> Option<Chart> {
    let Instrument { quantity, name, unit, kind } = instrument;
    let lines = group.members.iter().map(|member| timeline::line(member, drives, value, false));
    let mut meters: Vec<String> =
        group.members.iter().flat_map(|member| power::meters(member, quantity)).collect();
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
            title: format!("{}: {name} over time", group.title()),
            note,
            y: Axis { label: format!("{label}, {unit}"), scale: Scale::Linear },
            lines: lines.collect(),
            table: timeline::table(group, drives, value, unit, Part::Whole),
            part: Part::Whole,
            kind,
        },
    )
}
