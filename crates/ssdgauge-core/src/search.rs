//! The bounded search for the highest load that a drive bears.
//!
//! Every load that may be tried is a step of the plan; the search only says which comes next. It
//! is a pure function of what was tried before, so a run that was cut off goes on where it was.

use crate::statistics::histogram::Histogram;
use crate::units::Nanos;
use serde::{Deserialize, Serialize};

/// A search in a test: the phases that it moves in, and when a load counts as borne.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Search {
    /// The phase of the short probes, one step for each load, ascending.
    pub probes: usize,
    /// The phase of the full trials, with the same loads.
    pub trials: usize,
    /// The phases that are carried out again after a load that was not borne.
    pub recondition: Vec<usize>,
    /// What a load has to meet.
    pub limits: Limits,
}

/// What the latencies of the first stream have to meet in every slice of a step.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Limits {
    /// The length of a slice; a step that is shorter has one.
    pub slice: Nanos,
    /// Latencies, and the share in percent of the reads that must stay below: the reads beyond
    /// the latency must be fewer.
    pub above: Vec<(Nanos, f64)>,
}

/// Whether a load was borne in a trial or a probe.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tried {
    /// The load, by its number.
    pub rung: usize,
    /// Whether it was borne.
    pub borne: bool,
}

/// What a search does next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Next {
    /// A short probe of a load.
    Probe(usize),
    /// A full trial of a load.
    Trial(usize),
    /// Nothing: this is the highest load that was borne in full; `None` where none was.
    Done(Option<usize>),
}

/// Returns what comes next among `rungs` loads, of which the higher ones are harder.
///
/// Probes double until one fails, then the gap is halved. The highest load that a probe bore is
/// tried in full. Where it fails, trials go down by one load, then by two, by four, until one is
/// borne, and halve the gap above it: an answer close below costs one trial more, and one far
/// below about twice the logarithm of the loads instead of a trial for each.
pub fn next(rungs: usize, probes: &[Tried], trials: &[Tried]) -> Next {
    let borne = |tried: &&Tried| tried.borne;
    let failed = |tried: &&Tried| !tried.borne;
    let hard = |tried: &[Tried]| tried.iter().filter(failed).map(|tried| tried.rung).min();
    let best = trials.iter().filter(borne).map(|tried| tried.rung).max();
    match (best, hard(trials)) {
        // The probes already said that the load above is not borne.
        (Some(best), None) => return Next::Done(Some(best)),
        (Some(best), Some(hard)) if hard <= best + 1 => return Next::Done(Some(best)),
        (Some(best), Some(hard)) => return Next::Trial(best + (hard - best) / 2),
        (None, Some(0)) => return Next::Done(None),
        (None, Some(hard)) => {
            let failures = trials.len().clamp(1, 32) as u32;
            return Next::Trial(hard.saturating_sub(1 << (failures - 1)));
        }
        (None, None) => {}
    }
    // The rungs below `from` are borne, the rung `to` is not.
    let to = hard(probes).unwrap_or(rungs);
    let from = probes.iter().filter(borne).map(|tried| tried.rung + 1).max().unwrap_or(0).min(to);
    match (to - from, from) {
        (0, 0) => Next::Done(None),
        (0, from) => Next::Trial(from - 1),
        (_, from) if to == rungs => Next::Probe((2 * from).min(rungs - 1)),
        (gap, from) => Next::Probe(from + gap / 2),
    }
}

impl Limits {
    /// Returns the largest share in percent beyond each latency, over all slices.
    pub fn worst(&self, slices: &[Histogram]) -> Vec<f64> {
        let share = |latency: Nanos| {
            let beyond = slices.iter().filter_map(|slice| slice.share_above(latency.0));
            beyond.fold(0.0, f64::max) * 100.0
        };
        self.above.iter().map(|(latency, _)| share(*latency)).collect()
    }

    /// Returns the first limit that `worst` breaks.
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

    /// Searches a ladder of `rungs` whose probes hold below `probe` and trials below `full`;
    /// returns the answer with the numbers of probes and trials.
    fn search(rungs: usize, probe: usize, full: usize) -> (Option<usize>, usize, usize) {
        let (mut probes, mut trials) = (Vec::new(), Vec::new());
        loop {
            match next(rungs, &probes, &trials) {
                Next::Probe(rung) => probes.push(Tried { rung, borne: rung < probe }),
                Next::Trial(rung) => trials.push(Tried { rung, borne: rung < full }),
                Next::Done(best) => return (best, probes.len(), trials.len()),
            }
            assert!(probes.len() + trials.len() <= 2 * rungs, "the search ends");
        }
    }

    #[test]
    fn the_highest_load_is_found_wherever_it_lies() {
        for rungs in 1..40 {
            for limit in 0..=rungs {
                let (best, probes, trials) = search(rungs, limit, limit);
                assert_eq!(best, limit.checked_sub(1), "{limit} of {rungs}");
                assert_eq!(trials, usize::from(limit > 0));
                let most = 2 * (rungs as f64).log2().ceil() as usize + 2;
                assert!(probes <= most, "{limit} of {rungs}: {probes} probes");
            }
        }
    }

    #[test]
    fn trials_that_fail_are_few_wherever_the_answer_lies() {
        for rungs in 1..60 {
            for probe in 0..=rungs {
                for full in 0..=probe {
                    let (best, _, trials) = search(rungs, probe, full);
                    assert_eq!(best, full.checked_sub(1), "{full} of {probe} of {rungs}");
                    let most = 2 * ((probe - full + 1) as f64).log2().ceil() as usize + 2;
                    assert!(trials <= most, "{full} of {probe} of {rungs}: {trials} trials");
                }
            }
        }
    }

    #[test]
    fn a_load_that_only_a_probe_bore_is_stepped_down_from() {
        assert_eq!(search(30, 20, 17), (Some(16), search(30, 20, 20).1, 4));
        assert_eq!(search(30, 20, 0).0, None);
    }

    #[test]
    fn the_worst_slice_decides_and_the_limit_itself_is_too_much() {
        let slice = |slow: u64| {
            let mut histogram = Histogram::default();
            (0..1_000 - slow).for_each(|_| histogram.record(100_000));
            (0..slow).for_each(|_| histogram.record(2_000_000));
            histogram
        };
        let limits =
            Limits { slice: Nanos::from_secs(3_600), above: vec![(Nanos(1_000_000), 5.0)] };
        let judge = |slices: &[Histogram]| limits.broken(&limits.worst(slices));
        assert_eq!(judge(&[slice(49), slice(10)]), None);
        assert_eq!(judge(&[slice(10), slice(50)]), Some((Nanos(1_000_000), 5.0)));
    }
}
