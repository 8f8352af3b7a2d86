//! Plans as job files of fio: fio itself reads them, and a job does the work of the step.

use crate::commands::large_files::checksum;
use crate::support::{Bench, open_to_change, text};
use rusqlite::Connection;
use rusqlite::types::Value;
use std::process::Command;

fn has_fio() -> bool {
    let found = Command::new("fio").arg("--version").output().is_ok();
    if !found {
        println!("skipped: no fio");
    }
    found
}

#[test]
#[ignore = "second tier"]
fn fio_reads_the_job_file_of_every_suite() {
    if !has_fio() {
        return;
    }
    let bench = Bench::new();
    let suites: serde_json::Value =
        serde_json::from_str(&bench.print(&["suites", "--json"])).unwrap();
    let suites = suites["suites"].as_array().unwrap();
    assert!(suites.len() > 10, "{suites:?}");
    for suite in suites {
        let id = suite["id"].as_str().unwrap();
        let drive = "sim:tlc-client?capacity=64GB";
        bench.print(&["export", "--fio", id, drive, "--scale-spans", "-o", "suite.fio"]);
        let written = std::fs::read_to_string(bench.path("suite.fio")).unwrap();
        assert!(written.matches("\n[").count() > 1, "{id}: {written}");
        let fio = Command::new("fio")
            .args(["--parse-only", "suite.fio"])
            .env("TARGET", "/dev/null")
            .current_dir(bench.folder.path())
            .output()
            .unwrap();
        let errors = text(&fio.stderr);
        assert!(fio.status.success() && errors.is_empty(), "{id}: {errors}");
    }
}

#[test]
fn a_job_of_fio_does_the_work_of_the_step() {
    if !has_fio() {
        return;
    }
    let bench = Bench::new();
    let suite = r#"
        [suite]
        id = "work"
        revision = 1
        title = "Work"
        prepare = [{ fill = "sequential", span = "16MiB", block_size = "128KiB" }]

        [[test]]
        id = "mixed"
        revision = 1
        title = "Mixed"
        stream = { access = "random", block_size = "8KiB", read_percent = 70, queue_depth = 4, span = "8MiB" }
        until = { bytes = "32MiB" }
        score = { mean_of = "iops" }
    "#;
    std::fs::write(bench.path("work.toml"), suite).unwrap();
    std::fs::create_dir(bench.path("drive")).unwrap();
    let line = ["export", "--fio", "./work.toml", "drive", "--size", "16MiB", "-o", "work.fio"];
    bench.print(&line);
    let output = Command::new("fio")
        .args(["--output-format=json", "work.fio"])
        .current_dir(bench.folder.path())
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", text(&output.stderr));
    let result: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let jobs = result["jobs"].as_array().unwrap();
    let sum = |job: usize, key: &str| {
        let of = |direction: &str| jobs[job][direction][key].as_u64().unwrap();
        of("read") + of("write")
    };
    assert_eq!((jobs.len(), sum(0, "io_bytes"), sum(0, "total_ios")), (2, 16 << 20, 128));
    assert_eq!((sum(1, "io_bytes"), sum(1, "total_ios")), (32 << 20, 4_096));
    let reads = jobs[1]["read"]["total_ios"].as_u64().unwrap();
    assert!((2_700..3_050).contains(&reads), "{reads} of 4,096 are reads, 70 % expected");
    assert_eq!(jobs[1]["job options"]["iodepth"], "4");
    let scratch = std::fs::metadata(bench.path("drive/fio-scratch")).unwrap();
    assert_eq!(scratch.len(), 16 << 20);
}

#[test]
fn the_data_of_a_job_of_fio_is_that_of_the_step() {
    if !has_fio() {
        return;
    }
    for (data, different, zeros) in [
        ("incompressible", 2_048, 0),
        ("zeros", 1, 4_096),
        ("repeated", 1, 0),
        ("half", 2_048, 2_048),
    ] {
        let bench = Bench::new();
        let suite = format!(
            r#"
            [suite]
            id = "contents"
            revision = 1
            title = "Contents"

            [[test]]
            id = "writes"
            revision = 1
            title = "Writes"
            stream = {{ access = "sequential", block_size = "16KiB", read_percent = 0, span = "8MiB", data = "{data}" }}
            until = {{ bytes = "8MiB" }}
            score = {{ mean_of = "iops" }}
            "#
        );
        std::fs::write(bench.path("contents.toml"), suite).unwrap();
        std::fs::create_dir(bench.path("drive")).unwrap();
        bench.print(&[
            "export",
            "--fio",
            "./contents.toml",
            "drive",
            "--size",
            "8MiB",
            "-o",
            "job.fio",
        ]);
        let mut fio = Command::new("fio");
        let output = fio.arg("job.fio").current_dir(bench.folder.path()).output().unwrap();
        assert!(output.status.success(), "{}", text(&output.stderr));
        let bytes = std::fs::read(bench.path("drive/fio-scratch")).unwrap();
        let blocks: Vec<&[u8]> = bytes.chunks(4_096).collect();
        let found = blocks.iter().collect::<std::collections::HashSet<_>>().len();
        assert_eq!((blocks.len(), found), (2_048, different), "{data}");
        let at_end = |block: &&[u8]| block.iter().rev().take_while(|byte| **byte == 0).count();
        let fewest = blocks.iter().map(at_end).min().unwrap();
        assert_eq!(fewest, zeros, "{data}");
    }
}

#[test]
fn a_run_is_exported_by_its_stored_plan_and_no_other_file_is_replaced() {
    let bench = Bench::new();
    bench.print(&["quick", "sim:tiny", "--shorten", "100", "--out", "a.ssdg"]);
    let job = bench.print(&["export", "--fio", "a.ssdg"]);
    for part in ["filename=${TARGET}", "divided by 100", "rw=randrw", "rwmixread=70"] {
        assert!(job.contains(part), "'{part}' is missing in: {job}");
    }
    // A pause is a job before the next one: what a command prints would be in the JSON of fio.
    assert!(job.contains("-rest]\nstonewall\ndescription=rest of "), "{job}");
    assert!(!job.contains("exec_"), "{job}");
    std::fs::write(bench.path("other"), "precious").unwrap();
    for output in ["a.ssdg", "a.html", "other"] {
        let refused = bench.call(&["export", "--fio", "a.ssdg", "-o", output]);
        assert_eq!(refused.status.code(), Some(3), "{output}: {}", text(&refused.stderr));
    }
    assert_eq!(std::fs::read_to_string(bench.path("other")).unwrap(), "precious");
    let usage = bench.call(&["export", "--fio", "quick"]);
    assert_eq!(usage.status.code(), Some(2), "{}", text(&usage.stderr));
}

#[test]
fn the_output_of_a_job_file_with_rests_is_json_and_the_rests_are_not_results() {
    if !has_fio() {
        return;
    }
    let bench = Bench::new();
    let suite = r#"
        [suite]
        id = "rests"
        revision = 1
        title = "Rests"
        prepare = [{ fill = "sequential", span = "1MiB", block_size = "128KiB" }]

        [[test]]
        id = "reads"
        revision = 1
        title = "Reads"
        stream = { access = "random", block_size = "4KiB", read_percent = 100, span = "1MiB" }
        sweep = { queue_depth = [1, 2] }
        until = { bytes = "1MiB" }
        rest = { time = "700ms" }
        score = { mean_of = "iops" }
    "#;
    std::fs::write(bench.path("rests.toml"), suite).unwrap();
    std::fs::create_dir(bench.path("drive")).unwrap();
    bench.print(&["export", "--fio", "./rests.toml", "drive", "--size", "1MiB", "-o", "rests.fio"]);
    let begun = std::time::Instant::now();
    let output = Command::new("fio")
        .args(["--output-format=json+", "rests.fio"])
        .current_dir(bench.folder.path())
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", text(&output.stderr));
    assert!(begun.elapsed().as_millis() >= 700, "{:?}", begun.elapsed());
    let result: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let names = result["jobs"].as_array().unwrap().iter().map(|job| job["jobname"].to_string());
    let rests = names.filter(|name| name.contains("-rest")).count();
    assert_eq!(rests, 1, "{result:#}");
    assert_eq!(bench.names(), ["drive", "rests.fio", "rests.toml"], "fio left no other file");
    std::fs::write(bench.path("out.json"), &output.stdout).unwrap();
    bench.print(&["import", "--fio", "out.json", "-o", "fio.ssdg"]);
    let report = bench.print(&["report", "fio.ssdg", "--json"]);
    let report: serde_json::Value = serde_json::from_str(&report).unwrap();
    let tests = report["runs"][0]["tests"].as_array().unwrap();
    assert_eq!(tests.len(), 3, "a fill and two depths");
}

#[test]
fn a_job_file_is_written_for_a_drive_of_another_machine_and_says_what_is_not_known() {
    let bench = Bench::new();
    let drive = "/dev/disk/by-id/nvme-of-another-machine";
    let call = |arguments: &[&str], unknown: &str| {
        let output = bench.call(&[&["export", "--fio"], arguments].concat());
        let messages = text(&output.stderr);
        assert_eq!(output.status.code(), Some(0), "{messages}");
        let unfolded = messages.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(unfolded.contains(unknown), "{messages}");
        let job = text(&output.stdout);
        assert!(job.contains(unknown) && job.contains(&format!("filename={drive}\n")), "{job}");
        job
    };
    let job = call(&["quick", drive], "its capacity is not known, and 1 TB is assumed");
    assert!(job.contains("its logical blocks are assumed to have 512 bytes"), "{job}");
    let job = call(&["client-2018", drive, "--size", "400GB"], "its capacity is stated as 400 GB");
    let largest = job.lines().filter_map(|line| line.strip_prefix("size=")?.parse::<u64>().ok());
    assert_eq!(largest.max(), Some(400_000_000_000));
    bench.print(&["quick", "sim:tiny", "--shorten", "100", "--out", "a.ssdg"]);
    call(&["a.ssdg", drive], "the plan is that of MODEL tiny 1GB");
}

/// Replaces the plan and the title of the suite in the run file `name`, with valid checksums.
fn rewrite(bench: &Bench, name: &str, plan: &serde_json::Value, title: &str) {
    let connection = open_to_change(bench.path(name));
    let mut values: Vec<Value> = connection
        .query_row("SELECT * FROM run", [], |row| (0..9).map(|at| row.get(at)).collect())
        .unwrap();
    values[5] = Value::Text(title.into());
    values[8] = Value::Text(plan.to_string());
    let (title, plan, crc) = (values[5].clone(), values[8].clone(), checksum(&values));
    let sql = "UPDATE run SET suite_title = ?1, plan = ?2, crc = ?3";
    connection.execute(sql, [title, plan, crc]).unwrap();
}

/// Returns the lines that are not a comment, without the names of the sections.
fn options(job: &str) -> Vec<&str> {
    job.lines().filter(|line| !line.starts_with(['#', '['])).collect()
}

#[test]
fn no_text_of_a_run_file_becomes_an_option_of_fio() {
    let bench = Bench::new();
    bench.print(&["quick", "sim:tiny", "--shorten", "100", "--out", "a.ssdg"]);
    let clean = bench.print(&["export", "--fio", "a.ssdg", "file:target"]);
    assert!(options(&clean).len() > 50, "{clean}");
    let connection = Connection::open(bench.path("a.ssdg")).unwrap();
    let plan: String = connection.query_row("SELECT plan FROM run", [], |row| row.get(0)).unwrap();
    drop(connection);
    let evil = "[evil]\nfilename=victim\nrw=write\nsize=4k\nexec_prerun=touch changed\n#";
    // fio reads 4,095 bytes as one line, and what follows as the next line.
    let long = format!("{}{evil}", "t".repeat(4_095 - "# test : ".len()));
    for text in [format!("x\n{evil}"), format!("x\r\n{evil}"), long] {
        for place in ["title", "id", "label", "suite title", "suite id", "stream"] {
            let mut plan: serde_json::Value = serde_json::from_str(&plan).unwrap();
            let test = &mut plan["tests"][1];
            let step = &mut test["phases"][0]["steps"][0];
            match place {
                "title" | "id" => test[place] = text.as_str().into(),
                "label" => step["label"] = text.as_str().into(),
                "suite title" => plan["suite"]["title"] = text.as_str().into(),
                "suite id" => plan["suite"]["id"] = text.as_str().into(),
                _ => {
                    let streams = &mut step["action"]["run"]["workload"]["streams"];
                    assert!(streams[0]["name"].is_string(), "{streams}");
                    streams[0]["name"] = text.as_str().into();
                }
            }
            let title = if place == "suite title" { &text } else { "x" };
            rewrite(&bench, "a.ssdg", &plan, title);
            let output = bench.call(&["export", "--fio", "a.ssdg", "file:target"]);
            // An id that is not that of the run is refused as damage.
            if place == "suite id" && !output.status.success() {
                continue;
            }
            let job = text_of(&output);
            assert_eq!(options(&job), options(&clean), "{place}");
            let longest = job.lines().map(str::len).max().unwrap();
            assert!(longest < 4_000, "{place}: a line of {longest} bytes");
        }
    }
}

/// Returns the stdout of a call that must have succeeded.
fn text_of(output: &std::process::Output) -> String {
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    text(&output.stdout)
}

#[test]
fn a_target_whose_name_fio_reads_as_another_one_is_refused() {
    let bench = Bench::new();
    let line = |target| {
        let options = ["--size", "1MiB", "--scale-spans", "--shorten", "100"];
        let target = format!("file:{target}");
        bench.call(&[&["export", "--fio", "quick", &target], &options[..]].concat())
    };
    for target in ["a;b", "a#b", "a b ", "#x", "${HOME}", "a\nb", "`id`"] {
        let refused = line(target);
        let error = text(&refused.stderr);
        assert_eq!(refused.status.code(), Some(2), "{target}: {error}");
        assert!(error.contains("fio reads another name"), "{target}: {error}");
        assert!(refused.stdout.is_empty(), "{target}");
    }
    let has_fio = has_fio();
    for target in ["a b", "a:b", "a\\b", "a\\:b", "\"a\"", "a,b"] {
        let job = text_of(&line(target));
        if !has_fio {
            continue;
        }
        std::fs::write(bench.path("t.fio"), job).unwrap();
        let made = Command::new("fio")
            .args(["--create_only=1", "t.fio"])
            .current_dir(bench.folder.path())
            .output()
            .unwrap();
        assert!(made.status.success(), "{target}: {}", text(&made.stderr));
        assert_eq!(bench.names(), [target, "t.fio"], "fio used another file");
        std::fs::remove_file(bench.path(target)).unwrap();
    }
}

#[test]
fn suites_state_every_score_of_a_test() {
    let bench = Bench::new();
    let text = bench.print(&["suites", "consistency-2016", "--all"]);
    let second =
        "also     mean ÷ σ of IOPS in each second of the last 6 min 40 s of mean_over_sigma";
    assert_eq!(text.matches(second).count(), 2, "{text}");
    let json: serde_json::Value =
        serde_json::from_str(&bench.print(&["suites", "consistency-2016", "--json"])).unwrap();
    let also = &json["suites"][0]["tests"][0]["also"];
    assert_eq!(also[0]["metric"], "mean_over_sigma", "{also}");
    let text = bench.print(&["suites", "enterprise-2019", "--all"]);
    let line = "with     queue depth, latency (mean, p99, p99.99) and efficiency_kiops_w";
    assert_eq!(text.matches(line).count(), 2, "{text}");
}
