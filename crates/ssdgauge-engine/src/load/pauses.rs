//! Pauses of a thread of a closed loop: think time after its requests, and the off times of a pulse.
//!
//! No request of the thread is in flight in a pause, so no latency contains one. Nothing here runs for a
//! stream without pauses.

use ssdgauge_core::{Nanos, Pulse, Request, Stream};
use ssdgauge_os::clock::Clock;

/// The pauses of one thread.
#[derive(Clone, Debug)]
pub(crate) struct Pauses {
    clock: Clock,
    /// The think time in ticks; 0 without one.
    think: u64,
    /// The requests after which a think time follows.
    batch: u32,
    /// The requests since the last think time.
    sent: u32,
    pulse: Option<Pulse>,
}

/// What a thread waits for before its next request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Pause {
    /// A time without requests in flight, in ticks.
    Think(u64),
    /// A tick.
    Until(u64),
}

/// What a thread does before its next request, while nothing is in flight.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Hold {
    /// It sends a flush and waits for it.
    Flush(Request),
    /// It waits.
    Pause(Pause),
}

impl Pauses {
    /// Returns the pauses of a thread of `stream` that has `depth` requests in flight; `None` where it has
    /// none. The due times of an open loop lie in no off time.
    pub(crate) fn new(stream: &Stream, depth: u32, clock: Clock) -> Option<Pauses> {
        let is_closed = stream.arrival.per_second().is_none();
        (is_closed && stream.pauses()).then(|| Pauses {
            clock,
            think: stream.think_time.map_or(0, |time| clock.ticks(time)),
            batch: depth,
            sent: 0,
            pulse: stream.pulse,
        })
    }

    /// Returns the pause that is due before the next request of a workload that began at `start`; without
    /// one, the request counts as sent.
    pub(crate) fn next(&mut self, now: u64, start: u64) -> Option<Pause> {
        if self.think > 0 && self.sent == self.batch {
            self.sent = 0;
            return Some(Pause::Think(self.think));
        }
        // From the start of the workload, so that the pulses of all threads are in phase.
        let at = self.clock.nanos(now.saturating_sub(start));
        if let Some(on) = self.pulse.and_then(|pulse| pulse.next_on(at)) {
            return Some(Pause::Until(start + self.clock.ticks(Nanos(on))));
        }
        self.sent += 1;
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_think_time_follows_a_batch_and_an_off_time_holds_every_request() {
        let clock = Clock::best();
        let at = |ms: u64| 1_000 + clock.ticks(Nanos(ms * 1_000_000));
        let ms = |ms: u64| Nanos(ms * 1_000_000);
        let pulse = Pulse { on: ms(20), off: ms(30) };
        let stream = Stream { think_time: Some(ms(5)), pulse: Some(pulse), ..Stream::default() };
        let mut pauses = Pauses::new(&stream, 2, clock).unwrap();
        let mut next = |ms: u64| pauses.next(at(ms), 1_000);
        let think = Some(Pause::Think(clock.ticks(ms(5))));
        assert_eq!([next(0), next(0), next(1), next(6), next(6)], [None, None, think, None, None]);
        assert_eq!(next(7), think);
        let Some(Pause::Until(tick)) = next(25) else { panic!("off from 20 ms to 50 ms") };
        assert!(tick.abs_diff(at(50)) <= 2, "{tick}");
        assert_eq!(next(51), None);
        assert!(Pauses::new(&Stream::default(), 1, clock).is_none());
    }
}
