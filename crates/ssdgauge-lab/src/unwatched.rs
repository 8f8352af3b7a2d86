//! A watcher that shows nothing, for runs on virtual drives within a program.

use crate::conductor::Watcher;
use ssdgauge_core::{Finding, Nanos, Phase, Step, Test};

/// Watches nothing and never stops; the time of day is the start of 1970.
#[derive(Clone, Copy, Debug, Default)]
pub struct Unwatched;

impl Watcher for Unwatched {
    fn unix_ms(&mut self) -> i64 {
        0
    }

    fn stop(&mut self) -> bool {
        false
    }

    fn step_began(&mut self, _: &Test, _: &Phase, _: &Step) {}

    fn pause_began(&mut self, _: Nanos) {}

    fn finding_recorded(&mut self, _: &Finding) {}

    fn step_ended(&mut self, _: &Test, _: &Step, _: Nanos) {}
}
