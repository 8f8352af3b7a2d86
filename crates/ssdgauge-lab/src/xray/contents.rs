//! The experiment for compression and deduplication: the same random writes with data of each kind in turn.

use super::Examination;
use super::error::Ended;
use super::fill::OVERWRITE_BLOCK;
use super::sizes::{MIB, Sizes};
use ssdgauge_core::{Access as Order, Bytes, Data, Direction, Lane, LaneLimits, LanesEnded, Nanos};
use ssdgauge_xray::{self as inference, Course, Sent, Series, Structure, Turn};

/// The rounds; the first one is not judged.
pub(super) const ROUNDS: u64 = 4;
/// The measurements of a round.
pub(super) const MEASURED: u64 = 4;
/// The random data before a round, at least: it fills a write buffer.
pub(super) const BEFORE: u64 = 80 * MIB;
/// Requests in flight.
const DEPTH: u32 = 32;
/// The time of a measurement at most, as that of the mapping unit.
const LONGEST: Nanos = Nanos::from_secs(60);
/// The length of a bin; only whole measurements are judged.
const BIN: Nanos = Nanos(5_000_000);

impl Examination<'_> {
    /// Compression and deduplication: random writes of each kind of data.
    pub(super) fn contents(&mut self) -> Result<(), Ended> {
        let structures = [Structure::Compression, Structure::Deduplication];
        let is_answered = |one: &inference::Answer| structures.contains(&one.structure);
        if self.answers.iter().any(is_answered) {
            return Ok(());
        }
        let [compression, deduplication] = structures.map(|structure| self.is_open(structure));
        if !compression && !deduplication {
            return Ok(());
        }
        self.access.doing("contents: random, repeated and half random data, and zeros");
        let end = self.sizes.region + self.sizes.shifted_span;
        let missing = end.saturating_sub(self.filled);
        if missing > 0 {
            self.write_ascending(missing, &mut Course::default())?;
        }
        let measured = self.sizes.shifted;
        let mut turns = Vec::new();
        for _ in 0..ROUNDS {
            self.write_contents(Data::Incompressible, measured.max(BEFORE))?;
            // One after another in this order, no kind finds the write buffer emptier than it can fill it: those
            // that may take no flash are the last ones.
            let random = self.write_contents(Data::Incompressible, measured)?;
            let half = self.write_contents(Data::Half, measured)?;
            let repeated = self.write_contents(Data::Repeated, measured)?;
            let zeros = self.write_contents(Data::Zeros, measured)?;
            turns.push(Turn { random, half, repeated, zeros });
        }
        // The reads of later experiments need stored data.
        let span = self.sizes.shifted_span;
        let whole = self.lane_of(Data::Incompressible, Order::Sequential);
        self.write_lane(whole, span, Sizes::LONGEST)?;
        let link = self.value(Structure::Link).map(|rate| rate * 1e6);
        for structure in structures {
            self.keep(Series::of_turns(structure, &turns));
        }
        self.answer(Structure::Compression, inference::compression(&turns, link));
        self.answer(Structure::Deduplication, inference::deduplication(&turns, link));
        Ok(())
    }

    /// Writes `bytes` of `data` at random to the range of the writes, and returns what was counted.
    fn write_contents(&mut self, data: Data, bytes: u64) -> Result<Sent, Ended> {
        // What was written before does not count.
        self.access.media_writes()?;
        let ended = self.write_lane(self.lane_of(data, Order::Random), bytes, LONGEST)?;
        let counted = self.access.media_writes()?;
        let bytes = ended.lanes[0].bytes.iter().sum::<u64>() as f64;
        Ok(Sent { bytes, seconds: ended.elapsed.as_secs_f64(), counted })
    }

    fn write_lane(&mut self, lane: Lane, bytes: u64, time: Nanos) -> Result<LanesEnded, Ended> {
        let limits = LaneLimits { time, written: Bytes(bytes), bin: BIN };
        self.access.run(&[lane], limits)
    }

    /// Returns writes of `data` to the range of the writes.
    fn lane_of(&self, data: Data, access: Order) -> Lane {
        Lane {
            direction: Direction::Write,
            access,
            block_size: Bytes(OVERWRITE_BLOCK),
            offset: Bytes(self.sizes.region),
            span: Bytes(self.sizes.shifted_span),
            queue_depth: DEPTH,
            think: Nanos::ZERO,
            latencies: 0,
            data,
        }
    }
}
