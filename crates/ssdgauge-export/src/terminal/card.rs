//! The words of a card: what the run shows, the state of the drive and the trust in the numbers.

use crate::terminal::style::Style;
use ssdgauge_analysis::findings::run_outcome::Account;
use ssdgauge_analysis::findings::trust;
use ssdgauge_analysis::model::{FallCause, Run};
use ssdgauge_analysis::quick::quick_look::{self, Tile};
use ssdgauge_analysis::steps::endurance;
use ssdgauge_analysis::text::number;

/// The indent of the lines below a name.
const NAME: &str = "health    ";

/// Returns what a quick run shows, in sentences.
pub(super) fn verdict(run: &Run, style: &Style) -> Vec<String> {
    let mut text = format!("{}.", quick_look::headline(run));
    if let Some(fall) = quick_look::fall(run).filter(|_| trust::invalidating(run).is_none()) {
        let (size, behind) = (&fall.size_words, number::text(fall.behind));
        text.push_str(&match fall.cause {
            FallCause::Cache => {
                format!(" The cache is full after {size}; after that, writes run at {behind} MB/s.")
            }
            cause => format!(
                " The write speed falls after {size} ({}); after that, writes run at {behind} MB/s.",
                cause.remark()
            ),
        });
    }
    style.folded("", &text)
}

/// Returns what happened to a run that is not simply complete, and what to do.
pub(super) fn account(account: &Account, style: &Style) -> Vec<String> {
    let mut lines = style.folded("", &format!("{}. {}", account.title, account.meaning));
    for step in &account.next {
        lines.extend(style.folded("- ", &step.what));
        lines.extend(
            step.command.iter().flat_map(|(command, effect)| {
                style.folded("  ", &format!("{command}  ({effect})"))
            }),
        );
    }
    lines
}

/// Returns the state of the drive, and what was not checked.
pub(super) fn health(run: &Run, style: &Style) -> Vec<String> {
    let tiles = quick_look::tiles(run);
    // The firmware is in the header, and is not judged.
    let judged = |tile: &&Tile| tile.is_good.is_some();
    let state = |tile: &Tile| {
        let word = if tile.is_good == Some(true) { "good" } else { "see the findings" };
        format!("{} {}: {word}", tile.name.to_lowercase(), tile.value)
    };
    let mut parts: Vec<String> = tiles.iter().filter(judged).map(state).collect();
    let open = tiles.iter().filter(|tile| !judged(tile) && tile.value == number::NOTHING);
    let open: Vec<&str> = open.map(|tile| tile.name).collect();
    if !open.is_empty() {
        parts.push(format!("not checked: {}", open.join(", ")));
    }
    style.folded(NAME, &parts.join("; "))
}

/// Returns the endurance of the drive, where something is stated about it.
pub(super) fn endurance(run: &Run, style: &Style) -> Vec<String> {
    let found = endurance::endurance(run, None);
    found.map(|found| style.folded("endurance ", &found.sentence())).unwrap_or_default()
}

/// Returns the grade of trust with its reasons.
pub(super) fn trust(run: &Run, style: &Style) -> Vec<String> {
    let text = match trust::of_runs([run]) {
        Some(trust) => format!("{}: {}", trust.grade.letter(), trust.in_words()),
        None => "no result to grade".to_owned(),
    };
    style.folded("trust     ", &text)
}
