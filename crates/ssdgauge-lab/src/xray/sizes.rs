//! Bytes and times of the experiments, from the capacity of the drive.

use ssdgauge_core::{Bytes, Nanos};

/// A mebibyte.
pub(super) const MIB: u64 = 1 << 20;
/// The length of a request of a fill.
pub(super) const FILL_BLOCK: u64 = 128 << 10;

/// Bytes and times of the experiments on one drive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Sizes {
    /// The capacity, in whole mebibytes.
    pub(super) capacity: u64,
    /// The range that pairs of reads lie in, from the start of the drive.
    pub(super) region: u64,
    /// The maximum that the staged fill writes.
    pub(super) fill: u64,
    /// A stage of the fill.
    pub(super) stage: u64,
    /// The end of the drive that stays trimmed, to see whether the link is still as fast.
    pub(super) trimmed: u64,
    /// The bytes of the writes during reads.
    pub(super) during_reads: u64,
    /// The maximum that a burst into a cache, or into what may be a write buffer, writes where its rest is not looked at.
    pub(super) into_cache: u64,
    /// The maximum that all bursts after rests write.
    pub(super) bursts: u64,
    /// The bytes of one measurement of random writes, aligned or shifted.
    pub(super) shifted: u64,
    /// The range of these writes, after that of the reads.
    pub(super) shifted_span: u64,
    /// A stage of the fill that is counted while the cache is full.
    pub(super) counted: u64,
    /// A burst into the write buffer.
    pub(super) into_buffer: u64,
    /// Small writes into the full buffer.
    pub(super) groups: u64,
    /// A burst of writes before a flush.
    pub(super) before_flush: u64,
    /// The bytes of one measurement of random writes with an address bit held, or with none.
    pub(super) held: u64,
    /// The maximum that random overwrites write.
    pub(super) overwrites: u64,
    /// A round of random writes on the way to the steady state.
    pub(super) round: u64,
    /// The length of a bin of a fill.
    pub(super) bin: Nanos,
}

impl Sizes {
    /// The smallest drive that can be examined.
    pub(super) const LEAST: Bytes = Bytes(256 * MIB);
    /// The time of one load at most; a drive that is slower is not identified.
    pub(super) const LONGEST: Nanos = Nanos::from_secs(1_800);
    /// The time of the staged fill at most. Chosen: half of a drive of 1 TB beyond its cache, at 600 MB/s.
    pub(super) const FILL: Nanos = Nanos::from_secs(900);
    /// The time of the writes of all bursts at most, without their rests.
    pub(super) const BURSTS: Nanos = Nanos::from_secs(300);
    /// The time of the writes of a burst alone at most.
    pub(super) const BURST: Nanos = Nanos::from_secs(60);
    /// The rests before bursts, in seconds, until a part of the cache is free.
    pub(super) const RESTS_S: [f64; 12] =
        [0.1, 0.2, 0.4, 0.8, 1.6, 3.0, 6.0, 12.0, 24.0, 48.0, 96.0, 128.0];
    /// The seconds of all rests after those, which are chosen by what they freed.
    pub(super) const MORE_RESTS_S: f64 = 3.3 * 128.0;
    /// The seconds of rest between writes and pairs of reads.
    pub(super) const FOLDING_S: u64 = 60;
    /// The times at most that a throttled drive gets as long a rest again before these reads.
    pub(super) const MORE_COOLING: u64 = 3;
    /// The seconds of a rest after which the ceilings are measured again, and such rests at most.
    pub(super) const LEVEL_S: u64 = 20;
    /// See [`Sizes::LEVEL_S`].
    pub(super) const LEVEL_RESTS: u64 = 30;
    /// The seconds of rest before reads that heat the drive.
    pub(super) const COOLING_S: u64 = 120;
    /// The seconds of reads that heat the drive.
    pub(super) const HEATING_S: u64 = 300;

    /// The rounds of uniform random writes at most, and those of writes to zones: three drive writes each. Chosen: of
    /// random virtual drives, the slowest is level after two.
    pub(super) const ROUNDS: u64 = 12;
    /// The time of all rounds of one kind at most: a drive that is slower is not identified.
    pub(super) const STEADY: Nanos = Nanos::from_secs(4 * 3_600);

    /// Returns the sizes for a drive of `capacity`.
    pub(super) fn new(capacity: Bytes) -> Sizes {
        let capacity = capacity.0 / MIB * MIB;
        let whole = |bytes: u64| bytes / MIB * MIB;
        Sizes {
            capacity,
            region: whole((capacity / 4).min(512 * MIB)),
            fill: whole(capacity / 5 * 3),
            stage: whole(capacity / 50).max(4 * MIB),
            trimmed: whole(capacity / 64).max(4 * MIB),
            during_reads: whole((capacity / 50).min(256 * MIB)).max(4 * MIB),
            into_cache: whole(capacity / 8),
            bursts: whole(capacity / 4),
            shifted: whole((capacity / 256).min(256 * MIB)).max(MIB),
            shifted_span: whole((capacity / 16).min(4_096 * MIB)),
            counted: whole((capacity / 50).min(2_048 * MIB)).max(4 * MIB),
            into_buffer: whole((capacity / 100).min(192 * MIB)),
            groups: whole((capacity / 400).min(32 * MIB)),
            before_flush: whole((capacity / 64).min(1_024 * MIB)),
            held: whole((capacity / 128).min(256 * MIB)).max(4 * MIB),
            overwrites: whole(capacity / 5 * 2),
            round: whole(capacity / 4),
            // About two thousand bins at 3 GB/s over the whole drive.
            bin: Nanos((capacity / 6_000).clamp(500_000, 20_000_000)),
        }
    }
}

impl Sizes {
    /// Returns start and length of the range of writes with an address bit held, after that of the reads: a power of two
    /// at a multiple of it, so that each bit below it can be held.
    pub(super) fn held_range(&self) -> (u64, u64) {
        let span = 1 << self.shifted_span.ilog2();
        (self.region.next_multiple_of(span), span)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_fit_into_small_and_large_drives() {
        for capacity in [Sizes::LEAST.0, 1_000_000_000, 64_000_000_000, 16_000_000_000_000] {
            let sizes = Sizes::new(Bytes(capacity));
            assert!(
                sizes.fill + sizes.bursts + 4 * sizes.counted + sizes.during_reads + sizes.trimmed
                    <= sizes.capacity,
                "{sizes:?}"
            );
            assert!(sizes.region >= 64 * MIB && sizes.stage < sizes.fill, "{sizes:?}");
        }
    }
}
