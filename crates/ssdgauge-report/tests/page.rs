//! The page: self-contained, safe, marked, and whole even where the run is not.

mod support;

use ssdgauge_core::{Action, Bytes, Nanos, TargetKind};
use ssdgauge_report::{
    PageOptions, Run, csv, figures, json, markdown, openmetrics, page, terminal_summary,
};
use support::{Recipe, client, quick, run};

const HOSTILE: &str = "<script>alert(1)</script>'; DROP TABLE run;--\u{1b}[31m$x^2$\u{202e}\0\"><img src=x onerror=y>";

fn whole(runs: &[Run]) -> String {
    page(runs, &PageOptions::default())
}

#[test]
fn the_page_loads_nothing_from_the_network_and_has_no_script() {
    let page = whole(&[run(&Recipe::new("a", client(6, 30), "Disk"))]);
    for forbidden in ["<script", "<link", "@import", "src=", "javascript:", "onload"] {
        assert!(!page.contains(forbidden), "{forbidden}");
    }
    for reference in ["href=\"", "url("] {
        for (at, _) in page.match_indices(reference) {
            let target = &page[at + reference.len()..at + reference.len() + 1];
            assert_eq!(target, "#", "{}", &page[at..at + 60]);
        }
    }
    assert!(page.contains("default-src 'none'"));
    assert!(!page.contains("http-equiv=\"refresh\""));
}

#[test]
fn a_hostile_name_changes_no_output() {
    let mut recipe = Recipe::new("a", quick(6), HOSTILE);
    recipe.drive.serial = Some(HOSTILE.into());
    recipe.drive.firmware = Some(HOSTILE.into());
    recipe.drive.target = HOSTILE.into();
    recipe.drive.details.insert(HOSTILE.into(), HOSTILE.into());
    recipe.plan.suite.title = HOSTILE.into();
    for test in &mut recipe.plan.tests {
        test.title = HOSTILE.into();
        test.source = HOSTILE.into();
        test.chosen[0].value = HOSTILE.into();
        for step in &mut test.phases[0].steps {
            step.label = format!("{HOSTILE}{}", step.label);
        }
    }
    let runs = [run(&recipe)];
    let pictures: String =
        figures(&runs, &PageOptions::default()).into_iter().map(|figure| figure.svg).collect();
    let page = whole(&runs);
    for text in [&page, &pictures] {
        for hostile in ["<script", "<img", "\u{1b}", "\u{202e}", "\0"] {
            assert!(!text.contains(hostile), "{hostile:?}");
        }
        assert!(!text.contains("x²"), "a dollar must not begin mathematics");
        assert!(text.contains("$x^2$"));
    }
    let terminal_summary = terminal_summary(&runs[0], 80, false);
    let json = json(&runs).to_string();
    let markdown = markdown(&runs);
    for text in [&terminal_summary, &json, &markdown] {
        for hostile in ["\u{1b}", "\u{202e}", "\0"] {
            assert!(!text.contains(hostile), "{hostile:?}");
        }
    }
    assert!(!markdown.contains("<script"));
    assert!(terminal_summary.is_ascii());
}

#[test]
fn a_model_is_marked_in_banner_and_titles() {
    let mut recipe = Recipe::new("a", quick(6), "client-tlc");
    recipe.drive.kind = TargetKind::Virtual;
    let runs = [run(&recipe)];
    let page = whole(&runs);
    assert!(page.contains("<strong>MODEL</strong>"));
    for caption in page.split("<figcaption").skip(1) {
        let title = caption.split("</strong>").next().unwrap();
        assert!(title.contains("MODEL"), "{title}");
    }
    for figure in figures(&runs, &PageOptions::default()) {
        assert!(figure.svg.contains("MODEL"), "{}", figure.name);
    }
}

#[test]
fn equal_runs_give_equal_pages_and_pictures() {
    let runs = [run(&Recipe::new("a", client(6, 30), "Disk"))];
    assert_eq!(whole(&runs), whole(&runs));
    assert_eq!(figures(&runs, &PageOptions::default()), figures(&runs, &PageOptions::default()));
}

#[test]
fn a_run_of_any_length_has_a_page() {
    for steps in 0..=22 {
        let mut recipe = Recipe::new("a", client(1, 2), "Disk");
        recipe.steps = steps;
        let run = run(&recipe);
        assert_eq!(run.complete, steps == 22);
        let page = whole(std::slice::from_ref(&run));
        assert_eq!(page.contains("<strong>UNFINISHED</strong>"), steps < 22);
        if steps == 3 {
            assert!(page.contains("3 of 11 steps of this test have finished"));
            assert_eq!(run.tests[0].headline.value, None, "a mean over some of the mixes");
        }
        assert!(!terminal_summary(&run, 80, true).is_empty());
        assert!(!markdown(&[run]).is_empty());
    }
}

#[test]
fn steps_without_any_interval_have_a_page() {
    let runs = [run(&Recipe::new("a", client(0, 0), "Disk"))];
    assert!(runs[0].complete);
    assert_eq!(runs[0].tests[0].points[0].point.totals.elapsed, Nanos::ZERO);
    let page = whole(&runs);
    assert!(page.contains("not measured"));
    assert!(
        figures(&runs, &PageOptions::default()).iter().all(|figure| figure.svg.ends_with("</svg>"))
    );
    assert!(!terminal_summary(&runs[0], 80, false).is_empty());
}

#[test]
fn a_picture_names_its_drive_and_run_and_has_a_png() {
    let figures =
        figures(&[run(&Recipe::new("run-77", quick(6), "Disk"))], &PageOptions::default());
    let names: std::collections::BTreeSet<&str> =
        figures.iter().map(|figure| figure.name.as_str()).collect();
    assert_eq!(names.len(), figures.len());
    for figure in &figures {
        for origin in ["Disk", "firmware FW01", "quick r1", "run run-77", "2026-11-20", "span"] {
            assert!(figure.svg.contains(origin), "{origin}");
        }
        assert!(figure.svg.starts_with("<svg xmlns=\"http://www.w3.org/2000/svg\""));
        assert!(!figure.svg.contains("var(--"));
    }
    let png = figures[0].png().expect("a picture");
    assert!(png.starts_with(b"\x89PNG\r\n"));
}

#[test]
fn a_plan_with_extreme_values_has_every_output() {
    let mut recipe = Recipe::new("a", client(2, 3), "Disk");
    recipe.plan.shortened = u32::MAX;
    recipe.plan.seed = u64::MAX;
    recipe.drive.capacity = Bytes(u64::MAX >> 1);
    for test in &mut recipe.plan.tests {
        for (number, step) in test.phases[0].steps.iter_mut().enumerate() {
            step.position = [1e308, -1e308, 0.0, 1e-308][number % 4];
            step.label = "x".repeat(5_000);
            let Action::Run { workload, .. } = &mut step.action else { panic!("a load") };
            let stream = &mut workload.streams[0];
            // The most that a run file may contain.
            stream.queue_depth = 4_096 >> (number % 3);
            stream.threads = 4_096;
            stream.span = Bytes(u64::MAX >> 1);
        }
    }
    recipe.pace = &|_, second| support::Pace {
        iops: u64::from(second) * 3,
        lat_us: 1e9 / f64::from(second + 1),
    };
    let runs = [run(&recipe)];
    for text in [whole(&runs), markdown(&runs), terminal_summary(&runs[0], 0, true), csv(&runs)] {
        assert!(!text.is_empty() && !text.contains("NaN") && !text.contains("inf"));
    }
    for figure in figures(&runs, &PageOptions::default()) {
        assert!(!figure.svg.contains("NaN") && !figure.svg.contains("inf\""), "{}", figure.name);
    }
    assert!(!json(&runs).to_string().is_empty() && openmetrics(&runs).ends_with("# EOF\n"));
}

#[test]
fn a_page_without_runs_is_valid() {
    assert!(whole(&[]).contains("No runs"));
}

#[test]
fn the_conclusions_name_a_leader_only_beyond_noise() {
    let fast = Recipe::new("a", quick(12), "Fast");
    let mut slow = Recipe::new("b", quick(12), "Slow");
    slow.pace = &|stream, second| {
        let pace = support::steady(stream, second);
        support::Pace { iops: pace.iops / 2, lat_us: pace.lat_us * 2.0 }
    };
    let page = whole(&[run(&fast), run(&slow)]);
    assert!(page.contains("Sequential read: Fast ("), "a sentence for each test");
    assert!(page.contains(" leads with 2.00 ± "));
    let tied = whole(&[run(&fast), run(&Recipe::new("c", quick(12), "Twin"))]);
    assert!(tied.contains("do not differ significantly"));
    assert!(!tied.contains(" leads with"));
    let short = Recipe::new("d", quick(2), "Short");
    let unjudged = whole(&[run(&Recipe::new("e", quick(2), "Brief")), run(&short)]);
    assert!(unjudged.contains("so no lead is claimed"));
    assert!(!unjudged.contains("do not differ significantly"));
}

#[test]
fn one_drive_twice_has_two_names_and_two_colours() {
    let runs = [
        run(&Recipe::new("1-aaaaaaaa", quick(6), "Disk")),
        run(&Recipe::new("2-bbbbbbbb", quick(6), "Disk")),
        run(&Recipe::new("2-bbbbbbbb", quick(6), "Disk")),
    ];
    let page = whole(&runs);
    for name in ["Disk (aaaaaaaa)", "Disk (bbbbbbbb) #2", "Disk (bbbbbbbb) #3"] {
        assert!(page.contains(name), "{name}");
    }
    assert!(page.contains("var(--c0)") && page.contains("var(--c1)") && page.contains("var(--c2)"));
}

#[test]
fn shortened_models_and_other_revisions_stand_in_charts_of_their_own() {
    let full = Recipe::new("a", quick(6), "Full");
    let mut short = Recipe::new("b", quick(6), "Short");
    short.plan.shortened = 10;
    let mut model = Recipe::new("c", quick(6), "Model");
    model.drive.kind = TargetKind::Virtual;
    let mut other = Recipe::new("d", quick(6), "Other");
    for test in &mut other.plan.tests {
        test.revision = 2;
    }
    let runs = [run(&full), run(&short), run(&model), run(&other)];
    let names = ["Full", "Short", "Model [MODEL]", "Other"];
    for figure in figures(&runs, &PageOptions::default()) {
        let present = names.iter().filter(|name| figure.svg.contains(&format!(">{name}"))).count();
        assert!(present <= 1, "{} holds {present} of them", figure.name);
    }
    let page = whole(&runs);
    for apart in ["revision 2", "shortened to 1/10", "models"] {
        assert!(page.contains(apart), "{apart}");
    }
}

#[test]
fn every_figure_has_its_unit_its_n_and_the_definition_of_latency() {
    let page = whole(&[run(&Recipe::new("a", client(6, 30), "Disk"))]);
    let mut seen = 0;
    for caption in page.split("<figcaption").skip(1) {
        let caption = caption.split("</figcaption>").next().unwrap();
        assert!(caption.contains("n = "), "{caption}");
        assert!(["MB/s", "IOPS", "µs"].iter().any(|unit| caption.contains(unit)), "{caption}");
        if caption.contains("latency") {
            assert!(caption.contains("is measured from"), "{caption}");
        }
        seen += 1;
    }
    assert!(seen >= 11, "{seen}");
    assert_eq!(page.matches("class=\"chart wide\" role=\"img\"").count(), seen);
    assert_eq!(page.matches("class=\"chart narrow\" role=\"img\"").count(), seen);
    assert!(page.contains("Chosen by this suite, not specified by the source"));
    assert!(page.contains("After the protocol of"));
}

#[test]
fn an_untested_drive_is_a_gap_in_every_chart() {
    let named = |id, name: &str, plan| {
        let mut recipe = Recipe::new(id, plan, name);
        recipe.drive.kind = TargetKind::Block;
        recipe.drive.serial = Some(format!("serial of {name}"));
        recipe
    };
    let runs = [
        run(&named("a", "Alpha", client(6, 30))),
        run(&named("b", "Beta", client(6, 30))),
        run(&named("c", "Gamma", quick(6))),
        run(&named("d", "Alpha", quick(6))),
    ];
    let mut seen = 0;
    for figure in figures(&runs, &PageOptions::default()) {
        let is_of_client = figure.svg.contains("client-2018 r1");
        let is_common =
            ["ranking", "qos", "timeline"].iter().any(|kind| figure.name.contains(kind));
        if is_of_client && is_common {
            assert!(figure.svg.contains(">Gamma"), "{}", figure.name);
            assert!(figure.svg.contains("not tested"), "{}", figure.name);
            seen += 1;
        }
        if figure.name.contains("ranking") && !is_of_client {
            assert!(figure.svg.contains(">Beta"), "{}", figure.name);
            seen += 1;
        }
    }
    assert!(seen > 6, "{seen}");
}

#[test]
fn repetitions_of_one_load_are_a_line() {
    let mut bursts = client(6, 30);
    let steps = &mut bursts.tests[0].phases[0].steps;
    let first = steps[0].clone();
    for (number, step) in steps.iter_mut().enumerate() {
        step.action = first.action.clone();
        step.label = format!("#{}", number + 1);
        step.position = (number + 1) as f64;
    }
    let runs =
        [run(&Recipe::new("a", bursts.clone(), "One")), run(&Recipe::new("b", bursts, "Two"))];
    let figures = figures(&runs, &PageOptions::default());
    let curve = figures
        .iter()
        .find(|figure| figure.name.starts_with("01-") && figure.name.ends_with("-curve"));
    let svg = &curve.expect("a curve").svg;
    assert!(svg.contains("by repetition") && svg.contains("Repetition of the same load"));
    assert!(!svg.contains("#1 · "), "no bar for each repetition on each drive");
}
