//! The tables of a run. Each row repeats what identifies the run and its drive, so that most
//! questions need one table.

use crate::table::Kind::{Integer, Integers, Real, Text, Time};
use crate::table::{Cell, Kind, Table};
use ssdgauge_core::Direction;
use ssdgauge_report::{PointRun, Run, TestRun, sanitize_device, sanitize_prose, values};

/// The first columns of every table.
const OF_RUN: [(&str, Kind); 13] = [
    ("run_id", Text),
    ("started", Time),
    ("suite_id", Text),
    ("suite_revision", Integer),
    ("shortened", Integer),
    ("model", Text),
    ("firmware", Text),
    ("serial", Text),
    ("capacity_bytes", Integer),
    ("drive_kind", Text),
    ("model_data", Text),
    ("label", Text),
    ("imported_from", Text),
];
const RUN: [(&str, Kind); 5] = [
    ("program", Text),
    ("model_revision", Integer),
    ("complete", Text),
    ("kernel", Text),
    ("processor", Text),
];
const VALUE: [(&str, Kind); 9] = [
    ("test_id", Text),
    ("test_revision", Integer),
    ("step", Text),
    ("position", Real),
    ("metric", Text),
    ("unit", Text),
    ("value", Real),
    ("low", Real),
    ("high", Real),
];
const STEP: [(&str, Kind); 13] = [
    ("test_id", Text),
    ("test_revision", Integer),
    ("step", Text),
    ("position", Real),
    ("direction", Text),
    ("seconds", Real),
    ("requests", Integer),
    ("bytes", Integer),
    ("errors", Integer),
    ("max_ns", Integer),
    ("overflow", Integer),
    ("bucket_ns", Integers),
    ("bucket_requests", Integers),
];
const SECOND: [(&str, Kind); 18] = [
    ("test_id", Text),
    ("test_revision", Integer),
    ("step", Text),
    ("position", Real),
    ("second", Integer),
    ("iops", Real),
    ("throughput_mb_s", Real),
    ("lat_mean_us", Real),
    ("lat_p99_us", Real),
    ("lat_max_us", Real),
    ("temperature_c", Real),
    ("read_iops", Real),
    ("write_iops", Real),
    ("flush_iops", Real),
    ("trim_iops", Real),
    ("read_mb_s", Real),
    ("write_mb_s", Real),
    ("trim_mb_s", Real),
];
const FINDING: [(&str, Kind); 6] = [
    ("test_id", Text),
    ("step", Text),
    ("finding", Text),
    ("severity", Text),
    ("text", Text),
    ("advice", Text),
];

/// The names of all tables.
pub const TABLES: [&str; 5] = ["run", "value", "step", "finding", "second"];

/// Returns the table `name` without rows; `None` for another name than those of [`TABLES`].
pub(crate) fn empty(name: &str) -> Option<Table> {
    let own: &[(&'static str, Kind)] = match name {
        "run" => &RUN,
        "value" => &VALUE,
        "step" => &STEP,
        "finding" => &FINDING,
        "second" => &SECOND,
        _ => return None,
    };
    let name = TABLES.into_iter().find(|known| *known == name)?;
    Some(Table::new(name, &[&OF_RUN, own]))
}

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

fn of_table(name: &str) -> Table {
    empty(name).expect("the tables of this file are in the list")
}

fn cells_of_run(run: &Run) -> Vec<Cell> {
    let (head, plan, drive) = (&run.head, &run.head.plan, &run.head.drive);
    let device = |text: Option<&str>| Cell::from(text.map(sanitize_device).as_deref());
    vec![
        prose(&head.id),
        Cell::Integer(head.started_unix_ms),
        prose(&plan.suite.id),
        Cell::from(u64::from(plan.suite.revision)),
        Cell::from(u64::from(plan.shortened.max(1))),
        device(Some(drive.name())),
        device(drive.firmware.as_deref()),
        device(drive.serial.as_deref()),
        Cell::from(drive.capacity.0),
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
    let mut table = of_table("run");
    let revision = run.head.drive.details.get("model_revision");
    let revision = revision.and_then(|text| text.parse().ok()).map_or(Cell::Null, Cell::Integer);
    let own = [
        prose(&run.head.program),
        revision,
        Cell::from(if run.complete { "yes" } else { "no" }),
        host(run, "kernel"),
        host(run, "processor"),
    ];
    table.push(of_run.iter().cloned().chain(own).collect());
    table
}

fn value_table(run: &Run, of_run: &[Cell]) -> Table {
    let mut table = of_table("value");
    for value in values(run) {
        let (low, high) = value.interval.unzip();
        let own = [
            prose(&value.test.test.id),
            Cell::from(u64::from(value.test.test.revision)),
            prose(&value.place),
            Cell::from(value.position),
            Cell::from(value.key.as_str()),
            Cell::from(value.metric.unit()),
            Cell::from(value.value),
            Cell::from(low),
            Cell::from(high),
        ];
        table.push(of_run.iter().cloned().chain(own).collect());
    }
    table
}

/// Returns the cells that identify a step.
fn place(test: &TestRun, point: &PointRun) -> [Cell; 4] {
    [
        prose(&test.test.id),
        Cell::from(u64::from(test.test.revision)),
        prose(&point.point.label),
        Cell::from(Some(point.point.position)),
    ]
}

fn steps(run: &Run) -> impl Iterator<Item = (&TestRun, &PointRun)> {
    run.tests.iter().flat_map(|test| test.points.iter().map(move |point| (test, point)))
}

fn step_table(run: &Run, of_run: &[Cell]) -> Table {
    let mut table = of_table("step");
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
                Cell::Real(point.point.totals.elapsed.as_secs_f64()),
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
    let mut table = of_table("second");
    for (test, point) in steps(run) {
        for second in point.seconds() {
            let own = [
                Cell::from(u64::from(second.second)),
                Cell::from(Some(second.iops())),
                Cell::from(Some(second.throughput_mb_s())),
                Cell::from(second.lat_mean_us()),
                Cell::from(second.lat_p99_us),
                Cell::from(second.lat_max_us()),
                Cell::from(second.reading("temperature_c")),
            ];
            let requests = Direction::ALL.map(|direction| Cell::from(second.iops_of(direction)));
            let moved = [Direction::Read, Direction::Write, Direction::Trim]
                .map(|direction| Cell::from(second.throughput_mb_s_of(direction)));
            let row = of_run.iter().cloned().chain(place(test, point)).chain(own);
            table.push(row.chain(requests).chain(moved).collect());
        }
    }
    table
}

fn finding_table(run: &Run, of_run: &[Cell]) -> Table {
    let mut table = of_table("finding");
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
