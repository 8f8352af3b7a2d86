//! Steps of a run again by fio and by ssdgauge in turn, on one target.

use crate::devices::processes::{descendants, name};
use crate::support::{Bench, Loop, Throttle, signal, text, unfolded, wait_for};
use serde_json::Value;
use std::os::unix::fs::PermissionsExt;
use std::process::{Command, Output};

const SIZE: u64 = 16 << 20;
/// Requests per second that the kernel admits, and requests in flight: the latency follows from both, and
/// from no speed of the machine.
const RATE: u64 = 400;
/// It is small against the requests of a repetition, because the programs end differently: ssdgauge sends
/// nothing after its limit and counts what is in flight, fio keeps its queue full.
const DEPTH: u64 = 16;
/// 900 requests: too few for a 99th percentile, which follows from the phase of the kernel's slices.
const BYTES: &str = "until = { bytes = \"3600KiB\" }";

/// Reads alone, a mix, and writes, each short.
fn suite(depth: u64, until: &str) -> String {
    let test = |id: &str, read_percent: u32| {
        format!(
            "[[test]]\nid = \"{id}\"\nrevision = 1\ntitle = \"{id}\"\nstream = {{ access = \"random\", \
             block_size = \"4KiB\", read_percent = {read_percent}, queue_depth = {depth} }}\n\
             {until}\nscore = {{ mean_of = \"iops\" }}\n"
        )
    };
    format!(
        "[suite]\nid = \"check\"\nrevision = 1\ntitle = \"Check\"\n\
         prepare = [{{ fill = \"sequential\", block_size = \"1MiB\" }}]\n{}{}{}",
        test("reads", 100),
        test("mix", 50),
        test("writes", 0)
    )
}

fn has_fio() -> bool {
    let found = Command::new("fio").arg("--version").output().is_ok();
    if !found {
        println!("skipped: no fio");
    }
    found
}

/// Returns the run of a folder on disk; a file system in memory has no O_DIRECT.
fn run_in_folder(bench: &Bench) {
    std::fs::write(bench.path("check.toml"), suite(4, "until = { time = \"500ms\" }")).unwrap();
    bench.print(&["run", "check.toml", ".", "--size", "16MiB", "--out", "run.ssdg"]);
}

/// Returns the JSON that a check printed.
#[track_caller]
fn parse(output: &Output) -> Value {
    let json = serde_json::from_slice(&output.stdout);
    json.unwrap_or_else(|_| panic!("{}", text(&output.stderr)))
}

#[track_caller]
fn refuses(output: &Output, code: i32, parts: &[&str]) {
    let messages = unfolded(&text(&output.stderr));
    assert_eq!(output.status.code(), Some(code), "{messages}");
    for part in parts {
        assert!(messages.contains(part), "'{part}' is not in: {messages}");
    }
}

#[test]
#[ignore = "second tier"]
fn a_throttled_device_agrees_and_another_queue_depth_differs() {
    if !has_fio() {
        return;
    }
    let bench = Bench::new();
    let Some(device) = Loop::attach(bench.folder.path(), SIZE) else { return };
    let Some(throttle) = Throttle::new(&device, RATE) else { return };
    std::fs::write(bench.path("check.toml"), suite(DEPTH, BYTES)).unwrap();
    let serial = format!("{}:{SIZE}", device.name());
    let consent = format!("--confirm {serial} --confined {serial}");
    let run = format!("run check.toml {} --test writes {consent} --out run.ssdg", device.path);
    let call = |arguments: &str| {
        let program = env!("CARGO_BIN_EXE_ssdgauge");
        let mut command = throttle.inside(&format!("{program} {arguments}"));
        command.current_dir(bench.folder.path()).output().unwrap()
    };
    let ran = call(&run);
    assert!(ran.status.success(), "{}", text(&ran.stderr));
    // Without a confirmation the drive is not even read.
    refuses(&call("crosscheck run.ssdg --writes"), 3, &["--confirm"]);
    // Writes: before reads, ssdgauge looks for unwritten blocks, which the limit counts as well.
    refuses(&call("crosscheck run.ssdg --step writes"), 3, &["--writes is not given"]);
    let check = format!("crosscheck run.ssdg --step writes --writes {consent} --json");
    // A machine that stalls for a moment is too noisy, and says so; it never says that they differ. Then
    // the best of all repetitions agree: the throttle bounds them, and a stall only makes one worse.
    let mut values: [[Vec<f64>; 2]; 2] = Default::default();
    for attempt in 0.. {
        let agrees = call(&check);
        let json: Value = parse(&agrees);
        let comparisons = json["steps"][0]["comparisons"].as_array().unwrap();
        assert_eq!(comparisons.len(), 2, "{json:#}");
        for (comparison, values) in comparisons.iter().zip(&mut values) {
            for (program, values) in ["fio", "ssdgauge"].into_iter().zip(values) {
                let list = comparison[program].as_array().unwrap();
                values.extend(list.iter().map(|value| value.as_f64().unwrap()));
            }
        }
        if json["verdict"] == "agrees" {
            assert_eq!(agrees.status.code(), Some(0));
            break;
        }
        assert_eq!(json["verdict"], "too noisy to tell", "{json:#}");
        assert_eq!(agrees.status.code(), Some(75));
        if attempt == 2 {
            let [iops, latency] = &values;
            let best = [
                iops.each_ref().map(|all| all.iter().copied().fold(0.0, f64::max)),
                latency.each_ref().map(|all| all.iter().copied().fold(f64::MAX, f64::min)),
            ];
            // Another queue depth, below, is off by a factor of four.
            let is_close = |[fio, ssdgauge]: &[f64; 2]| (ssdgauge / fio - 1.0).abs() <= 0.05;
            assert!(best.iter().all(is_close), "{best:?} of {values:?}");
            break;
        }
    }
    // fio with a quarter of the requests in flight: a quarter of the latency.
    let other = bench.path("other-fio");
    let script = format!(
        "#!/bin/sh\n[ \"$1\" = --version ] && exec fio --version\n\
         sed s/iodepth={DEPTH}/iodepth={}/ | fio \"$@\"\n",
        DEPTH / 4
    );
    std::fs::write(&other, script).unwrap();
    std::fs::set_permissions(&other, PermissionsExt::from_mode(0o755)).unwrap();
    let differs = call(&format!("{check} --fio {}", other.display()));
    let json: Value = parse(&differs);
    refuses(&differs, 4, &["ssdgauge and fio differ"]);
    assert_eq!(json["verdict"], "differs");
    let mean = &json["steps"][0]["comparisons"][1];
    assert_eq!((&mean["quantity"], &mean["verdict"]), (&"lat_mean_us".into(), &"differs".into()));
    let difference = mean["difference_percent"].as_f64().unwrap();
    assert!((200.0..400.0).contains(&difference), "four times the latency: {difference}");
}

#[test]
#[ignore = "second tier"]
fn steps_in_a_folder_are_checked_on_a_new_scratch_file_and_writes_need_their_option() {
    if !has_fio() {
        return;
    }
    let bench = Bench::new();
    run_in_folder(&bench);
    let before = std::fs::read(bench.path("run.ssdg")).unwrap();
    let check = |more: &[&str]| {
        let common = ["crosscheck", "run.ssdg", "--time", "500ms", "--json"];
        bench.call(&[&common[..], more].concat())
    };
    for (more, checked, left_out) in [
        (&["--step", "reads"][..], &["reads"][..], &[][..]),
        (&["--writes"][..], &["reads", "writes"][..], &["mix"][..]),
    ] {
        let output = check(more);
        let messages = text(&output.stderr);
        if messages.contains("page cache") {
            println!("skipped: no O_DIRECT in {}", bench.folder.path().display());
            return;
        }
        let json: Value = parse(&output);
        let names = |list: &Value| {
            let steps = list.as_array().unwrap().iter();
            steps
                .map(|one| one["step"].as_str().unwrap().split('/').next().unwrap().to_owned())
                .collect::<Vec<_>>()
        };
        assert_eq!(names(&json["steps"]), checked, "{messages}");
        assert_eq!(names(&json["not_checked"]), left_out, "{messages}");
        let code = match json["verdict"].as_str().unwrap() {
            "agrees" => 0,
            "differs" => 4,
            "too noisy to tell" => 75,
            other => panic!("an unknown verdict: {other}"),
        };
        assert_eq!(output.status.code(), Some(code), "{messages}");
        for step in json["steps"].as_array().unwrap() {
            for one in step["comparisons"].as_array().unwrap() {
                assert_eq!(one["fio"].as_array().unwrap().len(), 3, "{one}");
                assert_eq!(one["ssdgauge"].as_array().unwrap().len(), 3, "{one}");
            }
            assert!(step["comparisons"].as_array().unwrap().len() >= 2, "{step}");
        }
    }
    assert!(std::fs::read(bench.path("run.ssdg")).unwrap() == before, "the run file is read only");
    assert_eq!(bench.names(), ["check.toml", "run.html", "run.ssdg"]);
}

#[test]
fn what_cannot_be_checked_is_refused_by_name_before_anything_is_written() {
    let bench = Bench::new();
    run_in_folder(&bench);
    let call = |more: &[&str]| bench.call(&[&["crosscheck", "run.ssdg"][..], more].concat());
    refuses(
        &call(&["--step", "mix"]),
        3,
        &["mix", "exact over every 100 requests", "nothing was written"],
    );
    refuses(&call(&["--step", "writes"]), 3, &["it writes, and --writes is not given"]);
    refuses(&call(&["--step", "none"]), 2, &["no finished step 'none'", "measured steps: "]);
    refuses(
        &call(&["--step", "reads", "--fio", "/no/fio"]),
        2,
        &["/no/fio cannot be started", "--fio PROGRAM"],
    );
    refuses(&call(&["--step", "reads", "--fio", "/bin/true"]), 2, &["not fio 3"]);
    refuses(&call(&["--turns", "2"]), 2, &["--turns"]);
    let short = "a repetition takes 100 ms, and one below 500 ms is too short to judge";
    for steps in [&["--step", "writes/0 % read", "--writes"][..], &["--writes"]] {
        let output = call(&[steps, &["--time", "100ms"]].concat());
        refuses(&output, 2, &[short, "nothing was written; raise --time"]);
    }
    std::fs::write(bench.path("few.toml"), suite(4, "until = { bytes = \"256KiB\" }")).unwrap();
    bench.print(&["run", "few.toml", ".", "--size", "16MiB", "--out", "few.ssdg"]);
    let few = bench.call(&["crosscheck", "few.ssdg", "--step", "reads"]);
    if has_fio() && !text(&few.stderr).contains("page cache") {
        refuses(&few, 2, &["is too short to judge", "more bytes"]);
    }
    bench.print(&["quick", "sim:tiny", "--shorten", "20", "--out", "model.ssdg"]);
    refuses(&bench.call(&["crosscheck", "model.ssdg"]), 2, &["MODEL", "ssdgauge serve"]);
    refuses(&bench.call(&["crosscheck", "none.ssdg"]), 2, &["none.ssdg"]);
    // A program that fails gives its reason.
    let failing = bench.path("failing-fio");
    std::fs::write(&failing, "#!/bin/sh\n[ \"$1\" = --version ] && echo fio-3.99 && exit\necho out of luck >&2; exit 1\n")
        .unwrap();
    std::fs::set_permissions(&failing, PermissionsExt::from_mode(0o755)).unwrap();
    let failed = call(&["--step", "reads", "--fio", failing.to_str().unwrap()]);
    if !text(&failed.stderr).contains("page cache") {
        refuses(&failed, 1, &["fio failed: out of luck"]);
    }
}

#[test]
fn a_stopped_check_ends_fio_and_keeps_nothing() {
    let bench = Bench::new();
    run_in_folder(&bench);
    let endless = bench.path("endless-fio");
    std::fs::write(
        &endless,
        "#!/bin/sh\n[ \"$1\" = --version ] && echo fio-3.99 && exit\nexec sleep 600\n",
    )
    .unwrap();
    std::fs::set_permissions(&endless, PermissionsExt::from_mode(0o755)).unwrap();
    let before = bench.names();
    let fio = endless.to_str().unwrap().to_owned();
    let mut command = bench.command(&["crosscheck", "run.ssdg", "--step", "reads", "--fio", &fio]);
    let mut child = command.stderr(std::process::Stdio::piped()).spawn().unwrap();
    let mut started = None;
    let mut ended = false;
    wait_for("fio", || {
        ended = child.try_wait().unwrap().is_some();
        // Its keeper is between.
        started = descendants(child.id()).into_iter().find(|pid| name(*pid) == "sleep");
        ended || started.is_some()
    });
    let Some(pid) = started else {
        let output = child.wait_with_output().unwrap();
        assert!(text(&output.stderr).contains("page cache"), "{}", text(&output.stderr));
        println!("skipped: no O_DIRECT in {}", bench.folder.path().display());
        return;
    };
    signal(&child, "TERM");
    let output = child.wait_with_output().unwrap();
    refuses(&output, 75, &["error: interrupted", "keeps no results"]);
    wait_for("the end of fio", || !std::path::Path::new(&format!("/proc/{pid}")).exists());
    assert_eq!(bench.names(), before);
}
