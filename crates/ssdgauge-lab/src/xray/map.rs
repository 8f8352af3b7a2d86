//! The experiment for the reach of the map: reads side by side in ranges of growing length.

use super::Examination;
use super::access::read;
use super::error::Ended;
use super::sizes::MIB;
use ssdgauge_core::{Random, TimedRequest};
use ssdgauge_xray::{self as inference, Range, Refusal, Series, Structure};

/// The block of the reads.
const BLOCK: u64 = 4_096;
/// The smallest range.
const SMALLEST: u64 = 16 * MIB;
/// The bits of the address in which the reads next to a first one differ from it: no flash page is as long, and both
/// lie in the same 256 KiB, which is less than a part of a map.
const NEARBY: [u64; 2] = [64 << 10, 128 << 10];
/// The first reads of a range.
const FIRST: u64 = 4_000;
/// The reads before them, for each mebibyte of the range, and at most: they read the parts of the map that fit.
const BEFORE: (u64, u64) = (4, 400_000);
/// Requests in flight of those.
const DEPTH: u32 = 32;
/// The random numbers of the places.
const PLACES: u64 = 0x9a2;

impl Examination<'_> {
    /// Map reach: reads side by side in what was filled.
    pub(super) fn map_reach(&mut self) -> Result<(), Ended> {
        if !self.is_open(Structure::MapReach) {
            return Ok(());
        }
        if self.filled < 2 * SMALLEST {
            let reason = Refusal("too little of the drive was filled".into());
            self.answer(Structure::MapReach, Err(reason));
            return Ok(());
        }
        self.settle("map reach: rest")?;
        self.access.doing("map reach: reads in growing ranges");
        let mut random = Random::new(self.access.seed(), PLACES);
        let mut ranges = Vec::new();
        let doubled = std::iter::successors(Some(SMALLEST), |bytes| Some(2 * bytes));
        let filled = self.filled / MIB * MIB;
        for bytes in doubled.take_while(|bytes| *bytes < filled).chain([filled]) {
            let mut place = || random.below(bytes / BLOCK) * BLOCK;
            let before = (BEFORE.0 * bytes / MIB).min(BEFORE.1);
            let before: Vec<TimedRequest> = (0..before).map(|_| read(place(), BLOCK)).collect();
            self.access.send_before(&before, DEPTH)?;
            let side_by_side = |_| {
                let first = place();
                [0, NEARBY[0], NEARBY[1]].map(|bit| read(first ^ bit, BLOCK))
            };
            let requests: Vec<TimedRequest> = (0..FIRST).flat_map(side_by_side).collect();
            let us = self.latencies(&requests)?;
            let reads = us.chunks_exact(3).map(|one| [one[0], one[1], one[2]]).collect();
            ranges.push(Range { bytes, reads });
        }
        self.keep([Series::of_ranges(&ranges)]);
        self.answer(Structure::MapReach, inference::map_reach(&ranges));
        Ok(())
    }
}
