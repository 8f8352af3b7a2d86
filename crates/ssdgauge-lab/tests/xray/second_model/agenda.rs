//! Events of a drive of the second model, in the order of their times.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// What happens at a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Event {
    /// The controller has decoded a command.
    Decoded(u32),
    /// The data of a write has arrived.
    Linked(u32),
    /// A page of a read has arrived at the controller.
    Arrived(u32),
    /// A command is completed.
    Done(u32),
    /// A plane has sensed a page.
    Sensed(u32, u32),
    /// A plane can sense again.
    LaneFree(u32, u32),
    /// An operation of a die ends, unless it was suspended.
    OpEnd(u32, u32),
    /// A die looks for work.
    Kick(u32),
    /// The drive may have had no command for long.
    Idle,
    /// The write buffer may have had no write for long.
    BufferIdle,
    /// The temperature is read.
    Tick,
}

/// Events in the order of their times, and of their creation.
#[derive(Clone, Default)]
pub(super) struct Agenda {
    pub(super) now: u64,
    number: u64,
    events: BinaryHeap<Reverse<(u64, u64, Event)>>,
}

impl Agenda {
    pub(super) fn add(&mut self, at: u64, event: Event) {
        self.number += 1;
        self.events.push(Reverse((at.max(self.now), self.number, event)));
    }

    /// Returns the next event; its time is now.
    pub(super) fn take(&mut self) -> Option<Event> {
        let Reverse((at, _, event)) = self.events.pop()?;
        self.now = at;
        Some(event)
    }

    /// Returns the time of the next event.
    pub(super) fn next(&self) -> u64 {
        self.events.peek().map_or(u64::MAX, |next| next.0.0)
    }
}
