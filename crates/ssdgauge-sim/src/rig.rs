//! The rig of a virtual drive: preparation, load and rest in virtual time.
//!
//! Its clock moves only with what it is asked to do. It must never show a second twice, leave one
//! out, or let a result go without the word MODEL.

use crate::profile::{self, Birth, Order, ProfileError};
mod description;
mod fault_injection;
mod fill;
mod identity;
mod instruments;
mod load;

use crate::drive::{Drive, Work};
use crate::flash::Moment;
use crate::ground_truth::Truth;
use crate::profile::Profile;
use crate::profile::{Geometry, PAGE};
use crate::rig::fault_injection::Faults;
use crate::rig::identity::info;
use crate::rig::instruments::{Clock, failed, hung, no_power_state, vanished};
use crate::rig::load::{LONGEST_STEP, Load, MOST_IN_FLIGHT, stream_seed};
use ssdgauge_core::{
    Access, Bytes, DriveInfo, Ended, EndedBy, EngineReport, MOST_LAG, Nanos, PowerSaving,
    Preparation, Prepared, Rig, RigError, Sink, Until, Workload, WriteCache,
};

/// The sink is asked for a stop after this many requests at the latest.
const ASK_AFTER: u64 = 65_536;
/// Rests are read every second up to this length, and every ten seconds beyond.
const FINE_REST: Nanos = Nanos::from_secs(1_000);
/// A stall from this length on is a finding.
const LONG_SILENCE: Nanos = Nanos::from_secs(30);

/// A virtual drive together with its instruments.
#[derive(Clone, Debug)]
pub struct VirtualRig {
    info: DriveInfo,
    order: Order,
    geometry: Geometry,
    pub(crate) drive: Drive,
    faults: Faults,
    seed: u64,
    runs: u64,
    /// The clock of the rig.
    pub(crate) now: Moment,
}

impl VirtualRig {
    /// Makes the drive of `PROFILE[?key=value&…]`; a `seed` in the text goes before the one given.
    ///
    /// # Errors
    /// An unknown profile or key with the list of known ones, a value that cannot be read, or
    /// figures that no drive can have.
    pub fn open(spec: &str, seed: u64) -> Result<VirtualRig, ProfileError> {
        VirtualRig::from_order(profile::order(spec)?, spec, seed)
    }

    /// Makes the drive of a profile's own TOML `text` and the `key=value&…` behind its `name`.
    ///
    /// # Errors
    /// As [`VirtualRig::open`], and what the text itself gets wrong.
    pub fn from_toml(
        name: &str,
        text: &str,
        query: &str,
        seed: u64,
    ) -> Result<VirtualRig, ProfileError> {
        let order = profile::order_from_text(name, text, query)?;
        let spec = if query.is_empty() { name.into() } else { format!("{name}?{query}") };
        VirtualRig::from_order(order, &spec, seed)
    }

    fn from_order(order: Order, spec: &str, seed: u64) -> Result<VirtualRig, ProfileError> {
        let geometry = Geometry::of(&order)?;
        let seed = order.seed.unwrap_or(seed);
        let mut drive = Drive::fresh(order.profile.clone(), geometry);
        match order.birth {
            Birth::Fresh => {}
            Birth::Filled => drive.fill(),
            Birth::Steady => drive.age(seed),
        }
        Ok(VirtualRig {
            info: info(&order, &geometry, spec, seed),
            faults: Faults::new(&order.profile.fault),
            order,
            geometry,
            drive,
            seed,
            runs: 0,
            now: 0,
        })
    }

    /// Returns the same drive with only its first `size` bytes open to requests, in whole pages of
    /// 4 KiB; the drive behind them stays as large as it is.
    pub fn limited_to(mut self, size: Bytes) -> VirtualRig {
        self.info.capacity = Bytes(size.0.min(self.info.capacity.0) & !4_095);
        self
    }

    /// Returns the figures of the drive, inheritance and the target's text applied.
    pub fn profile(&self) -> &Profile {
        &self.order.profile
    }

    /// Returns what is true of the drive since its birth or its last purge.
    pub fn truth(&self) -> Truth {
        self.drive.truth
    }

    /// Returns the operations that the drive did since its birth or its last purge.
    pub fn work(&self) -> Work {
        self.drive.work()
    }

    /// Keeps the number of the write with every page from now on, so that
    /// [`VirtualRig::generation`] can tell which write a read finds. The drive must be fresh.
    ///
    /// It takes 4 bytes for each page of flash, and makes collection slow: for tests.
    pub fn keep_generations(&mut self) {
        self.drive.map.keep_generations();
    }

    /// Returns the number of the write, from 1 in the order of all page writes of the host, whose
    /// data a read of `page` finds; 0 where it was never written or was trimmed.
    pub fn generation(&self, page: u32) -> u32 {
        self.drive.map.generation_of(page)
    }

    /// Returns the seed of the requests of stream number `stream` in the step that is number `run`
    /// of the rig's life, both from 0: what [`ssdgauge_core::RequestSource`] deals from.
    pub fn stream_seed(&self, run: u64, stream: u16) -> u64 {
        stream_seed(self.seed, run, stream)
    }

    fn fill(
        &mut self,
        preparation: &Preparation,
        sink: &mut dyn Sink,
    ) -> Result<Prepared, RigError> {
        let Preparation::Fill { access, block_size, offset, span } = *preparation else {
            return Err(RigError::Refused("this is no fill".into()));
        };
        self.check_range(offset, span, block_size)?;
        let begin = self.now;
        let truth = self.drive.truth;
        let mut fill = crate::rig::fill::Fill::new(access, block_size, offset, span, self.seed);
        self.drive.begin_step(begin, crate::rig::fill::DEPTH);
        let mut clock = Clock::new(begin, self.drive.environment.energy_j());
        let mut stopped = false;
        while let Some(at) = fill.step(&mut self.drive, begin) {
            while at > clock.second_end {
                self.tick(&mut clock, sink);
                stopped |= sink.stop();
            }
            self.check_gone(at)?;
            if stopped || (fill.requests.is_multiple_of(ASK_AFTER) && sink.stop()) {
                stopped = true;
                break;
            }
        }
        self.now = fill.last_end.max(begin);
        self.check_gone(self.now)?;
        self.finish(&clock, &truth, sink);
        let method = match access {
            Access::Sequential => "sequential write",
            Access::Random => "random write",
        };
        Ok(Prepared {
            method: method.into(),
            written: Bytes(fill.written),
            elapsed: Nanos(self.now - begin),
            stopped,
        })
    }

    fn purge(&mut self) -> Prepared {
        let environment = self.drive.environment.clone();
        let cached = self.drive.acknowledges_early;
        self.drive = Drive::fresh(self.order.profile.clone(), self.geometry);
        self.drive.acknowledges_early = cached;
        self.drive.restore_environment(environment, self.now);
        // Every block of a die is erased, all dies at a time.
        let blocks = self.geometry.superblocks + self.geometry.slc_superblocks;
        let erase = self.order.profile.nand.t_bers_us * 1e3 * f64::from(blocks);
        let elapsed = Nanos(erase as u64);
        self.now += elapsed.0;
        self.drive.pass(self.now);
        Prepared { method: "virtual purge".into(), written: Bytes(0), elapsed, stopped: false }
    }

    fn trim(&mut self, offset: Bytes, span: Bytes) -> Result<Prepared, RigError> {
        self.check_range(offset, span, Bytes(1))?;
        // Only whole pages can be forgotten.
        let first = offset.0.div_ceil(PAGE);
        let end = (offset.0 + span.0) / PAGE;
        self.drive.trim(first as u32, end.saturating_sub(first) as u32);
        // One command for each 2 GiB or part of it, a millisecond each.
        let elapsed = Nanos(span.0.div_ceil(2 << 30) * 1_000_000);
        self.now += elapsed.0;
        self.drive.pass(self.now);
        Ok(Prepared { method: "virtual trim".into(), written: Bytes(0), elapsed, stopped: false })
    }

    fn choose_power(&mut self, saving: PowerSaving, sink: &mut dyn Sink) -> Prepared {
        // The energy so far was taken in the states that the drive could have until now.
        self.drive.pass(self.now);
        let method = match self.drive.environment.choose(saving) {
            true => format!("virtual {saving}"),
            false => {
                sink.finding(no_power_state(saving));
                "none".into()
            }
        };
        Prepared { method, written: Bytes(0), elapsed: Nanos::ZERO, stopped: false }
    }

    /// A virtual drive has its cache on when it is found.
    fn switch_cache(&mut self, switch: WriteCache) -> Prepared {
        let method = match (self.order.profile.front.buffer_is_safe, switch) {
            // As drives for data centres have it: nothing would be lost, so nothing is switched.
            (true, _) => "none: the buffer outlives a loss of power",
            (false, WriteCache::Off) => {
                self.drive.acknowledges_early = false;
                "virtual write cache off"
            }
            (false, WriteCache::On | WriteCache::AsFound) => {
                self.drive.acknowledges_early = true;
                "virtual write cache on"
            }
        };
        let (written, elapsed) = (Bytes(0), Nanos::ZERO);
        Prepared { method: method.into(), written, elapsed, stopped: false }
    }

    fn check_range(&self, offset: Bytes, span: Bytes, block: Bytes) -> Result<(), RigError> {
        let end = offset.0.checked_add(span.0);
        if block.0 == 0 || span < block || end.is_none_or(|end| end > self.info.capacity.0) {
            return Err(RigError::Refused(format!(
                "blocks of {block} in {span} from {offset} do not fit into the {} of {}",
                self.info.capacity,
                self.info.name(),
            )));
        }
        Ok(())
    }

    fn check_workload(&self, workload: &Workload, until: &Until) -> Result<(), RigError> {
        let refuse = |reason: &str| Err(RigError::Refused(reason.into()));
        if workload.streams.is_empty() {
            return refuse("a workload without streams");
        }
        if !until.is_bounded() {
            return refuse("a workload without an end");
        }
        if until.time.is_some_and(|time| time.0 > LONGEST_STEP.0 / 2) {
            return Err(RigError::Refused(format!(
                "a step of the virtual drive lasts at most {}",
                Nanos(LONGEST_STEP.0 / 2)
            )));
        }
        let mut depth = 0;
        for stream in &workload.streams {
            self.check_range(stream.offset, stream.span, stream.block_size)?;
            depth += u64::from(stream.queue_depth) * u64::from(stream.threads);
            if stream.queue_depth == 0 || stream.threads == 0 || stream.read_percent > 100 {
                return refuse("a stream without requests, or with more than 100 % reads");
            }
        }
        if depth > MOST_IN_FLIGHT {
            return Err(RigError::Refused(format!(
                "{depth} requests in flight; the virtual drive takes at most {MOST_IN_FLIGHT}"
            )));
        }
        Ok(())
    }

    fn check_gone(&self, now: Moment) -> Result<(), RigError> {
        match self.faults.is_gone(now) {
            true => Err(RigError::Gone(self.info.name().into())),
            false => Ok(()),
        }
    }

    /// Keeps `load` in flight to the first limit of `until` and drains it; returns which limit
    /// that was, and the last completion from the start of the step.
    fn play(
        &mut self,
        load: &mut Load,
        until: &Until,
        clock: &mut Clock,
        sink: &mut dyn Sink,
    ) -> (EndedBy, Moment) {
        let begin = clock.begin;
        let limit = until.time.map_or(LONGEST_STEP.0 / 2, |time| time.0);
        let bytes = until.bytes.map_or(u64::MAX, |bytes| bytes.0);
        let gone_at = self.faults.gone_at().map_or(u64::MAX, |gone| gone.saturating_sub(begin));
        let mut ended = None;
        let mut last = 0;
        load.begin(&mut self.drive, &self.faults, bytes);
        loop {
            if ended.is_none() {
                load.send_due(&mut self.drive, &self.faults, limit, bytes);
            }
            let Some(mut completion) = load.next() else { break };
            completion.at = completion.at.min(gone_at);
            while begin + completion.at > clock.second_end {
                let second = clock.second;
                self.tick(clock, sink);
                load.take_second(second, Nanos::SECOND, |interval| sink.interval(&interval));
                if sink.stop() {
                    ended = ended.or(Some(EndedBy::Stop));
                }
            }
            let silence = Nanos(completion.at - last);
            last = completion.at;
            if silence >= LONG_SILENCE {
                sink.finding(hung(silence));
            }
            if completion.at == gone_at {
                load.fail_all(&completion);
                sink.finding(vanished(Nanos(gone_at)));
                return (EndedBy::Faults, last);
            }
            let latency = load.record(&completion);
            if load.is_open() && latency > MOST_LAG {
                ended = ended.or(Some(EndedBy::DeviceLag));
            }
            if load.completed.is_multiple_of(ASK_AFTER) && sink.stop() {
                ended = ended.or(Some(EndedBy::Stop));
            }
            if ended.is_none() {
                if completion.at >= limit {
                    ended = Some(EndedBy::Time);
                } else if load.sent_bytes >= bytes {
                    ended = Some(EndedBy::Bytes);
                } else {
                    load.send_next(&completion, &mut self.drive, &self.faults);
                }
            }
        }
        if load.is_open() && until.time.is_some() && matches!(ended, None | Some(EndedBy::Time)) {
            ended = Some(EndedBy::Time);
            // An open loop lasts as long as it was told, even if nothing is due at its end.
            last = last.max(limit);
            while begin + last > clock.second_end {
                let second = clock.second;
                self.tick(clock, sink);
                load.take_second(second, Nanos::SECOND, |interval| sink.interval(&interval));
            }
        }
        (ended.unwrap_or(EndedBy::Bytes), last)
    }
}

impl Rig for VirtualRig {
    fn drive(&self) -> &DriveInfo {
        &self.info
    }

    fn prepare(
        &mut self,
        preparation: &Preparation,
        sink: &mut dyn Sink,
    ) -> Result<Prepared, RigError> {
        self.check_gone(self.now)?;
        match preparation {
            // A model has one way, and all ways lead there.
            Preparation::Purge | Preparation::PurgeBy(_) => Ok(self.purge()),
            Preparation::Trim { offset, span } => self.trim(*offset, *span),
            Preparation::Fill { .. } => self.fill(preparation, sink),
            Preparation::Power(saving) => Ok(self.choose_power(*saving, sink)),
            Preparation::WriteCache(switch) => Ok(self.switch_cache(*switch)),
        }
    }

    fn run(
        &mut self,
        workload: &Workload,
        until: &Until,
        sink: &mut dyn Sink,
    ) -> Result<Ended, RigError> {
        self.check_gone(self.now)?;
        self.check_workload(workload, until)?;
        let begin = self.now;
        let before = self.drive.truth;
        let mut load = Load::new(workload, begin, self.seed, self.runs);
        self.runs += 1;
        // An open loop may have any number in flight: the queue of the drive bounds it.
        let depth = if load.is_open() { usize::MAX } else { load.depth() };
        self.drive.begin_step(begin, depth);
        let mut clock = Clock::new(begin, self.drive.environment.energy_j());
        let (by, elapsed) = self.play(&mut load, until, &mut clock, sink);
        self.now = begin + elapsed;
        let length = self.now - (clock.second_end - Nanos::SECOND.0);
        if length > 0 {
            load.take_second(clock.second, Nanos(length), |interval| sink.interval(&interval));
        }
        self.finish(&clock, &before, sink);
        if load.failed > 0 {
            sink.finding(failed(load.failed, load.completed));
        }
        let limit = until.time.unwrap_or_default().0;
        let due_until = if by == EndedBy::Time { limit } else { 0 };
        let open_loop = load.open_loops(workload, Nanos(elapsed), due_until);
        open_loop.iter().filter_map(|open| open.finding(None)).for_each(|f| sink.finding(f));
        let stands_for = workload.engine.name();
        Ok(Ended {
            by,
            elapsed: Nanos(elapsed),
            engine: EngineReport {
                engine: "virtual".into(),
                setup: format!("virtual time, standing in for {stands_for}"),
                in_flight_asked: load.depth() as u32,
                in_flight: None,
                ios_per_enter: None,
                cpu_per_io: None,
                clock: "virtual".into(),
                open_loop,
            },
        })
    }

    fn rest(&mut self, duration: Nanos, sink: &mut dyn Sink) -> Result<(), RigError> {
        let begin = self.now;
        let end = begin + duration.0;
        while self.now < end {
            self.check_gone(self.now)?;
            let rested = self.now - begin;
            let step = if rested < FINE_REST.0 { Nanos::SECOND.0 } else { 10 * Nanos::SECOND.0 };
            self.now = (self.now + step).min(end);
            self.drive.idle(self.now);
            let second = self.drive.pass(self.now);
            self.read_instruments(Nanos(self.now - begin), self.now, &second, sink);
            if sink.stop() {
                return Ok(());
            }
        }
        Ok(())
    }
}
