//! How fast a report is made, and how large it is: one run, one hundred runs of an hour, and a run
//! of a day. `cargo run --release -p ssdgauge-tools -- fleet [FOLDER]`.
#![allow(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    clippy::print_stdout,
    reason = "a measurement, not the program"
)]

#[path = "../../tests/recipes.rs"]
mod support;

use self::support::{Pace, Recipe, plan, quick, record, step, stream, test};
use ssdgauge_analysis::{PageOptions, read_all_by_digests};
use ssdgauge_core::{Access, Chart, Metric, Nanos, Score, Stream, Window};
use ssdgauge_page::page;
use std::error::Error;
use std::path::{Path, PathBuf};
use std::time::Instant;

/// Returns a plan of one test: random writes for `seconds`, scored by the last 400 s.
fn consistency(seconds: u64) -> ssdgauge_core::Plan {
    let write = step("write", 1.0, stream(Access::Random, 4_096, 0, 32), seconds);
    let window = Window::Time(Nanos::from_secs(400));
    let score = Score::MeanOfLast { metric: Metric::Iops, window };
    let figures = [Chart::Ranking, Chart::Timeline, Chart::LatencyTimeline, Chart::Distribution];
    plan("consistency-2016", vec![test("default", "Random write", score, &figures, vec![write])])
}

fn files(folder: &Path, n: usize, seconds: u64) -> Vec<PathBuf> {
    let one = |number: usize| {
        let pace = move |_: &Stream, second: u32| {
            let wave = f64::from(second * 7 % 97) / 97.0;
            let iops = (9_000.0 + 300.0 * number as f64) * (0.8 + 0.4 * wave);
            Pace { iops: iops as u64, lat_us: 32e6 / iops }
        };
        let id = format!("run-{number}");
        let part = folder.join(number.to_string());
        let file = part.join(format!("{id}.ssdg"));
        if file.exists() {
            return file;
        }
        let mut recipe = Recipe::new(&id, consistency(seconds), &format!("Disk {number}"));
        recipe.pace = &pace;
        recipe.power_w = Some(4.0);
        recipe.drive.serial = Some(format!("S{number}"));
        std::fs::create_dir_all(&part).unwrap();
        record(&part, &recipe)
    };
    (0..n).map(one).collect()
}

/// Returns the processor time of this process until now, by Linux's count of ticks of 10 ms.
fn processor() -> f64 {
    let text = std::fs::read_to_string("/proc/self/stat").unwrap();
    let fields: Vec<&str> = text.rsplit(')').next().unwrap().split_whitespace().collect();
    let ticks = |place: usize| fields[place].parse::<f64>().unwrap();
    (ticks(11) + ticks(12)) / 100.0
}

/// Returns what `work` gives, with the seconds and the seconds of processor time that it took.
fn timed<T>(work: impl FnOnce() -> T) -> (T, f64, f64) {
    let (begin, before) = (Instant::now(), processor());
    let result = work();
    (result, begin.elapsed().as_secs_f64(), processor() - before)
}

fn say(what: &str, files: &[PathBuf]) {
    let once = || {
        let (runs, read_s, read_cpu) = timed(|| read_all_by_digests(files).unwrap());
        let (page, page_s, page_cpu) = timed(|| page(&runs, &PageOptions::default()));
        (read_s + page_s, read_cpu + page_cpu, page_cpu, page.len())
    };
    let times = (0..3).map(|_| once());
    let (time, cpu, of_page, length) = times.min_by(|a, b| a.0.total_cmp(&b.0)).unwrap();
    let length = length as f64 / 1e6;
    println!("{what:<24} {time:>8.2} s {cpu:>8.2} s {of_page:>8.2} s {length:>8.2} MB");
}

/// Runs the tool with its arguments.
pub(crate) fn run(arguments: &[String]) -> Result<(), Box<dyn Error>> {
    let temporary = tempfile::tempdir().unwrap();
    // Run files in a folder of one's own are made once.
    let folder = arguments.first().map_or(temporary.path().to_owned(), PathBuf::from);
    println!(
        "{:<24} {:>10} {:>10} {:>10} {:>11}",
        "best of three", "time", "processor", "of page", "page"
    );
    let one = temporary.path().join("one");
    std::fs::create_dir_all(&one).unwrap();
    say("one quick run", &[record(&one, &Recipe::new("a", quick(10), "Disk"))]);
    say("one run of an hour", &files(&folder.join("hour"), 1, 3_600));
    say("100 runs of an hour", &files(&folder.join("hundred"), 100, 3_600));
    say("one run of a day", &files(&folder.join("day"), 1, 86_400));
    Ok(())
}
