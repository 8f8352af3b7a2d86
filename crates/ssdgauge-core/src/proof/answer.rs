//! The answers of a drive: what was read, compared with what was written.

use super::content::Content;
use serde::{Deserialize, Serialize};

/// The answer of the drive to the read of a block, compared with what was written there last.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Answer {
    /// What was written there last.
    Own,
    /// What was written as the block of another number.
    OtherAddress(u64),
    /// What an earlier pass wrote there.
    OldGeneration(u32),
    /// A part of what was written there.
    Torn,
    /// Zeros.
    Zeros,
    /// Ones.
    Ones,
    /// Data that this proof never wrote.
    Foreign,
    /// An error.
    Error,
}

impl Answer {
    /// Returns the answer `content` for block `place`, which was written last as `generation`.
    pub fn new(place: u64, generation: u32, content: Content) -> Answer {
        match content {
            Content::Stamped { address, .. } if address != place => Answer::OtherAddress(address),
            Content::Stamped { generation: found, .. } if found == generation => Answer::Own,
            Content::Stamped { generation: found, .. } => Answer::OldGeneration(found),
            Content::Torn { .. } => Answer::Torn,
            Content::Zeros => Answer::Zeros,
            Content::Ones => Answer::Ones,
            Content::Foreign => Answer::Foreign,
            Content::Unreadable => Answer::Error,
        }
    }

    /// Returns the number of the block that was returned, where it is another one.
    pub fn other_address(self) -> Option<u64> {
        match self {
            Answer::OtherAddress(address) => Some(address),
            Answer::Own
            | Answer::OldGeneration(_)
            | Answer::Torn
            | Answer::Zeros
            | Answer::Ones
            | Answer::Foreign
            | Answer::Error => None,
        }
    }

    /// Returns the answer `distance` blocks after a block with this one, in the same run.
    pub fn at(self, distance: u64) -> Answer {
        let moved = |address: u64| Answer::OtherAddress(address.wrapping_add(distance));
        self.other_address().map_or(self, moved)
    }
}

/// What the drive answered for consecutive blocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Observation {
    /// The number of the reading pass, from 0.
    pub pass: u32,
    /// The number of the first block.
    pub first: u64,
    /// The number of blocks.
    pub blocks: u64,
    /// The answer for the first block; other addresses rise with the place.
    pub answer: Answer,
}

impl Observation {
    /// Returns the number of the block after the last one.
    pub fn end(&self) -> u64 {
        self.first.saturating_add(self.blocks)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_is_own_only_with_address_and_generation() {
        let stamped = |address, generation| Content::Stamped { address, generation };
        assert_eq!(Answer::new(7, 2, stamped(7, 2)), Answer::Own);
        assert_eq!(Answer::new(7, 2, stamped(7, 1)), Answer::OldGeneration(1));
        assert_eq!(Answer::new(7, 2, stamped(9, 2)), Answer::OtherAddress(9));
        let torn = Content::Torn { address: 7, generation: 2 };
        assert_eq!(Answer::new(7, 2, torn), Answer::Torn);
        assert_eq!(Answer::OtherAddress(9).at(3), Answer::OtherAddress(12));
        assert_eq!(Answer::Zeros.at(3), Answer::Zeros);
    }
}
