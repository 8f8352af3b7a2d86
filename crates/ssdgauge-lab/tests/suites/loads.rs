//! The suites of caches, states, pulses, commits, experts, checkpoints and applications: the shape of their
//! results.

use crate::suites::support::{carried_out, remarks, rig, run};
use ssdgauge_analysis::{Run, TestRun};
use ssdgauge_core::{Metric, Rig, Scope, Totals};
use ssdgauge_lab::{Options, Suite, plan};
use ssdgauge_statistics::separation::{Class, Separation};

/// Returns the values of the points of `test`.
fn values(test: &TestRun, metric: Metric) -> Vec<f64> {
    let value = |point: &ssdgauge_analysis::PointRun| point.point.totals.value(metric, Scope::All);
    test.points.iter().map(|point| value(point).unwrap_or(0.0)).collect()
}

fn test<'a>(run: &'a Run, id: &str) -> &'a TestRun {
    run.tests.iter().find(|test| test.test.id == id).unwrap()
}

#[test]
fn a_fill_shows_the_cache_the_speed_beyond_it_and_the_mean() {
    let run = run("cache-fill", &[], "tlc-client?capacity=60GB", 1);
    let fill = &run.tests[0];
    let first = fill.points[0].seconds().next().unwrap().throughput_mb_s();
    let (mean, last) = (fill.headline.value.unwrap(), fill.also[0].value.unwrap());
    assert!(first > 2.0 * last && mean > last && mean < first, "{first} {mean} {last}");
    let written = fill.points[0].point.totals.directions[1].bytes;
    assert!(written.abs_diff(run.head.drive.capacity.0) < 1 << 20, "{written}");
    assert!(remarks(&run, 0).contains("SLC cache of"), "{}", remarks(&run, 0));
}

#[test]
fn a_used_drive_is_slower_than_a_fresh_and_a_trimmed_one() {
    let run = run("four-states", &[], "tiny", 1);
    let iops = values(&run.tests[0], Metric::Iops);
    let (fresh, used, rested, trimmed) = (iops[0], iops[3], iops[4], iops[6]);
    assert!(used < 0.5 * fresh && trimmed > 0.9 * fresh, "{iops:?}");
    assert!(rested < 0.9 * fresh, "a rest frees no spare area: {iops:?}");
    assert_eq!(run.tests[0].headline.value, Some(used));
}

/// Returns the mean rate of the first and of the last seconds of step `step`, without the second in which
/// a buffer or a cache takes the writes.
fn ends(test: &TestRun, step: usize) -> (f64, f64) {
    let rates: Vec<f64> = test.points[step].seconds().map(|second| second.iops()).collect();
    let mean = |part: &[f64]| part.iter().sum::<f64>() / part.len() as f64;
    let (after, third) = (&rates[2..], (rates.len() - 2) / 3);
    (mean(&after[..third]), mean(&after[after.len() - third..]))
}

#[test]
#[ignore = "second tier"]
fn the_steps_that_are_compared_find_a_drive_in_its_steady_state() {
    for (target, seed) in [("sata-datacentre", 71), ("nvme-datacentre", 72), ("tlc-client", 73)] {
        let target = format!("{target}?capacity=4GB&seed={seed}");
        for (suite, steps) in [("four-states", [3, 4]), ("pulse", [0, 0])] {
            let run = run(suite, &[], &target, 1);
            for step in steps {
                let (first, last) = ends(&run.tests[0], step);
                assert!(
                    (last / first - 1.0).abs() < 0.08,
                    "{suite} {target} {step}: {first} {last}"
                );
            }
        }
    }
}

#[test]
fn writes_in_pulses_have_off_times_and_use_what_the_drive_frees_in_them() {
    let run = run("pulse", &[], "tlc-client?capacity=10GB", 1);
    let points = &run.tests[0].points;
    let iops: Vec<Vec<f64>> =
        points.iter().map(|point| point.seconds().map(|second| second.iops()).collect()).collect();
    assert_eq!((iops[0].len(), iops[1].len()), (100, 200));
    assert!(iops[0].iter().all(|second| *second > 0.0));
    assert!(iops[1].iter().skip(3).step_by(4).all(|second| *second == 0.0), "{:?}", iops[1]);
    let sum = |seconds: &[f64]| seconds.iter().sum::<f64>();
    // 100 s of on times each.
    assert!(sum(&iops[1]) > 1.05 * sum(&iops[0]), "{} {}", sum(&iops[1]), sum(&iops[0]));
    // A request counts as often as it takes long, so the slow ones weigh more than by their number.
    let [weighted, by_number] =
        [Metric::LatTimeP99Us, Metric::LatP99Us].map(|metric| values(&run.tests[0], metric));
    assert_eq!(run.tests[0].headline.value, Some(weighted[1]));
    assert!(weighted[0] > by_number[0] && weighted[1] > by_number[1], "{weighted:?} {by_number:?}");
    // The off times are those of the load, so the worst second is given for the first step only.
    let worst = |step: usize| points[step].point.totals.value(Metric::WorstSecondIops, Scope::All);
    let least = iops[0].iter().copied().fold(f64::INFINITY, f64::min);
    assert_eq!((worst(0), worst(1)), (Some(least), None));
}

#[test]
fn random_writes_degrade_a_mixed_load_in_thirty_one_steps() {
    let run = run("degrade-recover", &[], "tiny", 100);
    let test = &run.tests[0];
    let labels: Vec<&str> = test.points.iter().map(|point| point.point.label.as_str()).collect();
    assert_eq!(labels.len(), 31);
    assert_eq!((labels[1], labels[25], labels[30]), ("degrade 1", "steady 5", "recovery 5"));
    let sizes = &test.points[0].workload.streams[0].sizes;
    assert_eq!((sizes.0.len(), sizes.mean()), (16, Some(514.0 * 1_024.0)));
    let throughput = values(test, Metric::ThroughputMbS);
    assert_eq!(test.headline.value, Some(throughput[25]));
    // Writes of the first minutes fill the spare area; those of the last ones collect it.
    assert!(throughput[24] < 1.05 * throughput[0], "{throughput:?}");
    assert!(throughput[30] > 0.9 * throughput[25], "{throughput:?}");
}

#[test]
fn a_drive_with_a_safe_buffer_commits_more_often_than_one_without() {
    let of = |target: &str| run("commit", &["etcd", "fua", "flush"], target, 20);
    let (client, safe) = (of("tlc-client?capacity=8GB"), of("nvme-datacentre?capacity=8GB"));
    for id in ["etcd", "fua"] {
        let [client, safe] = [&client, &safe].map(|run| test(run, id).headline.value.unwrap());
        assert!(safe > 5.0 * client, "{id}: {client} {safe}");
    }
    let etcd = test(&safe, "etcd").points[0].point.totals.clone();
    let [writes, flushes] = [1, 2].map(|direction| etcd.directions[direction].ios);
    assert!(writes.abs_diff(flushes) <= 1, "{writes} {flushes}");
    assert!(test(&client, "flush").headline.value.unwrap() > 0.0);
}

#[test]
fn the_latency_of_commits_is_that_of_their_flushes_on_every_surface() {
    // Without a safe buffer a flush waits until a page is programmed, which takes 2 ms on this drive; a write
    // is taken into the buffer within microseconds.
    let run = run("commit", &["etcd", "busy"], "tiny?nand.t_prog_us=2000&slc.t_prog_us=2000", 20);
    let point = &test(&run, "etcd").points[0];
    let totals = &point.point.totals;
    let us = |metric, scope| totals.value(metric, scope).unwrap();
    assert!(us(Metric::LatP99Us, Scope::Write) < 200.0, "{}", us(Metric::LatP99Us, Scope::Write));
    for metric in [Metric::LatMeanUs, Metric::LatP50Us, Metric::LatP99Us, Metric::LatMaxUs] {
        assert!(us(metric, Scope::All) >= 1_900.0, "{metric:?}: {}", us(metric, Scope::All));
        assert_eq!(us(metric, Scope::All), us(metric, Scope::Flush), "{metric:?}");
    }
    // One thread commits all the time: the mean time of a commit is the time of the step by their number.
    let by_rate = 1e6 / us(Metric::Iops, Scope::All);
    let commit = us(Metric::CommitMeanUs, Scope::All);
    assert!(commit >= 2_000.0 && (commit / by_rate - 1.0).abs() < 0.01, "{commit} {by_rate}");
    assert!(point.seconds().filter_map(|second| second.lat_p99_us).all(|p99| p99 >= 1_900.0));

    let runs = std::slice::from_ref(&run);
    let json = ssdgauge_export::json(runs);
    let of_test = |id: &str| {
        let tests = json["runs"][0]["tests"].as_array().unwrap();
        tests.iter().find(|test| test["id"] == id).unwrap().clone()
    };
    let etcd = &of_test("etcd")["points"][0];
    assert_eq!(etcd["latency_of"], "flushes");
    assert_eq!(etcd["metrics"]["lat_p99_us"], etcd["metrics"]["flush_lat_p99_us"]);
    assert_eq!(etcd["metrics"]["commit_mean_us"], commit);
    // During another load, each stream has its own: that of all is one of reads and writes.
    let busy = test(&run, "busy");
    let (point, json) = (&busy.points[0], &of_test("busy")["points"][0]);
    assert_eq!(json["latency_of"], "reads and writes");
    let commits = &point.point.streams[1];
    let mean = |scope| commits.value(Metric::LatMeanUs, scope).unwrap();
    assert_eq!(mean(Scope::All), mean(Scope::Flush));
    assert!(mean(Scope::All) > mean(Scope::Write));

    let of_value = |place: &str, key: &str| {
        let values = ssdgauge_export::values(&run);
        let found = values.into_iter().find(|one| {
            one.test.test.id == "etcd" && one.place.starts_with(place) && one.key == key
        });
        found.unwrap().latency_of
    };
    let label = &test(&run, "etcd").points[0].point.label;
    assert_eq!(of_value(label, "lat_p99_us").as_deref(), Some("flushes"));
    assert_eq!(of_value(label, "write_lat_p99_us").as_deref(), Some("writes"));
    assert_eq!(of_value(label, "iops"), None);

    let page = ssdgauge_page::page(runs, &ssdgauge_analysis::PageOptions::default());
    assert!(page.contains("Latency of flushes is measured from"), "no caption says whose it is");
    assert!(page.contains("latency of flushes"), "no row says whose it is");
}

#[test]
fn experts_are_read_faster_by_several_threads_up_to_the_link() {
    let run = run("ai-experts", &[], "nvme-datacentre?capacity=8GB", 10);
    let throughput = values(&run.tests[0], Metric::ThroughputMbS);
    assert_eq!(throughput.len(), 15);
    for threads in throughput.chunks(5) {
        assert!(threads[4] >= threads[0] && threads[4] > 1_000.0, "{throughput:?}");
    }
}

#[test]
fn the_flush_at_the_end_of_a_checkpoint_is_part_of_its_time() {
    let run = run("ai-checkpoint", &[], "tlc-client?capacity=8GB", 1);
    let test = &run.tests[0];
    let [write, read] = [0, 1].map(|step: usize| &test.points[step].point.totals);
    // The span of 105 GB is scaled to the drive, and each byte is written and read once.
    assert!(run.head.plan.span_scaled);
    let bytes = |totals: &Totals, side: usize| totals.directions[side].bytes;
    assert_eq!(bytes(write, 1), bytes(read, 0));
    assert!(run.head.drive.capacity.0.abs_diff(bytes(write, 1)) < 8 << 20, "{}", bytes(write, 1));
    let value = |metric, scope| write.value(metric, scope).unwrap();
    let flush_s = value(Metric::LatMeanUs, Scope::Flush) / 1e6;
    assert_eq!(write.directions[2].ios, 1);
    assert!(flush_s > 0.0);
    let seconds = test.points[0].point.seconds.totals();
    let seconds: f64 = seconds.map(|second| second.elapsed.as_secs_f64()).sum();
    let time = value(Metric::TimeS, Scope::All);
    assert!((time - seconds).abs() < 1e-6 && time > flush_s, "{time} {seconds} {flush_s}");
    assert_eq!(test.headline.value, Some(time));
    assert_eq!(read.directions[2].ios, 0);
}

#[test]
fn the_score_of_a_stream_is_the_latency_of_its_requests_during_the_load() {
    let run = run("ssd-iq", &["latency", "latency-curve"], "nvme-datacentre?capacity=4GB", 50);
    let latency = test(&run, "latency");
    let point = &latency.points[0].point;
    let of = |stream: usize| point.streams[stream].value(Metric::LatMeanUs, Scope::Read);
    assert_eq!(latency.headline.value, of(1));
    assert_ne!(latency.headline.value, of(0));
    let load = point.streams[0].value(Metric::Iops, Scope::All);
    assert_eq!(latency.also[3].value, load);
    // Reads wait behind writes that arrive faster than the drive collects.
    let alone = test(&run, "latency-curve").points[0].point.streams[1].clone();
    let median = |totals: &Totals| totals.value(Metric::LatP50Us, Scope::All);
    assert!(median(&point.streams[1]) > median(&alone), "{load:?}");
}

#[test]
fn overwrites_amplify_and_hot_zones_amplify_in_another_way() {
    let run = run("ssd-iq", &["uniform", "zones"], "tiny", 10);
    let [uniform, zones] = ["uniform", "zones"].map(|id| test(&run, id));
    assert_eq!((uniform.points.len(), zones.points.len()), (12, 12));
    for test in [uniform, zones] {
        let of_step = |place: usize, metric| {
            let totals = &test.points[place].point.totals;
            totals.value(metric, Scope::All)
        };
        assert_eq!(test.points[6].point.label, "last pass");
        assert_eq!(test.headline.value, of_step(6, Metric::Iops));
        assert_eq!(test.also[0].value, of_step(6, Metric::WriteAmplification));
        // A pass of 4 KiB over the whole drive.
        let written = test.points[6].point.totals.directions[1].bytes;
        assert!(written.abs_diff(run.head.drive.capacity.0 / 10) < 64 << 20, "{written}");
    }
    let [one, other] = [uniform, zones].map(|test| test.also[0].value.unwrap());
    assert!(one > 1.5 && other > 1.5 && (one - other).abs() > 0.02, "{one} {other}");
}

#[test]
fn an_application_that_waits_for_fsync_is_slower_than_one_that_does_not() {
    let run = run("fsload", &[], "tlc-client?capacity=4GB", 5);
    for id in ["log", "database", "mail"] {
        let iops = values(test(&run, id), Metric::Iops);
        assert!(iops[1] < 0.8 * iops[0], "{id}: {iops:?}");
    }
    let copy = values(test(&run, "copy"), Metric::TimeS);
    assert!(copy[1] > copy[0], "{copy:?}");
}

const OVERWRITES: &str = r#"
[suite]
id = "own"
revision = 1
title = "Own"
[[test]]
id = "uniform"
revision = 1
title = "Uniform"
prepare = [{ purge = true }, { fill = "sequential" }]
steps = [
    { label = "overwrite", stream = { access = "random", block_size = "4KiB", read_percent = 0, queue_depth = 32 }, until = { passes = 3 } },
    { label = "last pass", stream = { access = "random", block_size = "4KiB", read_percent = 0, queue_depth = 32 }, until = { passes = 1 } },
]
score = { metric = "iops", at = 2 }
[[test]]
id = "zones"
revision = 1
title = "Zones"
prepare = [{ purge = true }, { fill = "sequential" }]
steps = [
    { label = "overwrite", stream = { access = { zones = [[0.8, 0.2], [0.2, 0.8]] }, block_size = "4KiB", read_percent = 0, queue_depth = 32 }, until = { passes = 5 } },
    { label = "last pass", stream = { access = { zones = [[0.8, 0.2], [0.2, 0.8]] }, block_size = "4KiB", read_percent = 0, queue_depth = 32 }, until = { passes = 1 } },
]
score = { metric = "iops", at = 2 }
"#;

/// Returns the verdict on hot and cold writes of `target`, and the remarks on its test.
fn separation(target: &str) -> (Separation, String) {
    let suite = Suite::parse("own.toml", OVERWRITES).unwrap();
    let mut rig = rig(target);
    let plan = plan(&suite, rig.drive(), &Options::default()).unwrap();
    let run = carried_out(&plan, &mut rig);
    assert_eq!(test(&run, "uniform").separation, None);
    let place = run.tests.iter().position(|test| test.test.id == "zones").unwrap();
    (test(&run, "zones").separation.unwrap(), remarks(&run, place))
}

#[test]
fn a_report_says_whether_a_drive_separates_hot_and_cold_writes() {
    let (mixing, said) = separation("nvme-datacentre?capacity=2GB");
    // The closed form is that of collection in the order of writing; the drive collects greedily.
    assert!((mixing.measured / mixing.mixed - 1.0).abs() < 0.1, "{mixing:?}");
    assert_eq!(mixing.class(), Class::DoesNot, "{mixing:?}");
    assert!(said.contains("does not separate hot and cold writes"), "{said}");
    let (apart, said) = separation("nvme-datacentre?capacity=2GB&gc.policy=cost-benefit");
    assert_eq!(apart.class(), Class::Separates, "{apart:?}");
    assert!(said.contains("separates hot and cold writes: write amplification"), "{said}");
    assert!(apart.measured > apart.ideal && apart.measured < mixing.measured, "{apart:?}");
}
