//! Whether drives that run side by side disturb each other: `run --check-interference`.

use crate::devices::several::short_suite;
use crate::support::{Bench, Loop, Throttle, query, signal, text, unfolded, wait_for};
use serde_json::Value;
use std::process::{Command, Stdio};

/// The requests a second of a slow device: few for every machine, also while other programs run.
const RATE: u64 = 400;

fn bench() -> Bench {
    let bench = Bench::new();
    let writes = short_suite("1s");
    std::fs::write(bench.path("mine.toml"), &writes).unwrap();
    let reads = writes.lines().filter(|line| !line.starts_with("prepare"));
    let reads =
        reads.collect::<Vec<_>>().join("\n").replace("read_percent = 50", "read_percent = 100");
    std::fs::write(bench.path("reads.toml"), reads).unwrap();
    bench
}

/// Returns a folder in memory for the contents of devices. Other programs that write to the drive of the host
/// would slow both devices down, at times of their own.
fn memory() -> tempfile::TempDir {
    tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir()).unwrap()
}

/// Returns the changes of IOPS of all targets, in percent, and the verdicts on the targets.
fn changes(json: &Value) -> (Vec<f64>, Vec<String>) {
    let drives = json["interference"]["drives"].as_array().unwrap();
    let of_drive = |drive: &Value| drive["changes"].as_array().unwrap().clone();
    let all = drives.iter().flat_map(of_drive).filter(|change| change["quantity"] == "iops");
    let verdict = |drive: &Value| drive["disturbance"].as_str().unwrap().to_owned();
    (
        all.map(|change| change["change_percent"].as_f64().unwrap()).collect(),
        drives.iter().map(verdict).collect(),
    )
}

/// Runs the program with `arguments` within the limits of `throttle`, and returns its JSON.
fn run_throttled(bench: &Bench, throttle: &Throttle, arguments: &str) -> Value {
    let program = format!("{} {arguments}", env!("CARGO_BIN_EXE_ssdgauge"));
    let output = throttle.inside(&program).current_dir(bench.folder.path()).output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap()
}

#[test]
fn targets_on_one_slow_device_disturb_each_other_and_the_run_files_state_it() {
    let bench = bench();
    let memory = memory();
    let Some(device) = Loop::attach(memory.path(), 96 << 20) else { return };
    let Some(throttle) = Throttle::new(&device, RATE) else { return };
    let point = bench.path("mounted");
    std::fs::create_dir(&point).unwrap();
    let run = |program: &str, arguments: &[&str]| {
        Command::new(program).args(arguments).status().is_ok_and(|status| status.success())
    };
    assert!(run("mkfs.ext4", &["-q", &device.path]), "mkfs.ext4");
    assert!(run("mount", &[&device.path, point.to_str().unwrap()]), "mount");
    for name in ["one", "two"] {
        std::fs::create_dir(point.join(name)).unwrap();
    }
    let line = "run mine.toml mounted/one mounted/two --size 16MiB --shorten 8 --out a.ssdg \
                --check-interference --json";
    let json = run_throttled(&bench, &throttle, line);
    assert!(run("umount", &[point.to_str().unwrap()]), "umount");
    let (iops, verdicts) = changes(&json);
    assert_eq!(verdicts, ["found", "found"], "{json:#}");
    assert!(iops.len() == 4 && iops.iter().all(|change| *change < -30.0), "{iops:?}");
    // Both directions of a hint: what the kernel shows, and in the file of each run.
    let shared = json["interference"]["shared"][0].as_str().unwrap();
    assert_eq!(shared, format!("one and two are both on the device {}", device.name()));
    for (name, other) in [("one", "two"), ("two", "one")] {
        let file = bench.path(&format!("a-{name}.ssdg"));
        let sql = format!(
            "SELECT count(*) FROM finding WHERE kind = 'drive-interference' AND step_id IS NULL \
             AND severity = 'warning' AND text LIKE '%{name} is slower together with {other}; 128 KiB: IOPS -%' \
             AND advice LIKE '%{shared}%'"
        );
        assert_eq!(query(&file, &sql), 1, "{name}");
    }
}

#[test]
fn drives_with_limits_of_their_own_do_not_disturb_each_other_and_run_after_the_check() {
    let bench = bench();
    let memory = memory();
    let folders = ["one", "two"].map(|name| memory.path().join(name));
    folders.iter().for_each(|folder| std::fs::create_dir(folder).unwrap());
    let size = 64 << 20;
    let Some(first) = Loop::attach(&folders[0], size) else { return };
    let Some(second) = Loop::attach(&folders[1], size) else { return };
    let Some(throttle) = Throttle::new(&first, RATE) else { return };
    assert!(throttle.also(&second, RATE));
    let consent: String = [&first, &second]
        .map(|device| format!("{}:{size}", device.name()))
        .map(|serial| format!(" --confirm {serial} --confined {serial}"))
        .concat();
    let line = format!(
        "run mine.toml {} {} --size 16MiB --shorten 8 --out a.ssdg --check-interference --json{consent}",
        first.path, second.path
    );
    let json = run_throttled(&bench, &throttle, &line);
    let (iops, verdicts) = changes(&json);
    // A busy machine makes phases differ; half of the rate, as on one device, is out of its reach.
    assert!(verdicts.iter().all(|verdict| verdict != "found"), "{json:#}");
    assert!(iops.len() == 4 && iops.iter().all(|change| *change > -25.0), "{iops:?}");
    for device in [&first, &second] {
        let file = bench.path(&format!("a-{}.ssdg", device.name()));
        assert_eq!(query(&file, "SELECT count(*) FROM step WHERE state='finished'"), 2);
        let sql =
            "SELECT count(*) FROM finding WHERE kind='drive-interference' AND severity='note'";
        assert_eq!(query(&file, sql), 1);
    }
}

#[test]
fn virtual_drives_do_not_disturb_each_other_and_the_result_says_what_it_does_not_show() {
    let bench = bench();
    let targets = ["sim:tlc-client?capacity=4GB", "sim:qlc-client?capacity=4GB"];
    let line = [&["run", "mine.toml"], &targets[..], &["--shorten", "4"]].concat();
    let checked = [&line[..], &["--check-interference", "--out", "a.ssdg"]].concat();
    let output = bench.call(&checked);
    let (stdout, stderr) = (unfolded(&text(&output.stdout)), text(&output.stderr));
    assert_eq!(output.status.code(), Some(0), "{stderr}");
    assert!(stderr.contains("before: check for interference, "), "{stderr}");
    assert!(
        stdout.contains("10 pairs of phases of 0.5 s, all intervals together 95 %"),
        "{stdout}"
    );
    let found = "no difference was found larger than 0.0 % of IOPS and 0.0 % of p99";
    assert_eq!(stdout.matches(found).count(), 2, "{stdout}");
    assert!(stdout.contains("MODEL: virtual drives have a time of their own each"), "{stdout}");
    let plain = bench.call(&[&line[..], &["--out", "b.ssdg"]].concat());
    assert_eq!(plain.status.code(), Some(0), "{}", text(&plain.stderr));
    // The run after a check is the run without one.
    for name in ["sim-tlc-client", "sim-qlc-client"] {
        let of = |prefix: &str, what: &str| {
            query(&bench.path(&format!("{prefix}-{name}.ssdg")), &format!("SELECT {what}"))
        };
        let sums = "sum(ios * (second + 1)) + sum(bytes) FROM interval";
        assert_eq!(of("a", sums), of("b", sums));
        let found = "count(*) FROM finding WHERE kind='drive-interference' AND text LIKE '%MODEL%'";
        assert_eq!((of("a", found), of("b", found)), (1, 0));
    }
    // Started again, a finished run is not checked again.
    let again = bench.call(&[&checked[..], &["--or-resume"]].concat());
    assert_eq!(again.status.code(), Some(0), "{}", text(&again.stderr));
    assert!(text(&again.stderr).contains("is continued: no check for interference"));
}

#[test]
fn a_drive_that_is_only_read_keeps_its_contents_in_a_check() {
    let bench = bench();
    let Some(device) = Loop::attach(bench.folder.path(), 32 << 20) else { return };
    let image = bench.path("image");
    let contents: Vec<u8> = (0..32u32 << 20).map(|k| (k / 4_096 % 251) as u8).collect();
    std::fs::write(&image, &contents).unwrap();
    let serial = format!("{}:{}", device.name(), 32 << 20);
    let line =
        ["run", "reads.toml", &device.path, "sim:tlc-client?capacity=4GB", "--shorten", "20"];
    let consent = ["--confirm", &serial, "--confined", &serial, "--erase", &serial];
    let options = ["--out", "a.ssdg", "--json", "--check-interference"];
    let output = bench.call(&[&line[..], &consent, &options].concat());
    let stderr = text(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{stderr}");
    let begin = format!("{}: before: check for interference", device.path);
    let line = stderr.lines().find(|line| line.starts_with(&begin)).unwrap();
    assert!(line.ends_with("reads alone"), "{line}");
    let json: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(changes(&json).1.len(), 2);
    assert!(std::fs::read(&image).unwrap() == contents, "the check changed the contents");
}

#[test]
fn a_check_needs_two_targets_and_one_that_is_stopped_leaves_nothing() {
    let bench = bench();
    let output = bench.call(&["run", "mine.toml", "null:", "--check-interference"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(text(&output.stderr).contains("name several targets"));

    let line = ["run", "mine.toml", "null:", ".", "--size", "16MiB", "--out", "a.ssdg"];
    let mut child = bench
        .command(&[&line[..], &["--check-interference"]].concat())
        .stdout(Stdio::null())
        .stderr(std::fs::File::create(bench.path("stderr")).unwrap())
        .spawn()
        .unwrap();
    let stderr = || std::fs::read_to_string(bench.path("stderr")).unwrap();
    wait_for("the first phases", || stderr().contains("128 KiB: 10 pairs"));
    signal(&child, "TERM");
    assert_eq!(child.wait().unwrap().code(), Some(75), "{}", stderr());
    assert!(stderr().contains("no run has begun"), "{}", stderr());
    assert_eq!(bench.names(), ["mine.toml", "reads.toml", "stderr"]);
}
