//! The pages that every browser has to show in every view.

use crate::browser::window::Browser;
use crate::browser::{budget, look, print, vision, with_notes, written};
use crate::outcomes;
use crate::support::{Recipe, client, run};
use ssdgauge_analysis::inputs::batch::{Batch, BatchDot, BatchDrive, BatchState, BatchStrip};
use ssdgauge_analysis::{PageOptions, Run};
use ssdgauge_page::{fleet_page, page};
use std::path::{Path, PathBuf};

/// One page.
struct Shown {
    file: PathBuf,
    /// The minimum number of figures on it.
    figures: u64,
    /// Text that a reader meets on its first screen.
    first: &'static str,
    /// How it comes out on paper.
    paper: Paper,
}

/// What is asked of a page on paper.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Paper {
    /// It is not printed here: a page like it is.
    Unprinted,
    /// Every table fits, and no sheet is empty.
    Sheets,
    /// It takes one sheet.
    OneSheet,
}

/// Looks at every page and prints it, and at the drives of one with each kind of colour vision.
pub(crate) fn check(browser: &mut dyn Browser, runs: &[Run], folder: &Path, pictures: &Path) {
    for shown in &pages(runs, folder) {
        look(browser, &shown.file, pictures, shown.figures);
        browser.show(&shown.file, 1_280, "light");
        let words = "function () { return [...document.querySelectorAll('h1, h1 ~ *, .oc')]
            .filter(one => one.getBoundingClientRect().top < 900)
            .map(one => one.textContent.replaceAll('\\u00a0', ' ')).join(' ') }";
        let words = browser.evaluate(words);
        assert!(words.as_str().unwrap().contains(shown.first), "{}: {words}", shown.file.display());
        match shown.paper {
            Paper::Unprinted => {}
            Paper::Sheets => {
                print(browser, &shown.file, pictures);
            }
            Paper::OneSheet => assert_eq!(print(browser, &shown.file, pictures), 1),
        }
    }
    // Without a highlight, so that each has its colour.
    let six = folder.join("six.html");
    let drives = budget::clones(&runs[0], 6);
    std::fs::write(&six, page(&drives, &PageOptions::default())).unwrap();
    vision::check(browser, &six, pictures);
    assert_eq!(browser.seen().complaints, Vec::<String>::new());
}

fn pages(runs: &[Run], folder: &Path) -> Vec<Shown> {
    let plain = |name: &str, run: Run| {
        let file = folder.join(name);
        std::fs::write(&file, page(&[run], &PageOptions::default())).unwrap();
        file
    };
    let mut unfinished = Recipe::new("a", client(6, 30), "Disk");
    unfinished.steps = 11;
    let none = run(&Recipe::new("x", client(0, 0), "Disk"));
    let fleet = folder.join("fleet-page.html");
    std::fs::write(&fleet, fleet_page(&forty())).unwrap();
    let shown = |file, figures, first, paper| Shown { file, figures, first, paper };
    vec![
        shown(written(folder, "several.html", runs), 6, "Alpha", Paper::Sheets),
        shown(with_notes(folder, runs), 6, "Anna Example", Paper::Unprinted),
        shown(written(folder, "one.html", &runs[..1]), 3, "Measurement quality", Paper::Sheets),
        shown(written(folder, "none.html", &[none]), 0, "", Paper::Unprinted),
        shown(written(folder, "quick.html", &runs[1..2]), 1, "reads at", Paper::OneSheet),
        shown(plain("failed.html", outcomes::gone()), 0, "The drive disappeared", Paper::Sheets),
        shown(
            plain("disturbed.html", outcomes::busy(0..22)),
            0,
            "Other programs used the drive",
            Paper::Sheets,
        ),
        shown(plain("unfinished.html", run(&unfinished)), 1, "1 of 3 tests is done", Paper::Sheets),
        shown(fleet, 0, "1 of 40 drives is slower", Paper::Sheets),
    ]
}

/// Returns a batch of forty drives, of which the last is slower in half of twelve measures.
fn forty() -> Batch {
    let drive = |n: usize| BatchDrive {
        name: format!("S4X-{n:04}"),
        label: (n == 0).then(|| "slot 17".to_owned()),
        model: "Disk 1TB".to_owned(),
        file: Some(format!("runs/{n}.ssdg")),
        // No file is near this page to which a link could lead.
        page: None,
        state: if n == 0 { BatchState::Slow } else { BatchState::Unsuspicious },
        reasons: if n == 0 { vec!["p99 of reads 1.14 ms".to_owned()] } else { Vec::new() },
        did: Vec::new(),
        is_slow: n == 0,
        beyond: (if n == 0 { 6 } else { 0 }, 12),
    };
    let strip = |measure: usize| {
        let is_slow = measure.is_multiple_of(2);
        let mut dots: Vec<BatchDot> = (1..40)
            .map(|n| BatchDot {
                drive: n,
                excess: 0.001 * (n as f64 - 20.0),
                value: "267 µs".to_owned(),
                is_slow: false,
            })
            .collect();
        let excess = if is_slow { 3.28 } else { 0.021 };
        dots.push(BatchDot { drive: 0, excess, value: "1.14 ms".to_owned(), is_slow });
        BatchStrip {
            title: format!("Random read, 4 KiB, QD{}: p99 of reads", 1 << measure),
            median: "267 µs".to_owned(),
            bound: 0.06,
            scatters: false,
            dots,
        }
    };
    Batch {
        kick: "40 drives · Disk 1TB".to_owned(),
        title: "1 of 40 drives is slower than its peers: S4X-0000".to_owned(),
        sentences: vec!["Judged against each other: 40 drives of Disk 1TB.".to_owned()],
        next: Some(("Test it again:".to_owned(), "ssdgauge quick /dev/nvme0n1".to_owned())),
        is_model: false,
        strips: (0..12).map(strip).collect(),
        drives: (0..40).map(drive).collect(),
        method: vec!["Each drive is judged by all others with the same load.".to_owned()],
    }
}
