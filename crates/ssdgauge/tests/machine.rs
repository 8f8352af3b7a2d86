//! The program on NVMe, SCSI and device-mapper drives of a virtual machine.
//!
//! Each test boots a new machine and runs the scenarios of one theme in it: see `tests/vm`. Without
//! QEMU or Debian, a test prints why it is skipped.

// A test ends at the first error.
#![allow(clippy::unwrap_used, clippy::print_stdout)]

mod nvme_tcp;

use crate::tiers::write_figure;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};

/// Runs all scenarios of `theme`; each has to pass.
fn check(theme: &str) {
    check_with(theme, &[]);
}

/// The same with variables for the theme, such as the address of a server outside.
fn check_with(theme: &str, variables: &[(&str, &str)]) {
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
        .envs(variables.iter().copied())
        .output()
        .unwrap();
    let stdout = String::from_utf8_lossy(&output.stdout);
    let stderr = String::from_utf8_lossy(&output.stderr);
    println!("{stdout}{stderr}");
    assert!(output.status.success(), "{}", output.status);
    let passed = stdout.lines().filter(|line| line.starts_with("ok ")).count();
    assert!(passed > 0 && passed == stdout.lines().count());
    let (scenarios, command) = (format!("{passed} scenarios"), format!("tests/vm/theme {theme}"));
    write_figure(&format!("machine {theme}"), &scenarios, "all passed", &command);
}

#[test]
#[ignore = "second tier"]
fn counters() {
    check_with("counters", &[("NVME_PORT", &nvme_tcp::serve().to_string())]);
}

#[test]
#[ignore = "second tier"]
fn drive() {
    check("drive");
}

#[test]
fn drives() {
    check("drives");
}

#[test]
#[ignore = "second tier"]
fn engine() {
    check("engine");
}

#[test]
#[ignore = "second tier"]
fn faults() {
    check("faults");
}

#[test]
#[ignore = "second tier"]
fn in_use() {
    check("in_use");
}

#[test]
#[ignore = "second tier"]
fn mapper() {
    check("mapper");
}

#[test]
#[ignore = "second tier"]
fn sensors() {
    check("sensors");
}

/// A server, killed when it is dropped.
struct Server(Child);

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[test]
#[ignore = "second tier"]
fn served() {
    let folder = tempfile::tempdir().unwrap();
    let socket = folder.path().join("socket");
    let address = format!("unix:{}", socket.display());
    let mut server = Command::new(env!("CARGO_BIN_EXE_ssdgauge"))
        .args(["serve", "sim:tlc-client?capacity=1GB", "--nbd", &address, "--keep-data"])
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut ready = String::new();
    BufReader::new(server.stdout.take().unwrap()).read_line(&mut ready).unwrap();
    let _server = Server(server);
    assert!(ready.starts_with("ready: "), "{ready}");
    check_with("served", &[("SERVED_SOCKET", socket.to_str().unwrap())]);
}
