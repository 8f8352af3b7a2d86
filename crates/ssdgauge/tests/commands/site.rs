//! `ssdgauge site`: what it writes again, what it leaves alone, and what it refuses.

use crate::support::{Bench, text};
use serde_json::{Value, json};
use ssdgauge_runfile::{Opening, RunFile, StepEnd, Writer};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Runs of three virtual drives, shortened.
fn bench() -> Bench {
    let bench = Bench::new();
    std::fs::create_dir(bench.path("runs")).unwrap();
    for (name, drive) in
        [("a", "sim:tiny"), ("b", "sim:tiny?capacity=128MB"), ("c", "sim:tiny?capacity=160MB")]
    {
        bench.print(&["quick", drive, "--shorten", "10", "-o", &format!("runs/{name}.ssdg")]);
    }
    bench
}

/// Returns the files below `folder` with their contents.
pub(crate) fn contents(folder: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut found = BTreeMap::new();
    let mut open = vec![folder.to_owned()];
    while let Some(one) = open.pop() {
        for entry in std::fs::read_dir(one).unwrap() {
            let path = entry.unwrap().path();
            match path.is_dir() {
                true => open.push(path),
                false => {
                    found.insert(
                        path.strip_prefix(folder).unwrap().to_owned(),
                        std::fs::read(&path).unwrap(),
                    );
                }
            }
        }
    }
    found
}

#[test]
fn a_site_is_renewed_where_its_runs_changed_and_equals_one_from_nothing() {
    let bench = bench();
    let site = |folder: &str| {
        let output = bench.call(&["site", "runs", "-o", folder]);
        assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
        text(&output.stderr)
    };
    assert!(site("one").contains("3 drives, 3 runs: "));
    assert!(site("one").contains(": 0 files and 0 reports written"), "nothing has changed");
    // A further run of one drive, and one drive less.
    bench.print(&["quick", "sim:tiny", "--shorten", "10", "--seed", "7", "-o", "runs/d.ssdg"]);
    std::fs::remove_file(bench.path("runs/c.ssdg")).unwrap();
    assert!(site("one").contains("2 drives, 3 runs: "));
    assert!(site("two").contains(" 2 reports written"));
    let (one, two) = (contents(&bench.path("one")), contents(&bench.path("two")));
    assert_eq!(one.keys().collect::<Vec<_>>(), two.keys().collect::<Vec<_>>());
    let differing: Vec<&PathBuf> =
        one.iter().filter(|(name, bytes)| two[*name] != **bytes).map(|(name, _)| name).collect();
    assert_eq!(differing, Vec::<&PathBuf>::new());
    // A copy of a run counts once.
    std::fs::copy(bench.path("runs/a.ssdg"), bench.path("runs/z.ssdg")).unwrap();
    assert!(site("one").contains("2 drives, 3 runs: 0 files"));

    // Each document has the keys of its schema and no others.
    let schema: Value = serde_json::from_slice(&one[Path::new("schema.json")]).unwrap();
    let documents: Vec<&PathBuf> = one
        .keys()
        .filter(|name| {
            name.starts_with("drives") && name.extension().is_some_and(|kind| kind == "json")
        })
        .collect();
    assert_eq!(documents.len(), 2);
    for name in documents {
        let document: Value = serde_json::from_slice(&one[name]).unwrap();
        check(&schema, &document);
        assert!(document["results"].as_array().unwrap().len() >= 4, "{document}");
    }
    let feed = String::from_utf8(one[Path::new("feed.xml")].clone()).unwrap();
    assert_eq!(feed.matches("<entry>").count(), 3, "{feed}");
    assert!(feed.contains("MODEL, SHORTENED to 1/10"), "{feed}");
}

/// Checks keys and types of `value` by `schema`, as far as ours uses JSON Schema.
fn check(schema: &Value, value: &Value) {
    let is_of = |kind: &str| match kind {
        "object" => value.is_object(),
        "array" => value.is_array(),
        "string" => value.is_string(),
        "boolean" => value.is_boolean(),
        "integer" => value.is_i64() || value.is_u64(),
        "number" => value.is_number(),
        "null" => value.is_null(),
        other => panic!("{other}"),
    };
    match &schema["type"] {
        Value::String(kind) => assert!(is_of(kind), "{value} is not {kind}"),
        Value::Array(kinds) => {
            assert!(kinds.iter().any(|kind| is_of(kind.as_str().unwrap())), "{value}")
        }
        _ => assert_eq!(&schema["const"], value),
    }
    if let (Some(properties), Some(object)) = (schema["properties"].as_object(), value.as_object())
    {
        let required: Vec<&str> = schema["required"]
            .as_array()
            .unwrap()
            .iter()
            .map(|key| key.as_str().unwrap())
            .collect();
        let mut keys: Vec<&str> = object.keys().map(String::as_str).collect();
        let mut named = required.clone();
        keys.sort_unstable();
        named.sort_unstable();
        assert_eq!(keys, named);
        object.iter().for_each(|(key, value)| check(&properties[key], value));
    }
    if let (true, Some(values)) = (schema["items"].is_object(), value.as_array()) {
        values.iter().for_each(|value| check(&schema["items"], value));
    }
}

#[test]
fn a_drive_has_the_page_of_its_x_ray_and_the_price_of_the_notes() {
    let bench = Bench::new();
    std::fs::create_dir(bench.path("runs")).unwrap();
    bench.print(&["quick", "sim:tiny", "--shorten", "10", "-o", "runs/a.ssdg"]);
    bench.print(&["xray", "sim:tiny", "--only", "units", "-o", "runs/x.ssdg"]);
    let notes = |name: &str| {
        let text =
            format!("+++\ncurrency = \"€\"\n[[drive]]\nname = \"{name}\"\nprice = 30\n+++\n");
        std::fs::write(bench.path("notes.md"), text).unwrap();
    };
    let site = || bench.call(&["site", "runs", "-o", "site", "--notes", "notes.md"]);
    notes("other");
    let refused = site();
    assert_eq!(refused.status.code(), Some(2), "{}", text(&refused.stderr));
    assert!(text(&refused.stderr).contains("'other' matches no drive"));
    assert!(!bench.path("site").exists(), "nothing is written");
    notes("tiny");
    let output = site();
    assert!(
        text(&output.stderr).contains("1 drive, 2 runs: ")
            && text(&output.stderr).contains("2 reports written")
    );
    let read = |name: &str| std::fs::read_to_string(bench.path("site").join(name)).unwrap();
    // Everyday work is a small random read, not the large ones that `quick` begins with.
    let index = read("index.html");
    let everyday = index.split("<span class=\"sort\">Everyday</span>").nth(1).unwrap();
    assert!(
        everyday.split("</a>").next().unwrap().ends_with("Random read, 4\u{a0}KiB"),
        "{everyday}"
    );
    let name = "drives/model-tiny-1gb";
    let page = read(&format!("{name}.html"));
    assert!(page.contains("href=\"model-tiny-1gb-xray.html\">X-ray</a>"), "{page}");
    assert!(page.contains("30\u{a0}€</b>") && page.contains("href=\"model-tiny-1gb-report.html\""));
    assert!(read(&format!("{name}-xray.html")).contains("Cross-section of the drive"));
    let document: Value = serde_json::from_str(&read(&format!("{name}.json"))).unwrap();
    assert_eq!((&document["price"], &document["currency"]), (&json!(30.0), &json!("€")));
    assert!(document["runs"][1]["xray"].is_string(), "{}", document["runs"]);
    assert!(
        text(&site().stderr).contains(": 0 files and 0 reports written"),
        "the X-ray is read once"
    );
}

/// Writes the X-ray of `from` to `to` as a version would that asks other questions.
fn write_other_xray(from: &Path, to: &Path) {
    let run = RunFile::open(from).unwrap();
    let head = run.head().clone();
    let properties = run.properties().unwrap().into_iter().filter(|one| one.step.is_none());
    let properties: Vec<_> = properties.map(|one| (one.key, one.value)).collect();
    let opening = Opening {
        id: "other",
        program: &head.program,
        unix_ms: head.started_unix_ms,
        plan: &head.plan,
        drive: &head.drive,
        environment: &[],
        properties: &properties,
    };
    let mut writer = Writer::create(to, &opening).unwrap();
    let step = run.steps().unwrap().remove(0);
    let begun = writer.begin_step(step.place, 1, &head.plan, step.started_unix_ms).unwrap();
    let mut answers = Vec::new();
    run.answers(|of, answer| answers.extend((of == step.id).then_some(answer))).unwrap();
    for mut answer in answers {
        answer.asked.push(' ');
        writer.answer(begun, &answer).unwrap();
    }
    let end = StepEnd {
        state: step.state,
        unix_ms: step.ended_unix_ms.unwrap(),
        elapsed: step.elapsed.unwrap(),
        ended_by: step.ended_by.unwrap(),
        report: step.report.unwrap(),
    };
    writer.finish_step(begun, &end).unwrap();
    writer.commit().unwrap();
}

#[test]
fn an_x_ray_of_another_version_is_named_and_its_answers_are_left_out() {
    let bench = Bench::new();
    std::fs::create_dir(bench.path("runs")).unwrap();
    bench.print(&["quick", "sim:tiny", "--shorten", "10", "-o", "runs/a.ssdg"]);
    bench.print(&["xray", "sim:tiny", "--only", "units", "-o", "x.ssdg"]);
    write_other_xray(&bench.path("x.ssdg"), &bench.path("runs/other.ssdg"));
    let refused = bench.call(&["report", "runs/other.ssdg"]);
    assert_eq!(refused.status.code(), Some(3), "{}", text(&refused.stderr));
    let output = bench.call(&["site", "runs", "-o", "site"]);
    let said = text(&output.stderr);
    assert!(output.status.success(), "{said}");
    assert_eq!(said.matches("other.ssdg is an X-ray of another version of ssdgauge").count(), 1);
    assert!(said.contains("1 drive, 2 runs: ") && said.contains("1 report written"), "{said}");
    let page = std::fs::read_to_string(bench.path("site/drives/model-tiny-1gb.html")).unwrap();
    assert!(page.contains("of another version of ssdgauge, not shown"), "{page}");
    assert!(
        page.contains("model-tiny-1gb-report.html") && !page.contains("model-tiny-1gb-xray.html")
    );
    let again = bench.call(&["site", "runs", "-o", "site"]);
    assert!(text(&again.stderr).contains(": 0 files and 0 reports written"));
}

#[test]
fn a_site_replaces_no_file_of_others_and_states_runs_that_it_cannot_read() {
    let bench = bench();
    std::fs::create_dir(bench.path("own")).unwrap();
    std::fs::write(bench.path("own/index.html"), "<p>mine").unwrap();
    let output = bench.call(&["site", "runs", "-o", "own"]);
    assert_eq!(output.status.code(), Some(3), "{}", text(&output.stderr));
    assert_eq!(std::fs::read(bench.path("own/index.html")).unwrap(), b"<p>mine");
    std::fs::write(bench.path("runs/broken.ssdg"), "no run").unwrap();
    let output = bench.call(&["site", "runs", "-o", "site"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(text(&output.stderr).contains("1 of 4 files could not be read or was refused"));
    assert!(bench.path("site/index.html").exists(), "the site has the others");
    std::fs::write(bench.path("site/drives/notes.txt"), "mine").unwrap();
    bench.call(&["site", "runs/a.ssdg", "-o", "site"]);
    assert!(bench.path("site/drives/notes.txt").exists());
    assert_eq!(std::fs::read_dir(bench.path("site/drives")).unwrap().count(), 1 + 3);
}

#[test]
fn a_submission_has_nothing_of_its_owner_and_one_that_contradicts_its_run_is_refused() {
    let bench = Bench::new();
    let run =
        ["quick", "sim:like-970-evo-500gb?capacity=64GB", "--label", "my shelf", "-o", "a.ssdg"];
    bench.print(&run);
    let submit = |options: &[&str]| {
        let words: Vec<&str> =
            ["submit", "a.ssdg", "-o", "sent"].into_iter().chain(options.iter().copied()).collect();
        bench.call(&words)
    };
    let asked = submit(&[]);
    assert_eq!(asked.status.code(), Some(3), "{}", text(&asked.stderr));
    assert!(!bench.path("sent").exists(), "it was only shown");
    let written = submit(&["--yes", "--secret", "secret"]);
    assert_eq!(written.status.code(), Some(0), "{}", text(&written.stderr));
    let (name, bytes) = contents(&bench.path("sent")).into_iter().next().unwrap();
    let sent = String::from_utf8(bytes).unwrap();
    assert!(text(&written.stdout).contains(sent.trim()), "all of it was shown");
    let show: Value = serde_json::from_str(&bench.print(&["report", "a.ssdg", "--json"])).unwrap();
    let drive = show["runs"][0]["drive"].clone();
    let serial = drive["serial"].as_str().unwrap();
    let host = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap();
    let boot = std::fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap();
    for word in
        [serial, "my shelf", host.trim(), boot.trim(), bench.folder.path().to_str().unwrap()]
    {
        assert!(!sent.contains(word), "{word}");
    }
    // The hash depends on the secret, which is the same the next time.
    let unit = |text: &str| {
        serde_json::from_str::<Value>(text).unwrap()["unit"].as_str().map(str::to_owned)
    };
    let own = unit(&sent).unwrap();
    let path = bench.path("sent").join(&name);
    let again = |secret: &str| {
        assert!(submit(&["--yes", "--secret", secret]).status.success());
        unit(&std::fs::read_to_string(&path).unwrap())
    };
    assert_eq!(again("secret"), Some(own.clone()));
    assert_ne!(again("other"), Some(own));
    assert_eq!(std::fs::read(bench.path("secret")).unwrap().len(), 32);

    // A site of submissions only, and one with the run itself.
    let site = |sources: &[&str], folder: &str| {
        let words: Vec<&str> =
            ["site"].iter().chain(sources).copied().chain(["-o", folder]).collect();
        bench.call(&words)
    };
    assert_eq!(site(&["sent"], "alone").status.code(), Some(0));
    let pages = contents(&bench.path("alone"));
    let page = pages
        .iter()
        .find(|(name, _)| {
            name.starts_with("drives") && name.extension().is_some_and(|kind| kind == "html")
        })
        .unwrap()
        .1;
    let page = String::from_utf8(page.clone()).unwrap();
    assert!(page.contains("submitted without samples") && !page.contains("-report.html"));
    assert_eq!(site(&["sent", "a.ssdg"], "both").status.code(), Some(0));
    let sent = std::fs::read_to_string(&path).unwrap();
    let document: Value = serde_json::from_str(&sent).unwrap();
    // One without an interval, which any value would leave.
    let value = document["record"]["tests"][2]["headline"]["value"].to_string();
    let text_of = sent.replacen(&format!("\"value\":{value}"), "\"value\":1234567.0", 1);
    assert_ne!(text_of, sent);
    std::fs::write(&path, text_of).unwrap();
    let refused = site(&["sent", "a.ssdg"], "both");
    assert_eq!(refused.status.code(), Some(1), "{}", text(&refused.stderr));
    assert!(
        text(&refused.stderr).contains("refused: the samples of its run contradict it"),
        "{}",
        text(&refused.stderr)
    );
    assert_eq!(site(&["sent"], "alone").status.code(), Some(0), "without the run, nobody can tell");
}

#[test]
fn the_latency_of_reads_in_a_mix_is_a_result_with_the_numbers_of_the_report() {
    let (bench, ..) = bench_with_submission();
    let report: Value =
        serde_json::from_str(&bench.print(&["report", "a.ssdg", "--json"])).unwrap();
    let tests = report["runs"][0]["tests"].as_array().unwrap();
    let point = &tests.iter().find(|one| one["id"] == "mixed-70-30").unwrap()["points"][0];
    let interval = &point["intervals"]["read_lat_mean_us"];
    // From the run and from its submission.
    for source in ["a.ssdg", "sent"] {
        assert_eq!(
            bench.call(&["site", source, "-o", &format!("site-{source}")]).status.code(),
            Some(0)
        );
        let drives = contents(&bench.path(&format!("site-{source}")).join("drives"));
        let (_, text) =
            drives.iter().find(|(name, _)| name.extension().unwrap() == "json").unwrap();
        let drive: Value = serde_json::from_slice(text).unwrap();
        let results = drive["results"].as_array().unwrap();
        let own = results.iter().find(|one| one["test"] == "mixed-70-30.read-latency").unwrap();
        assert_eq!(own["metric"], "lat_mean_us");
        assert_eq!(own["interval_95"], json!([interval["low"], interval["high"]]));
        let value = own["value"].as_f64().unwrap();
        let reads = point["metrics"]["read_lat_mean_us"].as_f64().unwrap();
        assert!((value - reads).abs() < 1e-3 * reads, "{value} and {reads}");
    }
}

#[test]
fn runs_that_are_not_to_be_published_are_refused() {
    let bench = Bench::new();
    let run = bench.call(&["quick", "sim:tiny?fault.gone_at_s=5", "-o", "failed.ssdg"]);
    assert_ne!(run.status.code(), Some(0));
    let refused = bench.call(&["submit", "failed.ssdg", "-o", "sent", "--yes"]);
    assert_eq!(refused.status.code(), Some(3), "{}", text(&refused.stderr));
    assert!(text(&refused.stderr).contains("its outcome is `failed`"), "{}", text(&refused.stderr));
    assert!(!bench.path("sent").exists());
}

/// Returns a bench with a submission in `sent`, and the path and the text of it.
pub(crate) fn bench_with_submission() -> (Bench, PathBuf, String) {
    let bench = Bench::new();
    bench.print(&["quick", "sim:like-970-evo-500gb?capacity=64GB", "-o", "a.ssdg"]);
    bench.print(&["submit", "a.ssdg", "-o", "sent", "--yes"]);
    let name = contents(&bench.path("sent")).into_keys().next().unwrap();
    let path = bench.path("sent").join(name);
    let sent = std::fs::read_to_string(&path).unwrap();
    (bench, path, sent)
}

/// Puts something at a path.
type Make<'a> = &'a dyn Fn(&Path);

pub(crate) fn make_fifo(path: &Path) {
    assert!(std::process::Command::new("mkfifo").arg(path).status().unwrap().success());
}

#[test]
fn a_site_with_a_place_that_is_not_its_own_is_refused_before_the_first_file() {
    let (bench, ..) = bench_with_submission();
    std::fs::create_dir(bench.path("elsewhere")).unwrap();
    let foreign = |place: &Path| std::fs::write(place, "mine").unwrap();
    let link = |place: &Path| std::os::unix::fs::symlink(bench.path("elsewhere"), place).unwrap();
    let cases: [(&str, Make<'_>); 6] = [
        ("index.html", &foreign),
        ("data/site.js", &foreign),
        ("robots.txt", &make_fifo),
        ("drives", &link),
        ("tests", &foreign),
        ("../.site.ssdgauge-site", &make_fifo),
    ];
    for (name, make) in cases {
        let place = bench.path("site").join(name);
        std::fs::create_dir_all(bench.path("site")).unwrap();
        std::fs::create_dir_all(place.parent().unwrap()).unwrap();
        make(&place);
        let before = bench.names();
        let refused = bench.call(&["site", "sent", "-o", "site"]);
        let said = text(&refused.stderr);
        assert_eq!(refused.status.code(), Some(3), "{name}: {said}");
        assert!(said.contains("nothing was written"), "{name}: {said}");
        std::fs::remove_file(&place).unwrap();
        let folders = ["site", "elsewhere"].map(|folder| bench.path(folder));
        for folder in folders {
            assert_eq!(contents(&folder).into_keys().next(), None, "{name}");
        }
        assert_eq!(before.len() - bench.names().len(), usize::from(name.starts_with("..")));
        std::fs::remove_dir_all(bench.path("site")).unwrap();
    }
}

#[test]
fn a_site_with_a_damaged_memory_begins_anew() {
    let (bench, ..) = bench_with_submission();
    let site = || {
        let output = bench.call(&["site", "sent", "-o", "site"]);
        assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    };
    site();
    let memory = bench.path(".site.ssdgauge-site");
    let whole = std::fs::read(&memory).unwrap();
    for damaged in [&b""[..], &[0; 512], &[0xff, 0xfe], &whole[..whole.len() / 2]] {
        std::fs::write(&memory, damaged).unwrap();
        site();
        assert_eq!(std::fs::read(&memory).unwrap(), whole);
    }
    // A run file is not one of ours, whatever its name is.
    std::fs::copy(bench.path("a.ssdg"), &memory).unwrap();
    let refused = bench.call(&["site", "sent", "-o", "site"]);
    assert_eq!(refused.status.code(), Some(3), "{}", text(&refused.stderr));
}

#[test]
fn a_secret_is_a_file_of_32_bytes_and_created_only_with_what_it_hides() {
    let (bench, ..) = bench_with_submission();
    let submit = |secret: &str, options: &[&str]| {
        let words = ["submit", "a.ssdg", "-o", "more", "--secret", secret];
        let output = bench.call(&[&words[..], options].concat());
        (output.status.code(), text(&output.stderr))
    };
    make_fifo(&bench.path("fifo"));
    std::fs::write(bench.path("short"), [7; 31]).unwrap();
    std::fs::write(bench.path("long"), [7; 33]).unwrap();
    for secret in ["/dev/zero", "a.ssdg", "fifo", "short", "long", "sent"] {
        let (code, said) = submit(secret, &["--yes"]);
        assert_eq!(code, Some(2), "{secret}: {said}");
        assert!(said.contains("with 32 bytes"), "{secret}: {said}");
    }
    assert_eq!(submit("new", &[]).0, Some(3));
    assert!(!bench.path("new").exists() && !bench.path("more").exists(), "nothing was written");
    assert_eq!(submit("new", &["--yes"]).0, Some(0));
    let bytes = std::fs::read(bench.path("new")).unwrap();
    assert_eq!(bytes.len(), 32);
    assert_eq!(submit("new", &["--yes"]).0, Some(0));
    assert_eq!(std::fs::read(bench.path("new")).unwrap(), bytes);
}
