//! The tables of a run. Each row repeats what identifies the run and its drive, so that most
//! questions need one table.

use crate::table::Kind::{Boolean, Integer, Integers, Real, Small, Text, Time};
use crate::table::{Cell, Column, Kind, Table};
use ssdgauge_analysis::{PointRun, Run, TestRun, sanitize_device, sanitize_prose};
use ssdgauge_core::{Detail, Direction, PowerScope, Severity};
use ssdgauge_export::values;

/// The first columns of every table.
const OF_RUN: [Column; 15] = [
    required("run_id", Text),
    optional("started", Time),
    required("suite_id", Text),
    required("suite_revision", Small),
    required("shortened", Small),
    required("complete", Boolean),
    required("invalid", Boolean),
    required("model", Text),
    optional("firmware", Text),
    optional("serial", Text),
    optional("capacity_bytes", Integer),
    required("drive_kind", Text),
    optional("model_data", Text),
    optional("label", Text),
    optional("imported_from", Text),
];
const RUN: [Column; 4] = [
    required("program", Text),
    optional("model_revision", Small),
    optional("kernel", Text),
    optional("processor", Text),
];
const VALUE: [Column; 10] = [
    required("test_id", Text),
    required("test_revision", Small),
    required("step", Text),
    optional("position", Real),
    required("metric", Text),
    required("unit", Text),
    optional("value", Real),
    optional("low", Real),
    optional("high", Real),
    // Not in tables that were written before the column.
    optional("latency_of", Text),
];
const STEP: [Column; 13] = [
    required("test_id", Text),
    required("test_revision", Small),
    required("step", Text),
    optional("position", Real),
    required("direction", Text),
    required("seconds", Real),
    required("requests", Integer),
    required("bytes", Integer),
    required("errors", Integer),
    required("max_ns", Integer),
    required("overflow", Integer),
    required("bucket_ns", Integers),
    required("bucket_requests", Integers),
];
const SECOND: [Column; 21] = [
    required("test_id", Text),
    required("test_revision", Small),
    required("step", Text),
    optional("position", Real),
    required("second", Small),
    required("iops", Real),
    required("throughput_mb_s", Real),
    optional("lat_mean_us", Real),
    optional("lat_p99_us", Real),
    optional("lat_max_us", Real),
    // Not in tables that were written before the column.
    optional("latency_of", Text),
    optional("temperature_c", Real),
    optional("power_w", Real),
    optional("power_scope", Text),
    optional("read_iops", Real),
    optional("write_iops", Real),
    optional("flush_iops", Real),
    optional("trim_iops", Real),
    optional("read_mb_s", Real),
    optional("write_mb_s", Real),
    optional("trim_mb_s", Real),
];
const FINDING: [Column; 6] = [
    optional("test_id", Text),
    optional("step", Text),
    required("finding", Text),
    required("severity", Text),
    required("text", Text),
    required("advice", Text),
];

const fn required(name: &'static str, kind: Kind) -> Column {
    Column::required(name, kind)
}

const fn optional(name: &'static str, kind: Kind) -> Column {
    Column::optional(name, kind)
}

/// The version of the tables: raised where a column changes its meaning or its type. 2 since `complete` is a
/// truth value in every table and whole numbers have their sizes.
pub const SCHEMA_VERSION: u32 = 2;

/// The names of all tables.
pub const TABLES: [&str; 5] = ["run", "value", "step", "finding", "second"];

/// Returns the tables `run`, `value`, `step` and `finding` of `run`, and `second` where `with_seconds`.
pub fn tables(run: &Run, with_seconds: bool) -> Vec<Table> {
    let of_run = cells_of_run(run);
    let mut tables = vec![run_table(run, &of_run), value_table(run, &of_run)];
    tables.push(step_table(run, &of_run));
    tables.push(finding_table(run, &of_run));
    if with_seconds {
        tables.push(second_table(run, &of_run));
    }
    tables
}

fn cells_of_run(run: &Run) -> Vec<Cell> {
    let (head, plan, drive) = (&run.head, &run.head.plan, &run.head.drive);
    let device = |text: Option<&str>| Cell::from(text.map(sanitize_device).as_deref());
    vec![
        prose(&head.id),
        head.started().map_or(Cell::Null, Cell::Integer),
        prose(&plan.suite.id),
        Cell::from(plan.suite.revision),
        Cell::from(plan.shortened.max(1)),
        Cell::from(run.complete),
        Cell::from(run.all_findings().iter().any(|one| one.finding.severity == Severity::Invalid)),
        device(Some(drive.name())),
        device(drive.firmware.as_deref()),
        device(drive.serial.as_deref()),
        drive.known_capacity().map_or(Cell::Null, |capacity| Cell::from(capacity.0)),
        Cell::from(drive.kind.name()),
        Cell::from(run.is_model().then_some("MODEL")),
        host(run, "label"),
        host(run, "imported_from"),
    ]
}

/// Returns an entry of the environment of `run`.
fn host(run: &Run, key: &str) -> Cell {
    run.head.environment.get(key).map_or(Cell::Null, |text| prose(text))
}

fn prose(text: &str) -> Cell {
    Cell::Text(sanitize_prose(text))
}

fn run_table(run: &Run, of_run: &[Cell]) -> Table {
    let mut table = Table::new("run", &[&OF_RUN, &RUN]);
    let revision =
        run.head.drive.number::<u32>(Detail::ModelRevision).map_or(Cell::Null, Cell::from);
    let own = [prose(&run.head.program), revision, host(run, "kernel"), host(run, "processor")];
    table.push(of_run.iter().cloned().chain(own).collect());
    table
}

fn value_table(run: &Run, of_run: &[Cell]) -> Table {
    let mut table = Table::new("value", &[&OF_RUN, &VALUE]);
    for value in values(run) {
        let (low, high) = value.interval.unzip();
        let own = [
            prose(&value.test.test.id),
            Cell::from(value.test.test.revision),
            prose(&value.place),
            Cell::from(value.position),
            Cell::from(value.key.as_str()),
            Cell::from(value.metric.unit()),
            Cell::from(value.value),
            Cell::from(low),
            Cell::from(high),
            Cell::from(value.latency_of.as_deref()),
        ];
        table.push(of_run.iter().cloned().chain(own).collect());
    }
    table
}

/// Returns the cells that identify a step.
fn place(test: &TestRun, point: &PointRun) -> [Cell; 4] {
    [
        prose(&test.test.id),
        Cell::from(test.test.revision),
        prose(&point.point.label),
        Cell::from(Some(point.point.position)),
    ]
}

fn steps(run: &Run) -> impl Iterator<Item = (&TestRun, &PointRun)> {
    run.tests.iter().flat_map(|test| test.points.iter().map(move |point| (test, point)))
}

fn step_table(run: &Run, of_run: &[Cell]) -> Table {
    let mut table = Table::new("step", &[&OF_RUN, &STEP]);
    for (test, point) in steps(run) {
        for direction in Direction::ALL {
            let totals = &point.point.totals.directions[direction as usize];
            if totals.ios == 0 && totals.errors == 0 {
                continue;
            }
            let latency = &totals.latency;
            let (values, counts): (Vec<_>, Vec<_>) =
                latency.highest_values().map(|(value, n)| (value as i64, n as i64)).unzip();
            let own = [
                Cell::from(direction.name()),
                Cell::Real(match totals.own_rate {
                    Some(own) if own.iops > 0.0 => totals.ios as f64 / own.iops,
                    Some(_) | None => point.point.totals.elapsed.as_secs_f64(),
                }),
                Cell::from(totals.ios),
                Cell::from(totals.bytes),
                Cell::from(totals.errors),
                Cell::from(latency.max().unwrap_or(0)),
                Cell::from(latency.overflow()),
                Cell::Integers(values),
                Cell::Integers(counts),
            ];
            table.push(of_run.iter().cloned().chain(place(test, point)).chain(own).collect());
        }
    }
    table
}

fn second_table(run: &Run, of_run: &[Cell]) -> Table {
    let mut table = Table::new("second", &[&OF_RUN, &SECOND]);
    for (test, point) in steps(run) {
        // An imported result without a course in time has one interval, which is not a second.
        let mut directions = point.point.totals.directions.iter();
        if directions.any(|totals| totals.own_rate.is_some()) {
            continue;
        }
        // A meter of a wider scope does not replace one of a narrower scope in a second without a reading.
        let scope = point.point.totals.power().map(|(scope, _)| scope);
        let latency_of = point.latency_of();
        for second in point.seconds() {
            let power = scope.and_then(|scope| second.reading(scope.quantity()));
            let own = [
                Cell::from(second.second),
                Cell::from(Some(second.iops())),
                Cell::from(Some(second.throughput_mb_s())),
                Cell::from(second.lat_mean_us()),
                Cell::from(second.lat_p99_us),
                Cell::from(second.lat_max_us()),
                Cell::from(second.lat_max_us().and(latency_of.as_deref())),
                Cell::from(second.reading("temperature_c")),
                Cell::from(power),
                Cell::from(power.and(scope).map(PowerScope::name)),
            ];
            let requests = Direction::ALL.map(|direction| Cell::from(second.iops_of(direction)));
            let moved = Direction::ALL.into_iter().filter(|direction| direction.addresses());
            let moved = moved.map(|direction| Cell::from(second.throughput_mb_s_of(direction)));
            let row = of_run.iter().cloned().chain(place(test, point)).chain(own);
            table.push(row.chain(requests).chain(moved).collect());
        }
    }
    table
}

fn finding_table(run: &Run, of_run: &[Cell]) -> Table {
    let mut table = Table::new("finding", &[&OF_RUN, &FINDING]);
    for located in run.all_findings() {
        let finding = located.finding;
        let own = [
            located.test.map_or(Cell::Null, |test| prose(&test.id)),
            located.step.map_or(Cell::Null, prose),
            Cell::from(finding.kind.key()),
            Cell::from(finding.severity.name()),
            prose(&finding.text),
            prose(&finding.advice),
        ];
        table.push(of_run.iter().cloned().chain(own).collect());
    }
    table
}
