//! The suites of caches, states, pulses, commits and experts: the shape of their results.

use crate::support::{remarks, run};
use ssdgauge_core::{Metric, Scope};
use ssdgauge_report::{Run, TestRun};

/// Returns the values of the points of `test`.
fn values(test: &TestRun, metric: Metric) -> Vec<f64> {
    let value = |point: &ssdgauge_report::PointRun| point.point.totals.value(metric, Scope::All);
    test.points.iter().map(|point| value(point).unwrap_or(0.0)).collect()
}

fn test<'a>(run: &'a Run, id: &str) -> &'a TestRun {
    run.tests.iter().find(|test| test.test.id == id).unwrap()
}

#[test]
fn a_fill_shows_the_cache_the_speed_behind_it_and_the_mean() {
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
    let (fresh, used, rested, trimmed) = (iops[0], iops[2], iops[3], iops[5]);
    assert!(used < 0.5 * fresh && trimmed > 0.9 * fresh, "{iops:?}");
    assert!(rested < 0.9 * fresh, "a rest frees no spare area: {iops:?}");
    assert_eq!(run.tests[0].headline.value, Some(used));
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
    // The off times are those of the load, so the worst second is given for the first step alone.
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
fn experts_are_read_faster_by_several_threads_up_to_the_link() {
    let run = run("ai-experts", &[], "nvme-datacentre?capacity=8GB", 10);
    let throughput = values(&run.tests[0], Metric::ThroughputMbS);
    assert_eq!(throughput.len(), 15);
    for threads in throughput.chunks(5) {
        assert!(threads[4] >= threads[0] && threads[4] > 1_000.0, "{throughput:?}");
    }
}
