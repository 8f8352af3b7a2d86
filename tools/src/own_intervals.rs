//! Looks for values outside of their own intervals: every built-in suite in long steps on 20 virtual drives, on
//! every surface.
//!
//! `cargo run --release -p ssdgauge-tools -- own_intervals FILE` appends a line for each run to FILE (suite, drive,
//! values with an interval, values outside of it, separated by tabs), and leaves out runs that have a line already:
//! after an interruption it goes on. It uses two threads, and fails where a value is outside.
#![allow(clippy::print_stdout, reason = "what it finds is the product of this program")]
#![allow(
    dead_code,
    unreachable_pub,
    clippy::unwrap_used,
    clippy::panic,
    reason = "it shares files with tests"
)]

#[path = "../../crates/ssdgauge-lab/tests/suites/runs.rs"]
mod runs;
#[path = "../../crates/ssdgauge-lab/tests/suites/shown_values.rs"]
mod shown_values;
#[path = "../../crates/ssdgauge-lab/tests/suites/support.rs"]
pub(crate) mod support;

use runs::{DRIVES, RUNS, longer};
use shown_values::ShownValues;
use std::collections::BTreeSet;
use std::error::Error;
use std::fs::OpenOptions;
use std::io::Write;
use std::path::Path;
use std::sync::Mutex;

/// A run of the walk: suite, drive, and the divisor of its times.
type Walked = (&'static str, &'static str, u32);

/// Runs the tool with its arguments.
pub(crate) fn run(arguments: &[String]) -> Result<(), Box<dyn Error>> {
    let [file] = arguments else { return Err("usage: own_intervals FILE".into()) };
    let path = Path::new(file);
    let done = lines(path)?;
    let done: BTreeSet<(&str, &str)> = done.iter().filter_map(|line| two(line)).collect();
    let on_all =
        |drive| RUNS.iter().map(move |(suite, shorten, _)| (*suite, drive, longer(*shorten)));
    let all: Vec<Walked> = DRIVES.iter().copied().flat_map(on_all).collect();
    let left = all.iter().filter(|(suite, drive, _)| !done.contains(&(*suite, *drive)));
    let left = Mutex::new(left.copied().collect::<Vec<_>>().into_iter());
    let output = Mutex::new(OpenOptions::new().create(true).append(true).open(path)?);
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                // Locked only to take the next one.
                while let Some(next) = { left.lock().unwrap().next() } {
                    let line = walk(next);
                    writeln!(output.lock().unwrap(), "{line}").unwrap();
                }
            });
        }
    });
    let lines = lines(path)?;
    let column = |at: usize| {
        lines.iter().filter_map(move |line| line.split('\t').nth(at)?.parse::<u64>().ok())
    };
    let (values, outside): (u64, u64) = (column(2).sum(), column(3).sum());
    println!("{} runs, {values} values with an interval, {outside} outside of it", lines.len());
    match outside {
        0 => Ok(()),
        _ => Err("values are outside of their own intervals".into()),
    }
}

/// Carries a run out, prints its values outside of their intervals, and returns its line.
fn walk((suite, drive, shorten): Walked) -> String {
    let run = support::run(suite, &[], &format!("{drive}?capacity=8GB"), shorten);
    let shown = ShownValues::of(&run);
    for value in &shown.outside {
        println!("{suite} on {drive}: {value}");
    }
    format!("{suite}\t{drive}\t{}\t{}", shown.count, shown.outside.len())
}

/// Returns the lines of a file; none where it does not exist yet.
fn lines(path: &Path) -> std::io::Result<Vec<String>> {
    match std::fs::read_to_string(path) {
        Ok(text) => Ok(text.lines().map(str::to_owned).collect()),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(Vec::new()),
        Err(error) => Err(error),
    }
}

/// Returns suite and drive of a line.
fn two(line: &str) -> Option<(&str, &str)> {
    let mut cells = line.split('\t');
    Some((cells.next()?, cells.next()?))
}
