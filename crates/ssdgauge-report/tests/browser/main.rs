//! The page in a real browser: no complaint, no request, no blank chart, readable by everybody.
//!
//! Pictures of every view are left in the folder that the test names, for human eyes.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test that cannot be set up has failed")]

mod chromium;
#[path = "../support/mod.rs"]
mod support;

use chromium::Chromium;
use serde_json::{Value, json};
use ssdgauge_core::TargetKind;
use ssdgauge_report::{PageOptions, Run, Specification, page};
use std::path::{Path, PathBuf};
use std::process::Command;
use support::{Pace, Recipe, client, quick, run};

const LOOK: &str = include_str!("page.js");

const CLAIMS: &str = r#"
[drive]
model = "Alpha"
source = "an invented data sheet"

[[claim]]
metric = "iops"
value = 100000
access = "random"
block_size = "4KiB"
read_percent = 100
queue_depth = 32
"#;

/// Returns three drives through two suites: one with power, one that is cut off, one with a name
/// that would like to be markup.
fn runs() -> Vec<Run> {
    let drives: [(&str, f64); 3] =
        [("Alpha 1TB", 1.0), ("Beta", 0.7), ("<b>Gamma</b> & 'co'", 0.4)];
    let mut runs = Vec::new();
    for (number, (name, factor)) in drives.into_iter().enumerate() {
        let pace = move |stream: &ssdgauge_core::Stream, second: u32| {
            let cliff = if stream.read_percent == 0 && second > 12 { 0.3 } else { 1.0 };
            let iops = 20_000.0 * factor * cliff * f64::from(stream.queue_depth).sqrt();
            Pace { iops: iops as u64, lat_us: 1e6 * f64::from(stream.queue_depth) / iops }
        };
        for (suite, plan) in [client(6, 40), quick(6)].into_iter().enumerate() {
            let mut recipe = Recipe::new(&format!("run-{number}-{suite}"), plan, name);
            recipe.pace = &pace;
            recipe.power_w = (number < 2).then_some(3.0 + number as f64);
            recipe.steps = if number == 1 && suite == 0 { 7 } else { usize::MAX };
            recipe.drive.serial = Some(format!("S{number}"));
            recipe.drive.kind = TargetKind::Block;
            runs.push(run(&recipe));
        }
    }
    runs
}

fn written(folder: &Path, name: &str, runs: &[Run]) -> PathBuf {
    let file = folder.join(name);
    let specifications = vec![Specification::parse("claims.toml", CLAIMS).unwrap()];
    let options = PageOptions { highlight: Some(0), specifications, ..PageOptions::default() };
    std::fs::write(&file, page(runs, &options)).unwrap();
    file
}

/// Looks at `file` in every view; every fold is opened for it, because it has to hold there too.
fn look(chromium: &mut Chromium, file: &Path, pictures: &Path, figures_at_least: u64) {
    let stem = file.file_stem().unwrap().to_string_lossy().into_owned();
    let views = [("light", 1_100, "light"), ("dark", 1_100, "dark"), ("phone", 390, "light")];
    for (view, width, scheme) in views {
        chromium.show(file, width, scheme);
        chromium.picture(&pictures.join(format!("{stem}-{view}.png")), width, 2_600);
        let all = "function () { document.querySelectorAll('details').forEach(fold => fold.open = true) }";
        chromium.evaluate(all);
        let seen = chromium.evaluate(LOOK);
        assert_eq!(seen["wrong"], json!([]), "{stem} in {view}: {:#}", seen["wrong"]);
        let figures = seen["figures"].as_u64().unwrap();
        assert!(figures >= figures_at_least, "{stem} in {view} has {figures} figures");
    }
    assert_eq!(chromium.complaints, Vec::<String>::new());
    let own = |address: &&String| !address.starts_with("file://") || !address.ends_with(".html");
    assert_eq!(chromium.requests.iter().filter(own).collect::<Vec<_>>(), Vec::<&String>::new());
}

/// Prints `file` and checks that no page is empty and no page is a waste.
fn print(chromium: &mut Chromium, file: &Path, pictures: &Path) {
    let pdf = pictures.join(file.with_extension("pdf").file_name().unwrap());
    chromium.show(file, 1_100, "light");
    chromium.print(&pdf);
    let answer = |program: &str, arguments: &[&str]| {
        let output = Command::new(program).args(arguments).output().unwrap();
        assert!(output.status.success(), "{program}");
        String::from_utf8(output.stdout).unwrap()
    };
    let name = pdf.to_str().unwrap();
    let facts = answer("pdfinfo", &[name]);
    let pages = facts.lines().find_map(|line| line.strip_prefix("Pages:")).unwrap().trim();
    let pages: usize = pages.parse().unwrap();
    let text = answer("pdftotext", &["-layout", name, "-"]);
    let letters: Vec<usize> =
        text.split('\u{c}').map(|page| page.split_whitespace().map(str::len).sum()).collect();
    assert_eq!(letters.len(), pages + 1, "pdftotext ends each page with a form feed");
    for (number, letters) in letters[..pages].iter().enumerate() {
        assert!(*letters > 60, "page {} of {pages} holds {letters} letters", number + 1);
    }
}

/// Presses the tabulator through the page and checks that each control is reached, in order.
fn walk(chromium: &mut Chromium, file: &Path) {
    chromium.show(file, 1_100, "light");
    let count = "function () { return [...document.querySelectorAll('a[href], summary')]
        .filter(element => element.checkVisibility()).map((element, place) => {
            element.dataset.place = place; return place; }).length }";
    let controls = chromium.evaluate(count).as_u64().unwrap();
    assert!(controls > 10, "{controls}");
    let mut reached = Vec::new();
    // A box that scrolls is reached too, and is none of them.
    for _ in 0..2 * controls {
        chromium.tab();
        let focus = "function () { const at = document.activeElement;
            const style = getComputedStyle(at);
            return { place: at.dataset.place ?? null, ring: style.outlineStyle !== 'none' } }";
        let at = chromium.evaluate(focus);
        let Some(place) = at["place"].as_str().and_then(|place| place.parse::<u64>().ok()) else {
            continue;
        };
        assert_eq!(at["ring"], Value::Bool(true), "control {place} shows no focus");
        reached.push(place);
        if place + 1 == controls {
            break;
        }
    }
    assert_eq!(reached, (0..controls).collect::<Vec<_>>(), "in the order of the page");
}

#[test]
fn the_page_holds_in_a_real_browser_in_light_dark_phone_and_print() {
    if !chromium::is_here() {
        eprintln!("skipped: needs chromium and poppler-utils (./check installs them as root)");
        return;
    }
    let pictures = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("pages");
    std::fs::create_dir_all(&pictures).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let runs = runs();
    let several = written(folder.path(), "several.html", &runs);
    let one = written(folder.path(), "one.html", &runs[..1]);
    let none = written(folder.path(), "none.html", &[run(&Recipe::new("x", client(0, 0), "Disk"))]);
    let mut chromium = Chromium::start();
    look(&mut chromium, &several, &pictures, 40);
    look(&mut chromium, &one, &pictures, 10);
    look(&mut chromium, &none, &pictures, 0);
    print(&mut chromium, &several, &pictures);
    print(&mut chromium, &one, &pictures);
    walk(&mut chromium, &several);
    eprintln!("pictures of the pages: {}", pictures.display());
}
