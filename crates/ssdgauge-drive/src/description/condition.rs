//! How a drive is: the power it takes, its temperatures, its health.

use super::Answers;
use super::source::{CONTROLLER, FEATURES, HWMON, POWER_LOG, SMART, STATISTICS, first, of};
use crate::ata::usual_name;
use crate::health::Health;
use crate::power_log::PowerLog;
use crate::state::thermal_management;
use crate::sysfs_device::SysfsDevice;
use ssdgauge_core::{Section, Table, Value};
use ssdgauge_os::sysfs::attribute;

pub(super) fn power(answers: &Answers) -> Section {
    let mut section = Section::new("power", "Power states");
    let states = of(&answers.controller, |controller| {
        Some(Table {
            columns: vec![
                "state",
                "operational",
                "most_w",
                "idle_w",
                "active_w",
                "entry_us",
                "exit_us",
            ],
            rows: controller
                .power_states
                .iter()
                .map(|state| {
                    vec![
                        state.number.into(),
                        state.operational.into(),
                        state.most_w.into(),
                        state.idle_w.into(),
                        state.active_w.into(),
                        state.entry_us.into(),
                        state.exit_us.into(),
                    ]
                })
                .collect(),
        })
    });
    section.add(CONTROLLER, "states", "States, as the maker claims", "", states);
    let now = of(&answers.power_state, |value| Some(value & 31));
    section.add(FEATURES, "state", "State now", "", now);
    let on = of(&answers.transitions, |(on, _)| Some(*on));
    section.add(FEATURES, "autonomous_on", "Goes to sleep by itself (APST)", "", on);
    let table = of(&answers.transitions, |(_, transitions)| {
        let rows =
            transitions.iter().map(|one| vec![one.from.into(), one.to.into(), one.after_ms.into()]);
        Some(Table { columns: vec!["from", "to", "after_ms"], rows: rows.collect() })
    });
    section.add(FEATURES, "autonomous", "Its transitions", "", table);
    let off = of(&answers.controller, |c| c.off_and_on_us.0);
    section.add(CONTROLLER, "off_us", "Power-off takes at most", "µs", off);
    let on = of(&answers.controller, |c| c.off_and_on_us.1);
    section.add(CONTROLLER, "on_us", "Ready after power-on within", "µs", on);
    let wish = of(&answers.controller, |c| c.host_memory.map(|(preferred, _)| preferred));
    section.add(CONTROLLER, "host_memory_wish_bytes", "Host memory that it would like", "B", wish);
    let given = of(&answers.host_memory, |value| Some(value & 1 == 1));
    section.add(FEATURES, "host_memory_on", "Host memory in use", "", given);
    section
}

pub(super) fn measured_power(answers: &Answers) -> Section {
    let mut section = Section::new("measured_power", "Power that it has measured of itself");
    let log = &answers.power_log;
    let measured = |log: &PowerLog| log.count > 0;
    let samples = of(log, |log| measured(log).then_some(log.count));
    section.add(POWER_LOG, "samples", "Samples", "", samples);
    let mean = of(log, |log| log.mean_w.filter(|_| measured(log)));
    section.add(POWER_LOG, "mean_w", "Mean", "W", mean);
    let most = of(log, |log| log.most_w.filter(|_| measured(log)));
    section.add(POWER_LOG, "highest_w", "Highest", "W", most);
    let estimated = of(log, |log| measured(log).then_some(log.is_estimated));
    section.add(POWER_LOG, "is_estimated", "Estimated, not measured", "", estimated);
    let bins = of(log, |log| {
        let row = |(from, to, samples): &(f64, f64, u32)| {
            vec![(*from).into(), (*to).into(), (*samples).into()]
        };
        let columns = vec!["from_w", "to_w", "samples"];
        measured(log).then(|| Table { columns, rows: log.bins.iter().map(row).collect() })
    });
    section.add(POWER_LOG, "distribution", "Distribution", "", bins);
    section
}

pub(super) fn thermal(place: &SysfsDevice, answers: &Answers) -> Section {
    let mut section = Section::new("thermal", "Heat");
    for folder in place.sensors() {
        for number in 1..=16 {
            let get = |name: &str| attribute(&folder.join(format!("temp{number}_{name}")));
            // The kernel counts in thousandths of a degree.
            let degrees = |text: String| text.parse::<f64>().ok().map(|value| value / 1_000.0);
            let Some(now) = get("input").and_then(degrees) else { continue };
            let label = get("label").unwrap_or_else(|| format!("sensor {number}"));
            section.add(HWMON, &format!("sensor_{number}_c"), &label, "°C", now);
        }
    }
    let composite = first([
        of(&answers.health, |health| health.composite_c),
        of(&answers.statistics, |statistics| statistics.temperature_c.map(f64::from)),
    ]);
    section.add(SMART, "temperature_c", "Temperature", "°C", composite);
    let sensors = of(&answers.health, |health| {
        let rows = health.sensors_c.iter().map(|(number, c)| vec![(*number).into(), (*c).into()]);
        let rows: Vec<_> = rows.collect();
        (!rows.is_empty()).then_some(Table { columns: vec!["sensor", "temperature_c"], rows })
    });
    section.add(SMART, "sensors", "Its sensors", "", sensors);
    let highest = of(&answers.statistics, |statistics| statistics.highest_c.map(f64::from));
    section.add(STATISTICS, "highest_c", "Highest ever", "°C", highest);
    let controller = &answers.controller;
    section.add(CONTROLLER, "warning_c", "Warns from", "°C", of(controller, |c| c.warning_c));
    section.add(CONTROLLER, "critical_c", "Critical from", "°C", of(controller, |c| c.critical_c));
    let light = of(&answers.thermal, |value| thermal_management(*value).0);
    section.add(FEATURES, "light_throttle_c", "Throttles lightly from", "°C", light);
    let heavy = of(&answers.thermal, |value| thermal_management(*value).1);
    section.add(FEATURES, "heavy_throttle_c", "Throttles heavily from", "°C", heavy);
    let least = of(controller, |c| c.thermal_range_c.0);
    section.add(CONTROLLER, "least_throttle_c", "Lowest such limit", "°C", least);
    let most = of(controller, |c| c.thermal_range_c.1);
    section.add(CONTROLLER, "most_throttle_c", "Highest such limit", "°C", most);
    section
}

pub(super) fn health(answers: &Answers) -> Section {
    let mut section = Section::new("health", "Health");
    let health = &answers.health;
    let statistics = &answers.statistics;
    let warnings = of(health, |health| {
        let warnings = health.warnings();
        Some(if warnings.is_empty() { "none".to_owned() } else { warnings.join("; ") })
    });
    section.add(SMART, "critical_warning", "Warnings", "", warnings);
    let used = first([
        of(health, |health| Some(u64::from(health.used_percent))),
        of(statistics, |statistics| statistics.used_percent),
    ]);
    section.add(SMART, "used_percent", "Used endurance", "%", used);
    type OfNvme = fn(&Health) -> Option<u64>;
    let percents: [(&str, &str, OfNvme); 2] = [
        ("spare_percent", "Spare", |health| health.spare_percent.map(u64::from)),
        ("spare_threshold_percent", "Spare needed", |health| {
            health.spare_threshold_percent.map(u64::from)
        }),
    ];
    for (key, label, get) in percents {
        section.add(SMART, key, label, "%", of(health, get));
    }
    let block = answers.ata.as_ref().map_or(512, |identity| identity.logical_block);
    let ata = |count: Option<u64>| count.and_then(|sectors| sectors.checked_mul(block));
    let both: [(&str, &str, &'static str, OfNvme, Value); 5] = [
        (
            "written_bytes",
            "Written by hosts",
            "B",
            |h| h.written_bytes,
            of(statistics, |s| ata(s.sectors_written)),
        ),
        (
            "read_bytes",
            "Read by hosts",
            "B",
            |h| h.read_bytes,
            of(statistics, |s| ata(s.sectors_read)),
        ),
        (
            "media_errors",
            "Media errors",
            "",
            |h| h.media_errors,
            of(statistics, |s| s.uncorrectable_errors),
        ),
        (
            "power_on_hours",
            "Powered on",
            "h",
            |h| h.power_on_hours,
            of(statistics, |s| s.power_on_hours),
        ),
        (
            "power_cycles",
            "Power cycles",
            "",
            |h| h.power_cycles,
            of(statistics, |s| s.power_cycles),
        ),
    ];
    for (key, label, unit, nvme, ata) in both {
        section.add(SMART, key, label, unit, first([of(health, nvme), ata]));
    }
    let only: [(&str, &str, &'static str, OfNvme); 12] = [
        ("unsafe_shutdowns", "Unsafe shutdowns", "", |h| h.unsafe_shutdowns),
        ("error_log_entries", "Errors in the log", "", |h| h.error_log_entries),
        ("write_commands", "Write commands", "", |h| h.write_commands),
        ("read_commands", "Read commands", "", |h| h.read_commands),
        ("busy_minutes", "Busy", "min", |h| h.busy_minutes),
        ("warning_minutes", "Above its warning temperature", "min", |h| {
            Some(h.warning_minutes.into())
        }),
        ("critical_minutes", "Above its critical temperature", "min", |h| {
            Some(h.critical_minutes.into())
        }),
        ("light_throttles", "Light throttlings", "", |h| Some(h.light_throttles.into())),
        ("light_throttle_s", "Throttled lightly", "s", |h| Some(h.light_throttle_s.into())),
        ("heavy_throttles", "Heavy throttlings", "", |h| Some(h.heavy_throttles.into())),
        ("heavy_throttle_s", "Throttled heavily", "s", |h| Some(h.heavy_throttle_s.into())),
        ("lifetime_wh", "Energy of its life", "Wh", |h| h.lifetime_wh),
    ];
    for (key, label, unit, get) in only {
        section.add(SMART, key, label, unit, of(health, get));
    }
    let entries = of(&answers.controller, |c| Some(c.error_entries));
    section.add(CONTROLLER, "error_log_room", "Room in that log", "", entries);
    let minutes = of(&answers.controller, |c| c.self_test_minutes);
    section.add(CONTROLLER, "self_test_minutes", "Extended self-test takes", "min", minutes);
    section.add(
        SMART,
        "power_w",
        "Power of the last second",
        "W",
        of(health, |health| health.power_w),
    );
    let overheated = of(statistics, |statistics| statistics.overheated_minutes);
    section.add(STATISTICS, "overheated_minutes", "Overheated", "min", overheated);
    let attributes = of(&answers.attributes, |attributes| {
        let row = |one: &crate::ata::Attribute| {
            let name = usual_name(one.id).unwrap_or("known to its maker");
            vec![one.id.into(), name.into(), one.value.into(), one.worst.into(), one.raw.into()]
        };
        let columns = vec!["id", "usual_name", "value", "worst", "raw"];
        Some(Table { columns, rows: attributes.iter().map(row).collect() })
    });
    section.add("SMART data", "attributes", "Attributes", "", attributes);
    section
}
