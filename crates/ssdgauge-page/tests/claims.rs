//! Spec files: a claim is judged where its conditions were met, and nowhere else.
#![allow(clippy::unwrap_used, reason = "a test that cannot be set up has failed")]

use crate::support::{Pace, Recipe, plan, quick, run, step, stream, test};
use ssdgauge_analysis::{PageOptions, Run, Specification};
use ssdgauge_core::{
    Access, Action, Bytes, Finding, FindingKind, Metric, Nanos, Phase, PhaseKind, Preparation,
    Rest, Score, Severity, Step, Stream, Test, Window,
};
use ssdgauge_export::{claims_markdown, report_json};
use ssdgauge_page::{Ground, figures, page};

fn preparing(kind: PhaseKind, preparation: Preparation) -> Phase {
    let action = Action::Prepare(preparation);
    let step = Step { label: "prepare".into(), position: 0.0, action, rest: Rest::None };
    Phase { kind, steps: vec![step] }
}

fn prepared(mut test: Test) -> Test {
    test.phases.insert(0, preparing(PhaseKind::Purge, Preparation::Purge));
    test
}

/// Returns a purged drive that reads at QD1 and QD32, writes for 410 s, and is then written in
/// order: 3,000 MB/s for 20 s, 600 MB/s afterwards.
fn disk() -> Run {
    disk_with_cache(20)
}

/// Returns the same drive with a cache that is full after `seconds`.
fn disk_with_cache(seconds: u32) -> Run {
    let reads = [1, 32].map(|qd| {
        step(&format!("QD{qd}"), f64::from(qd), stream(Access::Random, 4_096, 100, qd), 6)
    });
    let writes = step("0 % read", 0.0, stream(Access::Random, 4_096, 0, 32), 410);
    let fill = step("fill", 0.0, stream(Access::Sequential, 131_072, 0, 32), 60);
    let window = Window::Time(Nanos::from_secs(400));
    let last = Score::MeanOfLast { metric: Metric::Iops, window };
    let mean = Score::MeanOf(Metric::ThroughputMbS);
    let tests = vec![
        prepared(test("reads", "Reads", Score::BestOf(Metric::Iops), &[], reads.into())),
        prepared(test("writes", "Writes", last, &[], vec![writes])),
        prepared(test("fill", "Fill", mean, &[], vec![fill])),
    ];
    let mut recipe = Recipe::new("run-1", plan("mine", tests), "Great SSD 1TB");
    let pace = move |stream: &Stream, second: u32| {
        let iops = match (stream.access, stream.read_percent, stream.queue_depth) {
            (Access::Sequential, _, _) if second < seconds => 3_000_000_000 / 131_072,
            (Access::Sequential, _, _) => 600_000_000 / 131_072,
            (Access::Random, 0, _) if second < 10 => 400_000,
            (Access::Random, 0, _) => 20_000,
            (Access::Random, _, 1) => 12_000,
            (Access::Random, _, _) => 380_000,
        };
        Pace { iops, lat_us: f64::from(stream.queue_depth) * 1e6 / iops as f64 }
    };
    recipe.pace = &pace;
    recipe.drive.capacity = Bytes(1_000_204_886_016);
    run(&recipe)
}

fn judged(disk: &Run, claim: &str) -> serde_json::Value {
    let text = format!("[drive]\nmodel = \"great ssd\"\nsource = \"its sheet\"\n\n{claim}");
    let specification = Specification::parse("spec.toml", &text).unwrap();
    let json = report_json(std::slice::from_ref(disk), None, &[specification]);
    let json = &json["specifications"];
    assert_eq!(json[0]["drive"], "Great SSD 1TB");
    json[0]["claims"][0].clone()
}

fn random(read: u8, value: u64, more: &str) -> String {
    format!(
        "[[claim]]\nmetric = \"iops\"\nvalue = {value}\naccess = \"random\"\nblock_size = \"4KiB\"\n\
         read_percent = {read}\n{more}"
    )
}

fn in_order(value: u64, more: &str) -> String {
    format!(
        "[[claim]]\nmetric = \"throughput_mb_s\"\nvalue = {value}\naccess = \"sequential\"\n\
         block_size = \"128KiB\"\nread_percent = 0\n{more}"
    )
}

#[test]
fn a_claim_is_met_missed_or_not_comparable_with_the_reason() {
    let cases = [
        (random(100, 390_000, "queue_depth = 32"), "met", "Reads, QD32"),
        (random(100, 500_000, "queue_depth = 32"), "not-met", "Reads, QD32"),
        (random(100, 12_000, "queue_depth = 1\nstate = \"fresh\""), "met", "Reads, QD1"),
        (
            random(100, 500_000, "queue_depth = 64"),
            "not-comparable",
            "queue depth: measured at QD1, QD32",
        ),
        (random(0, 400_000, "state = \"fresh\""), "not-comparable", "state: "),
        (random(0, 20_000, "state = \"steady\""), "met", "Writes"),
        (random(70, 20_000, ""), "not-comparable", "no run has a step with"),
        (in_order(3_000, ""), "not-comparable", "cache: "),
        (in_order(3_000, "cache = \"inside\""), "met", "inside the SLC cache"),
        (in_order(1_000, "cache = \"beyond\""), "not-met", "beyond the SLC cache"),
    ];
    let disk = disk();
    for (claim, verdict, reason) in cases {
        let judged = judged(&disk, &claim);
        assert_eq!(judged["verdict"], verdict, "{claim}: {judged:#}");
        assert!(judged["reason"].as_str().unwrap().contains(reason), "{claim}: {judged:#}");
        assert_eq!(judged["measured"].is_null(), verdict == "not-comparable", "{judged:#}");
        assert_eq!(judged["source"], "its sheet");
    }
}

/// Returns a run of the tests `quick` of a drive that writes in order as `pace` says, in MB/s of each second, with
/// `findings`.
fn quick_disk(pace: &'static dyn Fn(u32) -> u64, findings: Vec<Finding>) -> Run {
    let mut recipe = Recipe::new("run-2", quick(20), "Great SSD 1TB");
    let write = |stream: &Stream| stream.access == Access::Sequential && stream.read_percent == 0;
    let of = move |stream: &Stream, second: u32| {
        let mb_s = if write(stream) { pace(second) } else { 2_000 };
        Pace { iops: mb_s * 1_000_000 / stream.block_size.0, lat_us: 100.0 }
    };
    recipe.pace = &of;
    recipe.findings = findings.into_iter().map(|finding| (None, finding)).collect();
    run(&recipe)
}

#[test]
fn a_limit_within_the_interval_is_not_decided() {
    // 20 s with a mean of 2,000 MB/s, which 5 % below 2,105 MB/s is.
    let uneven: &dyn Fn(u32) -> u64 =
        &|second| if second.is_multiple_of(2) { 1_900 } else { 2_100 };
    for (claimed, verdict) in [(1_900, "met"), (2_105, "not-decided"), (2_500, "not-met")] {
        let judged = judged(&quick_disk(uneven, Vec::new()), &in_order(claimed, ""));
        assert_eq!(judged["verdict"], verdict, "{judged:#}");
        assert!(!judged["measured"].is_null(), "{judged:#}");
    }
}

#[test]
fn a_level_of_which_only_a_lower_bound_is_known_misses_no_claim() {
    for (claimed, verdict) in [(1_000, "met"), (4_000, "not-decided")] {
        let judged = judged(&disk_with_cache(1), &in_order(claimed, "cache = \"inside\""));
        assert_eq!(judged["verdict"], verdict, "{judged:#}");
    }
}

#[test]
fn a_claim_whose_side_of_the_cache_is_not_known_is_not_comparable() {
    let even: &dyn Fn(u32) -> u64 = &|_| 2_000;
    let levels: &dyn Fn(u32) -> u64 = &|second| if second < 10 { 2_400 } else { 700 };
    let cases = [
        (even, in_order(2_000, ""), "met", "Sequential"),
        (even, in_order(2_000, "cache = \"inside\""), "not-comparable", "side"),
        (even, in_order(2_000, "cache = \"beyond\""), "not-comparable", "side"),
        (levels, in_order(2_400, "cache = \"inside\""), "not-comparable", "cache: "),
        (levels, in_order(1_000, ""), "not-comparable", "cache: "),
        (levels, in_order(700, "cache = \"beyond\""), "not-comparable", "cache: "),
    ];
    for (pace, claim, verdict, reason) in cases {
        let judged = judged(&quick_disk(pace, Vec::new()), &claim);
        assert_eq!(judged["verdict"], verdict, "{claim}: {judged:#}");
        assert!(judged["reason"].as_str().unwrap().contains(reason), "{claim}: {judged:#}");
    }
}

#[test]
fn a_claim_on_an_invalid_run_is_not_judged() {
    let lost = || {
        let text = "51 of 64 blocks do not hold the data";
        Finding::new(FindingKind::LostWrites, Severity::Invalid, text.to_owned(), "do not use it")
    };
    let claim = in_order(1_000, "");
    assert_eq!(judged(&quick_disk(&|_| 2_000, Vec::new()), &claim)["verdict"], "met");
    let judged = judged(&quick_disk(&|_| 2_000, vec![lost()]), &claim);
    assert_eq!(judged["verdict"], "not-comparable", "{judged:#}");
    assert!(judged["measured"].is_null(), "{judged:#}");
    assert!(judged["reason"].as_str().unwrap().starts_with("invalid: "), "{judged:#}");
}

#[test]
fn the_page_of_one_quick_run_has_the_claims() {
    let text = format!("[drive]\nmodel = \"Great\"\nsource = \"sheet\"\n\n{}", in_order(2_500, ""));
    let options = PageOptions {
        specifications: vec![Specification::parse("spec.toml", &text).unwrap()],
        ..PageOptions::default()
    };
    let of_quick = page(&[quick_disk(&|_| 2_000, Vec::new())], &options);
    assert!(of_quick.contains("Quick check of one drive"));
    for words in ["Specification against measurement", "2,500", "not met"] {
        assert!(of_quick.contains(words), "{words}");
    }
}

#[test]
fn judged_claims_stand_in_every_output() {
    let text = format!(
        "[drive]\nmodel = \"Great\"\nsource = \"its <b>sheet</b>\"\n\n{}\n\n{}",
        random(100, 500_000, "queue_depth = 32"),
        random(100, 500_000, "queue_depth = 64\nsource = \"an advertisement\"")
    );
    let specifications = vec![Specification::parse("spec.toml", &text).unwrap()];
    let runs = [disk()];
    let markdown = claims_markdown(&runs, &specifications);
    let options = PageOptions { specifications, ..PageOptions::default() };
    let page = page(&runs, &options);
    for output in [&markdown, &page] {
        for words in ["not met", "not comparable", "queue depth: measured at", "an advertisement"] {
            assert!(output.contains(words), "{words}");
        }
        assert!(!output.contains("<b>sheet"));
    }
    let figures = figures(&runs, &options);
    let chart = figures.iter().find(|figure| figure.name == "specification").unwrap();
    for words in ["Great SSD 1TB", "firmware FW01", "mine r1", "run run-1", "2026-11-20"] {
        assert!(chart.svg.contains(words), "{words}");
    }
    assert!(chart.png(Ground::Light, 1).starts_with(b"\x89PNG"));
}

#[test]
fn an_invalid_spec_file_is_refused_with_its_line() {
    let head = "[drive]\nmodel = \"Disk\"\nsource = \"sheet\"\n";
    let claim = random(100, 1, "");
    let cases = [
        ("", 1),
        ("[drive]\nmodel = \"\"\nsource = \"sheet\"\n", 2),
        ("[drive]\nmodel = \"Disk\"\nsource = \"sheet\"\nclaims = 3\n", 4),
        ("[drive]\nmodel = \"Disk\"\nsource = \"s\"\ntolerance_percent = 80\n", 4),
        (head, 1),
        (&format!("{head}{}", claim.replace("iops", "speed")), 5),
        (&format!("{head}{}", claim.replace("value = 1", "value = -1")), 6),
        (&format!("{head}{}", claim.replace("value = 1", "value = nan")), 6),
        (&format!("{head}{}", claim.replace("4KiB", "4XB")), 8),
        (&format!("{head}{}", claim.replace("100", "101")), 9),
        (&format!("{head}{claim}queue_depth = 0\n"), 10),
        (&format!("{head}{claim}cache = \"inside\"\n"), 10),
        (&format!("{head}{claim}state = \"tired\"\n"), 10),
        ("\u{202e}\0[[[[", 1),
    ];
    for (text, line) in cases {
        let error = Specification::parse("spec.toml", text).unwrap_err();
        assert_eq!(error.line, line, "{text:?}: {error}");
        assert!(!error.hint.is_empty(), "{text:?}");
        assert!(error.to_string().starts_with("spec.toml:"), "{error}");
    }
}

#[test]
fn a_sweep_of_fill_levels_is_ranked_at_the_chosen_level() {
    let levels = [0, 50, 80].map(|level| {
        let mut stream = stream(Access::Random, 4_096, 0, 4);
        stream.offset = Bytes(level);
        step(&format!("{level} % full"), level as f64, stream, 6)
    });
    let score = Score::At { metric: Metric::Iops, position: 80.0 };
    let figures = [ssdgauge_core::Chart::Ranking, ssdgauge_core::Chart::Curve];
    let ladder = test("ladder", "Ladder", score, &figures, levels.into());
    let mut recipe = Recipe::new("a", plan("fill-ladder", vec![ladder]), "Disk");
    recipe.pace = &|stream, _| Pace { iops: 10_000 - 100 * stream.offset.0, lat_us: 400.0 };
    let run = run(&recipe);
    assert_eq!(run.fill_levels(), [0.0, 50.0, 80.0]);
    let value = |run: &Run| run.tests[0].headline.value;
    assert_eq!(value(&run), Some(2_000.0));
    assert_eq!(value(&run.clone().at_fill_level(50.0)), Some(5_000.0));
    assert_eq!(value(&run.clone().at_fill_level(0.0)), Some(10_000.0));
    assert_eq!(value(&run.at_fill_level(33.0)), None);
}
