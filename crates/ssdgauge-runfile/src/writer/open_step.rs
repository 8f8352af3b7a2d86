//! The step that runs: a check of the calls of our own rig.

use crate::record::StepId;
use ssdgauge_core::{Direction, Interval, PhaseKind, Step};

/// The step to which intervals may be added.
#[derive(Debug)]
pub(super) struct OpenStep {
    pub(super) id: StepId,
    /// The step of the plan.
    pub(super) planned: Step,
    /// Whether its numbers are results.
    pub(super) is_measured: bool,
    /// The last second of each stream and direction, one stream after the other.
    last_seconds: Vec<Option<u32>>,
}

impl OpenStep {
    /// Returns the step `id` without intervals, a `planned` one of a phase of `kind`.
    pub(super) fn new(id: StepId, planned: Step, kind: PhaseKind) -> OpenStep {
        let is_measured = kind == PhaseKind::Measure;
        OpenStep { id, planned, is_measured, last_seconds: Vec::new() }
    }

    /// Asserts that `interval` is the next of its series.
    pub(super) fn check_order(&mut self, interval: &Interval) {
        let series = Direction::COUNT * usize::from(interval.stream) + interval.direction as usize;
        if self.last_seconds.len() <= series {
            self.last_seconds.resize(series + 1, None);
        }
        let last = self.last_seconds[series].replace(interval.second);
        if let Some(last) = last {
            assert!(
                interval.second > last,
                "second {} of stream {} follows second {last}",
                interval.second,
                interval.stream
            );
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ssdgauge_core::{Action, Histogram, Nanos, Rest};

    #[test]
    fn each_direction_of_each_stream_is_a_series_of_its_own() {
        let action = Action::Rest(Nanos::SECOND);
        let step = Step { label: String::new(), position: 0.0, action, rest: Rest::None };
        let mut open = OpenStep::new(StepId(1), step, PhaseKind::Measure);
        for second in 0..2 {
            for stream in 0..3 {
                for direction in Direction::ALL {
                    open.check_order(&Interval {
                        second,
                        stream,
                        direction,
                        length: Nanos::SECOND,
                        ios: 0,
                        bytes: 0,
                        errors: 0,
                        latency: Histogram::default(),
                    });
                }
            }
        }
    }
}
