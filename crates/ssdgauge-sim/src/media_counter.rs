//! Counters of what the drive wrote to its flash and what hosts wrote, as health logs of some drives have them.
//!
//! They repeat counts of the ground truth in whole granules, and must never change what the drive does.

use crate::ftl::GroundTruth;
use crate::profile::Profile;
use ssdgauge_core::{Bytes, Counted, MediaWrites};

/// The counters of a drive.
#[derive(Clone, Debug)]
pub(crate) struct MediaCounter {
    /// The bytes of a granule; 0 for a drive without counters.
    granule: u64,
    /// Bytes on the media and of hosts before the last purge, which resets the ground truth.
    earlier: [u64; 2],
    /// The granules at the last reading.
    read: [u64; 2],
}

impl MediaCounter {
    /// Returns the counters of a new drive.
    pub(crate) fn new(profile: &Profile) -> MediaCounter {
        let granule = (profile.effects.media_counter_kib * 1_024.0) as u64;
        MediaCounter { granule, earlier: [0; 2], read: [0; 2] }
    }

    /// Keeps the counts of a drive that `truth` is about, which is purged.
    pub(crate) fn keep(mut self, truth: &GroundTruth) -> MediaCounter {
        self.earlier = self.bytes(truth);
        self
    }

    /// Returns the bytes that hosts ever wrote to the drive that `truth` is about.
    pub(crate) fn of_hosts(&self, truth: &GroundTruth) -> Bytes {
        Bytes(self.bytes(truth)[1])
    }

    fn bytes(&self, truth: &GroundTruth) -> [u64; 2] {
        [self.earlier[0] + truth.nand_bytes(), self.earlier[1] + truth.host_bytes]
    }

    /// Returns what was written since the last call; `None` for a drive without counters.
    pub(crate) fn since_last(&mut self, truth: &GroundTruth) -> Option<MediaWrites> {
        if self.granule == 0 {
            return None;
        }
        let bytes = self.bytes(truth);
        // A counter never falls, as the count of pages does that zeros replace before they are programmed.
        let now = [0, 1].map(|which| (bytes[which] / self.granule).max(self.read[which]));
        let granule = self.granule as f64;
        let [media, host] = [0, 1].map(|which| {
            let amount = (now[which] - self.read[which]) as f64 * granule;
            Counted { amount, granule }
        });
        self.read = now;
        Some(MediaWrites { media, host, is_in_pages: false })
    }
}
