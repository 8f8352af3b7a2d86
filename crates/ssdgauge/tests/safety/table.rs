//! Runs scenarios and prints them as a table.

use crate::safety::bench::{Bench, Case, writes};
use std::io::Read;
use std::path::Path;

/// A scenario: its name, and the function that sets it up; `None` where this machine cannot.
pub(crate) type Scenario = (&'static str, fn(&mut Bench) -> Option<Case>);

/// The leading bytes of a victim that are compared; the largest has 512 MiB, and the rest is free.
const COMPARED: u64 = 64 << 20;

/// Checks that every scenario is refused and changes no byte; prints them, and writes a line for
/// `./check`. At least `min` of them have to be possible on this machine.
pub(crate) fn check_all(title: &str, scenarios: &[Scenario], min: usize) {
    if !is_root() {
        println!("skipped: {title} needs root");
        return;
    }
    let mut rows = Vec::new();
    let mut absent = Vec::new();
    for (name, set_up) in scenarios {
        match check(name, *set_up) {
            Some(row) => rows.push(row),
            None => {
                println!("skipped: this machine cannot set up '{name}'");
                absent.push(*name);
            }
        }
    }
    println!("\n{title}: {} scenarios, each refused", rows.len());
    rows.iter().for_each(|row| println!("  {row}"));
    assert!(rows.len() >= min, "only {} scenarios; not possible here: {absent:?}", rows.len());
    write_figure(title, rows.len());
}

/// Carries a scenario out, which has to be refused, and returns its row; `None` where this machine
/// cannot set it up.
fn check(name: &str, set_up: fn(&mut Bench) -> Option<Case>) -> Option<String> {
    let mut bench = Bench::new();
    let case = set_up(&mut bench)?;
    for victim in case.victims.iter().filter(|victim| victim.is_file()) {
        bench.run(&["sync", victim.to_str().unwrap()]);
    }
    let before: Vec<Vec<u8>> = case.victims.iter().map(|path| content(path)).collect();
    let counted = writes(&case.target);
    let output = bench.quick(&case);
    let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(case.code), "{name}: {stderr}");
    assert!(output.stdout.is_empty(), "{name}");
    for part in ["error: ", "hint: ", "nothing was written", case.expected.as_str()] {
        assert!(stderr.contains(part), "{name}: '{part}' is missing in: {stderr}");
    }
    // The only block device without a victim is the root drive, which all programs write to.
    // Where the kernel has swapped to the drive, the first block remains, which a run writes first.
    let swapped = case.kernel_writes && is_swapped_to(&case.target);
    let quiet = case.victims.is_empty() || swapped || writes(&case.target) == counted;
    assert!(quiet, "{name}: the kernel counted writes");
    let changed = case.victims.iter().zip(&before).map(|(path, before)| {
        let after = content(path);
        assert_eq!(after.len(), before.len(), "{name}");
        let compared = if swapped { 4_096 } else { after.len() };
        after.iter().zip(before).take(compared).filter(|(a, b)| a != b).count()
    });
    assert_eq!(changed.sum::<usize>(), 0, "{name}: bytes changed on the drive");
    let error = stderr.lines().next().unwrap_or_default().trim_start_matches("error: ");
    Some(format!("{name:<46} 0 bytes  {error}"))
}

/// Writes a line for the table that `./check` prints at its end.
pub(crate) fn write_figure(title: &str, count: usize) {
    let command = "cargo test -p ssdgauge --test it -- safety:: --nocapture";
    crate::tiers::write_figure(title, &format!("{count} scenarios"), "0 bytes written", command);
}

/// Returns whether the kernel has written pages to the swap device `path`: the column `Used`.
fn is_swapped_to(path: &str) -> bool {
    let swaps = std::fs::read_to_string("/proc/swaps").unwrap();
    let used = swaps.lines().find(|line| line.split_whitespace().next() == Some(path));
    used.and_then(|line| line.split_whitespace().nth(3)).is_some_and(|used| used != "0")
}

fn content(path: &Path) -> Vec<u8> {
    let mut bytes = Vec::new();
    std::fs::File::open(path).unwrap().take(COMPARED).read_to_end(&mut bytes).unwrap();
    bytes
}

fn is_root() -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    status.lines().any(|line| line.starts_with("Uid:\t0\t0"))
}
