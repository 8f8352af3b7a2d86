//! Notes on a headline: the depths of a knee, the other mean, the cache, the spread.

use crate::groups::workload_text;
use crate::headlines::fill_speed;
use crate::model::metrics;
use crate::model::{Repetition, StepFinding, TestRun};
use crate::steps::fall_words;
use crate::steps::separation;
use crate::steps::slc_cache;
use crate::steps::steady_state;
use crate::text::interval;
use crate::text::number;
use crate::text::sanitize;
use ssdgauge_core::rounded::{self, count_of};
use ssdgauge_core::{
    ConfidenceInterval, FindingKind, KneeFound, Metric, Nanos, Scope, Score, ScoreFamily, Window,
};
use ssdgauge_statistics::cache::Edge;
use ssdgauge_statistics::consistency::{self, Consistency};
use ssdgauge_statistics::{knee, summary};

/// Returns the notes on the headline of `test`; empty where it has no value.
pub fn notes(test: &TestRun) -> Vec<String> {
    if test.headline.value.is_none() {
        return Vec::new();
    }
    let mut notes: Vec<String> = repeated(test).into_iter().collect();
    notes.extend(other_than_rule(test));
    let score = &test.test.score;
    let metric = score.metric();
    notes.extend::<Vec<String>>(match (score.family(), score.last_part()) {
        (ScoreFamily::Knee, _) => match score.depth_knee() {
            Some(metric) => knee_words(test, metric).into_iter().collect(),
            None => knee_of_load(test).into_iter().collect(),
        },
        (ScoreFamily::Mean, _) => harmonic(test, metric).into_iter().collect(),
        (ScoreFamily::Point, _) if score.position().is_none() => {
            best(test, metric).into_iter().collect()
        }
        (ScoreFamily::LastPart, Some((metric, window))) => over_last(test, metric, window),
        (ScoreFamily::Point | ScoreFamily::LastPart | ScoreFamily::HighestLoad, _) => Vec::new(),
    });
    notes.extend(changes(test));
    notes.extend(between_steps(test));
    notes.extend(from_sending(test));
    notes.extend(no_certificate(test));
    notes.extend(also(test));
    notes.extend(cache(test));
    notes.extend(separation::words(test));
    notes
}

/// Returns a remark where the result of `test` leaves out what its rule counts: a start that flatters, or all levels of a
/// fill but one.
pub fn other_than_rule(test: &TestRun) -> Option<String> {
    interval::start_left_out(&test.headline).or_else(|| fill_speed::remark(test))
}

/// What the interval of a mean over equal steps comes from.
fn between_steps(test: &TestRun) -> Option<String> {
    let is_between =
        matches!(test.headline.interval, ConfidenceInterval::BetweenRepetitions { .. });
    let steps = test.points.iter().filter(|one| test.test.score.needs(one.point.position)).count();
    (is_between && test.repetitions.is_empty())
        .then(|| format!("the 95 % interval is that between {steps} equal steps"))
}

/// The steps that drift or shift by more than the interval of their mean.
fn changes(test: &TestRun) -> Option<String> {
    let is_change = |found: &&StepFinding| found.finding.kind == FindingKind::ChangesWithin;
    let mut found = test.findings.iter().filter(is_change);
    let first = found.next()?;
    let step = first.step.as_deref().filter(|_| test.points.len() > 1);
    let step = step.map_or(String::new(), |step| format!("{step} "));
    Some(match found.count() {
        0 => format!("{step}{}", first.finding.text),
        more => format!("{step}{}; {} more change", first.finding.text, count_of(more, "step")),
    })
}

/// The result of every repetition, in the order of execution.
fn repeated(test: &TestRun) -> Option<String> {
    let value = |repetition: &Repetition| number::optional(repetition.headline.value);
    let each: Vec<String> = test.repetitions.iter().map(value).collect();
    (each.len() > 1).then(|| {
        format!(
            "mean of {} repetitions with the 95 % interval between repetitions; in order: {}",
            each.len(),
            each.join(", ")
        )
    })
}

/// The variation of the last part of a single step, and its steady state by the SNIA criterion,
/// which has no fixed window.
fn over_last(test: &TestRun, metric: Metric, window: Window) -> Vec<String> {
    let [point] = test.points.as_slice() else { return Vec::new() };
    let mut notes = Vec::new();
    let last = window.select(point.point.seconds.full()).map(|last| last.rates(metric));
    let kind = last.and_then(|last| consistency::classify(&last));
    notes.extend(kind.map(|kind| match kind {
        Consistency::Steady => {
            format!("little variation from second to second in the {window}")
        }
        Consistency::Periodic { period, depth } => format!(
            "periodic drops of {:.0} % every {} s in the {window} (samples of 1 s)",
            depth * 100.0,
            number::text(period)
        ),
        Consistency::Wide => format!("large variation throughout the {window} (samples of 1 s)"),
    }));
    notes.extend(steady_state::summary(test));
    notes
}

/// The levels of the write speed, where a single step writes sequentially, and the position of each step
/// relative to the SLC cache.
fn cache(test: &TestRun) -> impl Iterator<Item = String> {
    let falls = slc_cache::falls(test);
    let words = |edge: Edge| {
        let (inside, beyond) = (|bytes| number::text(bytes / 1e6), number::text(edge.after / 1e6));
        let inside = edge.before_in_words(inside);
        format!("SLC cache of {}: {inside} MB/s inside, {beyond} MB/s beyond", rounded::edge(&edge))
    };
    let size = match (slc_cache::cache_edge(test), falls) {
        (_, []) => None,
        (Some(edge), [_]) => Some(words(edge)),
        (Some(edge), [_, later @ ..]) => {
            Some(format!("{}{}", words(edge), fall_words::later_levels(later)))
        }
        (None, falls) => Some(format!("writes {}", fall_words::levels(falls))),
    };
    let places = slc_cache::summary(test).filter(|_| test.points.len() > 1);
    size.into_iter().chain(places)
}

/// The further numbers of the protocol from the same samples.
fn also(test: &TestRun) -> impl Iterator<Item = String> {
    test.test.also.iter().zip(&test.also).filter_map(|(score, headline)| {
        headline.value?;
        let value = interval::headline(headline);
        Some(format!(
            "{}: {value} ({})",
            headline.metric.title(),
            workload_text::rule(&test.test, score)
        ))
    })
}

/// The knee, its interpolated depth and the depths tested, with their 95 % intervals. The rule is
/// fragile where throughput still rises slowly at the deepest queue (definition D7).
fn knee_words(test: &TestRun, metric: Metric) -> Option<String> {
    let points = test.scored_points()?;
    let found = KneeFound::find(metric, &points)?;
    let knee = found.knee;
    let depth = match found.depth {
        Some((low, high)) if low == high => {
            format!("QD{} (also at both ends of the intervals)", knee.depth)
        }
        Some((low, high)) => format!("QD{} (95 %: QD{low} to QD{high})", knee.depth),
        None => format!("QD{}", knee.depth),
    };
    let interpolated = match found.interpolated {
        Some((low, high)) => format!(
            "{} (95 %: {} to {})",
            number::text(knee.interpolated),
            number::text(low),
            number::text(high)
        ),
        None => number::text(knee.interpolated),
    };
    let ladder: Vec<String> = points.iter().map(|point| point.position.to_string()).collect();
    let end = match points.last() {
        Some(last) if last.position as u32 == knee.peak_depth => {
            "; the peak is at the deepest queue tested and may lie beyond it"
        }
        Some(_) | None => "",
    };
    Some(format!(
        "knee at {depth}, interpolated at {interpolated}; peak at QD{}; depths tested: {}{end}",
        knee.peak_depth,
        ladder.join(", ")
    ))
}

/// The load at the knee, with the mean latency there and at the lowest load.
fn knee_of_load(test: &TestRun) -> Option<String> {
    let values = |metric| -> Option<Vec<f64>> {
        test.points.iter().map(|point| metrics::value(point, metric, Scope::All)).collect()
    };
    let latencies = values(Metric::LatMeanUs)?;
    let place = knee::of_load(&values(Metric::Iops)?, &latencies)?;
    let label = sanitize::step(&test.points[place].point.label);
    let end = match place + 1 == test.points.len() {
        true => "; the knee is at the highest load tested and may lie beyond it",
        false => "",
    };
    Some(format!(
        "knee at {label}: mean latency {}, at the lowest load {}{end}",
        Metric::LatMeanUs.about(latencies[place]),
        Metric::LatMeanUs.about(*latencies.first()?)
    ))
}

/// That the load was passed for less than the day that a certificate of ACT takes.
fn no_certificate(test: &TestRun) -> Option<String> {
    const DAY: Nanos = Nanos(24 * 3_600 * 1_000_000_000);
    let time = workload_text::passed_for(&test.test).filter(|time| *time < DAY)?;
    let is_act = test.test.id.starts_with("act-");
    (is_act && test.test.score.metric() == Metric::LoadMultiple).then(|| {
        format!(
            "passed for {}: no certificate, which takes at least 24 h (a real drive passed ACT 6× in hours 1 to \
             10 and failed it in hours 11 to 48)",
            time.about()
        )
    })
}

/// The loads of the headline that counts latency from submission; the search itself counts
/// from the due time.
fn from_sending(test: &TestRun) -> Option<String> {
    let rule = |score: &&Score| **score == Score::HighestPassingByServiceLatency;
    let place = test.test.also.iter().position(|score| rule(&score))?;
    let passing = test.also.get(place)?.value?;
    let tried = test.points.iter().map(|point| point.point.position).fold(0.0, f64::max);
    Some(match passing >= tried {
        true => format!(
            "with latency from submission: at least {} (no higher load ran in full)",
            Metric::LoadMultiple.about(passing)
        ),
        false => format!(
            "with latency from submission: {} among the loads that ran in full, up to {}",
            Metric::LoadMultiple.about(passing),
            Metric::LoadMultiple.about(tried)
        ),
    })
}

/// The harmonic mean, which is the rate at which equal parts take the same total time (D5).
fn harmonic(test: &TestRun, metric: Metric) -> Option<String> {
    let points = || test.points.iter().filter(|point| test.test.score.needs(point.point.position));
    if !metric.more_is_better() || points().count() < 2 {
        return None;
    }
    let values: Option<Vec<f64>> =
        points().map(|point| metrics::value(point, metric, Scope::All)).collect();
    let mean = summary::harmonic_mean(&values?)?;
    Some(format!("harmonic mean {}", metric.about(mean)))
}

fn best(test: &TestRun, metric: Metric) -> Option<String> {
    let value = test.headline.value?;
    let same =
        |point: &&crate::model::PointRun| metrics::value(point, metric, Scope::All) == Some(value);
    let point = test.points.iter().find(same)?;
    (test.points.len() > 1).then(|| format!("at {}", sanitize::step(&point.point.label)))
}
