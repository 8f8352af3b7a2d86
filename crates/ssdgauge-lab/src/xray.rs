//! X-ray of a drive: experiments of bounded bytes and time through the rig, whose series `ssdgauge_xray`
//! turns into structures.
//!
//! It decides what is sent, in which order, and when an experiment ends. It must never judge a series, and
//! never send a write that its plan does not cover.

mod access;
mod buffer;
mod ceilings;
mod contents;
mod error;
mod examined;
mod exchange;
mod experiment;
mod fill;
mod flushes;
mod heat;
mod map;
mod mapping;
mod options;
mod plan;
mod programs;
mod reads;
mod recorded;
mod sizes;
mod steady;
mod volumes;

pub use access::{CutShort, EndedExperiment, XrayWatcher};
pub use error::XrayError;
pub use examined::Examined;
pub use exchange::{Exchange, Reply};
pub use experiment::Experiment;
pub use options::XrayOptions;
pub use plan::xray_plan;
pub use recorded::RecordedXray;
pub(crate) use recorded::{ENDED, ExperimentReport};

use access::Access;
use error::Ended;
use options::excluded;
use sizes::Sizes;
use ssdgauge_core::{Bytes, DriveInfo, Rig};
use ssdgauge_xray::{
    Answer, Completions, Drop, Flushes, Identified, Later, NegotiatedLink, Reads, Refusal, Series,
    Structure, Volumes, check_ceilings, lacks, refuse_throttled,
};
use std::collections::BTreeSet;

/// Looks for the structures of the drive of `rig`, from the end of what is `recorded` on.
///
/// # Errors
/// [`XrayError`]; a stop by the watcher is none, but leaves the result incomplete.
pub fn xray(
    rig: &mut dyn Rig,
    recorded: &RecordedXray,
    watcher: &mut dyn XrayWatcher,
) -> Result<Examined, XrayError> {
    let drive = rig.drive().clone();
    examine(Some(rig), &drive, recorded, watcher)
}

/// Returns what the `recorded` answers of `drive` show, without the drive.
///
/// # Errors
/// [`XrayError::Differs`] where an X-ray of this version asks other questions.
pub fn review_xray(drive: &DriveInfo, recorded: &RecordedXray) -> Result<Examined, XrayError> {
    examine(None, drive, recorded, &mut Unwatched)
}

/// Watches nothing, and never stops.
struct Unwatched;

impl XrayWatcher for Unwatched {
    fn stop(&mut self) -> bool {
        false
    }

    fn doing(&mut self, _: &str, _: Bytes) {}
}

fn examine<'a>(
    rig: Option<&'a mut dyn Rig>,
    drive: &DriveInfo,
    recorded: &RecordedXray,
    watcher: &'a mut dyn XrayWatcher,
) -> Result<Examined, XrayError> {
    let (access, sizes) = Access::open(rig, drive, recorded, watcher)?;
    let mut examination = Examination {
        access,
        sizes,
        gentle: recorded.options.gentle,
        wanted: recorded.options.structures(),
        answers: Vec::new(),
        series: Vec::new(),
        filled: 0,
        has_region: false,
        is_throttled: false,
        level: Err(Refusal("the drive was not filled".into())),
        drop: None,
        programs_once: Err(Refusal("the drive was not filled to its end".into())),
        is_full: false,
        freed: 0.0,
        flushes: None,
        groups: None,
        reads: None,
        volumes: None,
        counts_media: false,
        settled_at: None,
        later: Later::default(),
    };
    let is_complete = match examination.carry_out() {
        Ok(()) => true,
        Err(Ended::Stopped) => false,
        Err(Ended::Failed(error)) => return Err(error),
    };
    let Examination { access, wanted, mut answers, mut series, later, .. } = examination;
    check_ceilings(&mut answers, later, NegotiatedLink::of(drive).as_ref());
    for structure in wanted {
        if answers.iter().all(|answer| answer.structure != structure) {
            let outcome = Err(Refusal("the X-ray ended before".into()));
            answers.push(Answer { structure, outcome, celsius: None });
        }
    }
    answers.sort_by_key(|answer| answer.structure);
    series.sort_by_key(|one| one.structure);
    let (written, read) = (Bytes(access.written()), Bytes(access.read()));
    Ok(Examined { answers, series, written, read, is_complete })
}

/// An X-ray in progress.
struct Examination<'a> {
    access: Access<'a>,
    sizes: Sizes,
    gentle: bool,
    wanted: BTreeSet<Structure>,
    answers: Vec<Answer>,
    series: Vec<Series>,
    /// The bytes from the start of the drive that ascending writes have written.
    filled: u64,
    /// Whether the range of the reads holds data that was written in ascending order.
    has_region: bool,
    /// Whether the drive was throttled in a fill or after it.
    is_throttled: bool,
    /// Whether the fill ran at one rate throughout, or why that is not known.
    level: Result<(), Refusal>,
    /// The end of the fast cache, where the fill found it.
    drop: Option<Drop>,
    /// Whether the fill to the end programmed each byte once, or why that is not known.
    programs_once: Result<(), Refusal>,
    /// Whether the fast cache is full, as far as the last writes show.
    is_full: bool,
    /// The bytes of the cache that all rests together have freed.
    freed: f64,
    /// The times of flushes.
    flushes: Option<Flushes>,
    /// Small writes into a full write buffer.
    groups: Option<Completions>,
    /// The latencies of reads during writes.
    reads: Option<Reads>,
    /// The volumes of the drive, where writes show them.
    volumes: Option<Volumes>,
    /// Whether the drive reports what it writes to its media.
    counts_media: bool,
    /// The bytes written when the drive last had time for its own work.
    settled_at: Option<u64>,
    /// What was observed after the ceilings.
    later: Later,
}

impl Examination<'_> {
    /// Carries out the experiments in their order: what needs an empty drive first, what heats it last. Nothing is
    /// written before the fill: a trim does not empty the fast cache of every drive.
    fn carry_out(&mut self) -> Result<(), Ended> {
        self.experiment(Experiment::Ceilings, |this| {
            this.counters()?;
            this.ceilings()
        })?;
        self.experiment(Experiment::Cache, Self::staged_fill)?;
        self.experiment(Experiment::Suspend, Self::suspension)?;
        self.experiment(Experiment::Folding, Self::folding)?;
        self.experiment(Experiment::Overflow, Self::overflow)?;
        self.experiment(Experiment::Buffer, Self::write_buffer)?;
        self.experiment(Experiment::Flush, |this| {
            this.flushes()?;
            this.program_time()
        })?;
        // Writes at random use up spare area, and rests empty the cache. After overwrites of the whole drive,
        // neither matters.
        let is_overwritten = self.wants(Structure::Spare) && self.level.is_ok()
            || self.wants(Structure::EffectiveSpare) && self.counts_media;
        if !is_overwritten {
            self.random_writes()?;
        }
        self.experiment(Experiment::Units, |this| {
            this.units()?;
            this.program_unit()
        })?;
        self.experiment(Experiment::Spare, Self::spare_area)?;
        self.experiment(Experiment::Steady, Self::steady_state)?;
        if is_overwritten {
            self.random_writes()?;
        }
        self.experiment(Experiment::MapReach, Self::map_reach)?;
        self.experiment(Experiment::Heating, Self::heating)
    }

    fn random_writes(&mut self) -> Result<(), Ended> {
        self.experiment(Experiment::MappingUnit, Self::mapping_unit)?;
        self.experiment(Experiment::Volumes, Self::volumes)?;
        self.experiment(Experiment::Contents, Self::contents)
    }

    /// Carries out one experiment, as far as something of it is wanted.
    fn experiment(
        &mut self,
        experiment: Experiment,
        carry_out: fn(&mut Self) -> Result<(), Ended>,
    ) -> Result<(), Ended> {
        self.access.begin(experiment);
        let before = self.answers.len();
        let result = carry_out(self).and_then(|()| self.access.throttling());
        if let Ok(Some(throttling)) = &result {
            refuse_throttled(&mut self.answers[before..], throttling);
        }
        self.access.end(result.map(drop))
    }

    fn wants(&self, structure: Structure) -> bool {
        self.wanted.contains(&structure)
    }

    /// Answers with what excludes `structure`, or with what it lacks; returns true where there is an
    /// experiment left to do for it.
    fn is_open(&mut self, structure: Structure) -> bool {
        if !self.wants(structure) || self.value(structure).is_some() {
            return false;
        }
        let reason = excluded(structure, self.access.kind(), self.gentle)
            .or_else(|| lacks(structure, &self.answers));
        match reason {
            Some(reason) => {
                self.answer(structure, Err(reason));
                false
            }
            None => true,
        }
    }

    fn answer(&mut self, structure: Structure, outcome: Identified) {
        let is_new = self.answers.iter().all(|answer| answer.structure != structure);
        if self.wants(structure) && is_new {
            let celsius = self.access.range();
            self.answers.push(Answer { structure, outcome, celsius });
        }
    }

    /// Keeps `series` for charts, where their structures were asked for.
    fn keep(&mut self, series: impl IntoIterator<Item = Series>) {
        let wanted = &self.wanted;
        let of_wanted = |one: &Series| wanted.contains(&one.structure) && !one.points.is_empty();
        self.series.extend(series.into_iter().filter(of_wanted));
    }

    /// Returns what was found of `structure`, where it was looked for.
    fn outcome(&self, structure: Structure) -> Option<&Identified> {
        let answer = self.answers.iter().find(|answer| answer.structure == structure)?;
        Some(&answer.outcome)
    }

    /// Returns the value of `structure`, where it is identified.
    fn value(&self, structure: Structure) -> Option<f64> {
        self.outcome(structure)?.as_ref().ok().map(|value| value.value)
    }
}
