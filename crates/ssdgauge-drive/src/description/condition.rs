//! The sections of a drive description that change during use: power, temperatures, health.

use super::host_bytes::{HostBytes, host_bytes};
use super::source::{
    CONTROLLER, FEATURES, HWMON, POWER_LOG, SMART, SMART_STATUS, STATISTICS, first_known, reported,
};
use super::{NOT_ATA, NOT_NVME, QueryResults, life, paired};
use crate::ata::usual_name;
use crate::health::Health;
use crate::media::Unit;
use crate::power_log::PowerLog;
use crate::state::thermal_management;
use crate::sysfs_device::SysfsDevice;
use ssdgauge_core::{Section, Table, Value};
use ssdgauge_os::sysfs::attribute;

pub(super) fn power(results: &QueryResults) -> Section {
    let mut section = Section::new("power", "Power states");
    let states = reported(&results.controller, |controller| {
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
                        state.max_w.into(),
                        state.idle_w.into(),
                        state.active_w.into(),
                        state.entry_us.into(),
                        state.exit_us.into(),
                    ]
                })
                .collect(),
        })
    });
    section.add(CONTROLLER, "states", "Power states, as the vendor states them", "", states);
    let now = reported(&results.power_state, |value| Some(value & 31));
    section.add(FEATURES, "state", "Current state", "", now);
    let on = reported(&results.transitions, |(on, _)| Some(*on));
    section.add(FEATURES, "autonomous_on", "Autonomous transitions (APST)", "", on);
    let table = reported(&results.transitions, |(_, transitions)| {
        let rows =
            transitions.iter().map(|one| vec![one.from.into(), one.to.into(), one.after_ms.into()]);
        Some(Table { columns: vec!["from", "to", "after_ms"], rows: rows.collect() })
    });
    section.add(FEATURES, "autonomous", "Transitions", "", table);
    let off = reported(&results.controller, |c| c.off_and_on_us.0);
    section.add(CONTROLLER, "off_us", "Maximum time of a normal shutdown", "µs", off);
    let on = reported(&results.controller, |c| c.off_and_on_us.1);
    section.add(CONTROLLER, "on_us", "Maximum time from power-on to ready", "µs", on);
    let preferred =
        reported(&results.controller, |c| c.host_memory.map(|(preferred, _)| preferred));
    section.add(
        CONTROLLER,
        "host_memory_wish_bytes",
        "Preferred host memory buffer",
        "B",
        preferred,
    );
    let given = reported(&results.host_memory, |value| Some(value & 1 == 1));
    section.add(FEATURES, "host_memory_on", "Host memory buffer enabled", "", given);
    section
}

pub(super) fn measured_power(results: &QueryResults) -> Section {
    let mut section = Section::new("measured_power", "Power measured by the drive");
    let log = &results.power_log;
    let measured = |log: &PowerLog| log.count > 0;
    let samples = reported(log, |log| measured(log).then_some(log.count));
    section.add(POWER_LOG, "samples", "Samples", "", samples);
    let mean = reported(log, |log| log.mean_w.filter(|_| measured(log)));
    section.add(POWER_LOG, "mean_w", "Mean", "W", mean);
    let most = reported(log, |log| log.max_w.filter(|_| measured(log)));
    section.add(POWER_LOG, "highest_w", "Maximum", "W", most);
    let estimated = reported(log, |log| measured(log).then_some(log.is_estimated));
    section.add(POWER_LOG, "is_estimated", "Estimated instead of measured", "", estimated);
    let bins = reported(log, |log| {
        let row = |(from, to, samples): &(f64, f64, u32)| {
            vec![(*from).into(), (*to).into(), (*samples).into()]
        };
        let columns = vec!["from_w", "to_w", "samples"];
        measured(log).then(|| Table { columns, rows: log.bins.iter().map(row).collect() })
    });
    section.add(POWER_LOG, "distribution", "Distribution", "", bins);
    section
}

pub(super) fn thermal(device: &SysfsDevice, results: &QueryResults) -> Section {
    let mut section = Section::new("thermal", "Temperatures");
    for folder in device.sensors() {
        for number in 1..=16 {
            let get = |name: &str| attribute(&folder.join(format!("temp{number}_{name}")));
            // hwmon counts in thousandths of a degree.
            let degrees = |text: String| text.parse::<f64>().ok().map(|value| value / 1_000.0);
            let Some(now) = get("input").and_then(degrees) else { continue };
            let label = get("label").unwrap_or_else(|| format!("sensor {number}"));
            section.add(HWMON, &format!("sensor_{number}_c"), &label, "°C", now);
        }
    }
    let composite = first_known([
        reported(&results.health, |health| health.composite_c),
        paired::temperature(results),
    ]);
    section.add(SMART, "temperature_c", "Temperature", "°C", composite);
    let sensors = reported(&results.health, |health| {
        let rows = health.sensors_c.iter().map(|(number, c)| vec![(*number).into(), (*c).into()]);
        let rows: Vec<_> = rows.collect();
        (!rows.is_empty()).then_some(Table { columns: vec!["sensor", "temperature_c"], rows })
    });
    section.add(SMART, "sensors", "Sensors", "", sensors);
    let highest = paired::highest_temperature(results);
    section.add(STATISTICS, "highest_c", "Maximum of its lifetime", "°C", highest);
    let controller = &results.controller;
    section.add(
        CONTROLLER,
        "warning_c",
        "Warning temperature",
        "°C",
        reported(controller, |c| c.warning_c),
    );
    section.add(
        CONTROLLER,
        "critical_c",
        "Critical temperature",
        "°C",
        reported(controller, |c| c.critical_c),
    );
    let light = reported(&results.thermal, |value| thermal_management(*value).0);
    section.add(FEATURES, "light_throttle_c", "Light throttling from", "°C", light);
    let heavy = reported(&results.thermal, |value| thermal_management(*value).1);
    section.add(FEATURES, "heavy_throttle_c", "Heavy throttling from", "°C", heavy);
    let least = reported(controller, |c| c.thermal_range_c.0);
    section.add(CONTROLLER, "least_throttle_c", "Minimum throttling threshold", "°C", least);
    let most = reported(controller, |c| c.thermal_range_c.1);
    section.add(CONTROLLER, "most_throttle_c", "Maximum throttling threshold", "°C", most);
    section
}

/// A field of the SMART log as a count.
type FromHealth = fn(&Health) -> Option<u64>;

/// Returns the overall health of an ATA drive in words.
pub(crate) fn overall(passes: bool) -> &'static str {
    if passes { "passed" } else { "failing" }
}

pub(super) fn health(results: &QueryResults) -> Section {
    let mut section = Section::new("health", "Health");
    let health = &results.health;
    let statistics = &results.statistics;
    let warnings = reported(health, |health| {
        let warnings = health.warnings();
        Some(if warnings.is_empty() { "none".to_owned() } else { warnings.join("; ") })
    });
    section.add(SMART, "critical_warning", "Critical warnings", "", warnings);
    let passes = reported(&results.passes, |passes| Some(overall(*passes)));
    section.add(SMART_STATUS, "overall_health", "Overall health", "", passes);
    let used = first_known([
        reported(health, |health| Some(u64::from(health.used_percent))),
        reported(statistics, |statistics| statistics.used_percent),
    ]);
    section.add(SMART, "used_percent", "Used endurance", "%", used);
    let percents: [(&str, &str, FromHealth); 2] = [
        ("spare_percent", "Available spare", |health| health.spare_percent.map(u64::from)),
        ("spare_threshold_percent", "Spare threshold", |health| {
            health.spare_threshold_percent.map(u64::from)
        }),
    ];
    for (key, label, get) in percents {
        section.add(SMART, key, label, "%", reported(health, get));
    }
    let hosts = host_bytes(results);
    add_common_counters(&mut section, results, &hosts);
    let source = results.media.as_ref().map_or(SMART, |(source, _)| source.name());
    let media = match &results.media {
        Ok((_, written)) if written.media.unit == Unit::Pages => {
            Value::Missing("the drive counts pages, and does not report their size".into())
        }
        other => reported(other, |(_, written)| written.media.bytes()),
    };
    section.add(source, "media_written_bytes", "Written to the media", "B", media);
    let amplification = life::amplification(results);
    section.add(
        source,
        "write_amplification",
        "Write amplification of its life",
        "",
        amplification,
    );
    let evidence = reported(&results.media, |(source, _)| {
        Some(format!("{}; {}", source.name(), source.evidence()))
    });
    section.add(source, "media_counter", "Media writes counted by", "", evidence);
    add_smart_counters(&mut section, results, &hosts);
    let entries = reported(&results.controller, |c| Some(c.error_entries));
    section.add(CONTROLLER, "error_log_room", "Error log capacity", "", entries);
    let minutes = reported(&results.controller, |c| c.self_test_minutes);
    section.add(CONTROLLER, "self_test_minutes", "Time of an extended self-test", "min", minutes);
    let power = reported(health, |health| health.power_w);
    section.add(SMART, "power_w", "Mean power of the last second", "W", power);
    let overheated = reported(statistics, |statistics| statistics.overheated_minutes);
    section.add(STATISTICS, "overheated_minutes", "Time over temperature", "min", overheated);
    let attributes = reported(&results.attributes, |attributes| {
        let row = |one: &crate::ata::SmartAttribute| {
            let name = usual_name(one.id).unwrap_or("vendor specific");
            vec![one.id.into(), name.into(), one.value.into(), one.worst.into(), one.raw.into()]
        };
        let columns = vec!["id", "usual_name", "value", "worst", "raw"];
        Some(Table { columns, rows: attributes.iter().map(row).collect() })
    });
    section.add("SMART data", "attributes", "Attributes", "", attributes);
    section
}

/// Adds the counters that NVMe and ATA drives report.
fn add_common_counters(section: &mut Section, results: &QueryResults, hosts: &HostBytes) {
    let health = &results.health;
    let both: [(&str, &str, &'static str, FromHealth, Value); 5] = [
        ("written_bytes", "Written by hosts", "B", |h| h.written_bytes, hosts.written.clone()),
        ("read_bytes", "Read by hosts", "B", |h| h.read_bytes, hosts.read.clone()),
        ("media_errors", "Media errors", "", |h| h.media_errors, paired::media_errors(results)),
        (
            "power_on_hours",
            "Power-on hours",
            "h",
            |h| h.power_on_hours,
            paired::power_on_hours(results),
        ),
        ("power_cycles", "Power cycles", "", |h| h.power_cycles, paired::power_cycles(results)),
    ];
    for (key, label, unit, nvme, ata) in both {
        section.add(SMART, key, label, unit, first_known([reported(health, nvme), ata]));
    }
    let counter = match results.statistics {
        Err(ref reason) if reason == NOT_ATA => Value::Missing(reason.clone()),
        _ => hosts.counter.clone(),
    };
    section.add(STATISTICS, "host_counter", "Host writes counted by", "", counter);
}

/// Adds the counters that only the SMART log of NVMe drives has.
fn add_smart_counters(section: &mut Section, results: &QueryResults, hosts: &HostBytes) {
    let only: [(&str, &str, &'static str, FromHealth); 12] = [
        ("unsafe_shutdowns", "Unsafe shutdowns", "", |h| h.unsafe_shutdowns),
        ("error_log_entries", "Error log entries", "", |h| h.error_log_entries),
        ("write_commands", "Write commands", "", |h| h.write_commands),
        ("read_commands", "Read commands", "", |h| h.read_commands),
        ("busy_minutes", "Controller busy time", "min", |h| h.busy_minutes),
        ("warning_minutes", "Above its warning temperature", "min", |h| {
            Some(h.warning_minutes.into())
        }),
        ("critical_minutes", "Above its critical temperature", "min", |h| {
            Some(h.critical_minutes.into())
        }),
        ("light_throttles", "Transitions to light throttling", "", |h| {
            Some(h.light_throttles.into())
        }),
        ("light_throttle_s", "Time in light throttling", "s", |h| Some(h.light_throttle_s.into())),
        ("heavy_throttles", "Transitions to heavy throttling", "", |h| {
            Some(h.heavy_throttles.into())
        }),
        ("heavy_throttle_s", "Time in heavy throttling", "s", |h| Some(h.heavy_throttle_s.into())),
        ("lifetime_wh", "Lifetime energy", "Wh", |h| h.lifetime_wh),
    ];
    for (key, label, unit, get) in only {
        let ata = match key {
            "write_commands" => hosts.write_commands.clone(),
            "read_commands" => hosts.read_commands.clone(),
            _ => Value::Missing(NOT_NVME.into()),
        };
        let nvme = reported(&results.health, get);
        section.add(
            SMART,
            key,
            label,
            unit,
            if nvme == Value::Missing(NOT_NVME.into()) { ata } else { nvme },
        );
    }
}
