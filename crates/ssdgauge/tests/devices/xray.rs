//! `ssdgauge xray`: the card, its plan, what is only read, and what is refused.

use crate::support::{Bench, Loop, signal, text, unfolded};
use serde_json::Value;
use std::io::{BufRead, BufReader};
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::process::Stdio;

const DRIVE: &str = "sim:tlc-client?capacity=8GB&slc.fixed_gb=25&slc.dynamic_gb=0";

fn json(bytes: &[u8]) -> Value {
    serde_json::from_slice(bytes).unwrap()
}

fn structure<'a>(card: &'a Value, key: &str) -> &'a Value {
    let list = card["structures"].as_array().unwrap();
    list.iter().find(|one| one["structure"] == key).unwrap()
}

#[test]
fn a_card_has_a_value_with_its_interval_or_a_reason_for_each_structure() {
    let bench = Bench::new();
    let only = "--only=command,units,cache,overflow";
    let output = bench.call(&["xray", DRIVE, only, "--json", "--out", "a.ssdg"]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    let card = json(&output.stdout);
    crate::schema::check("xray.json", &card);
    assert_eq!((&card["is_model"], &card["is_complete"]), (&true.into(), &true.into()));
    for (key, truth) in [("link", 3_400.0), ("command", 2.6), ("units", 16.0), ("cache", 0.4e9)] {
        let found = structure(&card, key);
        let end = |at: usize| found["interval"][at].as_f64().unwrap();
        assert!(end(0) <= truth && truth <= end(1), "{found}");
        assert!(found["method"].is_string() && found["source"].is_string(), "{found}");
    }
    assert!(structure(&card, "overflow")["not_identifiable"].is_string(), "{card:#}");
    // The run file alone gives the same card.
    let again = bench.print(&["report", "a.ssdg", "--json"]);
    assert_eq!(json(again.as_bytes()), card);
    let refused = bench.call(&["report", "a.ssdg", "--csv"]);
    assert_eq!(refused.status.code(), Some(2), "{}", text(&refused.stderr));
    assert!(unfolded(&text(&refused.stderr)).contains("is an X-ray, which has no CSV"));
    // The name of a card was that of --out before.
    let card = bench.call(&["xray", DRIVE, only, "--out", "card.json"]);
    assert_eq!(card.status.code(), Some(2), "{}", text(&card.stderr));
    assert!(unfolded(&text(&card.stderr)).contains("--json"));
    // A name that exists is kept.
    let again = bench.call(&["xray", DRIVE, only, "--out", "a.ssdg"]);
    assert_eq!(again.status.code(), Some(3), "{}", text(&again.stderr));
    let shown = bench.call(&["xray", DRIVE, "--only=command"]);
    assert!(text(&shown.stdout).contains("MODEL"), "{}", text(&shown.stdout));
}

#[test]
fn the_steady_state_adds_its_structures_to_card_page_and_picture() {
    let bench = Bench::new();
    let drive = format!("{DRIVE}&effects.media_counter_kib=4");
    let only = ["xray", &drive, "--steady", "--only=separation"];
    let files = ["--json", "--page=a.html", "--picture=a.svg"];
    let output = bench.call(&[&only[..], &files].concat());
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    let read = |name: &str| std::fs::read_to_string(bench.path(name)).unwrap();
    let (card, page, picture) = (json(&output.stdout), read("a.html"), read("a.svg"));
    let spare = structure(&card, "effective-spare");
    let value = spare["value"].as_f64().unwrap();
    assert!((3.0..20.0).contains(&value) && spare["unit"] == "percent", "{spare}");
    let reason = structure(&card, "separation")["not_identifiable"].as_str().unwrap();
    assert!(reason.contains("a fast cache may take the hot writes"), "{reason}");
    for words in ["Effective spare", "Hot/cold separation", "zones 90/10"] {
        assert!(page.contains(words), "{words}");
    }
    assert!(picture.contains("Effective spare") && picture.contains(&format!("{value:.1}")));
    let without = bench.call(&["xray", DRIVE, "--only=link", "--picture=b.svg"]);
    assert_eq!(without.status.code(), Some(0), "{}", text(&without.stderr));
    assert!(!read("b.svg").contains("Effective spare"), "not looked for, and not drawn");
}

/// Returns what `xray` prints for the value and the interval of an answer of a card.
fn words_of(answer: &Value) -> Vec<String> {
    let Some(value) = answer["value"].as_f64() else {
        return vec![answer["not_identifiable"].as_str().unwrap().to_owned()];
    };
    match answer["unit"].as_str().unwrap() {
        "us" => vec![format!("{value:.2}\u{a0}µs")],
        "count" => vec![format!("{value:.0}")],
        "MB/s" => {
            let digits = format!("{value:.0}");
            let (thousands, rest) = digits.split_at(digits.len().saturating_sub(3));
            let comma = if thousands.is_empty() { "" } else { "," };
            vec![format!("{thousands}{comma}{rest}\u{a0}MB/s")]
        }
        // Bytes have units of their own; yes and no are words of every page.
        _ => Vec::new(),
    }
}

#[test]
fn a_page_and_a_picture_show_the_values_of_the_card_and_an_old_card_gives_the_same_page() {
    let bench = Bench::new();
    let only = "--only=command,units,native-rate,overflow";
    let files = ["--out=a.ssdg", "--json", "--page=a.html", "--picture=a.svg"];
    let output = bench.call(&[&["xray", DRIVE, only][..], &files].concat());
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    std::fs::write(bench.path("card.json"), &output.stdout).unwrap();
    let read = |name: &str| std::fs::read_to_string(bench.path(name)).unwrap();
    let (card, page, picture) = (json(&output.stdout), read("a.html"), read("a.svg"));
    let mut found = 0;
    for answer in card["structures"].as_array().unwrap() {
        for words in words_of(answer) {
            found += 1;
            assert!(page.contains(&words), "{words} of {answer}");
        }
    }
    assert!(found >= 5, "{card:#}");
    for words in ["MODEL", "Not identifiable, ", "<svg", "prefers-color-scheme:dark"] {
        assert!(page.contains(words), "{words}");
    }
    assert!(!page.contains("<script") && !page.contains("http://"), "self-contained");
    assert!(picture.contains("MODEL") && picture.contains("16"), "{picture}");
    let series = card["series"].as_array().unwrap();
    let points = |one: &Value| one["points"].as_array().unwrap().len();
    assert!(series.len() >= 6 && series.iter().all(|one| (1..=400).contains(&points(one))));
    bench.print(&["report", "a.ssdg", "-o", "c.html"]);
    assert_eq!(read("c.html"), page);
    // A card of an earlier version is enough; the name of a page that ssdgauge wrote can be used again.
    let again = ["xray", "--from=card.json", "--page=b.html", "--picture=b.png"];
    for _ in 0..2 {
        let output = bench.call(&again);
        assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
        assert!(text(&output.stdout).starts_with("X-ray of "), "{}", text(&output.stdout));
    }
    assert_eq!(read("b.html"), page);
    assert_eq!(&std::fs::read(bench.path("b.png")).unwrap()[1..4], b"PNG");
}

#[test]
fn a_bad_card_or_a_file_that_must_not_be_written_is_refused_with_its_place() {
    let bench = Bench::new();
    let card = |series: &str, value: &str| {
        format!(
            "{{\"format\": \"ssdgauge-xray\", \"version\": 1, \"drive\": \"d\", \"is_model\": false,\n\
             \"capacity_bytes\": 1, \"is_complete\": true, \"structures\": [{{\"structure\": \"link\",\n\
             \"unit\": \"MB/s\", \"value\": {value}, \"interval\": [1, 9]}}], \"series\": [{series}]}}"
        )
    };
    let bad = "{\"structure\": \"link\", \"line\": \"1 MiB\", \"points\": [[1, 2]]}";
    let many = vec!["[1, 2]"; 401].join(", ");
    let long = format!("{{\"structure\": \"link\", \"line\": \"128 KiB\", \"points\": [{many}]}}");
    std::fs::write(bench.path("theirs.html"), "theirs").unwrap();
    std::fs::write(bench.path("good.json"), card("", "2")).unwrap();
    for (name, contents) in [
        ("cut.json", card("", "2").split_at(60).0.to_owned()),
        ("value.json", card("", "12")),
        ("line.json", card(bad, "2")),
        ("long.json", card(&long, "2")),
    ] {
        std::fs::write(bench.path(name), contents).unwrap();
    }
    for (line, code, words) in [
        (&["--from=cut.json", "--page=a.html"][..], 2, "cut.json is not an X-ray result: EOF"),
        (&["--from=value.json", "--page=a.html"], 2, "'link' has neither"),
        (&["--from=line.json", "--page=a.html"], 2, "the series of 'link'"),
        (&["--from=long.json", "--page=a.html"], 2, "more than 400 points"),
        (&["--from=none.json", "--page=a.html"], 2, "none.json"),
        (&["--from=good.json", "--page=theirs.html"], 3, "theirs.html"),
        (&["--from=good.json", "--page=good.json"], 3, "good.json"),
        (&["--from=good.json", "--picture=a.jpg"], 2, "neither an .svg nor a .png"),
        (&["--from=good.json", "--page=none/a.html"], 2, "folder none does not exist"),
        (&["--from=good.json", "--json"], 2, "cannot be used with"),
        (&[DRIVE, "--out=a.ssdg", "--page=/tmp/a.html"], 2, "in one folder"),
        (&[DRIVE, "--page=/tmp/a.html"], 2, "in one folder"),
    ] {
        let output = bench.call(&[&["xray"], line].concat());
        let shown = unfolded(&text(&output.stderr));
        assert_eq!(output.status.code(), Some(code), "{line:?}: {shown}");
        assert!(shown.contains(words) && shown.contains("hint"), "{line:?}: {shown}");
        assert!(!bench.path("a.html").exists() && !bench.path("a.ssdg").exists(), "{line:?}");
    }
    assert_eq!(std::fs::read(bench.path("theirs.html")).unwrap(), b"theirs");
}

#[test]
fn a_plan_states_bytes_and_time_and_does_nothing() {
    let bench = Bench::new();
    let bytes = |one: &Value| one["writes_at_most_bytes"].as_u64().unwrap();
    let most = |more: &[&str]| {
        let output = bench.call(&[&["xray", DRIVE, "--plan", "--json"], more].concat());
        let plan = json(&output.stdout);
        plan["experiments"].as_array().unwrap().iter().map(bytes).sum::<u64>()
    };
    let (usual, spare) = (most(&[]), most(&["--only=spare"]));
    assert!((4_000_000_000..17_500_000_000).contains(&usual), "{usual}");
    assert!(spare > 11_000_000_000, "{spare}");
    // A fill, and three drive writes each of uniform writes and of those to zones.
    let steady = most(&["--steady"]);
    assert!((steady - usual).abs_diff(56_000_000_000) < 100_000_000, "{steady} {usual}");
    let gentle = bench.call(&["xray", DRIVE, "--plan", "--gentle", "--json"]);
    let gentle = json(&gentle.stdout);
    assert!(gentle["experiments"].as_array().unwrap().iter().all(|one| bytes(one) == 0));
}

#[test]
fn a_file_is_only_read_with_gentle_and_nothing_of_it_changes() {
    let bench = Bench::new();
    let file = bench.path("image");
    std::fs::File::create(&file).and_then(|file| file.set_len(256 << 20)).unwrap();
    let name = file.display().to_string();
    let before = state(&file);
    let output = bench.call(&["xray", &name, "--gentle", "--only=page-read", "--json"]);
    match output.status.code() {
        Some(0) => {
            let card = json(&output.stdout);
            assert_eq!(card["written_bytes"], 0);
            assert!(card["read_bytes"].as_u64().unwrap() > 0);
        }
        // The folder has no O_DIRECT.
        code => assert_eq!(code, Some(3), "{}", text(&output.stderr)),
    }
    assert_eq!(state(&file), before);
}

/// Returns when the file was changed last, and the blocks that it occupies.
fn state(file: &Path) -> (std::time::SystemTime, u64) {
    let facts = file.metadata().unwrap();
    (facts.modified().unwrap(), facts.blocks())
}

#[test]
fn two_cards_are_compared_by_their_intervals_and_a_file_that_is_not_a_card_is_refused() {
    let bench = Bench::new();
    for (name, figures, seed) in [("a", "", "1"), ("b", "", "2"), ("c", "&nand.dies=8", "1")] {
        let drive = format!("{DRIVE}{figures}");
        let out = format!("{name}.ssdg");
        let line = ["xray", &drive, "--only=chunk", "--seed", seed, "--out", &out];
        let output = bench.call(&line);
        assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
        let card = bench.print(&["report", &out, "--json"]);
        std::fs::write(bench.path(&format!("{name}.json")), card).unwrap();
    }
    // Run files and cards of earlier versions alike.
    for line in [
        &["xray", "--compare", "a.ssdg", "b.json", "--json"][..],
        &["compare", "a.ssdg", "b.ssdg", "--json"],
    ] {
        let same = bench.call(line);
        assert_eq!(same.status.code(), Some(0), "{line:?}: {}", text(&same.stderr));
        let compared = json(&same.stdout);
        crate::schema::check("xray-compare.json", &compared);
        assert_eq!(structure(&compared, "units")["likeness"], "same", "{line:?}");
    }
    bench.print(&["quick", "sim:tiny", "--shorten", "50", "--out", "quick.ssdg"]);
    for line in [["compare", "a.ssdg", "quick.ssdg"], ["compare", "quick.ssdg", "a.ssdg"]] {
        let refused = bench.call(&line);
        assert_eq!(refused.status.code(), Some(2), "{}", text(&refused.stderr));
        assert!(text(&refused.stderr).contains("another X-ray"), "{}", text(&refused.stderr));
    }
    let same = bench.call(&["xray", "--compare", "a.json", "b.json", "--json"]);
    assert_eq!(same.status.code(), Some(0), "{}", text(&same.stderr));
    let same = json(&same.stdout);
    assert_eq!(structure(&same, "units")["likeness"], "same", "{same:#}");
    let other = bench.call(&["xray", "--compare", "a.json", "c.json", "--page", "both.html"]);
    assert_eq!(other.status.code(), Some(4), "{}", text(&other.stderr));
    let shown = text(&other.stdout);
    assert!(shown.starts_with("not the same inside: parallel units"), "{shown}");
    assert!(shown.contains("MODEL"), "{shown}");
    // The page is written although the drives are not the same.
    let page = std::fs::read_to_string(bench.path("both.html")).unwrap();
    for words in ["Not the same inside: parallel units", "Parallel units, differs", "MODEL"] {
        assert!(page.contains(words), "{words}");
    }
    assert!(!page.contains("Page read, differs"), "what is the same is not marked");
    // Cards of other conditions accuse nobody, whatever their values are.
    let card = json(&std::fs::read(bench.path("c.json")).unwrap());
    for (key, value, reason) in [
        ("is_complete", false.into(), "the X-ray of B is incomplete"),
        ("capacity_bytes", 64_000_000_000u64.into(), "differ (8.00 GB and 64.0 GB)"),
        ("capacity_bytes", 8_000_000_512u64.into(), "8.00 GB (8,000,000,512 bytes)"),
        ("is_model", false.into(), "one drive is virtual (MODEL), the other is real"),
    ] {
        let changed: Value = Value::Object(
            card.as_object().unwrap().clone().into_iter().chain([(key.into(), value)]).collect(),
        );
        std::fs::write(bench.path("d.json"), changed.to_string()).unwrap();
        let output = bench.call(&["xray", "--compare", "a.json", "d.json"]);
        assert_eq!(output.status.code(), Some(75), "{key}: {}", text(&output.stderr));
        let shown = unfolded(&text(&output.stdout));
        assert!(shown.starts_with("not comparable: ") && shown.contains(reason), "{shown}");
        let said = unfolded(&text(&output.stderr));
        let hint = match key {
            "is_complete" => "continue with `ssdgauge resume` and the run file of d.json",
            _ => "compare drives of one capacity, both real or both virtual",
        };
        assert!(said.contains(reason) && said.contains(hint), "{said}");
        let output = bench.call(&["xray", "--compare", "a.json", "d.json", "--json"]);
        let shown = json(&output.stdout);
        assert!(shown["warnings"][0].as_str().unwrap().contains(reason), "{shown}");
    }
    std::fs::write(bench.path("other.json"), "{\"format\": \"x\"}").unwrap();
    for (line, word) in [
        (&["xray", "--compare", "a.json", "other.json"][..], "is not an X-ray result"),
        (&["xray", "--compare", "a.json", "missing.json"], "missing.json"),
        (&["xray", DRIVE, "--compare", "a.json", "b.json"], "cannot be used with"),
        (&["xray"], "no <TARGET> is given"),
    ] {
        let output = bench.call(line);
        let shown = text(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{line:?}: {shown}");
        assert!(shown.contains(word), "{line:?}: {shown}");
    }
}

#[test]
fn stated_figures_agree_or_are_contradicted_and_the_exit_code_says_so() {
    let bench = Bench::new();
    for (figures, code, judgement) in [
        ("units = 16\ncache = \"42 GB\"", 0, ["agrees", "not-decided"]),
        ("units = 8\ncache = \"42 GB\"", 4, ["contradicted", "not-decided"]),
    ] {
        std::fs::write(bench.path("sheet.toml"), format!("[stated]\n{figures}\n")).unwrap();
        let line = ["xray", DRIVE, "--only=units", "--spec", "sheet.toml", "--json"];
        let output = bench.call(&line);
        assert_eq!(output.status.code(), Some(code), "{}", text(&output.stderr));
        let card = json(&output.stdout);
        crate::schema::check("xray.json", &card);
        let judged = card["stated"].as_array().unwrap().iter().map(|one| &one["judgement"]);
        assert_eq!(judged.collect::<Vec<_>>(), judgement, "{card:#}");
    }
    std::fs::write(bench.path("sheet.toml"), "[stated]\ncash = 3\n").unwrap();
    let refused = bench.call(&["xray", DRIVE, "--spec", "sheet.toml"]);
    assert_eq!(refused.status.code(), Some(2));
    let shown = unfolded(&text(&refused.stderr));
    assert!(shown.contains("unknown structure 'cash'"), "{shown}");
    assert!(shown.contains("use one of link, command"), "{shown}");
    for (figures, words) in [
        ("", "[stated] is empty"),
        ("link = -5", "'link' is not a number in MB/s"),
        ("units = 1.5", "'units' is not a number in count, a whole number"),
        ("suspend = { at_least = true }", "'suspend' is not a number in yes-no: use true or false"),
    ] {
        std::fs::write(bench.path("sheet.toml"), format!("[stated]\n{figures}\n")).unwrap();
        let refused = bench.call(&["xray", DRIVE, "--spec", "sheet.toml"]);
        assert_eq!(refused.status.code(), Some(2), "{figures}");
        let shown = unfolded(&text(&refused.stderr));
        assert!(shown.contains(words), "{figures}: {shown}");
    }
}

/// A drive of the minimum size, its consent, and the writes that the kernel has completed on it.
fn loop_device(bench: &Bench) -> Option<(Loop, String)> {
    let device = Loop::attach(bench.folder.path(), 256 << 20)?;
    let consent = format!("{}:{}", device.name(), 256 << 20);
    Some((device, consent))
}

#[test]
fn a_block_device_is_refused_unconfirmed_is_only_read_with_gentle_and_answers_or_refuses_in_words()
{
    let bench = Bench::new();
    let Some((device, consent)) = loop_device(&bench) else { return };
    let before = device.writes();
    let refused = bench.call(&["xray", &device.path]);
    let stderr = text(&refused.stderr);
    assert_eq!(refused.status.code(), Some(3), "{stderr}");
    assert!(stderr.contains("nothing was written"), "{stderr}");
    let gentle = bench.call(&["xray", &device.path, "--gentle", "--only=page-read", "--json"]);
    assert_eq!(gentle.status.code(), Some(0), "{}", text(&gentle.stderr));
    let gentle = json(&gentle.stdout);
    assert_eq!(gentle["written_bytes"], 0);
    assert_eq!(device.writes(), before);
    let line = ["xray", &device.path, "--confirm", &consent, "--confined", &consent];
    let files = ["--only=page-read", "--json", "--page=a.html", "--picture=a.png"];
    let output = bench.call(&[&line[..], &files].concat());
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    let card = json(&output.stdout);
    // They are written after the privileges that the process has dropped.
    let page = std::fs::read_to_string(bench.path("a.html")).unwrap();
    assert!(page.contains("X-ray of ") && !page.contains("MODEL"), "{page}");
    assert!(bench.path("a.png").exists());
    assert_eq!((&card["is_complete"], &card["is_model"]), (&true.into(), &false.into()));
    assert_eq!(card["written_bytes"], 64 << 20);
    assert!(device.writes() > before);
    for card in [gentle, card] {
        for answer in card["structures"].as_array().unwrap() {
            let reason = answer["not_identifiable"].as_str().unwrap_or_default();
            assert!(answer["value"].is_number() || reason.len() > 10, "{answer}");
        }
    }
}

#[test]
fn an_interrupted_x_ray_prints_what_was_found_ends_with_75_and_is_resumed() {
    let bench = Bench::new();
    let Some((device, consent)) = loop_device(&bench) else { return };
    let line = ["xray", &device.path, "--confirm", &consent, "--confined", &consent];
    let more = ["--only=throttle", "--json", "--out=a.ssdg"];
    let mut command = bench.command(&[&line[..], &more].concat());
    let piped = command.stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut call = piped.spawn().unwrap();
    let mut lines = BufReader::new(call.stderr.take().unwrap()).lines();
    // A rest of two minutes begins.
    assert!(lines.any(|line| line.unwrap().contains("throttle points: rest")));
    signal(&call, "INT");
    let stderr: Vec<String> = lines.map(Result::unwrap).collect();
    let output = call.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(75), "{stderr:?}");
    let card = json(&output.stdout);
    assert_eq!((&card["is_complete"], &card["written_bytes"]), (&false.into(), &(64 << 20).into()));
    let reason = structure(&card, "throttle")["not_identifiable"].as_str().unwrap();
    assert!(reason.contains("ended before"), "{reason}");
    // It goes on in the same file; nobody waits for its end here.
    let again = ["resume", "a.ssdg", "--confirm", &consent, "--confined", &consent, "--json"];
    let mut command = bench.command(&again);
    let mut call = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(call.stderr.take().unwrap()).lines();
    assert!(lines.any(|line| line.unwrap().contains("throttle points: rest")));
    signal(&call, "INT");
    let stderr: Vec<String> = lines.map(Result::unwrap).collect();
    let output = call.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(75), "{stderr:?}");
    assert_eq!(json(&output.stdout)["written_bytes"], 128 << 20, "both parts count");
    let watched = bench.call(&["watch", "a.ssdg"]);
    let watched = text(&watched.stdout) + &text(&watched.stderr);
    assert!(watched.contains("heating reads without a pause"), "{watched}");
}

#[test]
fn an_interrupted_x_ray_of_a_folder_says_how_to_begin_again() {
    let bench = Bench::new();
    std::fs::create_dir(bench.path("data")).unwrap();
    let line = ["xray", "data", "--size=256MiB", "--only=throttle", "--out=a.ssdg"];
    let mut command = bench.command(&line);
    let mut call = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(call.stderr.take().unwrap()).lines();
    assert!(lines.any(|line| line.unwrap().contains("throttle points: rest")));
    signal(&call, "INT");
    let stderr: Vec<String> = lines.map(Result::unwrap).collect();
    assert_eq!(call.wait().unwrap().code(), Some(75), "{stderr:?}");
    // Its scratch file has no name, and nothing can find it again.
    let hint = unfolded(&stderr.join("\n"));
    assert!(hint.contains("begin again with `ssdgauge xray"), "{hint}");
    assert_eq!(bench.call(&["resume", "a.ssdg"]).status.code(), Some(3));
}

#[test]
fn what_cannot_be_looked_into_is_refused_with_a_hint() {
    let bench = Bench::new();
    for (arguments, code, word) in [
        (&["xray", "null:"][..], 2, "not a drive"),
        (&["xray", DRIVE, "--only=cash"], 2, "cache"),
        (&["xray", DRIVE, "--size=1GiB"], 2, "--size"),
        (&["xray", DRIVE, "--only=separation"], 2, "add --steady"),
        (&["xray", DRIVE, "--only=cache", "--steady"], 2, "effective-spare or separation"),
        (&["xray", DRIVE, "--gentle", "--steady"], 2, "cannot be used with"),
        (&["xray", "sim:tiny?capacity=100MB"], 3, "needs"),
    ] {
        let output = bench.call(arguments);
        let shown = text(&output.stderr);
        assert_eq!(output.status.code(), Some(code), "{arguments:?}: {shown}");
        assert!(shown.contains(word) && shown.contains("hint:"), "{shown}");
    }
}
