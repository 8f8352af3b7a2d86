//! What reads find in the places of blocks.

use serde::{Deserialize, Serialize};

/// What a read found in the place of a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Content {
    /// A whole block of this proof: that of block number `address`, written as `generation`.
    Stamped {
        /// The number of the block that it was written as.
        address: u64,
        /// The number of the pass that wrote it.
        generation: u32,
    },
    /// The header of a block of this proof, after which other data follows.
    Torn {
        /// The number of the block that it was written as.
        address: u64,
        /// The number of the pass that wrote it.
        generation: u32,
    },
    /// Zeros.
    Zeros,
    /// Ones: the contents of erased flash.
    Ones,
    /// Data that this proof never wrote.
    Foreign,
    /// The read failed.
    Unreadable,
}

impl Content {
    /// Returns the content `distance` blocks after a block with this one, in the same run.
    pub fn at(self, distance: u64) -> Content {
        match self {
            Content::Stamped { address, generation } => {
                Content::Stamped { address: address.wrapping_add(distance), generation }
            }
            Content::Torn { address, generation } => {
                Content::Torn { address: address.wrapping_add(distance), generation }
            }
            Content::Zeros | Content::Ones | Content::Foreign | Content::Unreadable => self,
        }
    }
}

/// Consecutive blocks with contents of one kind. Addresses of stamped contents rise with the place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Found {
    /// The number of the first block.
    pub first: u64,
    /// The number of blocks.
    pub blocks: u64,
    /// The contents of the first block.
    pub content: Content,
}

impl Found {
    /// Adds the block after the last one of `runs`, where it continues it; otherwise it begins a run.
    pub fn append(runs: &mut Vec<Found>, place: u64, content: Content) {
        match runs.last_mut() {
            Some(run)
                if run.first + run.blocks == place && run.content.at(run.blocks) == content =>
            {
                run.blocks += 1;
            }
            Some(_) | None => runs.push(Found { first: place, blocks: 1, content }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_grows_only_by_the_block_that_continues_it() {
        let mut runs = Vec::new();
        let stamped = |address| Content::Stamped { address, generation: 2 };
        for (place, content) in [
            (5, stamped(105)),
            (6, stamped(106)),
            (7, stamped(108)),
            (8, Content::Zeros),
            (9, Content::Zeros),
            (11, Content::Zeros),
        ] {
            Found::append(&mut runs, place, content);
        }
        let runs: Vec<(u64, u64)> = runs.iter().map(|run| (run.first, run.blocks)).collect();
        assert_eq!(runs, [(5, 2), (7, 1), (8, 2), (11, 1)]);
    }
}
