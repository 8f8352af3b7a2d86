//! Logs of the Aerospike Certification Tool as run files: the shares of slow reads come out again, and no
//! percentile. The logs are written here in the form of act_storage (src/common/histogram.c).

use crate::support::{Bench, query, text, unfolded};
use serde_json::Value;
use std::fmt::Write as _;

/// A log: its version, the multiple of the load, the unit of its bins, and what each hour adds to the bins
/// of the small reads, of which each hour has a million: a 72nd of what load 10x sends.
pub(crate) struct Log<'a> {
    pub(crate) version: &'a str,
    pub(crate) load: u64,
    pub(crate) microseconds: bool,
    pub(crate) hours: &'a [&'a [(usize, u64)]],
}

impl Log<'_> {
    pub(crate) fn text(&self) -> String {
        let (reads, writes) = (2_000 * self.load, 1_000 * self.load);
        let seconds = 3_600 * self.hours.len();
        let unit = if self.microseconds { "yes" } else { "no" };
        let mut text = format!(
            "\nACT version {}\nStorage device IO test\n\nACT-STORAGE CONFIGURATION\n\
             device-names: /dev/nvme9n1\nnum-devices: 1\nservice-threads: 40\nnum-queues: 8\n\
             threads-per-queue: 8\ntest-duration-sec: {seconds}\nreport-interval-sec: 1200\n\
             microsecond-histograms: {unit}\nread-reqs-per-sec: {reads}\nwrite-reqs-per-sec: {writes}\n\
             record-bytes: 1536\nrecord-bytes-range-max: 0\nlarge-block-op-kbytes: 128\n\
             replication-factor: 1\nupdate-pct: 0\ndefrag-lwm-pct: 50\ncommit-to-device: no\n\
             tomb-raider: no\n\nDERIVED CONFIGURATION\ninternal-read-reqs-per-sec: {reads}\n\n\
             HISTOGRAM NAMES\nreads\n/dev/nvme9n1-reads\nlarge-block-reads\nlarge-block-writes\n\n",
            self.version
        );
        let mut bins = [0; 20];
        for (hour, added) in self.hours.iter().enumerate() {
            for third in 1..=3 {
                for (bin, count) in *added {
                    bins[*bin] += count * 72 / 3 * self.load / 10;
                }
                let at = hour * 3_600 + third * 1_200;
                writeln!(text, "after {at} sec:\nrequests-queued: 0").unwrap();
                for name in
                    ["reads", "/dev/nvme9n1-reads", "large-block-reads", "large-block-writes"]
                {
                    histogram(&mut text, name, &bins);
                }
                text.push('\n');
            }
        }
        text
    }
}

/// Writes a histogram as `histogram_dump` does: up to four bins in a line, empty ones left out.
fn histogram(text: &mut String, name: &str, bins: &[u64]) {
    writeln!(text, "{name} ({} total)", bins.iter().sum::<u64>()).unwrap();
    let occupied: Vec<_> = bins.iter().enumerate().filter(|(_, count)| **count > 0).collect();
    for line in occupied.chunks(4) {
        for (bin, count) in line {
            write!(text, " ({bin:02}: {count:010})").unwrap();
        }
        text.push('\n');
    }
}

/// 2 % above 1 ms, 0.5 % above 8 ms, none above 64 ms, in both hours; the second is the worse one.
pub(crate) const PASSING: Log<'_> = Log {
    version: "6.4",
    load: 10,
    microseconds: false,
    hours: &[
        &[(0, 990_000), (1, 10_000 / 4 * 3), (4, 2_499)],
        &[(0, 980_001), (2, 15_000), (4, 4_998)],
    ],
};

pub(crate) fn import(bench: &Bench, name: &str, text_of_log: &str) -> String {
    std::fs::write(bench.path(&format!("{name}.log")), text_of_log).unwrap();
    let (input, output) = (format!("{name}.log"), format!("{name}.ssdg"));
    let call = bench
        .call(&["import", "--act", &input, "-o", &output, "--model", "Drive X", "--size", "960GB"]);
    assert_eq!(call.status.code(), Some(0), "{}", text(&call.stderr));
    unfolded(&text(&call.stderr))
}

pub(crate) fn run_of(bench: &Bench, file: &str) -> Value {
    let json: Value = serde_json::from_str(&bench.print(&["report", file, "--json"])).unwrap();
    json["runs"][0].clone()
}

/// Returns the reading `quantity` of the one step.
pub(crate) fn reading(bench: &Bench, file: &str, quantity: &str) -> f64 {
    let file = rusqlite::Connection::open(bench.path(file)).unwrap();
    let sql = "SELECT value FROM reading WHERE quantity = ?1";
    file.query_row(sql, [quantity], |row| row.get(0)).unwrap()
}

#[test]
fn the_shares_of_slow_reads_come_out_and_no_percentile_does() {
    let bench = Bench::new();
    let messages = import(&bench, "ten", &PASSING.text());
    assert!(messages.contains("1 test, imported from ACT 6.4"), "{messages}");
    assert!(messages.contains("no mean and no percentile"), "{messages}");
    let run = run_of(&bench, "ten.ssdg");
    assert_eq!(run["imported_from"], "ACT 6.4");
    assert_eq!(run["complete"], true, "{run:#}");
    let test = &run["tests"][0];
    assert_eq!(
        (&test["id"], &test["headline"]["value"]),
        (&"act-6".into(), &10.0.into()),
        "{test:#}"
    );
    // Of 999,999 reads of the second hour, 19,998 took longer than 1 ms and 4,998 longer than 8 ms.
    for (limit, share) in [("1ms", 1.999_8), ("8ms", 0.499_8), ("64ms", 0.0)] {
        let found = reading(&bench, "ten.ssdg", &format!("worst_slice_above_{limit}_percent"));
        assert!((found - share).abs() < 0.001, "{limit}: {found}");
    }
    let point = &test["points"][0]["metrics"];
    for key in ["lat_mean_us", "lat_p50_us", "lat_p99_us", "lat_p999_us", "lat_max_us"] {
        assert!(point[key].is_null(), "{key}: {point:#}");
    }
    // All reads, and both kinds of large requests.
    let iops = point["iops"].as_f64().unwrap();
    let total = query(&bench.path("ten.ssdg"), "SELECT sum(ios) FROM interval");
    assert!((iops - total as f64 / 7_200.0).abs() < 1e-6, "{iops} {total}");
    let markdown = bench.print(&["report", "ten.ssdg", "--markdown", "-o", "ten.html"]);
    assert!(markdown.contains("IMPORTED from ACT 6.4"), "{markdown}");
    let page = std::fs::read_to_string(bench.path("ten.html")).unwrap();
    assert!(page.contains("<strong>IMPORTED</strong>"));
    // No share is that of the suite's own run; the two are side by side, each with its mark.
    let own =
        ["run", "act", "sim:tiny", "--test", "act-6", "--shorten", "3600", "--out", "own.ssdg"];
    bench.print(&own);
    let both = bench.print(&["report", "own.ssdg", "ten.ssdg", "--markdown", "-o", "both.html"]);
    assert!(both.contains("IMPORTED from ACT 6.4") && both.contains("MODEL"), "{both}");
}

#[test]
fn loads_of_two_logs_are_compared_and_a_load_over_a_limit_has_not_passed() {
    let bench = Bench::new();
    import(&bench, "ten", &PASSING.text());
    import(&bench, "twenty", &Log { load: 20, ..PASSING }.text());
    let compared = bench.print(&["compare", "ten.ssdg", "twenty.ssdg"]);
    assert!(compared.contains("IMPORTED from ACT 6.4"), "{compared}");
    // 6 % above 1 ms in the first hour.
    let slow: &[(usize, u64)] = &[(0, 940_002), (3, 60_000)];
    let failing = Log { hours: &[slow, PASSING.hours[0]], ..PASSING };
    let messages = import(&bench, "slow", &failing.text());
    assert!(
        messages.contains("of the reads took longer than 1 ms in the worst slice"),
        "{messages}"
    );
    assert!((reading(&bench, "slow.ssdg", "borne")).abs() < 1e-9);
    // ACT 5 counts from the queue: another test.
    import(&bench, "five", &Log { version: "5.2", ..PASSING }.text());
    assert_eq!(run_of(&bench, "five.ssdg")["tests"][0]["id"], "act-5");
    // Another configuration is a load of its own, and says which entry differs.
    let other = PASSING.text().replace("defrag-lwm-pct: 50", "defrag-lwm-pct: 60");
    let messages = import(&bench, "other", &other);
    assert!(messages.contains("defrag-lwm-pct: 60"), "{messages}");
    assert_eq!(run_of(&bench, "other.ssdg")["tests"][0]["id"], "act-log-6");
}

#[test]
fn bins_of_microseconds_decide_only_what_their_borders_allow() {
    let bench = Bench::new();
    // Bin 10 is 512 to 1,024 µs: 4 % may lie above 1 ms or not; the limit is 5 %.
    let clear: &[(usize, u64)] = &[(8, 960_000), (10, 39_999)];
    let messages =
        import(&bench, "clear", &Log { microseconds: true, hours: &[clear], ..PASSING }.text());
    assert!(messages.contains("above 1.024, 8.192 and 65.536 ms"), "{messages}");
    assert!((reading(&bench, "clear.ssdg", "borne") - 1.0).abs() < 1e-9);
    // 6 % in that bin: it is not known whether the load passed.
    let open: &[(usize, u64)] = &[(8, 939_999), (10, 60_000)];
    let messages =
        import(&bench, "open", &Log { microseconds: true, hours: &[open], ..PASSING }.text());
    assert!(messages.contains("whether load 10x passed is not known"), "{messages}");
    let verdicts = "SELECT count(*) FROM reading WHERE quantity = 'borne'";
    assert_eq!(query(&bench.path("open.ssdg"), verdicts), 0);
    assert!(run_of(&bench, "open.ssdg")["tests"][0]["headline"]["value"].is_null());
}

#[test]
fn a_log_that_ends_early_says_so_with_the_line() {
    let bench = Bench::new();
    let whole = PASSING.text();
    let cut_line = whole.lines().position(|line| line == "after 7200 sec:").unwrap() + 1;
    let cut = &whole[..whole.rfind("large-block-writes").unwrap()];
    let messages = import(&bench, "cut", cut);
    assert!(messages.contains(&format!("within the block of line {cut_line}")), "{messages}");
    assert!(messages.contains("ends after 1 h 40 min of 2 h 00 min"), "{messages}");
    // A thread prints its message wherever the block of another one is.
    let error = "ERROR: large block writes can't keep up\ndrive(s) can't keep up - test stopped\n";
    let stopped = whole.replace("after 7200 sec:\n", &format!("after 7200 sec:\n{error}"));
    let messages = import(&bench, "stopped", &stopped);
    assert!(messages.contains("large block writes can't keep up"), "{messages}");
    assert!(
        (reading(&bench, "stopped.ssdg", "borne")).abs() < 1e-9,
        "a stopped test has not passed"
    );
}

#[test]
fn logs_that_are_foreign_or_contradict_themselves_are_refused_with_the_line() {
    let whole = PASSING.text();
    let line_of = |part: &str| whole.lines().position(|line| line == part).unwrap() + 1;
    let refuses = |changed: &str, part: &str| {
        let bench = Bench::new();
        std::fs::write(bench.path("act.log"), changed).unwrap();
        let call = bench.call(&["import", "--act", "act.log", "-o", "act.ssdg"]);
        let messages = unfolded(&text(&call.stderr));
        assert_eq!(call.status.code(), Some(2), "{part}: {messages}");
        assert!(messages.contains(part), "'{part}' is not in: {messages}");
        assert!(messages.contains("nothing was written"), "{messages}");
        assert_eq!(bench.names(), ["act.log"]);
    };
    refuses("", "no line begins with 'ACT version'");
    refuses("{ \"fio version\": \"fio-3.33\" }", "no line begins with 'ACT version'");
    refuses(
        &whole.replace("ACT version 6.4", "ACT version 4.0"),
        "line 2: it was written by ACT 4.0",
    );
    refuses(&whole[..whole.find("HISTOGRAM").unwrap()], "it ends before 'HISTOGRAM NAMES'");
    refuses(&whole.replace("ACT-STORAGE", "ACT-INDEX"), "no configuration of act_storage");
    refuses(&whole[..whole.find("after").unwrap()], "no block 'after N sec:'");
    let first = line_of("after 1200 sec:");
    refuses(
        &whole.replacen("(00: 0023760000)", "(00: 0023760001)", 1),
        &format!("line {}: 'reads' has", first + 2),
    );
    refuses(
        &whole.replacen("(00: 0023760000)", "(00: many)", 1),
        &format!("line {}: 'many' is not a number", first + 3),
    );
    refuses(
        &whole.replacen("(00: 0023760000)", "(99: 0023760000)", 1),
        "'99' is not a number up to 63",
    );
    let second = line_of("after 2400 sec:");
    refuses(
        &whole.replace("after 2400 sec:", "after 600 sec:"),
        &format!("line {second}: the block of 600 s follows"),
    );
    let again = &whole[whole.find("after 1200").unwrap()..whole.find("after 2400").unwrap()];
    let less = format!("{whole}{}", again.replace("after 1200", "after 9000"));
    refuses(&less, "has fewer requests than in the block before");
    refuses(&whole.replace("read-reqs-per-sec: 20000", "read-reqs-per-sec: 0"), "is not a rate");
    refuses(&whole.replace("service-threads: 40", "service-threads: 400000000"), "act_storage");
    refuses(&format!("{}\n{whole}", "x".repeat(5_000)), "line 1: it is longer than 4096 bytes");
    refuses(&whole.replace("20000", "1e300"), "act_storage");
    // One source.
    let bench = Bench::new();
    for arguments in [&["import"][..], &["import", "--act", "a", "--fio", "b"]] {
        assert_eq!(bench.call(arguments).status.code(), Some(2), "{arguments:?}");
    }
}
