//! Markdown for forums and reviews: the headlines and findings of each run.

use crate::compared_markdown::compared;
use crate::markdown_text::{MODEL, escaped};
use ssdgauge_analysis::answers::prices;
use ssdgauge_analysis::drives::report_drives::ReportDrives;
use ssdgauge_analysis::findings::doubt_words;
use ssdgauge_analysis::findings::finding_lines::{self, FindingLine};
use ssdgauge_analysis::findings::run_outcome::{self, RunOutcome};
use ssdgauge_analysis::findings::trust;
use ssdgauge_analysis::groups::workload_text;
use ssdgauge_analysis::headlines::headline_notes;
use ssdgauge_analysis::inputs::notes::Notes;
use ssdgauge_analysis::model::{LocatedFinding, Run, TestRun};
use ssdgauge_analysis::steps::knee;
use ssdgauge_analysis::text::case::uncapitalised;
use ssdgauge_analysis::text::interval;
use ssdgauge_analysis::text::labels;
use ssdgauge_analysis::text::number;
use ssdgauge_analysis::text::sanitize;
use ssdgauge_core::{Headline, Score, Severity};
use std::fmt::Write;

/// Returns `runs` as Markdown: of several drives one table that compares them, otherwise for each run a
/// table of headlines and its findings.
pub fn markdown(runs: &[Run]) -> String {
    let drives = ReportDrives::new(runs, None);
    match drives.count() {
        0 | 1 => sections(runs, true),
        _ => compared(runs, &drives).expect("writing to memory cannot fail"),
    }
}

/// Returns [`markdown`] of `runs` between title, author, prices and introduction of the `notes` of an editor, and their
/// conclusion.
pub fn markdown_with_notes(runs: &[Run], notes: &Notes) -> String {
    let drives = ReportDrives::new(runs, None);
    let results = match (lead_below_title(notes, runs), drives.count()) {
        (Some(_), 0 | 1) => sections(runs, false),
        (_, _) => markdown(runs),
    };
    let parts = [before(notes, runs, &drives), results, after(notes)];
    let parts: Vec<&str> = parts.iter().map(|part| part.trim()).collect();
    let parts: Vec<&str> = parts.into_iter().filter(|part| !part.is_empty()).collect();
    parts.join("\n\n") + "\n"
}

/// Returns title, author, prices and introduction of `notes`.
fn before(notes: &Notes, runs: &[Run], drives: &ReportDrives) -> String {
    let title = notes.title.as_deref().map(|title| {
        let title = format!("# {}", escaped(&sanitize::prose(title)));
        let lead = lead_below_title(notes, runs);
        lead.map_or(title.clone(), |lead| format!("{title}\n\n{lead}"))
    });
    let byline = notes.byline.as_deref().map(sanitize::prose);
    let prices = prices::in_words(notes, runs, drives);
    let by: Vec<String> = byline.into_iter().chain(prices).collect();
    let by = (!by.is_empty()).then(|| escaped(&by.join(" · ")));
    let parts: Vec<String> =
        title.into_iter().chain(by).chain([own(&notes.introduction)]).collect();
    parts.join("\n\n")
}

/// Returns what a single run measured, for the place below the title of `notes`; `None` without such a title.
fn lead_below_title(notes: &Notes, runs: &[Run]) -> Option<String> {
    match runs {
        [run] if notes.title.is_some() => lead(run),
        [] | [_, ..] => None,
    }
}

/// Returns what `run` measured in one sentence, and what puts its numbers in doubt; `None` where an account of its end
/// comes first.
fn lead(run: &Run) -> Option<String> {
    if run_outcome::account(run, None).is_some() {
        return None;
    }
    let measured = format!("**{}.**", escaped(&ssdgauge_analysis::run_headline(run)));
    let doubt = doubt_words::of_drive(std::slice::from_ref(run));
    let doubt = doubt.map(|doubt| escaped(&format!("{doubt}.")));
    Some([Some(measured), doubt].into_iter().flatten().collect::<Vec<_>>().join("\n\n"))
}

/// Returns what speaks for and against each drive by `notes`, and their conclusion.
fn after(notes: &Notes) -> String {
    let point =
        |(sign, point): (&str, &String)| format!("- {sign} {}\n", escaped(&sanitize::prose(point)));
    let of_drive = |note: &ssdgauge_analysis::DriveNotes| {
        let pros = note.pros.iter().map(|one| ("+", one));
        let points: String =
            pros.chain(note.cons.iter().map(|one| ("\u{2212}", one))).map(point).collect();
        let name = escaped(&sanitize::prose(&note.name));
        (!points.is_empty()).then(|| format!("**{name}**\n\n{points}\n"))
    };
    let points: String = notes.drives.iter().filter_map(of_drive).collect();
    let conclusion = own(&notes.conclusion);
    match points.is_empty() && conclusion.trim().is_empty() {
        true => String::new(),
        false => format!("## Conclusion\n\n{points}{conclusion}"),
    }
}

/// Returns the editor's own Markdown, without what a terminal would obey.
fn own(text: &str) -> String {
    text.chars().filter(|letter| *letter == '\n' || !letter.is_control()).collect()
}

/// Returns a section for each run, with the sentence of what it measured where `has_lead`.
fn sections(runs: &[Run], has_lead: bool) -> String {
    let mut text = String::new();
    for (run, name) in runs
        .iter()
        .zip(labels::unique_names(&runs.iter().map(|run| vec![&run.head]).collect::<Vec<_>>()))
    {
        if !text.is_empty() {
            text.push('\n');
        }
        let lead = lead(run).filter(|_| has_lead);
        section(&mut text, run, (&name, lead)).expect("writing to memory cannot fail");
    }
    text
}

fn section(text: &mut String, run: &Run, (name, lead): (&str, Option<String>)) -> std::fmt::Result {
    let head = &run.head;
    writeln!(text, "## {}\n", escaped(name))?;
    if let Some(lead) = lead {
        writeln!(text, "{lead}\n")?;
    }
    let mut facts = vec![
        labels::size_in_words(&head.drive),
        format!("suite {}", labels::suite(&run.head)),
        number::date(head.started_unix_ms),
        format!("run {}", sanitize::prose(&head.id)),
        sanitize::prose(&head.program),
    ];
    if let Some(firmware) = &head.drive.firmware {
        facts.insert(1, format!("firmware {}", sanitize::device(firmware)));
    }
    let facts: Vec<String> = facts.iter().map(|fact| escaped(fact)).collect();
    writeln!(text, "{}", facts.join(" · "))?;
    let marks = run_outcome::marks(run);
    if !marks.is_empty() {
        writeln!(text, "\n**{}**", marks.join(" · "))?;
    }
    if run.is_model() {
        writeln!(text, "\n{}", MODEL)?;
    }
    if let Some(account) = run_outcome::account(run, None) {
        writeln!(text, "\n**{}.** {}", escaped(&account.title), escaped(&account.meaning))?;
    }
    if run_outcome::of(run) == RunOutcome::Failed {
        return findings(text, run);
    }
    writeln!(
        text,
        "\n| Test | Result | {} | Duration, s | Computed as |",
        interval::heading(run.is_repeated())
    )?;
    writeln!(text, "|---|--:|--:|--:|---|")?;
    for test in &run.tests {
        row(text, (run, test), &test.headline, &test.test.score, None)?;
        for (headline, score) in test.also.iter().zip(&test.test.also) {
            row(text, (run, test), headline, score, Some(headline.metric.title()))?;
        }
        at_knee(text, test)?;
    }
    if let Some(unseen) = interval::unseen(run.tests.iter().map(|test| &test.headline)) {
        writeln!(text, "\n{unseen}")?;
    }
    if let Some(trust) = trust::of_runs([run]).filter(|_| run_outcome::has_grade(run)) {
        // The reasons are above the numbers where a sentence of what was measured is.
        let meaning = match run_outcome::account(run, None) {
            Some(_) => escaped(&trust.in_words()),
            None => trust.grade.meaning().to_owned(),
        };
        writeln!(text, "\nMeasurement quality: grade **{}**, {meaning}", trust.grade.letter())?;
    }
    findings(text, run)
}

fn row(
    text: &mut String,
    (run, test): (&Run, &TestRun),
    headline: &Headline,
    score: &Score,
    further: Option<&str>,
) -> std::fmt::Result {
    let invalid = trust::invalid(run, test);
    let value = match &invalid {
        Some(why) => format!("invalid ({})", escaped(why)),
        None => workload_text::number(test, score, headline),
    };
    let doubt = trust::doubt_in_words(run, test).filter(|_| further.is_none());
    let value = match &doubt {
        Some(_) => format!("{value} {}", trust::DOUBT),
        None => value,
    };
    let interval = interval::words(&headline.interval, headline.metric)
        .filter(|_| invalid.is_none())
        .unwrap_or_else(|| number::NOTHING.to_owned());
    let remark = match further {
        None => headline_notes::other_than_rule(test),
        Some(_) => interval::start_left_out(headline),
    };
    let interval = match remark {
        Some(remark) => format!("{interval} ({remark})"),
        None => interval,
    };
    let mut title = escaped(&sanitize::prose(&test.test.title));
    if let Some(further) = further {
        title = format!("{title}: {}", escaped(&uncapitalised(further)));
    }
    // A sum of counters rests on no single second.
    let n = if headline.n == 0 { number::NOTHING.to_owned() } else { number::count(headline.n) };
    let rule = workload_text::rule(&test.test, score);
    let doubt = doubt.map_or_else(String::new, |doubt| format!(" ({doubt})"));
    let rule = escaped(&format!("{}, {rule}{doubt}", headline.metric.title()));
    writeln!(text, "| {title} (r{}) | {value} | {interval} | {n} | {rule} |", test.test.revision)
}

/// Writes the rows of latency, efficiency and power at the knee of `test`.
fn at_knee(text: &mut String, test: &TestRun) -> std::fmt::Result {
    let Some(knee) = knee::at_knee(test) else { return Ok(()) };
    let title = escaped(&sanitize::prose(&test.test.title));
    let (depth, n, nothing) = (knee.depth(), number::count(knee.full_seconds()), number::NOTHING);
    for (metric, value) in knee.values() {
        let revision = test.test.revision;
        let (value, name) = (number::measured(value, metric), escaped(metric.title()));
        let further = escaped(&uncapitalised(metric.title()));
        writeln!(
            text,
            "| {title}: {further} (r{revision}) | {value} | {nothing} | {n} | {name}, at the knee (QD{depth}) |"
        )?;
    }
    Ok(())
}

fn findings(text: &mut String, run: &Run) -> std::fmt::Result {
    let lines = lines(run);
    if lines.is_empty() {
        return Ok(());
    }
    writeln!(text, "\nFindings:\n")?;
    for (severity, line) in lines {
        writeln!(text, "- **{severity}** {}", escaped(&line))?;
    }
    Ok(())
}

/// Returns a line for each kind of finding, the most severe first, with the tests that it concerns.
fn lines(run: &Run) -> Vec<(&'static str, String)> {
    // A note on a value that this table does not show has no place here.
    let is_shown = |one: &LocatedFinding<'_>| {
        one.finding.severity > Severity::Note
            || one.metrics.is_empty()
            || one.metrics.iter().any(|key| key == "headline")
    };
    let found = run.all_findings().into_iter();
    let found = found.filter(|one| !trust::is_intended(one.finding.kind, one.test));
    let lines = finding_lines::by_kind(found.filter(is_shown));
    let line = |line: &FindingLine<'_>| (line.first.severity.name(), line.words(run.tests.len()));
    lines.iter().map(line).collect()
}
