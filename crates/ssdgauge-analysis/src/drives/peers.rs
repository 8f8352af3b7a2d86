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

/// The minimum number of other drives with the same interface that take the place of a class. Chosen, as for a verdict.
const OF_INTERFACE: usize = 5;

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
    /// The interface of the compared drive, where all of them have it too.
    pub interface: Option<&'static str>,
    /// Whether some of them are known to have another interface than the compared drive.
    pub has_other_interfaces: bool,
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

    /// Returns the other drives that `run` may be compared with: those of its class where there are enough of them, else
    /// those with its interface, else all; `None` where no test is the same.
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
        let interface = own.class.map(DriveClass::interface);
        let has_interface = |one: &BackgroundRun| one.class.map(DriveClass::interface) == interface;
        let of = |is_wanted: &dyn Fn(&BackgroundRun) -> bool| -> Vec<&BackgroundRun> {
            all.iter().copied().filter(|one| own.class.is_some() && is_wanted(one)).collect()
        };
        let (alike, near) = (of(&|one| one.class == own.class), of(&has_interface));
        let (chosen, class) = match (drives(&alike) >= FEWEST, drives(&near) >= OF_INTERFACE) {
            (true, _) => (alike, own.class),
            (false, true) => (near, None),
            (false, false) => (all, None),
        };
        let is_elsewhere = |one: &&BackgroundRun| one.class.is_some() && !has_interface(one);
        let has_other_interfaces = interface.is_some() && chosen.iter().any(is_elsewhere);
        let interface = interface.filter(|_| chosen.iter().all(|one| has_interface(one)));
        (!chosen.is_empty()).then(|| Peers {
            interface,
            has_other_interfaces,
            ..Peers::new(&chosen, class)
        })
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

    /// Returns how the rate in MB/s beyond the first `gigabytes` of writes compares with the lines with this `key`, over
    /// as much again.
    pub(crate) fn standing_beyond(&self, key: &str, gigabytes: f64, rate: f64) -> Option<Standing> {
        let part = (gigabytes, 2.0 * gigabytes);
        let rates = self.lines(key).iter().filter_map(|line| mean_rate(line, part));
        standing(rate, &rates.collect::<Vec<f64>>(), true)
    }
}

/// Returns the mean rate of `line`, MB/s over gigabytes, from `from` to `to` or its end, by the time that the bytes take;
/// `None` where it ends before.
fn mean_rate(line: &[(f64, f64)], (from, to): (f64, f64)) -> Option<f64> {
    // Each level is two points; a level begins where the one before it ends.
    let levels = line.chunks_exact(2).map(|level| (level[0].0, level[1].0, level[0].1));
    let part =
        |(start, end, rate): (f64, f64, f64)| ((end.min(to) - start.max(from)).max(0.0), rate);
    let parts: Vec<(f64, f64)> =
        levels.map(part).filter(|(size, rate)| *size > 0.0 && *rate > 0.0).collect();
    let size: f64 = parts.iter().map(|(size, _)| size).sum();
    let time: f64 = parts.iter().map(|(size, rate)| size / rate).sum();
    (time > 0.0).then(|| size / time)
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
    fn the_rate_of_a_part_is_by_time_and_a_line_that_ends_before_has_none() {
        let line = [(0.0, 500.0), (10.0, 500.0), (10.0, 100.0), (30.0, 100.0)];
        // Ten gigabytes at 500 MB/s and ten at 100 take 20 and 100 s.
        let rate = mean_rate(&line, (0.0, 20.0)).unwrap();
        assert!((rate - 20.0e3 / 120.0).abs() < 1e-9, "{rate}");
        assert_eq!(mean_rate(&line, (20.0, 40.0)), Some(100.0));
        assert_eq!(mean_rate(&line, (30.0, 60.0)), None);
    }

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
