//! The headline of one drive under a suite without plain reads and writes: commits, an open loop at rising rates, and
//! searches for the highest load.

use crate::drives::run_facts;
use crate::findings::trust;
use crate::groups::workload_text;
use crate::model::metrics;
use crate::model::{PointRun, Run, TestRun};
use crate::steps::headline_points;
use crate::steps::tried_loads::tried_loads;
use crate::text::number;
use crate::text::{interval, sanitize};
use ssdgauge_core::{Metric, Scope, ScoreFamily, Stream};

/// The latencies below which an open loop is asked to keep 99 % of its requests, the first that it keeps at any rate,
/// in microseconds. Chosen: a program on the other end of a network does not see 1 ms.
const LIMITS_US: [f64; 3] = [1e3, 1e4, 1e5];

/// The share of the offered requests that a drive completes at a load that it carries. Chosen, as for `overloaded`.
const CARRIED: f64 = 0.99;

/// Returns the headline of `run`; `None` where none of its valid tests is of these kinds.
pub(crate) fn headline(run: &Run) -> Option<String> {
    let valid: Vec<&TestRun> =
        run.tests.iter().filter(|test| trust::invalid(run, test).is_none()).collect();
    let commits = || valid.iter().find_map(|test| commits(test));
    let carried = || valid.iter().find_map(|test| carried(test));
    searches(&valid).or_else(commits).or_else(carried)
}

/// Returns how long a commit takes: `A 4 KiB commit takes 18 µs on average; 1 in 10,000 flushes takes longer than 1.2 ms`.
fn commits(test: &TestRun) -> Option<String> {
    let [point] = test.points.as_slice() else { return None };
    let [stream] = point.workload.streams.as_slice() else { return None };
    let mean = number::latency(run_facts::commit_us(test)?);
    let size = number::spaced(&stream.size_words());
    let shares = [
        (Metric::LatP9999Us, "1\u{a0}in\u{a0}10,000"),
        (Metric::LatP999Us, "1\u{a0}in\u{a0}1,000"),
        (Metric::LatP99Us, "1\u{a0}in\u{a0}100"),
    ];
    let slowest = shares.into_iter().find_map(|(metric, share)| {
        let value = number::latency(metrics::value(point, metric, Scope::All)?);
        Some(format!("; {share} flushes takes longer than {value}"))
    });
    Some(format!("A {size} commit takes {mean} on average{}", slowest.unwrap_or_default()))
}

/// Returns how many commits several threads complete together: `16 threads complete 16,191 commits a second together.`
pub(crate) fn sentence(run: &Run) -> Option<String> {
    let of_test = |test: &TestRun| {
        let points = headline_points::points(test);
        let [point] = points.as_slice() else { return None };
        let [stream] = point.workload.streams.as_slice() else { return None };
        let is_of_commits = stream.flush_every == Some(1) && stream.writes() && !stream.reads();
        let rate = test.headline.value.filter(|_| test.headline.metric == Metric::Iops)?;
        (is_of_commits && stream.threads > 1).then(|| {
            format!(
                "{} threads complete {} commits a second together.",
                stream.threads,
                number::text(rate)
            )
        })
    };
    let valid = run.tests.iter().filter(|test| trust::invalid(run, test).is_none());
    valid.filter_map(of_test).next()
}

/// Returns up to which rate an open loop is answered in time: `Answers 99 % of reads within 1 ms up to 128,000/s, not
/// at 256,000/s`.
fn carried(test: &TestRun) -> Option<String> {
    if test.test.score.family() != ScoreFamily::Knee || !workload_text::is_open_loop(&test.test) {
        return None;
    }
    let mut steps: Vec<(f64, &PointRun, &Stream)> = Vec::new();
    for point in &test.points {
        let [stream] = point.workload.streams.as_slice() else { return None };
        let rate = stream.arrival.per_second()?;
        // The rate to which a sweep returns was measured before.
        if steps.iter().all(|(other, _, _)| *other != rate) {
            steps.push((rate, point, stream));
        }
    }
    steps.sort_by(|a, b| a.0.total_cmp(&b.0));
    let (_, _, stream) = *steps.first()?;
    let noun = match (stream.reads(), stream.writes()) {
        (true, false) => "reads",
        (false, _) => "writes",
        (true, true) => "requests",
    };
    let keeps = |(rate, point, _): &&(f64, &PointRun, &Stream), limit: f64| {
        let done = metrics::value(point, Metric::Iops, Scope::All);
        let p99 = metrics::value(point, Metric::LatP99Us, Scope::All);
        done.is_some_and(|done| done >= CARRIED * rate) && p99.is_some_and(|p99| p99 <= limit)
    };
    let words = LIMITS_US.into_iter().find_map(|limit| {
        let kept = steps.iter().take_while(|step| keeps(step, limit)).count();
        let (rate, _, _) = kept.checked_sub(1).and_then(|last| steps.get(last))?;
        let not = steps.get(kept).map(|(rate, _, _)| format!(", not at {}/s", number::text(*rate)));
        let (limit, rate) = (number::latency_tick(limit), number::text(*rate));
        let not = not.unwrap_or_default();
        Some(format!("Answers 99\u{a0}% of {noun} within {limit} up to {rate}/s{not}"))
    });
    let (least, _, _) = steps.first()?;
    let most = number::latency_tick(LIMITS_US[LIMITS_US.len() - 1]);
    let none = || {
        let least = number::text(*least);
        format!("Does not answer 99\u{a0}% of {noun} within {most}, even at {least}/s")
    };
    Some(words.unwrap_or_else(none))
}

/// Returns the highest loads that passed: `Holds 12× of 2,047 requests/s for 60 min in ACT 5, fails at 15×`.
fn searches(tests: &[&TestRun]) -> Option<String> {
    let searches: Vec<&&TestRun> = tests
        .iter()
        .filter(|test| test.test.score.family() == ScoreFamily::HighestLoad)
        .filter(|test| test.headline.value.is_some())
        .collect();
    let first = searches.first()?;
    let base = workload_text::base_load(&first.test)?;
    let part = |(place, test): (usize, &&&TestRun)| {
        let passed = test.headline.value?;
        let value = interval::headline_measured(&test.headline)?;
        let of = if place == 0 { format!(" of {base}") } else { String::new() };
        let title = sanitize::prose(&test.test.title);
        // `Highest load passed for 24 hours, ACT 5: latency from the queue`.
        let form = title.split(':').next().unwrap_or_default();
        let form = form.rsplit(", ").next().unwrap_or_default().to_owned();
        let named = if searches.len() > 1 { format!(" in {form}") } else { String::new() };
        let loads = tried_loads(test);
        let failed = loads.iter().find(|load| load.has_failed() && load.load > passed);
        let failed = failed.map_or_else(String::new, |load| {
            let load = number::measured(load.load, test.headline.metric);
            if searches.len() > 1 { format!(" (fails {load})") } else { format!(", fails {load}") }
        });
        Some(format!("{value}{of}{named}{failed}"))
    };
    let parts: Vec<String> = searches.iter().enumerate().filter_map(part).collect();
    (!parts.is_empty()).then(|| format!("Holds {}", parts.join(", ")))
}
