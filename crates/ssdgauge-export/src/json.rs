//! JSON of any number of runs, for programs. Its shape is stable; keys are only added.

use crate::bands::bands_json;
use serde_json::{Map, Value, json};
use ssdgauge_analysis::findings::run_outcome;
use ssdgauge_analysis::findings::trust;
use ssdgauge_analysis::groups::workload_text;
use ssdgauge_analysis::headlines::headline_notes;
use ssdgauge_analysis::model::Tracked;
use ssdgauge_analysis::model::metrics;
use ssdgauge_analysis::model::{PointRun, Run, SpeedFall, StepFinding, StepLevels, TestRun};
use ssdgauge_analysis::quick::cohort::Cohort;
use ssdgauge_analysis::quick::quick_look;
use ssdgauge_analysis::steps::endurance;
use ssdgauge_analysis::steps::knee;
use ssdgauge_analysis::steps::level_pair;
use ssdgauge_analysis::steps::media_writes;
use ssdgauge_analysis::steps::slc_cache;
use ssdgauge_analysis::steps::state_check::{self, StateCheck};
use ssdgauge_analysis::steps::tried_loads::{TriedLoad, tried_loads};
use ssdgauge_analysis::text::{labels, sanitize};
use ssdgauge_core::{
    ConfidenceInterval, Direction, DriveInfo, Finding, Flush, Headline, Metric, Nanos, Scope,
    Score, Totals,
};
use ssdgauge_statistics::cache::Edge;
use ssdgauge_statistics::separation::{Separation, Verdict};

/// The number of the JSON shape; a change that breaks a reader raises it.
pub(crate) const SCHEMA: u32 = 1;

/// Returns `runs` as one JSON document.
///
/// Keys include units. A value that was not measured is `null`, and a finding of the same
/// test names its key and says why. `suite.shortened` is the divisor of all durations, 1 for the
/// full length.
pub fn json(runs: &[Run]) -> Value {
    let cohort = Cohort::shipped();
    json!({
        "schema_version": SCHEMA,
        "runs": runs.iter().map(|one| run(one, &cohort)).collect::<Vec<_>>(),
    })
}

fn run(run: &Run, cohort: &Cohort) -> Value {
    let plan = &run.head.plan;
    json!({
        "id": sanitize::prose(&run.head.id),
        "program": sanitize::prose(&run.head.program),
        "started_unix_ms": run.head.started_unix_ms,
        "outcome": run_outcome::of(run).name(),
        "complete": run.complete,
        "awaits_flush": run.awaits_flush,
        "model": run.is_model(),
        "label": labels::label(&run.head),
        "imported_from": run.head.imported_from().map(sanitize::device),
        "drive": drive(&run.head.drive),
        "suite": {
            "id": sanitize::prose(&plan.suite.id),
            "revision": plan.suite.revision,
            "title": sanitize::prose(&plan.suite.title),
            "shortened": plan.shortened.max(1),
            "is_shortened": run.is_shortened(),
            "span_scaled": plan.span_scaled,
            "polled": plan.polled,
            "pass_through": plan.pass_through,
            "seed": plan.seed.to_string(),
        },
        "repeat_until": plan.repeat_until.map(|rule| json!({
            "half_width_percent": rule.half_width_percent(),
            "at_least": rule.at_least,
            "at_most": rule.at_most,
            "ended_after": run.ended_after,
        })),
        "durability": run.durability.map(|of_run| json!({
            "flushes_sent": of_run.flushes,
            "flushes_counted": of_run.counted,
            "flush_longest_us": micros(of_run.longest),
            "blocks_read_back": of_run.read_back,
            "blocks_lost": of_run.lost,
            "verified": of_run.verified.map(|verified| json!({
                "bytes": verified.bytes,
                "blocks": verified.blocks,
                "wrong": verified.wrong,
                "elapsed_s": verified.elapsed.as_secs_f64(),
            })),
        })),
        "endurance": endurance::json(run),
        "environment": strings(&run.head.environment),
        "findings": run.findings.iter().map(finding).collect::<Vec<_>>(),
        "quick_answer": quick_look::is_quick(&plan.suite.id).then(|| {
            let account = run_outcome::account(run, None);
            account.map_or_else(|| quick_look::headline(run), |account| account.title)
        }),
        "quick_bands": bands_json(run, cohort),
        "tests": run.tests.iter().map(|of_run| test(run, of_run)).collect::<Vec<_>>(),
    })
}

fn drive(drive: &DriveInfo) -> Value {
    let device = |text: &Option<String>| text.as_deref().map(sanitize::device);
    json!({
        "kind": drive.kind.name(),
        "target": sanitize::prose(&drive.target),
        "model": device(&drive.model),
        "serial": device(&drive.serial),
        "firmware": device(&drive.firmware),
        "capacity_bytes": drive.capacity.0,
        "logical_block_bytes": drive.logical_block.0,
        "physical_block_bytes": drive.physical_block.0,
        "details": strings(&drive.details),
    })
}

fn test(of: &Run, run: &TestRun) -> Value {
    json!({
        "id": sanitize::prose(&run.test.id),
        "invalid": trust::invalid(of, run),
        "revision": run.test.revision,
        "title": sanitize::prose(&run.test.title),
        "source": sanitize::prose(&run.test.source),
        "score": run.test.score.words(),
        "complete": run.complete,
        "chosen": run.test.chosen.iter().map(|chosen| json!({
            "key": sanitize::prose(&chosen.key), "value": sanitize::prose(&chosen.value),
        })).collect::<Vec<_>>(),
        "deviations": run.test.deviations.iter().map(|deviation| json!({
            "key": sanitize::prose(&deviation.key), "value": sanitize::prose(&deviation.value),
            "reason": sanitize::prose(&deviation.reason),
        })).collect::<Vec<_>>(),
        "headline": with_latency_of(run, &run.test.score, headline_of(run)),
        "also": run.test.also.iter().zip(&run.also).map(|(score, also)| {
            let mut value = headline(also);
            value["levels"] = headline_levels(run, score, also);
            value["score"] = json!(score.words());
            with_latency_of(run, score, value)
        }).collect::<Vec<_>>(),
        "repetitions": run.repetitions.iter().map(|repetition| json!({
            "headline": headline(&repetition.headline),
            "also": repetition.also.iter().map(headline).collect::<Vec<_>>(),
        })).collect::<Vec<_>>(),
        "tracked": run.tracked.iter().map(tracked).collect::<Vec<_>>(),
        "remarks": headline_notes::notes(run),
        "separation": run.separation.map(separation),
        "power_scopes": metrics::power_scopes(run).iter().map(|s| s.name()).collect::<Vec<_>>(),
        "points": run.points.iter().map(|point| {
            let totals = &point.point.totals;
            json!({
                "label": sanitize::prose(&point.point.label),
                "position": point.point.position,
                "elapsed_ns": totals.elapsed.0,
                "full_seconds": point.point.seconds.full().len(),
                "ios": totals.directions.iter().map(|d| d.ios).sum::<u64>(),
                "bytes": totals.directions.iter().map(|d| d.bytes).sum::<u64>(),
                "errors": totals.directions.iter().map(|d| d.errors).sum::<u64>(),
                "ended_by": sanitize::prose(&point.ended_by),
                "cache": point.cache.map(|place| place.name()),
                "levels": point.levels.map(levels),
                "write_speed_falls": point.falls.iter().map(speed_fall).collect::<Vec<_>>(),
                "cache_end": slc_cache::sequential_write(run)
                    .filter(|of| std::ptr::eq(*of, point))
                    .and_then(|_| slc_cache::cache_edge(run))
                    .map(|edge| cache_end(&edge)),
                "streams": streams(point),
                "stated_percentiles": stated_percentiles(point),
                "open_loop": point.open_loop,
                "kernel": point.kernel,
                "flush": point.flush.as_ref().map(flush),
                "media_writes": media_writes::json(point),
                "latency_of": point.latency_of(),
                "metrics": metrics::shown(point)
                    .into_iter()
                    .map(|(_, _, key, value)| (key, json!(value)))
                    .collect::<Map<_, _>>(),
                "intervals": intervals(point),
                "protocol": metrics::shown(point)
                    .into_iter()
                    .filter_map(|(metric, scope, key, _)| {
                        Some((key, json!(metrics::protocol(point, metric, scope)?)))
                    })
                    .collect::<Map<_, _>>(),
            })
        }).collect::<Vec<_>>(),
        "tried_loads": tried_loads(run).iter().map(tried_load).collect::<Vec<_>>(),
        "state_checks": state_check::checks(run).iter().map(state_check).collect::<Vec<_>>(),
        "findings": run.findings.iter().map(step_finding).collect::<Vec<_>>(),
    })
}

/// Adds to a headline that is a latency the requests that it is one of.
fn with_latency_of(run: &TestRun, score: &Score, mut value: Value) -> Value {
    if score.metric().is_latency() && score.metric().is_split() {
        value["latency_of"] = json!(workload_text::scored_latency_of(&run.test, score));
    }
    value
}

fn separation(found: Separation) -> Value {
    json!({
        "write_amplification": found.measured,
        "under_uniform_writes": found.uniform,
        "without_separation": found.mixed,
        "with_ideal_separation": found.ideal,
        "share_of_gain": found.share(),
        "verdict": match found.verdict() {
            Verdict::Separates => "separates",
            Verdict::InPart => "separates in part",
            Verdict::DoesNot => "does not separate",
        },
    })
}

/// Returns the figures of each stream of a step with several, by direction.
fn streams(point: &PointRun) -> Vec<Value> {
    let streams = point.workload.streams.iter().zip(&point.point.streams);
    let figures = streams.map(|(stream, totals)| {
        let directions = Direction::ALL.into_iter().filter(|one| stream.sends(*one));
        let metrics = directions.flat_map(|direction| {
            let scope = Scope::from(direction);
            let split = Metric::ALL.into_iter().filter(|metric| metric.is_split());
            split.filter_map(move |metric| {
                let value = totals.value(metric, scope).filter(|value| value.is_finite())?;
                Some((format!("{}{}", scope.prefix(), metric.key()), json!(value)))
            })
        });
        json!({
            "name": sanitize::prose(&stream.name),
            "ios": totals.directions.iter().map(|d| d.ios).sum::<u64>(),
            "bytes": totals.directions.iter().map(|d| d.bytes).sum::<u64>(),
            "errors": totals.directions.iter().map(|d| d.errors).sum::<u64>(),
            "metrics": metrics.collect::<Map<_, _>>(),
        })
    });
    figures.collect()
}

/// Returns the percentiles that another program stated without a histogram, of each stream and direction.
fn stated_percentiles(point: &PointRun) -> Vec<Value> {
    let streams = match point.point.streams.as_slice() {
        [] => std::slice::from_ref(&point.point.totals),
        streams => streams,
    };
    let of_stream = |(stream, totals): (usize, &Totals)| {
        let of_direction = |direction: Direction| {
            let stated = totals.directions[direction as usize].latency.stated();
            let row = |(percent, ns): &(f64, u64)| {
                json!({
                    "stream": stream, "direction": direction.name(), "percent": percent, "lat_ns": ns,
                })
            };
            stated.iter().map(row).collect::<Vec<_>>()
        };
        Direction::ALL.into_iter().flat_map(of_direction).collect::<Vec<_>>()
    };
    streams.iter().enumerate().flat_map(of_stream).collect()
}

fn flush(flush: &Flush) -> Value {
    json!({
        "sent": flush.sent,
        "elapsed_us": micros(flush.elapsed),
        "device": flush.device,
        "counted": flush.counted,
    })
}

fn micros(time: Nanos) -> f64 {
    time.0 as f64 / 1e3
}

/// Returns a fall of the write speed with its cause.
fn speed_fall(fall: &SpeedFall) -> Value {
    let mb_s = |(low, high): (f64, f64)| [low / 1e6, high / 1e6];
    json!({
        "bytes": fall.edge.bytes,
        "uncertainty_bytes": fall.edge.uncertainty,
        "before_mb_s": fall.edge.before / 1e6,
        "before_interval_mb_s": fall.before_interval.map(mb_s),
        "before_is_lower_bound": !fall.edge.is_bounded_below(),
        "after_mb_s": fall.edge.behind / 1e6,
        "after_interval_mb_s": fall.after_interval.map(mb_s),
        "left_percent": slc_cache::percent_left(&fall.edge),
        "cause": fall.cause.name(),
    })
}

/// Returns the end of the cache; only where the cache caused the first fall.
fn cache_end(edge: &Edge) -> Value {
    json!({
        "bytes": edge.bytes,
        "uncertainty_bytes": edge.uncertainty,
        "before_mb_s": edge.before / 1e6,
        "before_is_lower_bound": !edge.is_bounded_below(),
        "behind_mb_s": edge.behind / 1e6,
        "left_percent": slc_cache::percent_left(edge),
    })
}

fn levels(levels: StepLevels) -> Value {
    json!({
        "metric": levels.metric.key(),
        "before": levels.before,
        "after": levels.after,
        "bytes": levels.bytes,
        "bytes_low": levels.bytes_interval.0,
        "bytes_high": levels.bytes_interval.1,
    })
}

fn tried_load(load: &TriedLoad) -> Value {
    let above = |(latency, share, allowed): &(Nanos, Option<f64>, f64)| {
        json!({
            "latency_ms": latency.as_secs_f64() * 1e3,
            "worst_slice_percent": share,
            "limit_percent": allowed,
        })
    };
    json!({
        "load": load.load,
        "passed": load.passed,
        "trials_disagree": load.disagrees,
        "requests": sanitize::prose(&load.requests),
        "elapsed_ns": load.elapsed.0,
        "first_failed_slice": load.failed_slice,
        "above": load.above.iter().map(above).collect::<Vec<_>>(),
    })
}

fn state_check(check: &StateCheck) -> Value {
    json!({
        "step": sanitize::prose(&check.step),
        "metric": check.metric.key(),
        "first": check.first,
        "again": check.again,
    })
}

fn tracked(tracked: &Tracked) -> Value {
    let window = tracked.window().map(|(first, verdict)| {
        json!({
            "first_round": first + 1,
            "steady": verdict.steady,
            "mean": verdict.mean,
            "range": verdict.range,
            "slope": verdict.slope,
            "correlation": verdict.correlation,
        })
    });
    json!({
        "step": sanitize::prose(&tracked.step),
        "metric": tracked.metric.key(),
        "round": sanitize::prose(&tracked.round),
        "values": tracked.values,
        "window": window,
    })
}

/// Returns the headline of a test, with what stands beside it at a knee.
fn headline_of(run: &TestRun) -> Value {
    let mut value = headline(&run.headline);
    value["levels"] = headline_levels(run, &run.test.score, &run.headline);
    if let Some(knee) = knee::at_knee(run) {
        let depths = knee.found.depth;
        let mut beside = json!({
            "queue_depth": knee.depth(),
            "queue_depth_low": depths.map(|(low, _)| low),
            "queue_depth_high": depths.map(|(_, high)| high),
        });
        for (metric, measured) in knee.values() {
            beside[metric.key()] = json!(measured);
        }
        value["knee"] = beside;
    }
    value
}

/// Returns the two levels of the step that a headline rests on, where it falls; else null.
fn headline_levels(run: &TestRun, score: &Score, headline: &Headline) -> Value {
    let levels = level_pair::of_headline(run, score, headline);
    json!(levels.map(|levels| json!({
        "before": levels.before,
        "before_is_lower_bound": levels.is_lower_bound,
        "after": levels.behind,
    })))
}

fn headline(headline: &Headline) -> Value {
    json!({
        "metric": headline.metric.key(),
        "value": headline.value,
        "protocol": headline.protocol.or(headline.value),
        "unit": headline.metric.unit(),
        "n": headline.n,
        "low": headline.interval.ends().map(|(low, _)| low),
        "high": headline.interval.ends().map(|(_, high)| high),
        "interval": interval(&headline.interval),
    })
}

/// Returns what an interval comes from, with its ends; a percentile may have a lower end alone.
fn interval(interval: &ConfidenceInterval) -> Value {
    let mut value = json!({ "kind": interval.key() });
    match interval {
        ConfidenceInterval::WithinRun(within) => {
            value["low"] = json!(within.low);
            value["high"] = json!(Some(within.high).filter(|high| high.is_finite()));
            value["mean"] = json!(within.mean);
            value["cut_seconds"] = json!(within.cut);
            value["seconds"] = json!(within.n);
        }
        ConfidenceInterval::BetweenRepetitions { low, high }
        | ConfidenceInterval::OfCounters { low, high }
        | ConfidenceInterval::OfTrials { low, high } => {
            value["low"] = json!(low);
            value["high"] = json!(high);
        }
        ConfidenceInterval::StillSettling
        | ConfidenceInterval::TooFewSeconds
        | ConfidenceInterval::RestsOnFewSeconds
        | ConfidenceInterval::Undefined => {}
    }
    value
}

/// Returns the intervals of the metrics of `point`, by their keys. A metric without one has no key,
/// nor has the only direction of a workload.
fn intervals(point: &PointRun) -> Value {
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
    Value::Object(metrics::shown(point).into_iter().filter_map(of_metric).collect())
}

fn step_finding(of_step: &StepFinding) -> Value {
    let mut value = finding(&of_step.finding);
    value["step"] = json!(of_step.step.as_deref().map(sanitize::prose));
    value["metrics"] = json!(of_step.metrics);
    value
}

fn finding(finding: &Finding) -> Value {
    json!({
        "kind": finding.kind.key(),
        "severity": finding.severity.name(),
        "text": sanitize::prose(&finding.text),
        "advice": sanitize::prose(&finding.advice),
    })
}

fn strings(pairs: &std::collections::BTreeMap<String, String>) -> Value {
    let text =
        |(key, value): (&String, &String)| (sanitize::prose(key), json!(sanitize::prose(value)));
    Value::Object(pairs.iter().map(text).collect())
}
