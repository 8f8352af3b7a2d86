//! OpenMetrics text, which monitoring systems collect from a file.

use crate::analysis::workload_text;
use crate::model::metrics;
use crate::model::{LocatedFinding, Run, TestRun};
use crate::text::sanitize;
use ssdgauge_core::{Headline, Score, Severity};

/// Returns `runs` as OpenMetrics text: headlines, all measured values, findings and completeness.
///
/// The label `metric` includes the unit, as in JSON. A value that was not measured has no line.
pub fn openmetrics(runs: &[Run]) -> String {
    let mut text = String::new();
    family(&mut text, "ssdgauge_headline", "Headline of a test.", |lines| {
        for run in runs {
            for test in &run.tests {
                let also = test.also.iter().zip(&test.test.also);
                for (headline, score) in
                    [(&test.headline, &test.test.score)].into_iter().chain(also)
                {
                    lines.extend(number(run, test, headline, score));
                }
            }
        }
    });
    family(&mut text, "ssdgauge_value", "One metric of one step of a test.", |lines| {
        for run in runs {
            for test in &run.tests {
                values(lines, run, test);
            }
        }
    });
    family(&mut text, "ssdgauge_findings", "Findings of a run, by severity.", |lines| {
        for run in runs {
            findings(lines, run);
        }
    });
    family(
        &mut text,
        "ssdgauge_run_complete",
        "Whether every step has finished and was flushed.",
        |lines| {
            for run in runs {
                let value = f64::from(u8::from(run.complete));
                lines.push(line("ssdgauge_run_complete", &labels(run, &[]), value));
            }
        },
    );
    text.push_str("# EOF\n");
    text
}

fn family(text: &mut String, name: &str, help: &str, fill: impl FnOnce(&mut Vec<String>)) {
    text.push_str(&format!("# TYPE {name} gauge\n# HELP {name} {help}\n"));
    let mut lines = Vec::new();
    fill(&mut lines);
    text.extend(lines);
}

/// Returns the line of one headline; the rule tells several of one metric apart.
fn number(run: &Run, test: &TestRun, headline: &Headline, score: &Score) -> Option<String> {
    let revision = test.test.revision.to_string();
    let rule = workload_text::rule(&test.test, score);
    let own = [
        ("test", test.test.id.as_str()),
        ("revision", &revision),
        ("metric", headline.metric.key()),
        ("score", &rule),
    ];
    Some(line("ssdgauge_headline", &labels(run, &own), headline.value?))
}

fn values(lines: &mut Vec<String>, run: &Run, test: &TestRun) {
    let revision = test.test.revision.to_string();
    for point in &test.points {
        for (_, _, key, value) in metrics::shown(point) {
            let Some(value) = value else { continue };
            let own = [
                ("test", test.test.id.as_str()),
                ("revision", &revision),
                ("point", &point.point.label),
                ("metric", &key),
            ];
            lines.push(line("ssdgauge_value", &labels(run, &own), value));
        }
    }
}

fn findings(lines: &mut Vec<String>, run: &Run) {
    for level in [Severity::Note, Severity::Warning, Severity::Invalid] {
        let all = run.all_findings();
        let is_level = |placed: &&LocatedFinding<'_>| placed.finding.severity == level;
        let count = all.iter().filter(is_level).count();
        let labels = labels(run, &[("severity", level.name())]);
        lines.push(line("ssdgauge_findings", &labels, count as f64));
    }
}

fn line(name: &str, labels: &str, value: f64) -> String {
    format!("{name}{{{labels}}} {value}\n")
}

/// Returns the labels of a run followed by `own`.
fn labels(run: &Run, own: &[(&str, &str)]) -> String {
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
        ("data", if run.is_model() { "MODEL".to_owned() } else { "measured".to_owned() }),
    ];
    let of_run = of_run.iter().map(|(key, value)| (*key, value.clone()));
    let own = own.iter().map(|(key, value)| (*key, sanitize::prose(value)));
    let pair = |(key, value): (&str, String)| format!("{key}=\"{}\"", escaped(&value));
    of_run.chain(own).map(pair).collect::<Vec<_>>().join(",")
}

fn escaped(text: &str) -> String {
    text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n")
}
