//! What a comparison says of databases where commits were measured.
#![allow(clippy::unwrap_used, reason = "a test that cannot be set up has failed")]

use crate::support::{Pace, Recipe, plan, run, step, stream, test};
use ssdgauge_analysis::{PageOptions, Run};
use ssdgauge_core::{Access, Chart, Metric, Score, Stream, Test};
use ssdgauge_page::{fragment, page};

/// Commits of one thread, and reads of pages.
fn tests() -> Vec<Test> {
    let commit = Stream { flush_every: Some(1), ..stream(Access::Sequential, 4_096, 0, 1) };
    let of = |id: &str, title: &str, stream: Stream| {
        let steps = vec![step("QD1", 1.0, stream, 30)];
        test(id, title, Score::MeanOf(Metric::Iops), &[Chart::Ranking], steps)
    };
    let reads = stream(Access::Random, 8_192, 100, 1);
    vec![
        of("commits", "Commits one after the other", commit),
        of("page-reads", "Random reads of pages", reads),
    ]
}

fn drive(name: &'static str, commits: f64, reads: f64, latency: f64) -> Run {
    let pace = move |stream: &Stream, second: u32| {
        let wobble = 1.0 + 0.002 * (f64::from(second) * 1.7).sin();
        let base = if stream.flush_every.is_some() { commits } else { reads };
        Pace { iops: (base * wobble) as u64, lat_us: latency }
    };
    run(&Recipe { pace: &pace, ..Recipe::new(name, plan("own", tests()), name) })
}

fn plain(text: &str) -> String {
    let parts = text.split('<').map(|part| part.split_once('>').map_or(part, |(_, text)| text));
    parts.collect::<String>().replace('\u{a0}', " ")
}

#[test]
fn the_time_of_a_commit_in_the_headline_is_in_its_number_too() {
    let pace = |_: &Stream, _: u32| Pace { iops: 2_275, lat_us: 60.0 };
    let own = plan("own", tests()[..1].to_vec());
    let own = run(&Recipe { pace: &pace, ..Recipe::new("Alpha", own, "Alpha") });
    let page = page(&[own], &PageOptions::default());
    let page = page.replace('\u{a0}', " ");
    assert!(page.contains("commit takes 440 µs on average"), "{page}");
    assert!(page.contains("440 µs each on average"), "{page}");
}

#[test]
fn the_drive_with_the_most_commits_is_the_one_for_databases() {
    // Beta commits 17 times as fast; Alpha reads faster, and has the lower tail.
    let runs = [drive("Alpha", 2_275.0, 15_000.0, 60.0), drive("Beta", 39_804.0, 12_000.0, 120.0)];
    let answer = fragment(&runs, &PageOptions::default(), "answer").unwrap();
    let row = |name: &str| {
        let mut rows = answer.split("<tr class=\"d d-").skip(1).map(plain);
        rows.find(|row| row.contains(name)).unwrap()
    };
    assert!(row("Beta").contains("Most commits (databases)"), "{}", row("Beta"));
    assert!(!row("Alpha").contains("atabases"), "{}", row("Alpha"));
    let page = page(&runs, &PageOptions::default());
    let title = plain(page.split("<h1>").nth(1).unwrap().split("</h1>").next().unwrap());
    assert!(title.contains("Beta") && title.contains("commits"), "{title}");
}
