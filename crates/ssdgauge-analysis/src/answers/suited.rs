//! What a drive is good for and what not, each with the number that decides it.

use crate::answers::drive_change::Change;
use crate::answers::tile::Tile;
use crate::drives::peers::Peers;
use crate::drives::run_facts::Question;
use crate::model::FallCause;
use crate::text::number;
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
    /// The number, such as `3,398 MB/s, level with 7 of 8`.
    pub number: String,
}

/// Returns what the drive is good for, and what it is not good for. Nothing is listed whose number is questionable.
pub(crate) fn uses(
    tiles: &[Tile],
    change: Option<&Change>,
    peers: Option<&Peers>,
) -> (Vec<Suited>, Vec<Suited>) {
    let (mut good, mut not_good) = (Vec::new(), Vec::new());
    if let Some(change) = change {
        let (before, after) = of_change(change);
        good.push(before);
        not_good.push(after);
    }
    let clear = tiles.iter().filter(|tile| tile.number.doubts.is_empty());
    for tile in clear.filter(|_| peers.is_some()) {
        let Some((name, is_of_change)) = name(tile.number.question, change) else { continue };
        let (Some(standing), Some(count)) = (tile.standing, tile.count()) else { continue };
        if standing.of < FEWEST {
            continue;
        }
        let slower = standing.of - standing.ahead_of - standing.level;
        let share = |count: usize| count as f64 / standing.of as f64;
        let is_among_first = share(slower) <= 1.0 - MANY && standing.ahead_of >= slower;
        let value = number::measured(tile.number.value, tile.number.metric);
        let suited = Suited { name: name.to_owned(), number: format!("{value}, {count}") };
        match standing.judged {
            Outcome::Higher | Outcome::Equal if is_among_first => good.push(suited),
            Outcome::Lower if share(slower) >= MANY && !is_of_change => not_good.push(suited),
            Outcome::Higher | Outcome::Equal | Outcome::Lower | Outcome::NotDecided => {}
        }
    }
    good.truncate(MOST);
    not_good.truncate(MOST);
    (good, not_good)
}

/// Returns the uses before and after a fall of the write speed.
fn of_change(change: &Change) -> (Suited, Suited) {
    let amount = change.amount();
    let (short, long) = match (change.is_random, change.first.cause) {
        (true, _) => {
            ("Small writes in bursts".to_owned(), "Small writes without a pause".to_owned())
        }
        (false, FallCause::Heat) => {
            ("Short copies".to_owned(), format!("Copies larger than {amount} without cooling"))
        }
        (false, _) => ("Short copies".to_owned(), format!("Copies larger than {amount}")),
    };
    let before = change.rate(change.first.edge.before);
    let least = if change.first.edge.is_bounded_below() { "" } else { "at least " };
    let first = match change.first.edge.is_bounded_below() {
        true => format!("{before} for the first {amount}"),
        false => format!("{least}{before} at the start, for less than {amount}"),
    };
    (
        Suited { name: short, number: first },
        Suited { name: long, number: format!("{} from there on", change.rate(change.settled)) },
    )
}

/// Returns the use that `question` decides, and whether a fall of the write speed decides it already.
fn name(question: Question, change: Option<&Change>) -> Option<(&'static str, bool)> {
    let falls = |is_random: bool| change.is_some_and(|change| change.is_random == is_random);
    Some(match question {
        Question::SmallReads => ("Starting programs", false),
        Question::SmallWrites => ("Saving small files", falls(true)),
        Question::LargeReads => ("Loading games and other large files", false),
        Question::LargeWrites => ("Large copies", falls(false)),
        Question::Mixed => ("Reading and writing at once", false),
        Question::Slowest => ("Programs that wait for each answer", false),
        Question::Test => return None,
    })
}
