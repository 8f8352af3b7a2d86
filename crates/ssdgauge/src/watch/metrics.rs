//! Runs that are watched as OpenMetrics text.

use super::followed::{Followed, Standing, Watched};
use super::second::{Moved, Second, Side};
use super::words;
use ssdgauge_core::{Direction, Severity};
use ssdgauge_report::{sanitize_device, sanitize_prose};

/// A family of metrics: name, kind, unit, help, and its samples of one run.
struct Family {
    name: &'static str,
    kind: &'static str,
    unit: &'static str,
    help: &'static str,
    samples: fn(&Followed) -> Vec<Sample>,
}

/// A sample of a family: labels of its own, and its value.
type Sample = (Vec<(&'static str, String)>, f64);

/// Every family. The names are used by the dashboard in docs/grafana, which a test compares.
const FAMILIES: [Family; 15] = [
    Family {
        name: "ssdgauge_run",
        kind: "info",
        unit: "",
        help: "Suite, step and drive of a run.",
        samples: info,
    },
    Family {
        name: "ssdgauge_run_state",
        kind: "stateset",
        unit: "",
        help: "State of a run.",
        samples: states,
    },
    Family {
        name: "ssdgauge_run_iops",
        kind: "gauge",
        unit: "",
        help: "Requests a second in the last recorded second.",
        samples: |run| of_sides(run, |side, second| Some(side.iops(second.length))),
    },
    Family {
        name: "ssdgauge_run_throughput_bytes_per_second",
        kind: "gauge",
        unit: "bytes_per_second",
        help: "Throughput in the last recorded second.",
        samples: |run| of_sides(run, |side, second| Some(side.mb_s(second.length) * 1e6)),
    },
    Family {
        name: "ssdgauge_run_latency_mean_seconds",
        kind: "gauge",
        unit: "seconds",
        help: "Mean latency of the last recorded second.",
        samples: |run| of_sides(run, |side, _| side.lat_mean_us.map(|us| us / 1e6)),
    },
    Family {
        name: "ssdgauge_run_latency_p99_seconds",
        kind: "gauge",
        unit: "seconds",
        help: "99th percentile of latency of the last recorded second.",
        samples: |run| of_sides(run, |side, _| side.lat_p99_us.map(|us| us / 1e6)),
    },
    Family {
        name: "ssdgauge_run_latency_max_seconds",
        kind: "gauge",
        unit: "seconds",
        help: "Highest latency of the last recorded second.",
        samples: |run| of_sides(run, |side, _| side.lat_max_us.map(|us| us / 1e6)),
    },
    Family {
        name: "ssdgauge_run_requests",
        kind: "counter",
        unit: "",
        help: "Completed requests since the start of the run.",
        samples: |run| of_totals(run, |totals| totals.ios),
    },
    Family {
        name: "ssdgauge_run_transferred_bytes",
        kind: "counter",
        unit: "bytes",
        help: "Bytes of the completed requests since the start of the run.",
        samples: |run| of_totals(run, |totals| totals.bytes),
    },
    Family {
        name: "ssdgauge_run_errors",
        kind: "counter",
        unit: "",
        help: "Failed requests since the start of the run.",
        samples: |run| of_totals(run, |totals| totals.errors),
    },
    Family {
        name: "ssdgauge_run_temperature_celsius",
        kind: "gauge",
        unit: "celsius",
        help: "Temperature of the drive.",
        samples: |run| of_last(run, |second| second.temperature_c),
    },
    Family {
        name: "ssdgauge_run_power_watts",
        kind: "gauge",
        unit: "watts",
        help: "Power of the narrowest scope that is measured.",
        samples: |run| of_last(run, |second| second.power_w),
    },
    Family {
        name: "ssdgauge_run_findings",
        kind: "gauge",
        unit: "",
        help: "Findings of a run, by severity.",
        samples: findings,
    },
    Family {
        name: "ssdgauge_run_finished_steps",
        kind: "gauge",
        unit: "",
        help: "Steps that have finished.",
        samples: |run| vec![(Vec::new(), run.finished().len() as f64)],
    },
    Family {
        name: "ssdgauge_run_left_seconds",
        kind: "gauge",
        unit: "seconds",
        help: "Expected rest of the run.",
        samples: |run| {
            let is_running = run.standing() == Standing::Running;
            let left = if is_running { run.left().as_secs_f64() } else { 0.0 };
            vec![(Vec::new(), left)]
        },
    },
];

/// Returns the runs as OpenMetrics text. A value that is not recorded has no sample.
pub(crate) fn text(all: &[Watched]) -> String {
    let mut text = String::new();
    for family in &FAMILIES {
        let Family { name, kind, unit, help, samples } = family;
        text.push_str(&format!("# TYPE {name} {kind}\n"));
        if !unit.is_empty() {
            text.push_str(&format!("# UNIT {name} {unit}\n"));
        }
        text.push_str(&format!("# HELP {name} {help}\n"));
        let suffix = match *kind {
            "counter" => "_total",
            "info" => "_info",
            _ => "",
        };
        for one in all.iter().filter(|one| one.lost.is_none()) {
            for (own, value) in samples(&one.run) {
                let labels = labels(&one.run, &own);
                text.push_str(&format!("{name}{suffix}{{{labels}}} {value}\n"));
            }
        }
    }
    text.push_str("# EOF\n");
    text
}

/// Returns the labels that every sample of a run has, and `own`.
fn labels(run: &Followed, own: &[(&'static str, String)]) -> String {
    let head = run.head();
    let drive = &head.drive;
    let serial = drive.serial.as_deref().map(sanitize_device).unwrap_or_default();
    let of_run = [
        ("run", sanitize_prose(&head.id)),
        ("drive", sanitize_device(drive.name())),
        ("serial", serial),
        ("data", if drive.is_model() { "MODEL" } else { "measured" }.to_owned()),
    ];
    let pair = |(key, value): (&str, &str)| format!("{key}=\"{}\"", escaped(value));
    let of_run = of_run.iter().map(|(key, value)| pair((key, value)));
    let own = own.iter().map(|(key, value)| pair((key, value)));
    of_run.chain(own).collect::<Vec<_>>().join(",")
}

/// Escapes the value of a label by the rules of OpenMetrics.
fn escaped(value: &str) -> String {
    value.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n")
}

fn info(run: &Followed) -> Vec<Sample> {
    let step = run.current().map(|step| run.title(step.place)).unwrap_or_default();
    let own = vec![
        ("suite", words::suite(run)),
        ("step", step),
        ("step_number", words::step_number(run)),
        ("file", sanitize_prose(&run.path().display().to_string())),
    ];
    vec![(own, 1.0)]
}

fn states(run: &Followed) -> Vec<Sample> {
    let all = [Standing::Running, Standing::Finished, Standing::Interrupted, Standing::Killed];
    let sample = |state| {
        let is_it = f64::from(u8::from(state == run.standing()));
        (vec![("ssdgauge_run_state", words::standing(state).to_owned())], is_it)
    };
    all.into_iter().map(sample).collect()
}

fn of_sides(run: &Followed, value: fn(&Side, &Second) -> Option<f64>) -> Vec<Sample> {
    let Some(second) = run.seconds().back() else { return Vec::new() };
    let sample = |side: &Side| {
        let label = vec![("direction", side.direction.name().to_owned())];
        Some((label, value(side, second)?))
    };
    second.sides.iter().filter_map(sample).collect()
}

fn of_last(run: &Followed, value: fn(&Second) -> Option<f64>) -> Vec<Sample> {
    run.seconds().back().and_then(value).map(|value| (Vec::new(), value)).into_iter().collect()
}

fn of_totals(run: &Followed, value: fn(&Moved) -> u64) -> Vec<Sample> {
    let sample = |direction: Direction| {
        let moved = run.moved(direction);
        (vec![("direction", direction.name().to_owned())], value(&moved) as f64)
    };
    Direction::TRANSFERS.into_iter().map(sample).collect()
}

fn findings(run: &Followed) -> Vec<Sample> {
    let sample = |severity: Severity| {
        let is_it = run.findings().iter().filter(|one| one.finding.severity == severity);
        (vec![("severity", severity.name().to_owned())], is_it.count() as f64)
    };
    [Severity::Note, Severity::Warning, Severity::Invalid].map(sample).into()
}
