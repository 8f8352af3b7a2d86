//! Requests of several sizes in one stream.

use crate::units::Bytes;
use serde::{Deserialize, Serialize};
use std::ops::RangeInclusive;

/// The lengths of a request that the engines send, in bytes.
pub const BLOCK_SIZES: RangeInclusive<Bytes> = Bytes(512)..=Bytes(64 << 20);

/// The sizes of the requests of a stream that has several; empty where all have one.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct BlockSizes(pub Vec<SizeShare>);

/// A size, and the share of the requests that have it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SizeShare {
    /// The length of a request.
    pub size: Bytes,
    /// The requests of this length among every 100 of a thread.
    pub percent: u8,
}

impl BlockSizes {
    /// The maximum number of sizes.
    pub const MOST: usize = 16;

    /// Returns whether all requests have one size.
    pub fn is_single(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns the largest size.
    pub fn largest(&self) -> Option<Bytes> {
        self.0.iter().map(|share| share.size).max()
    }

    /// Returns the smallest size.
    pub fn smallest(&self) -> Option<Bytes> {
        self.0.iter().map(|share| share.size).min()
    }

    /// Returns the sizes in bytes, in the order in which they are listed.
    pub fn lengths(&self) -> Vec<u32> {
        self.0.iter().map(|share| share.size.0 as u32).collect()
    }

    /// Returns the mean size in bytes, over all requests.
    pub fn mean(&self) -> Option<f64> {
        let bytes = |share: &SizeShare| share.size.0 * u64::from(share.percent);
        (!self.0.is_empty()).then(|| self.0.iter().map(bytes).sum::<u64>() as f64 / 100.0)
    }

    /// Returns the sizes in words, such as `60 % 4KiB, 30 % 16KiB, 10 % 128KiB`.
    pub fn describe(&self) -> String {
        let share = |one: &SizeShare| format!("{} % {}", one.percent, one.size.as_block());
        self.0.iter().map(share).collect::<Vec<_>>().join(", ")
    }

    /// Returns why requests cannot have these sizes, as a clause; `None` where they can. `is_hot`
    /// states that some blocks are addressed more often than others.
    pub fn defect(&self, is_hot: bool) -> Option<String> {
        let (Some(smallest), Some(largest)) = (self.smallest(), self.largest()) else {
            return None;
        };
        if self.0.len() > BlockSizes::MOST {
            return Some(format!(
                "there are {} sizes, not 1 to {}",
                self.0.len(),
                BlockSizes::MOST
            ));
        }
        for (number, share) in self.0.iter().enumerate() {
            let size = share.size;
            if !BLOCK_SIZES.contains(&size) || !size.0.is_multiple_of(512) {
                return Some(format!(
                    "a size of {} is not a multiple of 512 B up to 64 MiB",
                    size.as_block()
                ));
            }
            if self.0[..number].iter().any(|before| before.size == size) {
                return Some(format!("{} is listed twice", size.as_block()));
            }
            if !(1..=100).contains(&share.percent) {
                return Some(format!(
                    "{} has {} percent, not 1 to 100",
                    size.as_block(),
                    share.percent
                ));
            }
            // Consecutive requests adjoin, so that each begins on a multiple of the smallest size.
            if !size.0.is_multiple_of(smallest.0) {
                return Some(format!(
                    "{} is not a multiple of the smallest size, {}",
                    size.as_block(),
                    smallest.as_block()
                ));
            }
            // A hot block has the largest size, and holds whole requests of the others.
            if is_hot && !largest.0.is_multiple_of(size.0) {
                return Some(format!(
                    "{}, the size of a hot block, is not a multiple of {}",
                    largest.as_block(),
                    size.as_block()
                ));
            }
        }
        let sum: u32 = self.0.iter().map(|share| u32::from(share.percent)).sum();
        (sum != 100).then(|| format!("the shares add up to {sum} percent, not to 100"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sizes(shares: &[(u64, u8)]) -> BlockSizes {
        let share = |&(size, percent): &(u64, u8)| SizeShare { size: Bytes(size), percent };
        BlockSizes(shares.iter().map(share).collect())
    }

    #[test]
    fn sizes_that_cannot_be_sent_are_refused() {
        let right = sizes(&[(4_096, 60), (16_384, 30), (131_072, 10)]);
        assert_eq!(right.defect(true), None);
        assert_eq!((right.mean(), right.largest()), (Some(20_480.0), Some(Bytes(131_072))));
        for (expected, is_hot, shares) in [
            ("add up to 90 percent", false, vec![(4_096, 60), (8_192, 30)]),
            ("listed twice", false, vec![(4_096, 50), (4_096, 50)]),
            ("0 percent", false, vec![(4_096, 0), (8_192, 100)]),
            ("not a multiple of the smallest", false, vec![(8_192, 50), (12_288, 50)]),
            ("size of a hot block", true, vec![(4_096, 50), (12_288, 25), (16_384, 25)]),
            ("not a multiple of 512", false, vec![(100, 50), (4_096, 50)]),
            ("17 sizes", false, (1..=17).map(|n| (n * 512, 5)).collect()),
        ] {
            let defect = sizes(&shares).defect(is_hot).unwrap_or_default();
            assert!(defect.contains(expected), "{shares:?}: {defect}");
        }
        assert_eq!(sizes(&[(4_096, 50), (12_288, 25), (16_384, 25)]).defect(false), None);
    }
}
