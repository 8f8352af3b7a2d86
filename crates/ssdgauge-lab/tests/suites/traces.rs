//! Suites of generated traces: their requests have the published sums, and runs have the shape of a drive.

use crate::suites::support::{planned, rig, run};
use ssdgauge_core::{
    Bytes, Direction, DriveInfo, FindingKind, GeneratedRequests, GeneratedTrace, Metric,
    RecordedRequests, RecordedTime, Rig, Scope,
};
use ssdgauge_lab::{Options, Suite, find_built_in, plan};

/// Suite, reads, writes, their bytes in units of 10 MB, mean depth, sequential share in percent.
type Published = (&'static str, [u64; 2], [u64; 2], f64, f64);

const PUBLISHED: [Published; 3] = [
    ("like-destroyer", [38_830_000, 10_980_000], [158_302, 87_562], 5.5, 67.0),
    ("like-heavy", [2_170_000, 1_780_000], [4_863, 10_632], 4.6, 43.0),
    // The table of depths, whose mean is not the one that is published next to it.
    ("like-light", [372_630, 459_709], [1_797, 2_325], 1.88, 70.0),
];

/// Returns the traces of `suite` on a drive with `capacity`, divided by `shorten`.
fn traces(suite: &str, capacity: u64, shorten: u32) -> Vec<GeneratedTrace> {
    let suite = find_built_in(suite).unwrap();
    let drive = DriveInfo { capacity: Bytes(capacity), ..rig("tiny").drive().clone() };
    let plan = plan(&suite, &drive, &Options { shorten, ..Options::default() }).unwrap();
    let replays = plan.steps().filter_map(|(_, _, step)| step.action.replay().cloned());
    replays.map(|replay| replay.generated.unwrap()).collect()
}

#[test]
fn generated_traces_have_the_published_sums() {
    for (suite, requests, bytes, depth, _) in PUBLISHED {
        let [empty, full] = traces(suite, 512_000_000_000, 1).try_into().unwrap();
        assert_eq!(empty.requests(), requests, "{suite}");
        assert_eq!((&empty.lengths, empty.share), (&full.lengths, 1.0), "{suite}");
        for (generated, published) in empty.bytes().iter().zip(bytes) {
            let ratio = generated.0 as f64 / (published as f64 * 1e7);
            assert!((ratio - 1.0).abs() < 1e-3, "{suite}: {generated:?} of {published}0 MB");
        }
        let (_, generated) = empty.burst_and_depth();
        assert!((generated / depth - 1.0).abs() < 0.01, "{suite}: depth {generated}");
        for one in empty.compared.iter().filter(|one| one.figure.starts_with("requests")) {
            assert!((one.published - one.generated).abs() < 0.15, "{suite}: {one:?}");
        }
    }
}

#[test]
fn the_requests_of_a_generated_trace_are_counted_as_it_says() {
    for (suite, _, _, depth, sequential) in PUBLISHED {
        let trace = &traces(suite, 512_000_000_000, if suite == "like-light" { 8 } else { 200 })[0];
        let mut requests = GeneratedRequests::new(trace);
        let (mut count, mut depths, mut in_burst) = ([0; 2], 0, 0);
        let (mut ends, mut follows) = ([u64::MAX; 2], 0);
        while let Some(one) = requests.next_request().unwrap() {
            in_burst = match one.time {
                RecordedTime::AfterCompletion(_) => 1,
                RecordedTime::InBurst(_) => in_burst + 1,
            };
            depths += in_burst;
            let side = one.direction as usize;
            count[side] += 1;
            follows += u64::from(ends[side] == one.offset);
            ends[side] = one.offset + one.length;
        }
        assert_eq!(count, trace.requests(), "{suite}");
        let all = (count[0] + count[1]) as f64;
        let mean = depths as f64 / all;
        assert!((mean / depth - 1.0).abs() < 0.05, "{suite}: mean depth {mean}");
        let share = 100.0 * follows as f64 / all;
        assert!((share - sequential).abs() < 0.5, "{suite}: {share} % sequential");
    }
}

#[test]
fn a_smaller_target_gets_its_share_and_the_plan_says_so() {
    let [empty, _] = traces("like-heavy", 16_000_000_000, 1).try_into().unwrap();
    assert_eq!(empty.requests(), [135_625, 111_250]);
    assert_eq!(empty.share_words(), "1/16 of the requests");
    assert_eq!(empty.span.0, 4_000_000_000 / 131_072 * 131_072);
    let plan = planned("like-heavy", &[], &rig("tiny"), 1);
    assert!(plan.span_scaled, "results of different shares are never compared");
    let step = plan.steps().find(|(_, _, step)| step.action.replay().is_some()).unwrap().2;
    let words = step.action.describe();
    for part in
        ["1/256 of the requests", "seed 2011", "mean depth 4.6 / 4.6", "sequential, % 43 / 43"]
    {
        assert!(words.contains(part), "{part}: {words}");
    }
}

#[test]
fn a_full_drive_is_slower_than_an_empty_one_in_the_heavy_trace() {
    let run = run("like-heavy", &[], "tlc-client?capacity=16GB", 1);
    assert!(run.complete);
    let [empty, full] = [0, 1].map(|number| {
        let test = &run.tests[number];
        let point = &test.points[0];
        let totals = &point.point.totals;
        let bytes = |direction: Direction| totals.directions[direction as usize].bytes;
        assert_eq!(totals.directions.iter().map(|one| one.ios).sum::<u64>(), 246_875);
        // A sixteenth of 48.63 and of 106.32 GB.
        assert!((bytes(Direction::Read) as f64 / 3.039e9 - 1.0).abs() < 0.01);
        assert!((bytes(Direction::Write) as f64 / 6.645e9 - 1.0).abs() < 0.01);
        let found = |kind| test.findings.iter().any(|one| one.finding.kind == kind);
        assert!(found(FindingKind::Generated) && found(FindingKind::Replayed));
        let latency = |scope| totals.value(Metric::LatMeanUs, scope).unwrap();
        assert!(latency(Scope::Read) > 0.0 && latency(Scope::Write) > 0.0);
        assert_eq!(test.also.len(), 5);
        assert!(test.also.iter().all(|also| also.value.is_some()), "{:?}", test.also);
        test.headline.value.unwrap()
    });
    // An empty drive of this class has its whole cache; a full one has its smallest, and collects.
    assert!(full < 0.9 * empty, "{full} MB/s full, {empty} MB/s empty");
}

#[test]
fn drives_rank_by_their_busy_time_as_by_their_latencies() {
    let drives = ["like-850-pro", "like-970-evo-1tb", "like-900p"];
    let measured = drives.map(|drive| {
        let run = run("like-light", &["like-light-empty"], &format!("{drive}?capacity=16GB"), 1);
        let test = &run.tests[0];
        let totals = &test.points[0].point.totals;
        let value = |metric| totals.value(metric, Scope::All).unwrap();
        let bytes: u64 = totals.directions.iter().map(|one| one.bytes).sum();
        // Every burst but the first waits for 25 ms or for nothing.
        let idles = value(Metric::IdleS) / 0.025;
        assert!(idles > 5.0 && (idles - idles.round()).abs() < 1e-6, "{drive}: {idles}");
        let busy = totals.elapsed.as_secs_f64() - value(Metric::IdleS);
        let headline = test.headline.value.unwrap();
        assert!((headline / (bytes as f64 / 1e6 / busy) - 1.0).abs() < 1e-9, "{drive}");
        let within = test.headline.interval.within_run();
        assert!(within.is_none_or(|within| within.low <= within.mean), "{drive}: {within:?}");
        (headline, value(Metric::ThroughputMbS), value(Metric::LatMeanUs), value(Metric::IdleS))
    });
    println!("{measured:?}");
    let [sata, nvme, optane] = measured;
    assert_eq!((sata.3, nvme.3), (nvme.3, optane.3), "the idle time is that of the trace");
    for (slower, faster) in [(sata, nvme), (nvme, optane)] {
        let (times, by_latency) = (faster.0 / slower.0, slower.2 / faster.2);
        // A drive of half the latency moves the data of a burst in half the time.
        assert!(times > 1.0 + 0.5 * (by_latency - 1.0), "{times} against {by_latency}");
        assert!(times > 1.2 * faster.1 / slower.1, "the whole time hides the difference");
    }
}

#[test]
fn a_trace_that_contradicts_itself_is_refused_with_its_line() {
    let file = |trace: &str| {
        format!(
            "[suite]\nid = \"own\"\nrevision = 1\ntitle = \"O\"\n[[test]]\nid = \"t\"\nrevision = 1\n\
             title = \"T\"\nscore = {{ mean_of = \"iops\" }}\ntrace = {{ name = \"t\", {trace} }}\n"
        )
    };
    let sums = "reads = 10, writes = 10, read = \"40KiB\", written = \"40KiB\"";
    let rest = "depth = 2.0, sequential_percent = 50.0, idle_cut = \"25ms\", idle_percent = 1.0, \
                span = \"50%\", whole_from = \"1GB\", seed = 1";
    assert!(Suite::parse("own.toml", &file(&format!("{sums}, {rest}"))).is_ok());
    for (trace, words) in [
        (format!("{sums}, {}", rest.replace("2.0", "0.5")), "mean depth"),
        (format!("{sums}, {}", rest.replace("50.0", "150.0")), "shares"),
        (format!("{sums}, {rest}, sizes = [[\"4KiB\", 80.0], [\"8KiB\", 30.0]]"), "lengths"),
        (format!("{sums}, {rest}, depths = [[1, 2, 50.0], [4, 5, 50.0]]"), "classes of depths"),
        (format!("{}, {rest}", sums.replace("reads = 10", "reads = 0")), "numbers and the bytes"),
    ] {
        let error = Suite::parse("own.toml", &file(&trace)).unwrap_err();
        assert!(
            error.to_string().contains("own.toml:10") && error.to_string().contains(words),
            "{error}"
        );
    }
    let both = file(&format!("{sums}, {rest}")) + "until = { time = \"1s\" }\n";
    assert!(Suite::parse("own.toml", &both).unwrap_err().to_string().contains("only load"));
}
