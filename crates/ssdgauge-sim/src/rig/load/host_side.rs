//! The host's side of a load: the time that its threads take for each request, and the queues from which the drive
//! fetches commands.
//!
//! A completed request waits for its thread, which takes a time for each; a submitted one waits in the queue of its
//! thread while the drive has fetched as many commands as it holds. It must never lose a request, and a load on a drive
//! without these figures must not see it.

use super::Load;
use crate::drive::Drive;
use crate::profile::EffectFigures;
use crate::rig::command::command;
use crate::rig::completion_queue::Completion;
use crate::rig::fault_injection::InjectedFaults;
use crate::time::SimTime;
use ssdgauge_core::{Random, Request};
use std::collections::VecDeque;

/// The random stream of the jitter.
const JITTER: u64 = 0x0171;

/// Threads and queues of a load.
pub(crate) struct HostSide {
    /// Time of a thread for each request, in nanoseconds.
    request: SimTime,
    /// Mean time by which a completion is seen late, in nanoseconds.
    jitter: f64,
    random: Random,
    /// Commands that the drive holds at most.
    most_fetched: usize,
    fetched: usize,
    threads: Vec<HostThread>,
    /// The thread whose queue the drive looks at next.
    next: usize,
    /// Where the request of each slot is.
    stages: Vec<Stage>,
}

/// A thread of the host, with its queue.
#[derive(Default)]
struct HostThread {
    free: SimTime,
    queue: VecDeque<(usize, Request)>,
}

/// Where a request is.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
enum Stage {
    /// In the drive, which has not fetched it from here: a flush, or no request.
    #[default]
    Direct,
    Fetched,
    /// Completed; its thread sees it at the time in the queue of completions.
    Completed,
}

impl HostSide {
    /// Returns the host's side of a load of `threads` threads; `None` where the drive has no figure for it.
    pub(crate) fn new(figures: &EffectFigures, threads: usize, seed: u64) -> Option<Box<HostSide>> {
        let ns = |us: f64| (us * 1e3).round();
        let (request, jitter) = (ns(figures.host_request_us), figures.host_jitter_us * 1e3);
        let most_fetched = figures.fetched_commands as usize;
        (request > 0.0 || jitter > 0.0 || most_fetched > 0).then(|| {
            Box::new(HostSide {
                request: request as SimTime,
                jitter,
                random: Random::new(seed, JITTER),
                most_fetched: if most_fetched == 0 { usize::MAX } else { most_fetched },
                fetched: 0,
                threads: (0..threads).map(|_| HostThread::default()).collect(),
                next: 0,
                stages: Vec::new(),
            })
        })
    }

    /// Returns the time of a thread for each request, which passes before the next one is submitted.
    pub(super) fn request_time(&self) -> SimTime {
        self.request
    }

    /// Fetches the command in `slot`; returns whether there is room for it. Where there is none, it waits.
    fn fetches(&mut self, slot: usize, thread: u32, request: Request) -> bool {
        if self.fetched < self.most_fetched {
            self.fetched += 1;
            self.set(slot, Stage::Fetched);
            return true;
        }
        self.threads[thread as usize].queue.push_back((slot, request));
        false
    }

    /// Takes the next command of the queues, one of each queue in turn (NVMe base specification, round robin
    /// arbitration).
    fn take_waiting(&mut self) -> Option<(usize, Request)> {
        let count = self.threads.len();
        let is_waiting = |thread: &usize| !self.threads[*thread].queue.is_empty();
        let thread = (0..count).map(|i| (self.next + i) % count).find(is_waiting)?;
        self.next = (thread + 1) % count;
        self.threads[thread].queue.pop_front()
    }

    /// Returns when `thread` sees a request that was completed at `at`, and gives it the time for that.
    fn seen(&mut self, thread: u32, at: SimTime) -> SimTime {
        let late = match self.jitter > 0.0 {
            true => (self.random.exponential() * self.jitter) as SimTime,
            false => 0,
        };
        let thread = &mut self.threads[thread as usize];
        let seen = thread.free.max(at + late);
        thread.free = seen + self.request;
        seen
    }

    fn set(&mut self, slot: usize, stage: Stage) {
        if slot >= self.stages.len() {
            self.stages.resize(slot + 1, Stage::Direct);
        }
        self.stages[slot] = stage;
    }

    fn take_stage(&mut self, slot: usize) -> Stage {
        self.stages.get_mut(slot).map_or(Stage::Direct, std::mem::take)
    }
}

impl Load {
    /// Takes the next completion that its thread has seen, in the order of time. `PLAIN` where the load
    /// [is plain](Load::is_plain).
    #[inline(always)]
    pub(crate) fn next_seen<const PLAIN: bool>(
        &mut self,
        drive: &mut Drive,
        faults: &InjectedFaults,
    ) -> Option<Completion> {
        match PLAIN || self.host.is_none() {
            true => self.queue.pop(),
            false => self.next_of_threads(drive, faults),
        }
    }

    /// Takes the next completion that its thread has seen. Where the drive has room again, it fetches the next command.
    #[cold]
    #[inline(never)]
    fn next_of_threads(
        &mut self,
        drive: &mut Drive,
        faults: &InjectedFaults,
    ) -> Option<Completion> {
        loop {
            let completion = self.queue.pop()?;
            let Some(host) = &mut self.host else { return Some(completion) };
            if host.take_stage(completion.slot) != Stage::Fetched {
                return Some(completion);
            }
            host.fetched -= 1;
            let seen = host.seen(self.slots[completion.slot].thread, completion.at);
            host.set(completion.slot, Stage::Completed);
            self.queue.push(seen, completion.slot);
            self.fetch_next(completion.at, drive, faults);
        }
    }

    /// Fetches the next waiting command at `at`.
    fn fetch_next(&mut self, at: SimTime, drive: &mut Drive, faults: &InjectedFaults) {
        let Some(host) = &mut self.host else { return };
        if let Some((slot, request)) = host.take_waiting() {
            host.fetched += 1;
            host.set(slot, Stage::Fetched);
            self.start(slot, at, request, drive, faults);
        }
    }

    /// Sends `request` in `slot` at `at`: to the drive, or into a queue where that holds no more.
    pub(super) fn send(
        &mut self,
        slot: usize,
        at: SimTime,
        request: Request,
        drive: &mut Drive,
        faults: &InjectedFaults,
    ) {
        let thread = self.slots[slot].thread;
        let starts = self.host.as_mut().is_none_or(|host| host.fetches(slot, thread, request));
        if starts {
            self.start(slot, at, request, drive, faults);
        }
    }

    /// Gives `request` in `slot` to the drive at `at`.
    #[inline]
    fn start(
        &mut self,
        slot: usize,
        at: SimTime,
        request: Request,
        drive: &mut Drive,
        faults: &InjectedFaults,
    ) {
        let in_flight = &mut self.slots[slot];
        let thread = &self.threads[in_flight.thread as usize];
        let (now, bytes) = (self.begin + at, u64::from(request.length));
        if self.is_constrained {
            drive.constrain(now, thread.sync);
        }
        if self.tells_data {
            drive.ftl.set_data(thread.data);
        }
        let done = match faults.damage(request, now) {
            // Neither a flush nor a trim has data that could be damaged.
            _ if !request.direction.is_transfer() => command(now, request, bytes, drive),
            None => drive.submit(now, request, bytes),
            Some(damage) => drive.damage_write(now, request, bytes, damage),
        };
        let end = faults.delay(done);
        assert!(end > now || bytes == 0, "nothing completes before it was submitted");
        // It has taken the time and the flash operations of a request that succeeds: the model does
        // not state where in a drive a request fails.
        in_flight.failed = faults.fails(request, bytes);
        self.queue.push(end - self.begin, slot);
    }

    /// Lets every waiting request end at `at`, where the drive is gone.
    pub(super) fn end_waiting(&mut self, at: SimTime) {
        while let Some((slot, _)) = self.host.as_mut().and_then(|host| host.take_waiting()) {
            self.queue.push(at, slot);
        }
    }
}
