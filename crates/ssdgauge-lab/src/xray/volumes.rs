//! The experiment for independent volumes: random writes to a range that was filled, with one address bit held and with
//! none.

use super::Examination;
use super::error::Ended;
use super::fill::throttled;
use ssdgauge_core::{Direction, Nanos, Random, TimedRequest};
use ssdgauge_xray::{self as inference, Held, Series, Structure, Volumes};

/// The block of the writes: a mapping unit up to this length has no part in them.
const BLOCK: u64 = 64 << 10;
/// The lowest bit that is held. Chosen: one below those that are looked for, so that the lowest volume bit shows as such.
pub(super) const LOWEST: u64 = 32 << 10;
/// The rounds: one with each bit clear, and one with it set.
pub(super) const ROUNDS: u64 = 2;
/// The writes before the rounds, in writes of one measurement: they fill write buffers and what is left of a cache.
pub(super) const BEFORE: u64 = 4;
/// Requests in flight. Chosen: eight for each of eight volumes, so that few of them wait for work meanwhile.
const DEPTH: u32 = 64;
/// The seconds of a measurement at most, with all of the flash; half of it takes twice as long.
const LONGEST_S: f64 = 30.0;
/// The minimum number of writes of a measurement.
const LEAST: u64 = 64;
/// The random numbers of the places.
const PLACES: u64 = 0x9a3;

impl Examination<'_> {
    /// Volumes: random writes with each bit of the address held alternately, and for comparison with none held.
    pub(super) fn volumes(&mut self) -> Result<(), Ended> {
        let is_answered = |one: &inference::Answer| one.structure == Structure::Volumes;
        if self.answers.iter().any(is_answered) || !self.is_open(Structure::Volumes) {
            return Ok(());
        }
        let Some(link) = self.value(Structure::Link) else { return Ok(()) };
        self.access.doing("volumes: writes with one address bit held");
        let (from, span) = self.sizes.held_range();
        let missing = (from + span).saturating_sub(self.filled);
        if missing > 0 {
            self.write_ascending(missing, &mut inference::Course::default())?;
        }
        let before = BEFORE * self.sizes.held;
        let rate = self.write_at_random((from, span), BLOCK, before)?;
        let bytes = self.sizes.held.min((LONGEST_S * rate) as u64).max(LEAST * BLOCK);
        let mut is_cold = self.is_cold()?;
        let bits = self.rates_by_bit((from, span), bytes)?;
        is_cold = is_cold && self.is_cold()?;
        self.keep([Series::of_held(&bits)]);
        let found = match is_cold {
            true => inference::volumes(&bits, link),
            false => Err(throttled(self.filled)),
        };
        self.volumes = found.as_ref().ok().copied();
        self.answer(Structure::Volumes, found.map(Volumes::value));
        Ok(())
    }

    /// Returns the rates of writes of `bytes` to a range, with each of its address bits held and with none.
    fn rates_by_bit(&mut self, (from, span): (u64, u64), bytes: u64) -> Result<Vec<Held>, Ended> {
        let mut random = Random::new(self.access.seed(), PLACES);
        let doubled = std::iter::successors(Some(LOWEST), |bit| Some(2 * bit));
        let bits = doubled.take_while(|bit| *bit < span);
        let mut bits: Vec<Held> =
            bits.map(|bytes| Held { bytes, block: bytes.min(BLOCK), rounds: Vec::new() }).collect();
        for round in 0..ROUNDS {
            for bit in &mut bits {
                let block = bit.block;
                let mut write = |held: u64, value: u64| {
                    let place = |_| from + ((random.below(span / block) * block) & !held | value);
                    let places: Vec<u64> = (0..bytes / block).map(place).collect();
                    self.rate_of_writes(&places, block)
                };
                let free = write(0, 0)?;
                bit.rounds.push((free, write(bit.bytes, bit.bytes * (round % 2))?));
            }
        }
        Ok(bits)
    }

    /// Writes blocks at `places`; returns the rate of the second half in bytes per second.
    fn rate_of_writes(&mut self, places: &[u64], block: u64) -> Result<f64, Ended> {
        let write = |offset: &u64| TimedRequest {
            due: Nanos::ZERO,
            direction: Direction::Write,
            offset: *offset,
            length: block as u32,
        };
        let requests: Vec<TimedRequest> = places.iter().map(write).collect();
        let timings = self.access.send(&requests, DEPTH)?;
        let mut at: Vec<Nanos> = timings.requests.iter().map(|one| one.completed).collect();
        at.sort_unstable();
        let (middle, last) = (at.len() / 2, at.len() - 1);
        let seconds = at[last].saturating_sub(at[middle]).as_secs_f64();
        Ok(((last - middle) as u64 * block) as f64 / seconds.max(1e-9))
    }
}
