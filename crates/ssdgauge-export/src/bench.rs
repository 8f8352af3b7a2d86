//! A site of many drives for other programs: a document for each drive, and a feed of its new runs.

use serde_json::{Value, json};
use ssdgauge_analysis::bench::board::{Bench, Entry};
use ssdgauge_analysis::text::labels::short_id;

/// The schema of [`bench_drive`], which a site publishes.
pub const BENCH_SCHEMA: &str = include_str!("bench.schema.json");

/// The entries of a feed at most.
const MOST: usize = 50;

/// Returns everything that a site knows of the drive with this number, by [`BENCH_SCHEMA`].
pub fn bench_drive(bench: &Bench, drive: usize) -> Value {
    let own = &bench.drives[drive];
    let results = bench.boards.iter().filter_map(|board| {
        let entry = board.entries.iter().find(|entry| entry.drive == drive)?;
        Some(result(bench, entry, board.ranked()))
    });
    let runs = own.records.iter().map(|place| {
        let record = &bench.records[*place];
        json!({
            "id": record.id, "started_unix_ms": record.started_unix_ms, "program": record.program,
            "suite": record.suite, "suite_revision": record.suite_revision,
            "firmware": record.firmware, "grade": record.grade, "marks": record.marks,
            "health": record.health, "xray": record.xray, "origin": record.origin,
        })
    });
    json!({
        // Sorted first: the program recognises a file of a site by its start.
        "$comment": "ssdgauge-site", "version": 1,
        "drive": own.facts.name, "capacity_bytes": own.facts.capacity, "class": own.facts.class,
        "interface": own.facts.interface, "flash": own.facts.flash,
        "price": own.price, "currency": own.price.map(|_| &bench.currency),
        "results": results.collect::<Vec<_>>(),
        "runs": runs.collect::<Vec<_>>(),
    })
}

fn result(bench: &Bench, entry: &Entry, drives: usize) -> Value {
    let (record, test) = bench.result(entry);
    let headline = &test.headline.0;
    let (low, high, runs) = entry.spread;
    json!({
        "suite": record.suite, "test": test.id, "revision": test.revision, "title": test.title,
        "settings": test.settings, "load": test.load, "source": test.source, "rule": test.rule,
        "metric": headline.metric.key(), "unit": headline.metric.unit(), "value": headline.value,
        "interval_95": headline.interval.ends().map(|(low, high)| [low, high]),
        "run": record.id, "firmware": record.firmware, "marks": record.marks, "doubts": test.doubts, "origin": record.origin,
        "rank": entry.rank.map(|(best, worst)| [best, worst]), "ranked_drives": drives,
        "all_runs": { "count": runs, "min": low, "max": high },
    })
}

/// Returns the feed of the latest runs (RFC 4287), without those whose date is not known. Its addresses are
/// relative to the folder of the site.
pub fn bench_feed(bench: &Bench, title: &str) -> String {
    // A run without a date is not a new one.
    let dated =
        bench.records.iter().rev().filter_map(|record| Some((record, record.started_unix_ms?)));
    let latest = dated.clone().next().map_or(0, |(_, started)| started);
    let entries: String = dated.take(MOST).map(|(record, started)| {
        let drive = bench.drives.iter().find(|one| one.facts.name == record.drive.name && one.facts.capacity == record.drive.capacity);
        let slug = drive.map_or("", |drive| drive.slug.as_str());
        let marks: String = record.marks.iter().map(|mark| format!(", {mark}")).collect();
        let name = format!("{}: {} r{}{marks}, run {}", record.drive.full_name(), record.suite_title, record.suite_revision, short_id(&record.id));
        format!(
            "<entry><id>urn:ssdgauge:run:{}</id><title>{}</title><updated>{}</updated><link href=\"drives/{slug}.html\"/></entry>\n",
            escaped(&record.id), escaped(&name), time(started),
        )
    }).collect();
    format!(
        "<?xml version=\"1.0\" encoding=\"utf-8\"?>\n<feed xmlns=\"http://www.w3.org/2005/Atom\">\n\
         <id>urn:ssdgauge-site:{title}</id><title>{title}</title><updated>{}</updated>\n\
         <author><name>{title}</name></author><generator>ssdgauge-site</generator>\n{entries}</feed>\n",
        time(latest),
        title = escaped(title),
    )
}

/// Returns a time by RFC 3339, to the minute.
fn time(unix_ms: i64) -> String {
    let date = ssdgauge_analysis::text::number::date(unix_ms);
    date.replacen(' ', "T", 1).replace(" UTC", ":00Z")
}

/// Returns `text` for XML: without characters that it forbids.
fn escaped(text: &str) -> String {
    let plain = ssdgauge_analysis::sanitize_prose(text);
    plain.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}
