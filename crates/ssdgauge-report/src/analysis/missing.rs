//! Findings on missing values: each null on a page or in JSON has one that names the reason.

use crate::model::metrics;
use crate::model::{PointRun, StepFinding, TestRun};
use crate::text::number;
use ssdgauge_core::{Finding, FindingKind, Metric, Scope, Score, Severity};

/// Returns a finding for everything that is missing in `run`.
pub(crate) fn findings(run: &TestRun) -> Vec<StepFinding> {
    let mut findings = Vec::new();
    if run.points.len() < run.planned {
        findings.push(unfinished(run));
    }
    findings.extend(no_power(run));
    findings.extend(run.points.iter().flat_map(point_findings));
    findings.extend(headline_finding(run));
    findings
}

fn unfinished(run: &TestRun) -> StepFinding {
    let text = match run.points.len() {
        0 => "no step of this test has finished".to_owned(),
        some => format!("{some} of {} steps of this test have finished", run.planned),
    };
    StepFinding {
        step: None,
        metrics: vec!["headline".into()],
        finding: Finding::new(
            FindingKind::NotMeasured,
            Severity::Warning,
            text,
            "continue it: ssdgauge resume FILE",
        ),
    }
}

/// One finding for the whole test, because a meter is usually attached for all steps or none.
fn no_power(run: &TestRun) -> Option<StepFinding> {
    let without: Vec<&PointRun> = run
        .points
        .iter()
        .filter(|point| metrics::value(point, Metric::PowerW, Scope::All).is_none())
        .collect();
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
    let power = Metric::ALL.into_iter().filter(|metric| metric.needs_power());
    Some(StepFinding {
        step: None,
        metrics: power.map(|metric| metric.key().to_owned()).collect(),
        finding: Finding::new(
            FindingKind::NotMeasured,
            Severity::Note,
            text,
            "attach a power meter to measure them",
        ),
    })
}

fn point_findings(point: &PointRun) -> Vec<StepFinding> {
    let mut few = TooFew::default();
    let mut others: Vec<String> = Vec::new();
    for (metric, scope, key, value) in metrics::shown(point) {
        if value.is_some() {
            continue;
        }
        let seen = point.point.totals.latency(scope).count();
        match fewest(metric) {
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
        let of = match scope {
            Scope::All => "",
            Scope::Read => " of reads",
            Scope::Write => " of writes",
        };
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

/// Returns the fewest requests that `metric` needs, where it is a statistic of requests.
///
/// A percentile needs a sample beyond it (definition D1): 1 ÷ (1 − p) requests.
fn fewest(metric: Metric) -> Option<u64> {
    match metric {
        Metric::LatMeanUs | Metric::LatMaxUs => Some(1),
        Metric::LatP50Us => Some(2),
        Metric::LatP99Us => Some(100),
        Metric::LatP999Us => Some(1_000),
        Metric::LatP9999Us => Some(10_000),
        Metric::LatP99999Us => Some(100_000),
        Metric::Iops
        | Metric::ThroughputMbS
        | Metric::PowerW
        | Metric::EnergyJ
        | Metric::EfficiencyMbSW
        | Metric::EfficiencyKiopsW
        | Metric::InFlightMean
        | Metric::WriteAmplification
        | Metric::EffectiveOverProvisioning
        | Metric::MeanOverSigma
        | Metric::LoadMultiple => None,
    }
}

fn headline_finding(run: &TestRun) -> Option<StepFinding> {
    let headline = &run.headline;
    let (kind, text) = match (headline.value, headline.low) {
        (Some(_), Some(_)) => return None,
        (None, _) if run.points.len() < run.planned => return None,
        (None, _) => (FindingKind::NotMeasured, lacking(run)),
        (Some(_), None) => (
            FindingKind::TooFewSamples,
            format!(
                "the headline has no interval: it uses {} full seconds, and an interval needs at \
                 least five per step and a metric that is additive over seconds",
                headline.n
            ),
        ),
    };
    let metrics = vec!["headline".into()];
    let finding = Finding::new(kind, Severity::Note, text, "");
    Some(StepFinding { step: None, metrics, finding })
}

fn lacking(run: &TestRun) -> String {
    match run.test.score {
        Score::At { position, .. } if run.points.iter().all(|p| p.point.position != position) => {
            format!("the headline is {}, but no such step was measured", run.test.score.words())
        }
        Score::At { .. }
        | Score::MeanOf(_)
        | Score::MeanAt { .. }
        | Score::BestOf(_)
        | Score::Knee(_)
        | Score::KneeOfLoad(_)
        | Score::MeanOfLast { .. }
        | Score::MeanOverSigmaOfLast { .. }
        | Score::HighestBorne
        | Score::HighestBorneFromSending => {
            let key = run.headline.metric.key();
            format!("the headline needs {key} at every step; it is missing for some of them")
        }
    }
}
