//! Metrics of runs that are watched: their text by the rules of OpenMetrics 1.0, and the dashboard.

use crate::support::{Bench, signal, text};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Stdio};

/// The metrics of a text: the type of each family, and the value of each sample by its name and labels.
pub(crate) struct Parsed {
    types: BTreeMap<String, String>,
    pub(crate) samples: BTreeMap<(String, BTreeMap<String, String>), f64>,
}

/// Parses OpenMetrics text by the ABNF and the rules of its specification, 1.0.
pub(crate) fn parse(text: &str) -> Parsed {
    let mut types = BTreeMap::new();
    let mut samples = BTreeMap::new();
    let mut family = (String::new(), String::new());
    let body = text.strip_suffix("# EOF\n").expect("the last line is # EOF");
    for line in body.lines() {
        if let Some(rest) = line.strip_prefix("# ") {
            let mut words = rest.splitn(3, ' ');
            let (keyword, name, value) =
                (words.next().unwrap(), words.next().unwrap(), words.next().unwrap());
            assert!(is_name(name), "{line}");
            match keyword {
                "TYPE" => {
                    family = (name.to_owned(), value.to_owned());
                    let known = ["gauge", "counter", "info", "stateset"];
                    assert!(known.contains(&value), "{line}");
                    let before = types.insert(name.to_owned(), value.to_owned());
                    assert!(before.is_none(), "a family is described twice: {line}");
                }
                "UNIT" => {
                    assert!(name == family.0 && name.ends_with(&format!("_{value}")), "{line}")
                }
                "HELP" => assert!(name == family.0 && !value.is_empty(), "{line}"),
                other => panic!("no keyword of OpenMetrics: {other}"),
            }
            continue;
        }
        let (name, rest) = line.split_once('{').expect("every sample has labels");
        let suffix = match family.1.as_str() {
            "counter" => "_total",
            "info" => "_info",
            _ => "",
        };
        assert_eq!(name, format!("{}{suffix}", family.0), "outside its family: {line}");
        let (labels, rest) = labels(rest);
        let value: f64 = rest.strip_prefix(' ').unwrap().parse().unwrap();
        assert!(value.is_finite() && (family.1 != "counter" || value >= 0.0), "{line}");
        match family.1.as_str() {
            "info" => assert_eq!(value, 1.0, "{line}"),
            "stateset" => {
                assert!(labels.contains_key(&family.0) && (value == 0.0 || value == 1.0), "{line}");
            }
            _ => {}
        }
        let before = samples.insert((name.to_owned(), labels), value);
        assert!(before.is_none(), "a sample occurs twice: {line}");
    }
    Parsed { types, samples }
}

fn is_name(name: &str) -> bool {
    let is_first = |c: char| c.is_ascii_alphabetic() || c == '_' || c == ':';
    name.starts_with(is_first) && name.chars().all(|c| is_first(c) || c.is_ascii_digit())
}

/// Parses labels up to their closing brace; returns them and the rest.
fn labels(text: &str) -> (BTreeMap<String, String>, &str) {
    let mut labels = BTreeMap::new();
    let mut rest = text;
    loop {
        let (name, after) = rest.split_once("=\"").unwrap();
        assert!(is_name(name) && !name.contains(':'), "{text}");
        let mut value = String::new();
        let mut characters = after.char_indices();
        let end = loop {
            match characters.next().expect("a closing quotation mark") {
                (at, '"') => break at,
                (_, '\\') => match characters.next().unwrap().1 {
                    'n' => value.push('\n'),
                    escaped @ ('"' | '\\') => value.push(escaped),
                    other => panic!("an unknown escape \\{other}"),
                },
                (_, other) => value.push(other),
            }
        };
        assert!(labels.insert(name.to_owned(), value).is_none(), "a label occurs twice: {text}");
        rest = &after[end + 1..];
        if let Some(after) = rest.strip_prefix('}') {
            return (labels, after);
        }
        rest = rest.strip_prefix(',').expect("a comma or a closing brace");
    }
}

/// Starts a watcher that serves metrics, and returns its address.
fn serve(bench: &Bench, file: &str) -> (Child, String) {
    let mut watch = bench
        .command(&["watch", file, "--openmetrics", "127.0.0.1:0"])
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut line = String::new();
    BufReader::new(watch.stderr.as_mut().unwrap()).read_line(&mut line).unwrap();
    let address = line.trim().strip_prefix("metrics: http://").expect("the address");
    let address = address.strip_suffix("/metrics").unwrap().to_owned();
    (watch, address)
}

/// Asks for the metrics in the formats of `accept`, and returns the head of the answer and the text.
fn ask(address: &str, accept: &str) -> (String, String) {
    let mut connection = TcpStream::connect(address).unwrap();
    let request = format!("GET /metrics HTTP/1.1\r\nHost: localhost\r\n{accept}\r\n");
    connection.write_all(request.as_bytes()).unwrap();
    let mut answer = String::new();
    connection.read_to_string(&mut answer).unwrap();
    let (head, body) = answer.split_once("\r\n\r\n").unwrap();
    (head.to_owned(), body.to_owned())
}

fn scrape(address: &str) -> String {
    // As Prometheus 2.53 asks.
    let accept = "Accept: application/openmetrics-text;version=1.0.0;q=0.5,\
                  application/openmetrics-text;version=0.0.1;q=0.4,text/plain;version=0.0.4;q=0.3,\
                  */*;q=0.2\r\n";
    let (head, body) = ask(address, accept);
    assert!(head.contains("application/openmetrics-text; version=1.0.0"), "{head}");
    body
}

/// Parses the text format 0.0.4 of Prometheus by its specification: help, then type, then the samples of
/// that very name; neither units nor an end.
fn parse_text_format(text: &str) -> Parsed {
    let mut types = BTreeMap::new();
    let mut samples = BTreeMap::new();
    let (mut helped, mut typed) = (String::new(), String::new());
    assert!(text.ends_with('\n') && !text.contains("# EOF") && !text.contains("# UNIT"), "{text}");
    for line in text.lines() {
        if let Some(rest) = line.strip_prefix("# HELP ") {
            let (name, help) = rest.split_once(' ').expect("a name and a text");
            assert!(is_name(name) && !help.is_empty() && !types.contains_key(name), "{line}");
            helped = name.to_owned();
        } else if let Some(rest) = line.strip_prefix("# TYPE ") {
            let (name, kind) = rest.split_once(' ').expect("a name and a type");
            assert!(name == helped && ["gauge", "counter"].contains(&kind), "{line}");
            // What promtool wants: the suffix on counters, and on nothing else.
            assert_eq!(kind == "counter", name.ends_with("_total"), "{line}");
            typed = name.to_owned();
            assert!(types.insert(typed.clone(), kind.to_owned()).is_none(), "twice: {line}");
        } else {
            let (name, rest) = line.split_once('{').expect("every sample has labels");
            assert_eq!(name, typed, "outside its family: {line}");
            let (labels, rest) = labels(rest);
            let value: f64 = rest.strip_prefix(' ').unwrap().parse().unwrap();
            assert!(samples.insert((name.to_owned(), labels), value).is_none(), "twice: {line}");
        }
    }
    Parsed { types, samples }
}

#[test]
fn a_run_is_served_as_openmetrics_until_it_ends_and_the_dashboard_uses_its_names() {
    let bench = Bench::new();
    let mut run = crate::commands::watch::start(&bench, "60s");
    let (mut watch, address) = serve(&bench, "a.ssdg");
    let is_counted = |parsed: &Parsed| {
        parsed.samples.iter().any(|((name, labels), value)| {
            let is_read = labels.get("direction").is_some_and(|one| one == "read");
            name == "ssdgauge_run_requests_total" && is_read && *value > 0.0
        })
    };
    let mut parsed = parse(&scrape(&address));
    crate::support::wait_for("a commit with requests", || {
        parsed = parse(&scrape(&address));
        is_counted(&parsed)
    });
    let state = |word: &str| {
        let is_it = |((name, labels), value): (&(String, BTreeMap<String, String>), &f64)| {
            let is_word = labels.get("ssdgauge_run_state").is_some_and(|one| one == word);
            (name == "ssdgauge_run_state" && is_word).then_some(*value)
        };
        parsed.samples.iter().find_map(is_it)
    };
    assert_eq!((state("running"), state("killed")), (Some(1.0), Some(0.0)));
    let (_, labels) = parsed.samples.keys().find(|(name, _)| name == "ssdgauge_run_info").unwrap();
    assert_eq!(labels["suite"], "mine");
    assert!(labels["step"].starts_with("load") && labels["data"] == "measured", "{labels:?}");

    // Without a word on OpenMetrics the same values come in the text format.
    for accept in ["", "Accept: */*\r\n", "accept: text/plain; version=0.0.4\r\n"] {
        let (head, body) = ask(&address, accept);
        assert!(head.contains("Content-Type: text/plain; version=0.0.4; charset=utf-8"), "{head}");
        let text = parse_text_format(&body);
        assert_eq!(text.types.len(), parsed.types.len());
        assert_eq!(text.types["ssdgauge_run_requests_total"], "counter");
        let total = text.samples.iter().find(|((name, labels), _)| {
            name == "ssdgauge_run_requests_total" && labels["direction"] == "read"
        });
        assert!(*total.unwrap().1 > 0.0, "{body}");
    }

    // The port is taken as long as the watcher runs.
    let output = bench.call(&["watch", "a.ssdg", "--openmetrics", &address]);
    assert_eq!(output.status.code(), Some(1), "{}", text(&output.stderr));
    signal(&run, "INT");
    run.wait().unwrap();
    assert_eq!(watch.wait().unwrap().code(), Some(75));
    assert!(TcpStream::connect(&address).is_err(), "the server ends with the run");

    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/grafana/ssdgauge-run.json");
    let dashboard: Value = serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
    let panels = dashboard["panels"].as_array().unwrap();
    let expressions: Vec<&str> = panels
        .iter()
        .flat_map(|panel| panel["targets"].as_array().unwrap())
        .map(|target| target["expr"].as_str().unwrap())
        .collect();
    let names: BTreeSet<&str> = expressions
        .iter()
        .flat_map(|text| text.split(|c: char| !c.is_ascii_alphanumeric() && c != '_'))
        .filter(|word| word.starts_with("ssdgauge_"))
        .collect();
    assert!(names.len() >= 12, "{names:?}");
    let served: BTreeSet<String> = parsed
        .types
        .iter()
        .map(|(name, kind)| match kind.as_str() {
            "counter" => format!("{name}_total"),
            "info" => format!("{name}_info"),
            _ => name.clone(),
        })
        .collect();
    for name in names {
        assert!(served.contains(name), "{name} is not served: {served:?}");
    }
    let documented = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/reference/watch.md");
    let documented = std::fs::read_to_string(documented).unwrap();
    for name in &served {
        assert!(
            documented.contains(&format!("`{name}`")),
            "{name} is not in docs/reference/watch.md"
        );
    }
}

#[test]
fn a_page_of_another_host_gets_no_metrics() {
    let bench = Bench::new();
    let mut run = crate::commands::watch::start(&bench, "60s");
    let (mut watch, address) = serve(&bench, "a.ssdg");
    // Such a page reaches this machine under a name of its own (DNS rebinding).
    let (head, body) = ask(&address, "Host: pages.example\r\n");
    assert!(head.starts_with("HTTP/1.1 403 ") && !body.contains("ssdgauge_run"), "{head} {body}");
    let (head, _) = ask(&address, "Host: 127.0.0.1\r\n");
    assert!(head.starts_with("HTTP/1.1 200 "), "{head}");
    signal(&run, "INT");
    run.wait().unwrap();
    watch.wait().unwrap();
}

#[test]
fn an_address_that_other_machines_reach_is_refused() {
    let bench = Bench::new();
    for address in ["0.0.0.0:9184", "192.168.0.1:9184", "[::]:9184", "9184", "localhost"] {
        let output = bench.call(&["watch", "a.ssdg", "--openmetrics", address]);
        assert_eq!(output.status.code(), Some(2), "{address}: {}", text(&output.stderr));
    }
}

#[test]
fn the_metrics_of_a_report_keep_the_rules_of_openmetrics() {
    let bench = Bench::new();
    bench.print(&[
        "run",
        "quick",
        "sim:tiny",
        "--shorten",
        "50",
        "--label",
        "a \"b\"",
        "--out",
        "a.ssdg",
    ]);
    let parsed = parse(&bench.print(&["report", "a.ssdg", "--openmetrics"]));
    assert!(parsed.samples.len() > 100, "{}", parsed.samples.len());
    let is_complete = |((name, _), value): (&(String, BTreeMap<String, String>), &f64)| {
        name == "ssdgauge_run_complete" && *value == 1.0
    };
    assert!(parsed.samples.iter().any(is_complete));
}
