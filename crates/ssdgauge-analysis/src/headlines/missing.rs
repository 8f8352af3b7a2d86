//! Findings on missing values: each null on a page or in JSON has one that names the reason.

use crate::groups::power;
use crate::model::metrics;
use crate::model::{PointRun, StepFinding, TestRun};
use crate::steps::tried_loads::tried_loads;
use crate::text::number;
use ssdgauge_core::rounded::count_of;
use ssdgauge_core::{
    ConfidenceInterval, Finding, FindingKind, Metric, Scope, ScoreFamily, Severity,
};
use ssdgauge_statistics::{mean_interval, percentile_interval};

/// The advice on a run whose rest is missing.
const CONTINUE: &str = "continue it: ssdgauge resume FILE";

/// Returns a finding for everything that is missing in `run`.
pub(crate) fn findings(run: &TestRun) -> Vec<StepFinding> {
    let mut findings = Vec::new();
    if run.points.len() < run.planned {
        findings.push(unfinished(run));
    }
    findings.extend(no_power(run));
    findings.extend(run.points.iter().filter_map(|point| power_gaps(run, point)));
    findings.extend(run.points.iter().flat_map(point_findings));
    findings.extend(headline_finding(run));
    findings
}

/// Returns the finding on a run whose steps have all finished, and which was killed before the flush
/// after them.
pub(crate) fn no_flush() -> Finding {
    Finding::new(
        FindingKind::NotMeasured,
        Severity::Warning,
        "the run ended before the flush after its last step: whether the drive kept what was written \
         is not known",
        CONTINUE,
    )
}

/// Changes the advice of `findings` on an imported result: it has no rest that could be continued.
pub(crate) fn adapt_to_import<'a>(findings: impl Iterator<Item = &'a mut Finding>) {
    for finding in findings.filter(|finding| finding.advice == CONTINUE) {
        finding.advice = "import the result of a whole run".to_owned();
    }
}

fn unfinished(run: &TestRun) -> StepFinding {
    let text = match run.points.len() {
        0 => "no step of this test has finished".to_owned(),
        some => format!("{some} of {} steps of this test have finished", run.planned),
    };
    StepFinding {
        step: None,
        metrics: vec![HEADLINE.into()],
        finding: Finding::new(FindingKind::NotMeasured, Severity::Warning, text, CONTINUE),
    }
}

/// One finding for the whole test, because a meter is usually attached for all steps or none.
fn no_power(run: &TestRun) -> Option<StepFinding> {
    let without: Vec<&PointRun> =
        run.points.iter().filter(|point| point.point.totals.metered().is_none()).collect();
    if without.is_empty() {
        return None;
    }
    let text = match without.len() == run.points.len() {
        true => "no power meter: power and efficiency were not measured".to_owned(),
        false => {
            let labels: Vec<&str> =
                without.iter().map(|point| point.point.label.as_str()).collect();
            format!("no power readings in {}", labels.join(", "))
        }
    };
    Some(StepFinding {
        step: None,
        metrics: keys_of_power(),
        finding: Finding::new(
            FindingKind::NotMeasured,
            Severity::Note,
            text,
            "attach a power meter to measure them",
        ),
    })
}

fn keys_of_power() -> Vec<String> {
    let power = Metric::ALL.into_iter().filter(|metric| metric.needs_power());
    power.map(|metric| metric.key().to_owned()).collect()
}

/// Returns the finding on the gaps of the power meter in `point`, unless the run file has it.
fn power_gaps(run: &TestRun, point: &PointRun) -> Option<StepFinding> {
    let label = point.point.label.as_str();
    let is_recorded = run.findings.iter().any(|one| {
        one.step.as_deref() == Some(label) && one.finding.kind == FindingKind::PowerGaps
    });
    let finding = power::gaps(point).filter(|_| !is_recorded)?;
    Some(StepFinding { step: Some(label.to_owned()), metrics: keys_of_power(), finding })
}

fn point_findings(point: &PointRun) -> Vec<StepFinding> {
    let mut few = TooFew::default();
    let mut others: Vec<String> = Vec::new();
    for (metric, scope, key, value) in metrics::shown(point) {
        if value.is_some() {
            continue;
        }
        let seen = point.point.totals.latency(scope).count();
        match metric.least_requests() {
            // Another program counted requests without their latencies.
            Some(_) if seen == 0 && has_requests(point, scope) => others.push(key),
            Some(needed) if seen < needed => few.add(metric, scope, key, (needed, seen)),
            Some(_) => others.push(key),
            // Efficiency also needs a power above zero; the meter's finding is that of the test.
            None if metric.needs_power() => {
                if metrics::value(point, Metric::PowerW, Scope::All).is_some() {
                    others.push(key);
                }
            }
            None => others.push(key),
        }
    }
    let step = Some(point.point.label.clone());
    let mut findings = Vec::new();
    if !few.keys.is_empty() {
        let advice = "run the test longer to measure them";
        let text = few.words.join("; ");
        let finding = Finding::new(FindingKind::TooFewSamples, Severity::Note, text, advice);
        findings.push(StepFinding { step: step.clone(), metrics: few.keys, finding });
    }
    if !others.is_empty() {
        let text = format!(
            "{} cannot be computed from the samples of this step",
            others.join(
                ", \
            "
            )
        );
        let finding = Finding::new(FindingKind::NotMeasured, Severity::Note, text, "");
        findings.push(StepFinding { step, metrics: others, finding });
    }
    findings
}

/// Returns whether `point` has requests of `scope`, with latencies or without.
fn has_requests(point: &PointRun, scope: Scope) -> bool {
    point.point.totals.value(Metric::Iops, scope).is_some_and(|rate| rate > 0.0)
}

/// The metrics of one step that had too few requests.
#[derive(Default)]
struct TooFew {
    keys: Vec<String>,
    words: Vec<String>,
    /// The requests of all directions; a direction with an equal number needs no second sentence.
    of_all: Vec<(Metric, u64)>,
}

impl TooFew {
    fn add(&mut self, metric: Metric, scope: Scope, key: String, (needed, seen): (u64, u64)) {
        self.keys.push(key);
        let of = scope.requests().map_or_else(String::new, |requests| format!(" of {requests}"));
        if scope == Scope::All {
            self.of_all.push((metric, seen));
        } else if self.of_all.contains(&(metric, seen)) {
            return;
        }
        let (needed, seen) = (number::count(needed), number::count(seen));
        let title = lower(metric.title());
        self.words.push(format!("{title}{of} needs at least {needed} requests, {seen} completed"));
    }
}

fn lower(title: &str) -> String {
    let mut letters = title.chars();
    letters.next().map_or_else(String::new, |first| first.to_lowercase().chain(letters).collect())
}

/// The key of the headline among the metrics of a finding.
const HEADLINE: &str = "headline";

/// What a reason for a missing interval is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Part {
    /// A headline that has none.
    Headline,
    /// Repetitions, whose headline has the interval between them.
    Repetition,
}

impl Part {
    fn words(self, why: &str) -> String {
        match self {
            Part::Headline => format!("the headline has no 95 % interval: {why}"),
            Part::Repetition => format!("within a repetition, {why}"),
        }
    }
}

/// Replaces in the `findings` of single repetitions what does not hold for all of them together: their headline
/// has the interval between repetitions. That the drive was settling stays so.
pub(crate) fn with_interval(findings: &mut Vec<StepFinding>) {
    let of_headline = |one: &StepFinding| one.step.is_none() && one.metrics == [HEADLINE];
    let is_of = |one: &StepFinding, kind| of_headline(one) && one.finding.kind == kind;
    findings.retain(|one| !is_of(one, FindingKind::TooFewSamples));
    for one in findings.iter_mut().filter(|one| is_of(one, FindingKind::StillSettling)) {
        one.finding = still_settling(Part::Repetition);
    }
}

fn still_settling(part: Part) -> Finding {
    let why = "the first seconds of a step are better than its last ones, also without the first half, so \
               the drive was still settling";
    let advice = "prepare the drive for longer, or measure longer steps";
    Finding::new(FindingKind::StillSettling, Severity::Note, part.words(why), advice)
}

/// The advice where the seconds of a run have no interval.
const REPEAT: &str = "repeat the run (--repeat) for an interval between repetitions";

fn headline_finding(run: &TestRun) -> Option<StepFinding> {
    let headline = &run.headline;
    let too_few = |why: &str| {
        let text = Part::Headline.words(why);
        Finding::new(FindingKind::TooFewSamples, Severity::Note, text, REPEAT)
    };
    let finding = match (headline.value, headline.interval) {
        (None, _) if run.points.len() < run.planned => return None,
        (None, _) => Finding::new(FindingKind::NotMeasured, Severity::Note, lacking(run), ""),
        (
            Some(_),
            ConfidenceInterval::WithinRun(_)
            | ConfidenceInterval::BetweenRepetitions { .. }
            | ConfidenceInterval::OfCounters { .. },
        ) => return None,
        (Some(_), ConfidenceInterval::OfTrials { low, high }) => {
            return Some(disagreeing_trials(run, low, high));
        }
        (Some(_), ConfidenceInterval::StillSettling) => still_settling(Part::Headline),
        (Some(_), ConfidenceInterval::TooFewSeconds) => too_few(&format!(
            "it uses {}, and an interval needs {} per step, that of a percentile {}",
            count_of(headline.n as usize, "full second"),
            mean_interval::FEWEST,
            percentile_interval::FEWEST
        )),
        (Some(_), ConfidenceInterval::RestsOnFewSeconds) => {
            too_few("a few seconds make most of σ, and a few others would make it another number")
        }
        (Some(_), ConfidenceInterval::Undefined) => {
            too_few("it is not a mean or a percentile over seconds, or a second has no value")
        }
    };
    Some(StepFinding { step: None, metrics: vec![HEADLINE.into()], finding })
}

/// Returns the finding that two trials of one load disagree.
fn disagreeing_trials(run: &TestRun, low: f64, high: f64) -> StepFinding {
    let words = |load| run.headline.metric.about(load);
    let all = match low > 0.0 {
        true => format!("{} passed every trial", words(low)),
        false => "no load passed every trial".to_owned(),
    };
    let text = format!("{all}, {} passed one of two: the answer lies between them", words(high));
    let advice = "repeat the run: the drive is at its limit between these loads";
    let finding = Finding::new(FindingKind::TrialsDisagree, Severity::Warning, text, advice);
    StepFinding { step: None, metrics: vec![HEADLINE.into()], finding }
}

fn lacking(run: &TestRun) -> String {
    let score = &run.test.score;
    let is_measured = |position| run.points.iter().any(|point| point.point.position == position);
    match score.position() {
        Some(position) if !is_measured(position) => {
            format!("the headline is {}, but no such step was measured", score.words())
        }
        Some(_) | None if score.family() == ScoreFamily::HighestLoad => {
            let lowest = tried_loads(run).into_iter().next();
            match lowest.and_then(|load| load.passed) {
                Some(_) => "no load has passed: the lowest one that was tried failed".to_owned(),
                None => "whether the load passed is not known".to_owned(),
            }
        }
        Some(_) | None => {
            let key = run.headline.metric.key();
            format!("the headline needs {key} at every step; it is missing for some of them")
        }
    }
}
