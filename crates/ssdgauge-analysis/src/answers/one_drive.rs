//! The first screen of a page of one drive: a sentence, its numbers among those of other drives, and what it is good
//! for.

use crate::answers::copies::Copies;
use crate::answers::drive_change::{self, Change};
use crate::answers::run_headline::{self, RunHeadline};
use crate::answers::statements::in_letters;
use crate::answers::suited::{self, Suited};
use crate::answers::tile::{Tile, tile};
use crate::answers::work_headline;
use crate::drives::caches::{self, Writes};
use crate::drives::model_cohort::ModelCohort;
use crate::drives::peers::{Peers, Standing};
use crate::drives::report_drives::ReportDrives;
use crate::drives::run_facts::{self, Question};
use crate::drives::sections;
use crate::groups::group::{self, Group};
use crate::model::{FallCause, Run};
use crate::text::case::capital;
use crate::text::{labels, number};
use ssdgauge_statistics::difference::Outcome;

/// The first screen of a run.
#[derive(Clone, Debug)]
pub struct FirstScreen {
    /// The headline.
    pub title: String,
    /// The sentences below it.
    pub sentences: Vec<String>,
    /// The numbers.
    pub tiles: Vec<Tile>,
    /// What the drive is good for, three uses at most.
    pub good: Vec<Suited>,
    /// What it is not good for.
    pub not_good: Vec<Suited>,
    /// The largest change within the run, as the headline has it: for a page whose editor gives it another one.
    pub change: Option<String>,
    /// How long copies take, where the speed of long writes falls.
    pub copies: Option<Copies>,
}

/// Returns the first screen of `run`.
pub fn first_screen(
    run: &Run,
    groups: &[Group<'_>],
    drives: &ReportDrives,
    hero: Option<usize>,
) -> FirstScreen {
    let peers = drives.peers();
    let numbers = run_facts::numbers(run);
    let change = drive_change::change(run, groups, drives);
    let tiles: Vec<Tile> = numbers.into_iter().map(|number| tile(number, peers)).collect();
    let title = match everyday(&tiles, peers) {
        Some(everyday) => with_change(everyday, change.as_ref(), &tiles, groups, drives),
        None => work_headline::headline(run).unwrap_or_else(|| of_first_chart(run, groups, hero)),
    };
    let mut sentences = sentences(&tiles, change.as_ref(), peers);
    sentences.extend(work_headline::sentence(run));
    let (good, not_good) = suited::uses(&tiles, change.as_ref(), peers);
    FirstScreen {
        title,
        sentences,
        tiles,
        good,
        not_good,
        change: change.as_ref().map(|change| format!("{}.", capital(&change.clause()))),
        copies: change.as_ref().and_then(Copies::of_change),
    }
}

/// Returns the first screen of `run` by itself, among the drives that the program contains where `has_peers`.
pub fn of_run(run: &Run, has_peers: bool) -> FirstScreen {
    let runs = std::slice::from_ref(run);
    let id = &run.head.plan.suite.id;
    let shipped = has_peers.then(|| ModelCohort::shipped_of(id));
    let background = shipped.and_then(|shipped| shipped.background(id));
    let peers = background.and_then(|background| background.peers(run));
    let drives = ReportDrives::new(runs, None).with_peers(peers);
    let groups = group::groups(runs);
    first_screen(run, &groups, &drives, sections::hero(&groups))
}

/// Returns the headline of a run whose tests are of no common kind: the result of its first chart.
fn of_first_chart(run: &Run, groups: &[Group<'_>], hero: Option<usize>) -> String {
    let name = labels::run_name(&run.head);
    let RunHeadline { text, .. } = run_headline::headline(&name, groups, hero);
    // The line above the headline names the drive; a run without a result is told of the drive.
    let rest = text.strip_prefix(&format!("{name}: "));
    let rest = rest.filter(|rest| !rest.starts_with("no test"));
    rest.map_or(text.clone(), capital)
}

/// Returns the first clause of the headline: everyday work among other drives, or in numbers of its own.
fn everyday(tiles: &[Tile], peers: Option<&Peers>) -> Option<String> {
    let of = |question: Question| tiles.iter().find(|tile| tile.number.question == question);
    let noun = |question| match question {
        Question::SmallReads => "small reads",
        Question::SmallWrites => "small writes",
        Question::LargeReads => "large reads",
        _ => "large writes",
    };
    let pairs = [
        [Question::SmallReads, Question::SmallWrites],
        [Question::LargeReads, Question::LargeWrites],
    ];
    for pair in pairs {
        let known: Vec<(&str, &Tile)> =
            pair.iter().filter_map(|one| Some((noun(*one), of(*one)?))).collect();
        let judged: Vec<(&str, Standing)> =
            known.iter().filter_map(|(noun, tile)| Some((*noun, tile.standing?))).collect();
        if let (Some(peers), false) = (peers, judged.is_empty()) {
            return Some(compared(&judged, peers, pair[0] == Question::SmallReads));
        }
        if !known.is_empty() {
            let values: Vec<String> = known
                .iter()
                .map(|(noun, tile)| {
                    format!("{noun} at {}", number::measured(tile.number.value, tile.number.metric))
                })
                .collect();
            return Some(capital(&values.join(", ")));
        }
    }
    None
}

fn compared(judged: &[(&str, Standing)], peers: &Peers, is_small: bool) -> String {
    let work = if is_small { "everyday work" } else { "large transfers" };
    let others = others(peers);
    let apart: Vec<&(&str, Standing)> =
        judged.iter().filter(|(_, standing)| standing.judged != Outcome::Equal).collect();
    let parts: Vec<String> = apart
        .iter()
        .map(|(noun, standing)| format!("{noun} {}", distance(standing.to_median)))
        .collect();
    match (parts.is_empty(), peers.allow_verdict()) {
        (true, true) => format!("As fast as its class in {work}"),
        (true, false) if is_small => format!("Everyday speed matches {others}"),
        (true, false) => format!("Large transfers match {others}"),
        (false, true) => format!("{} than the median of its class", capital(&parts.join(", "))),
        (false, false) => format!("{} than the median of {others}", capital(&parts.join(", "))),
    }
}

/// Returns the other drives in words.
pub fn others(peers: &Peers) -> String {
    let kind = if peers.is_model { "virtual" } else { "other" };
    // The class has it in its words.
    let interface = peers.interface.filter(|_| peers.class.is_none());
    let interface = interface.map_or_else(String::new, |name| format!("{name} "));
    format!("{} {kind} {interface}drives", in_letters(peers.drives))
}

/// Returns a ratio of speeds in words: `12 % faster`, `30 % slower`. Two times and more are not percentages.
fn distance(ratio: f64) -> String {
    match ratio {
        ratio if ratio >= 2.0 => {
            format!("{}× as fast", number::text((10.0 * ratio).round() / 10.0))
        }
        ratio if ratio >= 1.0 => format!("{:.0}\u{a0}% faster", 100.0 * (ratio - 1.0)),
        ratio => format!("{:.0}\u{a0}% slower", 100.0 * (1.0 - ratio)),
    }
}

/// Returns the headline with the largest change within the run.
fn with_change(
    everyday: String,
    change: Option<&Change>,
    tiles: &[Tile],
    groups: &[Group<'_>],
    drives: &ReportDrives,
) -> String {
    if let Some(change) = change {
        let has_small = |question| tiles.iter().any(|tile| tile.number.question == question);
        let is_compared = tiles.iter().any(|tile| tile.standing.is_some());
        // The change of the only small requests says more than where it ends.
        let is_whole = change.is_random && !has_small(Question::SmallReads) && !is_compared;
        return match is_whole {
            true => capital(&change.clause()),
            false => format!("{everyday}; {}", change.clause()),
        };
    }
    let writes = caches::of_drives(groups, drives).into_iter().flatten().next();
    let is_long =
        writes.is_some_and(|writes: Writes| writes.falls.is_empty() && writes.total >= MUCH);
    let large = tiles.iter().find(|tile| tile.number.question == Question::LargeWrites);
    match large.filter(|_| is_long) {
        Some(tile) => {
            let rate = number::measured(tile.number.value, tile.number.metric);
            format!("{everyday}; long writes hold {rate}")
        }
        None => everyday,
    }
}

/// Sequential writes of this many gigabytes are long. Chosen: most caches of client drives are smaller.
const MUCH: f64 = 32.0;

/// Returns the sentences below the headline: the cause of the change, and the comparison that the headline leaves
/// out.
fn sentences(tiles: &[Tile], change: Option<&Change>, peers: Option<&Peers>) -> Vec<String> {
    let mut sentences = Vec::new();
    if let Some(change) = change {
        // An editor's headline need not mention the drop: the sentence needs no headline.
        let why = |cause: FallCause| match cause {
            FallCause::Cache => "when the fast cache is full",
            FallCause::Heat => "because the drive throttles itself when hot",
            FallCause::SpareArea => "when the spare area runs out",
            FallCause::GiveBack => "when the free space runs out",
            FallCause::Unknown => "for a reason that the run does not show",
        };
        let (subject, first) = (capital(change.subject()), why(change.first.cause));
        // The headline has both falls; the second one need not have the cause of the first.
        let again = change.later.last().filter(|fall| fall.cause != change.first.cause);
        let again =
            again.map_or_else(String::new, |fall| format!(", and again {}", why(fall.cause)));
        let load = &change.load;
        // Both numbers are of large writes: the reader sees why they differ.
        let other = tiles.iter().filter(|tile| tile.number.question == Question::LargeWrites);
        let other =
            other.filter(|tile| !change.is_random && !tile.number.setting.starts_with(load));
        let depth = other.filter_map(|tile| tile.number.setting.split(", ").nth(1)).next();
        let other = depth.map_or_else(String::new, |depth| format!("; the number below: {depth}"));
        sentences.push(format!("{subject} become slower {first}{again} ({load}{other})."));
    }
    let large = tiles.iter().find(|tile| tile.number.question == Question::LargeWrites);
    let large = large.and_then(|tile| Some((tile, tile.standing?)));
    // The numbers of other drives are those of writes in order.
    let in_order = change.filter(|change| !change.is_random);
    if let (Some((_, standing)), Some(_), Some(peers)) = (large, in_order, peers) {
        let ahead = standing.of - standing.ahead_of - standing.level;
        let all = in_letters(peers.drives.min(standing.of));
        sentences.push(match (ahead, standing.ahead_of) {
            (0, 0) => "Beyond that, it writes as fast as the others.".to_owned(),
            (0, _) => format!(
                "Beyond that, it writes faster than {} of the {all}.",
                in_letters(standing.ahead_of)
            ),
            (1, _) => format!("Beyond that, one of the {all} writes faster."),
            (_, _) => format!("Beyond that, {} of the {all} write faster.", in_letters(ahead)),
        });
    }
    let others =
        [Question::SmallReads, Question::SmallWrites, Question::LargeReads, Question::Mixed];
    let level: Vec<&str> = tiles
        .iter()
        .filter(|tile| others.contains(&tile.number.question))
        .filter(|tile| tile.standing.is_some_and(|standing| standing.judged == Outcome::Equal))
        .map(|tile| match tile.number.question {
            Question::SmallReads => "small reads",
            Question::SmallWrites => "small writes",
            Question::LargeReads => "large reads",
            _ => "mixed loads",
        })
        .collect();
    if !level.is_empty() {
        let names: Vec<String> = level.iter().map(|name| (*name).to_owned()).collect();
        let names = capital(&crate::answers::statements::listed(&names));
        sentences.push(format!("{names} are within 3\u{a0}% of the median."));
    }
    sentences
}
