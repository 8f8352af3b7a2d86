//! The rig of a virtual drive: preparation, load and pauses in virtual time.
//!
//! Its clock advances only with calls. It must never record a second twice, omit one, or return a
//! result without the word MODEL.

mod between_flushes;
mod command;
mod commits;
mod completion_queue;
mod deallocation;
mod description;
mod due_requests;
mod durability;
mod fault_injection;
mod fill;
mod identity;
mod instruments;
mod limited;
mod load;
mod replay;
mod request_log;
pub(crate) mod served;
mod settings;
mod stamped;
mod timed;
mod unwritten_reads;
mod validation;
mod write_limit;

use crate::drive::Drive;
use crate::fake::Contents;
use crate::ftl::GroundTruth;
use crate::operations::Work;
use crate::profile::{Geometry, InitialState, PAGE, Profile, ProfileError, ProfileSpec};
use crate::time::SimTime;
use fault_injection::InjectedFaults;
use instruments::{StepClock, disappeared, end_second, end_step, failed, hung, log_incomplete};
use load::{HostSide, Load};
use request_log::{LoadLog, RequestLog};
use ssdgauge_core::{
    Bytes, DriveDescription, DriveInfo, Ended, EndedBy, EngineReport, Extents, Flush, MAX_LAG,
    MediaWrites, Nanos, Preparation, Prepared, ReadBack, RecordedRequests, Replay, Rig, RigError,
    Sink, StampedBlocks, StepNumbers, ThermalReport, TimedLoads, Until, Verified, Workload,
};
use std::io;
use validation::{MAX_STEP, check_workload};
use write_limit::WriteLimit;

/// A stop is polled after this many requests at the latest.
const POLL_STOP_AFTER: u64 = 65_536;
/// Pauses have a reading every second up to this length, and every ten seconds beyond, so that a
/// night of rest does not fill the run file.
const FINE_PAUSE: Nanos = Nanos::from_secs(1_000);
/// A stall from this length on is a finding.
const LONG_STALL: Nanos = Nanos::from_secs(30);

/// A virtual drive together with its instruments.
#[derive(Clone, Debug)]
pub struct VirtualRig {
    info: DriveInfo,
    spec: ProfileSpec,
    geometry: Geometry,
    drive: Drive,
    faults: InjectedFaults,
    seed: u64,
    /// The numbers of the steps, from which their random requests follow.
    step_numbers: StepNumbers,
    /// The virtual time.
    now: SimTime,
    /// Pages that were written last, the oldest first.
    written: Vec<u32>,
    /// The bytes that fills have written, and those that other requests may have written.
    filled: Extents,
    reached: Extents,
    /// The stamped blocks of a proof, from its first write on.
    contents: Option<Box<Contents>>,
    /// The log of single requests, where one is kept.
    log: Option<RequestLog>,
    /// The bytes that the run may write, where its user limits them.
    write_limit: Option<WriteLimit>,
}

impl VirtualRig {
    /// Creates the drive of `PROFILE[?key=value&…]`. A `seed` in the text takes precedence over the
    /// argument.
    ///
    /// # Errors
    /// An unknown profile or key with the list of known ones, a value that is not valid, or figures
    /// that no drive can have.
    pub fn open(target: &str, seed: u64) -> Result<VirtualRig, ProfileError> {
        VirtualRig::from_spec(ProfileSpec::parse(target)?, target, seed)
    }

    /// Creates the drive of a user's own profile, from its TOML `text` and the `key=value&…` that
    /// follow its `name`.
    ///
    /// # Errors
    /// As [`VirtualRig::open`], and a text that is not a profile.
    pub fn from_toml(
        name: &str,
        text: &str,
        query: &str,
        seed: u64,
    ) -> Result<VirtualRig, ProfileError> {
        let spec = ProfileSpec::from_toml(name, text, query)?;
        let target = if query.is_empty() { name.into() } else { format!("{name}?{query}") };
        VirtualRig::from_spec(spec, &target, seed)
    }

    fn from_spec(spec: ProfileSpec, target: &str, seed: u64) -> Result<VirtualRig, ProfileError> {
        let geometry = Geometry::from_spec(&spec)?;
        let seed = spec.seed.unwrap_or(seed);
        let mut drive = Drive::new(spec.profile.clone(), geometry, seed);
        match spec.initial_state {
            InitialState::Fresh => {}
            InitialState::Filled => drive.ftl.fill(),
            InitialState::Steady => drive.ftl.wear_in(seed),
        }
        Ok(VirtualRig {
            info: identity::drive_info(&spec, &geometry, target, seed),
            faults: InjectedFaults::new(&spec.profile.fault),
            spec,
            geometry,
            drive,
            seed,
            step_numbers: StepNumbers::default(),
            now: 0,
            written: Vec::new(),
            filled: Extents::default(),
            reached: Extents::default(),
            contents: None,
            log: None,
            write_limit: None,
        })
    }

    /// Returns the same drive with requests limited to its first `size` bytes, in whole pages of
    /// 4 KiB. The geometry and the spare area of the drive stay the same.
    pub fn limited_to(mut self, size: Bytes) -> VirtualRig {
        self.info.capacity = Bytes(size.0.min(self.info.capacity.0) / PAGE * PAGE);
        self
    }

    /// Returns the drive with a further fact about it.
    #[must_use]
    pub fn with_detail(mut self, detail: ssdgauge_core::Detail, text: String) -> VirtualRig {
        self.info.details.insert(detail.key().to_owned(), text);
        self
    }

    /// Logs every measured request from now on into `output`, in the format of
    /// [`ssdgauge_core::io_log`].
    ///
    /// # Errors
    /// That of the output.
    pub fn log_ios(&mut self, output: Box<dyn io::Write + Send>) -> io::Result<()> {
        self.log = Some(RequestLog::new(output)?);
        Ok(())
    }

    /// Returns the figures of the drive, after inheritance and the text of the target.
    pub fn profile(&self) -> &Profile {
        &self.spec.profile
    }

    /// Returns the drive description: the profile, and what the drive has done so far.
    pub fn describe(&self) -> DriveDescription {
        description::describe(&self.info, self.profile(), &self.drive)
    }

    /// Returns the ground truth since the drive was created or last purged.
    pub fn ground_truth(&self) -> GroundTruth {
        self.drive.ftl.media.truth
    }

    /// Returns the operations since the drive was created or last purged.
    pub fn work(&self) -> Work {
        self.drive.work()
    }

    /// Stores a generation with every page from this call on, so that [`VirtualRig::generation`]
    /// can identify the write that a read finds. The drive must be fresh.
    ///
    /// It takes 4 bytes for each page of flash and makes collection slow: for tests.
    pub fn keep_generations(&mut self) {
        self.drive.ftl.keep_generations();
    }

    /// Returns the generation of the data that a read of `page` finds: the number of the write, from
    /// 1 in the order of all page writes of the host; 0 where the page is unmapped.
    pub fn generation(&self, page: u32) -> u32 {
        self.drive.ftl.generation_of(page)
    }

    /// Returns the seed of the requests of stream number `stream`, from 0, in the next step with this
    /// workload and these limits: the seed of its [`ssdgauge_core::RequestSource`].
    pub fn next_stream_seed(&self, workload: &Workload, until: &Until, stream: u16) -> u64 {
        let number = self.step_numbers.clone().next(workload, until);
        load::stream_seed(self.seed, number, stream)
    }

    /// Ends the current second of a load: readings, then intervals.
    // Not inlined: once a second, it would take registers from the loop over requests.
    #[inline(never)]
    fn end_second(&mut self, load: &mut Load, clock: &mut StepClock, sink: &mut dyn Sink) {
        let second = clock.second;
        end_second(&mut self.drive, clock, sink);
        load.end_second(second, Nanos::SECOND, sink);
    }

    fn check_gone(&self, now: SimTime) -> Result<(), RigError> {
        match self.faults.is_gone(now) {
            true => Err(RigError::Gone(self.info.name().into())),
            false => Ok(()),
        }
    }

    /// Keeps `load` in flight up to the first limit of `until` and drains it; returns which limit
    /// that was, and the last completion from the start of the step. `PLAIN` where the load
    /// [is plain](Load::is_plain).
    fn drive_load<const PLAIN: bool>(
        &mut self,
        load: &mut Load,
        until: &Until,
        clock: &mut StepClock,
        sink: &mut dyn Sink,
    ) -> (EndedBy, SimTime) {
        let begin = clock.begin;
        let limit = until.time.map_or(MAX_STEP.0, |time| time.0);
        let bytes = until.bytes.map_or(u64::MAX, |bytes| bytes.0);
        // From the start of the step, as all times of the loop: keys of the queue of completions
        // have 48 bits for a time.
        let gone_at = self.faults.gone_at().map_or(u64::MAX, |gone| gone.saturating_sub(begin));
        let (mut ended, mut last, mut quiet_until) = (None, 0, 0);
        // Constant, and in a register of the loop over requests.
        let (is_open, has_pauses) = (!PLAIN && load.is_open(), !PLAIN && load.has_pauses);
        load.begin(&mut self.drive, &self.faults, bytes);
        loop {
            if is_open && ended.is_none() {
                let second_end = clock.second_end - begin;
                let (drive, faults) = (&mut self.drive, &self.faults);
                if load.submit_due(drive, faults, limit, bytes, second_end) {
                    // Nothing more happens in this second. It ends before the next request is
                    // submitted, because its readings precede that.
                    if gone_at > second_end {
                        self.end_second(load, clock, sink);
                        if sink.stop() {
                            (ended, quiet_until) = (Some(EndedBy::Stop), second_end);
                        }
                        continue;
                    }
                    if load.is_idle() {
                        sink.finding(disappeared(Nanos(gone_at)));
                        return (EndedBy::Faults, gone_at);
                    }
                }
            }
            let next = load.next_seen::<PLAIN>(&mut self.drive, &self.faults);
            let Some(mut completion) = next else { break };
            if has_pauses
                && load.is_pause(&completion)
                && (ended.is_some() || completion.at >= limit)
            {
                ended = ended.or(Some(EndedBy::Time));
                continue;
            }
            // What would complete later fails at the moment in which the drive disappears.
            completion.at = completion.at.min(gone_at);
            // A completion at the very end of a second is part of it: a load that ends after n
            // seconds has n.
            while begin + completion.at > clock.second_end {
                // Idle work and readings of the second use the map.
                if PLAIN {
                    self.drive.ftl.enter_deferred();
                }
                self.end_second(load, clock, sink);
                if sink.stop() {
                    ended = ended.or(Some(EndedBy::Stop));
                }
            }
            if has_pauses && completion.at < gone_at && load.is_pause(&completion) {
                if ended.is_none() {
                    load.end_pause(&completion, &mut self.drive, &self.faults);
                }
                last = completion.at;
                continue;
            }
            let stalled = Nanos(completion.at - last);
            last = completion.at;
            // Both: a slow open loop and a pause leave long times in which no request waits.
            if stalled >= LONG_STALL && load.latency(&completion) >= LONG_STALL {
                sink.finding(hung(stalled));
            }
            if completion.at == gone_at {
                load.fail_all(&completion);
                sink.finding(disappeared(Nanos(gone_at)));
                return (EndedBy::Faults, last);
            }
            let latency = load.record::<PLAIN>(&completion);
            if is_open && (latency > MAX_LAG || load.has_fallen_behind) {
                ended = ended.or(Some(EndedBy::DeviceLag));
            }
            if load.completed.is_multiple_of(POLL_STOP_AFTER) && sink.stop() {
                ended = ended.or(Some(EndedBy::Stop));
            }
            if ended.is_none() {
                if completion.at >= limit {
                    ended = Some(EndedBy::Time);
                } else if load.has_submitted::<PLAIN>(bytes, &completion) {
                    ended = Some(EndedBy::Bytes);
                } else {
                    load.submit_next::<PLAIN>(&completion, &mut self.drive, &self.faults);
                }
            }
        }
        if PLAIN {
            self.drive.ftl.enter_deferred();
        }
        let lasts = is_open || has_pauses;
        if lasts && until.time.is_some() && matches!(ended, None | Some(EndedBy::Time)) {
            let (by, until) = self.wait_for_limit(load, limit, clock, sink);
            (ended, quiet_until) = (Some(by), until);
        }
        (ended.unwrap_or(EndedBy::Bytes), last.max(quiet_until))
    }

    /// Lets the time of an open loop, or of one that pauses, pass up to `limit`: it lasts as long as its
    /// time limit, even if nothing is sent at its end. Returns what ended it, and when.
    fn wait_for_limit(
        &mut self,
        load: &mut Load,
        limit: SimTime,
        clock: &mut StepClock,
        sink: &mut dyn Sink,
    ) -> (EndedBy, SimTime) {
        while clock.begin + limit > clock.second_end {
            let second_end = clock.second_end - clock.begin;
            self.end_second(load, clock, sink);
            if sink.stop() {
                return (EndedBy::Stop, second_end);
            }
        }
        (EndedBy::Time, limit)
    }

    /// Runs the load of the step `number`.
    fn run_load(
        &mut self,
        (workload, number): (&Workload, u64),
        until: &Until,
        sink: &mut dyn Sink,
    ) -> Result<Ended, RigError> {
        self.record_spans(workload);
        let unwritten = unwritten_reads::find(&self.drive.ftl, workload);
        unwritten.into_iter().for_each(|finding| sink.finding(finding));
        let begin = self.now;
        let before = self.ground_truth();
        let mut load = Load::new(workload, begin, self.seed, number);
        load.log = self.log.as_mut().map(|log| log.begin(workload));
        load.host = HostSide::new(&self.spec.profile.effects, load.threads(), self.seed ^ number);
        // Requests of an open loop in flight are bounded only by the drive's queue.
        let depth = if load.is_open() { usize::MAX } else { load.depth() };
        self.drive.begin_step(depth);
        let mut clock = StepClock::new(begin, &self.drive);
        let (by, elapsed) = match load.is_plain(&self.drive, &self.faults) {
            true => self.drive_load::<true>(&mut load, until, &mut clock, sink),
            false => self.drive_load::<false>(&mut load, until, &mut clock, sink),
        };
        self.now = begin + elapsed;
        // A stall delays completions, and the drive was busy until the last one.
        self.drive.occupy_until(begin + load.last);
        let length = clock.elapsed_of_second(self.now);
        if length > Nanos::ZERO {
            load.end_second(clock.second, length, sink);
        }
        end_step(&mut self.drive, &clock, self.now, &before, sink);
        if load.failed > 0 {
            sink.finding(failed(load.failed, load.completed));
        }
        if let Some(error) = load.log.take().and_then(LoadLog::finish) {
            sink.finding(log_incomplete(&error));
        }
        self.record_written(load.last_writes());
        self.record_trims(workload);
        // Where a load ended early, requests that were due after its end are not missing.
        let due_until = if by == EndedBy::Time { until.time.unwrap_or_default().0 } else { 0 };
        let (open_loop, findings) = load.open_loops(workload, Nanos(elapsed), due_until);
        findings.into_iter().for_each(|finding| sink.finding(finding));
        Ok(Ended {
            by,
            elapsed: Nanos(elapsed),
            engine: EngineReport {
                engine: "virtual".into(),
                setup: format!("virtual time, standing in for {}", workload.engine.name()),
                in_flight_asked: load.depth() as u32,
                in_flight: None,
                kernel: load.queue(Nanos(elapsed)),
                ios_per_enter: None,
                cpu_per_io: None,
                clock: "virtual".into(),
                open_loop,
            },
        })
    }
}

impl Rig for VirtualRig {
    fn drive(&self) -> &DriveInfo {
        &self.info
    }

    fn count_earlier(&mut self, workload: &Workload, until: &Until) {
        self.step_numbers.next(workload, until);
    }

    fn flush(&mut self, sink: &mut dyn Sink) -> Result<Option<Flush>, RigError> {
        self.flush_drive(sink).map(Some)
    }

    fn stamped_blocks(&mut self) -> Option<&mut dyn StampedBlocks> {
        Some(self)
    }

    fn timed_loads(&mut self) -> Option<&mut dyn TimedLoads> {
        Some(self)
    }

    fn media_writes(&mut self, _: &mut dyn Sink) -> Option<MediaWrites> {
        self.drive.media_writes()
    }

    fn thermal_report(&mut self) -> Option<ThermalReport> {
        self.drive.power_thermal.report()
    }

    fn read_back(&mut self, _: Nanos) -> Result<Option<ReadBack>, RigError> {
        self.check_gone(self.now)?;
        Ok(self.find_lost_writes())
    }

    fn verify(
        &mut self,
        progress: &mut dyn FnMut(Bytes, Bytes) -> bool,
    ) -> Result<Option<Verified>, RigError> {
        self.check_gone(self.now)?;
        Ok(self.verify_pages(progress))
    }

    fn prepare(
        &mut self,
        preparation: &Preparation,
        sink: &mut dyn Sink,
    ) -> Result<Prepared, RigError> {
        self.check_gone(self.now)?;
        match preparation {
            // The model has one purge, which stands in for every method.
            Preparation::Purge | Preparation::PurgeBy(_) => Ok(self.purge()),
            Preparation::Trim { offset, span } => self.trim(*offset, *span),
            Preparation::Fill { .. } => {
                self.check_allowed(preparation.writes(), sink)?;
                self.fill(preparation, sink)
            }
            Preparation::Power(saving) => Ok(self.set_power_saving(*saving, sink)),
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
        check_workload(&self.info, workload, until)?;
        let number = self.step_numbers.next(workload, until);
        self.within_limit(workload, until, sink, |rig, until, sink| {
            rig.run_load((workload, number), until, sink)
        })
    }

    fn replay(
        &mut self,
        replay: &Replay,
        requests: Box<dyn RecordedRequests>,
        sink: &mut dyn Sink,
    ) -> Result<Ended, RigError> {
        if replay.bytes[1] > Bytes(0) {
            self.check_allowed(replay.bytes[1], sink)?;
        }
        self.replay_requests(replay, requests, sink)
    }

    fn rest(&mut self, duration: Nanos, sink: &mut dyn Sink) -> Result<Nanos, RigError> {
        let begin = self.now;
        let end = begin + duration.0;
        while self.now < end {
            self.check_gone(self.now)?;
            let rested = self.now - begin;
            let step = if rested < FINE_PAUSE.0 { Nanos::SECOND.0 } else { 10 * Nanos::SECOND.0 };
            self.now = (self.now + step).min(end);
            self.drive.idle_until(self.now);
            let sample = self.drive.advance_power_thermal(self.now);
            instruments::read(&self.drive, Nanos(self.now - begin), self.now, &sample, sink);
            if sink.stop() {
                break;
            }
        }
        Ok(Nanos(self.now - begin))
    }
}
