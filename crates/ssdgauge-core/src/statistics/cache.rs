//! The end of the SLC cache: the first lasting fall of the throughput of a fill.

use crate::Bytes;
use crate::statistics::{summary, two_levels};
use serde::{Deserialize, Serialize};

/// The largest ratio of the throughput after the edge to the throughput before it. Chosen: a smaller
/// fall does not show a cache.
pub const FALL: f64 = 0.8;

/// The fewest samples after the edge. Chosen, so that a single slow sample is no edge. There is no
/// minimum before it: a small cache is full within the first sample.
pub const FEWEST: usize = 3;

/// The end of an SLC cache.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Edge {
    /// The bytes written at the fall of the throughput.
    pub bytes: u64,
    /// The uncertainty of the edge in bytes, to either side: the samples around it.
    pub uncertainty: u64,
    /// The mean bytes of a sample before the edge, without the last one, which may contain the fall.
    pub before: f64,
    /// The mean bytes of a sample after the edge, without the first one, which may contain the fall.
    pub behind: f64,
}

impl Edge {
    /// Returns the position of the edge in words; `show` formats a number of bytes.
    pub fn in_words(&self, show: impl Fn(u64) -> String) -> String {
        match self.bytes.checked_sub(self.uncertainty) {
            Some(1..) => format!("{} ± {}", show(self.bytes), show(self.uncertainty)),
            // The uncertainty includes zero: only an upper bound is known.
            Some(0) | None => format!("at most {}", show(self.bytes + self.uncertainty)),
        }
    }

    /// Returns the position of the edge in three digits with its unit: `2.73 ± 0.49 GB`, or
    /// `at most 4.72 GB`.
    pub fn about(&self) -> String {
        match self.is_bounded_below() {
            true => Bytes(self.bytes).about_within(Bytes(self.uncertainty)),
            false => self.in_words(|bytes| Bytes(bytes).about()),
        }
    }

    /// Returns the mean before the edge in words; `show` formats it. Where the edge is within the first
    /// samples, the one before it may contain a part of the fall: the mean is a lower bound.
    pub fn before_in_words(&self, show: impl Fn(f64) -> String) -> String {
        match self.is_bounded_below() {
            true => show(self.before),
            false => format!("at least {}", show(self.before)),
        }
    }

    /// Returns whether more than an upper bound is known: the uncertainty excludes zero.
    pub fn is_bounded_below(&self) -> bool {
        self.bytes > self.uncertainty
    }
}

/// Finds the edge in `samples`, the bytes written in equal intervals; `None` where the throughput
/// has no lasting fall.
///
/// The edge is the split with the smallest sum of squares around the two means: the least-squares
/// estimate of a single change point (Hinkley 1970; binary segmentation, Scott and Knott 1974).
/// Where there is a second fall, such as folding after the cache, the best split may be that one:
/// the part before it is searched once more. A fall within the noise of the samples is none
/// (Student's t, 1 %).
pub fn edge(samples: &[u64]) -> Option<Edge> {
    let values: Vec<f64> = samples.iter().map(|sample| *sample as f64).collect();
    let first = split(&values)?;
    let at = split(&values[..first]).unwrap_or(first);
    let bytes: u64 = samples[..at].iter().sum();
    // The fall is within the last sample before the split or the first one after it.
    let uncertainty = samples[at - 1].max(samples[at]);
    let (before, behind) = two_levels::clear_of_the_change(&values, at);
    let (before, behind) = (summary::mean(before)?, summary::mean(behind)?);
    Some(Edge { bytes, uncertainty, before, behind })
}

/// Returns the number of samples before the best split; `None` where none falls to [`FALL`].
fn split(samples: &[f64]) -> Option<usize> {
    let n = samples.len();
    if n <= FEWEST {
        return None;
    }
    let total: f64 = samples.iter().sum();
    let mut sum = 0.0;
    let mut best: Option<(f64, usize)> = None;
    for (index, sample) in samples.iter().enumerate().take(n - FEWEST) {
        sum += sample;
        let (left, right) = ((index + 1) as f64, (n - index - 1) as f64);
        let (before, behind) = (sum / left, (total - sum) / right);
        if behind > FALL * before {
            continue;
        }
        // The total sum of squares is constant, so the smallest one within the parts is the largest
        // one between the means.
        let between = left * right * (before - behind).powi(2);
        if best.is_none_or(|(most, _)| between > most) {
            best = Some((between, index + 1));
        }
    }
    best.map(|(_, at)| at).filter(|at| two_levels::differ(samples, *at))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;

    #[test]
    fn the_edge_of_a_noisy_fill_is_found_within_a_sample() {
        for seed in 0..100 {
            let mut random = Random::new(seed, 0);
            let edge_at = 5 + random.below(40) as usize;
            let level = |at: usize| if at < edge_at { 2_400e6 } else { 700e6 };
            let samples: Vec<u64> =
                (0..200).map(|at| (level(at) * (0.9 + 0.2 * random.unit())) as u64).collect();
            let truth: u64 = samples[..edge_at].iter().sum();
            let found = edge(&samples).unwrap();
            assert!(found.bytes.abs_diff(truth) <= found.uncertainty, "{seed}: {found:?} {truth}");
        }
    }

    #[test]
    fn of_two_falls_the_first_is_the_edge() {
        let samples: Vec<u64> = [vec![2_400; 20], vec![900; 60], vec![300; 120]].concat();
        assert_eq!(edge(&samples).unwrap().bytes, 48_000);
    }

    #[test]
    fn an_edge_within_the_first_samples_has_no_lower_bound() {
        let words = |samples: &[u64]| edge(samples).unwrap().in_words(|bytes| bytes.to_string());
        assert_eq!(words(&[2_400, 900, 900, 900, 900]), "at most 4800");
        assert_eq!(words(&[2_400, 2_400, 900, 900, 900, 900]), "4800 ± 2400");
        let before =
            |samples: &[u64]| edge(samples).unwrap().before_in_words(|one| one.to_string());
        assert_eq!(before(&[1_925, 719, 719, 719, 719]), "at least 1925");
        assert_eq!(before(&[2_267, 2_267, 1_100, 719, 719, 719, 719]), "2267");
    }

    #[test]
    fn a_constant_fill_has_no_edge() {
        assert_eq!(edge(&[500; 100]), None);
        assert_eq!(edge(&[500, 100, 100]), None);
    }
}
