//! The experiment for the mapping unit: random writes, aligned and shifted, to a range that was filled.

use super::Examination;
use super::error::Ended;
use super::sizes::MIB;
use ssdgauge_core::{Access as Order, Bytes, Data, Direction, Lane, LaneLimits, Nanos};
use ssdgauge_xray::{self as inference, Course, Series, Shift, Structure};

/// The shifts; writes have twice their length. The first one needs blocks of 2 KiB or less.
pub(super) const SHIFTS: [u64; 5] = [2 << 10, 4 << 10, 8 << 10, 16 << 10, 32 << 10];
/// The rounds of each shift.
pub(super) const ROUNDS: u64 = 4;
/// The writes before the rounds, in writes of one of them: they fill a write buffer and what is left of a cache.
pub(super) const BEFORE: u64 = 4;
/// Requests in flight.
const DEPTH: u32 = 32;
/// The time of a measurement at most. Chosen: 256 MiB take it at 4.5 MB/s; a slower drive writes less of them.
const LONGEST: Nanos = Nanos::from_secs(60);
/// The length of a bin; only whole rounds are judged.
const BIN: Nanos = Nanos(5_000_000);

impl Examination<'_> {
    /// Mapping unit: random writes of twice a shift, aligned and shifted in turn.
    pub(super) fn mapping_unit(&mut self) -> Result<(), Ended> {
        let is_answered = |one: &inference::Answer| one.structure == Structure::MappingUnit;
        if self.answers.iter().any(is_answered) || !self.is_open(Structure::MappingUnit) {
            return Ok(());
        }
        // The range of the reads stays as it is.
        let from = self.sizes.region;
        self.access.doing("mapping unit: aligned and shifted writes");
        let missing = (from + self.sizes.shifted_span).saturating_sub(self.filled);
        if missing > 0 {
            self.write_ascending(missing, &mut Course::default())?;
        }
        let span = self.sizes.shifted_span;
        let range = (from, span - MIB);
        self.write_at_random(range, 64 << 10, BEFORE * self.sizes.shifted)?;
        let block = self.access.logical_block();
        let mut shifts = Vec::new();
        for bytes in SHIFTS.into_iter().filter(|bytes| bytes.is_multiple_of(block)) {
            let mut rounds = Vec::new();
            for _ in 0..ROUNDS {
                let (from, span) = range;
                let written = self.sizes.shifted;
                let aligned = self.write_at_random((from, span), 2 * bytes, written)?;
                let shifted = self.write_at_random((from + bytes, span), 2 * bytes, written)?;
                rounds.push((aligned, shifted));
            }
            shifts.push(Shift { bytes, rounds });
        }
        self.keep([Series::of_shifts(&shifts)]);
        self.answer(Structure::MappingUnit, inference::mapping_unit(&shifts));
        Ok(())
    }

    /// Writes `bytes` in requests of `block` at random to a range; returns the rate in bytes per second.
    pub(super) fn write_at_random(
        &mut self,
        (offset, span): (u64, u64),
        block: u64,
        bytes: u64,
    ) -> Result<f64, Ended> {
        let lane = Lane {
            direction: Direction::Write,
            access: Order::Random,
            block_size: Bytes(block),
            offset: Bytes(offset),
            span: Bytes(span),
            queue_depth: DEPTH,
            think: Nanos::ZERO,
            latencies: 0,
            data: Data::Incompressible,
        };
        let limits = LaneLimits { time: LONGEST, written: Bytes(bytes), bin: BIN };
        let ended = self.access.run(&[lane], limits)?;
        let written: u64 = ended.lanes[0].bytes.iter().sum();
        Ok(written as f64 / ended.elapsed.as_secs_f64().max(1e-9))
    }
}
