//! Several drives in one table of Markdown: a row for each test, a column for each drive.

use crate::analysis::answer;
use crate::analysis::caches;
use crate::analysis::finding_words;
use crate::analysis::group::{self, Group, Member};
use crate::analysis::outcome;
use crate::analysis::report_drives::ReportDrives;
use crate::analysis::statements;
use crate::analysis::trust;
use crate::analysis::workload_text;
use crate::model::{LocatedFinding, Run};
use crate::output::markdown_text::{MODEL, escaped};
use crate::text::{labels, number, sanitize};
use ssdgauge_core::FindingKind;
use ssdgauge_core::rounded::count_of;
use std::fmt::Write;

/// The most tests of the table. Chosen: with six drives the text stays below 6 kB.
const MAX_TESTS: usize = 40;

/// The most kinds of findings, for the same reason.
const MAX_KINDS: usize = 8;

/// Returns the drives of `runs` in one table, with their runs and their findings by kind.
pub(super) fn compared(runs: &[Run], drives: &ReportDrives) -> Result<String, std::fmt::Error> {
    let groups = group::groups(runs);
    let answer = answer::answer(&groups, drives);
    let writes = caches::of_drives(runs, drives);
    let mut text = String::new();
    let headline = statements::headline(&answer, &writes, drives);
    writeln!(text, "## {}\n", escaped(&headline))?;
    if runs.iter().any(Run::is_model) {
        writeln!(text, "**MODEL** {MODEL}\n")?;
    }
    table(&mut text, &groups, &answer.order, drives)?;
    of_drives(&mut text, runs, &answer.order, drives)?;
    findings(&mut text, runs)?;
    Ok(text)
}

/// Writes a row for each test, the best value and those within 3 % of it bold.
fn table(
    text: &mut String,
    groups: &[Group<'_>],
    order: &[usize],
    drives: &ReportDrives,
) -> std::fmt::Result {
    write!(text, "| Test |")?;
    for drive in order {
        write!(text, " {} |", escaped(drives.short(*drive)))?;
    }
    writeln!(text, "\n|---|{}", "--:|".repeat(order.len()))?;
    for group in groups.iter().take(MAX_TESTS) {
        let metric = group.first().test.headline.metric;
        let unit = if metric.unit().is_empty() { metric.title() } else { metric.unit() };
        let rule = workload_text::rule(&group.first().test.test, &group.first().test.test.score);
        let rule = number::spaced(&rule);
        let title = format!("{} ({unit}, {rule})", group.full_title());
        write!(text, "| {} |", escaped(&title))?;
        for drive in order {
            let of_drive = |member: &&Member<'_>| drives.drive_of(member.index) == *drive;
            let place = group.members.iter().position(|member| of_drive(&member));
            write!(
                text,
                " {} |",
                place.map_or_else(|| number::NOTHING.to_owned(), |p| cell(group, p))
            )?;
        }
        writeln!(text)?;
    }
    if groups.len() > MAX_TESTS {
        writeln!(text, "\n{} further tests are on the page.", groups.len() - MAX_TESTS)?;
    }
    Ok(())
}

fn cell(group: &Group<'_>, place: usize) -> String {
    let Some(value) = group.members[place].test.headline.value else {
        return number::NOTHING.to_owned();
    };
    let metric = group.first().test.headline.metric;
    let ranked = outcome::ranked(group);
    let best = ranked.first().and_then(|best| group.members[*best].test.headline.value);
    let is_best = ranked.len() > 1 && best == Some(value);
    let words = if metric.is_latency() { number::latency(value) } else { number::text(value) };
    if is_best { format!("**{words}**") } else { words }
}

/// Writes what each column is: drive, firmware, suites, date and run.
fn of_drives(
    text: &mut String,
    runs: &[Run],
    order: &[usize],
    drives: &ReportDrives,
) -> std::fmt::Result {
    writeln!(text, "\nBold: the best of a test. Runs:\n")?;
    for drive in order {
        let of_drive: Vec<&Run> = drives.runs_of(*drive).map(|run| &runs[run]).collect();
        let Some(first) = of_drive.first() else { continue };
        let firmware = first.head.drive.firmware.as_deref().map(sanitize::device);
        let mut parts = vec![labels::size_in_words(&first.head.drive)];
        parts.extend(firmware.map(|firmware| format!("firmware {firmware}")));
        for run in of_drive.iter().take(3) {
            let day = number::date(run.head.started_unix_ms);
            let day = day.split(' ').next().unwrap_or_default();
            let mut of_run = vec![labels::suite(&run.head), day.to_owned()];
            of_run.push(format!("run {}", labels::short_id(&run.head.id)));
            let marks = labels::marks(&run.head, run.complete);
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

/// Writes each kind of finding that puts a number in doubt, with its count.
fn findings(text: &mut String, runs: &[Run]) -> std::fmt::Result {
    let mut kinds: Vec<(FindingKind, &str, usize)> = Vec::new();
    for LocatedFinding { test, finding, .. } in runs.iter().flat_map(Run::all_findings) {
        if !trust::is_doubt(finding, test) || trust::is_intended(finding.kind, test) {
            continue;
        }
        match kinds.iter_mut().find(|(kind, _, _)| *kind == finding.kind) {
            Some((_, _, n)) => *n += 1,
            None => kinds.push((finding.kind, finding.severity.name(), 1)),
        }
    }
    kinds.sort_by_key(|(_, _, n)| std::cmp::Reverse(*n));
    if kinds.is_empty() {
        return Ok(());
    }
    writeln!(text, "\nFindings:\n")?;
    for (kind, severity, n) in kinds.iter().take(MAX_KINDS) {
        let meaning = finding_words::meaning(*kind).map(|words| format!(": {words}"));
        let line = format!("{}{}", finding_words::title(*kind), meaning.unwrap_or_default());
        writeln!(text, "- **{severity}** {} ({n} ×)", escaped(&line))?;
    }
    Ok(())
}
