//! Runs that are watched as metrics for monitoring systems.

use super::followed::{Followed, Standing, Watched};
use super::second::{Moved, Second};
use super::words;
use ssdgauge_analysis::{sanitize_device, sanitize_prose};
use ssdgauge_core::{Direction, Severity, Side};
use ssdgauge_export::{Exposition, MetricFamily, MetricKind, MetricSample};

/// A family of metrics, and its samples of one run: labels of its own, and the value.
type Family = (MetricFamily, fn(&Followed) -> Vec<MetricSample>);

const fn family(
    name: &'static str,
    kind: MetricKind,
    unit: &'static str,
    help: &'static str,
) -> MetricFamily {
    MetricFamily { name, kind, unit, help }
}

/// Every family. The names are used by the dashboard in docs/grafana, which a test compares.
const FAMILIES: [Family; 15] = [
    (family("ssdgauge_run", MetricKind::Info, "", "Suite, step and drive of a run."), info),
    (family("ssdgauge_run_state", MetricKind::StateSet, "", "State of a run."), states),
    (
        family(
            "ssdgauge_run_iops",
            MetricKind::Gauge,
            "",
            "Requests a second in the last recorded second.",
        ),
        |run| of_sides(run, |side, second| second.load.rate(side.ios)),
    ),
    (
        family(
            "ssdgauge_run_throughput_bytes_per_second",
            MetricKind::Gauge,
            "bytes_per_second",
            "Throughput in the last recorded second.",
        ),
        |run| of_sides(run, |side, second| second.load.rate(side.bytes)),
    ),
    (
        family(
            "ssdgauge_run_latency_mean_seconds",
            MetricKind::Gauge,
            "seconds",
            "Mean latency of the last recorded second.",
        ),
        |run| of_sides(run, |side, _| side.lat_mean_us.map(|us| us / 1e6)),
    ),
    (
        family(
            "ssdgauge_run_latency_p99_seconds",
            MetricKind::Gauge,
            "seconds",
            "99th percentile of latency of the last recorded second.",
        ),
        |run| of_sides(run, |side, _| side.lat_p99_us.map(|us| us / 1e6)),
    ),
    (
        family(
            "ssdgauge_run_latency_max_seconds",
            MetricKind::Gauge,
            "seconds",
            "Highest latency of the last recorded second.",
        ),
        |run| of_sides(run, |side, _| side.lat_max_us.map(|us| us / 1e6)),
    ),
    (
        family(
            "ssdgauge_run_requests",
            MetricKind::Counter,
            "",
            "Completed requests since the start of the run.",
        ),
        |run| of_totals(run, |totals| totals.ios),
    ),
    (
        family(
            "ssdgauge_run_transferred_bytes",
            MetricKind::Counter,
            "bytes",
            "Bytes of the completed requests since the start of the run.",
        ),
        |run| of_totals(run, |totals| totals.bytes),
    ),
    (
        family(
            "ssdgauge_run_errors",
            MetricKind::Counter,
            "",
            "Failed requests since the start of the run.",
        ),
        |run| of_totals(run, |totals| totals.errors),
    ),
    (
        family(
            "ssdgauge_run_temperature_celsius",
            MetricKind::Gauge,
            "celsius",
            "Temperature of the drive.",
        ),
        |run| of_last(run, |second| second.temperature_c),
    ),
    (
        family(
            "ssdgauge_run_power_watts",
            MetricKind::Gauge,
            "watts",
            "Power of the narrowest scope that is measured.",
        ),
        |run| of_last(run, |second| second.power_w),
    ),
    (
        family("ssdgauge_run_findings", MetricKind::Gauge, "", "Findings of a run, by severity."),
        findings,
    ),
    (
        family("ssdgauge_run_finished_steps", MetricKind::Gauge, "", "Steps that have finished."),
        |run| vec![(Vec::new(), run.finished().len() as f64)],
    ),
    (
        family(
            "ssdgauge_run_left_seconds",
            MetricKind::Gauge,
            "seconds",
            "Expected rest of the run.",
        ),
        |run| {
            let is_running = run.standing() == Standing::Running;
            let left = if is_running { run.left().as_secs_f64() } else { 0.0 };
            vec![(Vec::new(), left)]
        },
    ),
];

/// Returns the runs as text of `format`. A value that is not recorded has no sample.
pub fn text(all: &[Watched], format: Exposition) -> String {
    format.text(FAMILIES.iter().map(|(family, samples)| {
        let readable = all.iter().filter(|one| one.lost.is_none());
        let of_run = |one: &Watched| -> Vec<MetricSample> {
            let with_labels = |(own, value)| (labels(&one.run, own), value);
            samples(&one.run).into_iter().map(with_labels).collect()
        };
        (*family, readable.flat_map(of_run).collect())
    }))
}

/// Returns the labels that every sample of a run has, and `own`.
fn labels(run: &Followed, own: Vec<(&'static str, String)>) -> Vec<(&'static str, String)> {
    let head = run.head();
    let drive = &head.drive;
    let serial = drive.serial.as_deref().map(sanitize_device).unwrap_or_default();
    let of_run = [
        ("run", sanitize_prose(&head.id)),
        ("drive", sanitize_device(drive.name())),
        ("serial", serial),
        ("data", ssdgauge_analysis::data_origin(head)),
    ];
    of_run.into_iter().chain(own).collect()
}

fn info(run: &Followed) -> Vec<MetricSample> {
    let step = run.current().map(|step| run.title(step.place)).unwrap_or_default();
    let own = vec![
        ("suite", words::suite(run)),
        ("step", step),
        ("step_number", words::step_number(run)),
        ("file", sanitize_prose(&run.path().display().to_string())),
    ];
    vec![(own, 1.0)]
}

fn states(run: &Followed) -> Vec<MetricSample> {
    let all = [Standing::Running, Standing::Finished, Standing::Interrupted, Standing::Killed];
    let sample = |state| {
        let is_it = f64::from(u8::from(state == run.standing()));
        (vec![("ssdgauge_run_state", words::standing(state).to_owned())], is_it)
    };
    all.into_iter().map(sample).collect()
}

fn of_sides(run: &Followed, value: fn(&Side, &Second) -> Option<f64>) -> Vec<MetricSample> {
    let Some(second) = run.latest() else { return Vec::new() };
    let sample = |side: &Side| {
        let label = vec![("direction", side.direction.name().to_owned())];
        Some((label, value(side, second)?))
    };
    second.load.sides.iter().filter_map(sample).collect()
}

fn of_last(run: &Followed, value: fn(&Second) -> Option<f64>) -> Vec<MetricSample> {
    run.seconds().back().and_then(value).map(|value| (Vec::new(), value)).into_iter().collect()
}

fn of_totals(run: &Followed, value: fn(&Moved) -> u64) -> Vec<MetricSample> {
    let sample = |direction: Direction| {
        let moved = run.moved(direction);
        (vec![("direction", direction.name().to_owned())], value(&moved) as f64)
    };
    Direction::TRANSFERS.into_iter().map(sample).collect()
}

fn findings(run: &Followed) -> Vec<MetricSample> {
    let sample = |severity: Severity| {
        let is_it = run.findings().iter().filter(|one| one.finding.severity == severity);
        (vec![("severity", severity.name().to_owned())], is_it.count() as f64)
    };
    [Severity::Note, Severity::Warning, Severity::Invalid].map(sample).into()
}
