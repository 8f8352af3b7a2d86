//! What a drive is good for and what not, each with the number that decides it.

use crate::answers::drive_change::Change;
use crate::answers::tile::{self, Tile};
use crate::drives::peers::{Peers, Standing};
use crate::drives::run_facts::Question;
use crate::model::FallCause;
use crate::text::number;
use ssdgauge_core::Metric;
use ssdgauge_statistics::difference::Outcome;

/// The maximum number of uses of each kind.
const MOST: usize = 3;

/// The minimum number of other drives by which a use is judged. Chosen, as for a verdict.
const FEWEST: usize = 5;

/// A drive suits a use where at most the rest of this share of the others is ahead, and at least as many are not as
/// good; it does not suit one where at least this share is ahead. Chosen.
const MANY: f64 = 0.6;

/// A use with the number that decides it.
#[derive(Clone, Debug, PartialEq)]
pub struct Suited {
    /// The use, such as `Loading games and other large files`.
    pub name: String,
    /// The number, such as `3,398 MB/s, ties with 7 of 8`.
    pub number: String,
}

/// A drive does not suit a use only where it is also slower than the median by this factor. Chosen: where all drives are
/// near each other, nobody notices which is last.
const FAR: f64 = 1.1;

/// Returns what the drive is good for, and what it is not good for: only by comparison with other drives, and nothing
/// whose number is questionable.
pub(crate) fn uses(
    tiles: &[Tile],
    change: Option<&Change>,
    peers: Option<&Peers>,
) -> (Vec<Suited>, Vec<Suited>) {
    let (mut good, mut not_good) = (Vec::new(), Vec::new());
    let Some(peers) = peers else { return (good, not_good) };
    let mut place = |suited: Suited, standing: &Standing, more_is_better: bool| match suits(
        standing,
        more_is_better,
    ) {
        Some(true) => good.push(suited),
        Some(false) => not_good.push(suited),
        None => {}
    };
    if let Some((before, standing)) = change.and_then(|change| start(change, peers)) {
        place(before, &standing, true);
    }
    let beyond = change.and_then(|change| beyond(change, peers));
    let has_beyond = beyond.is_some();
    if let Some((after, standing)) = beyond {
        place(after, &standing, true);
    }
    let is_clear = |tile: &&Tile| {
        let is_judged = has_beyond && tile.number.question == Question::LargeWrites;
        tile.number.doubts.is_empty() && !is_judged
    };
    let mut clear: Vec<&Tile> = tiles.iter().filter(is_clear).collect();
    // Long copies follow short ones.
    clear.sort_by_key(|tile| tile.number.question != Question::LargeWrites);
    for tile in clear {
        let Some(name) = name(tile.number.question, change) else { continue };
        let (Some(standing), Some(count)) = (tile.standing, tile.count()) else { continue };
        // A number of the last part of a fill may lie across a further fall: its levels are the speed of copies.
        let of_copies =
            change.filter(|one| !one.is_random && tile.number.question == Question::LargeWrites);
        let value = of_copies.map_or_else(
            || number::measured(tile.number.value, tile.number.metric),
            Change::speed_after,
        );
        let suited = Suited { name, number: format!("{value}, {count}{}", across(peers)) };
        place(suited, &standing, tile.number.metric.more_is_better());
    }
    good.truncate(MOST);
    not_good.truncate(MOST);
    (good, not_good)
}

/// Returns whether a drive with this `standing` suits a use; `None` where the comparison decides neither.
fn suits(standing: &Standing, more_is_better: bool) -> Option<bool> {
    if standing.of < FEWEST {
        return None;
    }
    let slower = standing.of - standing.ahead_of - standing.level;
    let share = slower as f64 / standing.of as f64;
    let is_among_first = share <= 1.0 - MANY && standing.ahead_of >= slower;
    let loss = if more_is_better { 1.0 / standing.to_median } else { standing.to_median };
    match standing.judged {
        Outcome::Higher | Outcome::Equal => is_among_first.then_some(true),
        Outcome::Lower => (share >= MANY && loss >= FAR).then_some(false),
        Outcome::NotDecided => None,
    }
}

/// Returns the use of writes before their speed falls; `None` where other drives have no line of them.
fn start(change: &Change, peers: &Peers) -> Option<(Suited, Standing)> {
    let standing = peers.standing_at_start(&change.line, change.first.edge.before / 1e6)?;
    let amount = change.amount();
    let span = match change.first.edge.is_bounded_below() {
        true => format!("for the first {amount}"),
        false => format!("at the start, for less than {amount}"),
    };
    let count = tile::count(&standing, Metric::ThroughputMbS);
    let number = format!("{} {span}, {count}{}", change.before(), across(peers));
    Some((Suited { name: "Short copies".to_owned(), number }, standing))
}

/// Returns the use of writes in order once their speed has fallen, whatever the test of the number of the first screen;
/// `None` where other drives have no line of them, and where something else than the fall puts the speed in doubt.
fn beyond(change: &Change, peers: &Peers) -> Option<(Suited, Standing)> {
    if change.is_random || change.is_doubtful {
        return None;
    }
    let edge = &change.first.edge;
    let standing =
        peers.standing_beyond(&change.line, edge.bytes as f64 / 1e9, edge.after / 1e6)?;
    let count = tile::count(&standing, Metric::ThroughputMbS);
    let number = format!("{}, {count}{}", change.speed_after(), across(peers));
    Some((Suited { name: of_long_copies(change), number }, standing))
}

/// Returns the remark of a comparison with drives of another interface, which may be the whole difference.
fn across(peers: &Peers) -> &'static str {
    if peers.has_other_interfaces { " (SATA and NVMe)" } else { "" }
}

/// Returns the use that `question` decides.
fn name(question: Question, change: Option<&Change>) -> Option<String> {
    let name = match question {
        Question::SmallReads => "Starting programs",
        Question::SmallWrites => "Saving small files",
        Question::LargeReads => "Loading games and other large files",
        Question::LargeWrites => {
            let fall = change.filter(|change| !change.is_random);
            return Some(fall.map_or_else(|| "Large copies".to_owned(), of_long_copies));
        }
        Question::Mixed => "Reading and writing at once",
        Question::Slowest => "Programs that wait for each answer",
        Question::Test => return None,
    };
    Some(name.to_owned())
}

fn of_long_copies(change: &Change) -> String {
    let amount = change.amount();
    match change.first.cause {
        FallCause::Heat => format!("Copies larger than {amount} without cooling"),
        FallCause::Cache | FallCause::SpareArea | FallCause::GiveBack | FallCause::Unknown => {
            format!("Copies larger than {amount}")
        }
    }
}
