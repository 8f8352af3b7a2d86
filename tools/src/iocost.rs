//! `iocost TABLE OUT`: writes a record for `site` of each drive in a table of iocost-benchmark results (columns `model`,
//! `firmware`, `size_bytes`, `resctl_version`, six numbers and `file`).
//!
//! The table has one number of each run, and neither samples nor dates: a single run has no interval. Runs of one model,
//! capacity, firmware and version of the program are repetitions on several machines.

use ssdgauge_analysis::bench::board::slug;
use ssdgauge_analysis::bench::health::Health;
use ssdgauge_analysis::bench::number::Number;
use ssdgauge_analysis::bench::record::{DriveFacts, Origin, Record, TestRecord};
use ssdgauge_analysis::bench::submission::{Submission, VERSION};
use ssdgauge_analysis::groups::uses::Use;
use ssdgauge_core::rounded::count_of;
use ssdgauge_core::{Headline, Metric};
use ssdgauge_statistics::repetition::Stopping;
use std::collections::BTreeMap;
use std::error::Error;
use std::path::Path;

const SOURCE: &str = "iocost-benchmark/iocost-benchmarks on GitHub";
const LICENCE: &str = "Apache-2.0";

/// What each number measures: `tools/cgroup/iocost_coef_gen.py` of Linux, which resctl-bench runs, in its order.
struct Load {
    column: &'static str,
    title: &'static str,
    requests: &'static str,
    metric: Metric,
    purpose: Use,
}

const LOADS: [Load; 6] = [
    load("wbps", "Sequential write, 128 MiB, QD1", "sequential writes of 128 MiB", Use::Sustained),
    load("rbps", "Sequential read, 128 MiB, QD1", "sequential reads of 128 MiB", Use::Transfers),
    load("wseqiops", "Sequential write, 4 KiB, QD64", "sequential writes of 4 KiB", Use::Sustained),
    load("rseqiops", "Sequential read, 4 KiB, QD64", "sequential reads of 4 KiB", Use::Everyday),
    load("wrandiops", "Random write, 4 KiB, QD64", "random writes of 4 KiB", Use::Sustained),
    load("rrandiops", "Random read, 4 KiB, QD64", "random reads of 4 KiB", Use::Everyday),
];

const fn load(
    column: &'static str,
    title: &'static str,
    requests: &'static str,
    purpose: Use,
) -> Load {
    let is_rate = matches!(column.as_bytes(), b"wbps" | b"rbps");
    let metric = if is_rate { Metric::ThroughputMbS } else { Metric::Iops };
    Load { column, title, requests, metric, purpose }
}

const CONDITIONS: &str = "fio for 120 s, one process, libaio without the page cache, on a file of \
                          16 GiB; scheduler none, no merges; state of the drive unknown";

/// A row of the table by its columns.
type Row<'a> = BTreeMap<&'a str, &'a str>;

pub(crate) fn run(arguments: &[String]) -> Result<(), Box<dyn Error>> {
    let [table, out] = arguments else { return Err("usage: iocost TABLE OUT".into()) };
    let text = std::fs::read_to_string(table)?;
    let records = records(&text)?;
    for record in &records {
        let folder = Path::new(out).join(slug(&record.drive.full_name()));
        std::fs::create_dir_all(&folder)?;
        let name = format!("{}.ssdgauge.json", slug(&record.id));
        let submission = Submission {
            version: VERSION,
            record: record.clone(),
            unit: None,
            serial: None,
            label: None,
            signature: None,
        };
        let text = serde_json::to_string(&submission)?;
        Submission::parse(&text, i64::MAX)?;
        std::fs::write(folder.join(name), text + "\n")?;
    }
    eprintln!("{} written", count_of(records.len(), "record"));
    Ok(())
}

/// Returns a record of each model, capacity, firmware and version in `table`.
fn records(table: &str) -> Result<Vec<Record>, Box<dyn Error>> {
    let mut lines = table.lines();
    let heads: Vec<&str> = lines.next().unwrap_or_default().split(',').collect();
    let mut groups: BTreeMap<Vec<&str>, Vec<Row<'_>>> = BTreeMap::new();
    let mut seen: BTreeMap<Vec<&str>, &str> = BTreeMap::new();
    for line in lines {
        let cells: Vec<&str> = line.split(',').map(str::trim).collect();
        if cells.len() != heads.len() {
            return Err(format!("{} columns expected: {line}", heads.len()).into());
        }
        let row: Row<'_> = heads.iter().copied().zip(cells).collect();
        let numbers = LOADS.iter().map(|load| cell(&row, load.column)).collect::<Result<_, _>>()?;
        let model = cell(&row, "model")?;
        // Two drives never have six equal numbers: this is one run under two names.
        if let Some(other) = seen.insert(numbers, model) {
            eprintln!("{model}: left out, a run of {other} has the same numbers");
            continue;
        }
        let keys = ["resctl_version", "model", "size_bytes", "firmware"];
        let key = keys.into_iter().map(|key| cell(&row, key)).collect::<Result<_, _>>()?;
        groups.entry(key).or_default().push(row);
    }
    groups.values().map(|rows| record(rows)).collect()
}

fn cell<'a>(row: &Row<'a>, name: &str) -> Result<&'a str, String> {
    row.get(name).copied().ok_or_else(|| format!("the table has no column '{name}'"))
}

fn record(rows: &[Row<'_>]) -> Result<Record, Box<dyn Error>> {
    let first = rows.first().ok_or("no run")?;
    let program = format!("resctl-bench {}", cell(first, "resctl_version")?);
    let hashes =
        rows.iter().map(|row| Ok(hash(cell(row, "file")?))).collect::<Result<Vec<_>, String>>()?;
    let tests = LOADS.iter().map(|load| test(load, rows, &program)).collect::<Result<_, _>>()?;
    Ok(Record {
        id: format!("iocost-{}", hashes.join("-")),
        started_unix_ms: None,
        program,
        suite: "iocost".to_owned(),
        suite_title: "iocost-benchmarks".to_owned(),
        suite_revision: 1,
        drive: DriveFacts {
            name: cell(first, "model")?.to_owned(),
            capacity: Some(cell(first, "size_bytes")?.parse()?),
            class: String::new(),
            interface: String::new(),
            flash: String::new(),
        },
        firmware: Some(cell(first, "firmware")?.to_owned()),
        marks: vec!["IMPORTED from resctl-bench".to_owned()],
        submitted: false,
        origin: Some(Origin { source: SOURCE.to_owned(), licence: LICENCE.to_owned() }),
        grade: None,
        health: Health::default(),
        xray: None,
        is_other_xray: false,
        tests,
    })
}

/// Returns the first digits of the hash in the name of a result.
fn hash(file: &str) -> &str {
    let name = file.rsplit("result-").next().unwrap_or(file);
    name.get(..8).unwrap_or(name)
}

fn test(load: &Load, rows: &[Row<'_>], program: &str) -> Result<TestRecord, Box<dyn Error>> {
    let unit = if load.metric == Metric::Iops { 1.0 } else { 1e6 };
    let number = |row: &Row<'_>| -> Result<Headline, Box<dyn Error>> {
        let value = cell(row, load.column)?.parse::<f64>()? / unit;
        Ok(Headline { value: Some(value), ..Headline::unmeasured(load.metric, 0) })
    };
    let each = rows.iter().map(number).collect::<Result<Vec<_>, _>>()?;
    let headline = Headline::of_repetitions(&each, Stopping::Fixed).ok_or("no run")?;
    let repetitions = if each.len() > 1 { each.into_iter().map(Number).collect() } else { vec![] };
    Ok(TestRecord {
        id: load.column.to_owned(),
        revision: 1,
        title: load.title.to_owned(),
        key: format!("iocost/{} r1; {program}", load.column),
        settings: program.to_owned(),
        purpose: load.purpose.anchor().to_owned(),
        requests: load.requests.to_owned(),
        rule: "the mean where equal drives were measured several times".to_owned(),
        load: CONDITIONS.to_owned(),
        source: format!("tools/cgroup/iocost_coef_gen.py of Linux, run by {program}"),
        headline: Number(headline),
        repetitions,
        meters: Vec::new(),
        invalid: None,
        doubts: Vec::new(),
        curve: None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_of_equal_drives_are_repetitions_and_a_run_under_two_names_counts_once() {
        // Invented.
        let table = "\
resctl_version,model,firmware,size_bytes,kernel,rbps,rrandiops,rseqiops,wbps,wrandiops,wseqiops,file
2.2,DISK A, 1.0,256060514304,6.0,3000000000,400,500,1000000000,60,70,x/result-0123456789.json.gz
2.2,DISK A,1.0,256060514304,6.0,5000000000,400,500,1000000000,60,70,x/result-1123456789.json.gz
2.2,DISK A,2.0,256060514304,6.0,5000000000,401,500,1000000000,60,70,x/result-2123456789.json.gz
2.2,DISK B,1.0,256060514304,6.0,5000000000,401,500,1000000000,60,70,x/result-3123456789.json.gz
";
        let records = records(table).unwrap();
        let ids: Vec<&str> = records.iter().map(|record| record.id.as_str()).collect();
        assert_eq!(ids, ["iocost-01234567-11234567", "iocost-21234567"]);
        let read = |record: &Record| record.tests[1].headline.0.clone();
        assert_eq!(read(&records[0]).value, Some(4_000.0));
        // Student's t of one degree of freedom is 12.706; the standard error of two is half their difference.
        let (low, high) = read(&records[0]).interval.ends().unwrap();
        assert!((high - 4_000.0 - 12_706.0).abs() < 1.0 && (4_000.0 - low - 12_706.0).abs() < 1.0);
        assert_eq!(read(&records[1]).interval.ends(), None);
        assert!(records.iter().all(|record| record.check(0).is_ok()));
        assert!(super::records("model\nDISK").is_err());
    }
}
