//! Experiments in the steady state of random writes: write amplification of uniform writes, then of writes to a
//! hot and a cold zone.

use super::Examination;
use super::error::Ended;
use super::fill::OVERWRITE_BLOCK;
use super::sizes::{MIB, Sizes};
use ssdgauge_core::{
    Access as Order, Bytes, Data, Direction, Lane, LaneLimits, Nanos, TargetKind, Zone,
};
use ssdgauge_xray::{
    self as inference, Identified, Refusal, Round, Series, Structure, Value, Written,
};

/// The share of the data that is hot.
const HOT: f64 = 0.1;
/// Requests in flight of the uniform writes, and of those to the hot and the cold zone: 90 % go to the hot one.
const DEPTHS: (u32, [u32; 2]) = (32, [27, 3]);
/// The length of a bin; the rates of these writes are not judged.
const BIN: Nanos = Nanos::from_secs(60);

impl Examination<'_> {
    /// Finds out whether the drive counts what it writes to its media, before anything is written.
    pub(super) fn counters(&mut self) -> Result<(), Ended> {
        let structures = [Structure::Overflow, Structure::EffectiveSpare, Structure::Separation];
        // What a scratch file lies on is not known.
        let is_drive = self.access.kind() != TargetKind::File;
        if is_drive && structures.iter().any(|one| self.wants(*one)) {
            self.counts_media = self.access.media_writes()?.is_some();
        }
        Ok(())
    }

    /// Effective spare area, and separation of hot and cold data.
    pub(super) fn steady_state(&mut self) -> Result<(), Ended> {
        if !self.is_open(Structure::EffectiveSpare) {
            self.is_open(Structure::Separation);
            return Ok(());
        }
        if !self.counts_media {
            // Rates alone do not give it: what limits a controller besides its flash is not known.
            let reason = "the drive reports no media writes, and rates do not separate collection \
                          from what else limits a drive";
            self.answer(Structure::EffectiveSpare, Err(Refusal(reason.into())));
            self.is_open(Structure::Separation);
            return Ok(());
        }
        // Writes that pass a cache are counted twice.
        let cache = match (&self.drop, &self.level) {
            (Some(drop), _) => drop.bytes.high,
            (None, Ok(())) => 0.0,
            (None, Err(Refusal(reason))) => {
                let reason = format!("writes may pass a fast cache that does not show: {reason}");
                self.answer(Structure::EffectiveSpare, Err(Refusal(reason)));
                self.is_open(Structure::Separation);
                return Ok(());
            }
        };
        self.access.doing("steady state: fill to the end");
        let end = self.fill_to_end()?;
        if let (None, Err(Refusal(reason))) = (&self.drop, &self.programs_once) {
            let reason = format!("writes may pass a fast cache that does not show: {reason}");
            self.answer(Structure::EffectiveSpare, Err(Refusal(reason)));
            self.is_open(Structure::Separation);
            return Ok(());
        }
        self.access.doing("steady state: uniform random writes");
        let uniform = [(0, end, DEPTHS.0)];
        let (rounds, amplification) = self.rounds(&uniform)?;
        for structure in [Structure::EffectiveSpare, Structure::Separation] {
            self.keep([Series::of_rounds(structure, 0, &rounds, end as f64)]);
        }
        let written = Written { data: end as f64, capacity: self.sizes.capacity as f64, cache };
        let spare = amplification.clone();
        let spare = spare.and_then(|value| inference::effective_spare(&value, written));
        self.answer(Structure::EffectiveSpare, spare.clone());
        if !self.is_open(Structure::Separation) {
            return Ok(());
        }
        let (Ok(amplification), Ok(spare)) = (amplification, spare) else { return Ok(()) };
        // The spare area of the data that is written.
        let spare = (1.0 + spare.value / 100.0) * written.capacity / written.data - 1.0;
        let separation = self.zones(end, &amplification, spare)?;
        self.answer(Structure::Separation, separation);
        Ok(())
    }

    /// Writes to a hot and a cold zone of the data, which ends at `end`.
    fn zones(&mut self, end: u64, uniform: &Value, spare: f64) -> Result<Identified, Ended> {
        if let Err(Refusal(reason)) = &self.level {
            let reason = format!("a fast cache may take the hot writes: {reason}");
            return Ok(Err(Refusal(reason)));
        }
        self.access.doing("steady state: random writes to zones");
        let hot = (HOT * end as f64) as u64 / MIB * MIB;
        let zones = [(0, hot, DEPTHS.1[0]), (hot, end - hot, DEPTHS.1[1])];
        let (rounds, zoned) = self.rounds(&zones)?;
        self.keep([Series::of_rounds(Structure::Separation, 1, &rounds, end as f64)]);
        let sent: f64 = rounds.iter().map(|round| round.sent).sum();
        let hot_sent: f64 = rounds.iter().map(|round| round.hot * round.sent).sum();
        let (accesses, space) = (hot_sent / sent.max(1.0), hot as f64 / end as f64);
        let zones =
            [Zone { accesses, space }, Zone { accesses: 1.0 - accesses, space: 1.0 - space }];
        Ok(zoned.and_then(|zoned| inference::separation(uniform, &zoned, &zones, spare)))
    }

    /// Writes rounds to ranges, each with its offset, length and requests in flight, until the write amplification
    /// is steady after half of them, or the bytes or the time are used up. Returns the rounds and the write
    /// amplification.
    fn rounds(&mut self, ranges: &[(u64, u64, u32)]) -> Result<(Vec<Round>, Identified), Ended> {
        let lane = |&(offset, span, queue_depth): &(u64, u64, u32)| Lane {
            direction: Direction::Write,
            access: Order::Random,
            block_size: Bytes(OVERWRITE_BLOCK),
            offset: Bytes(offset),
            span: Bytes(span),
            queue_depth,
            think: Nanos::ZERO,
            latencies: 0,
            data: Data::Incompressible,
        };
        let lanes: Vec<Lane> = ranges.iter().map(lane).collect();
        let mut rounds: Vec<Round> = Vec::new();
        let mut found = Err(Refusal("nothing was written".into()));
        let mut left = Sizes::STEADY;
        // What was written before does not count.
        let mut is_counted = self.access.media_writes()?.is_some();
        while (rounds.len() as u64) < Sizes::ROUNDS && is_counted {
            let written = Bytes(self.sizes.round);
            let ended = self.access.run(&lanes, LaneLimits { time: left, written, bin: BIN })?;
            let sent = |lane: usize| ended.lanes[lane].bytes.iter().sum::<u64>() as f64;
            let all: f64 = (0..lanes.len()).map(sent).sum();
            let counted = self.access.media_writes()?;
            is_counted = counted.is_some();
            if let Some(counted) = counted {
                rounds.push(Round { sent: all, hot: sent(0) / all.max(1.0), counted });
            }
            found = inference::steady_amplification(&rounds);
            left = left.saturating_sub(ended.elapsed);
            if left == Nanos::ZERO && found.is_err() {
                let hours = Sizes::STEADY.as_secs_f64() / 3_600.0;
                found = Err(Refusal(format!("the drive is not steady after {hours:.0} hours")));
            }
            let is_old = rounds.len() as u64 >= Sizes::ROUNDS / 2;
            if left == Nanos::ZERO || is_old && found.is_ok() {
                break;
            }
        }
        if !is_counted {
            found = Err(Refusal("the counters of media writes could not be read".into()));
        }
        Ok((rounds, found))
    }
}
