//! The number of probes and attempts of a search: expected, and at most.

use super::drive_state::Effort;
use ssdgauge_core::search::{self, Attempt, Next, SearchRule, Tried};

/// The utilisation of the flash up to which a load is expected to pass. Chosen: latencies grow before the
/// flash is used up; the highest loads that passed on virtual drives used 50 to 60 %.
pub(super) const PASSING_UTILISATION: f64 = 0.55;

/// The loads that pass a probe, for each that passes in full length: three cases of equal weight. Chosen:
/// a probe ends before garbage collection is steady.
const PASSING_PROBES: [f64; 3] = [1.0, 1.04, 1.08];

/// The share of its time after which an attempt fails. Chosen: it ends as soon as it cannot pass.
const FAILING_SHARE: f64 = 0.5;

/// The trials that a search which repeats adds at most: one of each side of its answer, and two of a
/// neighbour where the trials of one load disagree. It ends with a second such load.
const MAX_REPEATED: f64 = 4.0;

/// The cost of each part of a search.
pub(super) struct Costs {
    /// The rule of the search.
    pub(super) rule: SearchRule,
    /// Whether the loads on both sides of the answer are tried again.
    pub(super) repeats: bool,
    /// Each load as a probe.
    pub(super) probes: Vec<Effort>,
    /// Each load in full length.
    pub(super) attempts: Vec<Effort>,
    /// The preparation before an attempt.
    pub(super) again: Effort,
}

/// Returns the expected cost of a search on a drive that passes the first `passing` loads in full length
/// and `in_probe` in a probe of the same state: the mean over the cases of probes.
pub(super) fn expected(costs: &Costs, passing: usize, in_probe: usize) -> Effort {
    if costs.attempts.is_empty() {
        return Effort::default();
    }
    let cases = PASSING_PROBES.map(|factor| costs.path(passing, (in_probe as f64 * factor).ceil()));
    let share = 1.0 / cases.len() as f64;
    cases.iter().fold(Effort::default(), |sum, case| sum.plus(case.times(share)))
}

/// Returns the largest cost of a search, by `quantity`, over every answer up to `passing` loads and every
/// first attempt at or above it: a load that passes in full length passes a probe as well.
pub(super) fn largest(costs: &Costs, passing: usize, quantity: impl Fn(&Effort) -> f64) -> Effort {
    let loads = costs.attempts.len();
    if loads == 0 {
        return Effort::default();
    }
    let worst = Worst { costs, passing, quantity };
    // Probes double the load up to the first failure and halve the gap: see `search::next`.
    let count = 2 * loads.next_power_of_two().ilog2() + 2;
    let probe = costs.probes.iter().copied().fold(Effort::default(), |a, b| worst.larger(a, b));
    let attempts = (0..loads).map(|first| worst.from(first));
    let attempts = attempts.fold(Effort::default(), |a, b| worst.larger(a, b));
    let repeated =
        costs.attempts.iter().copied().fold(Effort::default(), |a, b| worst.larger(a, b));
    let repeated = costs.again.plus(repeated).times(if costs.repeats { MAX_REPEATED } else { 0.0 });
    probe.times(f64::from(count)).plus(attempts).plus(repeated)
}

impl Costs {
    /// Returns the cost where the first `passing` loads pass in full length and `in_probe` in a probe.
    fn path(&self, passing: usize, in_probe: f64) -> Effort {
        let loads = self.attempts.len();
        let in_probe = in_probe as usize;
        let (mut probes, mut attempts) = (Tried::default(), Tried::default());
        let (mut sum, mut last) = (Effort::default(), None);
        // Twice the number of loads bounds every search.
        for _ in 0..=2 * loads {
            match search::next_after(self.rule, loads, probes, attempts) {
                Next::Probe(load) => {
                    probes = probes.and(Attempt { load, passed: load < in_probe });
                    sum = sum.plus(self.probes[load]);
                }
                Next::Attempt(load) => {
                    let passed = load < passing;
                    sum = sum.plus(self.again_after(last));
                    last = Some(Attempt { load, passed });
                    attempts = attempts.and(Attempt { load, passed });
                    let share = if passed { 1.0 } else { FAILING_SHARE };
                    sum = sum.plus(self.attempts[load].times(share));
                }
                Next::Done(_) => break,
            }
        }
        sum.plus(self.repeated(passing))
    }

    /// Returns the cost of the second trials of the highest passing load and of the one above it, where
    /// the first `passing` loads pass.
    fn repeated(&self, passing: usize) -> Effort {
        if !self.repeats {
            return Effort::default();
        }
        let below = passing.checked_sub(1).and_then(|load| self.attempts.get(load));
        let above = self.attempts.get(passing).map(|attempt| attempt.times(FAILING_SHARE));
        let each = below.copied().into_iter().chain(above);
        each.fold(Effort::default(), |sum, attempt| sum.plus(self.again).plus(attempt))
    }

    /// Returns the cost of the preparation between the `last` attempt and the next one.
    fn again_after(&self, last: Option<Attempt>) -> Effort {
        let is_needed = match self.rule {
            SearchRule::FromOneState => true,
            SearchRule::DownFromProbe => last.is_some_and(|last| !last.passed),
        };
        if is_needed { self.again } else { Effort::default() }
    }
}

/// The largest cost of the attempts, by a quantity.
struct Worst<'a, F: Fn(&Effort) -> f64> {
    costs: &'a Costs,
    /// The number of loads that can pass.
    passing: usize,
    quantity: F,
}

impl<F: Fn(&Effort) -> f64> Worst<'_, F> {
    /// Returns the largest cost of all attempts from `first` on; no load above it passes.
    fn from(&self, first: usize) -> Effort {
        let above = first + 1;
        let passed = Attempt { load: first, passed: true };
        let failed =
            (above < self.costs.attempts.len()).then_some(Attempt { load: above, passed: false });
        let probes = failed.iter().fold(Tried::default().and(passed), |all, one| all.and(*one));
        self.after((first, probes), Tried::default(), None)
    }

    /// Returns the largest cost of the attempts after those that were `tried`, of which `last` is the
    /// last one; `first` is the highest load that passed a probe. Each attempt narrows the search, so the
    /// depth is at most the number of loads.
    fn after(
        &self,
        (first, probes): (usize, Tried),
        tried: Tried,
        last: Option<Attempt>,
    ) -> Effort {
        let loads = self.costs.attempts.len();
        let Next::Attempt(load) = search::next_after(self.costs.rule, loads, probes, tried) else {
            return Effort::default();
        };
        let cost = self.costs.again_after(last).plus(self.costs.attempts[load]);
        let can_pass = load <= first && load < self.passing;
        let ends = [false, true].into_iter().filter(|passed| !passed || can_pass);
        let rest = ends.map(|passed| {
            let attempt = Attempt { load, passed };
            self.after((first, probes), tried.and(attempt), Some(attempt))
        });
        cost.plus(rest.fold(Effort::default(), |a, b| self.larger(a, b)))
    }

    fn larger(&self, one: Effort, other: Effort) -> Effort {
        match (self.quantity)(&one) < (self.quantity)(&other) {
            true => other,
            false => one,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Loads whose attempts take one second and whose probes take none.
    fn costs(loads: usize) -> Costs {
        let second = Effort { seconds: 1.0, ..Effort::default() };
        Costs {
            rule: SearchRule::FromOneState,
            repeats: false,
            probes: vec![Effort::default(); loads],
            attempts: vec![second; loads],
            again: Effort { seconds: 10.0, ..Effort::default() },
        }
    }

    #[test]
    fn a_drive_that_passes_every_load_needs_one_attempt_and_its_preparation() {
        assert_eq!(expected(&costs(300), 300, 300).seconds, 11.0);
        assert_eq!(expected(&costs(0), 0, 0).seconds, 0.0);
    }

    #[test]
    fn one_to_four_attempts_are_expected_where_probes_are_nearly_right() {
        for passing in [5, 15, 29, 41] {
            let attempts = expected(&costs(300), passing, passing).seconds / 11.0;
            assert!((1.0..4.0).contains(&attempts), "{passing}: {attempts}");
        }
    }

    #[test]
    fn both_sides_of_the_answer_are_tried_again() {
        let repeats = Costs { repeats: true, ..costs(300) };
        let added = |passing: usize| {
            let cost = |costs: &Costs| expected(costs, passing, passing).seconds;
            cost(&repeats) - cost(&costs(300))
        };
        // With their preparations of ten seconds; a failing trial takes half of its second.
        for (passing, seconds) in [(0, 10.5), (15, 21.5), (299, 21.5), (300, 11.0)] {
            assert!((added(passing) - seconds).abs() < 1e-9, "{passing}: {}", added(passing));
        }
        let bound = |costs: &Costs| largest(costs, 300, |cost| cost.seconds).seconds;
        assert!((bound(&repeats) - bound(&costs(300)) - 44.0).abs() < 1e-9);
    }

    #[test]
    fn the_bound_is_the_longest_path_over_all_answers() {
        for loads in [1, 2, 3, 10, 23, 40] {
            let costs = costs(loads);
            let bound = largest(&costs, loads, |cost| cost.seconds).seconds;
            let mut longest = 0.0_f64;
            for first in 0..loads {
                for passing in 0..=first + 1 {
                    let mut attempts = Vec::new();
                    let probes: Vec<Attempt> =
                        (0..loads).map(|load| Attempt { load, passed: load <= first }).collect();
                    while let Next::Attempt(load) =
                        search::next(costs.rule, loads, &probes, &attempts)
                    {
                        attempts.push(Attempt { load, passed: load < passing });
                    }
                    longest = longest.max(11.0 * attempts.len() as f64);
                }
            }
            assert_eq!(bound, longest, "{loads} loads");
        }
    }
}
