//! Lasting falls of the throughput of a fill: where they are, and the levels between them.
//!
//! A fall is an observation. The end of an SLC cache is one of its causes; nothing here decides which.

use crate::{summary, two_levels};
use serde::{Deserialize, Serialize};

/// The largest ratio of the throughput after the edge to the throughput before it. Chosen: smaller
/// falls are within what drives vary from second to second.
pub const FALL: f64 = 0.8;

/// The minimum number of samples after the edge. Chosen, so that a single slow sample is not an edge. There is no
/// minimum before it: a small cache is full within the first sample.
pub const FEWEST: usize = 3;

/// A lasting fall of the throughput.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Edge {
    /// The bytes written at the fall of the throughput.
    pub bytes: u64,
    /// The uncertainty of the edge in bytes, to either side: the samples around it.
    pub uncertainty: u64,
    /// The mean bytes of a sample before the edge, without the last one, which may contain the fall.
    pub before: f64,
    /// The mean bytes of a sample after the edge, without the first one, which may contain the fall.
    #[serde(rename = "behind")]
    pub after: f64,
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

/// A lasting fall with its place among the samples.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Fall {
    /// Where it is, and the levels before and after it.
    pub edge: Edge,
    /// The first sample of the level before it.
    pub start: usize,
    /// The number of samples before it.
    pub at: usize,
    /// The number of samples of the level before it: less than `at` for a fall in stages.
    pub from: usize,
    /// The first sample of the level after it: beyond `at` for a fall in stages.
    pub to: usize,
    /// The number of samples up to the end of the level after it: the next fall, or the last sample.
    pub end: usize,
}

/// Finds the first edge in `samples`, the bytes written in equal intervals; `None` where the throughput
/// has no lasting fall.
pub fn edge(samples: &[u64]) -> Option<Edge> {
    falls(samples).first().map(|fall| fall.edge)
}

/// Finds the lasting falls in `samples`, the bytes written in equal intervals, in their order: as many as
/// there are levels.
///
/// A fall is the split with the smallest sum of squares around the two means: the least-squares
/// estimate of a single change point (Hinkley 1970). The parts to either side are searched again
/// (binary segmentation, Scott and Knott 1974). A fall within the noise of the samples is none
/// (Student's t, 1 %), and a step between two levels that is smaller than [`FALL`] neither.
///
/// Samples next to a split that are of neither level are a stage of the fall, too short for a level of
/// its own: the edge is somewhere within all of them.
pub fn falls(samples: &[u64]) -> Vec<Fall> {
    let values: Vec<f64> = samples.iter().map(|sample| *sample as f64).collect();
    let mut places = Vec::new();
    search(&values, 0, values.len(), DEEPEST, &mut places);
    places.sort_unstable();
    // A level that a later split has divided may leave a step that is none.
    while let Some(number) = (0..places.len()).find(|number| {
        let (start, end) = around(&places, *number, values.len());
        levels(&values, start, places[*number], end)
            .is_none_or(|(before, after)| after > FALL * before)
    }) {
        places.remove(number);
    }
    let fall = |number: usize| {
        let at = places[number];
        let (start, end) = around(&places, number, values.len());
        let (from, to) = stages(&values, start, at, end);
        let (before, _) = levels(&values, start, from, end)?;
        let (_, after) = levels(&values, start, to, end)?;
        let (bytes, uncertainty) = place(samples, from, at, to);
        Some(Fall { edge: Edge { bytes, uncertainty, before, after }, start, at, from, to, end })
    };
    (0..places.len()).filter_map(fall).collect()
}

/// Returns the end of the level before the split `at`, and the start of that after it: without the samples
/// in between that are of neither, two or three to each side. A single one contains the change.
fn stages(values: &[f64], start: usize, at: usize, end: usize) -> (usize, usize) {
    let is_below = |count: &usize| {
        let Some(first) = at.checked_sub(*count).filter(|first| *first > start) else {
            return false;
        };
        let level = summary::mean(&values[start..first]);
        level.is_some_and(|level| values[first..at].iter().all(|value| *value <= FALL * level))
    };
    let is_above = |count: &usize| {
        let last = at + count;
        // What is left has to be a level itself.
        if last + FEWEST > end {
            return false;
        }
        let level = summary::mean(&values[last..end]);
        level.is_some_and(|level| values[at..last].iter().all(|value| FALL * value >= level))
    };
    // The longest first: of a stage of three samples, the two next to the split are one as well.
    let most = |is_stage: &dyn Fn(&usize) -> bool| (2..=FEWEST).rev().find(is_stage).unwrap_or(0);
    (at - most(&is_below), at + most(&is_above))
}

/// Returns the bytes until a fall and their uncertainty: it is within the last sample before the split
/// `at` or the first one after it, in stages within the samples around all of them.
fn place(samples: &[u64], from: usize, at: usize, to: usize) -> (u64, u64) {
    let until = |count: usize| samples[..count.min(samples.len())].iter().sum::<u64>();
    let (bytes, uncertainty) = (until(at), samples[at - 1].max(samples[at]));
    if from == to {
        return (bytes, uncertainty);
    }
    // The samples next to the stage may contain a part of the fall too.
    let (first, last) = (until(from - 1), until(to + 1));
    (first.midpoint(last), (last - first).div_ceil(2))
}

/// How many times a part is divided at most: 16 levels. Chosen; a drive has two to four.
const DEEPEST: u32 = 4;

/// Adds the splits of `values[start..end]` to `places`.
fn search(values: &[f64], start: usize, end: usize, depth: u32, places: &mut Vec<usize>) {
    let whole = &values[start..end];
    // The last sample before a later fall may contain a part of it: its noise hides a stage.
    let clear = if end < values.len() { whole.split_last().map(|(_, clear)| clear) } else { None };
    let found = split(whole).or_else(|| split(clear?));
    let Some(at) = found.map(|at| start + at) else { return };
    // A level between two falls has as many samples as one after the last; there is no minimum before
    // the first.
    let is_level = start == 0 || at >= start + FEWEST;
    if !is_level || depth == 0 {
        return;
    }
    places.push(at);
    search(values, start, at, depth - 1, places);
    // The first sample after a fall may contain a part of it.
    search(values, at + 1, end, depth - 1, places);
}

/// Returns the start of the level before the split with this `number`, and the end of that after it.
fn around(places: &[usize], number: usize, n: usize) -> (usize, usize) {
    let start = number.checked_sub(1).map_or(0, |before| places[before]);
    (start, places.get(number + 1).copied().unwrap_or(n))
}

/// Returns the means of the levels around the split `at`, without samples that may contain a fall.
fn levels(values: &[f64], start: usize, at: usize, end: usize) -> Option<(f64, f64)> {
    let start = if start > 0 && start + 2 < at { start + 1 } else { start };
    let (before, after) = two_levels::clear_of_the_change(&values[start..end], at - start);
    let after =
        if end < values.len() && after.len() > 1 { &after[..after.len() - 1] } else { after };
    Some((summary::mean(before)?, summary::mean(after)?))
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
        let (before, after) = (sum / left, (total - sum) / right);
        // Before the comparison of the squares: the best split of a rise must not hide a fall.
        if after > FALL * before {
            continue;
        }
        // The total sum of squares is constant, so the smallest one within the parts is the largest
        // one between the means.
        let between = left * right * (before - after).powi(2);
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
    fn three_levels_have_two_falls_with_the_levels_between_them() {
        for seed in 0..100 {
            let mut random = Random::new(seed, 4);
            let ends = [5 + random.below(40) as usize, 60 + random.below(80) as usize];
            let level = |at: usize| match at {
                at if at < ends[0] => 2_400e6,
                at if at < ends[1] => 900e6,
                _ => 300e6,
            };
            let samples: Vec<u64> =
                (0..200).map(|at| (level(at) * (0.95 + 0.1 * random.unit())) as u64).collect();
            let found = falls(&samples);
            let places: Vec<usize> = found.iter().map(|fall| fall.at).collect();
            assert_eq!(places, ends, "{seed}");
            let is_near = |value: f64, level: f64| (value / level - 1.0).abs() < 0.03;
            assert!(is_near(found[0].edge.after, 900e6), "{seed}: {found:?}");
            assert!(is_near(found[1].edge.before, 900e6), "{seed}: {found:?}");
            assert_eq!((found[0].end, found[1].start, found[1].end), (ends[1], ends[0], 200));
        }
    }

    #[test]
    fn the_place_of_a_fall_in_stages_contains_its_beginning_and_its_end() {
        // A cache ends within the first sample, and borrowed space is given back until the fourth one.
        let short = [867, 501, 467, 136, 90, 90, 91, 90, 90, 90, 89, 90];
        let found = falls(&short);
        assert_eq!(found.len(), 1, "{found:?}");
        let edge = found[0].edge;
        assert!(edge.bytes <= edge.uncertainty, "the first sample may contain it: {edge:?}");
        assert!((1_835..=1_972).contains(&(edge.bytes + edge.uncertainty)), "{edge:?}");
        assert_eq!((edge.before, found[0].from, found[0].to), (867.0, 1, 3));
        assert!((edge.after - 90.0).abs() < 1.0, "{edge:?}");
        // Stages before a level that are longer than a sample, at each place of the first change.
        for first in 5..20_usize {
            for stage in 2..=FEWEST {
                let samples = [vec![2_400; first], vec![1_500; stage], vec![700; 40]].concat();
                let ends = [2_400 * first as u64, (2_400 * first + 1_500 * stage) as u64];
                for fall in falls(&samples) {
                    let Edge { bytes, uncertainty, before, after } = fall.edge;
                    let holds = |end: u64| bytes.abs_diff(end) <= uncertainty;
                    let is_both = holds(ends[0]) && holds(ends[1]);
                    let is_stage = before == 1_500.0 || after == 1_500.0;
                    assert!(is_both || is_stage, "{first} {stage}: {fall:?}");
                }
            }
        }
    }

    #[test]
    fn a_mixed_sample_before_a_second_fall_does_not_hide_the_first_one() {
        let samples = [[636, 467, 472, 472, 478, 325].as_slice(), &[57; 20]].concat();
        let found = falls(&samples);
        assert_eq!(found.len(), 2, "{found:?}");
        assert_eq!(found[0].edge.before, 636.0);
        // By the drive, its cache ended at 477.
        assert!(found[0].edge.bytes.abs_diff(477) <= found[0].edge.uncertainty, "{found:?}");
        assert!((found[1].edge.before - 473.0).abs() < 3.0, "{found:?}");
        assert_eq!(found[1].edge.after, 57.0);
    }

    #[test]
    fn a_sample_that_contains_the_change_is_not_a_level() {
        let samples = [vec![2_400; 20], vec![1_500], vec![700; 60]].concat();
        assert_eq!(falls(&samples).len(), 1);
        assert_eq!(falls(&[700; 50]), []);
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
