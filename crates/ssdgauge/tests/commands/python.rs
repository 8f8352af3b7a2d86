//! The programs of docs/python.md, docs/fleet.md and docs/fleet.sql, on the numbers of a report.

use crate::support::{Bench, text, write_figure};
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The largest difference to the report, relative: buckets are 0.1 % wide.
const TOLERANCE: f64 = 1e-3;

/// Returns the Python with the packages of `tests/python`; `None` where it is not installed.
fn python() -> Option<PathBuf> {
    let setup = root().join("tests/python/setup");
    let output = Command::new(setup).output().unwrap();
    let path = text(&output.stdout).trim().to_owned();
    if !output.status.success() {
        println!("skipped: tests/python/setup --install installs the packages of the Python index");
        return None;
    }
    Some(path.into())
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Returns the programs in `language` of a page.
fn programs(page: &str, language: &str) -> Vec<String> {
    let text = std::fs::read_to_string(root().join("docs").join(page)).unwrap();
    let fence = format!("```{language}\n");
    let parts = text.split(&fence).skip(1);
    parts.map(|part| part.split("```").next().unwrap().to_owned()).collect()
}

/// Runs a program in the folder of the bench, and returns the rows that it prints as JSON lines.
fn rows(python: &Path, bench: &Bench, program: &str) -> Vec<Value> {
    let mut command = Command::new(python);
    let output = command.arg("-c").arg(program).current_dir(bench.folder.path()).output().unwrap();
    assert!(output.status.success(), "{}\n{program}", text(&output.stderr));
    let lines = text(&output.stdout);
    let lines = lines.lines().filter(|line| line.starts_with('{'));
    lines.map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// A run of some seconds on a virtual drive, and its report.
fn bench() -> (Bench, Value) {
    let bench = Bench::new();
    let line = ["quick", "sim:tlc-client", "--shorten", "5", "--out", "quick.ssdg"];
    bench.print(&line);
    let report = bench.print(&["report", "quick.ssdg", "--json"]);
    (bench, serde_json::from_str(&report).unwrap())
}

/// Returns a metric of the report at a point: of one direction where the point has two.
fn reported(report: &Value, row: &Value, metric: &str) -> f64 {
    let text = |key: &str| row[key].as_str().unwrap().to_owned();
    let tests = report["runs"][0]["tests"].as_array().unwrap();
    let test = tests.iter().find(|test| test["id"] == text("test_id").as_str()).unwrap();
    let points = test["points"].as_array().unwrap();
    let label = text(if row["label"].is_null() { "step" } else { "label" });
    let point = points.iter().find(|point| point["label"] == label.as_str()).unwrap();
    let metrics = &point["metrics"];
    let of_direction = metrics[format!("{}_{metric}", text("direction"))].as_f64();
    of_direction.or(metrics[metric].as_f64()).unwrap()
}

fn assert_close(found: f64, expected: f64, row: &Value) {
    assert!((found / expected - 1.0).abs() <= TOLERANCE, "{found}, report {expected}: {row}");
}

#[test]
fn the_programs_of_the_documentation_print_the_numbers_of_the_report() {
    let Some(python) = python() else { return };
    let (bench, report) = bench();

    let pages = programs("python.md", "python");
    assert_eq!(pages.len(), 2);
    let as_lines = "\nprint(table.reset_index().to_json(orient='records', lines=True))";
    let of_pandas = rows(&python, &bench, &(pages[0].clone() + as_lines));
    assert!(of_pandas.len() >= 12, "{of_pandas:?}");
    for row in &of_pandas {
        assert_close(row["iops"].as_f64().unwrap(), reported(&report, row, "iops"), row);
        assert_close(row["p99_us"].as_f64().unwrap(), reported(&report, row, "lat_p99_us"), row);
    }
    let of_polars = rows(&python, &bench, &(pages[1].clone() + "\nprint(table.write_ndjson())"));
    assert!(of_polars.len() > of_pandas.len(), "{of_polars:?}");

    bench.print(&["export", "--parquet", "runs-tables", "quick.ssdg"]);
    let sql = root().join("docs/fleet.sql");
    let query = format!(
        "import duckdb\nimport json\nconnection = duckdb.connect()\n\
         connection.execute(open({sql:?}).read())\n\
         table = connection.sql('SELECT * FROM percentile(0.99)')\n\
         for row in table.fetchall():\n \
         print(json.dumps(dict(zip(table.columns, row)), default=float))"
    );
    let of_sql = rows(&python, &bench, &query);
    assert_eq!(of_sql.len(), of_pandas.len());
    for row in &of_sql {
        let expected = reported(&report, row, "lat_p99_us");
        assert!((row["latency_us"].as_f64().unwrap() - expected).abs() < 1e-9, "{row}");
    }
    let fleet = programs("fleet.md", "python");
    for program in &fleet {
        rows(&python, &bench, program);
    }
    write_figure(
        "python-and-sql",
        &format!("{} percentiles", of_pandas.len() + of_sql.len()),
        "as in the report: DuckDB equal, HdrHistogram within 0.1 %",
        "cargo test -p ssdgauge --test commands programs_of_the_documentation",
    );
}
