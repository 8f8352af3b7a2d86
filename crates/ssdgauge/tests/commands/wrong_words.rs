//! Wrong words on the command line, and the help that leads to the right ones.

use crate::support::{Bench, text, unfolded};

#[test]
fn a_wrong_word_is_answered_with_the_command_that_is_meant() {
    let bench = Bench::new();
    std::fs::create_dir(bench.path("drive")).unwrap();
    std::fs::write(bench.path("a.ssdg"), "no run").unwrap();
    let cases: [(&[&str], i32, &str); 20] = [
        (&["gaming"], 2, "`ssdgauge quick FOLDER --for desktop`"),
        (&["benchmark"], 2, "`ssdgauge quick FOLDER`"),
        (&["version"], 2, "`ssdgauge --version`"),
        (&["ls"], 2, "`ssdgauge list`"),
        (&["comp"], 2, "did you mean 'compare' or 'completions'?"),
        (&["quick", ".", "--for", "gaming"], 2, "did you mean 'desktop'?"),
        (&["quick", ".", "--for", "databse"], 2, "did you mean 'database'?"),
        (&["quick", ".", "--outp", "a"], 2, "did you mean '--out'?"),
        (&["run", "gaming", "sim:tiny"], 2, "did you mean 'quick-desktop' or 'tasks'?"),
        (&["run", "client", "sim:tiny"], 2, "'client-2018' or 'client-2018-full' or 'client-2021'"),
        (&["run", "sim:tiny", "quick"], 2, "did you mean `ssdgauge run quick sim:tiny`?"),
        (&["plan", "drive", "quick"], 2, "did you mean `ssdgauge plan quick drive`?"),
        (&["run", "/dev/a", "/dev/b"], 2, "`ssdgauge run SUITE TARGET`"),
        (&["run", "./my.toml", "sim:tiny"], 2, "error: file ./my.toml does not exist"),
        (&["quick", "a.ssdg"], 3, "`ssdgauge show a.ssdg` prints its result"),
        (&["drives", "sdx"], 2, "error: device sdx does not exist"),
        (&["report", "a.ssdg", "-o", "a.pdf"], 2, "--print-to-pdf"),
        (&["report", "a.ssdg", "-o", "a.png"], 2, "`--share-image FILE.png`"),
        (&["report", "a.ssdg", "-o", "a.json"], 2, "`report --json` prints it"),
        (&["suites", "quik"], 2, "did you mean 'quick'?"),
    ];
    for (line, code, meant) in cases {
        let output = bench.call(line);
        let message = unfolded(&text(&output.stderr));
        assert_eq!(output.status.code(), Some(code), "{line:?}: {message}");
        assert!(message.contains(meant), "{line:?}: {message}");
        assert!(!message.contains("os error"), "{line:?}: {message}");
    }
    assert_eq!(bench.names(), ["a.ssdg", "drive"]);
}

#[test]
fn the_short_help_is_a_part_of_the_whole_one_and_names_the_groups() {
    let bench = Bench::new();
    let [short, whole] = ["-h", "--help"].map(|option| bench.print(&[option]));
    for group in ["Check and review:", "Understand a drive:", "Laboratory:", "Exchange"] {
        assert!(short.contains(group) && whole.contains(group), "{short}");
    }
    assert!(!short.contains("--library") && whole.contains("--library"), "{whole}");
    assert_eq!(bench.print(&["help"]), whole);
    assert_eq!(bench.print(&["help", "quick"]), bench.print(&["quick", "--help"]));
    for (command, hidden) in [
        ("quick", "--pass-through"),
        ("run", "--idle-cut"),
        ("report", "--embed"),
        ("xray", "--seed"),
    ] {
        let [short, whole] = ["-h", "--help"].map(|option| bench.print(&[command, option]));
        assert!(!short.contains(hidden) && whole.contains(hidden), "{command}: {short}");
        assert!(short.lines().count() <= 50, "{command}: {short}");
        assert!(short.contains("--help") && short.contains("--out"), "{command}: {short}");
    }
}

#[test]
fn every_output_is_named_by_out_and_by_the_other_word_that_is_hidden() {
    let bench = Bench::new();
    bench.print(&["quick", "sim:tiny", "--shorten", "20", "--output", "a.ssdg"]);
    bench.print(&["report", "a.ssdg", "--out", "out.html"]);
    bench.print(&["report", "a.ssdg", "--output", "output.html"]);
    bench.print(&["fleet", "page", "a.ssdg", "--output", "fleet.html"]);
    bench.print(&["export", "--fio", "a.ssdg", "--out", "a.fio"]);
    for name in ["a.ssdg", "out.html", "output.html", "fleet.html", "a.fio"] {
        assert!(bench.path(name).exists(), "{name}");
    }
    for command in ["quick", "run", "report", "demo", "export", "import", "xray", "prove"] {
        let help = bench.print(&[command, "--help"]);
        assert!(help.contains("-o, --out <FILE>") && !help.contains("--output <"), "{help}");
    }
}

#[test]
fn a_run_prints_its_plan_and_writes_nothing() {
    let bench = Bench::new();
    let plan = bench.print(&["plan", "quick", "sim:tiny"]);
    assert_eq!(bench.print(&["run", "quick", "sim:tiny", "--plan"]), plan);
    let of_quick = bench.print(&["quick", "sim:tiny", "--plan", "--shorten", "2"]);
    assert!(
        of_quick.trim_end().ends_with("next:  ssdgauge quick sim:tiny --shorten 2"),
        "{of_quick}"
    );
    assert!(bench.names().is_empty());
}

#[test]
fn suites_are_listed_by_question_in_three_lines_each_and_without_toml() {
    let bench = Bench::new();
    let list = bench.print(&["suites"]);
    assert!(list.starts_with("Is my drive as fast as it should be?\n  quick  "), "{list}");
    for block in list.split("\n\n").filter(|block| block.contains("?\n")) {
        let suites =
            block.lines().filter(|line| line.starts_with("  ") && !line.starts_with("    "));
        let lines = block.lines().count() - 1;
        assert!(lines <= 3 * suites.count(), "{block}");
    }
    for suite in ["client-2018", "snia-pts-e", "act"] {
        let short = bench.print(&["suites", suite]);
        assert!(!short.contains("= ") && !short.contains('{'), "{short}");
        assert!(short.contains(&format!("ssdgauge suites {suite} --all")), "{short}");
        assert!(bench.print(&["suites", suite, "--all"]).contains("  chosen   "));
    }
}

#[test]
fn a_place_that_cannot_be_written_is_refused_before_anything_is_written() {
    let bench = Bench::new();
    bench.print(&["quick", "sim:tiny", "--shorten", "20", "--out", "a.ssdg"]);
    // Nobody creates a file there, root included.
    for line in [
        &["report", "a.ssdg", "-o", "/sys/a.html"][..],
        &["report", "a.ssdg", "--share-image", "/sys/a.png"],
        &["quick", "sim:tiny", "--shorten", "20", "--out", "/sys/a.ssdg"],
    ] {
        let output = bench.call(line);
        let message = text(&output.stderr);
        assert_eq!(output.status.code(), Some(3), "{line:?}: {message}");
        assert!(message.contains("nothing was written"), "{line:?}: {message}");
    }
}

#[test]
fn an_unknown_key_of_a_spec_file_gets_the_nearest_one() {
    let bench = Bench::new();
    bench.print(&["quick", "sim:tiny", "--shorten", "20", "--out", "a.ssdg"]);
    for (file, meant) in [
        ("[drive]\nmodle = \"tiny\"\nsource = \"none\"\n", "did you mean 'model'?"),
        ("[drive]\nprice = 3\n", "the keys here are model, source, tolerance_percent"),
    ] {
        std::fs::write(bench.path("spec.toml"), file).unwrap();
        let output = bench.call(&["report", "a.ssdg", "--spec", "spec.toml"]);
        let message = unfolded(&text(&output.stderr));
        assert_eq!(output.status.code(), Some(2), "{message}");
        assert!(message.contains("spec.toml:2: unknown key"), "{message}");
        assert!(message.contains(meant), "{message}");
    }
}

#[test]
fn a_plan_names_processors_that_a_run_would_be_refused_for() {
    let bench = Bench::new();
    let suite = include_str!("../reads.toml");
    let beyond = suite.replace("queue_depth = 4", "queue_depth = 4, cpus = \"4095\"");
    assert_ne!(suite, beyond);
    std::fs::write(bench.path("suite.toml"), beyond).unwrap();
    let refused = "a run would be refused: the threads of stream '";
    let plan = unfolded(&bench.print(&["plan", "./suite.toml", "."]));
    assert!(plan.contains(refused) && plan.contains("run on processor 4095"), "{plan}");
    // Without effect on a virtual drive.
    assert!(!unfolded(&bench.print(&["plan", "./suite.toml", "sim:tiny"])).contains(refused));
}

#[test]
fn the_json_of_an_x_ray_has_no_control_characters_of_a_drive() {
    let bench = Bench::new();
    let profile = "../ssdgauge-sim/profiles/tiny.toml";
    let name = "./a\u{1b}[31m.toml";
    std::fs::copy(profile, bench.path(name)).unwrap();
    let target = format!("sim:{name}");
    let json = bench.print(&["xray", &target, "--gentle", "--only=page-read", "--json"]);
    let card: serde_json::Value = serde_json::from_str(&json).unwrap();
    let shown = card["target"].as_str().unwrap();
    assert!(shown.contains("31m.toml") && !shown.contains('\u{1b}'), "{shown:?}");
    assert!(!json.contains("\\u001b"), "{json}");
}

#[test]
fn a_folder_with_the_name_of_a_suite_is_not_in_its_place() {
    let bench = Bench::new();
    std::fs::create_dir(bench.path("cache-fill")).unwrap();
    assert!(bench.print(&["plan", "cache-fill", "sim:tiny"]).contains("cache-fill"));
}
