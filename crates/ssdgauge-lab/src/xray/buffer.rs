//! The experiment for the write buffer: bursts of writes after pauses, with the fast cache full.

use super::Examination;
use super::access::ascending;
use super::error::Ended;
use super::fill::throttled;
use super::sizes::FILL_BLOCK;
use ssdgauge_core::{Bytes, Direction, LaneLimits, Nanos, TimedRequest};
use ssdgauge_xray::{self as inference, Completions, Refill, Refusal, Series, Structure};

/// The pauses before bursts, in seconds. A buffer is empty after each of them, and a part of a cache would be larger
/// after the longer ones. The first burst takes what the cache has left, and is not judged.
pub(super) const PAUSES_S: [u64; 5] = [1, 1, 2, 1, 2];
/// Requests in flight of a burst.
const DEPTH: u32 = 8;
/// The block of small writes, and those in flight.
const SMALL: u64 = 4_096;
const SMALL_DEPTH: u32 = 32;

impl Examination<'_> {
    /// Write buffer: the end of the full rate in a burst.
    pub(super) fn write_buffer(&mut self) -> Result<(), Ended> {
        if !self.is_open(Structure::WriteBuffer) {
            return Ok(());
        }
        if !self.is_full {
            self.fill_cache()?;
        }
        if self.drop.is_some() && !self.is_full {
            let reason = "the fast cache was not full again after the last rest";
            self.answer(Structure::WriteBuffer, Err(Refusal(reason.into())));
            return Ok(());
        }
        self.access.doing("write buffer: bursts after pauses");
        let from = self.sizes.capacity - self.sizes.trimmed - self.sizes.during_reads;
        let count = self.sizes.into_buffer / FILL_BLOCK;
        let mut refills = Vec::new();
        for (number, pause_s) in (0..).zip(PAUSES_S) {
            self.read_for(pause_s)?;
            // Of several lengths: what is left of an operation that is not full takes a part of the buffer.
            let count = count - number;
            let reads = ascending(from, self.sizes.during_reads, FILL_BLOCK, count);
            let write = |one: TimedRequest| TimedRequest { direction: Direction::Write, ..one };
            let burst: Vec<TimedRequest> = reads.into_iter().map(write).collect();
            let timings = self.access.send(&burst, DEPTH)?;
            let at = timings.requests.iter().map(|one| one.completed).collect();
            let writes =
                Completions { block: FILL_BLOCK, depth: DEPTH, at, host_load: timings.host_load };
            refills.push(Refill { pause_s: pause_s as f64, writes });
        }
        if self.wants(Structure::ProgramUnit) {
            self.groups = Some(self.small_writes(from)?);
        }
        let found = match self.is_throttled || !self.is_cold()? {
            true => Err(throttled(self.filled)),
            false => inference::write_buffer(&refills[1..], self.value(Structure::NativeRate)),
        };
        self.keep(Series::of_refills(&refills[1..]));
        self.answer(Structure::WriteBuffer, found);
        Ok(())
    }

    /// Sends small writes at once after a burst, which finds the buffer full.
    fn small_writes(&mut self, from: u64) -> Result<Completions, Ended> {
        let reads = ascending(from, self.sizes.during_reads, SMALL, self.sizes.groups / SMALL);
        let write = |one: TimedRequest| TimedRequest { direction: Direction::Write, ..one };
        let writes: Vec<TimedRequest> = reads.into_iter().map(write).collect();
        let timings = self.access.send(&writes, SMALL_DEPTH)?;
        let at = timings.requests.iter().map(|one| one.completed).collect();
        Ok(Completions { block: SMALL, depth: SMALL_DEPTH, at, host_load: timings.host_load })
    }

    /// Program unit: what the small writes show with what else is known.
    pub(super) fn program_unit(&mut self) -> Result<(), Ended> {
        if !self.is_open(Structure::ProgramUnit) {
            return Ok(());
        }
        let of = |structure: Structure| {
            let lacking = || Err(Refusal("it was not looked for".into()));
            self.outcome(structure).cloned().unwrap_or_else(lacking)
        };
        let known = [Structure::ProgramTime, Structure::Units, Structure::WriteBuffer].map(of);
        let [time, units, buffer] = &known;
        let found = match self.groups.take() {
            Some(writes) => {
                self.keep([Series::of_groups(&writes)]);
                inference::program_unit(&writes, time, units, buffer)
            }
            None => Err(Refusal("the write buffer was not filled".into())),
        };
        self.answer(Structure::ProgramUnit, found);
        Ok(())
    }

    /// Empties the write buffer by a flush, and by reads for `seconds`: a drive that rests would empty its cache as well.
    fn read_for(&mut self, seconds: u64) -> Result<(), Ended> {
        self.access.flush()?;
        let time = Nanos::from_secs(seconds);
        let limits = LaneLimits { time, written: Bytes(0), bin: Nanos::SECOND };
        self.access.run(&[self.small_reads()], limits)?;
        Ok(())
    }
}
