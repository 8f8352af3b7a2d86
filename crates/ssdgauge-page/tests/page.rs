//! The page: self-contained, safe, marked, and whole even where the run is not.

use crate::support;
use crate::support::{Pace, Recipe, client, plan, quick, run, step, stream};
use ssdgauge_analysis::{PageOptions, Run};
use ssdgauge_core::{Access, Action, Bytes, Chart, Metric, Nanos, Score, TargetKind, Window};
use ssdgauge_export::{csv, json, markdown, openmetrics, terminal_summary};
use ssdgauge_page::{Ground, contact_sheet, figures, fragment, page};

const HOSTILE: &str = "<script>alert(1)</script>'; DROP TABLE run;--\u{1b}[31m$x^2$\u{202e}\0\"><img src=x onerror=y>";

fn whole(runs: &[Run]) -> String {
    page(runs, &PageOptions::default())
}

#[test]
fn the_page_loads_nothing_from_the_network_and_has_no_script() {
    let page = whole(&[run(&Recipe::new("a", client(6, 30), "Disk"))]);
    // The line of HTML that embeds a chart in another page is text here, and the chart is in its link.
    let page = page.replace("&lt;img src=", "").replace("href=\"data:image/svg+xml", "href=\"#");
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
fn each_chart_of_the_page_is_offered_as_the_file_that_report_writes_with_a_citation() {
    let mut recipe = Recipe::new("0193f1c2-f006", client(6, 30), "Disk");
    recipe.drive.firmware = Some("FW 1".into());
    let run = run(&recipe);
    let files: Vec<String> = figures(std::slice::from_ref(&run), &PageOptions::default())
        .into_iter()
        .map(|figure| figure.svg)
        .collect();
    let page = whole(&[run]);
    let links: Vec<&str> = page.split("href=\"data:image/svg+xml;charset=utf-8,").skip(1).collect();
    assert_eq!(links.len(), page.matches("<figure id=").count());
    for link in links {
        let (data, rest) = link.split_once('"').unwrap();
        let data = data.replace("&amp;", "&");
        let mut bytes = Vec::new();
        let mut parts = data.split('%');
        bytes.extend(parts.next().unwrap().bytes());
        for part in parts {
            bytes.push(u8::from_str_radix(&part[..2], 16).unwrap());
            bytes.extend(part[2..].bytes());
        }
        let file = String::from_utf8(bytes).unwrap();
        assert!(files.contains(&file), "{file}");
        let source = rest.split("</q>").nth(1).unwrap().split("</p>").next().unwrap();
        for part in
            ["client-2018 r", " · test ", "Disk", "firmware FW 1", "2026-", "run 0193f1c2-f006"]
        {
            assert!(source.contains(part), "{part}: {source}");
        }
    }
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
fn a_model_is_marked_once_above_the_page_and_in_every_picture() {
    let mut recipe = Recipe::new("a", quick(6), "client-tlc");
    recipe.drive.kind = TargetKind::Virtual;
    let runs = [run(&recipe)];
    let page = whole(&runs);
    assert_eq!(page.matches("<strong>MODEL</strong>").count(), 1);
    assert!(page.find("<strong>MODEL</strong>").unwrap() < page.find("<h1>").unwrap());
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
        assert_eq!(page.contains("Not finished</span>"), steps < 22);
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
    // The header of a PNG file has width and height first.
    let size = |png: &[u8]| {
        assert!(png.starts_with(b"\x89PNG\r\n"));
        [16, 20].map(|at| u32::from_be_bytes(png[at..at + 4].try_into().unwrap()))
    };
    let [width, height] = figures[0].size();
    for ground in [Ground::Light, Ground::Dark] {
        assert_eq!(size(&figures[0].png(ground, 1)), [width, height]);
        assert_eq!(size(&figures[0].png(ground, 2)), [2 * width, 2 * height]);
    }
    assert_ne!(figures[0].png(Ground::Light, 1), figures[0].png(Ground::Dark, 1));
    let dark = figures[0].dark_svg();
    // Ground and text of the dark style sheet.
    assert!(dark.contains("#101317") && dark.contains("#eceef1") && !dark.contains("#16191d"));
    assert!(figures[0].svg.contains("#fbfaf8") && figures[0].svg.contains("#16191d"));
    let sheet = contact_sheet(&figures, &[".png", ".dark.png"], ".dark.png");
    for figure in &figures {
        let [width, height] = figure.size();
        let shown = format!(r#"<img src="{}.png" alt="#, figure.name);
        assert!(sheet.contains(&shown), "{shown}");
        assert!(sheet.contains(&format!(r#"width="{width}" height="{height}""#)));
    }
}

#[test]
fn a_page_has_a_preview_for_shared_links_only_with_its_address() {
    let runs = [run(&Recipe::new("run-77", quick(6), "Disk"))];
    assert!(!page(&runs, &PageOptions::default()).contains("og:"));
    let options = PageOptions {
        address: Some("https://example.org/drives/disk.html".to_owned()),
        share_image: Some("disk.png".to_owned()),
        ..PageOptions::default()
    };
    let page = page(&runs, &options);
    for (property, content) in [
        ("og:url", "https://example.org/drives/disk.html"),
        ("og:image", "https://example.org/drives/disk.png"),
    ] {
        let tag = format!(r#"<meta property="{property}" content="{content}">"#);
        assert!(page.contains(&tag), "{tag}");
    }
    let title = page.split("<title>").nth(1).unwrap().split("</title>").next().unwrap();
    assert!(page.contains(&format!(r#"<meta property="og:title" content="{title}">"#)));
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
            // The maximum that a run file may contain.
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
    assert!(page.contains("Fast leads with"), "a title for each figure");
    assert!(page.contains("2.00 times the result of Slow"));
    let tied = whole(&[run(&fast), run(&Recipe::new("c", quick(12), "Twin"))]);
    assert!(tied.contains("No difference beyond"));
    assert!(!tied.contains(" leads with"));
    let brief = Recipe::new("e", quick(2), "Brief");
    let mut short = Recipe::new("d", quick(2), "Short");
    short.pace = &|stream, second| {
        let pace = support::steady(stream, second);
        support::Pace { iops: pace.iops * 4 / 5, lat_us: pace.lat_us * 1.25 }
    };
    let unjudged = whole(&[run(&brief), run(&short)]);
    assert!(unjudged.contains("no lead without 95\u{a0}% intervals"));
    assert!(!unjudged.contains(" leads with"));
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
    let slot = |drive: usize| {
        let rule = format!(".d-{drive}{{--c:var(--s");
        page.split(&rule).nth(1).unwrap().split(')').next().unwrap().to_owned()
    };
    let slots: std::collections::BTreeSet<String> = (0..3).map(slot).collect();
    assert_eq!(slots.len(), 3, "three colours");
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
fn every_figure_has_an_id_values_its_unit_its_n_and_the_definition_of_latency() {
    let mut other = Recipe::new("b", client(6, 30), "Other");
    other.pace = &|stream, second| {
        let pace = support::steady(stream, second);
        support::Pace { iops: pace.iops * 2, lat_us: pace.lat_us / 2.0 }
    };
    let page = whole(&[run(&Recipe::new("a", client(6, 30), "Disk")), run(&other)]);
    let mut seen = 0;
    for figure in page.split("<figure id=\"").skip(1) {
        let figure = figure.split("</figure>").next().unwrap();
        assert!(figure.starts_with("client-2018/"), "{}", &figure[..40]);
        for part in ["<figcaption><h3>", "<title>", "<table", "n = ", "role=\"img\" aria-label="] {
            assert!(figure.contains(part), "{part} in {}", &figure[..200]);
        }
        assert!(["MB/s", "IOPS", "µs"].iter().any(|unit| figure.contains(unit)));
        assert_eq!(
            figure.matches("class=\"ch wide of3\"").count(),
            figure.matches("ch narrow").count()
        );
        for tab in figure.split("class=\"p p-p99").skip(1) {
            assert!(tab.contains("is measured from"), "{}", &tab[..300]);
        }
        seen += 1;
    }
    assert_eq!(seen, 3, "one for each test");
    assert!(page.contains("Chosen by this suite, not specified by the source"));
    assert!(page.contains("After the protocol of"));
}

#[test]
fn many_drives_that_were_not_tested_are_not_rows_of_a_figure() {
    let one = |id: &str, name: &str, plan| {
        let mut recipe = Recipe::new(id, plan, name);
        recipe.drive.kind = TargetKind::Block;
        recipe.drive.serial = Some(format!("serial of {name}"));
        run(&recipe)
    };
    let rows = |others: usize| {
        let with =
            (0..others).map(|n| one(&format!("c{n}"), &format!("Client {n}"), client(6, 30)));
        let runs: Vec<Run> = with.chain([one("q", "Quick", quick(6))]).collect();
        let quick = fragment(&runs, &PageOptions::default(), "everyday").unwrap();
        quick.matches(">not tested<").count() + quick.matches("– not tested").count()
    };
    // The drive that alone has the other suite is a row of each figure of theirs.
    let (eight, nine) = (rows(8), rows(9));
    assert!(eight > 8 && nine < 9, "{eight} rows, {nine} rows");
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
            ["ranking", "curve", "timeline"].iter().any(|kind| figure.name.contains(kind));
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
    assert!(svg.contains("by repetition") && svg.contains(">repetition</text>"));
    assert!(!svg.contains("#1 · "), "no bar for each repetition on each drive");
}

#[test]
fn steps_over_time_stand_by_their_swept_value_in_any_order_of_execution() {
    let mut recipe = Recipe::new("a", client(6, 30), "Disk");
    recipe.plan.tests.remove(0);
    let place = |svg: &str, label: &str| -> f64 {
        let before = svg.split(&format!("text-anchor=\"middle\">{label}</text>")).next().unwrap();
        let x = before.rsplit(" x=\"").next().unwrap();
        x.split('"').next().unwrap().parse().unwrap()
    };
    for backwards in [false, true] {
        recipe.backwards = backwards;
        let figures = figures(&[run(&recipe)], &PageOptions::default());
        let is_timeline = |name: &str| name.starts_with("01-") && name.ends_with("-timeline");
        let svg = &figures.iter().find(|figure| is_timeline(&figure.name)).unwrap().svg;
        let (shallow, deep) = (place(svg, "8"), place(svg, "256"));
        assert!(shallow < deep, "QD8 at {shallow}, QD256 at {deep}");
    }
}

/// Returns a run of random writes, scored by their last minutes, that become slower all the time.
fn sinking() -> Run {
    let write = support::step("write", 1.0, support::stream(Access::Random, 4_096, 0, 32), 420);
    let window = Window::Time(Nanos::from_secs(120));
    let score = Score::MeanOfLast { metric: Metric::Iops, window };
    let test = support::test("writes", "Random write", score, &[Chart::Timeline], vec![write]);
    let mut recipe = Recipe::new("a", support::plan("own", vec![test]), "Disk");
    recipe.pace = &|_, second| {
        let iops = 90_000.0 * 0.994_f64.powi(second as i32);
        support::Pace { iops: iops as u64, lat_us: 32e6 / iops }
    };
    run(&recipe)
}

#[test]
fn a_drive_that_is_not_steady_sustains_nothing() {
    let page = whole(&[sinking()]);
    assert!(page.contains("not steady by the SNIA criterion"));
    assert!(!page.contains("Sustains ") && !page.contains("; stable"));
}

#[test]
fn latency_at_qd1_is_that_of_reads_only() {
    for (read, is_said) in [(100, true), (0, false)] {
        let one = support::step("QD1", 1.0, support::stream(Access::Random, 4_096, read, 1), 12);
        let score = Score::At { metric: Metric::Iops, position: 1.0 };
        let test = support::test("one", "One at a time", score, &[Chart::Ranking], vec![one]);
        let page = whole(&[run(&Recipe::new("a", support::plan("own", vec![test]), "Disk"))]);
        assert_eq!(page.contains("reads at QD1: mean latency"), is_said, "{read} % reads");
        assert!(!page.contains("At QD1:"));
    }
}

#[test]
fn sizes_are_written_for_people() {
    let page = whole(&[run(&Recipe::new("a", client(6, 30), "Disk"))]);
    assert!(page.contains("span 64.0\u{a0}GB") && page.contains("4\u{a0}KiB"));
    assert!(!page.contains("span 64GB") && !page.contains("· 4KiB ·"));
    assert!(page.contains(">Scratch file</th>") && !page.contains("apacity</th>"));
}

#[test]
fn the_size_of_the_tested_part_is_not_called_the_capacity_of_the_drive() {
    let mut recipe = Recipe::new("a", client(6, 30), "Disk");
    recipe.drive.kind = TargetKind::Block;
    let page = whole(&[run(&recipe)]);
    assert!(page.contains(">Tested capacity</th>") && !page.contains(">Capacity</th>"));
}

#[test]
fn a_sweep_has_its_steps_over_time_and_its_speed_against_power() {
    let steps = [1, 4, 16].map(|qd| {
        step(&format!("QD{qd}"), f64::from(qd), stream(Access::Random, 4_096, 100, qd), 12)
    });
    let score = Score::Knee(Metric::Iops);
    let figures = [Chart::Ranking, Chart::Curve, Chart::Timeline];
    let runs: Vec<Run> = ["Alpha", "Beta"]
        .into_iter()
        .enumerate()
        .map(|(number, name)| {
            let sweep =
                support::test("reads", "Random read", score.clone(), &figures, steps.to_vec());
            let mut recipe = Recipe::new(&format!("r{number}"), plan("own", vec![sweep]), name);
            recipe.drive.serial = Some(format!("S{number}"));
            recipe.power_w = Some(3.0 + number as f64);
            let pace = |stream: &ssdgauge_core::Stream, _: u32| Pace {
                iops: (10_000 + 9_000 * number as u64) * u64::from(stream.queue_depth),
                lat_us: 100.0,
            };
            recipe.pace = &pace;
            run(&recipe)
        })
        .collect();
    let page = page(&runs, &PageOptions::default());
    let panel = |key: &str| {
        let start = format!("<div class=\"p p-{key}\">");
        page.split(&start).nth(1).unwrap().split("<div class=\"p p-").next().unwrap().to_owned()
    };
    let time = panel("time");
    assert!(time.contains("over the seconds of each step"), "{time}");
    // A line of three stretches for each drive, in the wide, the middle and the narrow chart.
    let lines: Vec<&str> = time.split("class=\"ln\" d=\"").skip(1).collect();
    assert_eq!(lines.len(), 6);
    for line in lines {
        assert_eq!(line.split('"').next().unwrap().matches('M').count(), 3, "{line}");
    }
    assert!(!time.contains("NaN"));
    let watts = panel("eff");
    assert!(watts.contains("IOPS against power") && watts.contains("kIOPS/W"), "{watts}");
    for words in ["at 3.00\u{a0}W", "at 4.00\u{a0}W"] {
        assert!(watts.contains(words), "{words}: {watts}");
    }
}

#[test]
fn drives_of_equal_rank_stand_in_the_order_of_their_names_whatever_the_order_of_files() {
    let of_drive = |name: &str| {
        let mut recipe = Recipe::new(name, client(6, 20), name);
        recipe.drive.serial = Some(name.to_owned());
        run(&recipe)
    };
    let (first, second) = (of_drive("Alpha"), of_drive("Beta"));
    for runs in [[first.clone(), second.clone()], [second, first]] {
        let answer = ssdgauge_page::fragment(&runs, &PageOptions::default(), "answer").unwrap();
        let rows = answer.split("<tbody>").nth(1).unwrap();
        let place = |name: &str| rows.find(name).unwrap();
        assert!(place("Alpha") < place("Beta"), "{answer}");
    }
}

#[test]
fn a_step_of_a_minute_has_a_map_of_its_latencies_on_page_and_in_files() {
    let maps = |long: u64| {
        let runs = [run(&Recipe::new("a", client(6, long), "Disk"))];
        let files = figures(&runs, &PageOptions::default());
        let files: Vec<_> =
            files.into_iter().filter(|one| one.name.contains("latency-map")).collect();
        (whole(&runs).contains("Latency map"), files)
    };
    let (is_on_page, files) = maps(59);
    assert!(!is_on_page && files.is_empty());
    let (is_on_page, files) = maps(90);
    assert!(is_on_page);
    let [file] = files.as_slice() else { panic!("{} maps of one long step", files.len()) };
    // Equal neighbours are one line, so that 90 equal seconds of a few latencies are few.
    assert!(file.svg.len() < 20_000, "{}", file.svg.len());
    assert!(file.title.contains("Latency of each request over time"), "{}", file.title);
}
