//! The commands of docs/how-to/fio.md: each of them runs, on small stand-ins for the drives and files that it names.

use crate::support::{Bench, text};
use std::path::Path;
use std::process::{Command, Output};

/// Two tests that fio can do in full, each a tenth of a second.
const SUITE: &str = r#"
[suite]
id = "client-2018"
revision = 1
title = "Stand-in"
prepare = [{ fill = "sequential", block_size = "1MiB" }]

[[test]]
id = "random-read"
revision = 1
title = "Random reads"
stream = { access = "random", block_size = "4KiB", read_percent = 100, queue_depth = 2 }
until = { time = "600ms" }
score = { mean_of = "iops" }

[[test]]
id = "random-write"
revision = 1
title = "Random writes"
stream = { access = "random", block_size = "4KiB", read_percent = 0, queue_depth = 2 }
until = { time = "600ms" }
score = { mean_of = "iops" }
"#;

/// A log of one hour that passes at ten times the load.
const ACT_LOG: &str = "ACT version 6.4\n\nACT-STORAGE CONFIGURATION\ndevice-names: /dev/sdx\n\
    read-reqs-per-sec: 20000\nwrite-reqs-per-sec: 10000\nrecord-bytes: 1536\n\nHISTOGRAM NAMES\nreads\n\n\
    after 3600 sec:\nreads (1000 total)\n (00: 0000000990) (01: 0000000010)\n\n";

/// Returns the lines in the blocks of a shell, without comments and prompts.
pub(super) fn commands(page: &str) -> Vec<String> {
    let blocks = page.split("```sh\n").skip(1).map(|rest| rest.split("```").next().unwrap());
    let lines = blocks.flat_map(str::lines).map(|line| line.split("  #").next().unwrap().trim());
    lines.filter(|line| !line.is_empty()).map(str::to_owned).collect()
}

/// Returns the words of a line; quotes hold words together.
pub(super) fn words(line: &str) -> Vec<String> {
    let parts = line.split('"').enumerate();
    parts
        .flat_map(|(index, part)| match index % 2 {
            0 => part.split_whitespace().map(str::to_owned).collect::<Vec<_>>(),
            _ => vec![part.to_owned()],
        })
        .collect()
}

/// Runs a line of the page; the names of drives, suites and folders are those of the stand-ins.
fn run(bench: &Bench, line: &str) -> Output {
    let words = words(line);
    let stand_in = |word: &String| match word.as_str() {
        "client-2018" => vec!["client-2018.toml".to_owned()],
        "/dev/nvme1n1" => vec![".".to_owned(), "--size".to_owned(), "16MiB".to_owned()],
        _ => vec![word.clone()],
    };
    let arguments: Vec<String> = words[1..].iter().flat_map(stand_in).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match words[0].as_str() {
        "ssdgauge" => bench.call(&arguments),
        "fio" => {
            let command =
                Command::new("fio").args(&arguments).current_dir(bench.folder.path()).output();
            command.unwrap()
        }
        other => panic!("the page has a command of {other}: {line}"),
    }
}

#[test]
#[ignore = "second tier"]
fn every_command_of_the_page_about_fio_runs() {
    if Command::new("fio").arg("--version").output().is_err() {
        println!("skipped: no fio");
        return;
    }
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/how-to/fio.md");
    let page = std::fs::read_to_string(page).unwrap();
    let bench = Bench::new();
    std::fs::write(bench.path("client-2018.toml"), SUITE).unwrap();
    std::fs::write(bench.path("act.log"), ACT_LOG).unwrap();
    let own = ["run", "client-2018.toml", ".", "--size", "16MiB", "--out"];
    for name in ["RUN.ssdg", "mine.ssdg"] {
        bench.print(&[&own[..], &[name]].concat());
    }
    let mut ran = 0;
    for line in commands(&page) {
        if line.starts_with("act_storage ") {
            continue;
        }
        // What the page produces outside of its commands: a second result, and a job with a log.
        if line.starts_with("ssdgauge compare ") {
            for name in ["before.ssdg", "after.ssdg"] {
                bench.print(&["import", "--fio", "out.json", "-o", name]);
            }
        }
        if line.contains("--hist-log") {
            let job = "--name=one --filename=fio-scratch --size=4m --rw=randread --ioengine=psync \
                       --time_based --runtime=2 --write_hist_log=h --log_hist_msec=1000 \
                       --output-format=json+ --output=out.json";
            assert!(run(&bench, &format!("fio {job}")).status.success());
            std::fs::remove_file(bench.path("fio.ssdg")).unwrap();
        }
        let output = run(&bench, &line);
        let messages = text(&output.stderr);
        if messages.contains("page cache") {
            println!("skipped: no O_DIRECT in {}", bench.folder.path().display());
            return;
        }
        // A check has three verdicts, and this machine decides which.
        let codes: &[i32] = if line.contains("crosscheck") { &[0, 4, 75] } else { &[0] };
        let code = output.status.code().unwrap();
        assert!(codes.contains(&code), "{line}: exit code {code}: {messages}");
        ran += 1;
    }
    println!("ran {ran} commands of docs/how-to/fio.md");
    assert!(ran >= 12, "the page has lost commands: {ran}");
}
