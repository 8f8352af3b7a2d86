//! The lines of finished steps.

use super::*;
use ssdgauge_core::{Direction, Histogram, LatencyOf};

/// The requests of one second in `direction`, each with this latency.
fn second(direction: Direction, ios: u64, bytes: u64, ns: u64) -> Interval {
    let mut latency = Histogram::default();
    (0..ios.min(1_000)).for_each(|_| latency.record(ns));
    let (second, stream, length, errors) = (0, 0, Nanos::SECOND, 0);
    Interval { second, stream, direction, length, ios, bytes, errors, latency }
}

fn totals(intervals: &[Interval]) -> Totals {
    let mut totals = Totals::default();
    intervals.iter().for_each(|interval| totals.add(interval));
    totals
}

#[test]
fn the_line_of_a_finished_step_has_its_p99_at_every_width() {
    let totals = totals(&[second(Direction::Read, 153_160, 20_074_987_520, 65_200)]);
    for (width, expected) in [
        (120, " 2,007 MB/s    15,316 IOPS  p99 65.2 µs  in 10 s"),
        (80, " 2,007 MB/s    15,316 IOPS  p99 65.2 µs"),
        (60, " 2,007 MB/s  p99 65.2 µs"),
    ] {
        assert_eq!(finished(&totals, Nanos::SECOND * 10, width), expected);
    }
    let nothing = finished(&Totals::default(), Nanos::SECOND * 30, 80);
    assert_eq!(nothing, "  in 30 s");
}

#[test]
fn the_line_of_a_step_below_half_a_second_has_no_rate() {
    let totals = totals(&[second(Direction::Read, 1_000, 131_072_000, 20_000)]);
    let line = |ms: u64| finished(&totals, Nanos(ms * 1_000_000), 120);
    assert_eq!(line(499), "     – MB/s         – IOPS  p99 20.0 µs  in 499 ms");
    assert_eq!(line(500), "   262 MB/s     2,000 IOPS  p99 20.0 µs  in 500 ms");
}

#[test]
fn a_commit_is_one_request_in_the_line_of_a_finished_step() {
    let writes = second(Direction::Write, 1_000, 4_096_000, 20_000);
    let flushes = second(Direction::Flush, 1_000, 0, 900_000);
    let line = |intervals: &[Interval]| finished(&totals(intervals), Nanos::SECOND, 80);
    let both = line(&[flushes.clone(), writes]);
    assert_eq!(both, "  4.10 MB/s     1,000 IOPS  p99 20.0 µs");
    // Where each write waits for its flush, its latency is that of the flush.
    let mut commits = totals(&[second(Direction::Write, 1_000, 4_096_000, 20_000)]);
    commits.latency_of = LatencyOf::FlushesOfCommits;
    commits.add(&second(Direction::Flush, 1_000, 0, 900_000));
    for (width, expected) in [
        (120, "  4.10 MB/s     1,000 IOPS  flush p99  900 µs  in 1 s"),
        (80, "     1,000 IOPS  flush p99  900 µs"),
        (60, "  flush p99  900 µs"),
    ] {
        assert_eq!(finished(&commits, Nanos::SECOND, width), expected);
    }
    // A step without transfers has only the flushes.
    assert_eq!(line(&[flushes]), "     0 MB/s     1,000 IOPS  p99  900 µs");
}
