//! Experiments of writes: the staged fill, bursts after rests, and random overwrites of a full drive.

use super::Examination;
use super::access::ascending;
use super::error::Ended;
use super::sizes::{FILL_BLOCK, MIB, Sizes};
use ssdgauge_core::{Access as Order, Bytes, Data, Direction, Lane, LaneLimits, Nanos};
use ssdgauge_xray::{
    self as inference, Burst, Course, Drop, Refusal, Round, Series, Structure, first_drop, level,
    native_rate, recovered,
};

/// The share of the cache that has to be written after its end, so that the drop is lasting.
const LASTING: f64 = 0.3;
/// The block of the reads and writes of a light load.
const LIGHT_BLOCK: u64 = 4_096;
/// The share of the cache that a drive would free in a rest as long as a light load, and that is written after it.
const LIGHT: f64 = 0.5;
/// The time of a light load at most, in seconds, and the pause between its writes.
const MOST_LIGHT_S: f64 = 60.0;
const LIGHT_THINK: Nanos = Nanos(5_000_000);
/// The minimum time of a light load in which a drive cools, in seconds, and the share of the cache that is written after it.
const LEAST_LIGHT_S: f64 = 10.0;
const LEAST_AGAIN: f64 = 0.05;
/// Requests in flight of a fill.
const DEPTH: u32 = 32;
/// The length of a random overwrite: a mapping unit up to this length has no part in what it programs.
pub(super) const OVERWRITE_BLOCK: u64 = 64 << 10;
/// The share of the link below which reads of trimmed addresses show a throttled drive.
const COLD: f64 = 0.95;
/// The share of the link from which a fill may run into a cache without an end that shows.
const LINK_HIDES: f64 = 0.85;
/// The share of the cache that a rest frees before others are chosen by it.
const FREED: f64 = 0.3;
/// The rests that are tried where one frees nothing and the next one nearly everything.
const MOST_BETWEEN: usize = 6;
/// The shares of the cache that the chosen rests free, in groups: the sums up to a burst differ most between them.
const SHARES: [f64; 10] = [0.62, 0.62, 0.2, 0.2, 0.2, 0.62, 0.62, 0.2, 0.2, 0.4];
/// A rest that frees little of a cache, in seconds.
const SHORTEST_S: f64 = Sizes::RESTS_S[0];
/// The stages of a fill that are counted while the cache is full.
pub(super) const COUNTED: u64 = 4;
/// The maximum that a burst writes, in bytes of the cache.
const MOST_OF_CACHE: f64 = 2.0;
/// The seconds of a stage of a fill: throttling lasts longer. Chosen.
const STAGE_S: f64 = 2.0;
/// The time of a short look whether the drive is throttled, in seconds. Chosen: a hundredth of a stage at most.
const COLD_S: f64 = 0.01;
/// The minimum and the maximum number of reads of such a look.
const COLD_READS: [u64; 2] = [100, 2_000];

/// What the bursts after rests may still use.
struct Room {
    /// The end of the range that they fill.
    end: u64,
    /// The seconds of their writes.
    seconds: f64,
}

impl Examination<'_> {
    /// Fast cache and the rate after it: ascending writes until the rate has dropped for good.
    pub(super) fn staged_fill(&mut self) -> Result<(), Ended> {
        if !self.is_open(Structure::Cache) {
            return self.inherit();
        }
        self.access.doing("fast cache: fill");
        self.has_region = true;
        let mut course = Course::default();
        let mut found = Err(Refusal("nothing was written".into()));
        while self.filled + self.sizes.stage <= self.sizes.fill
            && course.seconds() < Sizes::FILL.as_secs_f64()
        {
            self.write_stage(&mut course)?;
            found = self.first_drop_of_a_cold_drive(&course)?;
            let is_lasting = |drop: &Drop| drop.bytes_after >= LASTING * drop.bytes.value;
            if found.as_ref().is_ok_and(is_lasting) || self.is_throttled {
                break;
            }
        }
        // At the rate of the link, the end of a cache would not show.
        let mb_s = course.bytes() / course.seconds().max(1e-9) / 1e6;
        let hides = self.value(Structure::Link).is_some_and(|link| mb_s > LINK_HIDES * link);
        self.level = match (self.is_throttled, hides) {
            (true, _) => Err(throttled(self.filled)),
            (false, true) => Err(Refusal(
                "the fill ran at the rate of the link, which hides a fast cache".into(),
            )),
            (false, false) => level(&course),
        };
        self.keep([Series::of_course(Structure::Cache, &course)]);
        if let Ok(drop) = found {
            found = self.check_buffer(&drop)?.map(|()| drop);
        }
        if let Ok(drop) = found {
            found = self.check_heat_of_writes(&drop)?.map(|()| drop);
        }
        self.drop = found.as_ref().ok().copied();
        let rate = found.as_ref().map(native_rate).map_err(Clone::clone);
        self.answer(Structure::Cache, found.map(|drop| drop.bytes));
        self.answer(Structure::NativeRate, rate);
        self.is_full = self.drop.is_some();
        self.inherit()
    }

    /// Checks that `drop` is not the end of a large write buffer, which drains in a short rest.
    fn check_buffer(&mut self, drop: &Drop) -> Result<Result<(), Refusal>, Ended> {
        let Some(rest_s) = inference::rest_of_buffer(drop) else { return Ok(Ok(())) };
        let end = self.sizes.fill.min(self.filled + self.sizes.into_cache);
        let mut room = Room { end, seconds: Sizes::BURST.as_secs_f64() };
        let mut bursts = Vec::new();
        self.burst("fast cache", rest_s, drop, &mut room, &mut bursts)?;
        Ok(inference::is_not_a_buffer(drop, bursts.first().map(|burst| burst.bytes)))
    }

    /// Overflow kind: what the drive counts in ascending writes while its cache is full.
    pub(super) fn overflow(&mut self) -> Result<(), Ended> {
        if !self.is_open(Structure::Overflow) {
            return Ok(());
        }
        if self.counts_media && !self.is_full {
            self.fill_cache()?;
        }
        let reason = match (self.counts_media, self.is_full) {
            (true, true) => None,
            (false, _) => {
                Some("the drive reports no media writes, and the rate alone does not tell")
            }
            (true, false) => Some("the fast cache was not full again after the last rest"),
        };
        if let Some(reason) = reason {
            self.answer(Structure::Overflow, Err(Refusal(reason.into())));
            return Ok(());
        }
        self.access.doing("overflow kind: writes after the cache is full");
        let mut stages = Vec::new();
        // What was written before does not count.
        self.access.media_writes()?;
        for _ in 0..COUNTED {
            let bytes = self.sizes.counted;
            self.write_ascending(bytes, &mut Course::default())?;
            let counted = self.access.media_writes()?;
            stages.extend(counted.map(|counted| Round { sent: bytes as f64, hot: 1.0, counted }));
        }
        self.keep([Series::of_rounds(Structure::Overflow, 0, &stages, 1e9)]);
        self.answer(Structure::Overflow, inference::overflow(&stages));
        Ok(())
    }

    /// Fills the cache again: the last burst may have ended before that.
    pub(super) fn fill_cache(&mut self) -> Result<(), Ended> {
        let Some(drop) = self.drop else { return Ok(()) };
        let end = (self.sizes.fill + self.sizes.bursts).min(self.filled + self.sizes.into_cache);
        let mut room = Room { end, seconds: Sizes::BURST.as_secs_f64() };
        self.burst("overflow kind", SHORTEST_S, &drop, &mut room, &mut Vec::new())?;
        Ok(())
    }

    /// Returns the first drop of `course`, which ends now, or that the drive is throttled. Throttling that
    /// came and went would leave a drop as well, so every stage is checked.
    fn first_drop_of_a_cold_drive(
        &mut self,
        course: &Course,
    ) -> Result<Result<Drop, Refusal>, Ended> {
        if self.is_cold()? {
            return Ok(first_drop(course));
        }
        self.is_throttled = true;
        Ok(Err(throttled(self.filled)))
    }

    /// Writes a stage after what was written so far, of [`STAGE_S`] at most.
    fn write_stage(&mut self, course: &mut Course) -> Result<(), Ended> {
        let last = course.bins.iter().rev().take(16);
        let (bytes, seconds) = last.fold((0.0, 1e-9), |sum, bin| (sum.0 + bin.1, sum.1 + bin.0));
        let most = match bytes > 0.0 {
            true => (STAGE_S * bytes / seconds) as u64,
            false => self.sizes.stage,
        };
        self.write_ascending(self.sizes.stage.min(most / MIB * MIB).max(4 * MIB), course)
    }

    /// Answers for what follows from another structure alone.
    fn inherit(&mut self) -> Result<(), Ended> {
        self.is_open(Structure::NativeRate);
        Ok(())
    }

    /// Writes `bytes` after what was written so far, and appends the bins to `course`.
    pub(super) fn write_ascending(&mut self, bytes: u64, course: &mut Course) -> Result<(), Ended> {
        let lane = Lane {
            direction: Direction::Write,
            access: Order::Sequential,
            block_size: Bytes(FILL_BLOCK),
            offset: Bytes(self.filled),
            span: Bytes(bytes),
            queue_depth: DEPTH,
            think: Nanos::ZERO,
            latencies: 0,
            data: Data::Incompressible,
        };
        let bin = self.sizes.bin;
        let limits = LaneLimits { time: Sizes::LONGEST, written: Bytes(bytes), bin };
        let ended = self.access.run(&[lane], limits)?;
        course.append(&ended.lanes[0].bytes, bin.as_secs_f64(), ended.elapsed.as_secs_f64());
        self.filled += bytes;
        Ok(())
    }

    /// Returns whether reads of trimmed addresses still run at the rate of the link. The first look is short: the
    /// write buffer drains meanwhile.
    pub(super) fn is_cold(&mut self) -> Result<bool, Ended> {
        let Some(link) = self.value(Structure::Link) else { return Ok(true) };
        let trimmed = self.sizes.trimmed;
        let short = ((link * 1e6 * COLD_S) as u64 / FILL_BLOCK).max(COLD_READS[0]);
        for count in [short.min(COLD_READS[1]), COLD_READS[1]] {
            let requests = ascending(self.sizes.capacity - trimmed, trimmed, FILL_BLOCK, count);
            let reads = self.completions(&requests, FILL_BLOCK, DEPTH)?;
            self.later.trimmed_mb_s = self.later.trimmed_mb_s.max(reads.long_mb_s().unwrap_or(0.0));
            if reads.mb_s().is_some_and(|rate| rate > COLD * link) {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Folding rate: bursts after rests, as long as there is room.
    pub(super) fn folding(&mut self) -> Result<(), Ended> {
        if !self.is_open(Structure::Folding) {
            return Ok(());
        }
        let Some(drop) = self.drop else { return Ok(()) };
        let seconds = Sizes::BURSTS.as_secs_f64();
        let mut room = Room { end: self.filled + self.sizes.bursts, seconds };
        let cache = drop.bytes.value;
        let mut bursts: Vec<Burst> = Vec::new();
        for rest_s in Sizes::RESTS_S {
            if !self.burst("folding", rest_s, &drop, &mut room, &mut bursts)?
                || bursts.last().is_some_and(|burst| burst.bytes > FREED * cache)
            {
                break;
            }
        }
        for _ in 0..MOST_BETWEEN {
            let Some(rest_s) = inference::rest_between(&bursts, cache) else { break };
            if !self.burst("folding", rest_s, &drop, &mut room, &mut bursts)? {
                break;
            }
        }
        // What is left is divided among the bursts; each writes about as much beyond the cache as into it.
        let left = room.end.saturating_sub(self.filled) as f64;
        let affordable = 0.5 * left / ((LIGHT + SHARES.iter().sum::<f64>()) * cache);
        let rest_s = inference::rest_for(&bursts, cache, LIGHT);
        let under_load = match rest_s {
            Some(rest_s) => self.folds_under_load(rest_s, &drop, &mut room)?,
            None => None,
        };
        let mut rested_s = 0.0;
        for share in SHARES {
            let rest_s = inference::rest_for(&bursts, cache, share * affordable.min(1.0));
            let Some(rest_s) = rest_s.filter(|rest_s| rested_s + rest_s < Sizes::MORE_RESTS_S)
            else {
                break;
            };
            rested_s += rest_s;
            if !self.burst("folding", rest_s, &drop, &mut room, &mut bursts)? {
                break;
            }
        }
        self.freed = bursts.iter().map(|burst| burst.bytes).sum();
        self.keep([Series::of_bursts(&bursts)]);
        let found = inference::folding_rate(&bursts, &drop, under_load);
        self.answer(Structure::Folding, found);
        Ok(())
    }

    /// Returns reads at random of the range with data, one at a time: they keep the drive from its idle work.
    pub(super) fn small_reads(&self) -> Lane {
        Lane {
            direction: Direction::Read,
            access: Order::Random,
            block_size: Bytes(LIGHT_BLOCK),
            offset: Bytes(0),
            span: Bytes(self.sizes.region),
            queue_depth: 1,
            think: Nanos::ZERO,
            latencies: 0,
            data: Data::Incompressible,
        }
    }

    /// Returns reads at random with a few writes, for `load_s` at most.
    fn light_load(&self, load_s: f64) -> ([Lane; 2], LaneLimits) {
        let reads = self.small_reads();
        let span = Bytes(self.sizes.during_reads);
        let writes = Lane {
            direction: Direction::Write,
            access: Order::Sequential,
            offset: Bytes(self.sizes.capacity - self.sizes.trimmed - span.0),
            span,
            think: LIGHT_THINK,
            ..reads.clone()
        };
        let time = Nanos((load_s.min(MOST_LIGHT_S) * 1e9) as u64);
        ([reads, writes], LaneLimits { time, written: span, bin: Nanos::SECOND })
    }

    /// Checks that `drop` is not that of a drive which throttles only its writes, as no read shows: where the drive is warm, or
    /// has no sensor, a light load as long as the writes before the drop must not bring their rate back. It leaves a full
    /// cache full, and lets a drive cool.
    fn check_heat_of_writes(&mut self, drop: &Drop) -> Result<Result<(), Refusal>, Ended> {
        let celsius = self.access.celsius();
        if !inference::writes_may_be_throttled(celsius) {
            return Ok(Ok(()));
        }
        let (lanes, limits) = self.light_load(drop.at_s.max(LEAST_LIGHT_S));
        if self.access.was_not_run(&lanes, limits) {
            return Ok(Ok(()));
        }
        let end = self.sizes.fill.min(self.filled + self.sizes.into_cache);
        let bytes = (LIGHT * drop.bytes.value) as u64 / MIB * MIB;
        let bytes = bytes.min(end - self.filled.min(end));
        if bytes < self.sizes.stage.min((LEAST_AGAIN * drop.bytes.value) as u64) {
            return Ok(Err(inference::writes_throttled(celsius, false)));
        }
        self.access.doing("fast cache: reads with a few writes, and writes again");
        self.access.run(&lanes, limits)?;
        let mut course = Course::default();
        self.write_ascending(bytes, &mut course)?;
        if !self.is_cold()? {
            self.is_throttled = true;
            return Ok(Err(throttled(self.filled)));
        }
        match inference::folds_under_load(&course, drop) {
            true => Ok(Err(inference::writes_throttled(celsius, true))),
            false => Ok(Ok(())),
        }
    }

    /// Returns whether the drive empties its cache under load: whether a part of it is free again after reads with a few
    /// writes for `load_s` instead of a rest. `None` where there is no `room` left to write so much.
    fn folds_under_load(
        &mut self,
        load_s: f64,
        drop: &Drop,
        room: &mut Room,
    ) -> Result<Option<bool>, Ended> {
        // More than what is left of a superblock for writes that bypass the cache.
        let bytes = (LIGHT * drop.bytes.value) as u64 / MIB * MIB;
        if self.filled + bytes > room.end || bytes == 0 || !self.is_full {
            return Ok(None);
        }
        self.access.doing("folding: reads with a few writes instead of a rest");
        let (lanes, limits) = self.light_load(load_s);
        self.access.run(&lanes, limits)?;
        let mut course = Course::default();
        self.write_ascending(bytes, &mut course)?;
        room.seconds -= course.seconds();
        Ok(self.is_cold()?.then(|| inference::folds_under_load(&course, drop)))
    }

    /// Rests, and writes until the cache is full again; returns false where there is no `room` left. The burst of a
    /// throttled drive is left out.
    fn burst(
        &mut self,
        what: &str,
        rest_s: f64,
        drop: &Drop,
        room: &mut Room,
        bursts: &mut Vec<Burst>,
    ) -> Result<bool, Ended> {
        self.access.doing(&format!(
            "{what}: burst after a rest of {}",
            Nanos((rest_s * 1e9) as u64).about()
        ));
        self.access.rest(Nanos((rest_s * 1e9) as u64))?;
        self.is_full = false;
        let stage = (drop.before * 0.1).max(24.0 * drop.after * self.sizes.bin.as_secs_f64());
        let stage = (stage as u64).next_multiple_of(MIB);
        let mut course = Course::default();
        while course.bytes() < MOST_OF_CACHE * drop.bytes.value
            && self.filled + stage <= room.end
            && room.seconds > 0.0
        {
            let before = course.seconds();
            self.write_ascending(stage, &mut course)?;
            room.seconds -= course.seconds() - before;
            if let Some(bytes) = recovered(&course, drop) {
                self.is_full = true;
                if self.is_cold()? {
                    bursts.push(Burst { rest_s, bytes });
                }
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Fills the drive up to its end that stays trimmed, and returns that end. Where the steady state follows and the
    /// rate shows no fast cache, a rest after it shows one that the drive empties.
    pub(super) fn fill_to_end(&mut self) -> Result<u64, Ended> {
        let end = self.sizes.capacity - self.sizes.trimmed;
        let sent = end - self.filled.min(end);
        // What was written before does not count.
        let counts = sent > 0 && self.counts_media && self.access.media_writes()?.is_some();
        let mut course = Course::default();
        while self.filled < end {
            let rest = end - self.filled;
            self.write_ascending(self.sizes.stage.min(rest), &mut course)?;
        }
        if counts && self.drop.is_none() && self.wants(Structure::EffectiveSpare) {
            self.settle("steady state: rest that empties a fast cache")?;
            let counted = self.access.media_writes()?;
            let fill = counted.map(|counted| Round { sent: sent as f64, hot: 1.0, counted });
            self.programs_once = match fill {
                Some(fill) => inference::programs_once(&fill),
                None => Err(Refusal("the counters of media writes could not be read".into())),
            };
        }
        Ok(end)
    }

    /// Spare area: the drive is filled to its end, and overwritten at random until the rate drops.
    pub(super) fn spare_area(&mut self) -> Result<(), Ended> {
        if !self.is_open(Structure::Spare) {
            return Ok(());
        }
        if let Err(Refusal(reason)) = &self.level {
            let reason = format!("drops of overwrites would not be told apart: {reason}");
            self.answer(Structure::Spare, Err(Refusal(reason)));
            return Ok(());
        }
        self.access.doing("spare area: fill to the end");
        let end = self.fill_to_end()?;
        self.access.doing("spare area: random overwrites");
        let lane = Lane {
            direction: Direction::Write,
            access: Order::Random,
            block_size: Bytes(OVERWRITE_BLOCK),
            offset: Bytes(0),
            span: Bytes(end),
            queue_depth: DEPTH,
            think: Nanos::ZERO,
            latencies: 0,
            data: Data::Incompressible,
        };
        let mut course = Course::default();
        let mut found = Err(Refusal("nothing was written".into()));
        let bin = Nanos(self.sizes.bin.0 * 5);
        for _ in 0..self.sizes.overwrites / self.sizes.stage {
            let written = Bytes(self.sizes.stage);
            let limits = LaneLimits { time: Sizes::LONGEST, written, bin };
            let ended = self.access.run(std::slice::from_ref(&lane), limits)?;
            course.append(&ended.lanes[0].bytes, bin.as_secs_f64(), ended.elapsed.as_secs_f64());
            let is_lasting = first_drop(&course)
                .is_ok_and(|drop| drop.bytes_after >= LASTING * drop.bytes.value);
            found = inference::spare_area(&course, end as f64, self.sizes.trimmed as f64);
            if !self.is_cold()? {
                found = Err(throttled(end));
                break;
            }
            if is_lasting {
                break;
            }
        }
        self.keep([Series::of_overwrites(&course, self.sizes.trimmed as f64)]);
        self.answer(Structure::Spare, found);
        Ok(())
    }
}

/// Returns the reason where the drive is throttled after a fill of `bytes`.
pub(super) fn throttled(bytes: u64) -> Refusal {
    Refusal(format!(
        "after {}, reads of trimmed addresses are slower than before, as where a drive is throttled",
        Bytes(bytes).about()
    ))
}
