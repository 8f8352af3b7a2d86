//! A class of drives as the reference: the range that most of them have.

use crate::difference::{NOISE, Outcome, judge_by_range};

/// The minimum number of drives of a class that make a range. Chosen: two drives are two values, not a range.
pub const FEWEST: usize = 3;

/// The share of the drives below the range, and above it. Chosen: it holds the middle 80 %; with fewer
/// than ten drives it reaches from the minimum to the maximum.
const TAIL: f64 = 0.1;

/// Returns the range of `values`, one for each drive, by the nearest rank; `None` for fewer than [`FEWEST`].
pub fn range(mut values: Vec<f64>) -> Option<(f64, f64)> {
    values.sort_by(f64::total_cmp);
    let (n, below) = (values.len(), left_out(values.len()));
    (n >= FEWEST).then(|| (values[below], values[n - 1 - below]))
}

/// Returns how many of `drives` lie outside the range at each end, where all differ.
pub fn left_out(drives: usize) -> usize {
    (TAIL * drives as f64).floor() as usize
}

/// Judges a `value` by the `range` of its class. One near an end, within the noise between runs, is not beyond
/// it: [`crate::difference::judge`] would not tell them apart.
pub fn judge(value: f64, range: (f64, f64)) -> Outcome {
    judge_by_range(value, range, NOISE)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_range_needs_three_drives_and_leaves_a_tenth_of_them_out_at_each_end() {
        let of = |n: u32| range((1..=n).rev().map(f64::from).collect());
        assert_eq!(of(2), None);
        assert_eq!(of(3), Some((1.0, 3.0)));
        assert_eq!(of(9), Some((1.0, 9.0)));
        assert_eq!(of(10), Some((2.0, 9.0)));
        assert_eq!(of(20), Some((3.0, 18.0)));
    }
}
