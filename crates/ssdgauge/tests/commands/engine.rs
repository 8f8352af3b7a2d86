//! The engine where the system denies it something, and the log of its requests.

use crate::support::{Bench, text};
use serde_json::Value;
use std::process::Command;

/// Returns what `ssdgauge bench` says in JSON when `program` starts it.
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
    findings.iter().find(|one| one["kind"] == kind)?["text"].as_str()
}

#[test]
fn where_the_kernel_denies_io_uring_threads_stand_in_and_say_so() {
    let bench = Bench::new();
    for (error, advice) in
        [("EPERM", "seccomp"), ("ENOSYS", "boot a kernel"), ("ENOMEM", "ulimit -l")]
    {
        let inject = format!("inject=io_uring_setup:error={error}");
        let strace = ["strace", "-f", "-o", "/dev/null", "-e", &inject];
        let Some(run) = bench_under(&bench, &strace, &["--queue-depth", "2"]) else { return };
        assert_eq!(run["engine"]["engine"], "synchronous", "{run}");
        let told = finding(&run, "engine-fallback").unwrap();
        assert!(told.contains("io_uring is not available"), "{told}");
        assert!(run["findings"].to_string().contains(advice), "{error}: {run}");
        assert!(run["ios"].as_u64().unwrap() > 0 && run["errors"] == 0, "{run}");
    }
}

#[test]
fn an_older_kernel_gets_the_ring_that_it_knows() {
    let bench = Bench::new();
    // The first set-up names a flag of Linux 6.6; before that it was invalid.
    let inject = "inject=io_uring_setup:error=EINVAL:when=1";
    let strace = ["strace", "-f", "-o", "/dev/null", "-e", inject];
    let Some(run) = bench_under(&bench, &strace, &[]) else { return };
    assert_eq!(run["engine"]["engine"], "io_uring", "{run}");
    assert_eq!(finding(&run, "engine-fallback"), None);
}

#[test]
fn without_registration_everything_works_and_a_finding_says_what_to_change() {
    let bench = Bench::new();
    // Buffers, file and ring are all refused, as under a small limit of locked memory.
    let inject = "inject=io_uring_register:error=ENOMEM";
    let strace = ["strace", "-f", "-o", "/dev/null", "-e", inject];
    let arguments = [".", "--size", "8MiB", "--read-percent", "50", "--queue-depth", "4"];
    let Some(run) = bench_under(&bench, &strace, &arguments) else { return };
    let told = finding(&run, "engine-fallback").unwrap();
    assert!(told.contains("could not be registered"), "{told}");
    let setup = run["engine"]["setup"].as_str().unwrap();
    assert!(setup.contains("plain buffers, plain file, plain ring"), "{setup}");
    assert!(run["ios"].as_u64().unwrap() > 0 && run["errors"] == 0, "{run}");
}

#[test]
fn under_a_limit_of_locked_memory_a_user_gets_what_the_kernel_allows() {
    let bench = Bench::new();
    let everybody = std::os::unix::fs::PermissionsExt::from_mode(0o777);
    std::fs::set_permissions(bench.folder.path(), everybody).unwrap();
    // Nobody's limit counts for root.
    let user = ["setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups", "prlimit"];
    let arguments = [".", "--size", "8MiB", "--read-percent", "50", "--queue-depth", "4"];
    // A ring and the buffers of its reads, but not the 64 MiB that writes are cut from.
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
fn where_too_few_threads_may_be_started_nothing_is_measured_and_it_says_why() {
    let bench = Bench::new();
    let everybody = std::os::unix::fs::PermissionsExt::from_mode(0o777);
    std::fs::set_permissions(bench.folder.path(), everybody).unwrap();
    let output = Command::new("setpriv")
        .args(["--reuid", "65533", "--regid", "65534", "--clear-groups", "prlimit", "--nproc=8"])
        .arg(env!("CARGO_BIN_EXE_ssdgauge"))
        .args(["bench", ".", "--size", "8MiB", "--synchronous", "--queue-depth", "64"])
        .current_dir(bench.folder.path())
        .output();
    let output = match output {
        Ok(output) if output.status.code() == Some(127) => {
            println!("skipped: no user may be changed: {}", text(&output.stderr));
            return;
        }
        Ok(output) => output,
        Err(error) => {
            println!("skipped: setpriv: {error}");
            return;
        }
    };
    let said = text(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(said.contains("of 64 I/O threads could be started"), "{said}");
    assert!(said.contains("ulimit -u"), "{said}");
}

#[test]
fn a_log_of_requests_is_printed_as_csv_and_a_cut_one_is_an_error() {
    let bench = Bench::new();
    let arguments = ["bench", ".", "--size", "8MiB", "--read-percent", "70", "--runs", "1"];
    let log = ["--seconds", "0.3", "--json", "--log-ios", "ios.log"];
    let run: Value = serde_json::from_str(&bench.print(&[&arguments[..], &log].concat())).unwrap();
    let csv = bench.print(&["log", "ios.log"]);
    let mut lines = csv.lines();
    let head = "load,stream,thread,begin_ns,end_ns,lat_ns,direction,offset,length";
    assert_eq!(lines.next(), Some(head));
    let ios = run["ios"].as_u64().unwrap();
    assert_eq!(lines.clone().count() as u64, ios);
    for line in lines {
        let fields: Vec<&str> = line.split(',').collect();
        let number = |at: usize| fields[at].parse::<u64>().unwrap();
        assert_eq!(number(3) + number(5), number(4), "{line}");
        assert!(matches!(fields[6], "read" | "write") && number(7) < 8 << 20, "{line}");
        assert_eq!((number(0), number(8)), (1, 4_096), "{line}");
    }
    let whole = std::fs::read(bench.path("ios.log")).unwrap();
    for length in [0, 5, whole.len() / 2, whole.len() - 1] {
        std::fs::write(bench.path("cut.log"), &whole[..length]).unwrap();
        let output = bench.call(&["log", "cut.log"]);
        assert_eq!(output.status.code(), Some(1), "{length}");
        assert!(text(&output.stderr).contains("hint:"), "{length}");
    }
    // A frame that promises four gigabytes is not believed.
    let mut wild = whole.clone();
    wild[8 + 32..8 + 36].copy_from_slice(&[0xff; 4]);
    std::fs::write(bench.path("wild.log"), &wild).unwrap();
    assert_eq!(bench.call(&["log", "wild.log"]).status.code(), Some(1));
    // A second log never takes the place of the first.
    let again = bench.call(&[&arguments[..], &log].concat());
    assert_eq!(again.status.code(), Some(3), "{}", text(&again.stderr));
    assert_eq!(std::fs::read(bench.path("ios.log")).unwrap(), whole);
    let virtual_drive = ["quick", "sim:tlc-client", "--log-ios", "sim.log", "--shorten", "100"];
    assert_eq!(bench.call(&virtual_drive).status.code(), Some(2));
}
