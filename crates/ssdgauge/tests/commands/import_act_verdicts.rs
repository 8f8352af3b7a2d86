//! What a log of ACT does not let pass: failed requests, a load that was not reached, and time that is not
//! judged. Messages are in the form of act_storage.c; expected numbers follow from the counts of the logs.

use super::import_act::{Log, PASSING, import, run_of};
use crate::support::{Bench, query, text, unfolded};
use serde_json::Value;

/// An hour with 2 % of a million reads above 1 ms.
const HOUR: &[(usize, u64)] = &[(0, 980_000), (1, 20_000)];
/// A line that ACT prints for each failed read.
const FAILED_READ: &str = "ERROR: reading /dev/nvme9n1: 5 'Input/output error'\n";

/// Imports `log`, and returns the messages, the test, and its one load.
fn imported(log: &str) -> (String, Value, Value) {
    let bench = Bench::new();
    let messages = import(&bench, "one", log);
    let test = run_of(&bench, "one.ssdg")["tests"][0].clone();
    let load = test["tried_loads"][0].clone();
    (messages, test, load)
}

fn of_hours<'a>(hours: &'a [&'a [(usize, u64)]]) -> Log<'a> {
    Log { hours, ..PASSING }
}

#[test]
fn failed_requests_are_counted_and_a_load_without_reads_has_not_passed() {
    let whole = of_hours(&[HOUR, HOUR]).text();
    // Another thread prints between the name of a histogram and its bins.
    let failed = whole.replacen(
        "total)\n (00",
        &format!("total)\n{}{FAILED_READ} (00", FAILED_READ.replace("reading", "writing")),
        1,
    );
    let (messages, test, load) = imported(&failed);
    assert!(
        messages.contains("1 failed reads and 1 failed writes, the first in line")
            && messages.contains("writing /dev/nvme9n1: 5 'Input/output error'"),
        "{messages}"
    );
    assert_eq!(load["passed"], true, "{load:#}");
    assert_eq!(test["points"][0]["errors"], 2, "{:#}", test["points"][0]);
    // Each read failed: ACT counts none.
    let mut none = String::new();
    for line in whole.lines() {
        let is_reads = line.starts_with("reads (") || line.starts_with("/dev/nvme9n1-reads (");
        let is_bins = line.starts_with(" (")
            && none.ends_with("reads (0 total)\n")
            && !none.ends_with("large-block-reads (0 total)\n");
        match (is_reads, is_bins) {
            (true, _) => none += &format!("{} (0 total)\n", line.split(' ').next().unwrap()),
            (false, true) => {}
            (false, false) => none += &format!("{line}\n"),
        }
    }
    for log in [none.clone(), format!("{none}{}", FAILED_READ.repeat(50))] {
        let (messages, test, load) = imported(&log);
        assert!(messages.contains("a slice without a read"), "{messages}");
        assert_eq!(load["passed"], false, "{load:#}");
        assert!(test["headline"]["value"].is_null());
    }
}

#[test]
fn a_load_that_was_not_reached_has_not_passed_whatever_its_latencies() {
    // 14,000 of 20,000 reads per second: 700,000 a million.
    let slow: &[(usize, u64)] = &[(0, 700_000)];
    for lag in ["10", "0"] {
        let log = of_hours(&[slow, slow]).text();
        let log = log.replace("tomb-raider: no", &format!("tomb-raider: no\nmax-lag-sec: {lag}"));
        let (messages, _, load) = imported(&log);
        let words = "there were 14,000 reads per second, and 20,000 are configured";
        assert!(messages.contains(words), "{messages}");
        assert_eq!(load["passed"], false, "{load:#}");
    }
    // Without `max-lag-sec`, an hour can be late and the next one make up for it.
    let late: &[(usize, u64)] = &[(0, 900_000)];
    let early: &[(usize, u64)] = &[(0, 1_100_000)];
    let (messages, _, load) = imported(&of_hours(&[late, early]).text());
    // A tenth of 3,600 s.
    assert!(
        messages.contains("'reads' were 360 s late for the configured rate after 1 h 00 min"),
        "{messages}"
    );
    assert_eq!((&load["passed"], &load["first_failed_slice"]), (&false.into(), &1.0.into()));
    // Its latencies contain the wait in the queue of ACT 5.
    let (_, _, load) = imported(&Log { version: "5.2", ..of_hours(&[late, early]) }.text());
    assert_eq!(load["passed"], true, "{load:#}");
    // The threads of ACT 6 send whole requests per second: 600 threads send 33 each, 19,800 in all.
    let rounded: &[(usize, u64)] = &[(0, 990_000)];
    let log = of_hours(&[rounded]).text().replace("service-threads: 40", "service-threads: 600");
    let (_, _, load) = imported(&log);
    assert_eq!(load["passed"], true, "{load:#}");
    // Seven times the load is not what ACT sends.
    let (messages, _, load) = imported(&of_hours(&[&[(0, 7_000_000)]]).text());
    assert!(messages.contains("140,000 reads per second, and 20,000 are configured"), "{messages}");
    assert!(load["passed"].is_null(), "{load:#}");
}

#[test]
fn what_is_not_a_whole_hour_is_neither_claimed_nor_counted() {
    let bench = Bench::new();
    // The last 20 min are cut, so that 40 min are left; half of their reads are slow.
    let whole = of_hours(&[HOUR, &[(0, 500_001), (1, 499_998)]]).text();
    let messages = import(&bench, "tail", &whole[..whole.find("after 7200").unwrap()]);
    assert!(
        messages.contains("the last 40 min are not a whole slice")
            && messages.contains("50.0 % of their reads took longer than 1 ms"),
        "{messages}"
    );
    let test = run_of(&bench, "tail.ssdg")["tests"][0].clone();
    assert_eq!(test["tried_loads"][0]["elapsed_ns"], 3_600_000_000_000_u64);
    assert_eq!(test["tried_loads"][0]["passed"], true);
    let reads = query(&bench.path("tail.ssdg"), "SELECT ios FROM interval WHERE stream = 0");
    assert_eq!(reads, 72_000_000);
    // Blocks are missing in the middle.
    let (from, to) = (whole.find("after 2400").unwrap(), whole.find("after 3600").unwrap());
    let messages = import(&bench, "gap", &format!("{}{}", &whole[..from], &whole[to..]));
    assert!(
        messages.contains("the block of 3600 s in line")
            && messages.contains("follows that of 1200 s"),
        "{messages}"
    );
}

#[test]
fn a_verdict_that_the_log_does_not_give_is_unknown_everywhere() {
    let bench = Bench::new();
    let open: &[(usize, u64)] = &[(8, 940_000), (10, 60_000)];
    import(&bench, "open", &Log { microseconds: true, hours: &[open], ..PASSING }.text());
    let run = run_of(&bench, "open.ssdg");
    assert_eq!(run["complete"], true);
    assert!(run["tests"][0]["tried_loads"][0]["passed"].is_null());
    bench.print(&["report", "open.ssdg", "-o", "open.html"]);
    let page = std::fs::read_to_string(bench.path("open.html")).unwrap();
    for output in [page, bench.print(&["show", "open.ssdg"])] {
        assert!(!output.contains("UNFINISHED") && !output.contains("to go"), "{output}");
        assert!(!output.contains("that was tried failed"), "{output}");
        let words = unfolded(&output).replace('\u{a0}', " ");
        assert!(words.contains("not known"), "{output}");
    }
}

#[test]
fn a_passed_load_is_a_lower_bound_and_loads_of_other_lengths_are_not_compared() {
    let bench = Bench::new();
    let bad: &[(usize, u64)] = &[(0, 940_000), (1, 60_000)];
    let (hours, short) = (of_hours(&[HOUR, HOUR]), of_hours(&[HOUR]));
    import(&bench, "ten", &hours.text());
    import(&bench, "ten_short", &short.text());
    import(&bench, "twenty", &Log { load: 20, ..of_hours(&[HOUR, HOUR]) }.text());
    import(&bench, "failed", &of_hours(&[bad, HOUR]).text());
    let compared = |a: &str, b: &str| {
        let call = bench.call(&["compare", &format!("{a}.ssdg"), &format!("{b}.ssdg")]);
        unfolded(&text(&call.stdout)) + &unfolded(&text(&call.stderr))
    };
    for other in ["twenty", "failed"] {
        let words = compared("ten", other);
        assert!(!words.contains("+100"), "{words}");
    }
    let words = compared("ten", "twenty");
    assert!(words.contains("no load that failed"), "{words}");
    let words = compared("ten", "ten_short");
    assert!(words.contains("tried for different times"), "{words}");
}

#[test]
fn without_latencies_the_requests_in_flight_are_unknown() {
    let (_, test, _) = imported(&of_hours(&[HOUR]).text());
    assert!(test["points"][0]["metrics"]["in_flight_mean"].is_null());
    let findings = test["findings"].to_string();
    assert!(
        !findings.contains("0 completed") && !findings.contains("longer to measure"),
        "{findings}"
    );
}

#[test]
fn a_failed_load_says_where_it_failed() {
    let bench = Bench::new();
    let bad: &[(usize, u64)] = &[(0, 940_000), (1, 60_000)];
    import(&bench, "failed", &of_hours(&[HOUR, HOUR, bad, HOUR]).text());
    let load = run_of(&bench, "failed.ssdg")["tests"][0]["tried_loads"][0].clone();
    assert_eq!((&load["passed"], &load["first_failed_slice"]), (&false.into(), &3.0.into()));
    let shown = unfolded(&bench.print(&["show", "failed.ssdg"])).replace('\u{a0}', " ");
    assert!(shown.contains("Fails at 10x of 2,047 requests/s"), "{shown}");
    assert!(shown.contains("with 6.00 % over 1 ms"), "{shown}");
}

#[test]
fn capacity_and_length_of_reads_are_those_of_the_devices() {
    let bench = Bench::new();
    let described = |bytes: u64, minimum: u64| {
        let line = format!(
            "/dev/nvme9n1 size = {bytes} bytes, 7325722 large blocks, minimum IO size = {minimum} bytes\n\n\
             HISTOGRAM NAMES"
        );
        of_hours(&[HOUR]).text().replace("HISTOGRAM NAMES", &line)
    };
    for (minimum, length, id) in [(512, 1_536, "act-6"), (4_096, 4_096, "act-log-6")] {
        std::fs::write(bench.path("act.log"), described(960_197_124_096, minimum)).unwrap();
        let output = format!("{minimum}.ssdg");
        let call = bench.call(&["import", "--act", "act.log", "-o", &output]);
        let messages = unfolded(&text(&call.stderr));
        assert!(messages.contains("(capacity: the log of ACT)"), "{messages}");
        let run = run_of(&bench, &output);
        assert_eq!(run["drive"]["capacity_bytes"], 960_197_124_096_u64, "{:#}", run["drive"]);
        assert_eq!(run["tests"][0]["id"], id);
        // Each read has whole smallest requests of the device that hold a record of 1,536 bytes.
        let bytes = query(&bench.path(&output), "SELECT bytes FROM interval WHERE stream = 0");
        assert_eq!(bytes, 72_000_000 * length);
    }
}

#[test]
fn a_log_that_ends_within_any_line_is_read_up_to_the_block_before() {
    let whole = of_hours(&[HOUR, HOUR]).text();
    let second = whole.find("after 2400").unwrap();
    let bench = Bench::new();
    for (number, end) in (second + 1..whole.find("after 3600").unwrap() - 1).step_by(7).enumerate()
    {
        let messages = import(&bench, &format!("cut{number}"), &whole[..end]);
        assert!(messages.contains("the log ends within the block of line"), "{end}: {messages}");
        assert!(messages.contains("ends after 20 min of 2 h"), "{end}: {messages}");
    }
}
