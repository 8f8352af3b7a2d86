//! The program on real NVMe, SCSI and device-mapper drives, in a throw-away virtual machine.
//!
//! Each test boots one machine and runs a theme of scenarios in it: see `tests/vm`. Where there
//! is no QEMU or no Debian, it prints why it skips.

// A test ends at the first thing that does not work.
#![allow(clippy::unwrap_used, clippy::print_stdout)]

use std::path::Path;
use std::process::Command;

/// Runs every scenario of `theme`; each has to go well.
fn check(theme: &str) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/vm");
    let has = |name: &str| Command::new(name).arg("--version").output().is_ok();
    let needed = ["qemu-system-x86_64", "apt-get", "sqlite3", "nvme", "dmsetup"];
    if let Some(missing) = needed.iter().find(|name| !has(name)) {
        println!("skipped: no {missing}");
        return;
    }
    let output = Command::new(folder.join("theme"))
        .arg(theme)
        .env("SSDGAUGE", env!("CARGO_BIN_EXE_ssdgauge"))
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    let words = String::from_utf8_lossy(&output.stderr);
    println!("{said}{words}");
    assert!(output.status.success(), "{}", output.status);
    let well = said.lines().filter(|line| line.starts_with("ok ")).count();
    assert!(well > 0 && well == said.lines().count());
    let figures = Path::new(env!("CARGO_TARGET_TMPDIR")).join("figures");
    std::fs::create_dir_all(&figures).unwrap();
    let line =
        format!("machine: {theme}\t{well} scenarios\tall went well\ttests/vm/theme {theme}\n");
    std::fs::write(figures.join(format!("machine-{theme}")), line).unwrap();
}

#[test]
fn drive() {
    check("drive");
}

#[test]
fn drives() {
    check("drives");
}

#[test]
fn engine() {
    check("engine");
}

#[test]
fn faults() {
    check("faults");
}

#[test]
fn in_use() {
    check("in_use");
}

#[test]
fn mapper() {
    check("mapper");
}

#[test]
fn sensors() {
    check("sensors");
}
