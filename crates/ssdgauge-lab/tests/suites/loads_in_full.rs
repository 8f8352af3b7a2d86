//! The suites of hours, commits, experts and applications in full length: the shape of their results.

use crate::suites::full::{falls, headline, in_full_length, rises, test, values};
use ssdgauge_analysis::Run;
use ssdgauge_core::{Metric, Scope};

/// Returns the throughput of the mixed load after each phase of `degrade-recover`, and of each phase of
/// writes.
fn phases(run: &Run) -> (Vec<f64>, Vec<f64>) {
    let of = |is_write: bool| -> Vec<f64> {
        let points = run.tests[0].points.iter().map(|point| &point.point);
        let those = points.filter(|point| point.label.ends_with("writes") == is_write);
        those.map(|point| point.totals.value(Metric::ThroughputMbS, Scope::All).unwrap()).collect()
    };
    (of(false), of(true))
}

#[test]
#[ignore = "second tier"]
fn hours_of_random_writes_are_steady_and_idle_times_give_a_cache_back() {
    let run = in_full_length(
        "degrade-recover",
        &[],
        "tiny?nand.dies=2&slc.fixed_gb=0.1&drive.raw_gib=1.2",
    );
    let (mixed, writes) = phases(&run);
    assert_eq!((mixed.len(), writes.len()), (18, 13));
    // The phases of writes take 10, 15, … 45 minutes, and five times 45.
    let points = run.tests[0].points.iter();
    let writes_s = points.filter(|point| point.point.label.ends_with("writes"));
    let minutes: Vec<u64> =
        writes_s.map(|point| point.point.totals.elapsed.0 / 60_000_000_000).collect();
    assert_eq!(minutes, [10, 15, 20, 25, 30, 35, 40, 45, 45, 45, 45, 45, 45]);
    // A drive of 1 GB is overwritten many times in the first phase: all later ones are alike.
    for steady in [&mixed[1..13], &writes[1..]] {
        assert!(steady.iter().all(|one| (one / steady[0] - 1.0).abs() < 0.05), "{steady:?}");
    }
    // Five minutes of idle time empty the cache; the load after it uses it up again.
    assert!(mixed[13..].iter().all(|one| *one > mixed[12]), "{mixed:?}");
    assert_eq!(headline(&run, "mixed"), mixed[12]);
    let also = run.tests[0].also.iter().map(|one| one.protocol.or(one.value).unwrap());
    let also: Vec<f64> = also.collect();
    assert_eq!(also[..2], [mixed[0], mixed[17]]);
    assert!(also[3] <= also[2], "p99 behind the idle times: {also:?}");
}

#[test]
#[ignore = "second tier"]
fn commits_cost_what_the_buffer_of_the_drive_makes_them_cost() {
    let of = |class: &str| in_full_length("commit", &[], &format!("{class}?capacity=2GB"));
    let (client, safe) = (of("tlc-client"), of("nvme-datacentre"));
    let also = |run: &Run, id: &str, place: usize| test(run, id).also[place].value.unwrap();
    for run in [&client, &safe] {
        // A larger write is no cheaper, and threads share the drive.
        assert!(headline(run, "wal-8k") < headline(run, "etcd"));
        let threads = values(run, "threads", Metric::Iops);
        rises(&threads[..4], 1.0);
        assert!(headline(run, "threads") >= threads[3], "{threads:?}");
        // Half of the requests of a log are flushes, and none of them is a commit.
        let etcd = &test(run, "etcd").points[0].point.totals;
        assert!(etcd.directions[1].ios.abs_diff(etcd.directions[2].ios) <= 1);
        assert_eq!(Some(also(run, "etcd", 0)), etcd.value(Metric::LatP99Us, Scope::Flush));
        // A busy drive makes a commit wait.
        assert!(headline(run, "busy") > also(run, "etcd", 0), "{}", headline(run, "busy"));
        assert!(also(run, "busy", 1) < headline(run, "etcd"));
        let threads = [also(run, "busy", 1), also(run, "busy", 3)];
        assert!(threads[1] > threads[0], "{threads:?}");
        let fua = values(run, "fua", Metric::LatP99Us);
        assert!(also(run, "busy", 4) > fua[0], "{fua:?}");
    }
    for id in ["etcd", "fua"] {
        assert!(headline(&safe, id) > 5.0 * headline(&client, id), "{id}");
    }
    // etcd wants a 99th percentile below 10 ms.
    assert!(also(&safe, "etcd", 0) < also(&client, "etcd", 0));
    assert!(also(&client, "etcd", 0) < 10_000.0);
}

#[test]
#[ignore = "second tier"]
fn experts_are_read_at_the_rate_of_the_link_by_enough_threads() {
    let run = in_full_length("ai-experts", &[], "nvme-datacentre?capacity=8GB");
    let throughput = values(&run, "stream", Metric::ThroughputMbS);
    assert_eq!(throughput.len(), 15);
    for threads in throughput.chunks(5) {
        rises(threads, 0.99);
        assert!(threads[4] > 1.3 * threads[0], "{threads:?}");
    }
    // Larger reads have less overhead for each byte, and none exceeds the link.
    let one: Vec<f64> = throughput.chunks(5).map(|threads| threads[0]).collect();
    rises(&one, 1.0);
    let best = headline(&run, "stream");
    assert!(throughput.iter().all(|mb_s| *mb_s <= best) && best < 3_940.0, "{best}");
    // Threads that wait for each other take longer for the same read.
    for latency in values(&run, "stream", Metric::LatMeanUs).chunks(5) {
        rises(latency, 1.0);
    }
}

#[test]
#[ignore = "second tier"]
fn overwrites_and_latencies_of_ssd_iq() {
    // A slow front end, so that five minutes of reads are not a hundred million of them.
    let target = "nvme-datacentre?capacity=1GB&front.read_command_us=40&front.write_command_us=15\
                  &front.link_mb_s=600";
    let run = in_full_length("ssd-iq", &[], target);
    for id in ["uniform", "zones", "zipf"] {
        let iops = values(&run, id, Metric::Iops);
        assert_eq!(iops.len(), 12, "{id}");
        // Small writes after the overwrite are slower than before it, reads are not.
        assert!(iops[11] < 1.02 * iops[4], "{id}: {iops:?}");
        assert!((iops[9] / iops[2] - 1.0).abs() < 0.05, "{id}: {iops:?}");
        assert_eq!(test(&run, id).headline.value, Some(iops[6]), "{id}");
        let passes = &test(&run, id).points;
        let written = |place: usize| passes[place].point.totals.directions[1].bytes as f64;
        let capacity = run.head.drive.capacity.0 as f64;
        let whole = (written(5) + written(6)) / capacity;
        let expected = if id == "uniform" { 3.0 } else { 4.0 };
        assert!((whole - expected).abs() < 0.01, "{id}: {whole} passes");
        assert!(test(&run, id).also[0].value.unwrap() > 1.5, "{id}");
    }
    let latency = test(&run, "latency");
    let limits: Vec<Option<u32>> =
        latency.points[0].workload.streams.iter().map(|stream| stream.in_flight_limit()).collect();
    assert_eq!(limits, [Some(7 * 64), Some(64)], "64 in flight for each of eight threads");
    for figures in &latency.points[0].open_loop {
        let at_most = figures.in_flight_at_most.unwrap();
        assert!(figures.slots <= at_most, "{}: {} slots", figures.stream, figures.slots);
    }
    // The rates that the drive sustains are sent in full, and the latency grows with them.
    let curve = test(&run, "latency-curve");
    let sustained: Vec<&ssdgauge_analysis::PointRun> =
        curve.points.iter().filter(|point| point.ended_by == "time").collect();
    let ends: Vec<&str> = curve.points.iter().map(|point| point.ended_by.as_str()).collect();
    assert!((2..6).contains(&sustained.len()), "{ends:?}");
    let mean = |point: &&ssdgauge_analysis::PointRun| {
        point.point.streams[1].value(Metric::LatMeanUs, Scope::Read).unwrap()
    };
    let means: Vec<f64> = sustained.iter().map(mean).collect();
    rises(&means, 1.0);
    for point in &sustained {
        let sent = point.point.streams[1].value(Metric::Iops, Scope::All).unwrap();
        assert!((sent / 10_000.0 - 1.0).abs() < 0.01, "{sent}");
        let [reads, writes] = [0, 1].map(|side: usize| point.point.streams[1].directions[side].ios);
        assert!(reads.abs_diff(writes) <= 100, "half of the requests: {reads} {writes}");
    }
}

#[test]
#[ignore = "second tier"]
fn applications_pay_for_fsync_in_full_length() {
    let of = |class: &str| in_full_length("fsload", &[], &format!("{class}?capacity=4GB"));
    let (client, safe) = (of("tlc-client"), of("nvme-datacentre"));
    for run in [&client, &safe] {
        for id in ["log", "database", "mail"] {
            falls(&values(run, id, Metric::Iops), 1.0);
        }
        rises(&values(run, "copy", Metric::TimeS), 1.0);
    }
    let kept = |run: &Run, id: &str| {
        let iops = values(run, id, Metric::Iops);
        iops[1] / iops[0]
    };
    for id in ["log", "database", "mail"] {
        let (client, safe) = (kept(&client, id), kept(&safe, id));
        assert!(client < safe, "{id}: {client} {safe}");
    }
    assert!(kept(&client, "mail") < 0.2 && kept(&safe, "database") > 0.9);
}
