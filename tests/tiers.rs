//! How often tests repeat what they do in each tier of `./check`, and the table that it prints at its end.
//! The test programs include this file by its path.

#![allow(dead_code, reason = "not every program repeats and writes lines")]
#![allow(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    reason = "a test may open files, and ends at the first error"
)]

use std::path::Path;

/// Returns a number of repetitions: of `./check`, of `./check --full`, or of `./check --long`.
pub(crate) fn repetitions(first: usize, full: usize, long: usize) -> usize {
    let is_set = |name: &str| std::env::var_os(name).is_some();
    if is_set("SSDGAUGE_LONG") {
        long
    } else if is_set("SSDGAUGE_FULL") {
        full
    } else {
        first
    }
}

/// Writes a line of the table: subject, repetitions, result, and the command that repeats it.
pub(crate) fn write_figure(name: &str, count: &str, result: &str, command: &str) {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("figures");
    std::fs::create_dir_all(&folder).unwrap();
    let line = format!("{name}\t{count}\t{result}\t{command}\n");
    std::fs::write(folder.join(name.replace(' ', "-")), line).unwrap();
}
