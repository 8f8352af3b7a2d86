//! The front of the drive: host queue, controller and link.
//!
//! Each of them is a moment at which it is free again; a command takes its turn by moving that
//! moment on. The front must never let a command begin before it was submitted.

use crate::flash::Moment;
use crate::profile::FrontFigures;
use ssdgauge_core::Direction;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Sequential streams that the drive can follow at a time.
const FOLLOWED: usize = 8;

/// Host queue, controller and link.
#[derive(Clone, Debug)]
pub(crate) struct Front {
    timing: FrontTiming,
    controller_free: Moment,
    link_free: [Moment; 2],
    queue: HostQueue,
    followed: [Followed; FOLLOWED],
    read_ahead: bool,
}

/// The durations of the front in nanoseconds, the link in picoseconds per byte.
#[derive(Clone, Copy, Debug)]
struct FrontTiming {
    command: [u64; 2],
    delay: [u64; 2],
    page: u64,
    link_ps: u64,
    half_duplex: bool,
}

/// A sequential stream of reads that the drive follows.
#[derive(Clone, Copy, Debug, Default)]
struct Followed {
    next_page: u32,
    run: u32,
    /// When the reads before the last and the last one arrived.
    arrived: [Moment; 2],
}

/// A command that the controller has taken.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Taken {
    /// When its flash operations can begin.
    pub(crate) at: Moment,
    /// The earliest moment at which the link has moved its data.
    pub(crate) link_free: Moment,
    /// How long its own data takes on the link.
    pub(crate) transfer: u64,
    /// Further latency.
    pub(crate) delay: u64,
}

impl Front {
    /// Returns the front of a drive whose speed is `factor` of the full one.
    pub(crate) fn new(figures: &FrontFigures, factor: f64) -> Front {
        Front {
            timing: FrontTiming::of(figures, factor),
            controller_free: 0,
            link_free: [0; 2],
            queue: HostQueue {
                limit: figures.max_queue_depth as usize,
                exceeded: false,
                ends: BinaryHeap::new(),
            },
            followed: [Followed::default(); FOLLOWED],
            read_ahead: figures.read_ahead,
        }
    }

    /// Makes the front slower or faster from now on.
    pub(crate) fn set_factor(&mut self, figures: &FrontFigures, factor: f64) {
        self.timing = FrontTiming::of(figures, factor);
    }

    /// Prepares for a host that keeps `depth` commands in flight; none is in flight now. The
    /// queue is only kept where it can be exceeded.
    pub(crate) fn expect_depth(&mut self, depth: usize) {
        self.queue.ends.clear();
        self.queue.exceeded = depth > self.queue.limit;
    }

    /// Keeps the controller from working before `until`.
    pub(crate) fn wake_until(&mut self, until: Moment) {
        self.controller_free = self.controller_free.max(until);
    }

    /// Takes a command of `bytes` in `pages` at `now`.
    #[inline]
    pub(crate) fn take(&mut self, now: Moment, way: Direction, bytes: u64, pages: u32) -> Taken {
        let timing = &self.timing;
        let cost = timing.command[way as usize] + timing.page * u64::from(pages - 1);
        let at = self.controller_free.max(now) + cost;
        self.controller_free = at;
        let transfer = bytes * timing.link_ps / 1_000;
        let lane = if timing.half_duplex { 0 } else { way as usize };
        let link_free = self.link_free[lane].max(now) + transfer;
        self.link_free[lane] = link_free;
        Taken { at, link_free, transfer, delay: timing.delay[way as usize] }
    }

    /// Returns when a command submitted at `now` is let into the drive.
    #[inline]
    pub(crate) fn admit(&mut self, now: Moment) -> Moment {
        self.queue.admit(now)
    }

    /// Notes when an admitted command ends.
    #[inline]
    pub(crate) fn ends(&mut self, at: Moment) {
        if self.queue.exceeded {
            self.queue.ends.push(Reverse(at));
        }
    }

    /// Returns when the flash may begin with a read: earlier than the command where the drive has
    /// read ahead of a sequential stream.
    pub(crate) fn read_ahead(&mut self, at: Moment, page: u32, pages: u32) -> Moment {
        if !self.read_ahead {
            return at;
        }
        let next_page = page.wrapping_add(pages);
        let known = self.followed.iter().position(|f| f.run > 0 && f.next_page == page);
        let index = known.unwrap_or_else(|| self.least_recent());
        let followed = &mut self.followed[index];
        if known.is_none() {
            *followed = Followed { next_page, run: 1, arrived: [at; 2] };
            return at;
        }
        let earlier = if followed.run >= 2 { followed.arrived[0] } else { at };
        followed.next_page = next_page;
        followed.run += 1;
        followed.arrived = [followed.arrived[1], at];
        earlier
    }

    fn least_recent(&self) -> usize {
        (0..FOLLOWED).min_by_key(|i| self.followed[*i].arrived[1]).unwrap_or(0)
    }
}

impl FrontTiming {
    fn of(figures: &FrontFigures, factor: f64) -> FrontTiming {
        let ns = |us: f64| (us * 1e3 / factor).round() as u64;
        FrontTiming {
            command: [ns(figures.read_command_us), ns(figures.write_command_us)],
            delay: [ns(figures.read_delay_us), ns(figures.write_delay_us)],
            page: ns(figures.page_us),
            link_ps: (1e6 / figures.link_mb_s / factor).round() as u64,
            half_duplex: figures.half_duplex,
        }
    }
}

/// The commands that the drive has accepted, by their ends; more wait in the host.
#[derive(Clone, Debug)]
struct HostQueue {
    limit: usize,
    /// Whether the host keeps more commands in flight than the drive accepts.
    exceeded: bool,
    ends: BinaryHeap<Reverse<Moment>>,
}

impl HostQueue {
    #[inline]
    fn admit(&mut self, now: Moment) -> Moment {
        if !self.exceeded || self.ends.len() < self.limit {
            return now;
        }
        match self.ends.pop() {
            Some(Reverse(end)) => end.max(now),
            None => now,
        }
    }
}
