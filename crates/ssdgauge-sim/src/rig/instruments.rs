//! What the virtual drive shows of itself: readings of every second, truths of every step,
//! findings.
//!
//! It must never change what the drive does.

use crate::flash::Moment;
use crate::ground_truth::Truth;
use crate::power_thermal::EnvironmentSecond;
use crate::rig::VirtualRig;
use ssdgauge_core::{Finding, FindingKind, Nanos, PowerSaving, Reading, Severity, Sink};

impl VirtualRig {
    /// Ends the second at work: surroundings go on, readings are taken.
    pub(crate) fn tick(&mut self, clock: &mut Clock, sink: &mut dyn Sink) {
        let end = clock.second_end;
        let second = self.drive.pass(end);
        self.read_instruments(Nanos(end - clock.begin), end, &second, sink);
        clock.throttled += u64::from(second.throttled);
        clock.second += 1;
        clock.second_end = clock.begin + Nanos::SECOND.0 * (u64::from(clock.second) + 1);
    }

    pub(crate) fn read_instruments(
        &self,
        at: Nanos,
        now: Moment,
        second: &EnvironmentSecond,
        sink: &mut dyn Sink,
    ) {
        let figures = [
            ("temperature_c", second.body_c),
            ("junction_temperature_c", second.junction_c),
            ("power_w", second.power_w),
            ("throttled", f64::from(u8::from(second.throttled))),
            ("valid_pages", self.drive.valid_pages() as f64),
            ("slc_occupancy_bytes", self.drive.slc_occupancy() as f64),
        ];
        for (quantity, value) in figures {
            sink.reading(&reading(at, "virtual", quantity, value));
        }
        for (die, value) in self.drive.flash.backlog(now).enumerate() {
            sink.reading(&reading(at, &format!("die {die}"), "queue_depth", value));
        }
    }

    /// Ends a step: what is left of the last second, and what is true of the whole.
    pub(crate) fn finish(&mut self, clock: &Clock, before: &Truth, sink: &mut dyn Sink) {
        let at = Nanos(self.now - clock.begin);
        let rest = self.now.saturating_sub(clock.second_end - Nanos::SECOND.0);
        let second = self.drive.pass(self.now);
        // A mean over readings must not give a few milliseconds the weight of a second.
        if rest >= Nanos::SECOND.0 / 2 || clock.second == 0 {
            self.read_instruments(at, self.now, &second, sink);
        }
        let truth = self.drive.truth;
        if let Some(wa) = truth.write_amplification_since(before) {
            let step = |bytes: u64| (bytes - before.host_bytes) as f64;
            let figures = [
                Some(("write_amplification", wa)),
                self.drive.over_provisioning().map(|share| ("true_over_provisioning", share)),
                truth
                    .cliff
                    .filter(|_| before.cliff.is_none())
                    .map(|bytes| ("write_cliff_bytes", step(bytes))),
                truth.cache_exhausted.map(|bytes| ("slc_exhausted_bytes", step(bytes))),
            ];
            for (quantity, value) in figures.into_iter().flatten() {
                sink.reading(&reading(at, "virtual", quantity, value));
            }
        }
        let host_bytes = truth.host_bytes as f64;
        sink.reading(&reading(at, "virtual", "host_written_bytes", host_bytes));
        let energy = self.drive.environment.energy_j();
        sink.reading(&reading(at, "virtual", "energy_j", energy - clock.energy_j));
        if clock.throttled > 0 {
            sink.finding(Finding::new(
                FindingKind::Throttled,
                Severity::Warning,
                format!(
                    "the virtual drive was throttled by heat in {} of {} seconds",
                    clock.throttled,
                    clock.second.max(1)
                ),
                "let it cool down, or give it a lower thermal.r_c_per_w",
            ));
        }
    }
}

/// The seconds of a step.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Clock {
    pub(crate) begin: Moment,
    /// The number of the second at work.
    pub(crate) second: u32,
    /// When it ends.
    pub(crate) second_end: Moment,
    /// Seconds that ended with the drive throttled.
    throttled: u64,
    /// Energy of the drive when the step began, in joules.
    energy_j: f64,
}

impl Clock {
    /// Returns the clock of a step that begins at `begin`, when the drive had taken `energy_j`.
    pub(crate) fn new(begin: Moment, energy_j: f64) -> Clock {
        Clock { begin, second: 0, second_end: begin + Nanos::SECOND.0, throttled: 0, energy_j }
    }
}

fn reading(at: Nanos, instrument: &str, quantity: &str, value: f64) -> Reading {
    Reading { at, instrument: instrument.into(), quantity: quantity.into(), value }
}

pub(crate) fn hung(silence: Nanos) -> Finding {
    Finding::new(
        FindingKind::Hung,
        Severity::Warning,
        format!("nothing completed for {silence}"),
        "look at the seconds without requests; the virtual drive was told to stall",
    )
}

pub(crate) fn vanished(at: Nanos) -> Finding {
    Finding::new(
        FindingKind::DriveGone,
        Severity::Invalid,
        format!("the virtual drive vanished {at} after the start of the step"),
        "it was told to: leave fault.gone_at_s out",
    )
}

pub(crate) fn failed(requests: u64, of: u64) -> Finding {
    Finding::new(
        FindingKind::Faults,
        Severity::Warning,
        format!("{requests} of {of} requests failed"),
        "the virtual drive was told to fail them; they are in no other figure",
    )
}

pub(crate) fn no_power_state(saving: PowerSaving) -> Finding {
    Finding::new(
        FindingKind::PowerState,
        Severity::Warning,
        format!("the virtual drive has no power state {saving}: it stays in the one that it has"),
        "its profile lists its states: `ssdgauge drives sim:PROFILE`",
    )
}
