//! The bounded search for the highest passing load.
//!
//! Every load that may be run is a step of the plan; the search selects the next one. It is a pure
//! function of the attempts so far, so an interrupted run resumes where it was.

use crate::statistics::histogram::Histogram;
use crate::units::Nanos;
use serde::{Deserialize, Serialize};

/// The search of a test: its phases, and the limits of a passing load.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Search {
    /// The phase of the short probes, one step per load, ascending.
    pub probes: usize,
    /// The phase of the attempts in full length, with the same loads.
    #[serde(rename = "trials")]
    pub attempts: usize,
    /// The phases that are repeated after a load that failed.
    pub recondition: Vec<usize>,
    /// The limits of a passing load.
    pub limits: Limits,
}

/// The limits of the latencies of the first stream, in every slice of a step: the pass criterion
/// of Aerospike ACT.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Limits {
    /// The length of a slice; a shorter step has one slice.
    pub slice: Nanos,
    /// Latencies with a share in percent: fewer reads than this share may exceed the latency.
    pub above: Vec<(Nanos, f64)>,
}

/// The result of a probe or of an attempt in full length.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Attempt {
    /// The index of the load.
    pub load: usize,
    /// Whether it passed.
    pub passed: bool,
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

/// Returns the next action among `rungs` loads in ascending order.
///
/// Probes double the index until one fails, then halve the gap (exponential search: Bentley and
/// Yao, 1976). The highest load whose probe passed is run in full length. Where it fails, attempts
/// step down by one load, then by two, by four, until one passes, and halve the gap above it. An
/// answer directly below costs one more attempt; one far below costs about twice the logarithm of
/// the number of loads, not one attempt per load.
///
/// `probes` and `trials` are the results so far, in any order.
pub fn next(rungs: usize, probes: &[Attempt], trials: &[Attempt]) -> Next {
    debug_assert!(
        probes.iter().chain(trials).all(|tried| tried.load < rungs),
        "every result is of a load of the search"
    );
    let passed = |tried: &&Attempt| tried.passed;
    let failed = |tried: &&Attempt| !tried.passed;
    let hard = |tried: &[Attempt]| tried.iter().filter(failed).map(|tried| tried.load).min();
    let best = trials.iter().filter(passed).map(|tried| tried.load).max();
    match (best, hard(trials)) {
        // The probe of the load above failed already.
        (Some(best), None) => return Next::Done(Some(best)),
        (Some(best), Some(hard)) if hard <= best + 1 => return Next::Done(Some(best)),
        (Some(best), Some(hard)) => return Next::Attempt(best + (hard - best) / 2),
        (None, Some(0)) => return Next::Done(None),
        (None, Some(hard)) => {
            // 2^31 exceeds the number of loads of every search; the clamp bounds the shift.
            let failures = trials.len().clamp(1, 32) as u32;
            return Next::Attempt(hard.saturating_sub(1 << (failures - 1)));
        }
        (None, None) => {}
    }
    // The loads below `from` pass, the load `to` fails.
    let to = hard(probes).unwrap_or(rungs);
    let from = probes.iter().filter(passed).map(|tried| tried.load + 1).max().unwrap_or(0).min(to);
    match (to - from, from) {
        (0, 0) => Next::Done(None),
        (0, from) => Next::Attempt(from - 1),
        (_, from) if to == rungs => Next::Probe((2 * from).min(rungs - 1)),
        (gap, from) => Next::Probe(from + gap / 2),
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

    /// Searches `rungs` loads whose probes pass below `probe` and whose attempts in full length pass
    /// below `full`; returns the result with the numbers of probes and attempts.
    fn search(rungs: usize, probe: usize, full: usize) -> (Option<usize>, usize, usize) {
        let (mut probes, mut trials) = (Vec::new(), Vec::new());
        loop {
            match next(rungs, &probes, &trials) {
                Next::Probe(load) => probes.push(Attempt { load, passed: load < probe }),
                Next::Attempt(load) => trials.push(Attempt { load, passed: load < full }),
                Next::Done(best) => return (best, probes.len(), trials.len()),
            }
            assert!(probes.len() + trials.len() <= 2 * rungs, "the search ends");
        }
    }

    #[test]
    fn the_highest_passing_load_is_found_at_every_index() {
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
    fn the_number_of_failed_attempts_is_logarithmic() {
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
    fn a_load_that_passes_only_as_a_probe_is_followed_by_lower_ones() {
        assert_eq!(search(30, 20, 17), (Some(16), search(30, 20, 20).1, 4));
        assert_eq!(search(30, 20, 0).0, None);
    }

    #[test]
    fn the_worst_slice_decides_and_a_share_at_the_limit_fails() {
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
