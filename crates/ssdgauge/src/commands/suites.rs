//! `ssdgauge suites`: lists the suites, or the tests of one.

use crate::arguments;
use crate::failure::Failure;
use crate::in_parallel;
use crate::provenance;
use crate::suite_options::{DEFAULT_SIZE, find_suite};
use crate::terminal::colour::{Paint, Role};
use crate::terminal::table::{self, Column, Fit};
use crate::terminal::{self, line, width};
use serde_json::json;
use ssdgauge_lab::{
    ListedSuite, Suite, assumed_rates, built_in_ids, estimate, expected_on_1_tb, find_built_in,
    listed, plan_on_1_tb,
};

/// Prints all suites, or the tests of one.
///
/// # Errors
///
/// Fails where there is no such suite.
pub(crate) fn execute(arguments: &arguments::SuitesArguments) -> Result<(), Failure> {
    if arguments.json {
        let list = each(arguments, |suite| to_json(&suite))?;
        terminal::print_json(&json!({ "schema_version": 1, "suites": list }));
        return Ok(());
    }
    match arguments.suite {
        Some(_) => {
            let texts = each(arguments, |suite| full_text(&suite))?;
            texts.iter().for_each(|text| terminal::print_text(text));
        }
        None => print_list(&listed()),
    }
    Ok(())
}

/// Returns what `work` makes of the suite that was named, or of all suites in their order.
fn each<T: Send>(
    arguments: &arguments::SuitesArguments,
    work: impl Fn(Suite) -> T + Sync,
) -> Result<Vec<T>, Failure> {
    match &arguments.suite {
        Some(name) => Ok(vec![work(find_suite(name)?)]),
        None => {
            let all = in_parallel::map(built_in_ids(), |id| find_built_in(id).map(&work));
            Ok(all.into_iter().collect::<Result<_, _>>()?)
        }
    }
}

/// The columns of the list.
const COLUMNS: [Column; 4] = [
    Column::text("SUITE", Fit::Whole),
    Column::number("TIME", Fit::Whole),
    Column::number("WRITES", Fit::Whole),
    Column::text("PROTOCOL", Fit::Fold),
];

/// Prints a line for each suite.
fn print_list(rows: &[ListedSuite]) {
    let (width, paint) = (width::columns(), Paint::of_stdout());
    let row = |ListedSuite { id, title, cost }: &ListedSuite| {
        let cell = |text: Option<String>| text.unwrap_or_else(|| "-".to_owned());
        vec![
            paint.text(Role::Value, id),
            cell(cost.map(|(time, _)| time.about())),
            cell(cost.map(|(_, written)| written.about())),
            (*title).to_owned(),
        ]
    };
    let rows: Vec<Vec<String>> = rows.iter().map(row).collect();
    terminal::print_folded(&table::rows(&COLUMNS, &rows, width).concat());
    let (one, own) = ("ssdgauge suites act", "ssdgauge plan act TARGET");
    terminal::print_folded(&format!(
        "\nTime and bytes are expected on an NVMe client drive of 1 TB; the quick ones use a scratch file of \
         {}, the others up to the whole drive, and erase it.\none suite:      {}\nanother drive:  {}\n",
        DEFAULT_SIZE.about(),
        paint.text(Role::Command, one),
        paint.text(Role::Command, own),
    ));
}

fn full_text(suite: &Suite) -> String {
    let Suite { id, revision, .. } = suite;
    let [title, summary, source] =
        [&suite.title, &suite.summary, &suite.source].map(|text| line(text));
    let mut text = format!("{id} (revision {revision}): {title}\n");
    if let Some((time, written)) = expected_on_1_tb(suite) {
        let (time, written) = (time.about(), written.about());
        text.push_str(&format!("On an NVMe client drive of 1 TB: {time}, writes {written}\n"));
    }
    text.push_str(&format!("{summary}\nSource: {source}\n"));
    for test in &suite.tests {
        text.push_str(&format!(
            "\n{} (revision {}): {}\n",
            test.id,
            test.revision,
            line(&test.title)
        ));
        text.push_str(&format!("  source   {}\n", line(&test.source)));
        text.push_str(&format!(
            "  headline {} of {}\n",
            test.score.words(),
            test.score.metric().key()
        ));
        for score in &test.also {
            let (words, key) = (score.words(), score.metric().key());
            text.push_str(&format!("  also     {words} of {key}\n"));
        }
        if let Some(metric) = test.score.depth_knee() {
            let efficiency = metric.efficiency().key();
            text.push_str(&format!(
                "  beside   queue depth, latency (mean, p99, p99.99) and {efficiency} at that depth\n"
            ));
        }
        text.push_str(&format!("  points   {}\n", line(&points_text(test))));
        text.push_str(&provenance::lines(&test.chosen, &test.deviations, 11));
    }
    text
}

/// The number of points of a test from which only the first and the last are listed.
const FOLDED_FROM: usize = 40;

/// Returns the labels of the points; of very many, the first and the last with their number.
fn points_text(test: &ssdgauge_lab::TestRule) -> String {
    let labels: Vec<&str> = test.points.iter().map(|point| point.label.as_str()).collect();
    match labels.as_slice() {
        [first, .., last] if labels.len() >= FOLDED_FROM => {
            format!("{first} to {last} ({} points)", labels.len())
        }
        _ => labels.join(", "),
    }
}

fn to_json(suite: &Suite) -> serde_json::Value {
    let test = |test: &ssdgauge_lab::TestRule| {
        json!({
            "id": test.id, "revision": test.revision, "title": test.title,
            "source": test.source, "metric": test.score.metric().key(),
            "score": test.score.words(),
            "also": test.also.iter().map(|score| json!({
                "metric": score.metric().key(), "score": score.words(),
            })).collect::<Vec<_>>(),
            "points": test.points.iter().map(|point| &point.label).collect::<Vec<_>>(),
            "chosen": test.chosen, "deviations": test.deviations,
        })
    };
    let cost = plan_on_1_tb(suite).map(|(plan, drive)| {
        let cost = estimate(&plan, drive.capacity, &assumed_rates(&drive));
        json!({
            "time_s": cost.time.expected.as_secs_f64(),
            "time_bound_s": cost.time.at_most.as_secs_f64(),
            "written_bytes": cost.written.expected.0,
            "written_bytes_bound": cost.written.at_most.0,
        })
    });
    json!({
        "estimate_on_1_tb": cost,
        "id": suite.id, "revision": suite.revision, "title": suite.title,
        "summary": suite.summary, "source": suite.source,
        "tests": suite.tests.iter().map(test).collect::<Vec<_>>(),
    })
}
