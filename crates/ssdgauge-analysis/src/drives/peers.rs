//! The drives that a single drive is compared with on its page: what others measured in the same tests, as numbers
//! and lines.

use crate::drives::drive_class::{self, DriveClass};
use crate::drives::run_facts::{self, Number};
use crate::drives::run_lines;
use crate::findings::run_outcome::{self, RunOutcome};
use crate::model::Run;
use ssdgauge_core::TargetKind;
use ssdgauge_statistics::difference::class::FEWEST;
use ssdgauge_statistics::difference::{NOISE, Outcome, judge_by_range};
use ssdgauge_statistics::summary::median;
use std::collections::{BTreeMap, BTreeSet};

/// The minimum number of real drives with which a page states a verdict. Chosen.
const VERDICT: usize = 5;

/// What other drives measured, whatever the suite.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Background {
    pub(crate) runs: Vec<BackgroundRun>,
    /// Whether they are the virtual drives that the program contains, which are drawn behind real drives too.
    pub(crate) is_shipped: bool,
}

/// One run of another drive.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct BackgroundRun {
    /// The text that is equal for the runs of one drive.
    pub(crate) drive: String,
    /// The id of the run; empty in the data of the program.
    pub(crate) id: String,
    /// The revision of the model; `None` for a real drive.
    pub(crate) model_revision: Option<u32>,
    pub(crate) class: Option<DriveClass>,
    pub(crate) numbers: BTreeMap<String, f64>,
    pub(crate) lines: BTreeMap<String, Vec<(f64, f64)>>,
}

/// The drives that one run is compared with.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Peers {
    /// Whether they are virtual drives.
    pub is_model: bool,
    /// Their class; `None` where they are of several, or of an unknown one.
    pub class: Option<DriveClass>,
    /// How many drives.
    pub drives: usize,
    values: BTreeMap<String, Vec<f64>>,
    lines: BTreeMap<String, Vec<Vec<(f64, f64)>>>,
}

/// How a number compares with those of the other drives.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Standing {
    /// The drives that it beats by more than the noise.
    pub ahead_of: usize,
    /// The drives within the noise.
    pub level: usize,
    /// All other drives.
    pub of: usize,
    /// The number ÷ the median of the other drives.
    pub to_median: f64,
    /// The same, judged in quality.
    pub judged: Outcome,
}

impl Background {
    /// Returns what the complete ones among `runs` measured.
    pub fn from_runs(runs: &[Run]) -> Background {
        let counts = |run: &&Run| {
            run_outcome::of(run) == RunOutcome::Complete && run.head.drive.kind != TargetKind::Null
        };
        Background {
            runs: runs.iter().filter(counts).map(BackgroundRun::new).collect(),
            is_shipped: false,
        }
    }

    /// Returns the other drives that `run` may be compared with: those of its class where there are enough of them,
    /// else all; `None` where no test is the same.
    pub fn peers(&self, run: &Run) -> Option<Peers> {
        let own = BackgroundRun::new(run);
        let is_other = |one: &&BackgroundRun| {
            let revisions = (one.model_revision, own.model_revision);
            let is_alike = revisions.0 == revisions.1 || self.is_shipped && revisions.1.is_none();
            is_alike && one.drive != own.drive && one.id != own.id
        };
        let shares =
            |one: &&BackgroundRun| own.numbers.keys().any(|key| one.numbers.contains_key(key));
        let all: Vec<&BackgroundRun> = self.runs.iter().filter(is_other).filter(shares).collect();
        let alike: Vec<&BackgroundRun> = all
            .iter()
            .copied()
            .filter(|one| own.class.is_some() && one.class == own.class)
            .collect();
        let (chosen, class) = match drives(&alike) >= FEWEST {
            true => (alike, own.class),
            false => (all, None),
        };
        (!chosen.is_empty()).then(|| Peers::new(&chosen, class))
    }
}

fn drives(runs: &[&BackgroundRun]) -> usize {
    runs.iter().map(|run| &run.drive).collect::<BTreeSet<_>>().len()
}

impl BackgroundRun {
    fn new(run: &Run) -> BackgroundRun {
        let drive = &run.head.drive;
        let numbers = run_facts::numbers(run).into_iter();
        BackgroundRun {
            drive: match drive.kind {
                // The serial of a virtual drive is a digest of its parameters.
                TargetKind::Virtual => drive.target.clone(),
                TargetKind::File | TargetKind::Block | TargetKind::Null => drive.fingerprint(),
            },
            id: run.head.id.clone(),
            model_revision: drive.model_revision(),
            class: drive_class::class(drive).ok(),
            numbers: numbers.map(|number| (number.key, number.value)).collect(),
            lines: run_lines::lines(run),
        }
    }
}

impl Peers {
    fn new(runs: &[&BackgroundRun], class: Option<DriveClass>) -> Peers {
        let is_model = runs.iter().any(|run| run.model_revision.is_some());
        let mut by_drive: BTreeMap<&String, Vec<&BackgroundRun>> = BTreeMap::new();
        for run in runs {
            by_drive.entry(&run.drive).or_default().push(run);
        }
        let mut peers = Peers { is_model, class, drives: by_drive.len(), ..Peers::default() };
        for runs in by_drive.values() {
            let keys: BTreeSet<&String> = runs.iter().flat_map(|run| run.numbers.keys()).collect();
            for key in keys {
                // A drive counts once, with the median of its runs.
                let values = runs.iter().filter_map(|run| run.numbers.get(key).copied()).collect();
                peers.values.entry(key.clone()).or_default().extend(median(values));
            }
            for (key, line) in &runs[0].lines {
                peers.lines.entry(key.clone()).or_default().push(line.clone());
            }
        }
        peers
    }

    /// Returns the values of the other drives for the number with this `key`, one for each drive.
    pub fn values(&self, key: &str) -> &[f64] {
        self.values.get(key).map_or(&[], Vec::as_slice)
    }

    /// Returns the lines of the other drives with this `key`.
    pub fn lines(&self, key: &str) -> &[Vec<(f64, f64)>] {
        self.lines.get(key).map_or(&[], Vec::as_slice)
    }

    /// Returns whether there are enough real drives for a verdict about the class of the drive.
    pub fn allow_verdict(&self) -> bool {
        !self.is_model && self.class.is_some() && self.drives >= VERDICT
    }

    /// Returns how `number` compares; `None` where fewer than three other drives have it.
    pub fn standing(&self, number: &Number) -> Option<Standing> {
        standing(number.value, self.values(&number.key), number.metric.more_is_better())
    }

    /// Returns how the rate in MB/s at which writes begin compares with the start of the lines with this `key`.
    pub(crate) fn standing_at_start(&self, key: &str, rate: f64) -> Option<Standing> {
        let starts = self.lines(key).iter().filter_map(|line| Some(line.first()?.1));
        standing(rate, &starts.collect::<Vec<f64>>(), true)
    }
}

fn standing(value: f64, others: &[f64], more_is_better: bool) -> Option<Standing> {
    if others.len() < FEWEST {
        return None;
    }
    let judge =
        |other: f64| judge_by_range(value, (other, other), NOISE).in_quality(more_is_better);
    let count = |outcome| others.iter().filter(|other| judge(**other) == outcome).count();
    let middle = median(others.to_vec()).filter(|middle| *middle > 0.0)?;
    Some(Standing {
        ahead_of: count(Outcome::Higher),
        level: count(Outcome::Equal),
        of: others.len(),
        to_median: value / middle,
        judged: judge(middle),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_is_ahead_of_those_that_it_beats_by_more_than_the_noise() {
        let others = [90.0, 98.0, 101.0, 104.0, 200.0];
        let found = standing(100.0, &others, true).unwrap();
        assert_eq!((found.ahead_of, found.level, found.of), (1, 2, 5));
        assert_eq!(found.judged, Outcome::Equal);
        let latency = standing(100.0, &others, false).unwrap();
        assert_eq!((latency.ahead_of, latency.level), (2, 2));
        assert_eq!(standing(100.0, &others[..2], true), None, "two drives are no class");
    }
}
