//! The terminal summary: one run on one screen.
//!
//! Without colour it is plain ASCII, for pipes, logs and old terminals.

mod card;
mod compared;
mod rows;
mod style;

use crate::analysis::quick_look;
use crate::analysis::trust;
use crate::model::{LocatedFinding, Run};
use crate::output::terminal::style::Style;
use crate::text::labels;
use crate::text::number;
use crate::text::sanitize;
use ssdgauge_core::{Finding, Severity};
use std::cmp::Reverse;

/// The least width in columns; a narrower terminal wraps the lines.
const NARROWEST: usize = 40;

/// The most findings that are printed in full.
const IN_WORDS: usize = 3;

/// Returns the summary of `run` in at most `width` columns.
///
/// The suite `quick` gets its result in words, the customary rows (SEQ1M Q8 and so on) and the state
/// of the drive, one for a kind of work its answer in a sentence, every other suite a table of headlines; all get the grade of trust. With `colour` the summary uses terminal colours and line drawing, without it ASCII
/// only.
pub fn terminal_summary(run: &Run, width: usize, colour: bool) -> String {
    let style = Style { colour, width: width.max(NARROWEST) };
    let mut lines = header(run, &style);
    let suite = &run.head.plan.suite.id;
    let is_quick = quick_look::is_quick(suite);
    if is_quick {
        lines.push(String::new());
        lines.extend(card::verdict(run, &style));
    }
    lines.push(style.rule());
    lines.extend(match suite == quick_look::SUITE {
        true => rows::customary(run, &style),
        false => rows::headlines(run, &style),
    });
    lines.push(style.rule());
    if is_quick {
        lines.extend(card::health(run, &style));
    }
    lines.extend(card::endurance(run, &style));
    lines.extend(card::trust(run, &style));
    lines.extend(findings(run, &style));
    let mut text = lines.join("\n");
    text.push('\n');
    text
}

fn header(run: &Run, style: &Style) -> Vec<String> {
    let head = &run.head;
    let mut facts = vec![labels::size_in_words(&head.drive)];
    if let Some(firmware) = &head.drive.firmware {
        facts.push(format!("firmware {}", sanitize::device(firmware)));
    }
    facts.push(format!("suite {}", labels::suite(&run.head)));
    let origin = [number::date(head.started_unix_ms), format!("run {}", sanitize::prose(&head.id))];
    let mut lines = vec![style.bold(&labels::run_name(&run.head))];
    lines.push(style.plain(&facts.join(" · ")));
    lines.push(style.dim(&origin.join(" · ")));
    lines.extend(style.dim_folded(&sanitize::prose(&head.program)));
    let marks = labels::marks(&run.head, run.complete);
    if !marks.is_empty() {
        lines.push(style.alarm(&marks.join(" · ")));
    }
    // A warning is among the findings; of the notes only the first is printed there.
    let reached = run.width_verdict().filter(|finding| finding.severity == Severity::Note);
    lines.extend(reached.map(|finding| style.plain(&sanitize::prose(&finding.text))));
    let verified = run.durability.and_then(|of_run| of_run.verified);
    lines.extend(
        verified
            .map(|of_run| style.plain(&format!("verified: {}", of_run.describe(run.is_model())))),
    );
    lines
}

fn findings(run: &Run, style: &Style) -> Vec<String> {
    let mut distinct: Vec<&Finding> = Vec::new();
    for LocatedFinding { test, finding, .. } in run.all_findings() {
        if trust::is_intended(finding.kind, test) {
            continue;
        }
        if !distinct.iter().any(|known| known.text == finding.text) {
            distinct.push(finding);
        }
    }
    distinct.sort_by_key(|finding| Reverse(finding.severity));
    let serious = distinct.iter().filter(|finding| finding.severity > Severity::Note).count();
    let notes = distinct.len() - serious;
    let word = |n: usize, word: &str| format!("{n} {word}{}", if n == 1 { "" } else { "s" });
    let summary = match (serious, notes) {
        (0, 0) => return vec![style.plain("no findings")],
        (0, _) => word(notes, "note"),
        (_, 0) => word(serious, "warning"),
        (_, _) => format!("{}, {}", word(serious, "warning"), word(notes, "note")),
    };
    let mut lines = vec![style.plain(&summary)];
    // Many findings of one kind, which differ only in numbers, share one line.
    let mut alike: Vec<(&Finding, usize)> = Vec::new();
    for finding in distinct {
        let is_alike = |known: &Finding| {
            serious > IN_WORDS && (known.kind, &known.advice) == (finding.kind, &finding.advice)
        };
        match alike.iter_mut().find(|(known, _)| is_alike(known)) {
            Some((_, more)) => *more += 1,
            None => alike.push((finding, 0)),
        }
    }
    // Notes are printed only where there is no warning.
    let is_serious = |(finding, _): &&(&Finding, usize)| finding.severity > Severity::Note;
    let shown = if serious > 0 { alike.iter().filter(is_serious).count().min(IN_WORDS) } else { 1 };
    for (finding, more) in alike.into_iter().take(shown) {
        let mut text = sanitize::prose(&finding.text);
        if more > 0 {
            text.push_str(&format!("; {more} more of this kind"));
        }
        if !finding.advice.is_empty() {
            text.push_str(&format!(" ({})", sanitize::prose(&finding.advice)));
        }
        lines.extend(style.wrapped(finding.severity.name(), finding.severity, &text));
    }
    lines
}
