//! Comparison: what is real, what is noise, and what is not compared at all.

mod support;

use ssdgauge_core::{Action, Bytes, Metric, PowerScope, Score, Stream, TargetKind};
use ssdgauge_report::{CompareError, CompareOptions, Difference, Gate, Run, compare};
use support::{Pace, Recipe, quick, run, steady};

fn recorded(id: &str, model: &str, pace: &'static dyn Fn(&Stream, u32) -> Pace) -> Run {
    let mut recipe = Recipe::new(id, quick(12), model);
    recipe.pace = pace;
    run(&recipe)
}

fn scaled(stream: &Stream, second: u32, factor: f64) -> Pace {
    let pace = steady(stream, second);
    Pace { iops: (pace.iops as f64 * factor) as u64, lat_us: pace.lat_us / factor }
}

fn faster(stream: &Stream, second: u32) -> Pace {
    scaled(stream, second, 1.38)
}

fn a_little_slower(stream: &Stream, second: u32) -> Pace {
    scaled(stream, second, 0.985)
}

fn slower(stream: &Stream, second: u32) -> Pace {
    scaled(stream, second, 0.8)
}

#[test]
fn a_ratio_is_found_with_an_interval_that_holds_it() {
    let (a, b) = (recorded("a", "Disk", &steady), recorded("b", "Disk", &faster));
    let comparison = compare(&a, &b, &CompareOptions::default()).expect("equal tests");
    for test in &comparison.tests {
        let ratio = test.ratio.expect("both were measured");
        let (low, high) = ratio.interval.expect("twelve seconds each");
        assert!((ratio.value - 1.38).abs() < 0.01, "{} {}", test.id, ratio.value);
        assert!(low < 1.38 + 1e-3 && 1.38 - 1e-3 < high && high - low < 0.2, "{low} {high}");
        assert_eq!(test.difference, Difference::Better);
    }
    let text = comparison.text(200, false);
    assert!(text.contains("worse in 0 of 5 numbers, better in 5; 0 within noise, 0 not judged"));
    let better = |line: &&str| line.starts_with("better ") && line.contains("+38.0 %");
    assert_eq!(text.lines().filter(better).count(), comparison.tests.len(), "{text}");
    let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(words.contains("do not include the variation between runs"), "{text}");
}

#[test]
fn a_start_that_flatters_is_left_out_of_the_change_and_of_its_interval() {
    let steady_run = |id: &str| {
        let mut recipe = Recipe::new(id, quick(40), "Disk");
        recipe.pace = &steady;
        run(&recipe)
    };
    let flattering =
        |stream: &Stream, second: u32| scaled(stream, second, if second < 8 { 3.0 } else { 1.0 });
    let mut recipe = Recipe::new("b", quick(40), "Disk");
    recipe.pace = &flattering;
    let (a, b) = (steady_run("a"), run(&recipe));
    let comparison = compare(&a, &b, &CompareOptions::default()).expect("equal tests");
    for test in &comparison.tests {
        let ratio = test.ratio.expect("both were measured");
        let (low, high) = ratio.interval.expect("forty seconds each");
        assert!(low <= ratio.value && ratio.value <= high, "{} {ratio:?}", test.id);
        assert_eq!(test.difference, Difference::WithinNoise, "{}", test.id);
        assert!((8..=12).contains(&ratio.cut_seconds[1]), "{} {ratio:?}", test.id);
        // The values count all seconds, as those of the report.
        assert!(test.values[1].unwrap() > 1.2 * test.values[0].unwrap());
    }
    let words = |text: String| text.split_whitespace().collect::<Vec<_>>().join(" ");
    for text in [words(comparison.text(100, false)), comparison.markdown()] {
        assert!(text.contains("the change leaves out the first"), "{text}");
        assert!(text.contains(" s of B, which flatter"), "{text}");
    }
    let json = comparison.json();
    assert_eq!(json["tests"][0]["cut_seconds_a"], 0);
    assert!(json["tests"][0]["cut_seconds_b"].as_u64().unwrap() >= 8);
}

#[test]
fn a_small_difference_is_noise_and_a_large_one_fails_the_gate() {
    let a = recorded("a", "Disk", &steady);
    let gate = |b: &Run, threshold| {
        let options = CompareOptions { threshold: Some(threshold), ..CompareOptions::default() };
        compare(&a, b, &options).expect("equal tests")
    };
    let noise = gate(&recorded("b", "Disk", &a_little_slower), 0.05);
    assert!(noise.tests.iter().all(|test| test.difference == Difference::WithinNoise));
    assert_eq!(noise.gate, Some(Gate::Passed));
    let worse = gate(&recorded("b", "Disk", &slower), 0.05);
    assert!(worse.tests.iter().all(|test| test.difference == Difference::Worse));
    assert_eq!(worse.gate, Some(Gate::Failed));
    assert_eq!(gate(&recorded("b", "Disk", &slower), 0.5).gate, Some(Gate::Passed));
    let junit = worse.junit();
    assert!(junit.contains("tests=\"5\" failures=\"5\" skipped=\"0\""), "{junit}");
}

#[test]
fn a_missing_result_leaves_the_gate_undecided() {
    let a = recorded("a", "Disk", &steady);
    let mut recipe = Recipe::new("b", quick(12), "Disk");
    recipe.steps = 9;
    let options = CompareOptions { threshold: Some(0.05), ..CompareOptions::default() };
    let comparison = compare(&a, &run(&recipe), &options).expect("some tests are equal");
    assert_eq!(comparison.gate, Some(Gate::Undecided));
    assert!(comparison.junit().contains("<skipped message=\"not compared: one of the runs"));
}

#[test]
fn runs_of_different_kinds_are_refused_with_the_reason() {
    let a = recorded("a", "Disk", &steady);
    let refused = |change: &dyn Fn(&mut Recipe<'_>)| {
        let mut recipe = Recipe::new("b", quick(12), "Disk");
        change(&mut recipe);
        compare(&a, &run(&recipe), &CompareOptions::default()).expect_err("refused").to_string()
    };
    let check = |words: &str, change: &dyn Fn(&mut Recipe<'_>)| {
        let said = refused(change);
        assert!(said.contains(words), "{said}");
    };
    check("divided by different factors", &|recipe| recipe.plan.shortened = 10);
    check("completions of one run were polled", &|recipe| recipe.plan.polled = true);
    check("requests of one run were passed through", &|recipe| recipe.plan.pass_through = true);
    check("revisions", &|recipe| recipe.plan.tests.iter_mut().for_each(|test| test.revision = 2));
    check("a model and a measured drive are not comparable", &|recipe| {
        recipe.drive.kind = TargetKind::Virtual
    });
    check("the tests differ", &|recipe| recipe.plan.suite.id = "other".into());
    check("firmware FW01 in the first", &|recipe| recipe.drive.firmware = Some("FW02".into()));
}

#[test]
fn models_of_two_revisions_are_not_compared() {
    let recorded = |id, revision: Option<&str>| {
        let mut recipe = Recipe::new(id, quick(12), "MODEL tiny 1GB");
        recipe.drive.kind = TargetKind::Virtual;
        let revision = revision.map(|text| ("model_revision".to_owned(), text.to_owned()));
        recipe.drive.details.extend(revision);
        run(&recipe)
    };
    // A run file from before revisions has revision 1.
    let (old, one, two) = (recorded("a", None), recorded("b", Some("1")), recorded("c", Some("2")));
    assert!(compare(&old, &one, &CompareOptions::default()).is_ok());
    let refused = compare(&old, &two, &CompareOptions::default()).expect_err("two models");
    assert!(refused.to_string().contains("the revisions of the model differ"), "{refused}");
}

#[test]
fn whole_drives_of_two_capacities_are_compared_and_files_of_two_sizes_are_not() {
    let whole = |id: &'static str, kind, (bytes, percent): (u64, u64)| {
        let mut recipe = Recipe::new(id, quick(6), "Disk");
        recipe.drive.kind = kind;
        recipe.drive.capacity = Bytes(bytes);
        for step in recipe.plan.tests.iter_mut().flat_map(|test| &mut test.phases[0].steps) {
            let Action::Run { workload, .. } = &mut step.action else { panic!("a load") };
            workload.streams[0].span = Bytes((bytes / 100 * percent) >> 12 << 12);
        }
        run(&recipe)
    };
    let compared = |kind, percents: [u64; 2]| {
        let a = whole("a", kind, (500_107_862_016, percents[0]));
        let b = whole("b", kind, (1_000_204_886_016, percents[1]));
        compare(&a, &b, &CompareOptions::default())
    };
    assert!(compared(TargetKind::Block, [100, 100]).is_ok());
    // The same over-provisioning of both.
    assert!(compared(TargetKind::Block, [75, 75]).is_ok());
    for (kind, percents) in [
        (TargetKind::File, [100, 100]),
        (TargetKind::File, [75, 75]),
        (TargetKind::Block, [75, 50]),
    ] {
        let refused = compared(kind, percents).expect_err("other spans");
        assert!(refused.to_string().contains("the spans differ"), "{refused}");
    }
}

#[test]
fn another_firmware_is_compared_only_with_the_option() {
    let a = recorded("a", "Disk", &steady);
    let mut recipe = Recipe::new("b", quick(12), "Disk");
    recipe.drive.firmware = Some("FW02".into());
    let b = run(&recipe);
    let refused = compare(&a, &b, &CompareOptions::default());
    assert!(matches!(refused, Err(CompareError::Firmware { .. })));
    let options = CompareOptions { any_firmware: true, ..CompareOptions::default() };
    assert!(compare(&a, &b, &options).is_ok());
}

#[test]
fn a_comparison_reads_well_in_text_markdown_and_json() {
    let (a, b) = (recorded("run-a", "Disk", &steady), recorded("run-b", "Disk", &faster));
    let options = CompareOptions { threshold: Some(0.05), ..CompareOptions::default() };
    let comparison = compare(&a, &b, &options).expect("equal tests");
    insta::assert_snapshot!(format!("{}\n{}", comparison.text(100, false), comparison.markdown()));
    let json = comparison.json();
    assert_eq!((&json["schema_version"], &json["gate"]), (&1.into(), &"passed".into()));
    assert_eq!(json["tests"][2]["id"], "random-read-4k");
    let ratio = json["tests"][2]["ratio_b_to_a"].as_f64().expect("a number");
    assert!((ratio - 1.38).abs() < 0.01);
    assert_eq!(json["tests"][2]["difference"], "better");
}

#[test]
fn a_hostile_name_is_escaped_in_xml() {
    let mut recipe = Recipe::new("a", quick(6), "<x>&\"\u{202e}");
    let a = run(&recipe);
    recipe.id = "b";
    let comparison = compare(&a, &run(&recipe), &CompareOptions::default()).expect("equal tests");
    let junit = comparison.junit();
    assert!(junit.contains("&lt;x&gt;&amp;&quot;"), "{junit}");
    assert!(!junit.contains('\u{202e}') && !junit.contains("<x>"));
}

/// A run whose first test is scored by efficiency, with a meter of `scope`.
fn metered(id: &str, scope: PowerScope, power_w: f64) -> Run {
    let mut plan = quick(12);
    plan.tests[0].score = Score::MeanOf(Metric::EfficiencyMbSW);
    let mut recipe = Recipe::new(id, plan, id);
    (recipe.power_w, recipe.scope) = (Some(power_w), scope);
    run(&recipe)
}

#[test]
fn efficiencies_of_different_scopes_are_neither_compared_nor_ranked() {
    let drive = metered("a", PowerScope::Drive, 5.0);
    let other = metered("b", PowerScope::Drive, 4.0);
    let wall = metered("c", PowerScope::HostAc, 80.0);
    let options = CompareOptions::default();
    let first = |a: &Run, b: &Run| compare(a, b, &options).unwrap().tests.remove(0);
    assert!(first(&drive, &other).ratio.is_some(), "two drives on meters of one scope");
    let refused = first(&drive, &wall);
    assert_eq!(
        refused.difference,
        Difference::Unknown("the scopes of the power meters differ".into())
    );
    assert_eq!(refused.ratio, None);
    // Throughput needs no meter: it is compared anyway.
    let plain = compare(&drive, &wall, &options).unwrap().tests.remove(1);
    assert!(plain.ratio.is_some());
    let runs = [drive, other, wall];
    let page = ssdgauge_report::page(&runs, &Default::default());
    assert!(page.contains("different power scope: host-ac"));
    assert!(page.contains("scope of the power meter: drive; instrument: "), "the meter is named");
    let figures = ssdgauge_report::figures(&runs, &Default::default());
    let is_of_wall = |title: &str| title.contains("power of the host, AC over time");
    assert!(figures.iter().any(|figure| is_of_wall(&figure.title)));
}

#[test]
fn two_results_without_an_interval_are_measured_and_not_judged() {
    let brief = |id: &str| run(&Recipe::new(id, quick(2), "Disk"));
    let comparison = compare(&brief("a"), &brief("b"), &CompareOptions::default()).unwrap();
    let text = comparison.text(200, false);
    assert!(text.contains("0 within noise, 5 not judged"), "{text}");
    let judged = |line: &&str| line.starts_with("not judged") && line.contains(" 0.0 % ");
    assert_eq!(text.lines().filter(judged).count(), 5, "{text}");
    assert!(text.contains("too few full seconds"), "{text}");
}
