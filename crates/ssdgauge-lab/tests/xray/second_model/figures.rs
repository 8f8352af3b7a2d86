//! Figures of a drive of the second model: a random prior, and what follows from them by arithmetic.
//!
//! It must never depend on the inference, on ssdgauge-sim or on a run of the model.

use ssdgauge_core::Random;

/// The random stream of the figures.
const FIGURES: u64 = 0x5ec0;
/// That of its counters, so that the others are those of a drive without counters.
const COUNTERS: u64 = 0x5ec1;
/// A mapped unit, in bytes.
pub(crate) const SLOT: u64 = 4_096;

/// The order in which stripes go to dies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Order {
    /// One die of each channel, then the next one.
    ChannelFirst,
    /// Every die of a channel, then the next channel.
    DieFirst,
    /// A fixed shuffled order.
    Shuffled,
}

/// Suspension of programs by reads.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Suspension {
    /// The time until a read can begin, and again until the program goes on, in nanoseconds.
    pub(crate) ns: u64,
    /// The time that a program runs before it is suspended again, in nanoseconds.
    pub(crate) least_run_ns: u64,
}

/// What a hot drive does.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Throttling {
    /// Slower from here on, in degrees Celsius.
    pub(crate) upper_c: f64,
    /// At full speed again from here on.
    pub(crate) lower_c: f64,
    /// The speed that is left.
    pub(crate) factor: f64,
    /// Whether it pauses within periods of this many nanoseconds, instead of working more slowly.
    pub(crate) period_ns: Option<u64>,
    /// Thermal resistance in kelvins per watt, and capacity in joules per kelvin.
    pub(crate) thermal: (f64, f64),
}

/// The figures of a drive. Times are in nanoseconds, rates in bytes per nanosecond (GB/s).
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Figures {
    pub(crate) capacity: u64,
    pub(crate) logical_block: u64,
    pub(crate) channels: u64,
    pub(crate) dies: u64,
    pub(crate) planes: u64,
    /// Bytes of a page of one plane.
    pub(crate) page: u64,
    pub(crate) bits: u64,
    /// Blocks of a die, each over all its planes.
    pub(crate) blocks: u64,
    /// Program operations of a block.
    pub(crate) units_per_block: u64,
    /// Pages that go to a die before the next one follows.
    pub(crate) stripe_pages: u64,
    pub(crate) order: Order,
    pub(crate) planes_read_alone: bool,
    /// Whether one die, another one for each row of blocks, holds parity, which hosts cannot read. It is not programmed: only
    /// its place counts.
    pub(crate) has_parity: bool,
    /// Whether a plane reads on while the page before is transferred.
    pub(crate) has_cache_register: bool,
    pub(crate) read_ns: u64,
    pub(crate) slc_read_ns: u64,
    pub(crate) program_ns: u64,
    pub(crate) slc_program_ns: u64,
    pub(crate) erase_ns: u64,
    pub(crate) channel_rate: f64,
    pub(crate) suspension: Option<Suspension>,
    pub(crate) link_rate: f64,
    pub(crate) is_half_duplex: bool,
    pub(crate) queue: usize,
    pub(crate) read_command_ns: u64,
    pub(crate) write_command_ns: u64,
    pub(crate) read_delay_ns: u64,
    pub(crate) write_delay_ns: u64,
    /// Bytes of a buffer that is flushed as a whole, and the number of such buffers.
    pub(crate) buffer: u64,
    pub(crate) buffers: usize,
    /// After so long without a write, the rest of the buffer is flushed.
    pub(crate) buffer_idle_ns: u64,
    /// Blocks of each die that may hold one bit per cell, and how many of them hold nothing else.
    pub(crate) cache_blocks: u64,
    pub(crate) fixed_blocks: u64,
    /// Whether writes go through a full cache; otherwise they go past it.
    pub(crate) is_through: bool,
    /// Free blocks of the cache from which on it is folded during writes.
    pub(crate) watermark: u64,
    /// Blocks of a full cache that have to be free before it is used again.
    pub(crate) resume_blocks: u64,
    pub(crate) fold_delay_ns: u64,
    /// Dies that fold at the same time in a rest; 0 for none.
    pub(crate) fold_dies: usize,
    /// Blocks of each die that are kept free.
    pub(crate) reserve: u64,
    /// Bytes of the drive whose map is available, and the bytes of one map page.
    pub(crate) map_reach: Option<u64>,
    pub(crate) map_segment: u64,
    /// Work between requests: its interval, the time on a die, and that of the controller.
    pub(crate) patrol: Option<(u64, u64, u64)>,
    pub(crate) throttling: Throttling,
    /// The air, in degrees Celsius.
    pub(crate) air_c: f64,
    /// Whether its temperature can be read.
    pub(crate) has_sensor: bool,
    /// Throttling of writes that reads do not have: the bytes after which it begins, those that cool in a second, and the
    /// share of the native rate that is left until half of them has cooled.
    pub(crate) write_heat: Option<(f64, f64, f64)>,
    /// Whether it states from where on it throttles, and counts how often and how long it does.
    pub(crate) reports_heat: bool,
    /// The bytes of a granule of its counters of what it and hosts have written, where it has them.
    pub(crate) media_granule: Option<u64>,
}

impl Figures {
    /// Draws the figures of the drive of `seed`.
    pub(crate) fn draw(seed: u64) -> Figures {
        let random = &mut Random::new(seed, FIGURES);
        let pick = |random: &mut Random, values: &[u64]| {
            values[random.below(values.len() as u64) as usize]
        };
        let between = |random: &mut Random, low: f64, high: f64| low + (high - low) * random.unit();
        let log = |random: &mut Random, low: f64, high: f64| low * (high / low).powf(random.unit());
        let us = |micros: f64| (micros * 1e3) as u64;

        let capacity = (pick(random, &[8, 16, 32]) * 1_000_000_000) >> 20 << 20;
        let channels = pick(random, &[1, 2, 4, 8]);
        let dies = channels * pick(random, &[1, 2, 3, 4]);
        let planes = pick(random, &[1, 2, 4]);
        let page = pick(random, &[4, 8, 16]) << 10;
        let bits = pick(random, &[2, 3, 4]);
        let unit = planes * page * bits;
        // About 200 to 500 blocks a die, whatever the size of the drive.
        let spare = log(random, 0.05, 0.3);
        let reserve = pick(random, &[2, 3, 4]);
        let per_die = (capacity as f64 * (1.0 + spare) / dies as f64) as u64;
        let units_per_block = (per_die / unit / pick(random, &[200, 300, 500])).max(4);
        let program_us = log(random, 150.0, 900.0) * bits as f64;
        let slc_program_us = between(random, 100.0, 350.0).min(0.6 * program_us);
        let read_us = between(random, 30.0, 110.0);
        let suspends = random.below(5) < 3;
        let suspension = suspends.then(|| Suspension {
            ns: us(between(random, 5.0, 40.0)),
            least_run_ns: us(between(random, 30.0, 400.0)),
        });
        let link = pick(random, &[550, 1_700, 3_400, 6_800]) as f64 / 1e3;
        let is_sata = link < 0.6;
        let slower = if is_sata { 3.0 } else { 1.0 };
        let has_cache = random.below(4) > 0;
        let blocks_of =
            |share: f64| (per_die as f64 * share / (unit * units_per_block) as f64) as u64;
        let fixed = if has_cache { blocks_of(between(random, 0.0, 0.06)) } else { 0 };
        let cache = if has_cache { fixed + 2 + blocks_of(between(random, 0.0, 0.3)) } else { 0 };
        let stripe_pages = match random.below(4) {
            0 => 1,
            1 => planes,
            2 => planes * bits,
            _ => planes * pick(random, &[2, 4]),
        };
        let blocks = per_die.div_ceil(unit * units_per_block) + reserve + 2 + fixed;
        Figures {
            capacity,
            logical_block: pick(random, &[512, SLOT]),
            channels,
            dies,
            planes,
            page,
            bits,
            blocks,
            units_per_block,
            stripe_pages,
            order: [Order::ChannelFirst, Order::DieFirst, Order::Shuffled]
                [random.below(3) as usize],
            planes_read_alone: planes > 1 && random.below(2) == 0,
            has_cache_register: random.below(2) == 0,
            read_ns: us(read_us),
            slc_read_ns: us(read_us * between(random, 0.3, 0.7)),
            program_ns: us(program_us),
            slc_program_ns: us(slc_program_us),
            erase_ns: us(between(random, 2_000.0, 9_000.0)),
            channel_rate: between(random, 0.5, 1.6),
            suspension,
            link_rate: link,
            is_half_duplex: is_sata,
            queue: if is_sata { 32 } else { 1_024 },
            read_command_ns: us(slower * between(random, 1.0, 4.0)),
            write_command_ns: us(slower * between(random, 1.0, 4.0)),
            read_delay_ns: us(between(random, 5.0, 35.0)),
            write_delay_ns: us(between(random, 5.0, 25.0)),
            buffer: (log(random, 512.0, 16_384.0) as u64) << 10,
            buffers: 1 + random.below(2) as usize,
            buffer_idle_ns: us(log(random, 500.0, 200_000.0)),
            cache_blocks: cache,
            fixed_blocks: fixed,
            is_through: random.below(3) == 0,
            watermark: (cache / 16).max(1),
            resume_blocks: (cache as f64 * between(random, 0.0, 0.4)) as u64,
            fold_delay_ns: us(log(random, 20_000.0, 4_000_000.0)),
            fold_dies: match random.below(6) {
                0 => 0,
                _ => 1 + random.below(dies) as usize,
            },
            reserve,
            map_reach: (random.below(2) == 0)
                .then(|| (capacity as f64 * log(random, 0.02, 1.0)) as u64 >> 21 << 21),
            map_segment: pick(random, &[1 << 20, 2 << 20]),
            patrol: (random.below(2) == 0).then(|| {
                (
                    us(log(random, 4_000.0, 100_000.0)),
                    us(between(random, 30.0, 300.0)),
                    us(between(random, 2.0, 60.0)),
                )
            }),
            throttling: throttling(random),
            air_c: 30.0,
            has_sensor: true,
            write_heat: None,
            reports_heat: false,
            has_parity: false,
            media_granule: media_granule(seed),
        }
    }

    /// Returns the bytes of a program operation of native cells.
    pub(crate) fn unit(&self) -> u64 {
        self.planes * self.page * self.bits
    }

    /// Returns the slots of a block of native cells.
    pub(crate) fn block_slots(&self) -> u64 {
        self.unit() * self.units_per_block / SLOT
    }

    /// Returns the bytes that the cache of an empty drive takes before the rate drops: all of it, or up to the
    /// watermark from which on it is folded during writes.
    pub(crate) fn cache(&self) -> Option<u64> {
        let kept = if self.is_through { self.watermark } else { 0 };
        let blocks = self.cache_blocks.checked_sub(kept).filter(|blocks| *blocks > 0)?;
        Some(blocks * self.dies * self.block_slots() * SLOT / self.bits)
    }

    /// Returns the bytes per nanosecond that dies fold in a rest: the rows of one bit are sensed, then one unit
    /// is programmed; a block of native cells is erased before.
    pub(crate) fn folding(&self) -> f64 {
        let ns = self.bits * self.slc_read_ns + self.program_ns;
        let ns = ns as f64 + self.erase_ns as f64 / self.units_per_block as f64;
        self.fold_dies as f64 * self.unit() as f64 / ns
    }

    /// Returns the flash units that read at the same time.
    pub(crate) fn units(&self) -> u64 {
        if self.planes_read_alone { self.dies * self.planes } else { self.dies }
    }

    /// Returns the rounds of stripes over the dies that fill a row of blocks.
    pub(crate) fn rounds_per_block(&self) -> u64 {
        (self.block_slots() * SLOT / (self.stripe_pages * self.page)).max(1)
    }

    /// Returns the bytes on one unit before the next one follows.
    pub(crate) fn chunk(&self) -> u64 {
        if self.planes_read_alone { self.page } else { self.page * self.stripe_pages }
    }

    /// Returns the bytes of flash for data beyond the capacity.
    pub(crate) fn spare(&self) -> u64 {
        let blocks = self.blocks - self.reserve - 2;
        blocks * self.dies * self.block_slots() * SLOT - self.capacity
    }

    /// Returns the bytes per nanosecond that dies and channels program, without waits for each other.
    pub(crate) fn native(&self) -> f64 {
        let unit = self.unit() as f64;
        let ns = unit / self.channel_rate + self.program_ns as f64;
        let ns = ns + self.erase_ns as f64 / self.units_per_block as f64;
        (self.dies as f64 * unit / ns).min(self.channels as f64 * self.channel_rate)
    }
}

fn media_granule(seed: u64) -> Option<u64> {
    let random = &mut Random::new(seed, COUNTERS);
    let granules = [SLOT, 1 << 19, 32 << 20];
    (random.below(4) > 0).then(|| granules[random.below(3) as usize])
}

fn throttling(random: &mut Random) -> Throttling {
    let mut between = |low: f64, high: f64| low + (high - low) * random.unit();
    let upper_c = between(58.0, 88.0);
    let (lower_c, factor) = (upper_c - between(2.0, 9.0), between(0.3, 0.85));
    let thermal = (between(5.0, 15.0), between(3.0, 25.0));
    let pauses = between(0.0, 1.0) < 0.4;
    let period_ns = pauses.then(|| (between(2.0, 40.0) * 1e6) as u64);
    Throttling { upper_c, lower_c, factor, period_ns, thermal }
}
