//! `ssdgauge suites`: lists the suites, or the tests of one.

mod questions;

use crate::arguments;
use crate::failure::Failure;
use crate::in_parallel;
use crate::provenance;
use crate::suite_options::{DEFAULT_SIZE, find_suite};
use questions::QUESTIONS;
use serde::Serialize;
use ssdgauge_core::{Chosen, Deviation, Score, shell_word};
use ssdgauge_lab::{
    ListedSuite, Suite, assumed_rates, built_in_ids, computing_time_on_1_tb, estimate,
    expected_on_1_tb, find_built_in, listed, plan_on_1_tb,
};
use ssdgauge_watch::terminal::colour::{Paint, Role};
use ssdgauge_watch::terminal::fold;
use ssdgauge_watch::terminal::{self, line, width};

/// Prints all suites, or the tests of one.
///
/// # Errors
///
/// Fails where there is no such suite.
pub(crate) fn execute(arguments: &arguments::SuitesArguments) -> Result<(), Failure> {
    if arguments.json {
        let suites = each(arguments, |suite| suite_row(&suite))?;
        terminal::print_document(&Document { schema_version: 1, suites });
        return Ok(());
    }
    match arguments.suite {
        Some(_) => {
            let of = if arguments.all { full_text } else { short_text };
            let texts = each(arguments, |suite| of(&suite))?;
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

/// The indent of the lines below the name of a suite.
const INDENT: usize = 4;

/// Prints the suites by the questions that they answer, in at most three lines each: name, cost and title, and what it
/// does.
fn print_list(rows: &[ListedSuite]) {
    let (width, paint) = (width::columns(), Paint::of_stdout());
    let summaries = in_parallel::map(built_in_ids(), |id| {
        find_built_in(id).map(|suite| line(&suite.summary)).unwrap_or_default()
    });
    let mut text = String::new();
    for (question, suites) in QUESTIONS {
        text.push_str(&format!("{question}\n"));
        for id in suites {
            let Some(place) = rows.iter().position(|row| row.id == *id) else { continue };
            let ListedSuite { title, cost, computing, .. } = &rows[place];
            let here =
                computing.map_or_else(String::new, |time| format!(" (virtual: {})", time.about()));
            let cost = cost.map_or_else(String::new, |(time, written)| {
                format!("{}{here}, writes {}: ", time.about(), written.about())
            });
            text.push_str(&format!("  {}  {cost}{title}\n", paint.text(Role::Value, id)));
            let indented = format!("{}{}", " ".repeat(INDENT), summaries[place]);
            // A title of two lines leaves one to the summary.
            let is_long = format!("  {id}  {cost}{title}").chars().count() > width;
            let mut lines = match is_long {
                true => vec![fold::cut(&indented, width)],
                false => fold::lines(&indented, INDENT, width),
            };
            let rest = lines.split_off(lines.len().min(1)).join(" ");
            if !rest.is_empty() {
                lines.push(fold::cut(&format!("{}{}", " ".repeat(INDENT), rest.trim()), width));
            }
            text.push_str(&format!("{}\n", lines.join("\n")));
        }
        text.push('\n');
    }
    terminal::print_folded(&text);
    let (one, own) = ("ssdgauge suites act", "ssdgauge plan act TARGET");
    terminal::print_folded(&format!(
        "Time and bytes are expected on an NVMe client drive of 1 TB; a virtual one takes about the time in parentheses \
         here. The quick ones use a scratch file of {} and erase \
         nothing; the others test up to the whole drive, and erase it.\none suite:   {}\nyour drive:  {}\n",
        DEFAULT_SIZE.about(),
        paint.text(Role::Command, one),
        paint.text(Role::Command, own),
    ));
}

/// Returns the tests of `suite`, three lines each: what it is, what counts, and its points.
fn short_text(suite: &Suite) -> String {
    let mut text = head(suite);
    for test in &suite.tests {
        text.push_str(&format!("\n{}: {}\n", test.id, line(&test.title)));
        let (words, key) = (test.score.words(), test.score.metric().key());
        text.push_str(&format!("  headline {words} of {key}\n"));
        text.push_str(&format!("  points   {}\n", line(&points_text(test, FOLDED_SHORT))));
    }
    let id = shell_word(&suite.id);
    text.push_str(&format!(
        "\nsources and chosen values:  ssdgauge suites {id} --all\ntime and bytes of a drive:  ssdgauge plan {id} TARGET\n"
    ));
    text
}

fn head(suite: &Suite) -> String {
    let Suite { id, revision, .. } = suite;
    let [title, summary, source] =
        [&suite.title, &suite.summary, &suite.source].map(|text| line(text));
    let mut text = format!("{id} (revision {revision}): {title}\n");
    if let Some((time, written)) = expected_on_1_tb(suite) {
        let (time, written) = (time.about(), written.about());
        let here = computing_time_on_1_tb(suite).map_or_else(String::new, |here| {
            format!("; about {} here on a virtual one", here.about())
        });
        text.push_str(&format!(
            "On an NVMe client drive of 1 TB: {time}{here}, writes {written}\n"
        ));
    }
    text.push_str(&format!("{summary}\nSource: {source}\n"));
    text
}

fn full_text(suite: &Suite) -> String {
    let mut text = head(suite);
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
                "  with     queue depth, latency (mean, p99, p99.99) and {efficiency} at that depth\n"
            ));
        }
        text.push_str(&format!("  points   {}\n", line(&points_text(test, FOLDED_FROM))));
        text.push_str(&provenance::lines(&test.chosen, &test.deviations, 11));
    }
    text
}

/// The number of points of a test from which only the first and the last are listed, in full and in short.
const FOLDED_FROM: usize = 40;
const FOLDED_SHORT: usize = 13;

/// Returns the labels of the points; of very many, the first and the last with their number.
fn points_text(test: &ssdgauge_lab::TestRule, folded_from: usize) -> String {
    let labels: Vec<&str> = test.points.iter().map(|point| point.label.as_str()).collect();
    match labels.as_slice() {
        [first, .., last] if labels.len() >= folded_from => {
            format!("{first} to {last} ({} points)", labels.len())
        }
        _ => labels.join(", "),
    }
}

/// `suites --json`.
#[derive(Serialize)]
struct Document {
    schema_version: u32,
    suites: Vec<SuiteRow>,
}

/// A suite.
#[derive(Serialize)]
struct SuiteRow {
    /// Its cost on a drive of 1 TB; null where it has no plan for one.
    estimate_on_1_tb: Option<Cost>,
    id: String,
    revision: u32,
    title: String,
    summary: String,
    /// The publication that it follows.
    source: String,
    tests: Vec<TestRow>,
}

/// Time and bytes. A bound is one that a run stays below.
#[derive(Serialize)]
struct Cost {
    time_s: f64,
    time_bound_s: f64,
    written_bytes: u64,
    written_bytes_bound: u64,
}

/// A test of a suite.
#[derive(Serialize)]
struct TestRow {
    id: String,
    revision: u32,
    title: String,
    source: String,
    /// The key of the metric of its headline.
    metric: &'static str,
    /// The rule of its headline in words.
    score: String,
    /// Its further numbers.
    also: Vec<Further>,
    /// Its steps.
    points: Vec<String>,
    chosen: Vec<Chosen>,
    deviations: Vec<Deviation>,
}

/// A further number of a test.
#[derive(Serialize)]
struct Further {
    metric: &'static str,
    score: String,
}

fn suite_row(suite: &Suite) -> SuiteRow {
    let cost = plan_on_1_tb(suite).map(|(plan, drive)| {
        let cost = estimate(&plan, drive.capacity, &assumed_rates(&drive));
        Cost {
            time_s: cost.time.expected.as_secs_f64(),
            time_bound_s: cost.time.at_most.as_secs_f64(),
            written_bytes: cost.written.expected.0,
            written_bytes_bound: cost.written.at_most.0,
        }
    });
    SuiteRow {
        estimate_on_1_tb: cost,
        id: suite.id.clone(),
        revision: suite.revision,
        title: suite.title.clone(),
        summary: suite.summary.clone(),
        source: suite.source.clone(),
        tests: suite.tests.iter().map(test_row).collect(),
    }
}

fn test_row(test: &ssdgauge_lab::TestRule) -> TestRow {
    let further = |score: &Score| Further { metric: score.metric().key(), score: score.words() };
    TestRow {
        id: test.id.clone(),
        revision: test.revision,
        title: test.title.clone(),
        source: test.source.clone(),
        metric: test.score.metric().key(),
        score: test.score.words(),
        also: test.also.iter().map(further).collect(),
        points: test.points.iter().map(|point| point.label.clone()).collect(),
        chosen: test.chosen.clone(),
        deviations: test.deviations.clone(),
    }
}
