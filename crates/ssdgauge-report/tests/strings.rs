//! A thousand strings that a drive could call itself: none gets through any output unescaped.

mod support;

use ssdgauge_core::Random;
use ssdgauge_report::{
    PageOptions, card, clean_device, clean_prose, csv, figures, json, markdown, openmetrics, page,
};
use std::path::Path;
use support::{Recipe, quick, run};

/// What the strings are made of: markup, queries, terminal escapes, turns of direction, empty
/// bytes, what was no UTF-8, formulas of spreadsheets, mathematics, separators.
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

/// What may stand in no output at all.
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
fn a_thousand_hostile_strings_get_through_no_output() {
    let seed = 20_261_121;
    let mut random = Random::new(seed, 0);
    let strings: Vec<String> = (0..1_000).map(|number| string(number, &mut random)).collect();
    for text in &strings {
        calm(&clean_device(text), "a device's name", text);
        calm(&clean_prose(text), "prose", text);
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
        let card = card(&runs[0], 100, false);
        calm(&card, "the card", &of);
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
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("figures");
    std::fs::create_dir_all(&folder).unwrap();
    let line = "drive strings\t1000 hostile names\t0 through page, chart, card, CSV, Markdown, JSON, \
                OpenMetrics\tcargo test -p ssdgauge-report --test strings\n";
    std::fs::write(folder.join("drive-strings"), line).unwrap();
}
