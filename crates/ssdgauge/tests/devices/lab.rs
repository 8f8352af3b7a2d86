//! The laboratory on Slurm, where it is installed.

use crate::support::{Bench, Loop, text};
use std::process::Command;

fn has(program: &str) -> bool {
    Command::new(program).arg("-V").output().is_ok_and(|output| output.status.success())
}

#[test]
#[ignore = "second tier"]
fn two_nodes_complete_every_run_once_where_a_run_is_killed_and_a_node_fails_and_find_the_slow_drives()
 {
    if !rustix::process::geteuid().is_root() || !has("slurmctld") || !has("slurmd") {
        println!("skipped: no Slurm, or not root");
        return;
    }
    let (bench, other) = (Bench::new(), Bench::new());
    let size = 64 << 20;
    let Some(killed) = Loop::attach(bench.folder.path(), size) else { return };
    let Some(failed) = Loop::attach(other.folder.path(), size) else { return };
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/../../slurm/try");
    let output = Command::new(script)
        .arg(env!("CARGO_BIN_EXE_ssdgauge"))
        .arg(bench.path("lab"))
        .args([&format!("{}:{size}", killed.name()), &killed.path])
        .args([&format!("{}:{size}", failed.name()), &failed.path])
        .output()
        .unwrap();
    let printed = text(&output.stdout);
    assert!(output.status.success(), "{printed}{}", text(&output.stderr));
    let held = printed.lines().filter(|line| line.starts_with("ok: ")).count();
    assert_eq!(held, 15, "{printed}");
    for drive in ["TLC-05", "QLC-03", "DC-04"] {
        assert!(bench.path(&format!("lab/batch/quick-{drive}.html")).exists(), "{drive}");
    }
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
