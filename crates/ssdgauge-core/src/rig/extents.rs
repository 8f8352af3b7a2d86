//! Sets of bytes of a target, as ranges.

/// A set of bytes: disjoint ranges in ascending order, none of which touches the next.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Extents {
    ranges: Vec<(u64, u64)>,
}

impl Extents {
    /// Adds the bytes from `from` to `to`.
    pub fn insert(&mut self, from: u64, to: u64) {
        if from >= to {
            return;
        }
        let (mut from, mut to) = (from, to);
        self.ranges.retain(|&(begin, end)| {
            let touches = begin <= to && from <= end;
            if touches {
                (from, to) = (from.min(begin), to.max(end));
            }
            !touches
        });
        self.ranges.push((from, to));
        self.ranges.sort_unstable();
    }

    /// Removes the bytes from `from` to `to`.
    pub fn remove(&mut self, from: u64, to: u64) {
        let outside = |&(begin, end): &(u64, u64)| {
            let parts = [(begin, end.min(from)), (begin.max(to), end)];
            parts.into_iter().filter(|(begin, end)| begin < end)
        };
        if from < to {
            self.ranges = self.ranges.iter().flat_map(outside).collect();
        }
    }

    /// Returns the ranges, each with its first byte and the byte after its last one.
    pub fn ranges(&self) -> &[(u64, u64)] {
        &self.ranges
    }

    /// Returns whether all bytes from `from` to `to` are in the set.
    pub fn contains(&self, from: u64, to: u64) -> bool {
        self.ranges.iter().any(|&(begin, end)| begin <= from && to <= end)
    }

    /// Returns the number of bytes.
    pub fn bytes(&self) -> u64 {
        self.ranges.iter().map(|(from, to)| to - from).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn extents_are_the_set_of_their_bytes(
            changes in prop::collection::vec((any::<bool>(), 0u64..64, 0u64..64), 0..24),
        ) {
            let (mut extents, mut bytes) = (Extents::default(), [false; 64]);
            for (inserted, from, to) in changes {
                match inserted {
                    true => extents.insert(from, to),
                    false => extents.remove(from, to),
                }
                (from..to).for_each(|byte| bytes[byte as usize] = inserted);
            }
            for (byte, is_in) in bytes.iter().enumerate() {
                prop_assert_eq!(extents.contains(byte as u64, byte as u64 + 1), *is_in);
            }
            prop_assert_eq!(extents.bytes(), bytes.iter().filter(|is_in| **is_in).count() as u64);
            prop_assert!(extents.ranges().windows(2).all(|pair| pair[0].1 < pair[1].0));
        }
    }
}
