//! The measured steps of a test, for the JSON of a run.

use super::parts::{interval, micros};
use crate::documents::parts::Interval;
use crate::documents::step::{
    Amplification, CacheEnd, Flush, Kernel, Levels, MediaWrites, OpenLoop, SpeedFall,
    StatedPercentile, Step, Stream,
};
use ssdgauge_analysis::model::{self, PointRun, StepLevels, TestRun, metrics};
use ssdgauge_analysis::steps::{media_writes, slc_cache};
use ssdgauge_analysis::text::sanitize;
use ssdgauge_core::{ConfidenceInterval, Direction, DirectionTotals, Metric, Scope, Totals};
use ssdgauge_statistics::cache::Edge;
use std::collections::BTreeMap;

pub(super) fn document(run: &TestRun, point: &PointRun) -> Step {
    let totals = &point.point.totals;
    let shown = || metrics::shown(point).into_iter();
    let [ios, bytes, errors] = counts(totals);
    Step {
        label: sanitize::prose(&point.point.label),
        position: point.point.position,
        elapsed_ns: totals.elapsed.0,
        full_seconds: point.point.seconds.full().len(),
        ios,
        bytes,
        errors,
        ended_by: sanitize::prose(&point.ended_by),
        cache: point.cache.map(|place| place.name()),
        levels: point.levels.map(levels),
        write_speed_falls: point.falls.iter().map(speed_fall).collect(),
        cache_end: slc_cache::sequential_write(run)
            .filter(|of| std::ptr::eq(*of, point))
            .and_then(|_| slc_cache::cache_edge(run))
            .map(|edge| cache_end(&edge)),
        streams: streams(point),
        stated_percentiles: stated_percentiles(point),
        open_loop: point.open_loop.iter().map(open_loop).collect(),
        kernel: point.kernel.as_ref().map(kernel),
        flush: point.flush.as_ref().map(flush),
        media_writes: written_to_media(point),
        latency_of: point.latency_of(),
        metrics: shown().map(|(_, _, key, value)| (key, value)).collect(),
        intervals: intervals(point),
        protocol: shown()
            .filter_map(|(metric, scope, key, _)| {
                Some((key, metrics::protocol(point, metric, scope)?))
            })
            .collect(),
    }
}

/// Returns requests, bytes and errors of all directions.
fn counts(totals: &Totals) -> [u64; 3] {
    let sum = |of: fn(&DirectionTotals) -> u64| totals.directions.iter().map(of).sum();
    [sum(|one| one.ios), sum(|one| one.bytes), sum(|one| one.errors)]
}

/// Returns the numbers of each stream of a step with several, by direction.
fn streams(point: &PointRun) -> Vec<Stream> {
    let streams = point.workload.streams.iter().zip(&point.point.streams);
    let numbers = streams.map(|(stream, totals)| {
        let directions = Direction::ALL.into_iter().filter(|one| stream.sends(*one));
        let metrics = directions.flat_map(|direction| {
            let scope = Scope::from(direction);
            let split = Metric::ALL.into_iter().filter(|metric| metric.is_split());
            split.filter_map(move |metric| {
                let value = totals.value(metric, scope).filter(|value| value.is_finite())?;
                Some((format!("{}{}", scope.prefix(), metric.key()), value))
            })
        });
        let [ios, bytes, errors] = counts(totals);
        Stream {
            name: sanitize::prose(&stream.name),
            ios,
            bytes,
            errors,
            metrics: metrics.collect(),
        }
    });
    numbers.collect()
}

/// Returns the percentiles that another program stated without a histogram, of each stream and direction.
fn stated_percentiles(point: &PointRun) -> Vec<StatedPercentile> {
    let streams = match point.point.streams.as_slice() {
        [] => std::slice::from_ref(&point.point.totals),
        streams => streams,
    };
    let of_stream = |(stream, totals): (usize, &Totals)| {
        let of_direction = |direction: Direction| {
            let stated = totals.directions[direction as usize].latency.stated();
            let row = |(percent, ns): &(f64, u64)| StatedPercentile {
                stream,
                direction: direction.name(),
                percent: *percent,
                lat_ns: *ns,
            };
            stated.iter().map(row).collect::<Vec<_>>()
        };
        Direction::ALL.into_iter().flat_map(of_direction).collect::<Vec<_>>()
    };
    streams.iter().enumerate().flat_map(of_stream).collect()
}

fn open_loop(of: &ssdgauge_core::OpenLoop) -> OpenLoop {
    OpenLoop {
        stream: of.stream.clone(),
        asked_per_second: of.asked_per_second,
        sent_per_second: of.sent_per_second,
        slots: of.slots,
        unsent: of.unsent,
        withheld: of.withheld,
        withheld_bytes: of.withheld_bytes,
        in_flight_at_most: of.in_flight_at_most,
        withheld_max_us: of.withheld_max_us,
        lateness_p50_us: of.lateness_p50_us,
        lateness_p90_us: of.lateness_p90_us,
        lateness_p99_us: of.lateness_p99_us,
        lateness_p999_us: of.lateness_p999_us,
        lateness_max_us: of.lateness_max_us,
        service_mean_us: of.service_mean_us,
        service_p99_us: of.service_p99_us,
        service_p999_us: of.service_p999_us,
        service_max_us: of.service_max_us,
        service_above: of.service_above,
        idle_s: of.idle_s,
        service_histogram: of.service_histogram.clone(),
    }
}

fn kernel(of: &ssdgauge_core::KernelQueue) -> Kernel {
    Kernel {
        device: of.device.clone(),
        requests: of.requests,
        in_flight: of.in_flight,
        time_mean_us: of.time_mean_us,
    }
}

fn flush(flush: &ssdgauge_core::Flush) -> Flush {
    Flush {
        sent: flush.sent,
        elapsed_us: micros(flush.elapsed),
        device: flush.device.clone(),
        counted: flush.counted,
    }
}

fn written_to_media(point: &PointRun) -> Option<MediaWrites> {
    let writes = point.point.media_writes()?;
    let write_amplification = match writes.amplification() {
        ssdgauge_core::Amplification::Known { value, low, high } => {
            Some(Amplification { value, low, high })
        }
        ssdgauge_core::Amplification::TooCoarse { .. }
        | ssdgauge_core::Amplification::NothingWritten => None,
    };
    Some(MediaWrites {
        source: media_writes::source(point),
        unit: if writes.is_in_pages { "pages" } else { "bytes" },
        media: writes.media.amount,
        media_granule: writes.media.granule,
        host: writes.host.amount,
        host_granule: writes.host.granule,
        write_amplification,
        not_stated: media_writes::reason(&writes),
    })
}

/// Returns a fall of the write speed with its cause.
fn speed_fall(fall: &model::SpeedFall) -> SpeedFall {
    let mb_s = |(low, high): (f64, f64)| [low / 1e6, high / 1e6];
    SpeedFall {
        bytes: fall.edge.bytes,
        uncertainty_bytes: fall.edge.uncertainty,
        before_mb_s: fall.edge.before / 1e6,
        before_interval_mb_s: fall.before_interval.map(mb_s),
        before_is_lower_bound: !fall.edge.is_bounded_below(),
        after_mb_s: fall.edge.after / 1e6,
        after_interval_mb_s: fall.after_interval.map(mb_s),
        left_percent: slc_cache::percent_left(&fall.edge),
        cause: fall.cause.name(),
    }
}

/// Returns the end of the cache; only where the cache caused the first fall.
fn cache_end(edge: &Edge) -> CacheEnd {
    CacheEnd {
        bytes: edge.bytes,
        uncertainty_bytes: edge.uncertainty,
        before_mb_s: edge.before / 1e6,
        before_is_lower_bound: !edge.is_bounded_below(),
        behind_mb_s: edge.after / 1e6,
        left_percent: slc_cache::percent_left(edge),
    }
}

fn levels(levels: StepLevels) -> Levels {
    Levels {
        metric: levels.metric.key(),
        before: levels.before,
        after: levels.after,
        bytes: levels.bytes,
        bytes_low: levels.bytes_interval.0,
        bytes_high: levels.bytes_interval.1,
    }
}

/// Returns the intervals of the metrics of `point`, by their keys. A metric without one has no key,
/// nor has the only direction of a workload.
fn intervals(point: &PointRun) -> BTreeMap<String, Interval> {
    let of_metric = |(metric, scope, key, value): (Metric, Scope, String, Option<f64>)| {
        let is_own = value.is_some() && point.has_own_intervals(scope);
        let found = is_own.then(|| point.interval(metric, scope))?;
        let is_said = match found {
            ConfidenceInterval::WithinRun(_)
            | ConfidenceInterval::BetweenRepetitions { .. }
            | ConfidenceInterval::OfCounters { .. }
            | ConfidenceInterval::OfTrials { .. }
            | ConfidenceInterval::StillSettling => true,
            ConfidenceInterval::TooFewSeconds
            | ConfidenceInterval::RestsOnFewSeconds
            | ConfidenceInterval::Undefined => false,
        };
        is_said.then(|| (key, interval(&found)))
    };
    metrics::shown(point).into_iter().filter_map(of_metric).collect()
}
