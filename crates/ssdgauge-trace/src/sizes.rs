//! The lengths of the requests of a trace, in bounded memory.

use std::collections::BTreeMap;

/// The most different lengths that are counted by themselves.
const MAX_LENGTHS: usize = 4_096;

/// Counts of lengths.
#[derive(Default)]
pub(crate) struct Sizes {
    counts: BTreeMap<u64, u64>,
    /// Requests of lengths beyond the most.
    others: u64,
}

impl Sizes {
    pub(crate) fn add(&mut self, length: u64) {
        let known = self.counts.len();
        match self.counts.get_mut(&length) {
            Some(count) => *count += 1,
            None if known < MAX_LENGTHS => {
                self.counts.insert(length, 1);
            }
            None => self.others += 1,
        }
    }

    /// Returns the most frequent lengths with their counts, at most `most` of them, and the count of all
    /// other requests.
    pub(crate) fn most_frequent(&self, most: usize) -> (Vec<(u64, u64)>, u64) {
        let mut counts: Vec<(u64, u64)> = self.counts.iter().map(|(k, v)| (*k, *v)).collect();
        counts.sort_by_key(|(length, count)| (std::cmp::Reverse(*count), *length));
        let rest: u64 = counts.iter().skip(most).map(|(_, count)| count).sum();
        counts.truncate(most);
        (counts, rest + self.others)
    }
}
