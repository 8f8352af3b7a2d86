//! A comparison as Markdown and as JSON.

use crate::documents::comparison::{ComparedRun, ComparedTest, Document, Range};
use crate::documents::value_of;
use crate::json::SCHEMA;
use serde_json::Value;
use ssdgauge_analysis::comparison::compare::{Comparison, Difference, TestComparison};
use ssdgauge_analysis::text::case::uncapitalised;
use ssdgauge_analysis::text::number;
use ssdgauge_core::{Metric, Verdict};
use ssdgauge_statistics::difference::earlier::Earlier;

/// The limits of every comparison, printed below it. The pairs are those of docs/explanation/reality.md.
const CAVEAT: &str = "Intervals come from the repetitions of a run; where it was not repeated, from its seconds and the \
                      repetitions of the other one. Where neither was, they are without the variation between runs, \
                      and without what is rarer than a few times in a step, such as stalls and long cycles. No interval covers the spread between \
                      drives of one model or between machines: of 25 pairs of equal models in different machines, \
                      15 differed by more than 3 % in sequential writes and 3 in random reads (iocost-benchmark).";

/// The rule of a comparison with a history, printed below it.
const BY_HISTORY: &str = "A difference is significant if it is larger than the changes between the \
                          earlier runs of the same test on this drive: beyond Q3 + 3 IQR of them \
                          (the limit is listed with each test).";

/// Returns the comparison as a Markdown table.
pub fn comparison_markdown(comparison: &Comparison) -> String {
    let mut text =
        format!("## {} against {}\n\n", md(&comparison.names[1]), md(&comparison.names[0]));
    if !comparison.marks.is_empty() {
        text.push_str(&format!("**{}**\n\n", comparison.marks.join(" · ")));
    }
    for doubt in doubts_in_words(comparison) {
        text.push_str(&format!("{}  \n", md(&doubt)));
    }
    if comparison.doubts.iter().any(Option::is_some) {
        text.push('\n');
    }
    text.push_str("| Test | A | B | B ÷ A | Verdict |\n|---|--:|--:|--:|---|\n");
    for (test, others) in comparison.rows() {
        // Of a load, the rule has the time for which it passed.
        let title = match test.metric {
            Metric::LoadMultiple => format!("{}, {}", test.title, test.rule),
            _ => test.title.clone(),
        };
        text.push_str(&format!(
            "| {} | {} | {} | {} | {} |\n",
            md(&title),
            test.value_words(0),
            test.value_words(1),
            test.ratio.map_or(number::NOTHING.to_owned(), |ratio| number::ratio(ratio, 3)),
            md(&[verdict(test)]
                .into_iter()
                .chain(limit(test))
                .chain(cut(test))
                .chain(others.iter().map(|other| by_another_rule(other)))
                .collect::<Vec<_>>()
                .join("; "))
        ));
    }
    text.push_str(&format!(
        "\nA: {}, run {}.  \n",
        md(&comparison.names[0]),
        md(&comparison.ids[0])
    ));
    text.push_str(&format!("B: {}, run {}.\n", md(&comparison.names[1]), md(&comparison.ids[1])));
    text.push_str(&format!("\n{}\n", basis(comparison)));
    if let Some(gate) = comparison.gate {
        let threshold = number::share(comparison.options.threshold.unwrap_or(0.0));
        let (word, why) = (gate_word(gate), gate_reason(comparison));
        text.push_str(&format!("\nGate at {threshold}: **{word}**{why}\n"));
    }
    text
}

/// Returns the comparison as JSON.
pub fn comparison_json(comparison: &Comparison) -> Value {
    let run = |place: usize| ComparedRun {
        id: &comparison.ids[place],
        drive: &comparison.names[place],
        doubts: comparison.doubts[place].as_deref(),
    };
    value_of(&Document {
        schema_version: SCHEMA,
        a: run(0),
        b: run(1),
        marks: &comparison.marks,
        noise: (!is_by_history(comparison)).then_some(comparison.options.noise),
        threshold: comparison.options.threshold,
        gate: comparison.gate.map(gate_key),
        gate_reason: comparison.gate_reason,
        tests: comparison.tests.iter().map(compared_test).collect(),
    })
}

fn compared_test(test: &TestComparison) -> ComparedTest<'_> {
    let range = |place: usize| test.ranges[place].map(|(low, high)| Range { low, high });
    let interval = test.ratio.and_then(|ratio| ratio.interval);
    ComparedTest {
        id: &test.id,
        revision: test.revision,
        metric: test.metric.key(),
        unit: test.metric.unit(),
        score: &test.rule,
        further: test.further,
        a: test.values[0],
        b: test.values[1],
        range_a: range(0),
        range_b: range(1),
        ratio_b_to_a: test.ratio.map(|ratio| ratio.value),
        cut_seconds_a: test.ratio.map(|ratio| ratio.cut_seconds[0]),
        cut_seconds_b: test.ratio.map(|ratio| ratio.cut_seconds[1]),
        low: interval.map(|(low, _)| low),
        high: interval.map(|(_, high)| high),
        history_runs: test.earlier.map(|earlier| earlier.runs),
        history_limit: test.earlier.and_then(|earlier| earlier.limit),
        difference: word(&test.difference),
        outcome: test.difference.outcome(),
        gate: test.gate.map(gate_key),
        reason: match &test.difference {
            Difference::Unknown(reason) => Some(reason),
            Difference::Better | Difference::Worse | Difference::Equal => None,
        },
    }
}

/// Returns a sentence for each run whose numbers are in doubt.
pub(super) fn doubts_in_words(comparison: &Comparison) -> Vec<String> {
    let named = ["A", "B"].into_iter().zip(&comparison.doubts);
    let sentence = |(name, doubt): (&str, &Option<String>)| {
        doubt.as_ref().map(|doubt| format!("Measurement quality of {name}: grade {doubt}."))
    };
    named.filter_map(sentence).collect()
}

/// Returns whether differences are judged by earlier runs.
fn is_by_history(comparison: &Comparison) -> bool {
    comparison.tests.iter().any(|test| test.earlier.is_some())
}

/// Returns what a difference is, and what its interval comes from.
pub(super) fn basis(comparison: &Comparison) -> String {
    if is_by_history(comparison) {
        return format!("{BY_HISTORY} {} runs of a test are needed.", Earlier::LEAST_RUNS);
    }
    let noise = number::share(comparison.options.noise);
    format!(
        "Better or worse: the 95 % interval excludes 0 %, and the change is beyond {noise}. Equal: the \
         whole interval is within {noise}. {CAVEAT}"
    )
}

/// Returns the result of the gate in words; `None` where no threshold was given.
pub(super) fn gate_words(comparison: &Comparison) -> Option<String> {
    let threshold = number::share(comparison.options.threshold.unwrap_or(0.0));
    let why = gate_reason(comparison);
    comparison.gate.map(|gate| format!("gate at {threshold}: {}{why}", gate_word(gate)))
}

/// Returns why the gate decides nothing, to follow its result; empty where the tests decide.
fn gate_reason(comparison: &Comparison) -> String {
    comparison.gate_reason.map(|why| format!(": {why}")).unwrap_or_default()
}

/// Returns within what results are equal, in words.
pub(super) fn margin(comparison: &Comparison) -> String {
    match is_by_history(comparison) {
        true => "its limit".to_owned(),
        false => number::share(comparison.options.noise),
    }
}

/// Returns the seconds that the ratio of `test` leaves out, where there are any.
pub(super) fn cut(test: &TestComparison) -> Option<String> {
    let seconds = test.ratio.map(|ratio| ratio.cut_seconds)?;
    let of =
        |(name, seconds): (&str, usize)| (seconds > 0).then(|| format!("{seconds} s of {name}"));
    let cut: Vec<String> = ["A", "B"].into_iter().zip(seconds).filter_map(of).collect();
    (!cut.is_empty())
        .then(|| format!("the change leaves out the faster first {}", cut.join(" and ")))
}

/// Returns the same quantity by another rule, without a verdict.
pub(super) fn by_another_rule(test: &TestComparison) -> String {
    let change = test.ratio.map(|ratio| format!(" ({})", number::change(ratio.value)));
    let [a, b] = [0, 1].map(|place| test.value_words(place));
    format!("{}: A {a}, B {b}{}", uncapitalised(&test.rule), change.unwrap_or_default())
}

/// Returns the limit of the history in words, where there is one.
pub(super) fn limit(test: &TestComparison) -> Option<String> {
    let earlier = test.earlier?;
    let limit = number::share(earlier.limit?);
    Some(format!("the limit by {} earlier runs is {limit}", earlier.runs))
}

/// Returns one test in words, such as `B is 1.38 ± 0.05 times A: better (IOPS)`.
pub(super) fn sentence(test: &TestComparison) -> String {
    let metric = test.metric.title();
    let verdict = verdict(test);
    let times = |ratio| number::ratio(ratio, 3);
    let limit = limit(test).map_or(String::new(), |limit| format!("; {limit}"));
    match (test.ratio, &test.difference) {
        (None, _) => verdict,
        (Some(ratio), Difference::Unknown(_)) => {
            format!("{verdict} (measured {metric}, B ÷ A: {}{limit})", times(ratio))
        }
        (Some(ratio), Difference::Better | Difference::Worse | Difference::Equal) => {
            format!("B is {} times A: {verdict} ({metric}{limit})", times(ratio))
        }
    }
}

fn verdict(test: &TestComparison) -> String {
    match &test.difference {
        Difference::Better => "better".to_owned(),
        Difference::Worse => "worse".to_owned(),
        Difference::Equal => "equal".to_owned(),
        // Both were measured.
        Difference::Unknown(reason) if test.ratio.is_some() => format!("not decided: {reason}"),
        Difference::Unknown(reason) => format!("not compared: {reason}"),
    }
}

/// Returns the word for the result of a gate in text.
fn gate_word(gate: Verdict) -> &'static str {
    match gate {
        Verdict::Holds => "passed",
        Verdict::Fails => "failed",
        Verdict::NotDecided => "not decided",
    }
}

/// Returns the word for the result of a gate in JSON.
fn gate_key(gate: Verdict) -> &'static str {
    match gate {
        Verdict::Holds | Verdict::Fails => gate_word(gate),
        Verdict::NotDecided => "undecided",
    }
}

fn word(difference: &Difference) -> &'static str {
    match difference {
        Difference::Better => "better",
        Difference::Worse => "worse",
        Difference::Equal => "within-noise",
        Difference::Unknown(_) => "unknown",
    }
}

fn md(text: &str) -> String {
    crate::markdown_text::escaped(text)
}
