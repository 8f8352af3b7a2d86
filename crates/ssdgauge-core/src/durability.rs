//! Durability of written data: flushes, and blocks that are read back.

use crate::units::Nanos;
use serde::{Deserialize, Serialize};

/// The flushes behind a step: commands by which a drive writes its volatile data to its media
/// (NVMe: Flush; ATA: FLUSH CACHE EXT; SCSI: SYNCHRONIZE CACHE).
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Flush {
    /// The flushes that this program requested from the kernel.
    pub sent: u64,
    /// The time until the last one completed, in nanoseconds.
    pub elapsed: Nanos,
    /// The device that counts flushes, such as `nvme0n1`; `None` where none counts those of the
    /// target alone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub device: Option<String>,
    /// The flushes that this device completed meanwhile, by the counters of the kernel. The kernel
    /// sends none to a device without a volatile write cache.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub counted: Option<u64>,
}

/// Blocks that were read back behind writes.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReadBack {
    /// The blocks that were read.
    pub read: u64,
    /// Those of them that do not hold the data that was written last.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub lost: Vec<LostWrite>,
}

/// A block that does not hold the data that was written last.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LostWrite {
    /// Its start on the target, in bytes.
    pub offset: u64,
    /// The contents found, such as `zeros`.
    pub found: String,
}

impl ReadBack {
    /// The number of blocks that are read back.
    ///
    /// Chosen: a drive that loses one write in twenty passes with a probability of 0.95^64, 4 %; 64
    /// reads take some milliseconds.
    pub const BLOCKS: usize = 64;

    /// Returns the lost writes in words, with the first place; `None` where there are none.
    pub fn describe(&self) -> Option<String> {
        let first = self.lost.first()?;
        let LostWrite { offset, found } = first;
        let (lost, read) = (self.lost.len(), self.read);
        Some(format!(
            "{lost} of {read} blocks that were read back do not hold the data that was written \
             last; the one at byte {offset} holds {found}"
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lost_writes_are_described_by_their_number_and_the_first_place() {
        let lost = |offset| LostWrite { offset, found: "zeros".into() };
        let read_back = ReadBack { read: 64, lost: vec![lost(8_192), lost(4_096)] };
        let expected = "2 of 64 blocks that were read back do not hold the data that was written \
                        last; the one at byte 8192 holds zeros";
        assert_eq!(read_back.describe().as_deref(), Some(expected));
        assert_eq!(ReadBack { lost: Vec::new(), ..read_back }.describe(), None);
    }
}
