//! Run files of a week and files with as many records as fit: read in bounded memory, or refused with
//! words.

use crate::support::{Bench, open_to_change, query, text};
use rusqlite::Connection;
use rusqlite::types::Value;
use ssdgauge_core::Histogram;
use std::path::Path;

/// The most memory for a run file of up to 100 MB.
const MAX_MEMORY_KIB: u64 = 256 << 10;

const SUITE: &str = "[suite]\nid = \"mine\"\nrevision = 1\ntitle = \"Mine\"\n\n[[test]]\nid = \"a\"\n\
    revision = 1\ntitle = \"A\"\nstream = { access = \"random\", block_size = \"4KiB\", \
    read_percent = 0, queue_depth = 1 }\nuntil = { time = \"61s\" }\nscore = { mean_of = \"iops\" }\n";

/// Returns the checksum of a record, as docs/reference/run-file.md defines it.
pub(crate) fn checksum(values: &[Value]) -> Value {
    let mut crc = crc32fast::Hasher::new();
    for value in values {
        let (kind, bytes) = match value {
            Value::Null => (0, Vec::new()),
            Value::Integer(number) => (1, number.to_le_bytes().to_vec()),
            Value::Real(number) => (2, number.to_bits().to_le_bytes().to_vec()),
            Value::Text(text) => (3, text.as_bytes().to_vec()),
            Value::Blob(bytes) => (4, bytes.clone()),
        };
        crc.update(&[kind]);
        crc.update(&(bytes.len() as u64).to_le_bytes());
        crc.update(&bytes);
    }
    Value::Integer(i64::from(crc.finalize()))
}

/// Records a short run, and replaces the samples of its last step by `rows` of `table`. The step lasts
/// `seconds`.
fn record(bench: &Bench, seconds: i64, table: &str, rows: impl Iterator<Item = Vec<Value>>) {
    std::fs::write(bench.path("mine.toml"), SUITE).unwrap();
    bench.print(&["run", "mine.toml", "sim:tiny", "--out", "a.ssdg"]);
    let connection = open_to_change(bench.path("a.ssdg"));
    let first = "WHERE step_id = (SELECT max(id) FROM step)";
    let columns = match table {
        "interval" => 13,
        "reading" => 5,
        other => panic!("no table {other}"),
    };
    connection
        .execute_batch(&format!(
            "PRAGMA synchronous = OFF; BEGIN; DELETE FROM {table} {first}; \
             DROP TRIGGER finished_steps_stay"
        ))
        .unwrap();
    let marks = vec!["?"; columns + 1].join(", ");
    {
        let mut insert =
            connection.prepare(&format!("INSERT INTO {table} VALUES ({marks})")).unwrap();
        for mut row in rows {
            assert_eq!(row.len(), columns);
            row.push(checksum(&row));
            insert.execute(rusqlite::params_from_iter(row)).unwrap();
        }
    }
    lengthen_last_step(&connection, seconds);
    connection.execute_batch("COMMIT").unwrap();
}

/// Sets the duration of the last step, in a file whose trigger for it was dropped, and restores the
/// trigger.
fn lengthen_last_step(connection: &Connection, seconds: i64) {
    let mut values: Vec<Value> = connection
        .query_row("SELECT * FROM step ORDER BY id DESC LIMIT 1", [], |row| {
            (0..14).map(|at| row.get(at)).collect()
        })
        .unwrap();
    values[11] = Value::Integer(seconds * 1_000_000_000);
    let (elapsed, crc) = (values[11].clone(), checksum(&values));
    let sql = "UPDATE step SET elapsed_ns = ?1, crc = ?2 WHERE id = (SELECT max(id) FROM step)";
    connection.execute(sql, [elapsed, crc]).unwrap();
    connection
        .execute_batch(
            "CREATE TRIGGER finished_steps_stay BEFORE UPDATE ON step WHEN old.state <> 'running'\n    \
             BEGIN SELECT raise(ABORT, 'a finished step is never rewritten'); END",
        )
        .unwrap();
}

/// Returns the row of one second of writes with the latency histogram `blob`.
fn second(step: i64, number: i64, like: &[Value]) -> Vec<Value> {
    let mut row = like.to_vec();
    row[0] = Value::Integer(step);
    row[1] = Value::Integer(number);
    row
}

/// Calls the program and returns its exit code, its messages and the largest memory that it had in KiB.
fn measure(bench: &Bench, arguments: &str) -> (Option<i32>, String, u64) {
    let script = format!(
        "import resource, subprocess, sys\nresult = subprocess.run([sys.argv[1], {arguments}], \
         stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)\n\
         print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)\n\
         sys.stderr.write(result.stderr)\nsys.exit(result.returncode)"
    );
    let program = env!("CARGO_BIN_EXE_ssdgauge");
    let output = std::process::Command::new("python3")
        .args(["-c", &script, program])
        .current_dir(bench.folder.path())
        .output()
        .unwrap();
    let memory = text(&output.stdout).trim().parse().unwrap();
    (output.status.code(), text(&output.stderr), memory)
}

/// Returns a row of table `interval` with a histogram, from a run of the program.
fn like(bench: &Bench) -> Vec<Value> {
    std::fs::write(bench.path("mine.toml"), SUITE).unwrap();
    bench.print(&["run", "mine.toml", "sim:tiny", "--out", "like.ssdg"]);
    let connection = Connection::open(bench.path("like.ssdg")).unwrap();
    let sql = "SELECT * FROM interval ORDER BY rowid DESC LIMIT 1 OFFSET 2";
    connection.query_row(sql, [], |row| (0..13).map(|at| row.get(at)).collect()).unwrap()
}

fn last_step(path: &Path) -> i64 {
    query(path, "SELECT max(id) FROM step")
}

#[test]
#[ignore = "second tier"]
fn a_run_of_a_week_is_read_in_bounded_memory() {
    // A week where the long check runs, else a day.
    let seconds = if std::env::var_os("SSDGAUGE_LONG").is_some() { 604_800 } else { 86_400 };
    let bench = Bench::new();
    let row = like(&bench);
    let step = last_step(&bench.path("like.ssdg"));
    record(&bench, seconds, "interval", (0..seconds).map(|number| second(step, number, &row)));
    let since = std::time::Instant::now();
    let (code, messages, memory) = measure(&bench, "'report', 'a.ssdg', '--json'");
    let size = std::fs::metadata(bench.path("a.ssdg")).unwrap().len();
    println!("{size} bytes: {memory} KiB, {:.1} s", since.elapsed().as_secs_f64());
    assert_eq!(code, Some(0), "{messages}");
    // The program itself, and 300 bytes for each second: 237 MiB for a week.
    let most = (64 << 10) + 300 * seconds as u64 / 1_024;
    assert!(memory <= most, "{memory} KiB for a file of {size} bytes");
}

#[test]
#[ignore = "second tier"]
fn files_with_as_many_records_as_fit_are_refused_with_words_in_bounded_memory() {
    let bench = Bench::new();
    let mut row = like(&bench);
    let step = last_step(&bench.path("like.ssdg"));
    // A second without requests: zeros, no latencies, no histogram.
    row[5..=8].fill(Value::Integer(0));
    row[9..=10].fill(Value::Null);
    row[11] = Value::Integer(0);
    row[12] = Value::Blob(Vec::new());
    const MILLION: i64 = 1_000_000;
    // Every other second, from the last to the first.
    let seconds = (0..MILLION).rev().map(|number| second(step, 2 * number, &row));
    record(&bench, 2 * MILLION, "interval", seconds);
    refused(&bench);
    // Every reading with an instrument of its own.
    let reading = |number: i64| {
        let instrument = Value::Text(format!("{number:x}"));
        let quantity = Value::Text(format!("q{}", number % 100_000));
        vec![Value::Integer(step), Value::Integer(0), instrument, quantity, Value::Real(1.0)]
    };
    record_again(&bench, "reading", (0..MILLION).map(reading));
    refused(&bench);
}

#[test]
fn histograms_that_unpack_to_more_than_the_size_of_the_file_explains_are_refused() {
    const BUCKETS: i64 = 33_792;
    let bench = Bench::new();
    let mut row = like(&bench);
    let step = last_step(&bench.path("like.ssdg"));
    // Every bucket has one request: 2,048 exact ones, then 1,024 for each octave.
    let lowest = |bucket: u64| {
        let octave = (bucket >> 10).saturating_sub(1);
        (bucket - (octave << 10)) << octave
    };
    let buckets = (0..BUCKETS as u64).map(|bucket| (lowest(bucket), 1));
    let max = lowest(BUCKETS as u64 - 1);
    let every = Histogram::from_parts(buckets, 0, 0, max, 0).unwrap();
    row[5] = Value::Integer(BUCKETS);
    row[9] = Value::Integer(0);
    row[10] = Value::Integer(max as i64);
    row[12] = Value::Blob(ssdgauge_runfile::encode(&every));
    // One second, so that no memory is taken: 169 MB in a file of 1 MB.
    record(&bench, 61, "interval", (0..5_000).map(|_| second(step, 0, &row)));
    let size = std::fs::metadata(bench.path("a.ssdg")).unwrap().len();
    assert!(size < 2_000_000, "{size}");
    let (code, messages, memory) = measure(&bench, "'report', 'a.ssdg', '--json'");
    assert_eq!(code, Some(2), "{messages}");
    assert!(messages.contains("holds more latencies than its size explains"), "{messages}");
    assert!(messages.contains("hint: the file was not changed"), "{messages}");
    assert!(memory <= MAX_MEMORY_KIB, "{memory} KiB");
}

#[test]
fn a_file_with_more_tests_and_steps_than_a_page_can_show_is_refused() {
    // Each takes a hundred bytes of the file for its step, and 60 KiB for its part of a page.
    const TESTS: i64 = 3_400;
    let bench = Bench::new();
    std::fs::write(bench.path("mine.toml"), SUITE).unwrap();
    bench.print(&["run", "mine.toml", "sim:tiny", "--out", "a.ssdg"]);
    let path = bench.path("a.ssdg");
    let connection = open_to_change(&path);
    let row = |table: &str, columns: usize| -> Vec<Value> {
        let sql = format!("SELECT * FROM {table} ORDER BY rowid DESC LIMIT 1");
        connection.query_row(&sql, [], |row| (0..columns).map(|at| row.get(at)).collect()).unwrap()
    };
    let (step, interval) = (row("step", 14), row("interval", 13));
    let plan: String = connection.query_row("SELECT plan FROM run", [], |row| row.get(0)).unwrap();
    let mut plan: serde_json::Value = serde_json::from_str(&plan).unwrap();
    let test = plan["tests"][0].clone();
    let tests = (0..TESTS).map(|number| {
        let mut test = test.clone();
        test["id"] = format!("t{number}").into();
        test
    });
    plan["tests"] = tests.collect();
    replace(&path, "run", 8, 9, plan.to_string());
    let insert = |table: &str, mut row: Vec<Value>| {
        row.push(checksum(&row));
        let marks = vec!["?"; row.len()].join(", ");
        let mut insert =
            connection.prepare_cached(&format!("INSERT INTO {table} VALUES ({marks})")).unwrap();
        insert.execute(rusqlite::params_from_iter(row)).unwrap();
    };
    connection.execute_batch("PRAGMA synchronous = OFF; BEGIN").unwrap();
    for table in ["interval", "reading", "finding", "property", "step"] {
        connection.execute(&format!("DELETE FROM {table}"), []).unwrap();
    }
    for number in 0..TESTS {
        let mut step = step.clone();
        step[0] = Value::Integer(number + 1);
        step[1] = Value::Integer(number);
        step[5] = Value::Text(format!("t{number}"));
        insert("step", step);
        insert("interval", second(number + 1, 0, &interval));
    }
    connection.execute_batch("COMMIT").unwrap();
    assert!(std::fs::metadata(&path).unwrap().len() < 10_000_000);
    refused(&bench);
}

fn record_again(bench: &Bench, table: &str, rows: impl Iterator<Item = Vec<Value>>) {
    for name in ["a.ssdg", "a.html"] {
        std::fs::remove_file(bench.path(name)).unwrap();
    }
    record(bench, 61, table, rows);
}

fn refused(bench: &Bench) {
    let (code, messages, memory) = measure(bench, "'report', 'a.ssdg', '--json'");
    let size = std::fs::metadata(bench.path("a.ssdg")).unwrap().len();
    println!("{size} bytes: {memory} KiB");
    assert_eq!(code, Some(2), "{messages}");
    assert!(
        messages
            .contains("more tests, steps, seconds, readings or findings than a report can keep")
    );
    assert!(memory <= MAX_MEMORY_KIB, "{memory} KiB for a file of {size} bytes");
}

/// Replaces the value in `column` of the one record of `table`, which has as many columns before its
/// checksum as `sealed`.
fn replace(path: &Path, table: &str, column: usize, sealed: usize, value: String) {
    let connection = open_to_change(path);
    let mut row: Vec<Value> = connection
        .query_row(&format!("SELECT * FROM {table}"), [], |row| {
            (0..sealed).map(|at| row.get(at)).collect()
        })
        .unwrap();
    row[column] = Value::Text(value);
    row.push(checksum(&row));
    connection.execute(&format!("DELETE FROM {table}"), []).unwrap();
    let marks = vec!["?"; sealed + 1].join(", ");
    let insert = format!("INSERT INTO {table} VALUES ({marks})");
    connection.execute(&insert, rusqlite::params_from_iter(row)).unwrap();
}

#[test]
fn a_plan_of_16_mib_and_long_lists_of_facts_are_refused_with_words_in_bounded_memory() {
    /// Just below the longest value.
    const LENGTH: usize = (16 << 20) - 4_096;
    let bench = Bench::new();
    std::fs::write(bench.path("mine.toml"), SUITE).unwrap();
    bench.print(&["run", "mine.toml", "sim:tiny", "--out", "like.ssdg"]);
    let connection = Connection::open(bench.path("like.ssdg")).unwrap();
    let text_of = |sql: &str| connection.query_row(sql, [], |row| row.get::<_, String>(0)).unwrap();
    let plan: serde_json::Value = serde_json::from_str(&text_of("SELECT plan FROM run")).unwrap();
    let drive: serde_json::Value =
        serde_json::from_str(&text_of("SELECT details FROM drive")).unwrap();
    // As text: values of 16 MiB are slow to build.
    let filled = |whole: &serde_json::Value, at: &str, one: String| {
        let mut whole = whole.clone();
        *whole.pointer_mut(at).unwrap() = "HERE".into();
        let whole = whole.to_string();
        let list = vec![&*one; (LENGTH - whole.len()) / (one.len() + 1)].join(",");
        whole.replacen("\"HERE\"", &format!("[{list}]"), 1)
    };
    let test = &plan["tests"][0];
    let tests = filled(&plan, "/tests", test.to_string());
    let scores = filled(&plan, "/tests/0/also", test["score"].to_string());
    let choice = "{\"key\":\"\",\"value\":\"\"}".to_owned();
    let chosen = filled(&plan, "/tests/0/chosen", choice);
    let facts: Vec<String> = (0..500_000).map(|number| format!("\"{number:x}\":\"\"")).collect();
    let mut details = drive;
    details["details"] = "HERE".into();
    let details = details.to_string().replacen("\"HERE\"", &format!("{{{}}}", facts.join(",")), 1);
    for (table, column, sealed, value, words) in [
        ("run", 8, 9, tests, "a plan with too many tests"),
        ("run", 8, 9, scores, "a plan with too many scores or remarks"),
        ("run", 8, 9, chosen, "a plan with too many scores or remarks"),
        ("drive", 9, 10, details, "a drive with too many details"),
    ] {
        std::fs::copy(bench.path("like.ssdg"), bench.path("a.ssdg")).unwrap();
        replace(&bench.path("a.ssdg"), table, column, sealed, value);
        let (code, messages, memory) = measure(&bench, "'report', 'a.ssdg', '--json'");
        println!("{words}: {memory} KiB");
        assert_eq!(code, Some(1), "{messages}");
        assert!(messages.contains(words), "{messages}");
        assert!(memory <= MAX_MEMORY_KIB, "{memory} KiB: {words}");
    }
    std::fs::copy(bench.path("like.ssdg"), bench.path("a.ssdg")).unwrap();
    let connection = Connection::open(bench.path("a.ssdg")).unwrap();
    connection.execute_batch("BEGIN").unwrap();
    for number in 0..20_000 {
        let row = vec![Value::Text(number.to_string()), Value::Text("fact".into())];
        let crc = checksum(&row);
        let row = row.into_iter().chain([crc]);
        connection
            .execute("INSERT INTO environment VALUES (?, ?, ?)", rusqlite::params_from_iter(row))
            .unwrap();
    }
    connection.execute_batch("COMMIT").unwrap();
    let (code, messages, _) = measure(&bench, "'report', 'a.ssdg', '--json'");
    assert_eq!(code, Some(1), "{messages}");
    assert!(messages.contains("table environment has too many records before it"), "{messages}");
}

#[test]
fn a_file_with_more_findings_than_a_report_can_keep_is_refused() {
    let bench = Bench::new();
    std::fs::write(bench.path("mine.toml"), SUITE).unwrap();
    bench.print(&["run", "mine.toml", "sim:tiny", "--out", "a.ssdg"]);
    let step = Value::Integer(last_step(&bench.path("a.ssdg")));
    let connection = Connection::open(bench.path("a.ssdg")).unwrap();
    connection.execute_batch("PRAGMA synchronous = OFF; BEGIN").unwrap();
    {
        let insert = "INSERT INTO finding VALUES (?, 0, ?, ?, ?, ?, ?)";
        let mut insert = connection.prepare(insert).unwrap();
        for number in 0..110_000 {
            let words = ["stalled", "warning", &number.to_string(), ""];
            let mut row = vec![step.clone(), Value::Integer(0)];
            row.extend(words.map(|word| Value::Text(word.to_owned())));
            let crc = checksum(&row);
            row.remove(1);
            insert.execute(rusqlite::params_from_iter(row.into_iter().chain([crc]))).unwrap();
        }
    }
    connection.execute_batch("COMMIT").unwrap();
    refused(&bench);
}
