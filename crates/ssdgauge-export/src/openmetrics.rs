//! OpenMetrics text, which monitoring systems collect from a file.

use crate::exposition::{Exposition, MetricFamily, MetricKind, MetricSample};
use ssdgauge_analysis::findings::trust;
use ssdgauge_analysis::groups::workload_text;
use ssdgauge_analysis::model::metrics;
use ssdgauge_analysis::model::{LocatedFinding, PointRun, Run, TestRun};
use ssdgauge_analysis::steps::level_pair;
use ssdgauge_analysis::text::{labels, sanitize};
use ssdgauge_core::{Headline, Score, Severity};

/// Returns `runs` as OpenMetrics text: headlines, all measured values, findings and completeness.
///
/// The label `metric` includes the unit, as in JSON. A value that was not measured has no line, nor has one
/// that a finding makes invalid.
pub fn openmetrics(runs: &[Run]) -> String {
    let gauge = |name, help| MetricFamily { name, kind: MetricKind::Gauge, unit: "", help };
    let of_tests = |samples: fn(&Run, &TestRun) -> Vec<MetricSample>| {
        let of_run = |run: &Run| -> Vec<MetricSample> {
            let valid = run.tests.iter().filter(|test| trust::invalid(run, test).is_none());
            valid.flat_map(|test| samples(run, test)).collect()
        };
        runs.iter().flat_map(of_run).collect()
    };
    let complete = |run: &Run| (run_labels(run, &[]), f64::from(u8::from(run.complete)));
    Exposition::OpenMetrics.text([
        (gauge("ssdgauge_headline", "Headline of a test."), of_tests(headlines)),
        (gauge("ssdgauge_value", "One metric of one step of a test."), of_tests(values)),
        (
            gauge("ssdgauge_findings", "Findings of a run, by severity."),
            runs.iter().flat_map(findings).collect(),
        ),
        (
            gauge("ssdgauge_run_complete", "Whether every step has finished and was flushed."),
            runs.iter().map(complete).collect(),
        ),
    ])
}

/// Returns the headlines of a test.
fn headlines(run: &Run, test: &TestRun) -> Vec<MetricSample> {
    let also = test.also.iter().zip(&test.test.also);
    let all = [(&test.headline, &test.test.score)].into_iter().chain(also);
    all.flat_map(|(headline, score)| numbers(run, test, headline, score)).collect()
}

/// Returns the line of one headline; the rule tells several of one metric apart. The two levels of a step that
/// falls have a line each, without one for their mean.
fn numbers(run: &Run, test: &TestRun, headline: &Headline, score: &Score) -> Vec<MetricSample> {
    let revision = test.test.revision.to_string();
    let rule = workload_text::rule(&test.test, score);
    let own = [
        ("test", test.test.id.as_str()),
        ("revision", &revision),
        ("metric", headline.metric.key()),
        ("score", &rule),
    ];
    let sample = |level: &[(&'static str, &str)], value| {
        (run_labels(run, &[own.as_slice(), level].concat()), value)
    };
    match level_pair::of_headline(test, score, headline) {
        Some(levels) => vec![
            sample(&[("level", "before")], levels.before),
            sample(&[("level", "after")], levels.after),
        ],
        None => headline.value.map(|value| sample(&[], value)).into_iter().collect(),
    }
}

fn values(run: &Run, test: &TestRun) -> Vec<MetricSample> {
    let revision = test.test.revision.to_string();
    let of_point = |point: &PointRun| -> Vec<MetricSample> {
        let of_value = |(_, _, key, value): (_, _, String, Option<f64>)| {
            let own = [
                ("test", test.test.id.as_str()),
                ("revision", &revision),
                ("point", &point.point.label),
                ("metric", &key),
            ];
            Some((run_labels(run, &own), value?))
        };
        metrics::shown(point).into_iter().filter_map(of_value).collect()
    };
    test.points.iter().flat_map(of_point).collect()
}

fn findings(run: &Run) -> [MetricSample; 3] {
    [Severity::Note, Severity::Warning, Severity::Invalid].map(|level| {
        let all = run.all_findings();
        let is_level = |placed: &&LocatedFinding<'_>| placed.finding.severity == level;
        let count = all.iter().filter(is_level).count();
        (run_labels(run, &[("severity", level.name())]), count as f64)
    })
}

/// Returns the labels of a run followed by `own`.
fn run_labels(run: &Run, own: &[(&'static str, &str)]) -> Vec<(&'static str, String)> {
    let drive = &run.head.drive;
    let plan = &run.head.plan;
    let device = |text: &Option<String>| sanitize::device(text.as_deref().unwrap_or_default());
    let shortened = plan.shortened.max(1).to_string();
    let of_run = [
        ("run", sanitize::prose(&run.head.id)),
        ("drive", sanitize::device(drive.name())),
        ("serial", device(&drive.serial)),
        ("firmware", device(&drive.firmware)),
        ("suite", sanitize::prose(&plan.suite.id)),
        ("shortened", shortened),
        ("data", labels::data_origin(&run.head)),
    ];
    let own = own.iter().map(|(key, value)| (*key, sanitize::prose(value)));
    of_run.into_iter().chain(own).collect()
}
