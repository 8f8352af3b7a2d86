//! Media writes of steps and the endurance of a drive, from the counters in a run file.

#![allow(clippy::unwrap_used, reason = "a test that cannot be set up has failed")]

use crate::support;
use crate::support::Recipe;
use serde_json::Value;
use ssdgauge_analysis::{PageOptions, Run};
use ssdgauge_core::{MediaWrites, Nanos, Reading, TargetKind};
use ssdgauge_export::{csv, json, terminal_summary};
use ssdgauge_page::page;

const LOG: &str = "OCP extended SMART log C0h";

pub(crate) fn reading(at: u64, quantity: &str, value: f64) -> Reading {
    Reading { at: Nanos::from_secs(at), instrument: LOG.into(), quantity: quantity.into(), value }
}

/// A run of the suite `quick` on a real drive with `readings`, by the number of the step.
fn run(readings: Vec<(usize, Reading)>, rated: Option<&str>) -> Run {
    let rated = rated.map(|bytes| ("rated_endurance_bytes".to_owned(), bytes.to_owned()));
    let recipe = Recipe {
        drive: support::drive(TargetKind::Block, "Disk"),
        readings,
        properties: rated.into_iter().collect(),
        ..Recipe::new("wear", support::quick(12), "Disk")
    };
    support::run(&recipe)
}

/// The readings of step `number` that wrote `media` and `host` bytes.
fn amounts(number: usize, media: f64, host: f64) -> Vec<(usize, Reading)> {
    let values = [media, 1.0, host, 512_000.0];
    let readings = MediaWrites::BYTES.into_iter().zip(values);
    readings.map(|(quantity, value)| (number, reading(12, quantity, value))).collect()
}

/// The first step that writes.
const WRITES: usize = 4;

fn first_write(run: &Run) -> Value {
    json(std::slice::from_ref(run))["runs"][0]["tests"][1]["points"][0].clone()
}

#[test]
fn a_step_states_its_write_amplification_with_bounds_and_source() {
    let run = run(amounts(WRITES, 3e9, 1e9), None);
    let point = first_write(&run);
    let writes = &point["media_writes"];
    assert_eq!((&writes["source"], &writes["not_stated"]), (&LOG.into(), &Value::Null));
    assert_eq!(writes["write_amplification"]["value"], 3.0);
    assert_eq!(point["metrics"]["write_amplification"], 3.0);
    assert_eq!(point["metrics"]["media_written_gb"], 3.0);
    assert_eq!(point["intervals"]["write_amplification"]["kind"], "of-counters");
    let low = point["intervals"]["write_amplification"]["low"].as_f64().unwrap();
    assert!((low - 3.0 / 1.000_512).abs() < 1e-6, "{low}");
    let table = csv(std::slice::from_ref(&run));
    for row in ["write_amplification,3,", "write_amplification_low,2.99", "media_written_gb,3,GB"] {
        assert!(table.contains(row), "{row}");
    }
    let html = page(&[run], &PageOptions::default());
    let line = "3.00 GB to the media, 1.00 GB from hosts, by OCP extended SMART log C0h; \
                write amplification 3.00 (3.00 to 3.00)";
    assert!(html.replace('\u{a0}', " ").contains(line), "{}", around(&html, "to the media"));
}

/// The text of `html` around `words`, for a failed assertion.
fn around(html: &str, words: &str) -> String {
    let at = html.find(words).unwrap_or(0);
    html[at.saturating_sub(200)..].chars().take(400).collect()
}

#[test]
fn a_step_of_too_few_granules_states_why_it_has_no_write_amplification() {
    let run = run(amounts(WRITES, 3e6, 1e6), None);
    let point = first_write(&run);
    let writes = &point["media_writes"];
    assert_eq!(writes["write_amplification"], Value::Null);
    let reason = writes["not_stated"].as_str().unwrap();
    assert_eq!(
        reason,
        "what hosts wrote is 1.95 granules of 512 kB of its counter, and 100 are needed"
    );
    assert_eq!(point["metrics"].get("write_amplification"), None);
    let html = page(&[run], &PageOptions::default()).replace('\u{a0}', " ");
    assert!(html.contains(reason), "{}", around(&html, "not stated"));
    // A step that nothing counted, and a drive without counters.
    let none = self::run(Vec::new(), None);
    assert_eq!(first_write(&none)["media_writes"], Value::Null);
}

#[test]
fn the_endurance_states_rating_life_cost_and_years() {
    let mut readings = amounts(WRITES, 6e9, 2e9);
    readings.extend([
        (0, reading(0, "host_written_bytes", 60e12)),
        (0, reading(0, "used_percent", 12.0)),
        (WRITES, reading(12, "host_written_bytes", 60.002e12)),
        (WRITES, reading(12, "media_written_bytes", 91e12)),
        (WRITES, reading(12, "used_percent", 12.0)),
    ]);
    let given = run(readings.clone(), Some("600000000000000"));
    let endurance = |run: &Run| json(std::slice::from_ref(run))["runs"][0]["endurance"].clone();
    let card = endurance(&given);
    assert_eq!(card["rated_bytes"], 600e12);
    assert_eq!(card["rated_source"], "given with --endurance");
    assert_eq!((&card["run_host_bytes"], &card["run_media_bytes"]), (&2e9.into(), &6e9.into()));
    // 540 TB at 2 GB in 12 s.
    let years = card["years_at_this_load"].as_f64().unwrap();
    assert!((years - (600e12 - 60.002e12) / (2e9 / 12.0) / 31_557_600.0).abs() < 1e-9, "{years}");
    let text = terminal_summary(&given, 100, false);
    assert!(text.contains("rated: 600 TB, given with --endurance"), "{text}");
    let html = page(&[given], &PageOptions::default()).replace('\u{a0}', " ");
    for words in
        ["60.0 TB by hosts, 91.0 TB to the media", "2.00 GB by hosts, 6.00 GB to the media"]
    {
        assert!(html.contains(words), "{words}: {}", around(&html, "Written over life"));
    }
    let derived = endurance(&run(readings, None));
    assert!((derived["rated_bytes"].as_f64().unwrap() - 60.002e12 / 0.12).abs() < 1.0);
    assert!(derived["rated_source"].as_str().unwrap().starts_with("derived"), "{derived}");
}

#[test]
fn a_count_of_sectors_that_may_have_32_bits_is_not_that_of_a_life() {
    // Sectors of 512 bytes; the log of a drive with 32 bits begins again at 2^32.
    const ROUND: f64 = 4_294_967_296.0;
    let card = |first: f64, last: f64, read: f64| {
        let at = |at, quantity, value| (WRITES, reading(at, quantity, value));
        let readings = vec![
            at(0, "host_written_sectors", first),
            at(12, "host_written_sectors", last),
            at(12, "host_read_sectors", read),
            at(12, "media_written_bytes", 91e12),
            at(12, "used_percent", 12.0),
        ];
        let run = run(readings, Some("600000000000000"));
        let card = json(std::slice::from_ref(&run))["runs"][0]["endurance"].clone();
        (card, page(&[run], &PageOptions::default()).replace('\u{a0}', " "))
    };
    let (wide, _) = card(2.0 * ROUND, 2.0 * ROUND + 1e6, 5e6);
    assert_eq!(wide["host_written_bytes"], (2.0 * ROUND + 1e6) * 512.0);
    assert_eq!(wide["run_host_bytes"], 512e6);
    // The reads of the same log have more than 32 bits.
    assert_eq!(card(1e9, 1e9 + 1e6, ROUND).0["host_written_bytes"], (1e9 + 1e6) * 512.0);
    let (narrow, html) = card(1e9, 1e9 + 1e6, 5e6);
    for key in ["host_written_bytes", "life_write_amplification", "years_at_this_load"] {
        assert_eq!(narrow[key], Value::Null, "{key}");
    }
    assert_eq!(
        narrow["run_host_bytes"], 512e6,
        "a difference is right as long as it does not begin again"
    );
    assert!(narrow["years_not_stated"].as_str().unwrap().contains("low 32 bits"), "{narrow}");
    assert!(html.contains("low 32 bits of the sectors; 91.0 TB to the media"));
    let (wrapped, _) = card(ROUND - 1e6, 1e6, 5e6);
    assert_eq!(wrapped["run_host_bytes"], Value::Null);
    assert!(wrapped["run_sent_bytes"].as_u64().unwrap() > 0, "the cost is what was sent");
}

#[test]
fn what_is_not_stated_has_its_reason_and_a_model_has_no_endurance() {
    let reason = |run: &Run| {
        let all = json(std::slice::from_ref(run));
        all["runs"][0]["endurance"]["years_not_stated"].clone()
    };
    let host = |at, value| (WRITES, reading(at, "host_written_bytes", value));
    let used_up = run(vec![host(0, 1e12), host(12, 1.1e12)], Some("1000000000000"));
    assert_eq!(reason(&used_up), "the rating is used up");
    let idle = run(vec![host(0, 1e12), host(12, 1e12)], Some("9000000000000"));
    assert_eq!(reason(&idle), "the run wrote nothing");
    let reset = run(vec![host(0, 1e12), host(12, 1e9)], Some("9000000000000"));
    assert_eq!(reason(&reset), "the counter of the drive decreased");
    assert_eq!(reason(&run(vec![host(0, 1e12), host(12, 2e12)], None)), "the rating is not stated");
    // Without a counter the cost is what was sent: fills and the measured writes.
    let uncounted = run(Vec::new(), Some("1000000000000"));
    let written: u64 = uncounted
        .tests
        .iter()
        .flat_map(|test| &test.points)
        .map(|point| point.point.totals.directions[1].bytes)
        .sum();
    let endurance = json(std::slice::from_ref(&uncounted))["runs"][0]["endurance"].clone();
    let sent = endurance["run_sent_bytes"].as_u64().unwrap();
    assert!(written > 0 && sent >= written, "{sent} sent, {written} in measured steps");
    assert_eq!(endurance["run_host_bytes"], Value::Null);
    assert!(terminal_summary(&uncounted, 100, false).contains("by the count of ssdgauge"));
    let nothing = run(Vec::new(), None);
    assert_eq!(json(&[nothing])["runs"][0]["endurance"], Value::Null);
    let recipe = Recipe {
        drive: support::drive(TargetKind::Virtual, "MODEL"),
        readings: vec![host(0, 1e9), host(12, 2e9)],
        ..Recipe::new("model", support::quick(12), "MODEL")
    };
    assert_eq!(json(&[support::run(&recipe)])["runs"][0]["endurance"], Value::Null);
}
