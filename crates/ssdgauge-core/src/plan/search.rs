//! The bounded search for the highest passing load.
//!
//! Every load that may be run is a step of the plan; the search selects the next one. It is a pure
//! function of the attempts so far, so an interrupted run resumes where it was.

use crate::sample::Direction;
use crate::units::Nanos;
use crate::workload::{Stream, Workload};
use serde::{Deserialize, Serialize};
use ssdgauge_statistics::histogram::Histogram;

/// The search of a test: its phases, and the limits of a passing load.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Search {
    /// The phase of the short probes, one step per load, ascending.
    pub probes: usize,
    /// The phase of the attempts in full length, with the same loads.
    #[serde(rename = "trials")]
    pub attempts: usize,
    /// The phases that prepare the drive again.
    pub recondition: Vec<usize>,
    /// The limits of a passing load.
    pub limits: Limits,
    /// The rule of the search.
    #[serde(default)]
    pub rule: SearchRule,
    /// Whether the loads on both sides of the answer are tried again at the end. False in run files of
    /// older programs.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub repeats: bool,
}

/// The trials of a load that has to be certain, see [`Search::repeats`].
pub const TRIALS: usize = 2;

/// The loads whose trials disagree after which a search that repeats ends: the answer is a range, which
/// further trials would not make narrower.
const MAX_DISAGREEING: usize = 2;

impl Search {
    /// Returns the next action among `loads` loads in ascending order; `probes` and `attempts` are the
    /// results so far, in any order.
    ///
    /// After the search for the answer, the highest passing load and the one above it are tried again
    /// where the search [repeats](Search::repeats). Where two trials of one load disagree, its neighbour
    /// is tried, until both ends of the answer are certain.
    pub fn next(&self, loads: usize, probes: &[Attempt], attempts: &[Attempt]) -> Next {
        match next(self.rule, loads, probes, attempts) {
            Next::Done(_) if self.repeats && loads > 0 => repeated(loads, attempts),
            other @ (Next::Done(_) | Next::Probe(_) | Next::Attempt(_)) => other,
        }
    }
}

/// Returns the next repetition of a search whose `attempts` have an answer.
fn repeated(loads: usize, attempts: &[Attempt]) -> Next {
    let count = |load: usize, passed: bool| {
        attempts.iter().filter(|one| one.load == load && one.passed == passed).count()
    };
    let disagree = |load: &usize| count(*load, true) > 0 && count(*load, false) > 0;
    let highest = attempts.iter().filter(|one| one.passed).map(|one| one.load).max();
    let above = highest.map_or(0, |load| load + 1);
    let mut certain = highest.filter(|load| !disagree(load));
    if highest.is_some() && certain.is_none() {
        certain = (0..above).rev().find(|load| !disagree(load) && count(*load, false) == 0);
    }
    if (0..loads).filter(disagree).count() >= MAX_DISAGREEING {
        let tried = |load: &usize| count(*load, true) > 0 && count(*load, false) == 0;
        return Next::Done((0..above).rev().find(tried));
    }
    match certain {
        Some(load) if count(load, true) < TRIALS => Next::Attempt(load),
        _ if above < loads && count(above, false) < TRIALS => Next::Attempt(above),
        Some(_) | None => Next::Done(certain),
    }
}

/// The rule of a search.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SearchRule {
    /// Attempts step down from the highest passing probe; the drive is prepared again after each
    /// load that failed. The answer depends on the path. The rule of run files of format 1.
    #[default]
    DownFromProbe,
    /// Every attempt begins with the preparation, so all loads are tried in one state. Attempts step
    /// up and down until the highest passing load has a failing one above it; a probe only selects
    /// the first attempt.
    FromOneState,
}

/// The limits of the latencies of one stream and direction, in every slice of a step: the pass
/// criterion of Aerospike ACT, which judges reads.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Limits {
    /// The length of a slice; a shorter step has one slice.
    pub slice: Nanos,
    /// Latencies with a share in percent: fewer requests than this share may exceed the latency.
    pub above: Vec<(Nanos, f64)>,
    /// The requests that are judged.
    #[serde(default, skip_serializing_if = "Judged::is_default")]
    pub of: Judged,
}

/// The requests whose latencies decide whether a load passes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Judged {
    /// The number of their stream in its workload, from 0.
    pub stream: u16,
    /// Their direction.
    pub direction: Direction,
}

impl Default for Judged {
    /// Returns the reads of the first stream, the rule of Aerospike ACT.
    fn default() -> Judged {
        Judged { stream: 0, direction: Direction::Read }
    }
}

impl Judged {
    fn is_default(&self) -> bool {
        *self == Judged::default()
    }

    /// Returns the stream of `workload` whose requests are judged; `None` where it has none, or one
    /// that does not send them.
    pub fn stream_of(self, workload: &Workload) -> Option<&Stream> {
        let stream = workload.streams.get(usize::from(self.stream))?;
        stream.sends(self.direction).then_some(stream)
    }

    /// Returns the requests in words, such as `writes` or `flushes of stream 'commits'`; the first stream
    /// is not named.
    pub fn words(self, workload: &Workload) -> String {
        let requests = self.direction.requests();
        match workload.streams.get(usize::from(self.stream)) {
            Some(stream) if self.stream > 0 => format!("{requests} of stream '{}'", stream.name),
            Some(_) | None => requests.to_owned(),
        }
    }
}

/// The result of a probe or of an attempt in full length.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Attempt {
    /// The index of the load.
    pub load: usize,
    /// Whether it passed.
    pub passed: bool,
}

/// What the results so far decide of a search, whatever their order.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tried {
    highest_passing: Option<usize>,
    lowest_failing: Option<usize>,
    number: usize,
}

impl Tried {
    /// Returns the same with one more result.
    #[must_use]
    pub fn and(self, attempt: Attempt) -> Tried {
        let Attempt { load, passed } = attempt;
        let number = self.number + 1;
        match passed {
            true => Tried { highest_passing: self.highest_passing.max(Some(load)), number, ..self },
            false => {
                let lowest = self.lowest_failing.map_or(load, |lowest| lowest.min(load));
                Tried { lowest_failing: Some(lowest), number, ..self }
            }
        }
    }
}

impl<'a> FromIterator<&'a Attempt> for Tried {
    fn from_iter<T: IntoIterator<Item = &'a Attempt>>(attempts: T) -> Tried {
        attempts.into_iter().fold(Tried::default(), |tried, attempt| tried.and(*attempt))
    }
}

/// The next action of a search.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Next {
    /// A short probe of a load.
    Probe(usize),
    /// An attempt in full length.
    Attempt(usize),
    /// None: the search ended with this highest passing load; `None` where all failed.
    Done(Option<usize>),
}

/// Returns the next action among `loads` loads in ascending order by `rule`; `probes` and `attempts`
/// are the results so far, in any order.
///
/// The number of attempts is about twice the logarithm of the distance between the first attempt
/// and the answer (exponential search: Bentley and Yao, 1976), not one for each load.
pub fn next(rule: SearchRule, loads: usize, probes: &[Attempt], attempts: &[Attempt]) -> Next {
    debug_assert!(
        probes.iter().chain(attempts).all(|tried| tried.load < loads),
        "every result is of a load of the search"
    );
    next_after(rule, loads, probes.iter().collect(), attempts.iter().collect())
}

/// Returns the next action as [`next`] does.
pub fn next_after(rule: SearchRule, loads: usize, probes: Tried, attempts: Tried) -> Next {
    match (attempts.highest_passing, attempts.lowest_failing) {
        (Some(best), Some(hard)) if hard <= best + 1 => Next::Done(Some(best)),
        (Some(best), Some(hard)) => Next::Attempt(best + (hard - best) / 2),
        (Some(best), None) => match rule {
            // The probe of the load above failed already.
            SearchRule::DownFromProbe => Next::Done(Some(best)),
            SearchRule::FromOneState if best + 1 == loads => Next::Done(Some(best)),
            SearchRule::FromOneState => {
                Next::Attempt((best + stride(attempts.number)).min(loads - 1))
            }
        },
        (None, Some(0)) => Next::Done(None),
        (None, Some(hard)) => Next::Attempt(hard.saturating_sub(stride(attempts.number))),
        (None, None) => next_probe(rule, loads, probes),
    }
}

/// Returns the distance to the next attempt while all `tried` ones passed, or all failed: one load,
/// then two, then four.
fn stride(tried: usize) -> usize {
    // 2^31 exceeds the number of loads of every search; the clamp bounds the shift.
    1 << (tried.clamp(1, 32) as u32 - 1)
}

/// Returns the next probe, or the first attempt after the last probe: probes double the index until
/// one fails, then halve the gap.
fn next_probe(rule: SearchRule, loads: usize, probes: Tried) -> Next {
    // The loads below `from` pass, the load `to` fails.
    let to = probes.lowest_failing.unwrap_or(loads);
    let from = probes.highest_passing.map_or(0, |load| load + 1).min(to);
    // A probe only selects the first attempt: within a sixteenth, an attempt says more.
    let is_near = match rule {
        SearchRule::DownFromProbe => to == from,
        SearchRule::FromOneState => to - from <= from / 16,
    };
    match (is_near, from) {
        (true, 0) => match rule {
            SearchRule::DownFromProbe => Next::Done(None),
            SearchRule::FromOneState => Next::Attempt(0),
        },
        (true, from) => Next::Attempt(from - 1),
        (false, from) if to == loads => Next::Probe((2 * from).min(loads - 1)),
        (false, from) => Next::Probe(from + (to - from) / 2),
    }
}

impl Limits {
    /// Returns the largest share in percent above each latency, over all slices.
    pub fn worst(&self, slices: &[Histogram]) -> Vec<f64> {
        let share = |latency: Nanos| {
            let above = slices.iter().filter_map(|slice| slice.share_above(latency.0));
            above.fold(0.0, f64::max) * 100.0
        };
        self.above.iter().map(|(latency, _)| share(*latency)).collect()
    }

    /// Returns the first latency whose limit `worst` reaches, with the share.
    pub fn broken(&self, worst: &[f64]) -> Option<(Nanos, f64)> {
        self.above
            .iter()
            .zip(worst)
            .find(|((_, allowed), share)| *share >= allowed)
            .map(|((latency, _), share)| (*latency, *share))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Searches `loads` loads whose probes pass below `probe` and whose attempts in full length pass
    /// below `full`; returns the result with the numbers of probes and attempts.
    fn search(
        rule: SearchRule,
        loads: usize,
        probe: usize,
        full: usize,
    ) -> (Option<usize>, usize, usize) {
        let (mut probes, mut attempts) = (Vec::new(), Vec::new());
        loop {
            match next(rule, loads, &probes, &attempts) {
                Next::Probe(load) => probes.push(Attempt { load, passed: load < probe }),
                Next::Attempt(load) => attempts.push(Attempt { load, passed: load < full }),
                Next::Done(best) => return (best, probes.len(), attempts.len()),
            }
            assert!(probes.len() + attempts.len() <= 2 * loads + 1, "the search ends");
        }
    }

    #[test]
    fn every_answer_is_found_whatever_the_probes_say() {
        for loads in 1..60 {
            for probe in 0..=loads {
                for full in 0..=loads {
                    let (best, probes, attempts) =
                        search(SearchRule::FromOneState, loads, probe, full);
                    assert_eq!(best, full.checked_sub(1), "{full} of {probe} of {loads}");
                    let most = 2 * (loads as f64).log2().ceil() as usize + 2;
                    assert!(probes <= most, "{probe} of {loads}: {probes} probes");
                    // The first attempt lies within a sixteenth of the probes' answer.
                    let far = (probe.abs_diff(full) + loads / 16 + 1) as f64;
                    let most = 2 * far.log2().ceil() as usize + 3;
                    assert!(attempts <= most, "{full} of {probe} of {loads}: {attempts}");
                }
            }
        }
    }

    #[test]
    fn an_answer_needs_a_passing_attempt_and_a_failing_one_above_it() {
        let (best, _, attempts) = search(SearchRule::FromOneState, 300, 15, 15);
        assert_eq!((best, attempts), (Some(14), 2));
        assert_eq!(search(SearchRule::FromOneState, 300, 300, 300).0, Some(299));
    }

    /// Searches 20 loads that repeat, whose trials pass by `passes`, which takes the load and the number
    /// of the trial; returns the loads that passed each trial and those that passed any, the highest of
    /// both, and the attempts.
    fn repeats(
        passes: impl Fn(usize, usize) -> bool,
    ) -> (Option<usize>, Option<usize>, Vec<Attempt>) {
        let limits = Limits { slice: Nanos::SECOND, above: Vec::new(), of: Judged::default() };
        let search = Search {
            probes: 0,
            attempts: 1,
            recondition: Vec::new(),
            limits,
            rule: SearchRule::FromOneState,
            repeats: true,
        };
        let (mut probes, mut attempts): (Vec<Attempt>, Vec<Attempt>) = (Vec::new(), Vec::new());
        loop {
            match search.next(20, &probes, &attempts) {
                Next::Probe(load) => probes.push(Attempt { load, passed: passes(load, 0) }),
                Next::Attempt(load) => {
                    let trial = attempts.iter().filter(|one| one.load == load).count();
                    assert!(trial < TRIALS, "load {load} is tried {TRIALS} times at most");
                    attempts.push(Attempt { load, passed: passes(load, trial) });
                }
                Next::Done(low) => {
                    let high = attempts.iter().filter(|one| one.passed).map(|one| one.load).max();
                    return (low, high, attempts);
                }
            }
            assert!(probes.len() + attempts.len() < 60, "the search ends");
        }
    }

    #[test]
    fn a_search_that_repeats_tries_both_sides_of_its_answer_twice() {
        for passing in 0..=20 {
            let (low, high, attempts) = repeats(|load, _| load < passing);
            let expected = passing.checked_sub(1);
            assert_eq!((low, high), (expected, expected), "{passing}");
            let tried = |load: usize| attempts.iter().filter(|one| one.load == load).count();
            let sides = expected.into_iter().chain((passing < 20).then_some(passing));
            assert!(sides.clone().all(|load| tried(load) == TRIALS), "{passing}: {attempts:?}");
        }
    }

    #[test]
    fn loads_whose_trials_disagree_are_between_the_ends_of_the_answer() {
        // One load passes only one of its two trials.
        for odd in 0..20 {
            for trial in [0, 1] {
                let (low, high, _) = repeats(|load, now| load < odd || load == odd && now == trial);
                assert_eq!((low, high), (odd.checked_sub(1), Some(odd)), "{odd}, trial {trial}");
            }
        }
        // Every load from 5 on passes each other trial: the search still ends.
        let (low, high, attempts) = repeats(|load, now| load < 5 || now % 2 == 1);
        assert!(low < high && attempts.len() < 20, "{low:?} {high:?} {attempts:?}");
    }

    #[test]
    fn random_loads_are_judged_by_all_of_their_trials() {
        let mut random = ssdgauge_statistics::Random::new(43, 2);
        for _ in 0..2_000 {
            // Around the limit, the outcome is left to chance.
            let limit = random.below(20) as usize;
            let outcomes: Vec<[bool; TRIALS]> =
                (0..20).map(|_| [(); TRIALS].map(|()| random.below(2) == 0)).collect();
            let passes = |load: usize, trial: usize| match load.abs_diff(limit) {
                0 | 1 => outcomes[load][trial],
                _ => load < limit,
            };
            let (low, high, attempts) = repeats(passes);
            let of = |load: usize| attempts.iter().filter(move |one| one.load == load);
            assert!(low <= high);
            assert!(low.is_none_or(|low| of(low).all(|one| one.passed)), "{attempts:?}");
            // What the answer does not contain has no doubt.
            let above = high.map_or(0, |high| high + 1);
            assert!(above == 20 || of(above).all(|one| !one.passed), "{attempts:?}");
        }
    }

    #[test]
    fn the_rule_of_format_1_is_unchanged() {
        let down = |probe, full| search(SearchRule::DownFromProbe, 30, probe, full);
        for limit in 0..=30 {
            let (best, probes, attempts) = down(limit, limit);
            assert_eq!((best, attempts), (limit.checked_sub(1), usize::from(limit > 0)));
            assert!(probes <= 12, "{limit}: {probes} probes");
        }
        assert_eq!((down(20, 17).0, down(20, 17).2), (Some(16), 4));
        assert_eq!(down(20, 0).0, None);
        // A stored plan without a rule has this one.
        assert_eq!(SearchRule::default(), SearchRule::DownFromProbe);
    }

    #[test]
    fn the_worst_slice_decides_and_a_share_at_the_limit_fails() {
        let slice = |slow: u64| {
            let mut histogram = Histogram::default();
            (0..1_000 - slow).for_each(|_| histogram.record(100_000));
            (0..slow).for_each(|_| histogram.record(2_000_000));
            histogram
        };
        let limits = Limits {
            slice: Nanos::from_secs(3_600),
            above: vec![(Nanos(1_000_000), 5.0)],
            of: Judged::default(),
        };
        let judge = |slices: &[Histogram]| limits.broken(&limits.worst(slices));
        assert_eq!(judge(&[slice(49), slice(10)]), None);
        assert_eq!(judge(&[slice(10), slice(50)]), Some((Nanos(1_000_000), 5.0)));
    }
}
