//! What people read in a terminal or a forum.

use crate::support;
use crate::support::{Recipe, client, quick, run};
use ssdgauge_core::{Finding, FindingKind, Severity, TargetKind};
use ssdgauge_export::{markdown, terminal_summary};

fn model() -> Recipe<'static> {
    let mut recipe = Recipe::new("0193f1c2-ee55", quick(6), "client-tlc-1tb");
    recipe.drive.kind = TargetKind::Virtual;
    recipe.plan.shortened = 10;
    recipe.findings = vec![(
        None,
        Finding::new(
            FindingKind::PageCache,
            Severity::Warning,
            "requests went through the page cache",
            "use a file system that supports direct I/O",
        ),
    )];
    recipe
}

#[test]
fn the_terminal_summary_of_a_quick_run_has_the_customary_rows() {
    insta::assert_snapshot!(terminal_summary(&run(&model()), 80, false));
}

#[test]
fn large_numbers_of_the_terminal_summary_are_neither_cut_nor_touch_each_other() {
    let mut recipe = Recipe::new("0193f1c2-ee57", quick(6), "null");
    recipe.pace = &|_, _| support::Pace { iops: 13_556_060, lat_us: 0.4 };
    for width in [49, 60, 80, 100] {
        let card = terminal_summary(&run(&recipe), width, false);
        // 13,556,060 × 4,096 bytes a second, and × 1 MiB, read and written.
        for (name, rate) in [("RND4K Q32 ", "55,526"), ("SEQ1M Q8 ", "14,214,559")] {
            let line = card.lines().find(|line| line.starts_with(name)).unwrap();
            let count = |wanted| line.split_whitespace().filter(|cell| *cell == wanted).count();
            let ios = count("13,556,060");
            assert!(count(rate) == 2 && (ios == 2 || (ios == 0 && width < 60)), "{width}: {card}");
        }
    }
    let mut recipe = Recipe::new("0193f1c2-ee58", quick(12), "null");
    recipe.pace = &|_, second| {
        let iops = 13_556_060 + u64::from(second % 3) * 100_000;
        support::Pace { iops, lat_us: 0.4 }
    };
    recipe.plan.suite.id = "own".into();
    let card = terminal_summary(&run(&recipe), 100, false);
    let intervals = card.lines().filter(|line| line.contains(" to 1") && !line.contains('~'));
    assert_eq!(intervals.count(), 5, "{card}");
}

#[test]
fn a_step_with_two_levels_has_two_rows_and_no_mean() {
    let mut recipe = Recipe::new("0193f1c2-ee56", quick(30), "Disk");
    recipe.pace = &|stream, second| {
        let pace = support::steady(stream, second);
        let falls = stream.read_percent == 0 && second > 10;
        support::Pace { iops: if falls { pace.iops / 4 } else { pace.iops }, ..pace }
    };
    let card = terminal_summary(&run(&recipe), 80, false);
    let lines: Vec<&str> = card.lines().collect();
    let number = lines.iter().position(|line| line.starts_with("SEQ128K Q1 ")).unwrap();
    let cells = |line: &str| line.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
    let (before, after) = (cells(lines[number]), cells(lines[number + 1]));
    // Label, read and write, then the bytes of the first level.
    assert_eq!(before[before.len() - 3], "to", "{card}");
    assert_eq!(after[after.len() - 1], "then", "{card}");
    let rate = |word: &str| word.replace(',', "").parse::<f64>().unwrap();
    let (first, second) = (rate(&before[before.len() - 6]), rate(&after[0]));
    assert!((first / second - 4.0).abs() < 0.1, "{first} and {second}: {card}");
    let words = card.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(words.contains("grade ") && words.contains("health not checked: Wear"), "{card}");
    assert!(words.contains("two levels in one step"), "{card}");
}

#[test]
fn the_terminal_summary_merges_findings_that_differ_only_in_numbers() {
    let waited = |share| {
        let text = format!("a thread waited for {share} % of the time");
        Finding::new(FindingKind::Disturbed, Severity::Warning, text, "stop other programs")
    };
    let mut recipe = model();
    let (_, cached) = recipe.findings.remove(0);
    recipe.findings = [2, 3, 4].map(|share| (Some(0), waited(share))).into();
    recipe.findings.push((None, cached.clone()));
    let gathered = terminal_summary(&run(&recipe), 120, false);
    assert!(gathered.contains("4 warnings"), "{gathered}");
    let lines: Vec<&str> = gathered.lines().filter(|line| line.starts_with("warning: ")).collect();
    assert_eq!(lines.len(), 2, "{gathered}");
    let words = gathered.split_whitespace().collect::<Vec<_>>().join(" ");
    let line = "a thread waited for 2 % of the time (stop other programs); in Sequential read; \
                3 findings of this kind";
    assert!(words.contains(line), "{gathered}");
}

#[test]
fn the_terminal_summary_of_another_suite_has_its_headlines() {
    let mut recipe = Recipe::new("0193f1c2-cc33", client(6, 8), "Disk");
    recipe.steps = 15;
    insta::assert_snapshot!(terminal_summary(&run(&recipe), 72, false));
}

#[test]
fn markdown_has_headlines_and_findings() {
    let mut recipe = Recipe::new("0193f1c2-cc33", client(6, 8), "Disk|*1*");
    recipe.steps = 15;
    let (first, second) = (run(&model()), run(&recipe));
    let both = [markdown(std::slice::from_ref(&first)), markdown(std::slice::from_ref(&second))];
    insta::assert_snapshot!(both.join("\n"));
    insta::assert_snapshot!("markdown_compares_several_drives", markdown(&[first, second]));
}

#[test]
fn no_line_of_the_terminal_summary_is_wider_than_the_terminal() {
    let mut recipe = model();
    recipe.drive.model = Some("A drive whose name goes on and on and on beyond all reason".into());
    for suite in [quick(6), client(1, 1)] {
        recipe.plan = suite;
        recipe.findings.clear();
        let run = run(&recipe);
        for width in [40, 52, 60, 72, 80, 132] {
            for line in terminal_summary(&run, width, false).lines() {
                assert!(line.chars().count() <= width, "{width}: {line}");
            }
        }
    }
}

#[test]
fn colour_changes_only_colours_and_line_drawing() {
    let run = run(&model());
    let plain = terminal_summary(&run, 80, false);
    assert!(plain.is_ascii() && !plain.contains('\u{1b}'));
    let mut coloured = terminal_summary(&run, 80, true);
    for code in ["0", "1", "2", "33", "35", "36", "1;33", "1;31"] {
        coloured = coloured.replace(&format!("\u{1b}[{code}m"), "");
    }
    assert!(!coloured.contains('\u{1b}'));
    let asciified =
        coloured.replace('─', "-").replace('µ', "u").replace(['·', '–'], "-").replace('…', "~");
    assert_eq!(asciified, plain);
}
