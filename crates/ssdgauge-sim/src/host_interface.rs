//! The host interface: submission queue, controller and link.
//!
//! Controller and link are each represented by the time at which they are free; a command waits
//! until then and moves that time on. The interface must never process a command before it was
//! submitted.

use crate::profile::{HostInterfaceFigures, Profile};
use crate::time::SimTime;
use ssdgauge_core::Direction;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Sequential read streams that a drive can follow at a time, where its profile states no fewer.
const MAX_READ_STREAMS: usize = 8;

/// Commands of a stream from which on the drive reads ahead: one shows no order, two may be chance.
const READ_AHEAD_FROM: u32 = 2;

/// Submission queue, controller and link.
#[derive(Clone, Debug)]
pub(crate) struct HostInterface {
    timing: InterfaceTiming,
    controller_free: SimTime,
    link_free: [SimTime; 2],
    queue: SubmissionQueue,
    read_streams: [ReadStream; MAX_READ_STREAMS],
    /// How many of them the drive follows.
    followed: usize,
    read_ahead: bool,
}

/// Durations in nanoseconds, the link in picoseconds per byte. Pairs are indexed by direction.
#[derive(Clone, Copy, Debug)]
struct InterfaceTiming {
    command: [u64; 2],
    delay: [u64; 2],
    page: u64,
    link_ps: u64,
    half_duplex: bool,
}

/// A sequential stream of reads.
#[derive(Clone, Copy, Debug, Default)]
struct ReadStream {
    next_page: u32,
    /// Commands of the stream so far; 0 for an unused entry.
    commands: u32,
    /// When the last command but one and the last one were processed.
    processed: [SimTime; 2],
}

/// A command that the controller has processed.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ProcessedCommand {
    /// When its flash operations can begin.
    pub(crate) at: SimTime,
    /// The earliest time at which the link has transferred its data.
    pub(crate) link_free: SimTime,
    /// Transfer time of its own data, in nanoseconds.
    pub(crate) transfer: u64,
    /// Additional latency that occupies nothing, in nanoseconds.
    pub(crate) delay: u64,
}

impl HostInterface {
    /// Returns the idle interface of a drive that runs at full speed.
    pub(crate) fn new(profile: &Profile) -> HostInterface {
        let figures = &profile.host_interface;
        let followed = match profile.effects.read_streams as usize {
            0 => MAX_READ_STREAMS,
            streams => streams.min(MAX_READ_STREAMS),
        };
        HostInterface {
            timing: InterfaceTiming::new(figures, 1.0),
            controller_free: 0,
            link_free: [0; 2],
            queue: SubmissionQueue {
                limit: figures.max_queue_depth as usize,
                can_be_exceeded: false,
                ends: BinaryHeap::new(),
            },
            read_streams: [ReadStream::default(); MAX_READ_STREAMS],
            followed,
            read_ahead: figures.read_ahead,
        }
    }

    /// Sets the speed of commands processed from this call on, as a share of full speed.
    pub(crate) fn set_speed(&mut self, figures: &HostInterfaceFigures, factor: f64) {
        self.timing = InterfaceTiming::new(figures, factor);
    }

    /// Prepares for a host that keeps `depth` commands in flight; none may be in flight.
    ///
    /// The ends of commands are only recorded where the host can exceed the queue of the drive.
    pub(crate) fn expect_depth(&mut self, depth: usize) {
        self.queue.ends.clear();
        self.queue.can_be_exceeded = depth > self.queue.limit;
    }

    /// Lets the controller process no command before `until`.
    pub(crate) fn block_until(&mut self, until: SimTime) {
        self.controller_free = self.controller_free.max(until);
    }

    /// Occupies the controller for `duration`, from `at` on or when it is free.
    pub(crate) fn occupy(&mut self, at: SimTime, duration: SimTime) {
        self.controller_free = self.controller_free.max(at) + duration;
    }

    /// Ends the read-ahead of every stream: each has to be recognised again.
    pub(crate) fn end_read_ahead(&mut self) {
        self.read_streams.iter_mut().for_each(|stream| stream.commands = 0);
    }

    /// Processes a command of `bytes` in `pages` that was admitted at `now`.
    #[inline(always)]
    pub(crate) fn process(
        &mut self,
        now: SimTime,
        direction: Direction,
        bytes: u64,
        pages: u32,
    ) -> ProcessedCommand {
        let timing = &self.timing;
        let cost = timing.command[direction.side()] + timing.page * u64::from(pages - 1);
        let at = self.controller_free.max(now) + cost;
        self.controller_free = at;
        let transfer = bytes * timing.link_ps / 1_000;
        // SATA transfers data in one direction at a time; PCIe has lanes for each direction.
        let lane = if timing.half_duplex { 0 } else { direction.side() };
        let link_free = self.link_free[lane].max(now) + transfer;
        self.link_free[lane] = link_free;
        ProcessedCommand { at, link_free, transfer, delay: timing.delay[direction.side()] }
    }

    /// Returns the time that a command without data takes on an idle interface.
    pub(crate) fn time_of_command(&self) -> SimTime {
        let side = Direction::Write.side();
        self.timing.command[side] + self.timing.delay[side]
    }

    /// Returns when the drive accepts a command submitted at `now`.
    #[inline]
    pub(crate) fn admit(&mut self, now: SimTime) -> SimTime {
        self.queue.admit(now)
    }

    /// Records when an accepted command ends.
    #[inline]
    pub(crate) fn record_end(&mut self, at: SimTime) {
        if self.queue.can_be_exceeded {
            self.queue.ends.push(Reverse(at));
        }
    }

    /// Returns when the flash operations of a read command processed at `at` begin: earlier than
    /// the command where the drive has read ahead of a sequential stream.
    pub(crate) fn read_ahead(&mut self, at: SimTime, page: u32, pages: u32) -> SimTime {
        if !self.read_ahead {
            return at;
        }
        let next_page = page.wrapping_add(pages);
        let known = self.read_streams.iter().position(|s| s.commands > 0 && s.next_page == page);
        let index = known.unwrap_or_else(|| self.least_recent_stream());
        let stream = &mut self.read_streams[index];
        if known.is_none() {
            *stream = ReadStream { next_page, commands: 1, processed: [at; 2] };
            return at;
        }
        // Two commands ahead: the drive fetches the next data while it returns the current one.
        let begin = if stream.commands >= READ_AHEAD_FROM { stream.processed[0] } else { at };
        stream.next_page = next_page;
        stream.commands += 1;
        stream.processed = [stream.processed[1], at];
        begin
    }

    fn least_recent_stream(&self) -> usize {
        // An entry that was never used has the time 0, and is taken first.
        (0..self.followed).min_by_key(|i| self.read_streams[*i].processed[1]).unwrap_or(0)
    }
}

impl InterfaceTiming {
    fn new(figures: &HostInterfaceFigures, factor: f64) -> InterfaceTiming {
        let ns = |us: f64| (us * 1e3 / factor).round() as u64;
        InterfaceTiming {
            command: [ns(figures.read_command_us), ns(figures.write_command_us)],
            delay: [ns(figures.read_delay_us), ns(figures.write_delay_us)],
            page: ns(figures.page_us),
            // In picoseconds: above 1 GB/s a byte takes less than a nanosecond.
            link_ps: (1e6 / figures.link_mb_s / factor).round() as u64,
            half_duplex: figures.half_duplex,
        }
    }
}

/// The commands that the drive has accepted, by their ends; further ones wait in the host.
#[derive(Clone, Debug)]
struct SubmissionQueue {
    limit: usize,
    /// Whether the host keeps more commands in flight than the drive accepts.
    can_be_exceeded: bool,
    ends: BinaryHeap<Reverse<SimTime>>,
}

impl SubmissionQueue {
    #[inline(always)]
    fn admit(&mut self, now: SimTime) -> SimTime {
        if !self.can_be_exceeded || self.ends.len() < self.limit {
            return now;
        }
        // The command that ends first makes room, and the new one takes its place in the queue.
        match self.ends.pop() {
            Some(Reverse(end)) => end.max(now),
            None => now,
        }
    }
}
