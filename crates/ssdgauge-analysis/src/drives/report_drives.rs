//! The drives of a report: one name and one colour for each, in every chart.
//!
//! Several runs of one drive, such as a client and a consistency suite or parts of two sizes, are one
//! drive. Two runs of one drive through the same test are told apart, because both have a bar in one
//! chart; the name of each says which runs it has.

use crate::comparison::label_comparison;
use crate::comparison::outcome;
use crate::drives::drive_slots::{self, Look};
use crate::drives::peers::Peers;
use crate::findings::run_outcome;
use crate::groups::group::{self, Group};
use crate::model::Run;
use crate::text::fitted::fitted;
use crate::text::labels;
use crate::text::number;
use crate::text::short_names;
use ssdgauge_core::{Detail, DriveInfo, TargetKind};
use ssdgauge_runfile::Head;
use std::collections::BTreeSet;

/// The drives of a report: names, colours, and the highlighted drive.
#[derive(Clone, Debug)]
pub struct ReportDrives {
    /// The name of each run's drive, by the number of the run.
    pub names: Vec<String>,
    /// The number of the highlighted drive.
    pub highlighted: Option<usize>,
    /// The shortest name that separates each drive from the others, by the number of the drive.
    short: Vec<String>,
    /// The short names, cut where they are longer than a label may be.
    labels: Vec<String>,
    /// The slot of each drive's colour and shape, by the number of the drive.
    slots: Vec<usize>,
    drive_of_run: Vec<usize>,
    kinds: Vec<TargetKind>,
    count: usize,
    compared: Compared,
    ssds: usize,
    common_marks: Vec<String>,
    /// What other drives measured, drawn in grey with the only drive of a report.
    peers: Option<Peers>,
}

/// What the entries of a report are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Compared {
    Drives,
    /// Runs of one drive that differ by their labels.
    Labels,
    /// Runs, some of them of one drive through the same test.
    Runs,
    /// The same, where an entry has several runs, such as those of two suites.
    SetsOfRuns,
}

impl ReportDrives {
    /// Returns the drives of `runs`; the drive of the run `highlighted` is highlighted.
    pub fn new(runs: &[Run], highlighted: Option<usize>) -> ReportDrives {
        let drive_of_run = number_drives(runs);
        let count = drive_of_run.iter().max().map_or(0, |most| most + 1);
        let heads: Vec<Vec<&Head>> =
            (0..count).map(|drive| heads_of(runs, &drive_of_run, drive)).collect();
        let of_drives = labels::unique_names(&heads);
        let names = drive_of_run.iter().map(|drive| of_drives[*drive].clone()).collect();
        let highlighted = highlighted.and_then(|run| drive_of_run.get(run).copied());
        let kinds = runs.iter().map(|run| run.head.drive.kind).collect();
        let short =
            short_names::shortened(&of_drives.iter().map(String::as_str).collect::<Vec<_>>());
        let labels = fitted(&short.iter().map(String::as_str).collect::<Vec<_>>(), &is_label);
        let looks: Vec<Look> = heads.iter().map(|heads| look(heads[0])).collect();
        let mut best_first = by_rank(runs, &drive_of_run, count);
        best_first.sort_by_key(|drive| highlighted != Some(*drive));
        let slots = drive_slots::assign(&looks, &best_first);
        let ssds = count_ssds(runs);
        let are_labels = count > 1 && label_comparison::compared_labels(runs).is_ok();
        let compared = match are_labels {
            true => Compared::Labels,
            false if ssds < count && count == runs.len() => Compared::Runs,
            false if ssds < count => Compared::SetsOfRuns,
            false => Compared::Drives,
        };
        ReportDrives {
            names,
            highlighted,
            short,
            labels,
            slots,
            drive_of_run,
            kinds,
            count,
            compared,
            ssds,
            common_marks: common_marks(runs),
            peers: None,
        }
    }

    /// Returns the only drive of a report, with what others measured.
    pub fn with_peers(self, peers: Option<Peers>) -> ReportDrives {
        ReportDrives { peers: peers.filter(|_| self.count == 1), ..self }
    }

    /// Returns what other drives measured, where there is one drive only and some are known.
    pub fn peers(&self) -> Option<&Peers> {
        self.peers.as_ref()
    }

    /// Returns the marks that all runs share, such as `MODEL`.
    pub fn common_marks(&self) -> &[String] {
        &self.common_marks
    }

    /// Returns what is compared: `drives`, or `runs` where one drive has several entries, or `labels`
    /// where they differ by their labels.
    pub fn noun(&self) -> &'static str {
        match self.compared {
            Compared::Drives => "drives",
            Compared::Labels => "labels",
            Compared::Runs => "runs",
            Compared::SetsOfRuns => "sets of runs",
        }
    }

    /// Returns what has the results: `drives`, or `runs` where one drive has several entries.
    pub fn those(&self) -> &'static str {
        match self.compared {
            Compared::Drives => "drives",
            Compared::Labels | Compared::Runs => "runs",
            Compared::SetsOfRuns => "sets of runs",
        }
    }

    /// Returns the singular of [`ReportDrives::those`].
    pub fn one(&self) -> &'static str {
        match self.compared {
            Compared::Drives => "drive",
            Compared::Labels | Compared::Runs => "run",
            Compared::SetsOfRuns => "set of runs",
        }
    }

    /// Returns how many SSDs were tested: fewer than [`ReportDrives::count`] where one of them went
    /// through the same test in several runs.
    pub fn ssds(&self) -> usize {
        self.ssds
    }

    /// Returns the shortest name that separates the drive with this number from the others.
    pub fn short(&self, drive: usize) -> &str {
        self.short.get(drive).map_or(number::NOTHING, String::as_str)
    }

    /// Returns the short name of the drive with this number as a label: at most two lines next to a bar, and
    /// different from the labels of all others.
    pub fn label(&self, drive: usize) -> &str {
        self.labels.get(drive).map_or(number::NOTHING, String::as_str)
    }

    /// Returns the slot of the drive with this number: its colour and shape, grey for others than six.
    pub fn slot(&self, drive: usize) -> usize {
        self.slots.get(drive).copied().unwrap_or(drive_slots::OTHERS)
    }

    /// Returns the name of the drive with this number.
    pub fn name(&self, drive: usize) -> &str {
        self.runs_of(drive).next().map_or(number::NOTHING, |run| &self.names[run])
    }

    /// Returns the drives of [`ReportDrives::untested`] that a figure has as gaps, so that all figures have the
    /// same drives. Many of them would be most of it: they are named only below it.
    pub fn untested_in_figures(&self, group: &Group<'_>) -> Vec<usize> {
        const MOST: usize = 8;
        let untested = self.untested(group);
        if untested.len() > MOST { Vec::new() } else { untested }
    }

    /// Returns the drives that were never tested as `group` was, though they are of its kind: a
    /// model is not missed among drives.
    pub fn untested(&self, group: &Group<'_>) -> Vec<usize> {
        let kind = |run: usize| self.kinds[run];
        let of_group = group.first().index;
        let tested = |run: usize| {
            group.members.iter().any(|member| member.index == run)
                || group.other_runs.contains(&run)
        };
        (0..self.count)
            .filter(|drive| !self.runs_of(*drive).any(tested))
            .filter(|drive| {
                self.runs_of(*drive).all(|run| group::same_class(kind(run), kind(of_group)))
            })
            .collect()
    }

    /// Returns the number of the drive of the run with this number.
    pub fn drive_of(&self, run: usize) -> usize {
        self.drive_of_run[run]
    }

    /// Returns how many drives take part.
    pub fn count(&self) -> usize {
        self.count
    }

    /// Returns the numbers of the runs of `drive`.
    pub fn runs_of(&self, drive: usize) -> impl Iterator<Item = usize> + '_ {
        self.drive_of_run
            .iter()
            .enumerate()
            .filter(move |(_, of)| **of == drive)
            .map(|(run, _)| run)
    }
}

/// The maximum number of letters of a label. Chosen: two lines next to a bar, three on a phone.
const LABEL: usize = 38;

fn is_label(name: &str) -> bool {
    name.chars().count() <= LABEL
}

/// Returns what the colour of a drive follows from: with a label each setting of it has its own.
fn look(head: &Head) -> Look {
    let label = labels::label(head).map(|label| format!("|{label}")).unwrap_or_default();
    Look {
        model: format!("{}{label}", head.drive.name()),
        fingerprint: format!("{}{label}", ssd(&head.drive)),
    }
}

/// Returns all drives, those first whose mean rank over the tests of `runs` is best.
fn by_rank(runs: &[Run], drive_of_run: &[usize], count: usize) -> Vec<usize> {
    let mut ranks: Vec<(f64, f64)> = vec![(0.0, 0.0); count];
    for group in group::groups(runs).iter().filter(|group| group.members.len() > 1) {
        for (rank, place) in outcome::ranked(group).into_iter().enumerate() {
            let (sum, n) = &mut ranks[drive_of_run[group.members[place].index]];
            *sum += rank as f64;
            *n += 1.0;
        }
    }
    let mean = |drive: &usize| match ranks[*drive] {
        (_, 0.0) => f64::INFINITY,
        (sum, n) => sum / n,
    };
    let mut drives: Vec<usize> = (0..count).collect();
    drives.sort_by(|a, b| mean(a).total_cmp(&mean(b)));
    drives
}

/// Returns the heads of the runs of `drive`, one at least, the first one to start first.
fn heads_of<'a>(runs: &'a [Run], drives: &[usize], drive: usize) -> Vec<&'a Head> {
    let own = runs.iter().zip(drives).filter(|(_, of)| **of == drive);
    let mut heads: Vec<&Head> = own.map(|(run, _)| &run.head).collect();
    heads.sort_by(|a, b| (a.started_unix_ms, &a.id).cmp(&(b.started_unix_ms, &b.id)));
    heads
}

/// Returns the number of the drive of each run, in the order of their first appearance.
///
/// Runs of one drive are one entry as far as no test has two of them. A run that has not finished joins
/// the others last, so that it takes no place from one that has.
fn number_drives(runs: &[Run]) -> Vec<usize> {
    let mut groups_of: Vec<Vec<usize>> = vec![Vec::new(); runs.len()];
    for (number, group) in group::groups(runs).iter().enumerate() {
        for member in &group.members {
            groups_of[member.index].push(number);
        }
    }
    let mut order: Vec<usize> = (0..runs.len()).collect();
    // The order of the files does not decide which runs are put together.
    let key = |run: &Run| (!run.complete, run.head.started_unix_ms);
    order.sort_by(|a, b| {
        let ids = || runs[*a].head.id.cmp(&runs[*b].head.id);
        key(&runs[*a]).cmp(&key(&runs[*b])).then_with(ids)
    });
    // The identity of each entry, and the groups that have a run of it already.
    let mut known: Vec<(String, Vec<usize>)> = Vec::new();
    let mut entries = vec![0; runs.len()];
    for place in order {
        let identity = identity(&runs[place]);
        let groups = std::mem::take(&mut groups_of[place]);
        let fits = |(other, taken): &(String, Vec<usize>)| {
            *other == identity && groups.iter().all(|group| !taken.contains(group))
        };
        entries[place] = known.iter().position(fits).unwrap_or(known.len());
        match known.get_mut(entries[place]) {
            Some((_, taken)) => taken.extend(groups),
            None => known.push((identity, groups)),
        }
    }
    let mut seen: Vec<usize> = Vec::new();
    let number = |entry: usize| match seen.iter().position(|known| *known == entry) {
        Some(number) => number,
        None => {
            seen.push(entry);
            seen.len() - 1
        }
    };
    entries.into_iter().map(number).collect()
}

fn common_marks(runs: &[Run]) -> Vec<String> {
    let of = |run: &Run| run_outcome::marks(run);
    let mut marks = runs.first().map(of).unwrap_or_default();
    marks.retain(|mark| runs.iter().all(|run| of(run).contains(mark)));
    marks
}

/// Returns how many SSDs `runs` are of; firmware, label and the tested part may differ between the runs
/// of one. Block devices without a serial number are told apart as [`number_drives`] does.
fn count_ssds(runs: &[Run]) -> usize {
    if !runs.iter().all(|run| is_known(&run.head.drive)) {
        return number_drives(runs).into_iter().max().map_or(0, |most| most + 1);
    }
    runs.iter().map(|run| ssd(&run.head.drive)).collect::<BTreeSet<String>>().len()
}

/// Returns whether two runs of `drive` can be told to be of one SSD.
fn is_known(drive: &DriveInfo) -> bool {
    drive.kind != TargetKind::Block || drive.serial.is_some()
}

/// Returns what must be equal for two runs to be of one SSD: its model and serial number. The size of
/// the tested part or of a scratch file is that of a run.
fn ssd(drive: &DriveInfo) -> String {
    let model = drive.model.as_deref().unwrap_or_default();
    let revision = drive.model_revision().unwrap_or_default();
    let kind = match drive.kind {
        // A scratch file is on a drive, and that has the model and the serial number.
        TargetKind::File | TargetKind::Block => "drive",
        TargetKind::Virtual => "model",
        TargetKind::Null => "none",
    };
    // A device may change its name from boot to boot, a drive never changes its serial.
    let place = match (drive.kind, &drive.serial) {
        (TargetKind::File | TargetKind::Block, Some(serial)) => serial.clone(),
        (TargetKind::Block, None) => {
            let whole = drive.whole_capacity().unwrap_or(drive.capacity);
            format!("{}|{}", drive.target, whole.0)
        }
        (TargetKind::File | TargetKind::Virtual | TargetKind::Null, _) => {
            let device = drive.detail(Detail::Device).unwrap_or("");
            let serial = drive.serial.as_deref().unwrap_or_default();
            format!("{}|{device}|{serial}", drive.target)
        }
    };
    format!("{kind}|{model}|{place}|{revision}")
}

/// Returns what must be equal for two runs to be of one drive in one state.
fn identity(run: &Run) -> String {
    let drive = &run.head.drive;
    let firmware = drive.firmware.as_deref().unwrap_or_default();
    // The user has given a label to what differs, such as a heatsink.
    let label = labels::label(&run.head).unwrap_or_default();
    format!("{}|{firmware}|{label}", ssd(drive))
}

/// Returns whether both are known to be the same SSD: a block device without a serial number is not known.
pub fn are_of_one_ssd(one: &DriveInfo, other: &DriveInfo) -> bool {
    is_known(one) && is_known(other) && ssd(one) == ssd(other)
}

/// Returns the number of the run that `words` name: its id, or a drive whose name holds them.
///
/// `None` where no run, or runs of different drives, are meant.
pub fn find_run(runs: &[Run], words: &str) -> Option<usize> {
    if let Some(run) = runs.iter().position(|run| run.head.id == words) {
        return Some(run);
    }
    let wanted = words.to_lowercase();
    let holds = |run: &Run| {
        !wanted.is_empty() && labels::run_name(&run.head).to_lowercase().contains(&wanted)
    };
    let drives = ReportDrives::new(runs, None);
    let mut found = (0..runs.len()).filter(|run| holds(&runs[*run]));
    let first = found.next()?;
    found.all(|run| drives.drive_of(run) == drives.drive_of(first)).then_some(first)
}
