//! The fit, its validation by kinds that are left out, and the intervals of its figures.

use crate::bands::{Band, Residuals, bands};
use crate::evidence::{Evidence, Load};
use crate::figures::{FIGURES, Figure, Form, Values};
use crate::kind::{Group, Kind};
use crate::number::Number;
use crate::search::{Problem, pairs};
use crate::start;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};

/// A fitted twin.
#[derive(Clone, Debug)]
pub struct Fitted {
    pub(crate) values: Values,
    pub(crate) figures: Vec<FittedFigure>,
    pub(crate) bands: Vec<Band>,
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
    let problem = Problem::new(evidence);
    let kinds = evidence.kinds();
    let all = kinds.len() + 1;
    progress(0, all);
    let values = fit_groups(&problem, start::values(evidence, None), |_| true, None);
    progress(1, all);
    let own = residuals(&problem, &values, None);
    let done = AtomicUsize::new(1);
    let left_out = in_parallel(&kinds, |kind| {
        let found = left_out(&problem, evidence, &values, *kind);
        progress(1 + done.fetch_add(1, Ordering::Relaxed), all);
        found
    });
    let validated = left_out.into_iter().flatten().collect();
    let figures = intervals(&problem, &values);
    Fitted { bands: bands(evidence, &own, &validated), figures, values }
}

/// Fits the groups that `is_fitted` names, in their order.
fn fit_groups(
    problem: &Problem,
    mut values: Values,
    is_fitted: impl Fn(Group) -> bool,
    without: Option<Kind>,
) -> Values {
    for group in Group::ALL.into_iter().filter(|group| is_fitted(*group)) {
        values = problem.search(values, group, without);
    }
    values
}

/// Leaves the loads of `kind` out, fits again, and returns how far the prediction is from them. A group that these loads
/// do not decide keeps its fit.
fn left_out(problem: &Problem, evidence: &Evidence, whole: &Values, kind: Kind) -> Residuals {
    let mut values = start::values(evidence, Some(kind));
    let decided: Vec<Group> =
        Group::ALL.into_iter().filter(|group| problem.is_decided_by(*group, kind)).collect();
    // A figure that other loads decide too is found by these alone.
    let shares = |group: Group| {
        let both =
            |figure: &Figure| figure.is_in(group) && decided.iter().any(|of| figure.is_in(*of));
        FIGURES.iter().any(both)
    };
    let is_fitted = |group: Group| decided.contains(&group) || shares(group);
    for figure in &FIGURES {
        if !figure.groups.iter().any(|group| is_fitted(*group)) {
            values.set(figure.key, whole.get(figure.key));
        }
    }
    let values = fit_groups(problem, values, is_fitted, Some(kind));
    residuals(problem, &values, Some(kind))
}

/// Returns how far the drive of `values` is from the loads of `kind`, or of every kind.
fn residuals(problem: &Problem, values: &Values, kind: Option<Kind>) -> Residuals {
    let mut all = Residuals::new();
    let is_wanted = |_: Group, load: &Load| kind.is_none() || load.kind == kind;
    for (_, load, came) in problem.compared(values, is_wanted).unwrap_or_default() {
        let Some(kind) = load.kind else { continue };
        for (number, here, there) in pairs(load, &came) {
            all.entry((kind, number)).or_default().push((here / there).ln());
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
