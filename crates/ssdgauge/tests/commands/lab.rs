//! The laboratory on Slurm, where it is installed.

use crate::support::{Bench, Loop, text};
use std::process::Command;

fn has(program: &str) -> bool {
    Command::new(program).arg("-V").output().is_ok_and(|output| output.status.success())
}

#[test]
fn the_run_of_a_killed_job_and_of_a_failed_node_is_requeued_and_completed_without_a_step_twice() {
    if !rustix::process::geteuid().is_root() || !has("slurmctld") || !has("slurmd") {
        println!("skipped: no Slurm, or not root");
        return;
    }
    let bench = Bench::new();
    let size = 64 << 20;
    let Some(device) = Loop::attach(bench.folder.path(), size) else { return };
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/../../lab/try");
    let output = Command::new(script)
        .arg(env!("CARGO_BIN_EXE_ssdgauge"))
        .arg(bench.path("lab"))
        .args([&format!("{}:{size}", device.name()), &device.path])
        .output()
        .unwrap();
    let printed = text(&output.stdout);
    assert!(output.status.success(), "{printed}{}", text(&output.stderr));
    let held = printed.lines().filter(|line| line.starts_with("ok: ")).count();
    assert_eq!(held, 13, "{printed}");
}

#[test]
fn the_list_for_slurm_names_this_machine() {
    let bench = Bench::new();
    let printed = bench.print(&["drives", "--slurm"]);
    assert!(printed.starts_with("# slurm.conf\nGresTypes=ssd\nNodeName="), "{printed}");
    assert!(printed.contains("\n# gres.conf\n"), "{printed}");
    let output = bench.call(&["drives", "--slurm", "--json"]);
    assert_eq!(output.status.code(), Some(2));
}
