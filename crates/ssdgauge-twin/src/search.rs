//! The search for figures: each is changed in turn, and the change kept that comes nearer to what was measured.
//!
//! Groups of figures are fitted one after the other: what reads decide, then what writes decide, then what mixes decide.

use crate::evidence::{Act, Evidence, Load, Measured, Start};
use crate::figures::{FIGURES, Figure, Form, Values, base};
use crate::kind::{Group, Kind};
use crate::number::Number;
use crate::replay::{Candidate, Repeated, ratio, repeat};
use ssdgauge_core::Bytes;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

/// Factors by which figures are changed, one after the other.
const STEPS: [f64; 3] = [1.4, 1.12, 1.04];
/// Further changes of a figure in a direction that was right.
const ONWARDS: usize = 5;
/// Rounds over all figures with one factor.
const ROUNDS: usize = 2;
/// A change counts that makes the error this much smaller.
const SMALLER: f64 = 0.997;
/// Units of error from which an error counts in proportion, no more by its square: one load that the model cannot
/// explain must not spoil the others.
const FAR: f64 = 3.0;

/// Loads that a fit does not see.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LeftOut {
    Nothing,
    /// Every load of a kind.
    Kind(Kind),
    /// Each [`PARTS`]th load of every kind, beginning with this one, among those inside the range of the others: outside it
    /// nothing is predicted.
    Part(usize),
}

/// Parts into which the loads of each kind are divided.
pub(crate) const PARTS: usize = 3;

impl LeftOut {
    pub(crate) fn has(self, load: &Load) -> bool {
        match self {
            LeftOut::Nothing => false,
            LeftOut::Kind(kind) => load.kind == Some(kind),
            LeftOut::Part(part) => load.place.is_some_and(|place| place % PARTS == part),
        }
    }
}

/// What a test is on virtual drives, by number of the test and text of the figures that it sees.
type Known = BTreeMap<(usize, String), Option<Arc<Vec<Repeated>>>>;

/// The tests, as the search repeats them.
pub(crate) struct Problem {
    tests: Vec<(Measured, Group, bool)>,
    base: String,
    capacity: Bytes,
    known: Mutex<Known>,
}

impl Problem {
    pub(crate) fn new(evidence: &Evidence) -> Problem {
        let mut tests: Vec<_> = evidence.tests.iter().map(prepared).collect();
        // A search gives a change up as soon as it is worse: what takes longest comes last.
        tests.sort_by_key(|(_, group, is_steady)| (*group, *is_steady));
        Problem {
            tests,
            base: base(evidence.capacity),
            capacity: evidence.capacity,
            known: Mutex::default(),
        }
    }

    /// Returns every load that has numbers and fulfils `is_wanted`, with its test and its numbers on the drive of
    /// `values`; `None` where no such drive is possible.
    pub(crate) fn compared(
        &self,
        values: &Values,
        is_wanted: impl Fn(Group, &Load) -> bool,
    ) -> Option<Vec<(&Measured, &Load, Repeated)>> {
        let wanted = |group: Group, load: &Load| load.has_numbers() && is_wanted(group, load);
        let numbers: Vec<usize> = (0..self.tests.len())
            .filter(|number| {
                let (test, group, _) = &self.tests[*number];
                test.loads().any(|load| wanted(*group, load))
            })
            .collect();
        let mut all = Vec::new();
        for number in numbers {
            let repeated = self.repeated(number, values)?;
            let (test, group, _) = &self.tests[number];
            for (load, came) in test.loads().zip(repeated.iter()) {
                if wanted(*group, load) {
                    all.push((test, load, came.clone()));
                }
            }
        }
        Some(all)
    }

    fn repeated(&self, number: usize, values: &Values) -> Option<Arc<Vec<Repeated>>> {
        let (test, group, is_steady) = &self.tests[number];
        let key = (number, values.seen_by(*group, *is_steady));
        let locked = || self.known.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        if let Some(known) = locked().get(&key) {
            return known.clone();
        }
        let small = Bytes((self.capacity.0 as f64 * ratio(self.capacity)) as u64);
        let (figures, capacity) = (values.query(small), self.capacity);
        let cache = values.cache();
        let candidate = Candidate { profile: &self.base, figures: &figures, capacity, cache };
        let repeated = repeat(&candidate, test).map(Arc::new);
        locked().insert(key, repeated.clone());
        repeated
    }

    /// Returns how far the drive of `values` is from the tests of `group`, without the loads of `left_out`: the mean
    /// square for each kind and number, in units of error, added up. Infinity where it exceeds `limit`, or where there is
    /// no such drive.
    pub(crate) fn error(
        &self,
        values: &Values,
        group: Group,
        left_out: LeftOut,
        limit: f64,
    ) -> f64 {
        let is_wanted = |load: &Load| !left_out.has(load) && load.has_numbers();
        let tests: Vec<usize> = (0..self.tests.len())
            .filter(|number| {
                let (test, of, _) = &self.tests[*number];
                *of == group && test.loads().any(is_wanted)
            })
            .collect();
        // Each kind and number weighs the same, however many loads have it.
        let mut counts: BTreeMap<(Option<Kind>, Number), f64> = BTreeMap::new();
        for number in &tests {
            for load in self.tests[*number].0.loads().filter(|load| is_wanted(load)) {
                for number in load.numbers.keys().chain(load.course.iter().map(|_| &Number::Rate)) {
                    *counts.entry((load.kind, *number)).or_default() += 1.0;
                }
            }
        }
        let mut error = 0.0;
        for number in tests {
            let Some(repeated) = self.repeated(number, values) else { return f64::INFINITY };
            for (load, came) in self.tests[number].0.loads().zip(repeated.iter()) {
                if !is_wanted(load) {
                    continue;
                }
                for (number, here, there) in pairs(load, came) {
                    let units = ((here / there).ln() / number.unit()).abs();
                    let is_far = units >= FAR;
                    let square = if is_far { FAR * (2.0 * units - FAR) } else { units * units };
                    error += square / counts[&(load.kind, number)];
                }
            }
            if error > limit {
                return f64::INFINITY;
            }
        }
        error
    }

    /// Fits the figures of `group`; returns the values and what remains.
    pub(crate) fn search(&self, mut best: Values, group: Group, left_out: LeftOut) -> Values {
        let mut least = self.error(&best, group, left_out, f64::INFINITY);
        if least == 0.0 {
            return best;
        }
        let figures: Vec<&Figure> = FIGURES.iter().filter(|figure| figure.is_in(group)).collect();
        for (number, step) in STEPS.into_iter().enumerate() {
            for _ in 0..ROUNDS {
                let before = least;
                for figure in &figures {
                    for direction in directions(figure, step, number) {
                        let steps = if direction.is_one { 1 } else { 1 + ONWARDS };
                        let mut improved = false;
                        for _ in 0..steps {
                            let tried = (direction.change)(&best);
                            if tried == best {
                                break;
                            }
                            let limit = SMALLER * least;
                            let found = self.error(&tried, group, left_out, limit);
                            if found >= limit {
                                break;
                            }
                            (best, least, improved) = (tried, found, true);
                        }
                        if improved && !direction.is_one {
                            break;
                        }
                    }
                }
                if least > 0.97 * before {
                    break;
                }
            }
        }
        best
    }
}

/// Returns the pairs of numbers, first those of the drive that repeated `load`, then those measured.
pub(crate) fn pairs(load: &Load, came: &Repeated) -> Vec<(Number, f64, f64)> {
    let numbers = load
        .numbers
        .iter()
        .filter_map(|(number, there)| Some((*number, *came.numbers.get(number)?, *there)));
    let course = came.course.iter().zip(&load.course);
    numbers.chain(course.map(|(here, there)| (Number::Rate, *here, *there))).collect()
}

/// Returns the pairs of numbers that predictions of such loads are judged by: of a load that changes, those of the state
/// that it ends in.
pub(crate) fn judged(load: &Load, came: &Repeated) -> Vec<(Number, f64, f64)> {
    let mut all = pairs(load, came);
    if !load.course.is_empty() {
        let last = all.pop();
        all.clear();
        all.extend(last);
    }
    all.retain(|(number, ..)| load.is_judged_by(*number));
    all
}

/// Returns `test` as it is repeated, the group that it belongs to, and whether it reaches the steady state.
fn prepared(test: &Measured) -> (Measured, Group, bool) {
    let mut test = test.clone();
    let of_load = |load: &Load| match load.kind {
        Some(kind) => kind.group(),
        None if load.workload.writes() => Group::Mixes,
        None => Group::Reads,
    };
    let group = test.loads().map(of_load).max().unwrap_or(Group::Reads);
    let is_steady = test.start == Start::Steady
        || test
            .loads()
            .any(|load| matches!(load.kind, Some(Kind::SteadyWrites | Kind::SteadyMixes)));
    if group <= Group::Sequential {
        // Reads see what was written, not how.
        test.start = Start::Filled;
        test.acts.retain(|act| matches!(act, Act::Load(_)));
    }
    (test, group, is_steady)
}

/// A change of values.
struct Direction {
    change: Box<dyn Fn(&Values) -> Values>,
    /// Whether it is tried once: the choice of a structure.
    is_one: bool,
}

/// Returns the changes of `figure` with the factor `step`, the `number`th one.
fn directions(figure: &Figure, step: f64, number: usize) -> Vec<Direction> {
    let key = figure.key;
    match figure.form {
        // Numbers and kinds of structures are settled before the last steps.
        Form::OneOf(_) if number == STEPS.len() - 1 => Vec::new(),
        Form::OneOf(_) if key == "nand.dies" || key == "nand.program_kib" => {
            [1.0, -1.0].into_iter().flat_map(|by| ordered(key, by)).collect()
        }
        Form::OneOf(choices) => (0..choices.len())
            .map(|choice| Direction {
                change: Box::new(move |values: &Values| with(values, key, choice as f64)),
                is_one: true,
            })
            .collect(),
        Form::Real(..) => {
            let mut all: Vec<Direction> = [step, 1.0 / step].map(|by| times(key, by)).into();
            all.extend(match key {
                "nand.t_r_us" => [step, 1.0 / step].map(shifted).into(),
                "slc.fixed_gb" => [step, 1.0 / step].map(moved).into(),
                _ => Vec::new(),
            });
            all
        }
    }
}

fn with(values: &Values, key: &'static str, value: f64) -> Values {
    let mut values = values.clone();
    values.set(key, value);
    values
}

fn times(key: &'static str, factor: f64) -> Direction {
    let change = move |values: &Values| with(values, key, values.get(key) * factor);
    Direction { change: Box::new(change), is_one: false }
}

/// Returns the next choice of a number, as it is, and with the time that keeps the rate of all dies.
fn ordered(key: &'static str, by: f64) -> Vec<Direction> {
    let plain = move |values: &Values| with(values, key, values.get(key) + by);
    let mut all = vec![Direction { change: Box::new(plain), is_one: false }];
    if key == "nand.dies" {
        let change = move |values: &Values| {
            let next = with(values, key, values.get(key) + by);
            with_read_time(&next, values.get("nand.t_r_us") * next.dies() / values.dies())
        };
        all.push(Direction { change: Box::new(change), is_one: false });
    }
    all
}

/// Returns `values` with another read time and a delay that keeps the latency of a lone read.
fn with_read_time(values: &Values, t_r: f64) -> Values {
    let change = t_r - values.get("nand.t_r_us");
    let delay = values.get("front.read_delay_us") - change;
    with(&with(values, "nand.t_r_us", t_r), "front.read_delay_us", delay)
}

fn shifted(factor: f64) -> Direction {
    let change = move |values: &Values| with_read_time(values, values.get("nand.t_r_us") * factor);
    Direction { change: Box::new(change), is_one: false }
}

/// Returns the move of a part of the cache from fixed to borrowed flash, or back.
fn moved(factor: f64) -> Direction {
    let change = move |values: &Values| {
        let (fixed, dynamic) = (values.get("slc.fixed_gb"), values.get("slc.dynamic_gb"));
        let next = (fixed * factor).min(fixed + dynamic);
        with(&with(values, "slc.fixed_gb", next), "slc.dynamic_gb", dynamic - (next - fixed))
    };
    Direction { change: Box::new(change), is_one: false }
}
