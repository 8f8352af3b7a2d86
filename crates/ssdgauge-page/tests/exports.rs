//! Exports for other tools: CSV and OpenMetrics.

use crate::support::{Pace, Recipe, plan, quick, run, step, stream, test};
use ssdgauge_analysis::PageOptions;
use ssdgauge_core::{Access, Chart, Metric, Score, TargetKind};
use ssdgauge_export::{csv, openmetrics};
use ssdgauge_page::page;

#[test]
fn the_label_of_a_run_is_the_cell_before_its_origin() {
    let mut labelled = run(&Recipe::new("a", quick(6), "Disk"));
    labelled.head.environment.insert("label".into(), "heatsink".into());
    let table = csv(&[labelled, run(&Recipe::new("b", quick(6), "Disk"))]);
    let mut rows = table.lines();
    assert!(rows.next().is_some_and(|head| head.ends_with(",value,unit,label,imported_from")));
    for row in rows {
        assert_eq!(row.ends_with(",heatsink,"), row.starts_with("a,"), "{row}");
    }
}

#[test]
fn every_row_and_every_sample_of_an_imported_run_has_its_mark() {
    let mut imported = run(&Recipe::new("a", quick(6), "Disk"));
    imported.head.environment.insert("imported_from".into(), "fio-3.33".into());
    let runs = [imported, run(&Recipe::new("b", quick(6), "Disk"))];
    let table = csv(&runs);
    assert!(table.lines().count() > 20, "{table}");
    for row in table.lines().skip(1) {
        assert_eq!(row.ends_with(",fio-3.33"), row.starts_with("a,"), "{row}");
    }
    let text = openmetrics(&runs);
    let samples: Vec<&str> = text.lines().filter(|line| !line.starts_with('#')).collect();
    assert!(samples.len() > 20, "{text}");
    for sample in samples {
        let is_imported = sample.contains("run=\"a\"");
        assert_eq!(sample.contains("data=\"IMPORTED from fio-3.33\""), is_imported, "{sample}");
        assert_eq!(sample.contains("data=\"measured\""), !is_imported, "{sample}");
    }
}

#[test]
fn steps_that_are_too_short_for_a_course_are_counted() {
    let page_of = |first: u64| {
        let of_depth = |(depth, seconds): (u32, u64)| {
            let reads = stream(Access::Random, 4_096, 100, depth);
            step(&format!("QD{depth}"), f64::from(depth), reads, seconds)
        };
        let steps = [(1, first), (2, 6), (4, 6)].map(of_depth).to_vec();
        let figures = [Chart::Ranking, Chart::Timeline];
        let reads = test("reads", "Reads", Score::BestOf(Metric::Iops), &figures, steps);
        page(&[run(&Recipe::new("a", plan("s", vec![reads]), "Disk"))], &PageOptions::default())
    };
    let words = "Not shown: 1 of 3 steps, which are shorter than 2\u{a0}s and have no course";
    let (all, short) = (page_of(6), page_of(1));
    assert!(all.contains("Over time") && !all.contains("Not shown:"));
    assert!(short.contains("Over time") && short.contains(words));
}

#[test]
fn openmetrics_is_escaped_and_ends() {
    let mut recipe = Recipe::new("run-9", quick(6), "a\"b\\c\u{202e}");
    recipe.drive.kind = TargetKind::Virtual;
    recipe.pace = &|_, _| Pace { iops: 2_000, lat_us: 500.0 };
    let text = openmetrics(&[run(&recipe)]);
    assert!(text.ends_with("# EOF\n"));
    assert!(!text.contains('\u{202e}'));
    let wanted = "ssdgauge_headline{run=\"run-9\",drive=\"a\\\"b\\\\c";
    assert!(text.contains(wanted), "{text}");
    assert!(text.contains("metric=\"iops\"} 2000\n"));
    for line in text.lines().filter(|line| !line.starts_with('#')) {
        assert!(line.contains("data=\"MODEL\""), "{line}");
        assert!(
            line.rsplit(' ').next().is_some_and(|value| value.parse::<f64>().is_ok()),
            "{line}"
        );
    }
    assert!(!text.contains("null") && !text.contains("NaN"));
}
