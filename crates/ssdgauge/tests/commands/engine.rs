//! The engine where the system denies io_uring, memory or threads; and the request log.

use crate::support::{Bench, text};
use serde_json::Value;
use std::process::Command;

/// Returns the JSON of `ssdgauge bench`, started by `program`.
fn bench_under(bench: &Bench, program: &[&str], arguments: &[&str]) -> Option<Value> {
    let (name, before) = program.split_first().unwrap();
    let mut command = Command::new(name);
    command.args(before).arg(env!("CARGO_BIN_EXE_ssdgauge")).args(["bench", "--json"]);
    command.args(["--runs", "1", "--seconds", "0.2"]).args(arguments);
    match command.current_dir(bench.folder.path()).output() {
        Ok(output) if output.status.success() => {
            Some(serde_json::from_slice(&output.stdout).unwrap())
        }
        Ok(output) if output.status.code() == Some(127) => {
            println!("skipped: {name}: {}", text(&output.stderr));
            None
        }
        Ok(output) => panic!("{program:?}: {output:?}"),
        Err(error) => {
            println!("skipped: {name}: {error}");
            None
        }
    }
}

fn finding<'a>(run: &'a Value, kind: &str) -> Option<&'a str> {
    let findings = run["findings"].as_array().unwrap();
    findings.iter().find(|finding| finding["kind"] == kind)?["text"].as_str()
}

#[test]
fn without_io_uring_the_engine_uses_synchronous_threads_with_a_finding() {
    let bench = Bench::new();
    for (error, advice) in
        [("EPERM", "seccomp"), ("ENOSYS", "boot a kernel"), ("ENOMEM", "ulimit -l")]
    {
        let inject = format!("inject=io_uring_setup:error={error}");
        let strace = ["strace", "-f", "-o", "/dev/null", "-e", &inject];
        let Some(run) = bench_under(&bench, &strace, &["--queue-depth", "2"]) else { return };
        assert_eq!(run["engine"]["engine"], "synchronous", "{run}");
        let finding_text = finding(&run, "engine-fallback").unwrap();
        assert!(finding_text.contains("io_uring is not available"), "{finding_text}");
        assert!(run["findings"].to_string().contains(advice), "{error}: {run}");
        assert!(run["ios"].as_u64().unwrap() > 0 && run["errors"] == 0, "{run}");
    }
}

#[test]
fn ring_setup_is_retried_without_a_flag_that_an_older_kernel_does_not_know() {
    let bench = Bench::new();
    // The first attempt has a flag of Linux 6.6; earlier kernels fail it with EINVAL.
    let inject = "inject=io_uring_setup:error=EINVAL:when=1";
    let strace = ["strace", "-f", "-o", "/dev/null", "-e", inject];
    let Some(run) = bench_under(&bench, &strace, &[]) else { return };
    assert_eq!(run["engine"]["engine"], "io_uring", "{run}");
    assert_eq!(finding(&run, "engine-fallback"), None);
}

#[test]
fn without_registered_buffers_requests_complete_and_a_finding_reports_it() {
    let bench = Bench::new();
    // The registration of buffers, file and ring fails, as under a small limit of locked memory.
    let inject = "inject=io_uring_register:error=ENOMEM";
    let strace = ["strace", "-f", "-o", "/dev/null", "-e", inject];
    let arguments = [".", "--size", "8MiB", "--read-percent", "50", "--queue-depth", "4"];
    let Some(run) = bench_under(&bench, &strace, &arguments) else { return };
    let finding_text = finding(&run, "engine-fallback").unwrap();
    assert!(finding_text.contains("could not be registered"), "{finding_text}");
    let setup = run["engine"]["setup"].as_str().unwrap();
    assert!(setup.contains("plain buffers, plain file, plain ring"), "{setup}");
    assert!(run["ios"].as_u64().unwrap() > 0 && run["errors"] == 0, "{run}");
}

#[test]
fn under_a_limit_of_locked_memory_the_engine_falls_back_with_a_finding() {
    let bench = Bench::new();
    let world_writable = std::os::unix::fs::PermissionsExt::from_mode(0o777);
    std::fs::set_permissions(bench.folder.path(), world_writable).unwrap();
    // RLIMIT_MEMLOCK has no effect on root, so another user is needed.
    let user = ["setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups", "prlimit"];
    let arguments = [".", "--size", "8MiB", "--read-percent", "50", "--queue-depth", "4"];
    // 1 MiB: enough for the ring and the read buffers, not for the 64 MiB write buffer.
    for (limit, engine) in [("--memlock=1048576", "io_uring"), ("--memlock=0", "synchronous")] {
        let program = [&user[..], &[limit]].concat();
        let Some(run) = bench_under(&bench, &program, &arguments) else { return };
        assert_eq!(run["engine"]["engine"], engine, "{run}");
        assert!(finding(&run, "engine-fallback").is_some(), "{run}");
        assert!(run["findings"].to_string().contains("ulimit -l"), "{run}");
        assert!(run["ios"].as_u64().unwrap() > 0 && run["errors"] == 0, "{run}");
    }
}

#[test]
fn too_few_io_threads_are_an_error_with_the_limit_in_the_hint() {
    let bench = Bench::new();
    let world_writable = std::os::unix::fs::PermissionsExt::from_mode(0o777);
    std::fs::set_permissions(bench.folder.path(), world_writable).unwrap();
    let output = Command::new("setpriv")
        .args(["--reuid", "65533", "--regid", "65534", "--clear-groups", "prlimit", "--nproc=8"])
        .arg(env!("CARGO_BIN_EXE_ssdgauge"))
        .args(["bench", ".", "--size", "8MiB", "--synchronous", "--queue-depth", "64"])
        .current_dir(bench.folder.path())
        .output();
    let output = match output {
        Ok(output) if output.status.code() == Some(127) => {
            println!("skipped: the user cannot be changed: {}", text(&output.stderr));
            return;
        }
        Ok(output) => output,
        Err(error) => {
            println!("skipped: setpriv: {error}");
            return;
        }
    };
    let stderr = text(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{stderr}");
    assert!(stderr.contains("of 64 I/O threads could be started"), "{stderr}");
    assert!(stderr.contains("ulimit -u"), "{stderr}");
}

#[test]
fn a_request_log_is_printed_as_csv_and_a_truncated_one_is_an_error() {
    let bench = Bench::new();
    let arguments = ["bench", ".", "--size", "8MiB", "--read-percent", "70", "--runs", "1"];
    let log = ["--seconds", "0.3", "--json", "--log-ios", "ios.log"];
    let run: Value = serde_json::from_str(&bench.print(&[&arguments[..], &log].concat())).unwrap();
    let csv = bench.print(&["log", "ios.log"]);
    let mut lines = csv.lines();
    let header = "load,stream,thread,begin_ns,end_ns,lat_ns,direction,offset,length";
    assert_eq!(lines.next(), Some(header));
    let ios = run["ios"].as_u64().unwrap();
    assert_eq!(lines.clone().count() as u64, ios);
    for line in lines {
        let fields: Vec<&str> = line.split(',').collect();
        let number = |at: usize| fields[at].parse::<u64>().unwrap();
        assert_eq!(number(3) + number(5), number(4), "{line}");
        assert!(matches!(fields[6], "read" | "write") && number(7) < 8 << 20, "{line}");
        assert_eq!((number(0), number(8)), (1, 4_096), "{line}");
    }
    let complete = std::fs::read(bench.path("ios.log")).unwrap();
    for (length, code) in [(0, 2), (5, 2), (complete.len() / 2, 1), (complete.len() - 1, 1)] {
        std::fs::write(bench.path("truncated.log"), &complete[..length]).unwrap();
        let output = bench.call(&["log", "truncated.log"]);
        assert_eq!(output.status.code(), Some(code), "{length}");
        assert!(text(&output.stderr).contains("hint:"), "{length}");
    }
    // A frame with a length of 4 GiB is refused.
    let mut damaged = complete.clone();
    damaged[8 + 32..8 + 36].copy_from_slice(&[0xff; 4]);
    std::fs::write(bench.path("damaged.log"), &damaged).unwrap();
    assert_eq!(bench.call(&["log", "damaged.log"]).status.code(), Some(1));
    // An existing log is not replaced.
    let again = bench.call(&[&arguments[..], &log].concat());
    assert_eq!(again.status.code(), Some(3), "{}", text(&again.stderr));
    assert_eq!(std::fs::read(bench.path("ios.log")).unwrap(), complete);
    let virtual_drive = ["quick", "sim:tiny", "--log-ios", "sim.log", "--shorten", "100"];
    assert_eq!(bench.call(&virtual_drive).status.code(), Some(0));
    assert!(bench.print(&["log", "sim.log"]).lines().count() > 100);
}

#[test]
fn the_request_log_of_a_virtual_drive_has_flushes_and_threads() {
    let bench = Bench::new();
    let suite = r#"
[suite]
id = "own"
revision = 1
title = "Own"

[[test]]
id = "commits"
revision = 1
title = "Commits"
stream = { access = "random", block_size = "4KiB", read_percent = 0, queue_depth = 1, threads = 2, flush_every = 2 }
until = { time = "1s" }
score = { best_of = "iops" }
"#;
    std::fs::write(bench.path("own.toml"), suite).unwrap();
    let run = ["run", "own.toml", "sim:tiny", "--log-ios", "own.log", "--json"];
    let json: Value = serde_json::from_str(&bench.print(&run)).unwrap();
    let csv = bench.print(&["log", "own.log"]);
    let mut counts = std::collections::BTreeMap::<(String, String), u64>::new();
    for line in csv.lines().skip(1) {
        let fields: Vec<&str> = line.split(',').collect();
        *counts.entry((fields[6].to_owned(), fields[2].to_owned())).or_default() += 1;
    }
    let of = |direction: &str| -> u64 {
        let those = counts.iter().filter(|((found, _), _)| found == direction);
        those.map(|(_, count)| count).sum()
    };
    let point = &json["runs"][0]["tests"][0]["points"][0];
    assert_eq!(of("write") + of("flush"), point["ios"].as_u64().unwrap(), "{counts:?}");
    for thread in ["0", "1"] {
        let of = |direction: &str| counts[&(direction.to_owned(), thread.to_owned())];
        assert!(of("write").abs_diff(2 * of("flush")) <= 2, "{counts:?}");
    }
}
