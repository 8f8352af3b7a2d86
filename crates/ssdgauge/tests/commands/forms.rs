//! Every kind of input in every form of output: each is written in that form, or refused with exit code 2.

use crate::commands::samples::{self, CARD, RUN_FILES};
use crate::commands::watch_metrics::parse;
use crate::support::{Bench, text};
use serde_json::Value;
use std::path::{Path, PathBuf};

/// Where a form is written, and how it is recognised.
#[derive(Clone, Copy)]
enum Form {
    /// Printed: a check of the text.
    Printed(fn(&str) -> bool),
    /// In the named file.
    File(&'static str, fn(&[u8]) -> bool),
    /// In each file below the named folder, one at least.
    Files(&'static str, fn(&[u8]) -> bool),
}

fn is_json(text: &str) -> bool {
    serde_json::from_str::<Value>(text).is_ok_and(|value| value["schema_version"].is_u64())
}

fn is_card(text: &str) -> bool {
    serde_json::from_str::<Value>(text).is_ok_and(|value| value["structures"].is_array())
}

/// Each line is read without the others, so each one states its schema.
fn is_json_lines(text: &str) -> bool {
    text.lines().count() > 1 && text.lines().all(is_json)
}

/// By RFC 4180: a head, and as many fields in each record.
fn is_csv(text: &str) -> bool {
    let mut counts = vec![1];
    let mut is_quoted = false;
    for (place, letter) in text.char_indices() {
        match letter {
            '"' => is_quoted = !is_quoted,
            ',' if !is_quoted => *counts.last_mut().unwrap() += 1,
            '\n' if !is_quoted && place + 1 < text.len() => counts.push(1),
            _ => {}
        }
    }
    !is_quoted && counts[0] > 5 && counts.iter().all(|count| *count == counts[0])
}

/// A table of GitHub: a head, its line, and rows.
fn is_markdown(text: &str) -> bool {
    let lines: Vec<&str> = text.lines().collect();
    let is_row = |line: &str| line.starts_with('|') && line.ends_with('|');
    lines.windows(3).any(|three| {
        three.iter().all(|line| is_row(line)) && three[1].chars().all(|c| "|-: ".contains(c))
    })
}

fn is_openmetrics(text: &str) -> bool {
    text.ends_with("# EOF\n") && !parse(text).samples.is_empty()
}

fn is_xml(text: &str) -> bool {
    text.starts_with("<?xml") && text.trim_end().ends_with("</testsuites>")
}

fn is_page(bytes: &[u8]) -> bool {
    let text = String::from_utf8_lossy(bytes);
    text.to_lowercase().starts_with("<!doctype html>") && text.trim_end().ends_with("</html>")
}

fn is_svg(bytes: &[u8]) -> bool {
    let text = String::from_utf8_lossy(bytes);
    text.contains("<svg") && text.trim_end().ends_with("</svg>")
}

fn is_png(bytes: &[u8]) -> bool {
    bytes.starts_with(b"\x89PNG\r\n\x1a\n") && bytes.ends_with(b"IEND\xaeB`\x82")
}

fn is_parquet(bytes: &[u8]) -> bool {
    bytes.len() > 12 && bytes.starts_with(b"PAR1") && bytes.ends_with(b"PAR1")
}

fn is_fio_job(bytes: &[u8]) -> bool {
    let text = String::from_utf8_lossy(bytes);
    text.contains("\n[global]") && text.contains("rw=")
}

/// The forms by their command lines, in which `IN` is the input.
const FORMS: [(&[&str], Form); 19] = [
    (&["report", "IN", "-o", "page.html"], Form::File("page.html", is_page)),
    (&["report", "IN", "--json"], Form::Printed(is_json)),
    (&["report", "IN", "--csv"], Form::Printed(is_csv)),
    (&["report", "IN", "--markdown"], Form::Printed(is_markdown)),
    (&["report", "IN", "--openmetrics"], Form::Printed(is_openmetrics)),
    (
        &["report", "IN", "--svg", "charts"],
        Form::Files("charts", |file| is_svg(file) || is_page(file)),
    ),
    (
        &["report", "IN", "--png", "charts"],
        Form::Files("charts", |file| is_png(file) || is_page(file)),
    ),
    (&["report", "IN", "--share-image", "card.png"], Form::File("card.png", is_png)),
    (&["export", "--fio", "IN", "-o", "job.fio"], Form::File("job.fio", is_fio_job)),
    (&["export", "--parquet", "tables", "IN"], Form::Files("tables", is_parquet)),
    (&["export", "--jsonl", "IN"], Form::Printed(is_json_lines)),
    (&["compare", "IN", "IN", "--json"], Form::Printed(is_json)),
    (&["compare", "IN", "IN", "--markdown"], Form::Printed(is_markdown)),
    (&["compare", "IN", "IN", "--junit"], Form::Printed(is_xml)),
    (&["fleet", "page", "IN", "-o", "fleet.html"], Form::File("fleet.html", is_page)),
    (&["fleet", "drift", "IN", "--json"], Form::Printed(is_json)),
    (&["xray", "--from", "IN", "--json"], Form::Printed(is_card)),
    (&["xray", "--from", "IN", "--page", "xray.html"], Form::File("xray.html", is_page)),
    (&["xray", "--from", "IN", "--picture", "xray.png"], Form::File("xray.png", is_png)),
];

fn files_below(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let paths = entries.map(|entry| entry.path());
    paths.flat_map(|path| if path.is_dir() { files_below(&path) } else { vec![path] }).collect()
}

/// Calls the program for one input and form; returns whether it was served, and what is wrong.
fn cell(bench: &Bench, input: &str, line: &[&str], form: Form) -> (bool, Option<String>) {
    let names = bench.names();
    let arguments: Vec<&str> =
        line.iter().map(|word| if *word == "IN" { input } else { *word }).collect();
    let output = bench.call(&arguments);
    let (stdout, stderr) = (text(&output.stdout), text(&output.stderr));
    let check = |files: &[PathBuf], is_form: fn(&[u8]) -> bool| {
        !files.is_empty() && files.iter().all(|file| is_form(&std::fs::read(file).unwrap()))
    };
    let problem = match output.status.code() {
        Some(0) => {
            let is_form = match form {
                Form::Printed(is_form) => is_form(&stdout),
                Form::File(name, is_form) => {
                    bench.path(name).exists() && check(&[bench.path(name)], is_form)
                }
                Form::Files(name, is_form) => check(&files_below(&bench.path(name)), is_form),
            };
            (!is_form).then(|| format!("exit 0 without the form: {stdout:.300}{stderr:.300}"))
        }
        Some(2) if !stdout.is_empty() => Some(format!("refused with an output: {stdout:.300}")),
        Some(2) if !stderr.contains("hint: ") => Some(format!("refused without a hint: {stderr}")),
        Some(2) if bench.names() != names => Some(format!("refused, and left {:?}", bench.names())),
        Some(2) => None,
        // Commands on many files state the one that is not a run file, and go on.
        Some(1) if input == CARD && stderr.contains("left out") => None,
        code => Some(format!("exit {code:?}: {stderr:.300}")),
    };
    for name in bench.names().iter().filter(|name| !names.contains(name)) {
        let path = bench.path(name);
        let removed =
            if path.is_dir() { std::fs::remove_dir_all(path) } else { std::fs::remove_file(path) };
        removed.unwrap();
    }
    let what = arguments.join(" ");
    (output.status.success(), problem.map(|problem| format!("{what}: {problem}")))
}

#[test]
fn each_kind_of_input_is_written_in_each_form_or_refused() {
    let bench = Bench::new();
    samples::write_all(&bench);
    let mut problems = Vec::new();
    for input in RUN_FILES.iter().chain(&[CARD]) {
        let mut served = Vec::new();
        for (line, form) in FORMS {
            let (is_served, problem) = cell(&bench, input, line, form);
            if is_served {
                served.push(line.join(" "));
            }
            problems.extend(problem);
        }
        println!("{input}: {}", served.join(", "));
        // A refusal of everything would be no form.
        let least = match *input {
            "suite.ssdg" => 16,
            "card.json" => 2,
            "proof.ssdg" => 2,
            "xray.ssdg" => 5,
            _ => 10,
        };
        assert!(served.len() >= least, "{input} has {served:?}");
    }
    assert!(problems.is_empty(), "{}", problems.join("\n"));
}
