//! The keys of a stream: the examples of the document are carried out on a virtual drive.

use crate::suites::support::{carried_out, rig};
use ssdgauge_analysis::Run;
use ssdgauge_core::{Bytes, Direction, Metric, Rig, Scope};
use ssdgauge_lab::{Options, PlanError, Suite, plan};

const DOCUMENT: &str = include_str!("../../../../docs/reference/suites.md");
const HEAD: &str = "[suite]\nid = \"own\"\nrevision = 1\ntitle = \"Own\"\n";

/// Carries out the example of the document whose test has the id `id`.
fn example(id: &str) -> Run {
    let named = format!("[[test]]\nid = \"{id}\"");
    let mut blocks =
        DOCUMENT.split("```toml\n").skip(1).filter_map(|rest| rest.split("```").next());
    let block = blocks.find(|block| block.contains(&named)).expect(id);
    let suite = Suite::parse("suites.md", &format!("{HEAD}{block}"));
    let suite = suite.unwrap_or_else(|error| panic!("{error}\nhint: {}", error.hint));
    let mut rig = rig("tiny");
    let plan = plan(&suite, rig.drive(), &Options::default()).unwrap();
    carried_out(&plan, &mut rig)
}

#[test]
fn flushes_and_trims_have_their_own_numbers_next_to_reads_and_writes() {
    let run = example("trims-beside-reads");
    let points = &run.tests[0].points;
    let value = |step: usize, metric, scope| points[step].point.totals.value(metric, scope);
    let directions: Vec<Vec<Direction>> = points.iter().map(|point| point.directions()).collect();
    assert_eq!(directions[1], [Direction::Trim]);
    assert_eq!(directions[3], [Direction::Write, Direction::Flush]);
    // A step without transfers counts what it has.
    assert_eq!(value(1, Metric::Iops, Scope::All), value(1, Metric::Iops, Scope::Trim));
    assert!(value(1, Metric::Iops, Scope::All).unwrap() > 100.0);
    // One with transfers counts only these.
    assert_eq!(value(3, Metric::Iops, Scope::All), value(3, Metric::Iops, Scope::Write));
    let flushes = value(3, Metric::Iops, Scope::Flush).unwrap();
    // 100 a second for two seconds; the step ends with the last write.
    assert!((85.0..101.0).contains(&flushes), "{flushes}");
    let json = ssdgauge_export::json(std::slice::from_ref(&run));
    let text = json["runs"][0]["tests"][0].to_string();
    for key in ["\"flush_lat_p99_us\"", "\"trim_iops\"", "\"write_iops\""] {
        assert!(text.contains(key), "{key}");
    }
}

#[test]
fn commits_have_a_flush_after_every_n_writes() {
    let run = example("commits");
    let ios = |step: usize, direction: Direction| {
        run.tests[0].points[step].point.totals.directions[direction as usize].ios
    };
    assert!(ios(0, Direction::Write).abs_diff(ios(0, Direction::Flush)) <= 1);
    assert_eq!((ios(1, Direction::Write), ios(1, Direction::Flush)), (8_192, 1_024));
    assert_eq!(ios(2, Direction::Flush), 0);
    assert!(run.tests[0].points[2].workload.streams[0].sync);
}

#[test]
fn hot_blocks_are_planned_and_carried_out() {
    let run = example("hot-blocks");
    let points = &run.tests[0].points;
    let distributions: Vec<String> =
        points.iter().map(|point| point.workload.streams[0].distribution.describe()).collect();
    assert_eq!(distributions, ["uniform", "zones 80/20 20/80", "Zipf 0.8"]);
    let amplification = |step: usize| {
        points[step].point.totals.value(Metric::WriteAmplification, Scope::All).unwrap()
    };
    assert!((0..3).all(|step| amplification(step) >= 1.0));
}

#[test]
fn a_share_of_random_requests_is_planned_carried_out_and_named() {
    let run = example("partly-random");
    let points = &run.tests[0].points;
    let iops = |step: usize| points[step].point.totals.value(Metric::Iops, Scope::All).unwrap();
    // The drive reads ahead of sequential reads only: one request at a time takes the mean of both latencies.
    let mean = 1.0 / (0.3 / iops(0) + 0.7 / iops(2));
    assert!(iops(0) < iops(1) && iops(1) < iops(2), "{} {} {}", iops(0), iops(1), iops(2));
    assert!((iops(1) / mean - 1.0).abs() < 0.3, "{} instead of {mean}", iops(1));
    let page = ssdgauge_page::page(std::slice::from_ref(&run), &Default::default());
    let page = page.replace('\u{a0}', " ");
    assert!(page.contains("random, 30 % random, sequential"), "the page names the orders");
}

#[test]
fn sizes_are_planned_and_carried_out_with_their_shares() {
    let run = example("mixed-sizes");
    let points = &run.tests[0].points;
    let words: Vec<String> =
        points.iter().map(|point| point.workload.streams[0].size_words()).collect();
    let plain = words[0].replace('\u{a0}', " ");
    assert_eq!(plain, "60 % 4 KiB, 30 % 16 KiB, 10 % 128 KiB");
    for point in points {
        let totals = &point.point.totals;
        let (mut ios, mut bytes) = (0, 0);
        for direction in [Direction::Read, Direction::Write] {
            let one = &totals.directions[direction as usize];
            (ios, bytes) = (ios + one.ios, bytes + one.bytes);
        }
        assert_eq!((ios, bytes), (6_400, 128_000 * 1_024), "64 decks of 2,000 KiB");
        let [mb_s, iops] = [Metric::ThroughputMbS, Metric::Iops]
            .map(|metric| totals.value(metric, Scope::All).unwrap());
        assert!((mb_s * 1e6 / iops / 20_480.0 - 1.0).abs() < 1e-9, "{mb_s} {iops}");
    }
    let page = ssdgauge_page::page(std::slice::from_ref(&run), &Default::default());
    assert!(page.replace('\u{a0}', " ").contains(&plain), "the page states the sizes");
}

#[test]
fn gaps_and_pauses_are_planned_and_carried_out() {
    let run = example("gaps");
    let points = &run.tests[0].points;
    let value = |step: usize, metric| points[step].point.totals.value(metric, Scope::All).unwrap();
    // Six of ten seconds are on; a drive that rests between writes bursts faster, not slower.
    let share = value(1, Metric::Iops) / value(0, Metric::Iops);
    assert!((0.55..1.0).contains(&share), "{share}");
    // One request at a time: its latency and its think time make up the second.
    let latency = value(2, Metric::LatMeanUs);
    let think = 1e6 / value(2, Metric::Iops) - latency;
    assert!((think - 1_000.0).abs() < 2.0, "{think} µs beside a latency of {latency} µs");
    let stream = &points[3].workload.streams[0];
    assert!(stream.offset.0 > 0 && stream.offset.0 + stream.span.0 <= run.head.drive.capacity.0);
    assert_eq!(
        (stream.stride, stream.places()),
        (Some(Bytes(65_536)), stream.span.0.div_ceil(65_536))
    );
    let page = ssdgauge_page::page(std::slice::from_ref(&run), &Default::default());
    for words in ["2 s on and 2 s off in turn", "1 ms of think time", "a request every 64 KiB"] {
        assert!(page.replace('\u{a0}', " ").contains(words), "{words}");
    }
}

#[test]
fn processors_are_named_and_change_nothing_on_a_virtual_drive() {
    let run = |keys: &str| {
        let text = format!(
            "{HEAD}[[test]]\nid = \"t\"\nrevision = 1\ntitle = \"T\"\nstream = {{ access = \"random\", \
             block_size = \"4KiB\", read_percent = 0, threads = 4{keys} }}\nuntil = {{ time = \"1s\" }}\n\
             score = {{ mean_of = \"iops\" }}\n"
        );
        let suite = Suite::parse("own.toml", &text).unwrap_or_else(|error| panic!("{error}"));
        let mut rig = rig("tiny");
        let plan = plan(&suite, rig.drive(), &Options::default()).unwrap();
        carried_out(&plan, &mut rig)
    };
    let (any, chosen) = (run(""), run(", cpus = \"0-1,4096\""));
    let iops = |run: &Run| run.tests[0].points[0].point.totals.value(Metric::Iops, Scope::All);
    assert_eq!(iops(&any), iops(&chosen));
    let page = |run| ssdgauge_page::page(std::slice::from_ref(run), &Default::default());
    assert!(page(&chosen).contains("on processors 0-1,4096"), "the page names them");
    assert!(!page(&any).contains("on processors"));
}

#[test]
fn ranges_and_zones_that_a_target_does_not_have_are_refused() {
    let suite = |keys: &str| {
        let text = format!(
            "{HEAD}[[test]]\nid = \"t\"\nrevision = 1\ntitle = \"T\"\nstream = {{ access = \"random\", \
             block_size = \"4KiB\", read_percent = 0, {keys} }}\nuntil = {{ time = \"1s\" }}\n\
             score = {{ mean_of = \"iops\" }}\n"
        );
        Suite::parse("own.toml", &text).unwrap_or_else(|error| panic!("{error}"))
    };
    let rig = rig("tiny");
    let capacity = rig.drive().capacity;
    let range = |keys: &str, options: &Options| {
        let plan = plan(&suite(keys), rig.drive(), options)?;
        let stream = plan.steps().find_map(|(_, _, step)| step.action.workload()).unwrap();
        Ok::<_, PlanError>((stream.streams[0].offset, stream.streams[0].span, plan.span_scaled))
    };
    let half = Bytes(capacity.0 / 2 / 4_096 * 4_096);
    let all = Options::default();
    let (offset, span, _) = range("offset = \"50%\"", &all).unwrap();
    assert!(offset == half && offset + span <= capacity && capacity.0 - (offset + span).0 < 4_096);
    assert_eq!(range("offset = \"50%\", span = \"50%\"", &all).unwrap().1, half);
    assert_eq!(range("offset = \"10001B\", span = \"1MiB\"", &all).unwrap().0, Bytes(8_192));
    for (keys, words) in [
        (
            "offset = \"60%\", span = \"900MB\"",
            "stream 'main' from 600 MB to 1.50 GB; sim:tiny ends at 1.00 GB",
        ),
        ("offset = \"100%\"", "from 1.00 GB to 1.00 GB"),
        ("offset = \"9TB\"", "needs 9.00 TB; sim:tiny has 1.00 GB"),
    ] {
        let error = range(keys, &all).unwrap_err().to_string();
        assert!(error.contains(words), "{keys}: {error}");
    }
    let scaled = Options { scale_spans: true, ..Options::default() };
    let (offset, span, is_scaled) = range("offset = \"60%\", span = \"900MB\"", &scaled).unwrap();
    assert!(is_scaled && offset + span <= capacity && span > Bytes(capacity.0 / 3));
    let zones = |zones: &str| {
        let text = format!(
            "{HEAD}[[test]]\nid = \"t\"\nrevision = 1\ntitle = \"T\"\nstream = {{ access = {{ zones = [{zones}] }}, \
             block_size = \"4KiB\", read_percent = 0, span = \"40KiB\" }}\nuntil = {{ time = \"1s\" }}\n\
             score = {{ mean_of = \"iops\" }}\n"
        );
        plan(&Suite::parse("own.toml", &text).unwrap(), rig.drive(), &all).map(|_| ())
    };
    zones("[0.5, 0.1], [0.5, 0.9]").unwrap();
    let error = zones("[0.5, 0.04], [0.5, 0.96]").unwrap_err().to_string();
    assert!(error.contains("a zone of 4.00 % of its 10 blocks: less than one"), "{error}");
    let needed = ssdgauge_lab::needed_span(&suite("offset = \"1MiB\", span = \"2MiB\""), &[]);
    assert_eq!(needed, Some(Bytes(3 << 20)));
}
