//! Recorded requests: what a replay sends, and when.

use crate::sample::Direction;
use crate::units::Nanos;

/// One recorded request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RecordedRequest {
    /// When it is due.
    pub time: RecordedTime,
    /// What it does.
    pub direction: Direction,
    /// The number of its stream in the workload of the replay.
    pub stream: u16,
    /// Its start on the target, in bytes; 0 for a flush.
    pub offset: u64,
    /// Its length, in bytes; 0 for a flush.
    pub length: u64,
}

/// When a recorded request is due.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RecordedTime {
    /// So long after the start of its burst: others were in flight when it was submitted.
    InBurst(Nanos),
    /// So long after the completion of all requests before it, which it had followed: it begins a burst.
    AfterCompletion(Nanos),
}

/// Recorded requests in the order of their submission.
pub trait RecordedRequests: Send {
    /// Returns the next request; `None` after the last one.
    ///
    /// # Errors
    /// The cause in words, where they cannot be read.
    fn next_request(&mut self) -> Result<Option<RecordedRequest>, String>;
}

/// Requests in memory.
impl RecordedRequests for std::vec::IntoIter<RecordedRequest> {
    fn next_request(&mut self) -> Result<Option<RecordedRequest>, String> {
        Ok(self.next())
    }
}

/// The due times of recorded requests, by the completions of the replay.
#[derive(Clone, Copy, Debug, Default)]
pub struct ReplayClock {
    /// The start of the current burst, from the start of the replay.
    burst: Nanos,
}

impl ReplayClock {
    /// Returns when a request is due, from the start of the replay; `None` while it waits for requests
    /// in flight. `last` is the last completion.
    #[inline]
    pub fn due(&mut self, time: RecordedTime, in_flight: bool, last: Nanos) -> Option<Nanos> {
        match time {
            RecordedTime::InBurst(after) => Some(self.burst + after),
            RecordedTime::AfterCompletion(_) if in_flight => None,
            RecordedTime::AfterCompletion(after) => {
                self.burst = last + after;
                Some(self.burst)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_burst_begins_after_the_completion_of_the_one_before() {
        let mut clock = ReplayClock::default();
        let think = RecordedTime::AfterCompletion(Nanos(100));
        assert_eq!(clock.due(think, false, Nanos(0)), Some(Nanos(100)));
        assert_eq!(clock.due(RecordedTime::InBurst(Nanos(7)), true, Nanos(0)), Some(Nanos(107)));
        assert_eq!(clock.due(think, true, Nanos(120)), None);
        assert_eq!(clock.due(think, false, Nanos(500)), Some(Nanos(600)));
    }
}
