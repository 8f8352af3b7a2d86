//! The terminal summary: one run on one screen.
//!
//! Without colour it is plain ASCII, for pipes, logs and old terminals.

mod card;
mod compared;
mod rows;
mod style;

use crate::terminal::style::Style;
pub use compared::comparison_text;
use ssdgauge_analysis::findings::finding_lines::{self, FindingLine};
use ssdgauge_analysis::findings::run_outcome::{self, RunOutcome};
use ssdgauge_analysis::findings::trust;
use ssdgauge_analysis::model::Run;
use ssdgauge_analysis::quick::quick_look;
use ssdgauge_analysis::text::labels;
use ssdgauge_analysis::text::number;
use ssdgauge_analysis::text::sanitize;
use ssdgauge_core::Severity;

/// The minimum width in columns; a narrower terminal wraps the lines.
const NARROWEST: usize = 40;

/// The maximum number of kinds of findings that are printed.
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
    let account = run_outcome::account(run, None);
    lines.push(String::new());
    lines.extend(match &account {
        Some(account) => card::account(account, &style),
        None if is_quick => card::verdict(run, &style),
        None => card::answer(run, &style),
    });
    lines.push(style.rule());
    if run_outcome::of(run) != RunOutcome::Failed {
        if !run_outcome::is_quoted(run) {
            lines.push(style.dim("for the record; these are not results of the drive:"));
        }
        lines.extend(match suite == quick_look::SUITE {
            true => rows::customary(run, &style),
            false => rows::headlines(run, &style),
        });
        lines.push(style.rule());
    }
    if run_outcome::is_quoted(run) {
        lines.extend(card::writes(run, &style));
    }
    if is_quick {
        lines.extend(card::health(run, &style));
        if suite == quick_look::SUITE && run_outcome::is_quoted(run) {
            lines.extend(card::class(run, &style));
        }
    }
    lines.extend(card::endurance(run, &style));
    if run_outcome::has_grade(run) {
        lines.extend(card::trust(run, &style));
    }
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
    let marks = run_outcome::marks(run);
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
    let found = run.all_findings().into_iter();
    let found = found.filter(|one| !trust::is_intended(one.finding.kind, one.test));
    let lines_of_kinds = finding_lines::by_kind(found);
    let is_serious = |line: &&FindingLine<'_>| line.first.severity > Severity::Note;
    let count = |lines: &mut dyn Iterator<Item = &FindingLine<'_>>| -> usize {
        lines.map(|line| line.n).sum()
    };
    let serious = count(&mut lines_of_kinds.iter().filter(is_serious));
    let notes = count(&mut lines_of_kinds.iter()) - serious;
    let word = |n: usize, word: &str| format!("{n} {word}{}", if n == 1 { "" } else { "s" });
    let summary = match (serious, notes) {
        (0, 0) => return vec![style.plain("no findings")],
        (0, _) => word(notes, "note"),
        (_, 0) => word(serious, "warning"),
        (_, _) => format!("{}, {}", word(serious, "warning"), word(notes, "note")),
    };
    let mut lines = vec![style.plain(&summary)];
    // Notes are printed only where there is no warning.
    let shown = match lines_of_kinds.iter().filter(is_serious).count() {
        0 => 1,
        kinds => kinds.min(IN_WORDS),
    };
    for line in lines_of_kinds.iter().take(shown) {
        let severity = line.first.severity;
        lines.extend(style.wrapped(severity.name(), severity, &line.words(run.tests.len())));
    }
    lines
}
