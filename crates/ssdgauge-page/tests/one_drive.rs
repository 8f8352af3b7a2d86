//! The page of one drive: a sentence, its numbers among those of other drives, and its charts before their lines.
#![allow(clippy::unwrap_used, reason = "a test that cannot be set up has failed")]

use crate::support::{Pace, Recipe, plan, run, step, stream, test};
use ssdgauge_analysis::{Background, PageOptions, Run};
use ssdgauge_core::{
    Access, Arrival, Chart, Finding, FindingKind, Metric, Nanos, Score, Severity, Stream,
    TargetKind, Test, Window,
};
use ssdgauge_page::page;

const NVME: [(&str, &str); 3] =
    [("transport", "pcie"), ("link_speed", "8.0 GT/s PCIe"), ("write_cache", "write back")];

/// The suite: a fill, small reads at two depths, and eight equal bursts of small writes.
fn tests() -> Vec<Test> {
    let window = Window::Time(Nanos::from_secs(20));
    let last = Score::MeanOfLast { metric: Metric::ThroughputMbS, window };
    let fill = step("fill", 1.0, stream(Access::Sequential, 131_072, 0, 32), 70);
    let read = |depth: u32| {
        let load = stream(Access::Random, 4_096, 100, depth);
        step(&format!("QD{depth}"), f64::from(depth), load, 20)
    };
    let burst =
        |n: u32| step(&format!("#{n}"), f64::from(n), stream(Access::Random, 4_096, 0, 1), 3);
    let mean = || Score::MeanOf(Metric::Iops);
    vec![
        test("fill", "Sequential write", last, &[Chart::Curve], vec![fill]),
        test("reads", "Random read", mean(), &[Chart::Curve], vec![read(1), read(32)]),
        test(
            "bursts",
            "Bursts of random writes",
            mean(),
            &[Chart::Curve],
            (1..9).map(burst).collect(),
        ),
    ]
}

/// Returns a run of a drive whose small requests have `percent` of a common speed, and whose writes in order fall
/// to a third after 20 s.
fn recipe<'a>(name: &str, pace: &'a dyn Fn(&Stream, u32) -> Pace) -> Recipe<'a> {
    let mut recipe = Recipe { pace, ..Recipe::new(name, plan("own", tests()), name) };
    recipe.drive.kind = TargetKind::Block;
    recipe.drive.serial = Some(format!("S-{name}"));
    for (key, value) in NVME {
        recipe.drive.details.insert(key.into(), value.into());
    }
    recipe
}

fn pace(percent: u64) -> impl Fn(&Stream, u32) -> Pace {
    move |stream: &Stream, second: u32| {
        let iops = match (stream.access, second) {
            (Access::Sequential, 0..20) => 18_000,
            (Access::Sequential, _) => 60 * percent,
            (Access::Random, _) => 100 * percent * u64::from(stream.queue_depth.min(16)),
        };
        Pace { iops, lat_us: 100.0 }
    }
}

fn drive(name: &str, percent: u64) -> Run {
    run(&recipe(name, &pace(percent)))
}

/// Returns the page of `own` before `others`, without its style sheet, as text with its tags.
fn shown(own: &Run, others: &[Run]) -> String {
    let background = Some(Background::from_runs(others));
    let options = PageOptions { background, ..PageOptions::default() };
    let page = page(std::slice::from_ref(own), &options);
    page.split("</style>").nth(1).unwrap().replace('\u{a0}', " ")
}

fn title(page: &str) -> String {
    let title = page.split("<h1>").nth(1).unwrap().split("</h1>").next().unwrap();
    title.split('<').map(|part| part.split_once('>').map_or(part, |(_, text)| text)).collect()
}

fn others(percents: &[u64]) -> Vec<Run> {
    percents.iter().enumerate().map(|(n, percent)| drive(&format!("Disk {n}"), *percent)).collect()
}

#[test]
fn five_drives_of_its_class_judge_a_drive_and_three_only_compare_it() {
    let own = drive("Own", 100);
    let of = |percents: &[u64]| shown(&own, &others(percents));
    let five = of(&[99, 100, 101, 50, 120]);
    let expected = "As fast as its class in everyday work; long writes drop from 2.4 GB/s to 786 MB/s after about 47 GB";
    assert_eq!(title(&five), expected);
    assert!(five.contains("faster than 1 of 5, ties with 3, slower than 1"), "{}", &five[..4_000]);
    assert!(title(&of(&[99, 100, 101])).starts_with("Everyday speed matches three other drives; "));
    let slow = title(&of(&[140, 150, 160, 170, 180]));
    assert!(
        slow.starts_with(
            "Small reads 38 % slower, small writes 38 % slower than the median of its class"
        ),
        "{slow}"
    );
}

#[test]
fn the_headline_of_an_editor_leaves_the_drop_in_the_sentence_below_it() {
    let options = PageOptions { title: Some("Quick and quiet".into()), ..PageOptions::default() };
    let page = page(&[drive("Own", 100)], &options).replace('\u{a0}', " ");
    let below = page.split_once("<h1>Quick and quiet</h1>").unwrap().1;
    let dek = below.split_once("<p class=\"dek\">").unwrap().1;
    let expected =
        "Long writes drop from 2.4 GB/s to 786 MB/s after about 47 GB. Long writes become slower";
    assert!(dek.starts_with(expected), "{}", &dek[..300]);
}

#[test]
fn two_other_drives_are_not_a_class_and_a_drive_is_not_compared_with_itself() {
    let own = drive("Own", 100);
    let alone = title(&shown(&own, &[]));
    assert!(
        alone.starts_with("Small reads at 10,000 IOPS, small writes at 10,000 IOPS; long writes"),
        "{alone}"
    );
    let again = Run {
        head: ssdgauge_runfile::Head { id: "again".into(), ..own.head.clone() },
        ..own.clone()
    };
    for background in
        [others(&[90, 110]), vec![own.clone(), again, drive("Disk", 90), drive("Disk", 90)]]
    {
        let page = shown(&own, &background);
        assert!(!page.contains("class=\"pe\"") && !page.contains("class=\"cnt\""));
        assert_eq!(title(&page), alone);
    }
}

#[test]
fn virtual_drives_compare_and_are_marked_once() {
    let model = |name: &str, percent: u64| {
        let pace = pace(percent);
        let mut recipe = recipe(name, &pace);
        recipe.drive.kind = TargetKind::Virtual;
        recipe.drive.target = format!("sim:{name}");
        run(&recipe)
    };
    let background: Vec<Run> = (0..6).map(|n| model(&format!("v{n}"), 97 + n)).collect();
    let page = shown(&model("own", 100), &background);
    assert!(
        title(&page).starts_with("Everyday speed matches six virtual drives"),
        "{}",
        title(&page)
    );
    assert!(!page.contains("As fast as its class"));
    assert_eq!(page.matches("<b>MODEL</b> cohort").count(), 1);
    // Real drives are not a background of a virtual one.
    let real = shown(&model("own", 100), &others(&[100, 101, 102, 103]));
    assert!(!real.contains("class=\"pe\""));
}

#[test]
fn another_length_and_an_unfinished_run_are_not_a_background() {
    let own = drive("Own", 100);
    let changed = |n: u64, change: &dyn Fn(&mut Recipe<'_>)| {
        let pace = pace(90 + n);
        let mut recipe = recipe(&format!("Disk {n}"), &pace);
        change(&mut recipe);
        run(&recipe)
    };
    let shortened: Vec<Run> =
        (0..4).map(|n| changed(n, &|recipe| recipe.plan.shortened = 10)).collect();
    let unfinished: Vec<Run> = (0..4).map(|n| changed(n, &|recipe| recipe.steps = 1)).collect();
    for background in [shortened, unfinished] {
        assert!(!shown(&own, &background).contains("class=\"pe\""));
        assert_eq!(Background::from_runs(&background).peers(&own), None);
    }
}

#[test]
fn nothing_is_good_for_a_use_whose_number_is_questionable() {
    let fast = pace(200);
    let mut recipe = recipe("Own", &fast);
    let uses = |recipe: &Recipe<'_>| shown(&run(recipe), &others(&[80, 90, 100, 110, 120]));
    assert!(uses(&recipe).contains("Starting programs"));
    // The first step of the test of reads.
    let finding = Finding::new(FindingKind::Disturbed, Severity::Warning, "other work", "stop it");
    recipe.findings.push((Some(1), finding));
    let page = uses(&recipe);
    assert!(
        !page.contains("Starting programs") && page.contains("Questionable: "),
        "{}",
        &page[..5_000]
    );
    assert!(page.contains("Copies larger than"));
}

/// Returns the uses that `page` lists under "Good for" and under "Not good for", each as text with its tags.
fn uses(page: &str) -> [String; 2] {
    let list = |class: &str| {
        let list = page.split(&format!("<ul class=\"{class}\">")).nth(1);
        list.map_or("", |list| list.split("</ul>").next().unwrap()).to_owned()
    };
    [list("yes"), list("nay")]
}

#[test]
fn a_mark_follows_the_comparison_and_not_the_fall() {
    let own = drive("Own", 100);
    let of = |percents: &[u64]| uses(&shown(&own, &others(percents)));
    let [good, not_good] = of(&[40, 45, 50, 55, 60]);
    assert!(good.contains("Copies larger than"), "the others fall to half of its speed: {good}");
    assert_eq!(not_good, "");
    let [good, not_good] = of(&[200, 210, 220, 230, 240]);
    assert!(not_good.contains("Copies larger than") && not_good.contains("slower than 5 of 5"));
    assert!(good.contains("Short copies") && good.contains("ties with 5 of 5"), "{good}");
    // The last of drives that are near each other is not bad.
    assert_eq!(of(&[105, 106, 106, 107, 108])[1], "");
    // Without other drives nothing is good or bad.
    assert_eq!(uses(&shown(&own, &[])), ["", ""]);
}

#[test]
fn a_drive_is_compared_within_its_interface_where_five_others_have_it() {
    let of = |name: &str, percent: u64, details: &[(&str, &str)]| {
        let pace = pace(percent);
        let mut recipe = recipe(name, &pace);
        recipe.drive.details.clear();
        for (key, value) in details {
            recipe.drive.details.insert((*key).into(), (*value).into());
        }
        run(&recipe)
    };
    let sata = |cache| [("transport", "sata"), ("write_cache", cache)];
    let own = of("Own", 100, &sata("write back"));
    let shown_among = |count: u64| {
        let slow = (0..count).map(|n| of(&format!("S{n}"), 50, &sata("write through")));
        let fast = (0..6).map(|n| of(&format!("N{n}"), 300, &NVME));
        shown(&own, &slow.chain(fast).collect::<Vec<_>>())
    };
    let page = shown_among(5);
    assert!(title(&page).contains("than the median of five other SATA drives"), "{}", title(&page));
    assert!(uses(&page)[0].contains("Copies larger than") && !page.contains("SATA and NVMe"));
    let page = shown_among(4);
    assert!(title(&page).contains("than the median of ten other drives"), "{}", title(&page));
    assert!(uses(&page)[1].contains("slower than 6 (SATA and NVMe)"), "{:?}", uses(&page));
}

#[test]
fn long_copies_are_judged_by_their_own_levels_whatever_the_doubt_about_a_mean() {
    let slow = pace(100);
    let mut recipe = recipe("Own", &slow);
    let listed = |recipe: &Recipe<'_>| {
        uses(&shown(&run(recipe), &others(&[200, 210, 220, 230, 240])))[1].clone()
    };
    let finding = |kind| (Some(0), Finding::new(kind, Severity::Warning, "text", "advice"));
    recipe.findings.push(finding(FindingKind::LeftSteadyState));
    assert!(listed(&recipe).contains("Copies larger than"), "{}", listed(&recipe));
    recipe.findings.push(finding(FindingKind::Disturbed));
    assert!(!listed(&recipe).contains("Copies larger than"), "{}", listed(&recipe));
}

#[test]
fn charts_have_the_lines_of_other_drives_and_equal_repetitions_are_one_value() {
    let page = shown(&drive("Own", 100), &others(&[80, 90, 100, 110]));
    let chart = |id: &str| {
        let figure = page.split(&format!("<figure id=\"own/{id}\"")).nth(1).unwrap();
        figure.split("</figure>").next().unwrap().to_owned()
    };
    for id in ["fill", "reads"] {
        let cuts = chart(id);
        let first =
            cuts.split("<svg class=\"ch wide").nth(1).unwrap().split("</svg>").next().unwrap();
        assert_eq!(first.matches("class=\"peer\"").count(), 4, "{id}");
    }
    let bursts = chart("bursts");
    let words = "10,000 IOPS</b>, mean of 8 repetitions, equal to within 0.1 %";
    assert!(bursts.contains(words), "{}", &bursts[..1_500]);
    assert_eq!(
        bursts
            .split("p-speed")
            .nth(1)
            .unwrap()
            .split("p-p99")
            .next()
            .unwrap()
            .matches("class=\"pe\"")
            .count(),
        4
    );
    assert!(
        chart("reads")
            .contains("Random 4 KiB reads: 10,000 IOPS at QD1, 160,000 IOPS at QD32 (16.0×)")
    );
}

#[test]
fn the_mean_of_bursts_is_said_to_be_one() {
    assert!(shown(&drive("Own", 100), &[]).contains("mean of 8 short bursts"));
}

/// Returns the headline of a run of one `test` whose requests complete at `iops` after `lat_us`.
fn headline_of(test: Test, pace: &dyn Fn(&Stream, u32) -> Pace) -> String {
    let mut recipe = Recipe { pace, ..Recipe::new("work", plan("own", vec![test]), "Alpha") };
    recipe.drive.kind = TargetKind::Block;
    title(&shown(&run(&recipe), &[]))
}

#[test]
fn commits_are_told_as_the_time_of_one() {
    let mut commit = stream(Access::Sequential, 4_096, 0, 1);
    commit.flush_every = Some(1);
    let steps = vec![step("log", 0.0, commit, 20)];
    let log = test("log", "Log of a database", Score::MeanOf(Metric::Iops), &[], steps);
    let title = headline_of(log, &|_, _| Pace { iops: 800, lat_us: 80.0 });
    assert_eq!(title, "A 4 KiB commit takes 1.25 ms on average");
}

#[test]
fn an_open_loop_is_told_by_the_highest_rate_that_is_answered_in_time() {
    let at = |per_second: f64| {
        let mut reads = stream(Access::Random, 4_096, 100, 64);
        reads.arrival = Arrival::Uniform { per_second };
        step(&format!("{per_second}/s"), per_second, reads, 20)
    };
    let curve = |rates: &[f64]| {
        let steps = rates.iter().map(|rate| at(*rate)).collect();
        test("curve", "Latency by load", Score::KneeOfLoad(Metric::Iops), &[], steps)
    };
    // It completes 4,500 reads a second at most, and the queue grows from there on.
    let pace = |stream: &Stream, _: u32| {
        let rate = stream.arrival.per_second().unwrap();
        Pace {
            iops: rate.min(4_500.0) as u64,
            lat_us: if rate > 2_000.0 { 1_000.0 } else { 200.0 },
        }
    };
    let title = headline_of(curve(&[1_000.0, 2_000.0, 4_000.0, 8_000.0]), &pace);
    assert_eq!(title, "Answers 99 % of reads within 1 ms up to 2,000/s, not at 4,000/s");
    let title = headline_of(curve(&[4_000.0, 8_000.0]), &pace);
    assert_eq!(title, "Answers 99 % of reads within 10 ms up to 4,000/s, not at 8,000/s");
    let title = headline_of(curve(&[16_000.0, 32_000.0]), &pace);
    assert_eq!(title, "Does not answer 99 % of reads within 100 ms, even at 16,000/s");
}
