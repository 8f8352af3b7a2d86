//! Experiments of reads: pairs by distance, rate of chosen units, and reads
//! during writes.

use super::Examination;
use super::access::{ascending, read};
use super::error::Ended;
use super::fill::throttled;
use super::sizes::{FILL_BLOCK, MIB, Sizes};
use ssdgauge_core::{
    Access as Order, Bytes, Data, Direction, Lane, LaneLimits, Nanos, Random, TimedRequest,
};
use ssdgauge_statistics::summary;
use ssdgauge_xray::{
    self as inference, Completions, Layout, MOST_CHUNKS, Pair, Reads, Refusal, Series, Structure,
    Value, Volumes,
};

/// The block of small reads.
const BLOCK: u64 = 4_096;
/// Pairs of each distance.
const PAIRS: usize = 15;
/// Chunks of the first sweep of distances.
const SWEEP_FROM: u64 = 32;
/// Pairs at the distance at which they meet.
const MEETING_PAIRS: usize = 400;
/// Rounds of all units among which those pairs begin, so that the pages of a cell have equal shares: a multiple of two,
/// three and four of them.
const MEETING_ROUNDS: u64 = 12;
/// The block of larger reads of one page: small, because a read of two pages is told by two page reads.
const MOST_OF_PAGE: u64 = 8 << 10;
/// Reads in a second that chosen units are asked for. Chosen: far below what a controller and a host allow.
const MOST_PER_SECOND: f64 = 60_000.0;
/// Rounds of all units that reads of chosen units lie in: few, so that they lie within one fill.
const ROUNDS: u64 = 16;
/// Places at which the rate of chosen units is measured, an odd number.
const PLACES: u64 = 5;
/// Requests in flight for each chosen unit. Chosen: where page reads differ, a unit with few requests idles while others
/// work; random service times keep N ÷ (N + units − 1) of them busy (closed network of N requests).
const PER_UNIT: u64 = 16;
/// Reads at random in all units, and their requests in flight: two for each of 64 units.
const AT_RANDOM: u64 = 20_000;
const RANDOM_DEPTH: u32 = 128;
/// Reads alone, and during writes for each pause between reads.
const LATENCIES: (usize, usize) = (3_000, 750);
/// The pauses between reads during writes, in microseconds. Dies that begin to program together end together, and
/// a read that follows another one at once would always come at the same phase. Chosen: without a common period,
/// and longer than a drive keeps programs running before it suspends them again.
const THINKS_US: [u64; 8] = [430, 530, 640, 770, 910, 1_090, 1_310, 1_580];
/// The pause between writes and reads that stand alone: longer than a buffer takes to drain.
const SETTLE: Nanos = Nanos(300_000_000);
/// The random numbers of pairs.
const PAIR_STREAM: u64 = 0x9a1;

impl Examination<'_> {
    /// Returns the completions of `count` ascending reads of `block` bytes from `from` on.
    pub(super) fn closed(
        &mut self,
        from: u64,
        block: u64,
        count: u64,
        depth: u32,
    ) -> Result<Completions, Ended> {
        let requests = ascending(from, self.sizes.capacity - from, block, count);
        self.completions(&requests, block, depth)
    }

    pub(super) fn completions(
        &mut self,
        requests: &[TimedRequest],
        block: u64,
        depth: u32,
    ) -> Result<Completions, Ended> {
        let timings = self.access.send(requests, depth)?;
        let at = timings.requests.iter().map(|one| one.completed).collect();
        let reads = Completions { block, depth, at, host_load: timings.host_load };
        let is_of_data = requests.iter().any(|one| one.offset < self.filled.max(self.sizes.region));
        if let Some(mb_s) = reads.long_mb_s().filter(|_| is_of_data) {
            self.later.data_mb_s = self.later.data_mb_s.max(mb_s);
        }
        if let Some(per_s) = reads.long_per_s().filter(|_| is_of_data && block <= BLOCK) {
            self.later.small_per_s = self.later.small_per_s.max(per_s);
        }
        Ok(reads)
    }

    /// Returns the latencies of `requests` with one in flight, in microseconds.
    pub(super) fn latencies(&mut self, requests: &[TimedRequest]) -> Result<Vec<f64>, Ended> {
        let timings = self.access.send(requests, 1)?;
        Ok(timings.requests.iter().map(|one| one.latency().as_micros_f64()).collect())
    }

    /// Waits until what was written is on the media, and a while for the drive's own work on it. Does nothing where
    /// nothing was written since the last call.
    pub(super) fn settle(&mut self, what: &str) -> Result<(), Ended> {
        let written = self.access.written();
        if self.settled_at == Some(written) {
            return Ok(());
        }
        self.access.flush()?;
        self.access.doing(what);
        self.access.rest(Nanos::from_secs(Sizes::FOLDING_S))?;
        self.settled_at = Some(written);
        Ok(())
    }

    /// Rests until the drive is not throttled any more, or as often as a plan allows.
    fn cool_down(&mut self, what: &str) -> Result<(), Ended> {
        for _ in 0..Sizes::MORE_COOLING {
            if self.is_cold()? {
                break;
            }
            self.access.doing(what);
            self.access.rest(Nanos::from_secs(Sizes::FOLDING_S))?;
        }
        self.access.forget_throttling()
    }

    /// Parallel units, chunk and page read time: pairs of reads in a range that was written in ascending
    /// order.
    pub(super) fn units(&mut self) -> Result<(), Ended> {
        let structures = [Structure::Units, Structure::Chunk, Structure::PageRead];
        if structures.iter().all(|one| !self.wants(*one)) {
            return Ok(());
        }
        self.write_region()?;
        // What earlier experiments wrote is folded meanwhile, as far as the drive folds.
        if self.filled > 0 {
            self.settle("parallel units: rest")?;
        }
        self.cool_down("parallel units: rest of a throttled drive")?;
        self.access.doing("parallel units: pairs of reads by distance");
        let mut random = Random::new(self.access.seed(), PAIR_STREAM);
        let places = self.sizes.region / BLOCK;
        let lone: Vec<TimedRequest> =
            (0..300).map(|_| read(random.below(places) * BLOCK, BLOCK)).collect();
        let lone = self.latencies(&lone)?;
        let lone_us = summary::percentile(&lone, 0.5).unwrap_or(100.0);
        // Both reads of a pair have to be completed before the next one.
        let spacing = Nanos(((3.0 * lone_us + 60.0) * 1e3).min(20e6) as u64);
        let fine: Vec<u64> = (0..=64).map(|blocks| blocks * BLOCK).collect();
        let fine = self.pairs(&fine, BLOCK, (PAIRS, 1), spacing, &mut random)?;
        self.keep([Series::of_blocks(&fine)]);
        let found = match inference::chunk(&fine) {
            Ok(chunk) => self.sweep(chunk, spacing, &mut random)?,
            Err(reason) => Err(reason),
        };
        let layout = match found {
            Ok(layout) => layout,
            Err(reason) => {
                structures.iter().for_each(|one| self.answer(*one, Err(reason.clone())));
                return Ok(());
            }
        };
        let round = layout.chunk * layout.units;
        let most = (self.sizes.region - 4 * MIB) / round;
        let of_meeting = (MEETING_PAIRS, MEETING_ROUNDS.min(most).max(1));
        let meeting = self.pairs(&[round], BLOCK, of_meeting, spacing, &mut random)?;
        self.keep([Series::of_meetings(&meeting)]);
        let busy = inference::unit_busy(&meeting);
        let checked = match &busy {
            Ok(value) => {
                let mean = inference::mean_busy(&meeting).unwrap_or(value.value);
                self.check_depth(&layout, mean, &mut random)?
            }
            Err(reason) => Err(reason.clone()),
        };
        let page_read = match (busy, self.cells_of_region()) {
            (Ok(busy), Ok(())) => {
                let block = layout.chunk.min(MOST_OF_PAGE);
                let large = match block > BLOCK {
                    true => self.pairs(&[round], block, of_meeting, spacing * 2, &mut random)?,
                    false => Vec::new(),
                };
                let large = inference::larger_busy(&meeting, &large);
                let large = large.map(|value| (value, (block / BLOCK) as f64));
                Ok(inference::without_transfer(busy, large))
            }
            (Ok(_), Err(reason)) | (Err(reason), _) => Err(reason),
        };
        let page_read = match self.is_cold()? {
            true => self.check_heat().and(page_read),
            false => Err(throttled(self.filled)),
        };
        let units = checked.clone().map(inference::with_parity);
        let chunk = checked.clone().map(|_| Value::exact(layout.chunk as f64));
        self.answer(Structure::Units, units);
        self.answer(Structure::Chunk, chunk);
        self.answer(Structure::PageRead, checked.and(page_read));
        Ok(())
    }

    /// Checks that the range of the reads does not lie in a fast cache, whose cells are read faster: the cache is
    /// emptied in the order in which it was filled, and the range was filled first.
    fn cells_of_region(&self) -> Result<(), Refusal> {
        if !self.gentle && self.filled == 0 {
            let reason = "the data that is read may lie in a fast cache, which was not looked for";
            return Err(Refusal(reason.into()));
        }
        match self.drop.is_some() && self.freed < self.sizes.region as f64 {
            true => Err(Refusal(format!(
                "rests freed {} of the fast cache, so the data that is read may still be in it",
                Bytes(self.freed as u64).about()
            ))),
            false => Ok(()),
        }
    }

    /// Sends pairs at more and more multiples of `chunk` until they show the layout: short distances lie
    /// within one fill more often than long ones.
    fn sweep(
        &mut self,
        chunk: u64,
        spacing: Nanos,
        random: &mut Random,
    ) -> Result<Result<Layout, Refusal>, Ended> {
        let most = (self.sizes.region / 2 / chunk).min(MOST_CHUNKS);
        let mut found = Err(Refusal("the range is too short for the chunk".into()));
        let (mut count, mut swept) = (SWEEP_FROM, None);
        while found.is_err() && count <= most {
            let distances: Vec<u64> = (1..=count).map(|number| number * chunk).collect();
            let pairs = self.pairs(&distances, BLOCK, (PAIRS, 1), spacing, random)?;
            found = inference::layout(chunk, &pairs);
            swept = Some(Series::of_pairs(Structure::Units, &pairs, chunk));
            count *= 2;
        }
        self.keep(swept);
        Ok(found)
    }

    /// Writes the range of the reads in ascending order, unless that was done; with --gentle, what it holds is
    /// not known.
    pub(super) fn write_region(&mut self) -> Result<(), Ended> {
        if self.gentle || self.has_region {
            return Ok(());
        }
        self.has_region = true;
        self.access.doing("ascending writes");
        let lane = Lane {
            direction: Direction::Write,
            access: Order::Sequential,
            block_size: Bytes(FILL_BLOCK),
            offset: Bytes(0),
            span: Bytes(self.sizes.region),
            queue_depth: 8,
            think: Nanos::ZERO,
            latencies: 0,
            data: Data::Incompressible,
        };
        let limits = LaneLimits {
            time: Sizes::LONGEST,
            written: Bytes(self.sizes.region),
            bin: Nanos::SECOND,
        };
        self.access.run(&[lane], limits)?;
        self.access.flush()?;
        Ok(())
    }

    /// Sends `count` pairs of reads of `block` bytes for each of `distances`, in random order, each from one of the first
    /// `steps` multiples of its distance beyond the start of a mebibyte. Before the pairs, each read is sent twice by itself, and the
    /// shorter latency counts: a read that the drive had to repeat takes longer than its page does.
    fn pairs(
        &mut self,
        distances: &[u64],
        block: u64,
        (count, steps): (usize, u64),
        spacing: Nanos,
        random: &mut Random,
    ) -> Result<Vec<Pair>, Ended> {
        let mut order: Vec<u64> =
            distances.iter().flat_map(|distance| std::iter::repeat_n(*distance, count)).collect();
        random.shuffle(&mut order);
        let mut requests = Vec::with_capacity(2 * order.len());
        for (number, distance) in (0u64..).zip(&order) {
            // The last mebibyte of a scratch file may not be written.
            let bases = (self.sizes.region - steps * distance) / MIB - 2;
            let base = random.below(bases.max(1)) * MIB + random.below(steps) * distance;
            let due = spacing * number;
            let one = TimedRequest { due, ..read(base, block) };
            let two = TimedRequest { due, ..read(base + distance, block) };
            requests.extend([one, two]);
        }
        // All of them before the first pair: the drive may still hold the page that it read last.
        let lone: Vec<TimedRequest> =
            requests.iter().map(|one| TimedRequest { due: Nanos::ZERO, ..*one }).collect();
        let alone = [self.access.send(&lone, 1)?, self.access.send(&lone, 1)?];
        let timings = self.access.send(&requests, 2)?;
        let pair = |(number, distance): (usize, &u64)| {
            let of = |read: usize| {
                let latency = |pass: usize| alone[pass].requests[2 * number + read].latency();
                latency(0).min(latency(1))
            };
            let reads = [0, 1].map(|read| timings.requests[2 * number + read]);
            Pair { distance: *distance, reads, alone: [of(0), of(1)] }
        };
        Ok(order.iter().enumerate().map(pair).collect())
    }

    /// Checks a layout by the rate at which some of its units read; returns all units of the drive.
    fn check_depth(
        &mut self,
        layout: &Layout,
        page_read_us: f64,
        random: &mut Random,
    ) -> Result<Result<u64, Refusal>, Ended> {
        self.access.doing("parallel units: rate of chosen units");
        let Layout { chunk, units } = *layout;
        let affordable = MOST_PER_SECOND * page_read_us / 1e6;
        let chosen = (affordable as u64).clamp(2, units);
        let rounds = ROUNDS.min(self.sizes.region / 2 / (chunk * units)).max(1);
        let mut series = Vec::new();
        for _ in 0..PLACES {
            let bases = (self.sizes.region - rounds * chunk * units) / MIB - 2;
            let base = random.below(bases.max(1)) * MIB;
            let requests: Vec<TimedRequest> = (0..600 * chosen)
                .map(|number| {
                    let round = random.below(rounds);
                    read(base + (round * units + number % chosen) * chunk, BLOCK)
                })
                .collect();
            let depth = (PER_UNIT * chosen).min(128) as u32;
            series.push(self.completions(&requests, BLOCK, depth)?);
        }
        match inference::check_depth(chosen, page_read_us, &series) {
            Ok(()) => self.all_units(layout, page_read_us, random),
            Err(reason) => Ok(Err(reason)),
        }
    }

    /// Returns the units of all volumes, checked by the rate of reads at random. A layout whose period is shorter than what
    /// lies in one volume is that of one volume.
    fn all_units(
        &mut self,
        layout: &Layout,
        page_read_us: f64,
        random: &mut Random,
    ) -> Result<Result<u64, Refusal>, Ended> {
        let period = layout.chunk * layout.units;
        let units = match self.volumes {
            Some(Volumes { number, interleave: Some(bytes) }) if period < bytes => {
                layout.units * number
            }
            Some(_) | None => layout.units,
        };
        let places = self.sizes.region / BLOCK;
        let requests: Vec<TimedRequest> =
            (0..AT_RANDOM).map(|_| read(random.below(places) * BLOCK, BLOCK)).collect();
        let reads = self.completions(&requests, BLOCK, RANDOM_DEPTH)?;
        Ok(inference::check_random(units, page_read_us, &reads).map(|()| units))
    }

    /// Program suspend: latencies of reads during writes.
    pub(super) fn suspension(&mut self) -> Result<(), Ended> {
        if !self.is_open(Structure::Suspend) {
            return Ok(());
        }
        self.write_region()?;
        self.access.flush()?;
        self.access.rest(SETTLE)?;
        self.access.doing("program suspend: reads during writes");
        let alone = self.read_during(LATENCIES.0, Nanos::ZERO, None)?;
        let mut during = Vec::new();
        for (part, think) in (0..).zip(THINKS_US) {
            let think = Nanos(think * 1_000);
            during.extend(self.read_during(LATENCIES.1, think, Some(part))?);
        }
        self.keep(Series::of_latencies(&alone, &during));
        self.answer(Structure::Suspend, inference::suspend(&alone, &during));
        self.reads = Some(Reads { alone_us: alone, during_us: during });
        Ok(())
    }

    /// Returns latencies of up to `count` random reads with one in flight and a pause of `think` after each,
    /// during one of the parts of the ascending writes.
    fn read_during(
        &mut self,
        count: usize,
        think: Nanos,
        part: Option<u64>,
    ) -> Result<Vec<f64>, Ended> {
        let lane = Lane {
            direction: Direction::Read,
            access: Order::Random,
            block_size: Bytes(BLOCK),
            offset: Bytes(0),
            span: Bytes(self.sizes.region),
            queue_depth: 1,
            think,
            latencies: count,
            data: Data::Incompressible,
        };
        let bytes = self.sizes.during_reads / THINKS_US.len() as u64 / BLOCK * BLOCK;
        let mut lanes = vec![lane.clone()];
        if let Some(part) = part {
            let from = self.sizes.capacity - self.sizes.trimmed - self.sizes.during_reads;
            lanes.push(Lane {
                direction: Direction::Write,
                access: Order::Sequential,
                offset: Bytes(from + part * bytes),
                span: Bytes(bytes),
                think: Nanos::ZERO,
                latencies: 0,
                ..lane
            });
        }
        let limits = LaneLimits {
            time: Nanos(250_000_000),
            written: Bytes(if part.is_some() { bytes } else { 0 }),
            bin: Nanos::SECOND,
        };
        let ended = self.access.run(&lanes, limits)?;
        let latencies = &ended.lanes[0].latencies;
        Ok(latencies.iter().map(|(_, latency)| latency.as_micros_f64()).collect())
    }
}
