//! The boards of a site: all drives with a result of the same test, revision, state and settings, in their order.

use crate::bench::record::{DriveFacts, Record, TestRecord};
use crate::bench::verdict::{self, Kind, Verdict};
use std::collections::BTreeMap;

/// A site: its drives and its boards.
#[derive(Debug)]
pub struct Bench {
    /// The records of all runs, those of a drive by their start.
    pub records: Vec<Record>,
    /// The drives, by their names.
    pub drives: Vec<BenchDrive>,
    /// The boards, by suite and in the order of its tests.
    pub boards: Vec<Board>,
    /// The unit of the prices.
    pub currency: String,
}

/// A drive of a site: every unit of one model and capacity.
#[derive(Debug)]
pub struct BenchDrive {
    /// What names and classes it.
    pub facts: DriveFacts,
    /// Its name in addresses.
    pub slug: String,
    /// The places of its records, by their start.
    pub records: Vec<usize>,
    /// Its price in the currency of the site, where the editor states one.
    pub price: Option<f64>,
}

/// The drives with a comparable result.
#[derive(Debug)]
pub struct Board {
    /// Its name in addresses.
    pub slug: String,
    /// The place of a record and of the test in it that describes the board: those of its best entry.
    pub shown: (usize, usize),
    /// The marks that every entry has, such as `MODEL`.
    pub marks: Vec<String>,
    /// One for each drive: the best first, and then those with marks of their own.
    pub entries: Vec<Entry>,
    /// The verdict on each pair of entries.
    pub verdicts: Vec<Vec<Verdict>>,
}

/// A drive on a board.
#[derive(Clone, Debug)]
pub struct Entry {
    /// The drive.
    pub drive: usize,
    /// The record and the test of the run that stands for the drive: the latest without marks of its own.
    pub run: (usize, usize),
    /// The marks of this run that the board does not have, such as `DISTURBED`. A marked run has no rank.
    pub marks: Vec<String>,
    /// The best and the worst rank that its verdicts leave open; `None` for a marked run and for one without an interval.
    pub rank: Option<(usize, usize)>,
    /// All runs of the drive on this board, by their start.
    pub runs: Vec<(usize, usize)>,
    /// The minimum and the maximum value of these runs, and their number.
    pub spread: (f64, f64, usize),
}

impl Bench {
    /// Returns the site of `records`; their order does not matter.
    pub fn new(mut records: Vec<Record>) -> Bench {
        records.sort_by(|a, b| (a.started_unix_ms, &a.id).cmp(&(b.started_unix_ms, &b.id)));
        let mut drives: BTreeMap<(String, Option<u64>), BenchDrive> = BTreeMap::new();
        for (place, record) in records.iter().enumerate() {
            let key = (record.drive.name.clone(), record.drive.capacity);
            let drive = drives.entry(key).or_insert_with(|| BenchDrive {
                facts: record.drive.clone(),
                slug: slug(&record.drive.full_name()),
                records: Vec::new(),
                price: None,
            });
            // A publication states less about a drive than the drive itself.
            if records[drive.records.first().copied().unwrap_or(place)].origin.is_some() {
                drive.facts = record.drive.clone();
            }
            drive.records.push(place);
        }
        let mut drives: Vec<BenchDrive> = drives.into_values().collect();
        for place in 1..drives.len() {
            // Names that differ in marks only.
            if drives[..place].iter().any(|other| other.slug == drives[place].slug) {
                let DriveFacts { name, capacity, .. } = drives[place].facts.clone();
                drives[place].slug +=
                    &format!("-{:06x}", digest(&format!("{name}\n{}", capacity.unwrap_or(0))));
            }
        }
        let boards = boards(&records, &drives);
        Bench { records, drives, boards, currency: String::new() }
    }

    /// Returns the record and the test of `entry`.
    pub fn result(&self, entry: &Entry) -> (&Record, &TestRecord) {
        let record = &self.records[entry.run.0];
        (record, &record.tests[entry.run.1])
    }

    /// Returns the test that describes `board`.
    pub fn shown(&self, board: &Board) -> (&Record, &TestRecord) {
        let record = &self.records[board.shown.0];
        (record, &record.tests[board.shown.1])
    }
}

impl Board {
    /// Returns whether the entry at `place` has an interval; without one it is compared with no other.
    pub fn has_interval(&self, place: usize) -> bool {
        has_interval(&self.verdicts, place)
    }

    /// Returns the number of drives with a rank.
    pub fn ranked(&self) -> usize {
        self.entries.iter().filter(|entry| entry.rank.is_some()).count()
    }
}

/// The runs of each drive: the places of a record and of a test in it.
type RunsOfDrives = BTreeMap<usize, Vec<(usize, usize)>>;

fn boards(records: &[Record], drives: &[BenchDrive]) -> Vec<Board> {
    // The first place of the test in its suite keeps the order of the protocol: a run may lack others.
    let mut found: BTreeMap<(&str, &str), (usize, RunsOfDrives)> = BTreeMap::new();
    for (drive, own) in drives.iter().enumerate() {
        for place in &own.records {
            for (number, test) in records[*place].tests.iter().enumerate() {
                if test.valid().is_some() {
                    let key = (records[*place].suite.as_str(), test.key.as_str());
                    let (first, runs) = found.entry(key).or_insert((number, RunsOfDrives::new()));
                    *first = number.min(*first);
                    runs.entry(drive).or_default().push((*place, number));
                }
            }
        }
    }
    let mut found: Vec<_> = found.into_iter().collect();
    found.sort_by(|((suite, key), (place, _)), ((other_suite, other_key), (other, _))| {
        (suite, place, key).cmp(&(other_suite, other, other_key))
    });
    let mut boards: Vec<_> = found
        .into_iter()
        .map(|((suite, _), (place, drives))| (suite, place, board(records, drives)))
        .collect();
    // Of one test, measured drives before simulated and shortened ones.
    boards.sort_by_key(|(suite, place, board)| (*suite, *place, !board.marks.is_empty()));
    boards.into_iter().map(|(_, _, board)| board).collect()
}

fn board(records: &[Record], drives: RunsOfDrives) -> Board {
    let marks_of = |run: &(usize, usize)| &records[run.0].marks;
    let mut marks = drives.values().flatten().next().map(marks_of).cloned().unwrap_or_default();
    drives.values().flatten().for_each(|run| marks.retain(|mark| marks_of(run).contains(mark)));
    let own = |run: &(usize, usize)| -> Vec<String> {
        marks_of(run).iter().filter(|mark| !marks.contains(mark)).cloned().collect()
    };
    let test = |run: &(usize, usize)| &records[run.0].tests[run.1];
    let value = |run: &(usize, usize)| test(run).headline.0.value.unwrap_or(f64::NAN);
    let entry = |(drive, runs): (usize, Vec<(usize, usize)>)| {
        let chosen = runs.iter().rev().min_by_key(|run| !own(run).is_empty()).copied();
        let run = chosen.unwrap_or_default();
        let values = || runs.iter().map(value);
        let spread =
            (values().fold(f64::INFINITY, f64::min), values().fold(0.0, f64::max), runs.len());
        Entry { drive, run, marks: own(&run), rank: None, runs, spread }
    };
    let mut entries: Vec<Entry> = drives.into_iter().map(entry).collect();
    let more = entries.first().is_none_or(|one| test(&one.run).headline.0.metric.more_is_better());
    entries.sort_by(|a, b| {
        let (a_value, b_value) = (value(&a.run), value(&b.run));
        let by_value = if more { b_value.total_cmp(&a_value) } else { a_value.total_cmp(&b_value) };
        (!a.marks.is_empty()).cmp(&!b.marks.is_empty()).then(by_value).then(a.drive.cmp(&b.drive))
    });
    let tests: Vec<&TestRecord> = entries.iter().map(|entry| test(&entry.run)).collect();
    let verdicts = verdict::all(&tests);
    // A result without an interval is apart from no other one: it would leave every rank open.
    let is_ranked =
        |place: &usize| entries[*place].marks.is_empty() && has_interval(&verdicts, *place);
    let ranked: Vec<usize> = (0..entries.len()).filter(is_ranked).collect();
    for place in &ranked {
        let count =
            |kind| ranked.iter().filter(|other| verdicts[*place][**other].kind == kind).count();
        entries[*place].rank = Some((1 + count(Kind::Behind), ranked.len() - count(Kind::Ahead)));
    }
    let shown = entries.first().map(|entry| entry.run).unwrap_or_default();
    let (record, first) = (&records[shown.0], test(&shown));
    let slug = slug(&format!("{} {} r{}", record.suite, first.id, first.revision));
    Board { slug: format!("{slug}-{:06x}", digest(&first.key)), shown, marks, entries, verdicts }
}

/// Returns whether the result at `place` has an interval, with which it can be compared at all.
fn has_interval(verdicts: &[Vec<Verdict>], place: usize) -> bool {
    verdicts[place][place].ratio.is_some()
}

/// Returns `text` as a part of an address: small letters, digits and single hyphens.
pub fn slug(text: &str) -> String {
    let mut slug = String::new();
    for letter in text.to_lowercase().chars() {
        match letter.is_ascii_alphanumeric() {
            true => slug.push(letter),
            false if !slug.ends_with('-') && !slug.is_empty() => slug.push('-'),
            false => {}
        }
    }
    slug.truncate(80);
    let slug = slug.trim_end_matches('-');
    if slug.is_empty() { format!("x{:06x}", digest(text)) } else { slug.to_owned() }
}

/// Returns 24 bits of the hash FNV-1a (Fowler, Noll and Vo), which is the same in every version of the program.
fn digest(text: &str) -> u64 {
    let step = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    text.bytes().fold(0xcbf2_9ce4_8422_2325, step) & 0xff_ffff
}
