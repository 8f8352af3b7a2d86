//! Experiments of writes: the staged fill, bursts behind rests, and random overwrites of a full drive.

use super::Examination;
use super::error::Ended;
use super::sizes::{FILL_BLOCK, Sizes};
use ssdgauge_core::{Access as Order, Bytes, Direction, Lane, LaneLimits, Nanos};
use ssdgauge_xray::{
    self as inference, Burst, Course, Drop, Refusal, Structure, first_drop, native_rate, recovered,
};

/// The share of the cache that has to be written behind its end, so that the drop is lasting.
const BEHIND: f64 = 0.3;
/// Requests in flight of a fill.
const DEPTH: u32 = 32;
/// The share of the link below which reads of trimmed addresses show a throttled drive.
const COLD: f64 = 0.95;
/// The share of the link from which a fill may run into a cache without an end that shows.
const LINK_HIDES: f64 = 0.85;
/// The share of the cache that rests have to free before their number is enough.
const FREED: f64 = 0.3;
/// The stages of a burst.
const MOST_STAGES: u32 = 40;
impl Examination<'_> {
    /// Fast cache and the rate behind it: ascending writes until the rate has dropped for good.
    pub(super) fn staged_fill(&mut self) -> Result<(), Ended> {
        if !self.is_open(Structure::Cache) {
            return self.inherit();
        }
        // What an earlier experiment wrote is no longer in the cache, as far as the drive folds at once.
        let units = [Structure::Units, Structure::Chunk, Structure::PageRead];
        if units.iter().any(|one| self.wants(*one)) {
            self.access.trim()?;
            self.access.rest(Nanos::from_secs(60))?;
        }
        self.access.doing("fast cache: fill");
        self.has_region = true;
        let mut course = Course::default();
        let mut found = Err(Refusal("nothing was written".into()));
        while self.filled + self.sizes.stage <= self.sizes.fill {
            self.write_ascending(self.sizes.stage, &mut course)?;
            found = first_drop(&course);
            let is_lasting = |drop: &Drop| drop.bytes_behind >= BEHIND * drop.bytes.value;
            if found.as_ref().is_ok_and(is_lasting) {
                break;
            }
        }
        let is_cold = self.is_cold()?;
        // At the rate of the link, the end of a cache would not show.
        let mb_s = course.bytes() / course.seconds().max(1e-9) / 1e6;
        let hides = self.value(Structure::Link).is_some_and(|link| mb_s > LINK_HIDES * link);
        self.is_level = is_cold && found.is_err() && !hides;
        let found = match is_cold {
            true => found,
            false => {
                let why = "reads of trimmed addresses are slower behind the fill than before, as where a \
                           drive is throttled";
                Err(Refusal(why.into()))
            }
        };
        self.drop = found.as_ref().ok().copied();
        let rate = found.as_ref().map(native_rate).map_err(Clone::clone);
        self.answer(Structure::Cache, found.map(|drop| drop.bytes));
        self.answer(Structure::NativeRate, rate);
        self.inherit()
    }

    /// Answers for structures that follow from others alone.
    fn inherit(&mut self) -> Result<(), Ended> {
        for structure in [Structure::NativeRate, Structure::Overflow] {
            self.is_open(structure);
        }
        Ok(())
    }

    /// Writes `bytes` behind what was written so far, and appends the bins to `course`.
    fn write_ascending(&mut self, bytes: u64, course: &mut Course) -> Result<(), Ended> {
        let lane = Lane {
            direction: Direction::Write,
            access: Order::Sequential,
            block_size: Bytes(FILL_BLOCK),
            offset: Bytes(self.filled),
            span: Bytes(bytes),
            queue_depth: DEPTH,
            think: Nanos::ZERO,
            latencies: 0,
        };
        let bin = self.sizes.bin;
        let limits = LaneLimits { time: Sizes::LONGEST, written: Bytes(bytes), bin };
        let ended = self.access.run(&[lane], limits)?;
        course.append(&ended.lanes[0].bytes, bin.as_secs_f64(), ended.elapsed.as_secs_f64());
        self.filled += bytes;
        Ok(())
    }

    /// Returns whether reads of trimmed addresses still run at the rate of the link.
    fn is_cold(&mut self) -> Result<bool, Ended> {
        let from = self.sizes.capacity / 10 * 9 / FILL_BLOCK * FILL_BLOCK;
        let from = from / (1 << 20) * (1 << 20);
        let reads = self.closed(from, FILL_BLOCK, 2_000, 32)?;
        let Some(link) = self.value(Structure::Link) else { return Ok(true) };
        let last = reads.at.iter().max().copied().unwrap_or_default().as_secs_f64();
        Ok((2_000 * FILL_BLOCK) as f64 / last.max(1e-9) / 1e6 > COLD * link)
    }

    /// Folding rate: bursts behind rests, as long as there is room.
    pub(super) fn folding(&mut self) -> Result<(), Ended> {
        if !self.is_open(Structure::Folding) {
            return Ok(());
        }
        let Some(drop) = self.drop else { return Ok(()) };
        let end = self.filled + self.sizes.bursts;
        let mut bursts = Vec::new();
        let mut longest = 0.0;
        for rest_s in Sizes::RESTS_S {
            match self.burst(rest_s, &drop, end)? {
                Some(burst) => bursts.push(burst),
                None => break,
            }
            longest = rest_s;
            let freed = bursts.last().map_or(0.0, |burst| burst.bytes);
            if bursts.len() >= 3 && freed > FREED * drop.bytes.value {
                break;
            }
        }
        for share in [0.35, 0.5, 0.65, 0.8, 1.0] {
            match self.burst(share * longest, &drop, end)? {
                Some(burst) => bursts.push(burst),
                None => break,
            }
        }
        let rate = inference::folding_rate(&bursts, drop.bytes.value);
        self.answer(Structure::Folding, rate);
        Ok(())
    }

    /// Rests, and writes until the cache is full again; `None` where there is no room to `end`.
    fn burst(&mut self, rest_s: f64, drop: &Drop, end: u64) -> Result<Option<Burst>, Ended> {
        self.access.doing(&format!("folding: burst behind a rest of {rest_s:.2} s"));
        self.access.rest(Nanos((rest_s * 1e9) as u64))?;
        let stage = (drop.before * 0.1).max(24.0 * drop.behind * self.sizes.bin.as_secs_f64());
        let stage = (stage as u64).next_multiple_of(1 << 20);
        let mut course = Course::default();
        for _ in 0..MOST_STAGES {
            if self.filled + stage > end {
                return Ok(None);
            }
            self.write_ascending(stage, &mut course)?;
            if let Some(bytes) = recovered(&course, drop) {
                return Ok(Some(Burst { rest_s, bytes }));
            }
        }
        Ok(None)
    }

    /// Spare area: the drive is filled to its end, and overwritten at random until the rate drops.
    pub(super) fn spare_area(&mut self) -> Result<(), Ended> {
        if !self.is_open(Structure::Spare) {
            return Ok(());
        }
        if !self.is_level {
            let reason = "a fast cache or throttling may take part in overwrites: their drops are not told apart";
            self.answer(Structure::Spare, Err(Refusal(reason.into())));
            return Ok(());
        }
        self.access.doing("spare area: fill to the end");
        let mut course = Course::default();
        while self.filled < self.sizes.capacity {
            let rest = self.sizes.capacity - self.filled;
            self.write_ascending(self.sizes.stage.min(rest), &mut course)?;
        }
        self.access.doing("spare area: random overwrites");
        let lane = Lane {
            direction: Direction::Write,
            access: Order::Random,
            block_size: Bytes(4_096),
            offset: Bytes(0),
            span: Bytes(self.sizes.capacity),
            queue_depth: DEPTH,
            think: Nanos::ZERO,
            latencies: 0,
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
                .is_ok_and(|drop| drop.bytes_behind >= BEHIND * drop.bytes.value);
            found = inference::spare_area(&course);
            if is_lasting {
                break;
            }
        }
        self.answer(Structure::Spare, found);
        Ok(())
    }
}
