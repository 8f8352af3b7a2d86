//! Going through scenarios and printing them as a table.

use crate::bench::{Bench, Case, writes};
use std::io::Read;
use std::path::Path;

/// A way to be in use: its name, and what makes it. `None` where this machine cannot make it.
pub(crate) type Scenario = (&'static str, fn(&mut Bench) -> Option<Case>);

/// The most of a victim that is compared; the largest has 512 MiB, of which the rest is free.
const MOST: u64 = 64 << 20;

/// Goes through all scenarios, prints them, and leaves a line for `./check`. At least `least` of
/// them have to be possible here.
pub(crate) fn go_through(title: &str, scenarios: &[Scenario], least: usize) {
    if !is_root() {
        println!("skipped: {title} needs root");
        return;
    }
    let mut rows = Vec::new();
    let mut absent = Vec::new();
    for (name, make) in scenarios {
        let mut bench = Bench::new();
        let Some(case) = make(&mut bench) else {
            println!("skipped: this machine cannot make '{name}'");
            absent.push(*name);
            continue;
        };
        for victim in case.victims.iter().filter(|victim| victim.is_file()) {
            bench.run(&["sync", victim.to_str().unwrap()]);
        }
        let before: Vec<Vec<u8>> = case.victims.iter().map(|path| content(path)).collect();
        let counted = writes(&case.target);
        let output = bench.test(&case);
        let words = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(3), "{name}: {words}");
        assert!(output.stdout.is_empty(), "{name}");
        for part in ["error: ", "hint: ", "nothing was written", case.words.as_str()] {
            assert!(words.contains(part), "{name}: '{part}' is missing in: {words}");
        }
        // A drive without a victim is the root drive, which everybody writes to.
        let quiet = case.victims.is_empty() || writes(&case.target) == counted;
        assert!(quiet, "{name}: the kernel counted writes");
        let changed = case.victims.iter().zip(&before).map(|(path, before)| {
            let after = content(path);
            assert_eq!(after.len(), before.len(), "{name}");
            after.iter().zip(before).filter(|(a, b)| a != b).count()
        });
        let changed: usize = changed.sum();
        assert_eq!(changed, 0, "{name}: bytes changed on the drive");
        let said = words.lines().next().unwrap_or_default().trim_start_matches("error: ");
        rows.push(format!("{name:<46} {changed} bytes  {said}"));
    }
    println!("\n{title}: {} scenarios, each refused with exit code 3", rows.len());
    rows.iter().for_each(|row| println!("  {row}"));
    assert!(rows.len() >= least, "only {} scenarios; not possible here: {absent:?}", rows.len());
    leave_figure(title, rows.len());
}

/// Leaves a line for the table that `./check` prints at its end.
pub(crate) fn leave_figure(title: &str, count: usize) {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("figures");
    std::fs::create_dir_all(&folder).unwrap();
    let command = "cargo test -p ssdgauge --test safety -- --nocapture";
    let line = format!("{title}\t{count} scenarios\t0 bytes written\t{command}\n");
    std::fs::write(folder.join(title.replace(' ', "-")), line).unwrap();
}

fn content(path: &Path) -> Vec<u8> {
    let mut bytes = Vec::new();
    std::fs::File::open(path).unwrap().take(MOST).read_to_end(&mut bytes).unwrap();
    bytes
}

fn is_root() -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    status.lines().any(|line| line.starts_with("Uid:\t0\t0"))
}
