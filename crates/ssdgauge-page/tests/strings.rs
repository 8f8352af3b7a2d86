//! A thousand strings that a drive could call itself: none gets through any output unescaped.

#![allow(clippy::unwrap_used, clippy::panic, clippy::print_stdout)]

use crate::support::{Recipe, quick, run};
use ssdgauge_analysis::{PageOptions, Specification, sanitize_device, sanitize_prose};
use ssdgauge_core::Random;
use ssdgauge_export::{csv, json, markdown, openmetrics, terminal_summary};
use ssdgauge_page::{figures, page, xray_compared_page, xray_page, xray_svg};
use ssdgauge_xray::{Card, compare};

/// What the strings are made of: markup, queries, terminal escapes, turns of direction, empty
/// bytes, what was not UTF-8, formulas of spreadsheets, mathematics, separators.
const PARTS: [&str; 32] = [
    "<script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    "\"><svg onload=alert(1)>",
    "' onmouseover='alert(1)",
    "</style><iframe src=//x>",
    "javascript:alert(1)",
    "&lt;b&gt;&#60;&amp;",
    "]]><!--",
    "'; DROP TABLE run; --",
    "\" OR 1=1 --",
    "\u{1b}[31mred\u{1b}[0m",
    "\u{1b}]0;title\u{7}",
    "\u{1b}[2J\u{1b}[H",
    "\u{9b}31m",
    "\u{8}\u{8}\u{8}",
    "\r\rover",
    "\n# HELP forged 1\nforged 1\n",
    "\0",
    "\u{202e}txt.exe",
    "\u{2066}\u{2069}\u{200b}\u{feff}",
    "\u{fffd}\u{fffd}",
    "\u{2028}\u{2029}",
    "$x^2$ \\frac{1}{2}",
    "=cmd|' /C calc'!A0",
    "+1+1",
    "-2+3",
    "@SUM(A1)",
    "| a | b |\n|---|---|",
    "[x](javascript:alert(1)) `code` **bold**",
    "a,b;c\td\"e\"",
    "\u{1f4a9}é漢",
    "%s%n%x ../../etc/passwd",
];

/// What may be in no output at all.
const FORBIDDEN: [char; 12] = [
    '\u{1b}', '\0', '\u{7}', '\u{8}', '\u{9b}', '\u{202e}', '\u{2066}', '\u{2069}', '\u{200b}',
    '\u{feff}', '\u{2028}', '\u{2029}',
];

fn string(number: usize, random: &mut Random) -> String {
    let mut text = PARTS[number % PARTS.len()].to_owned();
    for _ in 0..random.below(3) {
        text.push_str(PARTS[random.below(PARTS.len() as u64) as usize]);
    }
    text
}

fn calm(text: &str, what: &str, of: &str) {
    for forbidden in FORBIDDEN {
        assert!(!text.contains(forbidden), "{what} of {of:?} lets {forbidden:?} through");
    }
}

fn without_markup(text: &str, what: &str, of: &str) {
    for forbidden in ["<script", "<img", "<svg onload", "<iframe", "</style><iframe"] {
        assert!(!text.contains(forbidden), "{what} of {of:?} holds {forbidden}");
    }
}

#[test]
fn a_thousand_hostile_strings_are_escaped_in_every_output() {
    let seed = 20_261_121;
    let mut random = Random::new(seed, 0);
    let strings: Vec<String> = (0..1_000).map(|number| string(number, &mut random)).collect();
    for text in &strings {
        calm(&sanitize_device(text), "a device's name", text);
        calm(&sanitize_prose(text), "prose", text);
    }
    // Whole outputs, each with several of the strings at once.
    for group in strings.chunks(40) {
        let [model, serial, firmware, target, title, label, details @ ..] = group else { panic!() };
        let mut recipe = Recipe::new("a", quick(2), model);
        recipe.drive.serial = Some(serial.clone());
        recipe.drive.firmware = Some(firmware.clone());
        recipe.drive.target = target.clone();
        for pair in details.chunks_exact(2) {
            recipe.drive.details.insert(pair[0].clone(), pair[1].clone());
        }
        recipe.plan.suite.title = title.clone();
        recipe.plan.tests[0].title = label.clone();
        let runs = [run(&recipe)];
        let of = format!("{group:?}");
        let page = page(&runs, &PageOptions::default());
        calm(&page, "the page", &of);
        without_markup(&page, "the page", &of);
        let terminal_summary = terminal_summary(&runs[0], 100, false);
        calm(&terminal_summary, "the terminal_summary", &of);
        let markdown = markdown(&runs);
        calm(&markdown, "Markdown", &of);
        without_markup(&markdown, "Markdown", &of);
        let json = json(&runs).to_string();
        assert!(serde_json::from_str::<serde_json::Value>(&json).is_ok());
        let raw = ['\u{1b}', '\0', '\u{7}', '\u{8}', '\n'];
        assert!(!json.contains(raw), "JSON of {of} holds a raw control character");
        let csv = csv(&runs);
        calm(&csv, "CSV", &of);
        for cell in csv.lines().flat_map(|line| line.split(',')) {
            let is_formula = cell.starts_with(['=', '+', '@']);
            assert!(!is_formula, "CSV of {of} holds the formula {cell}");
        }
        let metrics = openmetrics(&runs);
        calm(&metrics, "OpenMetrics", &of);
        assert!(!metrics.lines().any(|line| line.starts_with("forged")), "{of}");
        let pictures = figures(&runs, &PageOptions::default());
        for picture in pictures.iter().take(2) {
            calm(&picture.svg, "a chart", &of);
            without_markup(&picture.svg, "a chart", &of);
        }
    }
    for group in strings.chunks(40) {
        xray_of(group);
    }
    let result = "0 through pages, chart, terminal_summary, CSV, Markdown, JSON, OpenMetrics";
    figure("drive strings", "1000 hostile names", result);
}

/// Checks the pages and the picture of a card in which each text is one of `strings`.
fn xray_of(strings: &[String]) {
    let [drive, reason, finding, advice, severity, ..] = strings else { panic!() };
    let refused =
        serde_json::json!({ "structure": "cache", "unit": "bytes", "not_identifiable": reason });
    let card = serde_json::json!({
        "format": "ssdgauge-xray", "version": 1, "drive": drive, "is_model": false, "is_complete": false,
        "capacity_bytes": u64::MAX, "structures": [refused],
        "findings": [{ "severity": severity, "text": finding, "advice": advice }],
    });
    let card = serde_json::from_value::<Card>(card).unwrap().checked().unwrap();
    let of = format!("{strings:?}");
    let compared = compare(&card.answers, &card.answers);
    let both = xray_compared_page([&card, &card], &compared, reason);
    for (what, output) in
        [("the page", xray_page(&card)), ("both", both), ("the picture", xray_svg(&card))]
    {
        calm(&output, what, &of);
        without_markup(&output, what, &of);
    }
}

#[test]
fn every_card_of_an_x_ray_is_drawn_or_refused() {
    let seed = 20_261_123;
    println!("seed {seed}");
    let mut random = Random::new(seed, 0);
    let tries = if std::env::var_os("SSDGAUGE_LONG").is_some() { 20_000 } else { 300 };
    let whole = include_str!("browser/cards/tlc-client.json");
    let (mut refused, mut drawn) = (0, 0);
    for _ in 0..tries {
        let mut bytes = whole.as_bytes().to_vec();
        for _ in 0..=random.below(3) {
            let at = random.below(bytes.len() as u64) as usize;
            match random.below(4) {
                0 => bytes[at] ^= 1 << random.below(8),
                1 => bytes.truncate(at.max(1)),
                2 => bytes.splice(at..at, b"9e17".iter().copied()).for_each(drop),
                _ => bytes[at] = b'0' + random.below(10) as u8,
            }
        }
        let text = String::from_utf8_lossy(&bytes);
        let card = serde_json::from_str::<Card>(&text).ok().map(Card::checked);
        let Some(Ok(card)) = card else {
            refused += 1;
            continue;
        };
        drawn += 1;
        for output in [xray_page(&card), xray_svg(&card)] {
            for word in ["NaN", "\"inf", "-inf"] {
                assert!(!output.contains(word), "{word} is drawn of {text}");
            }
        }
    }
    assert!(refused > tries / 4 && drawn > tries / 20, "{refused} refused, {drawn} drawn");
}

/// Leaves a line for the table of the check.
fn figure(name: &str, count: &str, result: &str) {
    crate::tiers::write_figure(
        name,
        count,
        result,
        "cargo test -p ssdgauge-report --test it strings::",
    );
}

const CLAIMS: &str = r#"
[drive]
model = "Alpha"
source = "an invented data sheet"
tolerance_percent = 5
[[claim]]
metric = "iops"
value = 100000
access = "sequential"
block_size = "4KiB"
read_percent = 0
queue_depth = 32
state = "fresh"
cache = "inside"
"#;

#[test]
fn every_spec_file_is_parsed_or_refused_with_its_line() {
    let seed = 20_261_121;
    println!("seed {seed}");
    let mut random = Random::new(seed, 0);
    let tries = if std::env::var_os("SSDGAUGE_LONG").is_some() { 200_000 } else { 2_000 };
    assert_eq!(Specification::parse("a.toml", CLAIMS).err(), None);
    let (mut refused, mut read) = (0, 0);
    for number in 0..tries {
        let mut bytes = CLAIMS.as_bytes().to_vec();
        for _ in 0..=random.below(3) {
            let at = random.below(bytes.len() as u64) as usize;
            match random.below(4) {
                0 => bytes[at] ^= 1 << random.below(8),
                1 => bytes.truncate(at.max(1)),
                2 => {
                    let piece = string(number, &mut random);
                    bytes.splice(at..at, piece.into_bytes());
                }
                _ => {
                    let end = (at + random.below(60) as usize).min(bytes.len());
                    let piece = bytes[at..end].to_vec();
                    bytes.extend(piece);
                }
            }
        }
        let text = String::from_utf8_lossy(&bytes);
        match Specification::parse("a\u{1b}.toml", &text) {
            Ok(_) => read += 1,
            Err(error) => {
                refused += 1;
                let is_placed = error.line > 0 && !error.hint.is_empty();
                assert!(is_placed && error.span.start <= error.text.len(), "{error:?}");
                assert!(!error.file.contains('\u{1b}'));
            }
        }
    }
    assert!(refused > tries / 4 && read > tries / 50, "{refused} refused, {read} read");
    let result = format!("{refused} refused with a place, {read} read, 0 panics");
    figure("spec files", &format!("{tries} damaged texts"), &result);
}
