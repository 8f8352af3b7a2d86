//! The tests of a run, for its JSON.

use super::parts::{finding, interval};
use super::step;
use crate::documents::test::{
    Above, Chosen, Deviation, Further, Headline, HeadlineLevels, Knee, Number, Repetition,
    Separation, StateCheck, Test, TestFinding, Tracked, TriedLoad, Window,
};
use ssdgauge_analysis::findings::trust;
use ssdgauge_analysis::groups::workload_text;
use ssdgauge_analysis::headlines::headline_notes;
use ssdgauge_analysis::model::{self, Run, StepFinding, TestRun, metrics};
use ssdgauge_analysis::steps::state_check;
use ssdgauge_analysis::steps::tried_loads::{self, tried_loads};
use ssdgauge_analysis::steps::{knee, level_pair};
use ssdgauge_analysis::text::sanitize;
use ssdgauge_core::{Nanos, Score};
use ssdgauge_statistics::separation::{self, Class};

pub(super) fn document(of: &Run, run: &TestRun) -> Test {
    let test = &run.test;
    Test {
        id: sanitize::prose(&test.id),
        invalid: trust::invalid(of, run),
        revision: test.revision,
        title: sanitize::prose(&test.title),
        source: sanitize::prose(&test.source),
        score: test.score.words(),
        complete: run.complete,
        chosen: test.chosen.iter().map(chosen).collect(),
        deviations: test.deviations.iter().map(deviation).collect(),
        headline: headline(run),
        also: test.also.iter().zip(&run.also).map(|one| further(run, one)).collect(),
        repetitions: run.repetitions.iter().map(repetition).collect(),
        tracked: run.tracked.iter().map(tracked).collect(),
        remarks: headline_notes::notes(run),
        separation: run.separation.map(separation),
        power_scopes: metrics::power_scopes(run).iter().map(|scope| scope.name()).collect(),
        points: run.points.iter().map(|point| step::document(run, point)).collect(),
        tried_loads: tried_loads(run).iter().map(tried_load).collect(),
        state_checks: state_check::checks(run).iter().map(state_check).collect(),
        findings: run.findings.iter().map(step_finding).collect(),
    }
}

fn chosen(chosen: &ssdgauge_core::Chosen) -> Chosen {
    Chosen { key: sanitize::prose(&chosen.key), value: sanitize::prose(&chosen.value) }
}

fn deviation(deviation: &ssdgauge_core::Deviation) -> Deviation {
    Deviation {
        key: sanitize::prose(&deviation.key),
        value: sanitize::prose(&deviation.value),
        reason: sanitize::prose(&deviation.reason),
    }
}

/// Returns the headline of a test, with what is measured at a knee.
fn headline(run: &TestRun) -> Headline {
    let at_knee = knee::at_knee(run).map(|knee| {
        let depths = knee.found.depth;
        Knee {
            queue_depth: knee.depth(),
            queue_depth_low: depths.map(|(low, _)| low),
            queue_depth_high: depths.map(|(_, high)| high),
            values: knee
                .values()
                .into_iter()
                .map(|(metric, value)| (metric.key(), value))
                .collect(),
        }
    });
    Headline {
        number: number(&run.headline),
        levels: headline_levels(run, &run.test.score, &run.headline),
        knee: at_knee,
        latency_of: latency_of(run, &run.test.score),
    }
}

fn further(run: &TestRun, (score, also): (&Score, &ssdgauge_core::Headline)) -> Further {
    Further {
        number: number(also),
        levels: headline_levels(run, score, also),
        score: score.words(),
        latency_of: latency_of(run, score),
    }
}

/// Returns the requests of a latency without direction; `None` for another metric.
fn latency_of(run: &TestRun, score: &Score) -> Option<String> {
    let is_of_requests = score.metric().is_latency() && score.metric().is_split();
    is_of_requests.then(|| workload_text::scored_latency_of(&run.test, score))
}

fn repetition(repetition: &model::Repetition) -> Repetition {
    Repetition {
        headline: number(&repetition.headline),
        also: repetition.also.iter().map(number).collect(),
    }
}

/// Returns the two levels of the step that a headline rests on, where it falls.
fn headline_levels(
    run: &TestRun,
    score: &Score,
    headline: &ssdgauge_core::Headline,
) -> Option<HeadlineLevels> {
    level_pair::of_headline(run, score, headline).map(|levels| HeadlineLevels {
        before: levels.before,
        before_is_lower_bound: levels.is_lower_bound,
        after: levels.after,
    })
}

fn number(headline: &ssdgauge_core::Headline) -> Number {
    let ends = headline.interval.ends();
    Number {
        metric: headline.metric.key(),
        value: headline.value,
        protocol: headline.protocol.or(headline.value),
        unit: headline.metric.unit(),
        n: headline.n,
        low: ends.map(|(low, _)| low),
        high: ends.map(|(_, high)| high),
        interval: interval(&headline.interval),
    }
}

fn separation(found: separation::Separation) -> Separation {
    Separation {
        write_amplification: found.measured,
        under_uniform_writes: found.uniform,
        without_separation: found.mixed,
        with_ideal_separation: found.ideal,
        share_of_gain: found.share(),
        verdict: match found.class() {
            Class::Separates => "separates",
            Class::InPart => "separates in part",
            Class::DoesNot => "does not separate",
        },
    }
}

fn tried_load(load: &tried_loads::TriedLoad) -> TriedLoad {
    let above = |(latency, share, allowed): &(Nanos, Option<f64>, f64)| Above {
        latency_ms: latency.as_secs_f64() * 1e3,
        worst_slice_percent: *share,
        limit_percent: *allowed,
    };
    TriedLoad {
        load: load.load,
        passed: load.passed,
        trials_disagree: load.disagrees,
        requests: sanitize::prose(&load.requests),
        elapsed_ns: load.elapsed.0,
        first_failed_slice: load.failed_slice,
        above: load.above.iter().map(above).collect(),
    }
}

fn state_check(check: &state_check::StateCheck) -> StateCheck {
    StateCheck {
        step: sanitize::prose(&check.step),
        metric: check.metric.key(),
        first: check.first,
        again: check.again,
    }
}

fn tracked(tracked: &model::Tracked) -> Tracked {
    let window = tracked.window().map(|(first, verdict)| Window {
        first_round: first + 1,
        steady: verdict.steady,
        mean: verdict.mean,
        range: verdict.range,
        slope: verdict.slope,
        correlation: verdict.correlation,
    });
    Tracked {
        step: sanitize::prose(&tracked.step),
        metric: tracked.metric.key(),
        round: sanitize::prose(&tracked.round),
        values: tracked.values.clone(),
        window,
    }
}

fn step_finding(of_step: &StepFinding) -> TestFinding {
    TestFinding {
        finding: finding(&of_step.finding),
        step: of_step.step.as_deref().map(sanitize::prose),
        metrics: of_step.metrics.clone(),
    }
}
