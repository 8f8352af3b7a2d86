//! Files of every published format stay readable, with every value unchanged.

use crate::format::support;
use ssdgauge_core::{ARITHMETIC, AggregatedStep, Point};
use ssdgauge_runfile::{Contradictions, FORMAT, RunFile, Writer};
use std::collections::BTreeMap;
use std::path::Path;

/// One file of each format, written once by `support::write` and never again.
const FORMAT_1: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/format/format-1.ssdg");
const FORMAT_2: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/format/format-2.ssdg");
const FORMAT_3: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/format/format-3.ssdg");

#[test]
fn files_of_every_format_read_as_they_were_written() {
    let folder = tempfile::tempdir().unwrap();
    let again = folder.path().join("again.ssdg");
    support::write(&again);
    let written = support::read(&again).unwrap();
    assert_eq!(written.steps.len(), 3);
    assert_eq!(written.intervals.iter().map(Vec::len).sum::<usize>(), 18);
    assert_eq!(written.properties.len(), 4);
    assert_eq!(written.head.plan, support::plan());
    assert_eq!(written.head.drive, support::drive());
    let newest = support::read(Path::new(FORMAT_3)).unwrap();
    assert_eq!(newest, written.clone().by_arithmetic_1());
    assert_eq!(RunFile::open(Path::new(FORMAT_3)).unwrap().broken_link().unwrap(), None);
    let second = support::read(Path::new(FORMAT_2)).unwrap();
    assert_eq!(second, written.clone().in_format_2());
    for earlier in [FORMAT_1, FORMAT_2] {
        let run = RunFile::open(Path::new(earlier)).unwrap();
        assert_eq!(run.chain_finding_and_digests(&run.steps().unwrap()).unwrap().0, None);
    }
    // Format 1 has no properties.
    let first = support::read(Path::new(FORMAT_1)).unwrap();
    assert_eq!(first, support::Content { properties: Vec::new(), ..written.in_format_2() });
}

#[test]
fn a_resumed_file_of_an_earlier_format_has_the_newest_one_with_its_first_new_record() {
    resume_earlier(FORMAT_1, 1);
    resume_earlier(FORMAT_2, 2);
}

fn resume_earlier(file: &str, format: u32) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run.ssdg");
    std::fs::copy(file, &path).unwrap();
    let before = support::read(&path).unwrap();
    let bytes = std::fs::read(&path).unwrap();
    assert_eq!(Writer::resume(&path).unwrap().1.format(), format);
    assert!(std::fs::read(&path).unwrap() == bytes, "a file without a new record is not changed");
    let (mut writer, _) = Writer::resume(&path).unwrap();
    writer.property(None, "label", "resumed").unwrap();
    writer.commit().unwrap();
    drop(writer);
    let mut after = support::read(&path).unwrap();
    assert_eq!(after.properties.pop().unwrap().value, "resumed");
    assert_eq!(after, before);
    // The tables of an extended file are those of a new one, to the letter.
    let schema = |path: &Path| -> Vec<String> {
        let connection = rusqlite::Connection::open(path).unwrap();
        let sql = "SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL ORDER BY name";
        let mut statement = connection.prepare(sql).unwrap();
        statement.query_map([], |row| row.get(0)).unwrap().map(Result::unwrap).collect()
    };
    assert_eq!(schema(&path), schema(Path::new(FORMAT_3)));
    let run = RunFile::open(&path).unwrap();
    assert_eq!((run.format(), run.broken_link().unwrap()), (FORMAT, None));
}

#[test]
fn the_recorded_numbers_of_a_step_are_those_that_its_samples_give() {
    let run = RunFile::open(Path::new(FORMAT_3)).unwrap();
    let steps = run.steps().unwrap();
    let digests = run.digests().unwrap();
    // The first attempt was broken.
    assert_eq!(digests.iter().map(|(step, _)| step.0).collect::<Vec<_>>(), [2, 3]);
    for (id, digest) in digests {
        let record = steps.iter().find(|step| step.id == id).unwrap();
        assert_eq!(digest.samples_crc, run.samples_crc(record).unwrap());
        // A change that moves a number raises the version, and this file keeps the numbers of its own. They
        // are still those of version 3, which only adds what the samples amount to.
        assert_eq!((digest.arithmetic, ARITHMETIC), (1, 3));
        let step = &run.head().plan.tests[0].phases[0].steps[record.place.step];
        let workload = step.action.measured_workload().unwrap();
        let checked = (&mut run.room(), &mut Contradictions::default());
        let samples = run.samples(step, workload, &[record], true, checked, |_| 0).unwrap();
        let AggregatedStep { whole, seconds, percentiles, streams, .. } = samples;
        let (label, position) = (step.label.clone(), step.position);
        let point = Point { label, position, totals: whole, seconds, streams, percentiles };
        // As text: a number is read from JSON to the last digit but one.
        assert_eq!(serde_json::to_string(&point.numbers()).unwrap(), digest.content);
        let recorded: BTreeMap<String, f64> = serde_json::from_str(&digest.content).unwrap();
        let mut ios = 0;
        run.sums(id, |interval| ios += interval.ios).unwrap();
        assert!((recorded["iops"] - ios as f64 / 3.0).abs() < 1e-9);
        assert!(recorded["read_lat_p99_us"] > recorded["read_lat_p50_us"]);
    }
}

#[test]
fn the_documentation_describes_every_table_and_column() {
    let document = include_str!("../../../../docs/reference/run-file.md");
    let connection = rusqlite::Connection::open(FORMAT_3).unwrap();
    let mut statement = connection
        .prepare("SELECT name FROM sqlite_schema WHERE type IN ('table', 'view')")
        .unwrap();
    let names: Vec<String> =
        statement.query_map([], |row| row.get(0)).unwrap().map(Result::unwrap).collect();
    assert_eq!(names.len(), 15);
    for table in names {
        assert!(document.contains(&format!("### `{table}`")), "{table} is not documented");
        let columns = format!("SELECT name FROM pragma_table_info('{table}')");
        let mut statement = connection.prepare(&columns).unwrap();
        for column in statement.query_map([], |row| row.get::<_, String>(0)).unwrap() {
            let column = column.unwrap();
            assert!(document.contains(&format!("`{column}`")), "{table}.{column}");
        }
    }
}
