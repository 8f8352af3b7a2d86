//! Uses of a drive that few programs look for, and places from which uses cannot be seen.

use crate::safety::bench::{Bench, Case, confirmation};
use crate::safety::table::{Scenario, check_all};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

#[test]
fn an_unusual_use_of_a_drive_is_refused_and_not_written() {
    check_all("unusual uses of drives", UNUSUAL, 5);
}

#[test]
fn a_drive_whose_uses_cannot_be_seen_is_refused_and_not_written() {
    check_all("drives whose uses are hidden", HIDDEN, 5);
}

const UNUSUAL: &[Scenario] = &[
    ("open in a thread with a table of its own", |bench| {
        let (device, image) = bench.drive()?;
        hold(bench, "thread", &device)?;
        Some(Case::new(&device, &image, "is open in python3 (process"))
    }),
    ("open in a thread whose leader has exited", |bench| {
        let (device, image) = bench.drive()?;
        hold(bench, "leader", &device)?;
        Some(Case::new(&device, &image, "is open in python3 (process"))
    }),
    ("mapped into memory, its descriptor closed", |bench| {
        let (device, image) = bench.drive()?;
        hold(bench, "mapping", &device)?;
        Some(Case::new(&device, &image, "is mapped into the memory of python3 (process"))
    }),
    ("its file mapped into memory", |bench| {
        let (device, image) = bench.drive()?;
        hold(bench, "mapping", image.to_str()?)?;
        Some(Case::new(&device, &image, "is mapped into the memory of python3 (process"))
    }),
    ("registered with io_uring", |bench| {
        let (device, image) = bench.drive()?;
        hold(bench, "ring", &device)?;
        Some(Case::new(&device, &image, "is registered with io_uring by python3 (process"))
    }),
    ("its file registered with io_uring", |bench| {
        let (device, image) = bench.drive()?;
        hold(bench, "ring", image.to_str()?)?;
        Some(Case::new(&device, &image, "is registered with io_uring by python3 (process"))
    }),
];

const OUTSIDE: &str = "processes and mounts outside this PID namespace";

const HIDDEN: &[Scenario] = &[
    ("in a PID namespace, mounted outside of it", |bench| {
        let (device, image) = bench.drive()?;
        bench.format(&device);
        bench.start_until_ready(&format!(
            "exec unshare -m --propagation private sh -c 'mount {device} /mnt && READY && exec sleep 60'"
        ));
        // The mount is in a namespace that no visible process is in; only the kernel knows it.
        within(bench, &device, &image, "unshare -p -f --mount-proc", OUTSIDE)
    }),
    ("in a PID namespace, open outside of it", |bench| {
        let (device, image) = bench.drive()?;
        bench.start_until_ready(&format!("exec 7<>{device}; READY; exec sleep 60"));
        within(bench, &device, &image, "unshare -p -f --mount-proc", OUTSIDE)
    }),
    ("in a user namespace", |bench| {
        let (device, image) = bench.drive()?;
        bench.start_until_ready(&format!("exec 7<>{device}; READY; exec sleep 60"));
        within(bench, &device, &image, "unshare -U -r", " processes, such as ")
    }),
    ("as root without the capability to trace", |bench| {
        let (device, image) = bench.drive()?;
        bench.start_until_ready(&format!("exec 7<>{device}; READY; exec sleep 60"));
        let prefix = "setpriv --bounding-set=-sys_ptrace --inh-caps=-sys_ptrace";
        within(bench, &device, &image, prefix, " processes, such as ")
    }),
    ("as a user in the group disk", |bench| {
        let (device, image) = bench.drive()?;
        bench.start_until_ready(&format!("exec 7<>{device}; READY; exec sleep 60"));
        readable_by_all(bench);
        let prefix = "setpriv --reuid=4321 --regid=disk --clear-groups";
        within(bench, &device, &image, prefix, " processes, such as ")
    }),
    ("behind a procfs that hides processes", |bench| {
        let (device, image) = bench.drive()?;
        readable_by_all(bench);
        let hide = "mount -t proc -o hidepid=2 proc /proc";
        let drop = "exec setpriv --reuid=4321 --regid=disk --clear-groups";
        let prefix = format!("unshare -m sh -c '{hide} && {drop} \"$@\"' sh");
        within(bench, &device, &image, &prefix, "processes that procfs hides")
    }),
];

/// Holds a file as its first argument says, then creates the file of its third and sleeps.
const HOLDER: &str = r#"
import ctypes, os, sys, threading, time
libc = ctypes.CDLL(None, use_errno=True)
kind, path, flag = sys.argv[1:]
def wait():
    open(flag, "w").close()
    time.sleep(60)
def open_in_own_table():
    assert libc.unshare(0x400) == 0
    os.open(path, os.O_RDWR)
    wait()
if kind == "thread":
    threading.Thread(target=open_in_own_table).start()
elif kind == "leader":
    os.open(path, os.O_RDWR)
    leader = f"/proc/self/task/{os.getpid()}/stat"
    def wait_for_exit():
        while open(leader).read().rsplit(") ")[1][0] != "Z":
            time.sleep(0.01)
        wait()
    threading.Thread(target=wait_for_exit).start()
    libc.syscall(60, 0)
elif kind == "mapping":
    file = os.open(path, os.O_RDWR)
    libc.mmap.restype = ctypes.c_void_p
    assert libc.mmap(None, ctypes.c_size_t(4096), 3, 1, file, ctypes.c_long(0)) > 0
    os.close(file)
    wait()
elif kind == "ring":
    file = os.open(path, os.O_RDWR)
    ring = libc.syscall(425, 4, ctypes.create_string_buffer(120))
    assert ring >= 0 and libc.syscall(427, ring, 2, (ctypes.c_int * 1)(file), 1) == 0
    os.close(file)
    wait()
"#;

/// Starts a process that holds `path` as `kind` says; `None` without Python on x86-64.
fn hold(bench: &mut Bench, kind: &str, path: &str) -> Option<()> {
    if !cfg!(target_arch = "x86_64") || !bench.succeeds(&["python3", "-c", ""]) {
        return None;
    }
    let program = bench.path("holder.py");
    std::fs::write(&program, HOLDER).unwrap();
    let flag = bench.path("held");
    let command = format!(
        "python3 {} {kind} {path} {} & while [ ! -e {} ]; do sleep 0.01; done; READY; wait",
        program.display(),
        flag.display(),
        flag.display()
    );
    bench.start_until_ready(&command);
    Some(())
}

/// Returns the case of the program started by `prefix`, a shell command that starts its arguments;
/// `None` where this machine cannot start any program so.
fn within(bench: &Bench, device: &str, image: &Path, prefix: &str, expected: &str) -> Option<Case> {
    let script = started_by(bench, prefix, "/bin/true");
    if !bench.succeeds(&[script.to_str()?]) {
        return None;
    }
    let mut case = Case::new(device, image, expected);
    case.confined = false;
    case.program = Some(started_by(bench, prefix, env!("CARGO_BIN_EXE_ssdgauge")));
    Some(case)
}

/// Creates a program that starts `program` by `prefix`, with its own arguments.
fn started_by(bench: &Bench, prefix: &str, program: &str) -> PathBuf {
    let path = bench.path("start");
    std::fs::write(&path, format!("#!/bin/sh\nexec {prefix} {program} \"$@\"\n")).unwrap();
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
    path
}

/// Lets other users write into the folder of the bench.
fn readable_by_all(bench: &Bench) {
    let all = std::fs::Permissions::from_mode(0o777);
    std::fs::set_permissions(bench.folder.path(), all).unwrap();
}

/// Returns a drive, and the program started in a PID namespace of its own.
fn in_container(bench: &mut Bench) -> Option<(String, PathBuf)> {
    let Some((device, _)) = bench.drive() else {
        println!("skipped: no loop device available (run as root)");
        return None;
    };
    let prefix = "unshare -p -f --mount-proc";
    if !bench.succeeds(&[started_by(bench, prefix, "/bin/true").to_str()?]) {
        println!("skipped: no PID namespace available");
        return None;
    }
    Some((device, started_by(bench, prefix, env!("CARGO_BIN_EXE_ssdgauge"))))
}

#[test]
fn a_confirmed_drive_is_tested_in_a_container_with_a_finding() {
    let mut bench = Bench::new();
    let Some((device, program)) = in_container(&mut bench) else { return };
    let serial = confirmation(&device);
    let run = |arguments: &[&str]| -> Output {
        let run_file = bench.path("a.ssdg");
        let mut command = Command::new(&program);
        command.args(["quick", &device, "--size", "8MiB", "--shorten", "100", "--json"]);
        command.args(["--confirm", &serial]).args(arguments).arg("--out").arg(run_file);
        command.output().unwrap()
    };
    // A consent to another drive is none.
    let other = run(&["--confined", "loop0:1"]);
    let stderr = String::from_utf8_lossy(&other.stderr);
    assert_eq!(other.status.code(), Some(3), "{stderr}");
    assert!(stderr.contains(&format!("add --confined {serial}")), "{stderr}");
    let accepted = run(&["--confined", &serial]);
    let stderr = String::from_utf8_lossy(&accepted.stderr);
    assert_eq!(accepted.status.code(), Some(0), "{stderr}");
    let stdout = String::from_utf8_lossy(&accepted.stdout);
    assert!(stdout.contains("\"uses-unknown\"") && stdout.contains(OUTSIDE), "{stdout}");
}

#[test]
fn the_list_of_drives_says_unknown_where_uses_are_hidden() {
    let mut bench = Bench::new();
    let Some((device, program)) = in_container(&mut bench) else { return };
    let list = Command::new(&program).arg("drives").output().unwrap();
    let list = String::from_utf8(list.stdout).unwrap();
    let name = device.strip_prefix("/dev/").unwrap();
    let lines: Vec<&str> = list.lines().collect();
    let row = lines.iter().position(|line| line.split(' ').next() == Some(name)).unwrap();
    assert!(lines[row].ends_with("  unknown"), "{list}");
    assert!(lines[row + 1].starts_with("    unknown: this process cannot see"), "{list}");
    assert!(list.contains(&format!("--confined {}", confirmation(&device))), "{list}");
}

#[test]
fn a_file_of_equal_name_that_another_process_has_registered_is_not_a_use() {
    let (mut bench, mut other) = (Bench::new(), Bench::new());
    let Some((device, _)) = bench.drive() else {
        println!("skipped: no loop device available (run as root)");
        return;
    };
    let image = other.image("image");
    if hold(&mut other, "ring", image.to_str().unwrap()).is_none() {
        println!("skipped: no Python, or another architecture");
        return;
    }
    let serial = confirmation(&device);
    let output = Command::new(env!("CARGO_BIN_EXE_ssdgauge"))
        .args(["quick", &device, "--size", "8MiB", "--shorten", "100", "--confirm", &serial])
        .args(["--confined", &serial, "--out"])
        .arg(bench.path("a.ssdg"))
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
}
