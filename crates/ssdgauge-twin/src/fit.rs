//! The fit, its validation by kinds that are left out, and the intervals of its figures.

use crate::bands::{Band, Residuals, WIDEST, bands, median};
use crate::evidence::{Evidence, Load};
use crate::figures::{FIGURES, Form, Values};
use crate::inside::placed;
use crate::kind::{Group, Kind};
use crate::number::Number;
use crate::search::{LeftOut, PARTS, Problem, judged, pairs};
use crate::start;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};

/// A fitted twin.
#[derive(Clone, Debug)]
pub struct Fitted {
    pub(crate) values: Values,
    pub(crate) figures: Vec<FittedFigure>,
    pub(crate) bands: Vec<Band>,
    errors: Residuals,
}

impl Fitted {
    /// Returns how far the twin is from each number that it was fitted to, as logarithms of ratios, by kind and number.
    pub fn errors(&self) -> &BTreeMap<(Kind, Number), Vec<f64>> {
        &self.errors
    }

    /// Returns the kinds that the model misses although it was fitted to them, with the median error of their rates and
    /// medians as a share, where these are half of all kinds or more: the drive is none that the model describes. Empty for
    /// other drives.
    pub fn not_described(&self) -> Vec<(Kind, f64)> {
        let mut of_kinds: BTreeMap<Kind, Vec<f64>> = BTreeMap::new();
        for ((kind, _), errors) in self.errors.iter().filter(|((_, one), _)| !one.is_tail()) {
            of_kinds.entry(*kind).or_default().extend(errors);
        }
        let all = of_kinds.len();
        let missed: Vec<(Kind, f64)> = of_kinds
            .into_iter()
            .map(|(kind, errors)| (kind, median(&errors).exp_m1()))
            .filter(|(_, error)| *error > WIDEST)
            .collect();
        if 2 * missed.len() >= all { missed } else { Vec::new() }
    }
}

/// A figure with what decides it.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct FittedFigure {
    pub(crate) key: &'static str,
    /// The interval, and the test that decides it; `None` where no run shows the figure: the value of the class.
    pub(crate) decided: Option<(f64, f64, String)>,
}

/// Factors of a figure that are tried for its interval.
const WIDTHS: [f64; 4] = [1.05, 1.2, 1.6, 3.0];
/// Rise of the error, beyond what remains for each number, at which a value is excluded.
const EXCLUDED: f64 = 4.0;

/// Fits a twin to `evidence`; `progress` is told how many fits of how many are finished.
pub fn fit(evidence: &Evidence, progress: &(dyn Fn(usize, usize) + Sync)) -> Fitted {
    let evidence = &placed(evidence);
    let problem = Problem::new(evidence);
    let mut rounds = vec![LeftOut::Nothing];
    rounds.extend((0..PARTS).map(LeftOut::Part));
    let is_whole = |kind: &Kind| {
        let mut of_kind = evidence.loads().filter(|(_, load)| load.kind == Some(*kind));
        of_kind.all(|(_, load)| load.place.is_none())
    };
    rounds.extend(evidence.kinds().into_iter().filter(is_whole).map(LeftOut::Kind));
    progress(0, rounds.len());
    let done = AtomicUsize::new(0);
    let fits = in_parallel(&rounds, |left_out| {
        let values = fit_without(&problem, evidence, *left_out);
        let errors = residuals(&problem, &values, *left_out);
        progress(1 + done.fetch_add(1, Ordering::Relaxed), rounds.len());
        (values, errors)
    });
    let mut left_out = Residuals::new();
    for (_, errors) in &fits[1..] {
        for (of, errors) in errors {
            left_out.entry(*of).or_default().extend(errors);
        }
    }
    let values = fits
        .into_iter()
        .next()
        .map_or_else(|| start::values(evidence, LeftOut::Nothing), |fit| fit.0);
    let figures = intervals(&problem, &values);
    let errors = residuals(&problem, &values, LeftOut::Nothing);
    // Those of the loads that were left out.
    let mut own = Residuals::new();
    for one in &rounds[1..] {
        for (of, errors) in residuals(&problem, &values, *one) {
            own.entry(of).or_default().extend(errors);
        }
    }
    Fitted { bands: bands(evidence, &left_out, &own), figures, values, errors }
}

/// Fits every figure, structures too, from the first values on without the loads of `left_out`. What these loads do not
/// change is known from other fits.
fn fit_without(problem: &Problem, evidence: &Evidence, left_out: LeftOut) -> Values {
    let values = start::values(evidence, left_out);
    // Random reads see no figure that a later group decides.
    let last = match left_out {
        LeftOut::Kind(kind) if kind.group() == Group::Reads => Group::Reads,
        LeftOut::Nothing | LeftOut::Kind(_) | LeftOut::Part(_) => Group::Mixes,
    };
    let groups = Group::ALL.into_iter().filter(|group| *group <= last);
    groups.fold(values, |values, group| problem.search(values, group, left_out))
}

/// Returns how far the drive of `values` is from the loads of `left_out`, or from all.
fn residuals(problem: &Problem, values: &Values, left_out: LeftOut) -> Residuals {
    let is_wanted = |_: Group, load: &Load| left_out == LeftOut::Nothing || left_out.has(load);
    let is_judged = |load: &Load, number: Number| match left_out {
        LeftOut::Part(_) => load.inside.contains(&number),
        LeftOut::Nothing | LeftOut::Kind(_) => true,
    };
    let mut all = Residuals::new();
    for (_, load, came) in problem.compared(values, is_wanted).unwrap_or_default() {
        let Some(kind) = load.kind else { continue };
        for (number, here, there) in judged(load, &came) {
            if is_judged(load, number) {
                all.entry((kind, number)).or_default().push((here / there).ln());
            }
        }
    }
    all
}

/// Returns what `work` makes of each of `items`, in their order, with a thread for each processor.
fn in_parallel<T: Sync, R: Send>(items: &[T], work: impl Fn(&T) -> R + Sync) -> Vec<R> {
    let workers = std::thread::available_parallelism().map_or(1, usize::from).min(items.len());
    let next = AtomicUsize::new(0);
    let one = || {
        let mut done = Vec::new();
        while let Some((place, item)) = Some(next.fetch_add(1, Ordering::Relaxed))
            .and_then(|place| Some((place, items.get(place)?)))
        {
            done.push((place, work(item)));
        }
        done
    };
    let mut done: Vec<(usize, R)> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..workers).map(|_| scope.spawn(one)).collect();
        let join = |thread: std::thread::ScopedJoinHandle<'_, Vec<(usize, R)>>| match thread.join()
        {
            Ok(done) => done,
            Err(panic) => std::panic::resume_unwind(panic),
        };
        threads.into_iter().flat_map(join).collect()
    });
    done.sort_by_key(|(place, _)| *place);
    done.into_iter().map(|(_, result)| result).collect()
}

/// Returns each figure with the values around it that the runs do not exclude.
fn intervals(problem: &Problem, values: &Values) -> Vec<FittedFigure> {
    in_parallel(&FIGURES, |figure| {
        let Form::Real(lowest, highest) = figure.form else {
            return FittedFigure { key: figure.key, decided: choice(problem, values, figure.key) };
        };
        let value = values.get(figure.key);
        let end = |direction: f64| {
            WIDTHS.iter().find_map(|width| {
                let tried = (value * width.powf(direction)).clamp(lowest, highest);
                let mut changed = values.clone();
                changed.set(figure.key, tried);
                excluding(problem, values, &changed, figure.key).map(|test| (tried, test))
            })
        };
        let decided = match (end(-1.0), end(1.0)) {
            (Some((low, test)), Some((high, _))) => Some((low, high, test)),
            // One end does not measure it.
            _ => None,
        };
        FittedFigure { key: figure.key, decided }
    })
}

/// Returns the test that excludes the other choices of the figure `key`; `None` where one of them is as good.
fn choice(problem: &Problem, values: &Values, key: &'static str) -> Option<(f64, f64, String)> {
    let own = values.get(key);
    let mut test = None;
    for by in [-1.0, 1.0] {
        let mut changed = values.clone();
        changed.set(key, own + by);
        if changed != *values {
            test = Some(excluding(problem, values, &changed, key)?);
        }
    }
    let value = values.choice(key).parse().unwrap_or(0.0);
    test.map(|test| (value, value, test))
}

/// Returns the test whose numbers exclude `changed`, where the error of all of the figure's groups rises enough.
fn excluding(
    problem: &Problem,
    values: &Values,
    changed: &Values,
    key: &'static str,
) -> Option<String> {
    let groups = FIGURES.iter().find(|figure| figure.key == key)?.groups;
    let is_wanted = |group: Group, _: &Load| groups.contains(&group);
    let before = problem.compared(values, is_wanted)?;
    let Some(after) = problem.compared(changed, is_wanted) else {
        // No drive has this figure.
        return before.first().map(|(test, _, _)| test.name.clone());
    };
    let squares = |load: &Load, came: &_| -> f64 {
        let units = |(number, here, there): (Number, f64, f64)| (here / there).ln() / number.unit();
        pairs(load, came).into_iter().map(units).map(|one| one * one).sum()
    };
    let mut rises: BTreeMap<&str, f64> = BTreeMap::new();
    let (mut rest, mut count) = (0.0, 0.0);
    for ((test, load, old), (_, _, new)) in before.iter().zip(&after) {
        let remains = squares(load, old);
        *rises.entry(&test.name).or_default() += squares(load, new) - remains;
        rest += remains;
        count += pairs(load, old).len() as f64;
    }
    let rise: f64 = rises.values().sum();
    let limit = EXCLUDED * (rest / f64::max(count, 1.0)).max(1.0);
    let (test, _) = rises.into_iter().max_by(|one, other| one.1.total_cmp(&other.1))?;
    (rise > limit).then(|| test.to_owned())
}
