//! The number of probes and attempts of a search: expected, and at most.

use super::drive_state::Effort;
use ssdgauge_core::search::{self, Attempt, Next, SearchRule};

/// The utilisation up to which a load is expected to pass. Chosen: latencies grow before a resource is
/// used up; the highest loads that passed on virtual drives used 50 to 60 %.
pub(super) const PASSING_UTILISATION: f64 = 0.55;

/// The loads that pass a probe, for each that passes in full length: three cases of equal weight. Chosen:
/// a probe ends before garbage collection is steady.
const PASSING_PROBES: [f64; 3] = [1.0, 1.04, 1.08];

/// The share of its time after which an attempt fails. Chosen: it ends as soon as it cannot pass.
const FAILING_SHARE: f64 = 0.5;

/// The cost of each part of a search.
pub(super) struct Costs {
    /// The rule of the search.
    pub(super) rule: SearchRule,
    /// Each load as a probe.
    pub(super) probes: Vec<Effort>,
    /// Each load in full length.
    pub(super) attempts: Vec<Effort>,
    /// The preparation before an attempt.
    pub(super) again: Effort,
}

/// Returns the expected cost of a search on a drive that passes the first `passing` loads: the mean over
/// the cases of probes.
pub(super) fn expected(costs: &Costs, passing: usize) -> Effort {
    let cases = PASSING_PROBES.map(|factor| costs.path(passing, (passing as f64 * factor).ceil()));
    let share = 1.0 / cases.len() as f64;
    cases.iter().fold(Effort::default(), |sum, case| sum.plus(case.times(share)))
}

/// Returns the largest cost of a search, by `figure`, over every answer up to `passing` loads and every
/// first attempt at or above it: a load that passes in full length passes a probe as well.
pub(super) fn largest(costs: &Costs, passing: usize, figure: impl Fn(&Effort) -> f64) -> Effort {
    let loads = costs.attempts.len();
    if loads == 0 {
        return Effort::default();
    }
    let larger = |one: Effort, other: Effort| match figure(&one) < figure(&other) {
        true => other,
        false => one,
    };
    // Probes double the load up to the first failure and halve the gap: see `search::next`.
    let count = 2 * loads.next_power_of_two().ilog2() + 2;
    let probe = costs.probes.iter().copied().fold(Effort::default(), larger);
    let answers = |first: usize| (0..=passing.min(first + 1)).map(move |answer| (first, answer));
    let attempts = (0..loads).flat_map(answers);
    let attempts = attempts.map(|(first, answer)| costs.attempts_from(first, answer));
    probe.times(f64::from(count)).plus(attempts.fold(Effort::default(), larger))
}

impl Costs {
    /// Returns the cost where the first `passing` loads pass in full length and `in_probe` in a probe.
    fn path(&self, passing: usize, in_probe: f64) -> Effort {
        let loads = self.attempts.len();
        let in_probe = in_probe as usize;
        let (mut probes, mut attempts) = (Vec::new(), Vec::new());
        let mut sum = Effort::default();
        // Twice the number of loads bounds every search.
        for _ in 0..=2 * loads {
            match search::next(self.rule, loads, &probes, &attempts) {
                Next::Probe(load) => {
                    probes.push(Attempt { load, passed: load < in_probe });
                    sum = sum.plus(self.probes[load]);
                }
                Next::Attempt(load) => {
                    let passed = load < passing;
                    sum = sum.plus(self.again_before(&attempts));
                    attempts.push(Attempt { load, passed });
                    let share = if passed { 1.0 } else { FAILING_SHARE };
                    sum = sum.plus(self.attempts[load].times(share));
                }
                Next::Done(_) => break,
            }
        }
        sum
    }

    /// Returns the cost of all attempts where `first` is the first one, and the first `passing` loads
    /// pass.
    fn attempts_from(&self, first: usize, passing: usize) -> Effort {
        let loads = self.attempts.len();
        let judged = |load: usize, passed: bool| (load < loads).then_some(Attempt { load, passed });
        let probes: Vec<Attempt> =
            judged(first, true).into_iter().chain(judged(first + 1, false)).collect();
        let mut attempts = Vec::new();
        let mut sum = Effort::default();
        for _ in 0..=loads {
            let Next::Attempt(load) = search::next(self.rule, loads, &probes, &attempts) else {
                break;
            };
            sum = sum.plus(self.again_before(&attempts)).plus(self.attempts[load]);
            attempts.push(Attempt { load, passed: load < passing });
        }
        sum
    }

    /// Returns the cost of the preparation before the next attempt.
    fn again_before(&self, attempts: &[Attempt]) -> Effort {
        let is_needed = match self.rule {
            SearchRule::FromOneState => true,
            SearchRule::DownFromProbe => attempts.last().is_some_and(|last| !last.passed),
        };
        if is_needed { self.again } else { Effort::default() }
    }
}
