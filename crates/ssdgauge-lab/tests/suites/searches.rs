//! Searches that judge other requests than the reads of the first stream.

use crate::suites::support::{carried_out, found, rig};
use ssdgauge_analysis::{PointRun, Run};
use ssdgauge_core::{Direction, FindingKind, Nanos, Rig, Scope};
use ssdgauge_lab::{Options, Suite, plan};

/// Streams of which the first reads, and the others send what is searched for.
const SEVERAL: &str = r#"streams = [
    { name = "reads", access = "random", block_size = "4KiB", read_percent = 100, per_second = 50.0 },
    { name = "writes", access = "random", block_size = "16KiB", read_percent = 20, per_second = 200.0 },
    { name = "commits", operation = "flush", per_second = 20.0 },
    { name = "trims", operation = "trim", access = "random", block_size = "64KiB", per_second = 200.0 },
]"#;

/// Returns the text of a suite whose search over `streams` has `keys` in addition to its limits.
fn text(streams: &str, keys: &str, limit: &str) -> String {
    format!(
        r#"
[suite]
id = "own"
revision = 1
title = "Own"
[[test]]
id = "t"
revision = 1
title = "T"
prepare = [{{ purge = true }}, {{ fill = "sequential" }}]
{streams}
sweep = {{ load = {{ from = 1, to = 16 }} }}
until = {{ time = "3s" }}
search = {{ probe = "1s", slice = "3s", above = [{limit}]{keys} }}
score = {{ highest_borne = true }}
"#
    )
}

/// Carries out the search on a drive of 1 GB.
fn searched(streams: &str, keys: &str, limit: &str) -> Run {
    let suite = Suite::parse("own.toml", &text(streams, keys, limit)).unwrap();
    let mut rig = rig("tiny?capacity=256MB");
    let plan = plan(&suite, rig.drive(), &Options::default()).unwrap();
    carried_out(&plan, &mut rig)
}

/// Asserts that each load in full length passed by the judged requests: those of stream `stream` in
/// `direction`, of which less than 5 % may take longer than `limit`.
fn check(run: &Run, stream: usize, direction: Direction, limit: Nanos) {
    let test = &run.tests[0];
    let highest = test.headline.value.unwrap_or(0.0);
    assert!(
        (1.0..16.0).contains(&highest),
        "{stream} {direction:?}: {highest} {:?}",
        found(test, FindingKind::Overloaded)
    );
    let (mut passed, mut failed) = (0, 0);
    for PointRun { point, open_loop, .. } in &test.points {
        let of = point.streams.get(stream).unwrap_or(&point.totals);
        let latency = of.latency(Scope::from(direction));
        assert!(latency.count() > 0, "{}: no request was judged", point.label);
        let share = latency.share_above(limit.0).unwrap();
        let verdict = point.totals.reading("borne") == Some(1.0);
        // A load that a stream was not sent in full fails as well, whatever the judged latencies.
        let is_carried = open_loop.iter().all(|one| one.unsent <= 1);
        assert!(verdict == (share < 0.05) || (!verdict && !is_carried), "{}: {share}", point.label);
        passed += u32::from(verdict);
        failed += u32::from(!verdict);
    }
    assert!(passed > 0 && failed > 0, "{passed} loads passed, {failed} failed");
    let requests = direction.requests();
    let texts = found(test, FindingKind::Overloaded);
    assert!(texts.iter().any(|text| text.contains(&format!("the {requests}"))), "{texts:?}");
    let page = ssdgauge_page::page(std::slice::from_ref(run), &Default::default());
    let head = requests[..1].to_uppercase() + &requests[1..];
    assert!(page.contains(&format!("{head} ")), "the table does not name the {requests}");
}

#[test]
fn a_search_of_writes_judges_writes() {
    let stream = r#"stream = { access = "random", block_size = "4KiB", read_percent = 0, per_second = 2000.0, arrival = "poisson" }"#;
    let run = searched(stream, ", direction = \"write\"", "[\"5ms\", 5.0]");
    check(&run, 0, Direction::Write, Nanos(5_000_000));
}

#[test]
fn a_search_judges_any_stream_and_direction() {
    for (stream, name, direction, limit) in [
        (0, "reads", Direction::Read, "2ms"),
        (1, "writes", Direction::Write, "5ms"),
        (1, "writes", Direction::Read, "2ms"),
        (2, "commits", Direction::Flush, "8ms"),
        (3, "trims", Direction::Trim, "2ms"),
    ] {
        let keys = format!(", stream = \"{name}\", direction = \"{}\"", direction.name());
        let run = searched(SEVERAL, &keys, &format!("[\"{limit}\", 5.0]"));
        let ms: u64 = limit.trim_end_matches("ms").parse().unwrap();
        check(&run, stream, direction, Nanos(ms * 1_000_000));
    }
}

#[test]
fn a_search_that_would_judge_nothing_is_refused_with_the_remedy() {
    let writes = r#"stream = { access = "random", block_size = "4KiB", read_percent = 0, per_second = 5.0 }"#;
    let limit = "[\"1ms\", 5.0]";
    let refused = |streams: &str, keys: &str, words: &[&str]| {
        let error = Suite::parse("own.toml", &text(streams, keys, limit)).expect_err(keys);
        let said = format!("{error} {}", error.hint);
        assert!(error.line_and_column().is_some_and(|(line, _)| line > 9), "{said}");
        for word in words {
            assert!(said.contains(word), "'{word}' is not in: {said}");
        }
    };
    refused(writes, "", &["sends no reads", "direction = \"write\""]);
    refused(writes, ", direction = \"flush\"", &["sends no flushes", "direction = \"write\""]);
    refused(writes, ", stream = \"main\"", &["one stream", "remove `stream`"]);
    refused(writes, ", direction = \"erase\"", &["erase", "write"]);
    refused(SEVERAL, ", stream = \"backup\"", &["no stream", "reads, writes, commits, trims"]);
    refused(
        SEVERAL,
        ", stream = \"commits\"",
        &["'commits' sends no reads", "direction = \"flush\"", "another `stream`"],
    );
    let short = text(SEVERAL, "", limit);
    let until = short.lines().find(|line| line.starts_with("until")).unwrap();
    let error = Suite::parse("own.toml", &short.replace(until, "until = { time = \"500ms\" }"));
    let error = error.expect_err("a step below a slice");
    let said = format!("{error} {}", error.hint);
    assert!(said.contains("is longer than a step of 500ms") && said.contains("at most"), "{said}");
    // The latencies from the submission are not divided by direction.
    let sending = |keys: &str| {
        let text = text(SEVERAL, keys, limit);
        Suite::parse("own.toml", &text.replace("borne = true", "borne = true, clock = \"sending\""))
    };
    sending("").unwrap();
    let error = sending(", stream = \"writes\"").map(|_| ()).unwrap_err();
    assert!(format!("{error} {}", error.hint).contains("a stream each"), "{error}");
}
