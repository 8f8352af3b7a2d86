//! The experiment for program operations: reads at random times during writes that keep a part of the units busy.

use super::Examination;
use super::access::read;
use super::error::Ended;
use super::fill::throttled;
use ssdgauge_core::{Direction, Nanos, Random, TimedRequest};
use ssdgauge_xray::{self as inference, Reads, Refusal, Series, Structure};

/// The block of reads, and that of writes.
const BLOCK: (u64, u64) = (4_096, 16_384);
/// Reads alone, and during writes.
const READS: (usize, usize) = (600, 6_000);
/// The mean time between two reads, in nanoseconds. Chosen: a third of a program operation, so that few reads meet.
const BETWEEN_NS: f64 = 300e3;
/// The share of its rate that the flash is written at, and the rate where that is not known, in bytes per nanosecond.
const BUSY: (f64, f64) = (0.4, 0.1);
/// Requests in flight: reads that wait delay no others.
const DEPTH: u32 = 64;
/// The random numbers of places and times.
const STREAM: u64 = 0x9a4;

impl Examination<'_> {
    /// Program time: what flushes have waited for, or reads during writes.
    pub(super) fn program_time(&mut self) -> Result<(), Ended> {
        if !self.is_open(Structure::ProgramTime) {
            return Ok(());
        }
        let flushes = self.flushes.take().filter(|_| self.value(Structure::Flush) == Some(1.0));
        let suspends = self.value(Structure::Suspend) == Some(1.0);
        // A flush waits for the whole of an operation, whether reads suspend it or not.
        let during_writes = flushes.is_none() && !suspends;
        let reads = self.reads_at_random(during_writes)?;
        let reads = match suspends {
            true if flushes.is_none() => Err(Refusal("they suspend operations".into())),
            true | false => Ok(reads),
        };
        self.keep(Series::of_programs(flushes.as_ref(), reads.as_ref().ok()));
        let flushes = flushes.ok_or_else(|| Refusal("they have nothing to write".into()));
        let passes_cache = self.value(Structure::Overflow) == Some(1.0);
        let found = match (self.is_throttled || !self.is_cold()?, passes_cache) {
            (true, _) => Err(throttled(self.filled)),
            (false, true) => {
                let reason = "writes pass through the fast cache, whose operations these are";
                Err(Refusal(reason.into()))
            }
            (false, false) => {
                inference::program_time(flushes.as_ref().map_err(Clone::clone), &reads)
            }
        };
        self.answer(Structure::ProgramTime, found);
        Ok(())
    }

    /// Sends reads at random times, alone and, where it is asked for, `during_writes`. A read that follows another one would come in step with the
    /// operations.
    fn reads_at_random(&mut self, during_writes: bool) -> Result<Reads, Ended> {
        self.write_region()?;
        self.access.doing("program time: reads during writes");
        let mut random = Random::new(self.access.seed(), STREAM);
        let places = self.sizes.region / BLOCK.0;
        let mut reads = |count: usize| -> Vec<TimedRequest> {
            let mut due = 0.0;
            let one = |_| {
                due += BETWEEN_NS * random.exponential();
                TimedRequest {
                    due: Nanos(due as u64),
                    ..read(random.below(places) * BLOCK.0, BLOCK.0)
                }
            };
            (0..count).map(one).collect()
        };
        let (alone, mut beside) = (reads(READS.0), reads(READS.1));
        let alone_us = self.latencies(&alone)?;
        if !during_writes {
            return Ok(Reads { alone_us, beside_us: Vec::new() });
        }
        let rate = self.emptied.map_or(BUSY.1, |rate| BUSY.0 * rate);
        let from = self.sizes.capacity - self.sizes.trimmed - self.sizes.beside;
        let last = beside.last().map_or(0, |one| one.due.0);
        let most = self.sizes.beside / BLOCK.1;
        let spacing = (BLOCK.1 as f64 / rate).max(last as f64 / most as f64);
        let count = (last as f64 / spacing) as u64;
        let write = |number: u64| TimedRequest {
            due: Nanos((number as f64 * spacing) as u64),
            direction: Direction::Write,
            ..read(from + number % most * BLOCK.1, BLOCK.1)
        };
        beside.extend((0..count).map(write));
        beside.sort_by_key(|one| one.due);
        let timings = self.access.send(&beside, DEPTH)?;
        let is_read = |one: &TimedRequest| one.direction == Direction::Read;
        let of_reads = beside.iter().zip(&timings.requests).filter(|(one, _)| is_read(one));
        let beside_us = of_reads.map(|(_, timing)| timing.latency().as_micros_f64()).collect();
        Ok(Reads { alone_us, beside_us })
    }
}
