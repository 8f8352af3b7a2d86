//! Outputs of fio in long texts: the time to read them grows with their length, not with its square.

use std::time::{Duration, Instant};

const DOCUMENT: &str = r#"{ "fio version" : "fio-3.33", "timestamp_ms" : 1700000000000, "jobs" : [
{ "jobname" : "a", "read" : { "io_bytes" : 12288, "runtime" : 1000, "total_ios" : 3, "bw_dev" : -nan },
"write" : { "io_bytes" : 0, "runtime" : 0, "total_ios" : 0 } } ] }
"#;

/// The length of each text in bytes. By the square of it, reading takes a quarter of an hour.
const LENGTH: usize = 2 << 20;

/// What one text may take in a build without optimisation, on a machine with other work.
const LIMIT: Duration = Duration::from_secs(60);

/// Returns the number of requests that are imported from `text`, or `None` where it is refused.
fn requests(text: &str) -> Option<u64> {
    let begun = Instant::now();
    let imported = ssdgauge_fio::import(text);
    assert!(begun.elapsed() < LIMIT, "{:?} for {:?}", begun.elapsed(), &text[..40]);
    let steps = imported.ok()?.steps;
    Some(steps.iter().flat_map(|step| &step.intervals).map(|one| one.ios).sum())
}

#[test]
fn messages_around_a_document_are_skipped_in_time_that_grows_with_their_length() {
    let lines = [
        "fio: a message\n",
        "{\n",
        "{ \"a\": 1 }\n",
        "{ \"a\": nan }\n",
        "{ \"x\": \": nan\" }\n",
        "{",
        "{ ",
    ];
    for line in lines {
        let messages = line.repeat(LENGTH / line.len());
        let one = format!("{messages}\n{DOCUMENT}");
        assert_eq!(requests(&one), Some(3), "{line:?} in front");
        assert_eq!(requests(&format!("{DOCUMENT}{messages}")), Some(3), "{line:?} at the end");
        let other = DOCUMENT.replace("1700000000000", "1700000900000");
        assert_eq!(
            requests(&format!("{DOCUMENT}{messages}\n{other}")),
            Some(6),
            "{line:?} between"
        );
        assert_eq!(requests(&messages), None, "{line:?} without a document");
    }
}

#[test]
fn nested_braces_do_not_have_the_rest_read_for_each_of_them() {
    let numbers = "1,".repeat(LENGTH / 2);
    for line in ["{ \"a\": [\n", "{ \"a\":\n"] {
        // Not as deep as the JSON reader follows.
        let text = format!("{}[{numbers}", line.repeat(60));
        assert_eq!(requests(&text), None);
    }
}
