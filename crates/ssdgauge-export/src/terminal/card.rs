//! The words of a card: what the run shows, the state of the drive and the trust in the numbers.

use crate::terminal::style::Style;
use ssdgauge_analysis::answers::one_drive;
use ssdgauge_analysis::drives::caches::Writes;
use ssdgauge_analysis::findings::run_outcome::Account;
use ssdgauge_analysis::findings::trust;
use ssdgauge_analysis::model::{FallCause, PointRun, Run, TestRun};
use ssdgauge_analysis::quick::cohort::Cohort;
use ssdgauge_analysis::quick::quick_look::{self, Tile};
use ssdgauge_analysis::steps::{endurance, slc_cache};
use ssdgauge_analysis::text::number;
use ssdgauge_analysis::text::sanitize;

/// The tile whose value alone does not say whether it is good.
const LINK: &str = "Link";

/// The indent of the lines below a name.
const NAME: &str = "health    ";

/// Returns what a quick run shows, in sentences.
pub(super) fn verdict(run: &Run, style: &Style) -> Vec<String> {
    let mut text = format!("{}.", quick_look::headline(run));
    if let Some(fall) = quick_look::fall(run).filter(|_| trust::invalidating(run).is_none()) {
        let (size, after) = (&fall.size_words, number::text(fall.after));
        text.push_str(&match fall.cause {
            FallCause::Cache => {
                format!(" The cache is full after {size}; after that, writes run at {after} MB/s.")
            }
            cause => format!(
                " The write speed falls after {size} ({}); after that, writes run at {after} MB/s.",
                cause.remark()
            ),
        });
    }
    style.folded("", &text)
}

/// Returns what a run of another suite shows: the headline of its page and the sentences below it.
pub(super) fn answer(run: &Run, style: &Style) -> Vec<String> {
    let screen = one_drive::of_run(run, true);
    let headline = format!("{}.", screen.title);
    let text: Vec<String> = std::iter::once(headline).chain(screen.sentences).collect();
    style.folded("", &text.join(" ").replace('\u{a0}', " "))
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
    let judged = |tile: &&Tile| tile.is_good.is_some();
    let state = |tile: &Tile| {
        let word = if tile.is_good == Some(true) { "good" } else { "see the findings" };
        format!("{} {}: {word}", tile.name.to_lowercase(), tile.value)
    };
    let mut parts: Vec<String> = tiles.iter().filter(judged).map(state).collect();
    // The firmware is in the header, and is never judged.
    let open = tiles
        .iter()
        .filter(|tile| !judged(tile) && (tile.value == number::NOTHING || tile.name == LINK));
    let open: Vec<&str> = open.map(|tile| tile.name).collect();
    if !open.is_empty() {
        parts.push(format!("not checked: {}", open.join(", ")));
    }
    style.folded(NAME, &parts.join("; "))
}

/// The columns of the curve of writes. Chosen: a line has room for them and their scale.
const COLUMNS: usize = 40;

/// Returns the speed of the longest write that falls, over what it wrote, with its test: a column for each part of it.
pub(super) fn writes(run: &Run, style: &Style) -> Vec<String> {
    let levels = match style.colour {
        true => ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'],
        false => ['_', '.', ':', '-', '=', '+', '*', '#'],
    };
    let falls = |(point, _): &(&PointRun, Writes)| slc_cache::first_fall(point).is_some();
    let falling = quick_look::sequential_writes(run).into_iter().filter(falls);
    let longest = falling.max_by(|(_, a), (_, b)| a.total.total_cmp(&b.total));
    let Some((point, writes)) = longest else { return Vec::new() };
    let is_here = |test: &&TestRun| test.points.iter().any(|one| std::ptr::eq(one, point));
    let test = run.tests.iter().find(is_here).map_or("", |test| &test.test.title);
    let most = writes.seconds.iter().map(|(_, _, rate)| *rate).fold(0.0, f64::max);
    let width = writes.total / COLUMNS.min(writes.seconds.len().max(1)) as f64;
    if most <= 0.0 || width <= 0.0 {
        return Vec::new();
    }
    let column = |rate: f64| {
        let level = (rate / most * levels.len() as f64).ceil() as usize;
        levels[level.clamp(1, levels.len()) - 1]
    };
    let mut curve = String::new();
    let mut end = 0.0;
    for (_, after, rate) in &writes.seconds {
        // A fast second fills several columns, of slow ones the first in a column counts.
        while end < *after && curve.chars().count() < COLUMNS {
            curve.push(column(*rate));
            end += width;
        }
    }
    let scale = format!(
        "{curve}  0 to {} MB/s over {}: {}",
        number::text(most),
        number::plain_capacity((writes.total * 1e9) as u64),
        sanitize::prose(test)
    );
    style.folded("writes    ", &scale)
}

/// Returns how the speeds of a quick run compare with the class of its drive, or why that is unknown.
pub(super) fn class(run: &Run, style: &Style) -> Vec<String> {
    style.folded("class     ", &Cohort::shipped().sentence(run))
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
    style.folded("grade     ", &text)
}
