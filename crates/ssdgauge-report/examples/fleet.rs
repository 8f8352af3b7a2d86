//! How fast a report is made, and how large it is: one run, one hundred runs of an hour, and a run
//! of a day. `cargo run --release -p ssdgauge-report --example fleet`.
#![allow(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    clippy::print_stdout,
    reason = "a measurement, not the program"
)]

#[path = "../tests/support/mod.rs"]
mod support;

use ssdgauge_core::{Access, Figure, Metric, Nanos, Score, Stream, Window};
use ssdgauge_report::{PageOptions, page, read};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use support::{Pace, Recipe, plan, quick, record, step, stream, test};

/// Returns a plan of one test: random writes for `seconds`, scored by the last 400 s.
fn consistency(seconds: u64) -> ssdgauge_core::Plan {
    let write = step("write", 1.0, stream(Access::Random, 4_096, 0, 32), seconds);
    let window = Window::Time(Nanos::from_secs(400));
    let score = Score::MeanOfLast { metric: Metric::Iops, window };
    let figures =
        [Figure::Ranking, Figure::Timeline, Figure::LatencyTimeline, Figure::Distribution];
    plan("consistency-2016", vec![test("default", "Random write", score, &figures, vec![write])])
}

fn files(folder: &Path, n: usize, seconds: u64) -> Vec<PathBuf> {
    let one = |number: usize| {
        let pace = move |_: &Stream, second: u32| {
            let wave = f64::from(second * 7 % 97) / 97.0;
            let iops = (9_000.0 + 300.0 * number as f64) * (0.8 + 0.4 * wave);
            Pace { iops: iops as u64, lat_us: 32e6 / iops }
        };
        let mut recipe =
            Recipe::new(&format!("run-{number}"), consistency(seconds), &format!("Disk {number}"));
        recipe.pace = &pace;
        recipe.power_w = Some(4.0);
        recipe.drive.serial = Some(format!("S{number}"));
        let part = folder.join(number.to_string());
        std::fs::create_dir_all(&part).unwrap();
        record(&part, &recipe)
    };
    (0..n).map(one).collect()
}

/// Returns the best of three times from run files to a page, and the length of the page.
fn measured(files: &[PathBuf]) -> (Duration, usize) {
    let once = || {
        let begin = Instant::now();
        let runs: Vec<_> = files.iter().map(|file| read(file).unwrap()).collect();
        let page = page(&runs, &PageOptions::default());
        (begin.elapsed(), page.len())
    };
    (0..3).map(|_| once()).min().unwrap()
}

fn main() {
    let folder = tempfile::tempdir().unwrap();
    let say = |what: &str, files: &[PathBuf]| {
        let (time, length) = measured(files);
        println!("{what:<28} {:>7.2} s {:>7.2} MB", time.as_secs_f64(), length as f64 / 1e6);
    };
    let one = folder.path().join("one");
    std::fs::create_dir_all(&one).unwrap();
    say("one quick run", &[record(&one, &Recipe::new("a", quick(10), "Disk"))]);
    say("one run of an hour", &files(&folder.path().join("hour"), 1, 3_600));
    say("100 runs of an hour", &files(&folder.path().join("hundred"), 100, 3_600));
    say("one run of a day", &files(&folder.path().join("day"), 1, 86_400));
}
