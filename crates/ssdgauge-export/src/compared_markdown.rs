//! Several drives in Markdown: the answer with a row for each drive, and a table with a row for each test.

use crate::markdown_text::{MODELS, SOME_MODELS, escaped};
use ssdgauge_analysis::answers::answer::{self, Answer, Column};
use ssdgauge_analysis::answers::many_drives;
use ssdgauge_analysis::answers::statements;
use ssdgauge_analysis::comparison::outcome;
use ssdgauge_analysis::drives::caches::{self, Writes};
use ssdgauge_analysis::drives::report_drives::ReportDrives;
use ssdgauge_analysis::findings::finding_lines;
use ssdgauge_analysis::findings::finding_words;
use ssdgauge_analysis::findings::run_outcome;
use ssdgauge_analysis::findings::trust;
use ssdgauge_analysis::groups::group::{self, Group, Member};
use ssdgauge_analysis::groups::workload_text;
use ssdgauge_analysis::model::{LocatedFinding, Run};
use ssdgauge_analysis::steps::fall_words;
use ssdgauge_analysis::text::interval::{FLATTERED, FLATTERED_WORDS};
use ssdgauge_analysis::text::{interval, labels, number, sanitize};
use ssdgauge_core::rounded::{self, count_of};
use std::fmt::Write;

/// The maximum number of tests of the table. Chosen: one that is longer is not read.
const MAX_TESTS: usize = 40;

/// The minimum number of tests of the table, whatever the length of the text.
const MIN_TESTS: usize = 4;

/// The maximum number of bytes of the text of at most [`FEW_DRIVES`] drives. Chosen: forums accept as much in one post.
const MAX_BYTES: usize = 6_000;

/// The maximum number of drives whose text is limited in length.
const FEW_DRIVES: usize = 6;

/// The maximum number of kinds of findings.
const MAX_KINDS: usize = 8;

/// Returns the drives of `runs` in one table, with their runs and their findings by kind. The text of few
/// drives has as many tests as its length permits.
pub(super) fn compared(runs: &[Run], drives: &ReportDrives) -> Result<String, std::fmt::Error> {
    let groups = group::groups(runs);
    let answer = answer::answer(&groups, drives);
    let writes = caches::of_drives(&groups, drives);
    let mut before = String::new();
    let headline = many_drives::headline(runs, &answer, &writes, drives);
    writeln!(before, "## {}\n", escaped(&headline))?;
    if runs.iter().any(Run::is_model) {
        let are_all = runs.iter().all(Run::is_model);
        writeln!(before, "**MODEL** {}\n", if are_all { MODELS } else { SOME_MODELS })?;
    }
    answer_table(&mut before, runs, (&answer, &writes), drives)?;
    let mut rows = Vec::new();
    for group in groups.iter().take(MAX_TESTS) {
        rows.push(row(group, &answer.order, drives)?);
    }
    head(&mut before, &answer.order, drives)?;
    let mut after = String::new();
    of_drives(&mut after, runs, &answer.order, drives)?;
    findings(&mut after, runs)?;
    let mut shown = rows.len();
    loop {
        let mut text = format!("{before}{}", rows[..shown].concat());
        if groups.len() > shown {
            writeln!(text, "\n{} further tests are on the page.", groups.len() - shown)?;
        }
        text.push_str(&after);
        let fits = drives.count() > FEW_DRIVES || text.len() <= MAX_BYTES;
        if fits || shown <= MIN_TESTS {
            return Ok(text);
        }
        shown -= 1;
    }
}

/// Writes the answer of the page: a row for each drive, with what it is best for, the columns of the
/// answer, the first fall of its write speed, and its grade.
fn answer_table(
    text: &mut String,
    runs: &[Run],
    (answer, writes): (&Answer, &[Option<Writes>]),
    drives: &ReportDrives,
) -> std::fmt::Result {
    write!(text, "| Drive | Best for |")?;
    for column in &answer.columns {
        // There are no bars whose left would be better.
        let conditions = column.conditions.replace(", p99.99, left is better", "");
        let title = format!("{} ({conditions})", column.short);
        write!(text, " {} |", escaped(&title))?;
    }
    let has_caches = writes.iter().any(Option::is_some);
    writeln!(text, "{} Grade |", if has_caches { " Until it slows |" } else { "" })?;
    let numbers = "--:|".repeat(answer.columns.len());
    writeln!(text, "|---|---|{numbers}{}:-:|", if has_caches { "---|" } else { "" })?;
    for drive in answer.order.iter().copied() {
        let name = escaped(drives.short(drive));
        let best_for = statements::best_for(answer, writes, drive);
        write!(text, "| {name} | {} |", escaped(best_for.words()))?;
        for column in &answer.columns {
            let words = number_of(column, drive);
            match column.is_best(drive) && !column.is_flat() {
                true => write!(text, " **{words}** |")?,
                false => write!(text, " {words} |")?,
            }
        }
        if has_caches {
            write!(text, " {} |", slows(writes[drive].as_ref()))?;
        }
        let has_number = answer.columns.iter().any(|column| column.values[drive].is_some());
        let trust = trust::of_runs(drives.runs_of(drive).map(|run| &runs[run]));
        let trust = trust.filter(|_| has_number);
        let letter = trust.map_or(number::NOTHING, |trust| trust.grade.letter());
        writeln!(text, " {letter} |")?;
    }
    let is_flattered =
        |column: &Column| column.marks.iter().any(|marks| marks.flattered_by.is_some());
    if answer.columns.iter().any(is_flattered) {
        writeln!(text, "\n{}.", FLATTERED_WORDS)?;
    }
    writeln!(text)
}

/// Returns the number of `drive` in `column`, with its mark.
fn number_of(column: &Column, drive: usize) -> String {
    let Some(value) = column.values[drive] else { return number::NOTHING.to_owned() };
    let words = number::words(value, column.metric);
    match column.marks[drive].flattered_by {
        Some(_) => format!("{words}{FLATTERED}"),
        None => words,
    }
}

/// Returns where the write speed falls, what is left, and why.
fn slows(writes: Option<&Writes>) -> String {
    let Some(writes) = writes else { return number::NOTHING.to_owned() };
    match writes.fall() {
        None => "no fall to 80 %".to_owned(),
        Some(fall) => {
            let left = fall_words::left(fall).replace('\u{a0}', " ");
            format!("{}, {left}", rounded::edge(&fall.edge))
        }
    }
}

/// Writes the head of the table.
fn head(text: &mut String, order: &[usize], drives: &ReportDrives) -> std::fmt::Result {
    write!(text, "| Test |")?;
    for drive in order {
        write!(text, " {} |", escaped(drives.short(*drive)))?;
    }
    writeln!(text, "\n|---|{}", "--:|".repeat(order.len()))
}

/// Returns the row of a test; the values that share the best result are bold.
fn row(
    group: &Group<'_>,
    order: &[usize],
    drives: &ReportDrives,
) -> Result<String, std::fmt::Error> {
    let mut text = String::new();
    let metric = group.first().test.headline.metric;
    // Latencies have their unit next to each value.
    let unit = match metric.unit() {
        "" => format!("{}, ", metric.title()),
        _ if metric.is_latency() => String::new(),
        "×" => match workload_text::base_load(&group.first().test.test) {
            Some(base) => format!("× {base}, "),
            None => "×, ".to_owned(),
        },
        unit => format!("{unit}, "),
    };
    let rule = workload_text::rule(&group.first().test.test, &group.first().test.test.score);
    let rule = number::spaced(&rule).replace("arithmetic mean", "mean");
    let title = format!("{} ({unit}{rule})", group.full_title());
    write!(text, "| {} |", escaped(&title))?;
    let best = outcome::judge(group).best();
    for drive in order {
        let of_drive = |member: &Member<'_>| drives.drive_of(member.index) == *drive;
        let place = group.members.iter().position(of_drive);
        let words = place.map_or_else(|| number::NOTHING.to_owned(), |place| cell(group, place));
        match place.is_some_and(|place| best.contains(&place)) {
            true => write!(text, " **{words}** |")?,
            false => write!(text, " {words} |")?,
        }
    }
    writeln!(text)?;
    Ok(text)
}

fn cell(group: &Group<'_>, place: usize) -> String {
    let headline = &group.members[place].test.headline;
    let Some(value) = headline.value else { return number::NOTHING.to_owned() };
    match interval::is_of_trials(headline) {
        true => interval::headline(headline),
        false => number::words(value, group.first().test.headline.metric),
    }
}

/// Writes what each column is: drive, firmware, suites, date and run.
fn of_drives(
    text: &mut String,
    runs: &[Run],
    order: &[usize],
    drives: &ReportDrives,
) -> std::fmt::Result {
    writeln!(
        text,
        "\nBold: leads or ties with the best; none where the intervals do not decide. Runs:\n"
    )?;
    for drive in order {
        let of_drive: Vec<&Run> = drives.runs_of(*drive).map(|run| &runs[run]).collect();
        let Some(first) = of_drive.first() else { continue };
        let firmware = first.head.drive.firmware.as_deref().map(sanitize::device);
        let mut parts = vec![labels::size_in_words(&first.head.drive)];
        parts.extend(firmware.map(|firmware| format!("firmware {firmware}")));
        let mut last_day = String::new();
        for run in of_drive.iter().take(3) {
            let day = number::day(run.head.started_unix_ms);
            let mut of_run = vec![labels::suite(&run.head)];
            // The day of several runs is written once.
            if day != last_day {
                of_run.push(day.clone());
            }
            last_day = day;
            of_run.push(format!("run {}", labels::short_id(&run.head.id)));
            let marks = run_outcome::marks(run);
            of_run.extend(marks.into_iter().filter(|mark| mark != "MODEL"));
            parts.push(of_run.join(" "));
        }
        if of_drive.len() > 3 {
            parts.push(count_of(of_drive.len() - 3, "more run"));
        }
        let parts: Vec<String> = parts.iter().map(|part| escaped(part)).collect();
        writeln!(text, "- **{}**: {}", escaped(drives.name(*drive)), parts.join(" · "))?;
    }
    Ok(())
}

/// Writes each kind of finding that puts a number in doubt, with its tests and its count.
fn findings(text: &mut String, runs: &[Run]) -> std::fmt::Result {
    let found = runs.iter().flat_map(Run::all_findings);
    let is_marked = |one: &LocatedFinding<'_>| finding_words::MARKED.contains(&one.finding.kind);
    let found = found.filter(|one| trust::is_doubt(one.finding, one.test) && !is_marked(one));
    let mut lines = finding_lines::by_kind(found);
    lines.sort_by_key(|line| std::cmp::Reverse((line.first.severity, line.n)));
    if lines.is_empty() {
        return Ok(());
    }
    writeln!(text, "\nFindings:\n")?;
    for line in lines.iter().take(MAX_KINDS) {
        let severity = line.first.severity.name();
        writeln!(text, "- **{severity}** {}", escaped(&line.words(usize::MAX)))?;
    }
    Ok(())
}
