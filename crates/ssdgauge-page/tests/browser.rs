//! The page in a real browser: no complaint, no request, no blank chart, readable by everybody.
//!
//! Pictures of every view are left in the folder that the test names, for human eyes.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test that cannot be set up has failed")]

mod axe;
mod bench;
mod budget;
mod chromium;
mod firefox;
mod pages;
mod script;
mod vision;
mod websocket;
mod window;
mod xray;

use crate::support;

use chromium::Chromium;
use firefox::Firefox;
use serde_json::{Value, json};
use ssdgauge_analysis::{Notes, PageOptions, Run, Specification};
use ssdgauge_core::TargetKind;
use ssdgauge_page::{Ground, page};
use std::path::{Path, PathBuf};
use std::process::Command;
use support::{Pace, Recipe, client, quick, run};
use window::{Browser, TAB};

const LOOK: &str = include_str!("browser/page.js");

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
    let record = |(number, (name, factor)): (usize, (&str, f64))| {
        let pace = move |stream: &ssdgauge_core::Stream, second: u32| {
            let cliff = if stream.read_percent == 0 && second > 12 { 0.3 } else { 1.0 };
            let iops = 20_000.0 * factor * cliff * f64::from(stream.queue_depth).sqrt();
            Pace { iops: iops as u64, lat_us: 1e6 * f64::from(stream.queue_depth) / iops }
        };
        [client(6, 40), quick(6)]
            .into_iter()
            .enumerate()
            .map(|(suite, plan)| {
                let mut recipe = Recipe::new(&format!("run-{number}-{suite}"), plan, name);
                recipe.pace = &pace;
                recipe.power_w = (number < 2).then_some(3.0 + number as f64);
                recipe.steps = if number == 1 && suite == 0 { 7 } else { usize::MAX };
                recipe.drive.serial = Some(format!("S{number}"));
                recipe.drive.kind = TargetKind::Block;
                run(&recipe)
            })
            .collect::<Vec<Run>>()
    };
    recorded(drives.into_iter().enumerate(), record)
}

/// Returns the runs of each of `drives` in their order, each recorded by a thread of its own.
pub(crate) fn recorded<D: Send>(
    drives: impl Iterator<Item = D>,
    record: impl Fn(D) -> Vec<Run> + Sync,
) -> Vec<Run> {
    let record = &record;
    std::thread::scope(|scope| {
        let threads: Vec<_> = drives.map(|drive| scope.spawn(move || record(drive))).collect();
        threads.into_iter().flat_map(|thread| thread.join().unwrap()).collect()
    })
}

fn written(folder: &Path, name: &str, runs: &[Run]) -> PathBuf {
    let file = folder.join(name);
    let specifications = vec![Specification::parse("claims.toml", CLAIMS).unwrap()];
    let options = PageOptions { highlight: Some(0), specifications, ..PageOptions::default() };
    std::fs::write(&file, page(runs, &options)).unwrap();
    file
}

const NOTES: &str = "+++\nbyline = \"Anna Example\"\naccent = \"#0a6b4f\"\ncurrency = \"EUR\"\n
[[drive]]\nname = \"Alpha\"\nprice = 89.9\ntbw = 600\npros = [\"Fast\"]\ncons = [\"Dear\"]\n+++
First words, and a [link](https://example.org/).\n\n![A drive](photo.png)\n\n### Setup\n\n```\ncode\n```\n
# Conclusion\n\nLast words.\n";

/// Returns the page of `runs` with the notes of an editor.
fn with_notes(folder: &Path, runs: &[Run]) -> PathBuf {
    let file = folder.join("noted.html");
    let mut notes = Notes::parse("notes.md", NOTES).unwrap();
    let figures = ssdgauge_page::figures(&runs[..1], &PageOptions::default());
    notes.embed(0, &figures[0].png(Ground::Light, 2)).unwrap();
    let options = PageOptions { notes: Some(notes), ..PageOptions::default() };
    std::fs::write(&file, page(runs, &options)).unwrap();
    file
}

/// Opens or closes every fold of the page.
const FOLDS: &str = "function () {
    document.querySelectorAll('details').forEach(fold => fold.open = OPEN) }";

/// Looks at `file` in every view; every fold is opened for it, because it has to hold there too.
fn look(browser: &mut dyn Browser, file: &Path, pictures: &Path, figures_at_least: u64) {
    let stem = file.file_stem().unwrap().to_string_lossy().into_owned();
    let views = [
        ("light", 1_100, "light"),
        ("dark", 1_100, "dark"),
        ("laptop", 1_024, "light"),
        ("tablet", 768, "light"),
        ("phone", 390, "light"),
    ];
    // Dark changes only colours, a tablet has other cuts of the charts: these pages have all of them.
    let has_dark =
        ["several", "quick", "xray-tlc", "failed", "disturbed", "unfinished", "fleet-page"]
            .contains(&stem.as_str());
    for (view, width, scheme) in
        views.into_iter().filter(|view| has_dark || !["dark", "tablet"].contains(&view.0))
    {
        match view {
            "light" => browser.show(file, width, scheme),
            // Loading a page of some megabytes again takes longer than looking at it.
            _ => {
                browser.view(width, scheme);
                browser.evaluate(&FOLDS.replace("OPEN", "false"));
            }
        }
        browser.picture(&pictures.join(format!("{stem}-{view}.png")), width, 2_600);
        // This rule takes seconds on a large page, and `page.js` checks contrast in every view.
        let has_contrast = stem == "quick" || (stem == "several" && view == "dark");
        if width > 1_000 && has_contrast {
            axe::check(browser, &format!("{stem} in {view}"), "contrast");
        }
        browser.evaluate(&FOLDS.replace("OPEN", "true"));
        let seen = browser.evaluate(LOOK);
        assert_eq!(seen["wrong"], json!([]), "{stem} in {view}: {:#}", seen["wrong"]);
        let figures = seen["figures"].as_u64().unwrap();
        if view == "light" {
            axe::check(browser, &format!("{stem}, unfolded"), "others");
        }
        assert!(figures >= figures_at_least, "{stem} in {view} has {figures} figures");
    }
    assert_eq!(browser.seen().complaints, Vec::<String>::new());
    let own = |address: &&String| {
        let is_page = address.starts_with("file://") && address.ends_with(".html");
        // What is embedded has an address too, and is not a request to any place.
        !is_page && !address.starts_with("data:image/")
    };
    assert_eq!(
        browser.seen().requests.iter().filter(own).collect::<Vec<_>>(),
        Vec::<&String>::new()
    );
}

/// Prints `file` and checks that no sheet is empty, and that the first one has the headline and the
/// title of the first figure. Returns the number of sheets.
fn print(browser: &mut dyn Browser, file: &Path, pictures: &Path) -> usize {
    let pdf = pictures.join(file.with_extension("pdf").file_name().unwrap());
    browser.show(file, 1_100, "light");
    browser.print(&pdf);
    // A run that went wrong has its figures below what to do.
    let titles = "function () { const figure = document.querySelector('figure h3');
        return [document.querySelector('h1').textContent,
            document.querySelector('.oc') ? '' : figure?.textContent ?? ''] }";
    let titles = browser.evaluate(titles);
    let answer = |program: &str, arguments: &[&str]| {
        let output = Command::new(program).args(arguments).output().unwrap();
        assert!(output.status.success(), "{program}");
        String::from_utf8(output.stdout).unwrap()
    };
    check_paper(browser);
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
    let sheets = text.split('\u{c}').take(pages).enumerate();
    for (number, sheet) in sheets.filter(|_| browser.has_page_margins()) {
        let foot = format!("{}/{pages}", number + 1);
        let letters: String = sheet.split_whitespace().collect();
        assert!(letters.ends_with(&foot), "{foot} is not below: {sheet}");
    }
    let letters_of = |text: &str| text.split_whitespace().collect::<String>();
    let first = letters_of(text.split('\u{c}').next().unwrap());
    for title in titles.as_array().unwrap() {
        assert!(first.contains(&letters_of(title.as_str().unwrap())), "{title} is not on: {first}");
    }
    pages
}

/// Checks on a sheet of A4 between its margins that every table fits, with all folds open.
fn check_paper(browser: &mut dyn Browser) {
    browser.view(695, "light");
    browser.medium("print");
    browser.evaluate(&FOLDS.replace("OPEN", "true"));
    let clipped = browser.evaluate(
        "function () { return [...document.querySelectorAll('.scroll')]
            .filter(box => box.checkVisibility() && box.scrollWidth > box.clientWidth + 1)
            .map(box => box.getAttribute('aria-label') + ' ' + box.scrollWidth
                + ' of ' + box.clientWidth + ': ' + box.textContent.slice(0, 60)) }",
    );
    assert_eq!(clipped, json!([]), "clipped on paper");
    browser.medium("");
}

/// Presses the tabulator through the page and checks that each control is reached, in order.
fn walk(browser: &mut dyn Browser, file: &Path) {
    browser.show(file, 1_100, "light");
    let count = "function () { return [...document.querySelectorAll('a[href], summary')]
        .filter(element => element.checkVisibility()).map((element, place) => {
            element.dataset.place = place; return place; }).length }";
    let controls = browser.evaluate(count).as_u64().unwrap();
    assert!(controls > 10, "{controls}");
    let mut reached = Vec::new();
    // Boxes that scroll, tabs and the filter are reached too, and are none of them.
    for _ in 0..6 * controls + 60 {
        browser.key(TAB);
        let focus = "function () { const at = document.activeElement;
            const style = getComputedStyle(at);
            return { place: at.dataset.place ?? null, ring: style.outlineStyle !== 'none' } }";
        let at = browser.evaluate(focus);
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

/// Returns the pages of `runs` with the script and without it.
fn with_and_without_script(folder: &Path, runs: &[Run]) -> [PathBuf; 2] {
    [("scripted.html", true), ("plain.html", false)].map(|(name, script)| {
        let file = folder.join(name);
        std::fs::write(&file, page(runs, &PageOptions { script, ..PageOptions::default() }))
            .unwrap();
        file
    })
}

/// Returns the folder of this `name` in which pictures are left to be looked at.
fn pictures(name: &str) -> PathBuf {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
    std::fs::create_dir_all(&folder).unwrap();
    folder
}

/// Checks what every browser has to hold, and leaves `several.html` and `quick.html` in `folder`.
fn hold(browser: &mut dyn Browser, runs: &[Run], folder: &Path, pictures: &Path) {
    let [scripted, plain] = with_and_without_script(folder, runs);
    bench::check(browser, folder, pictures);
    pages::check(browser, runs, folder, pictures);
    let several = folder.join("several.html");
    walk(browser, &several);
    budget::check(browser, &several, &budget::SEVERAL);
    budget::check(browser, &folder.join("quick.html"), &budget::QUICK);
    budget::press(browser, &several);
    xray::check(browser, folder, pictures);
    script::check(browser, &scripted, &plain);
    browser.show(&scripted, 1_100, "light");
    axe::check(browser, "scripted", "others");
    assert_eq!(browser.seen().complaints, Vec::<String>::new());
}

#[test]
#[ignore = "second tier"]
fn the_page_holds_in_a_real_browser_in_light_dark_phone_and_print() {
    if !chromium::is_here() {
        eprintln!("skipped: needs chromium and poppler-utils (./check installs them as root)");
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let (runs, fifteen) = std::thread::scope(|scope| {
        let fifteen = scope.spawn(budget::fifteen);
        (runs(), fifteen.join().unwrap())
    });
    let browser = &mut Chromium::start();
    let pictures = pictures("pages");
    hold(browser, &runs, folder.path(), &pictures);
    // How large and long a page of many drives gets does not depend on the browser.
    let fifteen = written(folder.path(), "fifteen.html", &fifteen);
    budget::check(browser, &fifteen, &budget::FIFTEEN);
    let many = written(folder.path(), "many.html", &budget::clones(&runs[0], 14));
    budget::check(browser, &many, &budget::MANY);
    let fleet = written(folder.path(), "fleet.html", &budget::clones(&runs[0], 40));
    budget::check(browser, &fleet, &budget::MANY);
    budget::unfold(browser, &fleet, 40);
    assert_eq!(browser.seen().complaints, Vec::<String>::new());
    eprintln!("pictures of the pages: {}", pictures.display());
}

#[test]
#[ignore = "second tier"]
fn the_pages_hold_in_firefox() {
    if !firefox::is_here() {
        eprintln!(
            "skipped: needs firefox-esr, setpriv and poppler-utils (./check installs them as root)"
        );
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let pictures = pictures("pages-firefox");
    hold(&mut Firefox::start(), &runs(), folder.path(), &pictures);
    eprintln!("pictures of the pages: {}", pictures.display());
}
