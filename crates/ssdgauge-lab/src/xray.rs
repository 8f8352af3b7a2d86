//! X-ray of a drive: experiments of bounded bytes and time through the rig, whose series `ssdgauge_xray`
//! turns into structures.
//!
//! It decides what is sent, in which order, and when an experiment ends. It must never judge a series, and
//! never send a write that its plan does not cover.

mod access;
mod contents;
mod error;
mod examined;
mod fill;
mod flushes;
mod heat;
mod map;
mod mapping;
mod options;
mod plan;
mod reads;
mod sizes;
mod steady;
mod volumes;

pub use access::{XrayTarget, XrayWatcher};
pub use error::XrayError;
pub use examined::Examined;
pub use options::XrayOptions;
pub use plan::{XRAY_SUITE, xray_plan};

use access::Access;
use error::Ended;
use options::excluded;
use sizes::Sizes;
use ssdgauge_xray::{Answer, Drop, Identified, Refusal, Series, Structure, Volumes, lacks};
use std::collections::BTreeSet;

/// Looks for the structures of `target`.
///
/// # Errors
/// [`XrayError`], with what was found where an experiment failed; a stop by the watcher is none, but leaves the
/// result incomplete.
pub fn xray<'a>(
    target: XrayTarget<'a>,
    options: &XrayOptions,
    watcher: &'a mut dyn XrayWatcher,
) -> Result<Examined, XrayError> {
    let (access, sizes) = Access::open(target, options, watcher)?;
    let mut examination = Examination {
        access,
        sizes,
        gentle: options.gentle,
        wanted: options.structures(),
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
        volumes: None,
        counts_media: false,
        settled_at: None,
    };
    let ended = examination.carry_out();
    let Examination { access, wanted, mut answers, mut series, .. } = examination;
    for structure in wanted {
        if answers.iter().all(|answer| answer.structure != structure) {
            let outcome = Err(Refusal("the X-ray ended before".into()));
            answers.push(Answer { structure, outcome });
        }
    }
    answers.sort_by_key(|answer| answer.structure);
    series.sort_by_key(|one| one.structure);
    let is_trimmed = access.is_trimmed();
    let (written, read, findings) = access.into_totals();
    let is_complete = ended.is_ok();
    let examined = Examined { answers, series, written, is_trimmed, read, findings, is_complete };
    match ended {
        Ok(()) | Err(Ended::Stopped) => Ok(examined),
        Err(Ended::Failed(XrayError::Rig(cause))) => {
            Err(XrayError::Experiment { cause, found: Box::new(examined) })
        }
        Err(Ended::Failed(error)) => Err(error),
    }
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
    /// Whether the drive was throttled in a fill or behind it.
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
    /// The volumes of the drive, where writes show them.
    volumes: Option<Volumes>,
    /// Whether the drive reports what it writes to its media.
    counts_media: bool,
    /// The bytes written when the drive last had time for its own work.
    settled_at: Option<u64>,
}

impl Examination<'_> {
    /// Carries out the experiments in their order: what needs an empty drive first, what heats it last. Nothing is
    /// written before the fill: a trim does not empty the fast cache of every drive.
    fn carry_out(&mut self) -> Result<(), Ended> {
        self.counters();
        self.ceilings()?;
        self.staged_fill()?;
        self.suspension()?;
        self.folding()?;
        self.overflow()?;
        self.flushes()?;
        // Writes at random use up spare area, and rests empty the cache. Behind overwrites of the whole drive,
        // neither matters.
        let is_overwritten = self.wants(Structure::Spare) && self.level.is_ok()
            || self.wants(Structure::EffectiveSpare) && self.counts_media;
        if !is_overwritten {
            self.mapping_unit()?;
            self.volumes()?;
            self.contents()?;
        }
        self.units()?;
        self.spare_area()?;
        self.steady_state()?;
        self.mapping_unit()?;
        self.volumes()?;
        self.contents()?;
        self.map_reach()?;
        self.heating()
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
            self.answers.push(Answer { structure, outcome });
        }
    }

    /// Keeps `series` for charts, where their structures were asked for.
    fn keep(&mut self, series: impl IntoIterator<Item = Series>) {
        let wanted = &self.wanted;
        let of_wanted = |one: &Series| wanted.contains(&one.structure) && !one.points.is_empty();
        self.series.extend(series.into_iter().filter(of_wanted));
    }

    /// Returns the value of `structure`, where it is identified.
    fn value(&self, structure: Structure) -> Option<f64> {
        let answer = self.answers.iter().find(|answer| answer.structure == structure)?;
        answer.outcome.as_ref().ok().map(|value| value.value)
    }
}
