//! The programs of docs/how-to/python.md, docs/how-to/sql.md and docs/fleet.sql, on the numbers of a report.

use crate::support::{Bench, open_to_change, text};
use crate::tiers::write_figure;
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
#[ignore = "second tier"]
fn the_programs_of_the_documentation_print_the_numbers_of_the_report() {
    let Some(python) = python() else { return };
    let (bench, report) = bench();

    let pages = programs("how-to/python.md", "python");
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
    let fleet = programs("how-to/sql.md", "python");
    for program in &fleet {
        rows(&python, &bench, program);
    }
    write_figure(
        "python-and-sql",
        &format!("{} percentiles", of_pandas.len() + of_sql.len()),
        "as in the report: DuckDB equal, HdrHistogram within 0.1 %",
        "cargo test -p ssdgauge --test it programs_of_the_documentation",
    );
}

/// Asks DuckDB `question` with the views of docs/fleet.sql.
fn ask(python: &Path, bench: &Bench, question: &str) -> Vec<Value> {
    let sql = root().join("docs/fleet.sql");
    let query = format!(
        "import duckdb\nimport json\nconnection = duckdb.connect()\n\
         connection.execute(open({sql:?}).read())\n\
         table = connection.sql({question:?})\n\
         for row in table.fetchall():\n \
         print(json.dumps(dict(zip(table.columns, row)), default=str))"
    );
    rows(python, bench, &query)
}

#[test]
#[ignore = "second tier"]
fn sql_compares_only_runs_that_are_alike_and_counts_the_others() {
    let Some(python) = python() else { return };
    let bench = Bench::new();
    std::fs::create_dir(bench.path("runs")).unwrap();
    let run = |name: &str, target: &str, options: &[&str]| {
        let out = format!("runs/{name}.ssdg");
        bench.print(&[&["quick", target, "--out", &out, "--seed", &name[1..]], options].concat());
    };
    for name in ["f1", "f2", "f3", "f4", "f5"] {
        run(name, "sim:tiny", &[]);
    }
    // Half of the channels: its sequential reads are half as fast.
    run("f6", "sim:tiny?nand.channels=1", &[]);
    for name in ["s7", "s8"] {
        run(name, "sim:tiny", &["--shorten", "20"]);
    }
    run("s9", "sim:tiny?capacity=2GB", &["--shorten", "20"]);
    // One without its last steps, and one of another program.
    run("p10", "sim:tiny", &[]);
    let part = open_to_change(bench.path("runs/p10.ssdg"));
    for table in ["interval", "reading", "finding", "property"] {
        part.execute(&format!("DELETE FROM {table} WHERE step_id > 8"), []).unwrap();
    }
    part.execute("DELETE FROM step WHERE id > 8", []).unwrap();
    drop(part);
    let latency = r#"{ "min": 90, "max": 90, "mean": 90.0, "N": 3, "bins": { "90": 3 } }"#;
    let side = r#"{ "io_bytes": 0, "runtime": 0, "total_ios": 0 }"#;
    let output = format!(
        r#"{{ "fio version": "fio-3.33", "jobs": [{{ "jobname": "a", "read": {{ "io_bytes": 12288,
        "runtime": 1000, "total_ios": 3, "clat_ns": {latency} }}, "write": {side} }}] }}"#
    );
    std::fs::write(bench.path("out.json"), output).unwrap();
    bench.print(&["import", "--fio", "out.json", "-o", "runs/imported.ssdg"]);
    bench.print(&["export", "--parquet", "runs-tables", "runs"]);

    // The second source: the rows of JSON lines, compared here.
    let lines = bench.print(&["export", "--jsonl", "runs"]);
    let all: Vec<Value> = lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(all[0]["schema_version"], 2);
    let test = "random-write-4k";
    let values = |test: &str, shortened: u64, capacity: Option<bool>| -> Vec<f64> {
        let is_here = |row: &&Value| {
            // An import does not know it.
            let is_large =
                row["capacity_bytes"].as_u64().is_some_and(|bytes| bytes > 1_500_000_000);
            row["table"] == "value"
                && row["step"] == "headline"
                && row["test_id"] == test
                && row["shortened"] == shortened
                && row["complete"] == true
                && capacity.is_none_or(|large| large == is_large)
        };
        let found = all[1..].iter().filter(is_here);
        let mut values: Vec<f64> = found.map(|row| row["value"].as_f64().unwrap()).collect();
        values.sort_by(f64::total_cmp);
        values
    };
    let (full, short) = (values(test, 1, None), values(test, 20, Some(false)));
    assert_eq!((full.len(), short.len()), (6, 2));
    // Not vacuous: compared with the full runs, the shortened ones would stand out.
    assert!(short[0] > full[5] * 1.1, "{full:?} {short:?}");

    let question = format!(
        "SELECT shortened, capacity_bytes, runs, median, least, most FROM headline \
         WHERE test_id = '{test}' ORDER BY ALL"
    );
    let found = ask(&python, &bench, &question);
    let runs: Vec<i64> = found.iter().map(|row| row["runs"].as_i64().unwrap()).collect();
    assert_eq!(runs, [6, 2, 1], "{found:?}");
    let median = found[0]["median"].as_f64().unwrap() / ((full[2] + full[3]) / 2.0);
    assert!((median - 1.0).abs() < 1e-12, "{found:?} {full:?}");
    assert_eq!(found[1]["least"].as_f64().unwrap(), short[0]);
    let reads = values("sequential-read", 1, None);
    assert!(reads[0] < reads[1] * 0.6, "{reads:?}");
    let outliers = ask(&python, &bench, "SELECT test_id, value FROM outlier");
    assert_eq!(outliers.len(), 1, "{outliers:?}");
    assert_eq!(outliers[0]["value"].as_f64().unwrap(), reads[0]);
    assert_eq!(outliers[0]["test_id"], "sequential-read");

    // The run without its last steps has a result of this test, and the imported one has a result too.
    let of_part = "SELECT runs FROM headline WHERE test_id = 'random-read-4k' \
                   ORDER BY shortened, capacity_bytes";
    let of_part = ask(&python, &bench, of_part);
    let of_part: Vec<i64> = of_part.iter().map(|row| row["runs"].as_i64().unwrap()).collect();
    assert_eq!(of_part, [6, 2, 1]);
    let suites = ask(&python, &bench, "SELECT DISTINCT suite_id FROM headline");
    assert_eq!(suites.len(), 1, "{suites:?}");

    let counts = "SELECT shortened, count(*) AS n FROM percentile(0.99) GROUP BY ALL ORDER BY ALL";
    let counts = ask(&python, &bench, counts);
    assert_eq!(counts.len(), 2, "{counts:?}");
    let left_out = ask(&python, &bench, "SELECT * FROM left_out ORDER BY reason");
    let left_out: Vec<(&str, i64)> = left_out
        .iter()
        .map(|row| (row["reason"].as_str().unwrap(), row["runs"].as_i64().unwrap()))
        .collect();
    assert_eq!(left_out, [("imported from another program", 1), ("not complete", 1)]);

    // Shortened runs alone have answers too.
    bench.print(&["export", "--parquet", "short/runs-tables", "runs/s7.ssdg", "runs/s8.ssdg"]);
    std::fs::remove_dir_all(bench.path("runs-tables")).unwrap();
    std::fs::rename(bench.path("short/runs-tables"), bench.path("runs-tables")).unwrap();
    let found = ask(&python, &bench, &question);
    assert_eq!((found.len(), &found[0]["runs"]), (1, &2.into()), "{found:?}");

    // Types of the columns, and the metadata of the footer.
    let types =
        ask(&python, &bench, "DESCRIBE SELECT complete, started, suite_revision FROM value");
    let types: Vec<&str> = types.iter().map(|row| row["column_type"].as_str().unwrap()).collect();
    assert_eq!(types, ["BOOLEAN", "TIMESTAMP WITH TIME ZONE", "UINTEGER"]);
    let metadata = "SELECT decode(value) AS text FROM \
        parquet_kv_metadata('runs-tables/value/**/*.parquet') \
        WHERE decode(key) = 'ssdgauge.schema_version'";
    let metadata = ask(&python, &bench, metadata);
    assert!(metadata.len() == 2 && metadata.iter().all(|row| row["text"] == "2"), "{metadata:?}");
}
