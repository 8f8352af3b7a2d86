//! What was measured: the tests of runs as acts that a virtual drive can repeat, with the numbers that came.

mod refusal;

pub use refusal::EvidenceError;

use crate::kind::{Kind, only_stream};
use crate::number::Number;
use ssdgauge_analysis::{PointRun, Run, TestRun};
use ssdgauge_core::{
    Action, Bytes, DirectionTotals, FindingKind, Nanos, Phase, PhaseKind, Preparation, Rest, Step,
    Until, Workload,
};
use ssdgauge_xray::Structure;
use std::collections::{BTreeMap, BTreeSet};

/// What was measured on one drive.
#[derive(Clone, Debug, PartialEq)]
pub struct Evidence {
    /// The name of the drive.
    pub drive: String,
    /// Its firmware, where it is known.
    pub firmware: Option<String>,
    /// Its capacity.
    pub capacity: Bytes,
    /// Whether it is a virtual drive itself.
    pub is_model: bool,
    /// The tests.
    pub tests: Vec<Measured>,
    /// What was assumed, and which tests were left out, in sentences.
    pub notes: Vec<String>,
    /// First values of figures, by the card of an X-ray.
    pub(crate) card: Vec<(&'static str, f64)>,
}

/// One test of a run.
#[derive(Clone, Debug, PartialEq)]
pub struct Measured {
    /// Suite and test, such as `load-curve/random-read`.
    pub name: String,
    pub(crate) start: Start,
    pub(crate) acts: Vec<Act>,
}

/// The state of the drive before a test.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Start {
    #[default]
    Fresh,
    /// Written once, as is assumed of an imported result.
    Filled,
    /// Overwritten at random until nothing changes.
    Steady,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Act {
    Prepare(Preparation),
    Rest(Nanos),
    Load(Box<Load>),
}

/// A load, and what came.
#[derive(Clone, Debug, PartialEq)]
pub struct Load {
    /// The label of its step.
    pub label: String,
    /// Its kind; `None` where a twin does not predict it.
    pub kind: Option<Kind>,
    /// The load itself.
    pub workload: Workload,
    /// Bytes and time that it took; a limit where it was not measured.
    pub(crate) until: Until,
    /// The numbers that came; empty where they say nothing about the drive.
    pub numbers: BTreeMap<Number, f64>,
    /// Requests a second in the parts of [`COURSE`] of its bytes, where it lasted.
    pub(crate) course: Vec<f64>,
    /// Its place among the loads of its kind that lie inside the range of the others, and the numbers that they do it for.
    pub(crate) place: Option<usize>,
    pub(crate) inside: BTreeSet<Number>,
}

/// Parts of equal bytes into which the course of a load is divided.
pub(crate) const COURSE: usize = 10;
/// Full seconds from which a load has a course: one for each part.
const LONG: usize = COURSE;
/// Share of an offered rate below which the drive was overloaded: its latencies are those of a queue.
const KEPT: f64 = 0.97;

impl Evidence {
    /// Returns what `runs` show.
    ///
    /// # Errors
    /// [`EvidenceError`], where the runs are not full-length runs of one drive, or show nothing.
    pub fn of_runs(runs: &[Run]) -> Result<Evidence, EvidenceError> {
        let (first, capacity) = refusal::check(runs)?;
        let mut notes = Vec::new();
        let mut tests = Vec::new();
        for run in runs {
            let is_imported = run.head.imported_from().is_some();
            if is_imported {
                notes.push(format!(
                    "{}: imported, so the drive is assumed to have been written once",
                    refusal::name(run)
                ));
            }
            let mut left = Left { is_imported, ..Left::default() };
            for test in &run.tests {
                let name = format!("{}/{}", run.head.plan.suite.id, test.test.id);
                match measured(name.clone(), test, &mut left, capacity) {
                    Ok(measured) => tests.push(measured),
                    Err(reason) => notes.push(format!("{name}: left out, {reason}")),
                }
            }
        }
        let evidence = Evidence {
            drive: first.head.drive.name().to_owned(),
            firmware: first.head.drive.firmware.clone(),
            capacity,
            is_model: first.is_model(),
            tests,
            notes,
            card: Vec::new(),
        };
        match evidence.kinds().is_empty() {
            true => Err(EvidenceError::Nothing),
            false => Ok(evidence),
        }
    }

    /// Returns the evidence of single loads on a drive that was written once: points of a published curve. Each is a
    /// test with its name, its load and its numbers.
    pub fn of_points(
        drive: &str,
        capacity: Bytes,
        points: Vec<(String, Workload, BTreeMap<Number, f64>)>,
    ) -> Evidence {
        let test = |(name, workload, numbers): (String, Workload, BTreeMap<Number, f64>)| {
            let until = Until { time: None, bytes: Some(capacity) };
            let kind = Kind::of(&workload, false);
            let label = name.clone();
            let load = Load { label, kind, numbers, ..Load::new(workload, until) };
            Measured { name, start: Start::Filled, acts: vec![Act::Load(Box::new(load))] }
        };
        Evidence {
            drive: drive.to_owned(),
            firmware: None,
            capacity,
            is_model: false,
            tests: points.into_iter().map(test).collect(),
            notes: Vec::new(),
            card: Vec::new(),
        }
    }

    /// Begins the fit at the `answers` of an X-ray of the same drive.
    pub fn add_card(&mut self, answers: &[ssdgauge_xray::Answer]) {
        let figure = |answer: &ssdgauge_xray::Answer| {
            let value = answer.outcome.as_ref().ok()?.value;
            Some(match answer.structure {
                Structure::Link => ("front.link_mb_s", value),
                Structure::Command => ("front.read_command_us", value),
                Structure::Units => ("nand.dies", value),
                Structure::PageRead => ("nand.t_r_us", value),
                Structure::Folding => ("slc.fold_mb_s", value),
                Structure::WriteBuffer => ("front.buffer_kib", value / 1_024.0),
                Structure::ProgramUnit => ("nand.program_kib", value / 1_024.0),
                Structure::Suspend => ("nand.suspend", 1.0 - value),
                _ => return None,
            })
        };
        self.card = answers.iter().filter_map(figure).collect();
    }

    /// Returns the kinds that have numbers.
    pub fn kinds(&self) -> Vec<Kind> {
        let has = |kind: &Kind| {
            self.loads().any(|(_, load)| load.kind == Some(*kind) && load.has_numbers())
        };
        Kind::ALL.into_iter().filter(has).collect()
    }

    /// Returns every load with its test.
    pub fn loads(&self) -> impl Iterator<Item = (&Measured, &Load)> {
        self.tests.iter().flat_map(|test| test.loads().map(move |load| (test, load)))
    }

    /// Multiplies every number by what `factor` returns: noise, for gates.
    pub fn disturb(&mut self, mut factor: impl FnMut() -> f64) {
        for load in self.tests.iter_mut().flat_map(Measured::loads_mut) {
            load.numbers.values_mut().chain(&mut load.course).for_each(|n| *n *= factor());
        }
    }
}

impl Measured {
    pub(crate) fn loads(&self) -> impl Iterator<Item = &Load> {
        self.acts.iter().filter_map(|act| match act {
            Act::Load(load) => Some(&**load),
            Act::Prepare(_) | Act::Rest(_) => None,
        })
    }

    pub(crate) fn loads_mut(&mut self) -> impl Iterator<Item = &mut Load> {
        self.acts.iter_mut().filter_map(|act| match act {
            Act::Load(load) => Some(&mut **load),
            Act::Prepare(_) | Act::Rest(_) => None,
        })
    }

    /// Returns the share of `capacity` that holds data while the test is measured.
    pub(crate) fn full_share(&self, capacity: Bytes) -> f64 {
        let end = |act: &Act| match act {
            Act::Prepare(preparation) => preparation.end(),
            Act::Load(load) if load.workload.writes() => load.workload.end(),
            Act::Load(_) | Act::Rest(_) => Bytes(0),
        };
        let end = self.acts.iter().map(end).max().unwrap_or_default();
        match self.start {
            Start::Fresh => (end.0 as f64 / capacity.0 as f64).min(1.0),
            Start::Filled | Start::Steady => 1.0,
        }
    }
}

impl Load {
    fn new(workload: Workload, until: Until) -> Load {
        Load {
            label: String::new(),
            kind: None,
            workload,
            until,
            numbers: BTreeMap::new(),
            course: Vec::new(),
            place: None,
            inside: BTreeSet::new(),
        }
    }

    /// Returns whether predictions are judged by its `number`. The course of a load counts where it ends in a state.
    pub(crate) fn is_judged_by(&self, number: Number) -> bool {
        match self.course.is_empty() {
            true => self.numbers.contains_key(&number),
            false => number == Number::Rate && self.kind == Some(Kind::SteadyWrites),
        }
    }

    /// Returns whether it has numbers that a fit can use.
    pub fn has_numbers(&self) -> bool {
        !self.numbers.is_empty() || !self.course.is_empty()
    }
}

/// What the tests of a run leave to the next one.
#[derive(Default)]
struct Left {
    is_imported: bool,
    start: Start,
    prepared: Vec<Act>,
}

/// Returns `test` as acts; takes note of the state that it leaves.
fn measured(
    name: String,
    test: &TestRun,
    left: &mut Left,
    capacity: Bytes,
) -> Result<Measured, &'static str> {
    if test.test.search.is_some() || test.test.rounds.is_some() {
        return Err("its loads follow from its results");
    }
    if left.is_imported {
        left.start = Start::Filled;
    }
    let mut acts = Vec::new();
    let mut start = left.start;
    let mut points = test.points.iter();
    let (mut is_own, mut is_steady) = (false, start == Start::Steady);
    for phase in &test.test.phases {
        for step in &phase.steps {
            match (&step.action, phase.kind) {
                (Action::Prepare(preparation), _) => {
                    if preparation.is_purge() {
                        (start, is_own, is_steady) = (Start::Fresh, true, false);
                        acts.clear();
                        left.prepared.clear();
                    }
                    if matches!(preparation, Preparation::Fill { .. }) || preparation.is_purge() {
                        left.prepared.push(Act::Prepare(*preparation));
                    }
                    if !preparation.is_setting() {
                        acts.push(Act::Prepare(*preparation));
                    }
                }
                (Action::Rest(time) | Action::Idle(time), _) => acts.push(Act::Rest(*time)),
                (Action::Replay(_), _) => return Err("it replays a trace"),
                (Action::Run { workload, until, .. }, PhaseKind::Measure) => {
                    let Some(point) = points.next().filter(|one| one.point.label == step.label)
                    else {
                        return end(name, start, is_own, acts, left);
                    };
                    let load = load(step, workload, *until, point, test, is_steady, capacity);
                    is_steady |= load.kind == Some(Kind::SteadyWrites);
                    acts.push(Act::Load(Box::new(load)));
                    acts.extend(rest_after(&step.rest, point.point.totals.elapsed));
                }
                (Action::Run { workload, until, steady }, _) => {
                    if steady.is_some() || overwrites(phase, workload, until) {
                        (start, is_own, is_steady) = (Start::Steady, true, true);
                        acts.clear();
                        left.prepared.clear();
                        left.start = Start::Steady;
                    } else if phase.kind != PhaseKind::Check {
                        let label = step.label.clone();
                        let load = Load { label, ..Load::new(workload.clone(), *until) };
                        acts.push(Act::Load(Box::new(load)));
                    }
                }
            }
        }
    }
    end(name, start, is_own, acts, left)
}

/// Returns the test, with the preparations of tests before it where it has none of its own.
fn end(
    name: String,
    start: Start,
    is_own: bool,
    mut acts: Vec<Act>,
    left: &Left,
) -> Result<Measured, &'static str> {
    let prepares = acts.iter().any(|act| matches!(act, Act::Prepare(_)));
    if !is_own && !prepares {
        acts.splice(0..0, left.prepared.iter().cloned());
    }
    Ok(Measured { name, start, acts })
}

fn rest_after(rest: &Rest, busy: Nanos) -> Option<Act> {
    Some(rest.after(busy)).filter(|time| *time > Nanos::ZERO).map(Act::Rest)
}

/// Returns whether `workload` brings a drive to its steady state: random writes of as much as the drive holds, or of half
/// an hour.
fn overwrites(phase: &Phase, workload: &Workload, until: &Until) -> bool {
    let is_random = only_stream(workload).is_some_and(|stream| stream.is_random());
    let span = only_stream(workload).map_or(0, |stream| stream.span.0);
    let is_long =
        until.bytes.map_or(until.time.is_some_and(|time| time.0 >= 1_800_000_000_000), |bytes| {
            bytes.0 >= span
        });
    phase.kind == PhaseKind::Precondition && is_random && workload.writes() && is_long
}

fn load(
    step: &Step,
    workload: &Workload,
    until: Until,
    point: &PointRun,
    test: &TestRun,
    is_steady: bool,
    capacity: Bytes,
) -> Load {
    let totals = &point.point.totals;
    let bytes: u64 = totals.directions.iter().map(|one: &DirectionTotals| one.bytes).sum();
    let stream = only_stream(workload);
    // A load that overwrites its whole span ends in the steady state: its course shows the way there.
    let overwrites = stream.is_some_and(|one| {
        one.is_random() && !one.reads() && bytes >= one.span.0 && one.span.0 * 2 >= capacity.0
    });
    let kind = Kind::of(workload, is_steady || overwrites);
    let until = if bytes > 0 { Until { time: None, bytes: Some(Bytes(bytes)) } } else { until };
    let mut load = Load { label: step.label.clone(), kind, ..Load::new(workload.clone(), until) };
    let is_spoilt = test.findings.iter().any(|found| {
        found.step.as_deref() == Some(&step.label) && found.finding.kind == FindingKind::Throttled
    });
    if kind.is_none() || is_spoilt || bytes == 0 {
        return load;
    }
    let numbers = Number::ALL.into_iter().filter_map(|one| Some((one, one.of_totals(totals)?)));
    load.numbers = numbers.collect();
    let offered = stream.and_then(|one| one.arrival.per_second());
    if let (Some(offered), Some(rate)) = (offered, load.numbers.get(&Number::Rate).copied()) {
        match rate < KEPT * offered {
            true => load.numbers.retain(|number, _| *number == Number::Rate),
            // What is asked does not come from the drive.
            false => load.numbers.retain(|number, _| *number != Number::Rate),
        }
    }
    let only_writes = stream.is_some_and(|one| !one.reads() && offered.is_none());
    if only_writes && point.point.seconds.full_len() >= LONG {
        load.course = course(point, bytes);
        load.numbers.remove(&Number::Rate);
        // The percentiles of a load that changes are those of no state.
        if overwrites && !is_steady {
            load.numbers.clear();
        }
    }
    load
}

/// Returns requests a second in each of [`COURSE`] parts of the `bytes` of `point`.
fn course(point: &PointRun, bytes: u64) -> Vec<f64> {
    let part = bytes as f64 / COURSE as f64;
    let mut ends = Vec::with_capacity(COURSE);
    let (mut written, mut time, mut ios) = (0.0, 0.0, 0.0);
    for (_, second) in point.point.seconds.all_counts() {
        let of_second: u64 = second.directions.iter().map(|one| one.bytes).sum();
        let count: u64 = second.directions.iter().map(|one| one.ios).sum();
        let (of_second, length) = (of_second as f64, second.elapsed.as_secs_f64());
        while ends.len() < COURSE && written + of_second >= part * (ends.len() + 1) as f64 - 1.0 {
            let share = ((part * (ends.len() + 1) as f64 - written) / of_second.max(1.0)).min(1.0);
            ends.push((time + share * length, ios + share * count as f64));
        }
        (written, time, ios) = (written + of_second, time + length, ios + count as f64);
    }
    let begins = std::iter::once((0.0, 0.0)).chain(ends.iter().copied());
    let rate = |(begin, end): ((f64, f64), &(f64, f64))| (end.1 - begin.1) / (end.0 - begin.0);
    let course: Vec<f64> = begins.zip(&ends).map(rate).collect();
    let is_whole = course.len() == COURSE && course.iter().all(|one| one.is_finite() && *one > 0.0);
    if is_whole { course } else { Vec::new() }
}
