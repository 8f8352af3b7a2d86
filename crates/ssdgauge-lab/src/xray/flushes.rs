//! The experiment for flushes: a flush after nothing, after one write, and after a burst of writes.

use super::Examination;
use super::access::read;
use super::error::Ended;
use super::sizes::FILL_BLOCK;
use ssdgauge_core::{
    Access as Order, Bytes, Data, Direction, Finding, FindingKind, Flush, Lane, LaneLimits, Nanos,
    Severity, TimedRequest,
};
use ssdgauge_xray::{self as inference, Flushes, Refusal, Series, Structure};

/// The block of single writes.
pub(super) const BLOCK: u64 = 4_096;
/// The distance of single writes: the largest mapping unit.
const APART: u64 = 64 << 10;
/// The single writes.
pub(super) const SINGLE: usize = 48;
/// The bursts.
pub(super) const BURSTS: usize = 3;
/// Requests in flight of a burst.
const DEPTH: u32 = 32;
/// The time of a burst at most.
const LONGEST: Nanos = Nanos::from_secs(60);

impl Examination<'_> {
    /// Flush: its time after writes, and after another flush.
    pub(super) fn flushes(&mut self) -> Result<(), Ended> {
        if !self.is_open(Structure::Flush) {
            return Ok(());
        }
        self.access.doing("flush: writes, each followed by a flush");
        let from = self.sizes.capacity - self.sizes.trimmed - self.sizes.during_reads;
        // For the time of a program, each is in a mapping unit that holds nothing else, so that nothing has to be read
        // first.
        let are_apart = self.wants(Structure::ProgramTime);
        let in_range = self.sizes.during_reads / BLOCK;
        let place = |number: u64| match are_apart {
            true => from - (number + 2) * APART,
            false => from + number % in_range * BLOCK,
        };
        let first_at = if are_apart { from - APART } else { from };
        let write = TimedRequest { direction: Direction::Write, ..read(first_at, BLOCK) };
        self.access.send(&[write], 1)?;
        let first = self.access.flush()?;
        if let Some(reason) = is_not_sent(first.as_ref()) {
            self.answer(Structure::Flush, Err(reason));
            return Ok(());
        }
        let single = |number| {
            [
                TimedRequest { offset: place(number), ..write },
                TimedRequest::FLUSH,
                TimedRequest::FLUSH,
            ]
        };
        let requests: Vec<TimedRequest> = (0..SINGLE as u64).flat_map(single).collect();
        let us = self.latencies(&requests)?;
        let of_kind = |place: usize| us.chunks_exact(3).map(|three| three[place]).collect();
        let mut flushes = Flushes {
            after_write_us: of_kind(1),
            alone_us: of_kind(2),
            after_burst_us: Vec::new(),
        };
        for _ in 0..BURSTS {
            self.burst_before_flush(from)?;
            flushes.after_burst_us.extend(self.latencies(&[TimedRequest::FLUSH])?);
        }
        let found = inference::flush(&flushes);
        let is_stated = first.and_then(|flush| flush.device).is_some_and(|one| one != "virtual");
        if is_stated && found.as_ref().is_ok_and(|value| value.value == 0.0) {
            self.access.find(without_work(self.sizes.before_flush));
        }
        self.keep(Series::of_flushes(&flushes));
        self.answer(Structure::Flush, found);
        self.flushes = Some(flushes);
        Ok(())
    }

    fn burst_before_flush(&mut self, from: u64) -> Result<(), Ended> {
        let lane = Lane {
            direction: Direction::Write,
            access: Order::Sequential,
            block_size: Bytes(FILL_BLOCK),
            offset: Bytes(from),
            span: Bytes(self.sizes.during_reads),
            queue_depth: DEPTH,
            think: Nanos::ZERO,
            latencies: 0,
            data: Data::Incompressible,
        };
        let written = Bytes(self.sizes.before_flush);
        let limits = LaneLimits { time: LONGEST, written, bin: Nanos::SECOND };
        self.access.run(&[lane], limits)?;
        Ok(())
    }
}

/// Returns why the times of flushes show nothing where the kernel did not send the `first` one after a write.
fn is_not_sent(first: Option<&Flush>) -> Option<Refusal> {
    let reason = match first.map(|flush| flush.counted) {
        Some(Some(0)) => {
            "the drive states no volatile write cache, so that the kernel sends it no flush"
        }
        Some(_) => return None,
        None => "the target takes no flush",
    };
    Some(Refusal(reason.into()))
}

/// Returns the finding about a drive that states a volatile write cache and has nothing to do for a flush.
fn without_work(burst: u64) -> Finding {
    Finding::new(
        FindingKind::FlushWithoutWork,
        Severity::Warning,
        format!(
            "the drive states a volatile write cache, but a flush after {} of writes takes no longer than one after \
             nothing",
            Bytes(burst).about()
        ),
        "this decides nothing: its buffer may outlive a loss of power. Check with `ssdgauge prove`, a power cut, and \
         `ssdgauge prove --read`",
    )
}
