//! The values of a run and their intervals, as each surface shows them.

use serde_json::Value;
use ssdgauge_analysis::{PageOptions, Run};
use ssdgauge_export::{csv, json, markdown};
use ssdgauge_page::page;

/// The values of a run that have an interval, as JSON, CSV, Markdown and the page show them.
#[derive(Default)]
pub struct ShownValues {
    /// Their number.
    pub count: usize,
    /// Those outside of their interval, in words.
    pub outside: Vec<String>,
}

impl ShownValues {
    pub fn of(run: &Run) -> ShownValues {
        let runs = std::slice::from_ref(run);
        let mut shown = ShownValues::default();
        shown.look_at_json(&json(runs));
        shown.look_at_csv(&csv(runs));
        shown.look_at_markdown(&markdown(runs));
        shown.look_at_page(&page(runs, &PageOptions::default()));
        shown
    }

    /// A missing end is one that the interval does not have.
    fn check(&mut self, place: &str, value: Option<f64>, low: Option<f64>, high: Option<f64>) {
        let (Some(value), Some(low)) = (value, low) else { return };
        let high = high.unwrap_or(f64::INFINITY);
        if !(low <= value && value <= high) {
            self.outside.push(format!("{place}: {value} in {low} to {high}"));
        }
        self.count += 1;
    }

    fn look_at_json(&mut self, document: &Value) {
        for test in document["runs"][0]["tests"].as_array().unwrap() {
            let id = test["id"].as_str().unwrap();
            let also = test["also"].as_array().unwrap();
            for headline in std::iter::once(&test["headline"]).chain(also) {
                self.check_json(&format!("JSON {id}"), &headline["value"], &headline["interval"]);
            }
            for point in test["points"].as_array().unwrap() {
                for (key, interval) in point["intervals"].as_object().unwrap() {
                    let place = format!("JSON {id} {} {key}", point["label"]);
                    self.check_json(&place, &point["metrics"][key], interval);
                }
            }
        }
    }

    fn check_json(&mut self, place: &str, value: &Value, interval: &Value) {
        self.check(place, value.as_f64(), interval["low"].as_f64(), interval["high"].as_f64());
    }

    fn look_at_csv(&mut self, rows: &str) {
        let cells: Vec<Vec<&str>> = rows.lines().map(|row| row.split(',').collect()).collect();
        for (at, row) in cells.iter().enumerate().skip(1) {
            let end = |suffix: &str| {
                let mut next = cells[at + 1..].iter().take(3);
                let same = next.find(|other| other[15] == format!("{}{suffix}", row[15]))?;
                same[16].parse().ok()
            };
            let place = format!("CSV {}", row[15]);
            self.check(&place, row[16].parse().ok(), end("_low"), end("_high"));
        }
    }

    fn look_at_markdown(&mut self, text: &str) {
        for row in text.lines().filter(|line| line.starts_with("| ")) {
            let cells: Vec<&str> = row.split(" | ").collect();
            if let [_, value, interval, ..] = cells[..] {
                self.check_text("Markdown", value, interval);
            }
        }
    }

    fn look_at_page(&mut self, page: &str) {
        for rest in page.split("<td class=\"n\"><b>").skip(1) {
            let (value, rest) = rest.split_once("</b></td><td class=\"n\">").unwrap_or_default();
            self.check_text("page", value, rest.split('<').next().unwrap_or_default());
        }
    }

    /// An end without a unit has that of the other end, or of the value.
    fn check_text(&mut self, place: &str, value: &str, interval: &str) {
        let interval = interval.split(" (").next().unwrap_or_default();
        let Some((low, high)) = interval.split_once(" to ") else { return };
        let [(value, of_value), (low, of_low), (high, of_high)] = [value, low, high].map(measured);
        let unit_of_high = if of_high.is_empty() { &of_value } else { &of_high };
        let unit_of_low = if of_low.is_empty() { unit_of_high } else { &of_low };
        let scaled = |number: Option<f64>, unit: &str| Some(number? * scale(unit));
        let (low, high) = (scaled(low, unit_of_low), scaled(high, unit_of_high));
        self.check(&format!("{place} '{interval}'"), scaled(value, &of_value), low, high);
    }
}

/// Returns the first number of a text, and the word after it.
fn measured(text: &str) -> (Option<f64>, String) {
    let text = text.replace('\u{a0}', " ").replace(',', "");
    let mut words = text.split(' ');
    let number = words.next().unwrap_or_default().trim_end_matches(['×', '†']).parse().ok();
    (number, words.next().unwrap_or_default().to_owned())
}

/// Returns how many of the smallest unit of its kind a unit is: ends may have another one than the value.
fn scale(unit: &str) -> f64 {
    match unit {
        "s" => 1e6,
        "ms" | "W" => 1e3,
        _ => 1.0,
    }
}
