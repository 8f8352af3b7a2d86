//! The instruments of the virtual drive: readings of each second, ground truth of each step, and
//! findings.
//!
//! They must never change what the drive does.

use crate::drive::Drive;
use crate::ftl::GroundTruth;
use crate::power_thermal::PowerThermalSample;
use crate::time::SimTime;
use ssdgauge_core::rounded::count;
use ssdgauge_core::{
    Finding, FindingKind, MediaWrites, Nanos, PowerSaving, Reading, Severity, Sink,
};

/// The instrument of all readings but those of single dies.
const VIRTUAL: &str = "virtual";
/// The instrument of what the drive counts itself, where it does.
const COUNTERS: &str = "virtual counters";

/// The seconds of a step.
#[derive(Clone, Copy, Debug)]
pub(crate) struct StepClock {
    /// When the step began.
    pub(crate) begin: SimTime,
    /// The number of the current second.
    pub(crate) second: u32,
    /// When the current second ends.
    pub(crate) second_end: SimTime,
    /// Seconds that ended with the drive throttled.
    throttled: u64,
    /// Energy of the drive when the step began, in joules.
    energy_j: f64,
}

impl StepClock {
    /// Returns the clock of a step that begins at `begin`.
    pub(crate) fn new(begin: SimTime, drive: &Drive) -> StepClock {
        StepClock {
            begin,
            second: 0,
            second_end: begin + Nanos::SECOND.0,
            throttled: 0,
            energy_j: drive.power_thermal.energy_j(),
        }
    }

    /// Returns how much of the current second has elapsed at `now`.
    pub(crate) fn elapsed_of_second(&self, now: SimTime) -> Nanos {
        Nanos(now.saturating_sub(self.second_end - Nanos::SECOND.0))
    }
}

/// Ends the current second: advances power and temperature, and takes the readings.
pub(crate) fn end_second(drive: &mut Drive, clock: &mut StepClock, sink: &mut dyn Sink) {
    let end = clock.second_end;
    drive.idle_until(end);
    let sample = drive.advance_power_thermal(end);
    read(drive, Nanos(end - clock.begin), end, &sample, sink);
    clock.throttled += u64::from(sample.throttled);
    clock.second += 1;
    clock.second_end = clock.begin + Nanos::SECOND.0 * (u64::from(clock.second) + 1);
}

/// Takes the readings at `now`, which is `at` from the start of the step.
pub(crate) fn read(
    drive: &Drive,
    at: Nanos,
    now: SimTime,
    sample: &PowerThermalSample,
    sink: &mut dyn Sink,
) {
    let values = [
        ("temperature_c", sample.body_c),
        ("junction_temperature_c", sample.junction_c),
        ("power_w", sample.power_w),
        ("throttled", f64::from(u8::from(sample.throttled))),
        ("valid_pages", drive.ftl.valid_pages() as f64),
        ("slc_occupancy_bytes", drive.ftl.slc_occupancy_bytes() as f64),
    ];
    for (quantity, value) in values {
        sink.reading(&reading(at, VIRTUAL, quantity, value));
    }
    for (die, value) in drive.ftl.backlog(now).enumerate() {
        sink.reading(&reading(at, &format!("die {die}"), "queue_depth", value));
    }
}

/// Ends a step at `now`: readings of its last fraction of a second, and the ground truth since
/// `before`.
pub(crate) fn end_step(
    drive: &mut Drive,
    clock: &StepClock,
    now: SimTime,
    before: &GroundTruth,
    sink: &mut dyn Sink,
) {
    let at = Nanos(now - clock.begin);
    drive.idle_until(now);
    let sample = drive.advance_power_thermal(now);
    // Means over readings weigh each one alike: a fraction far below a second gets none.
    // A step without any whole second has only this reading, however short it is.
    if clock.elapsed_of_second(now) >= Nanos(Nanos::SECOND.0 / 2) || clock.second == 0 {
        read(drive, at, now, &sample, sink);
    }
    drive.ftl.verify();
    let truth = drive.ftl.media.truth;
    if let Some(wa) = truth.write_amplification_since(before) {
        let in_step = |bytes: u64| (bytes - before.host_bytes) as f64;
        let values = [
            Some(("write_amplification", wa)),
            truth.collection_amplification_since(before).map(|wa| ("collection_amplification", wa)),
            drive.ftl.over_provisioning().map(|share| ("true_over_provisioning", share)),
            drive.ftl.greedy_superblock_pages().map(|pages| ("superblock_pages", pages)),
            truth
                .cliff
                // Once in the life of a drive, so it belongs to the step in which it came; the end
                // of the cache is forgotten where a step begins.
                .filter(|_| before.cliff.is_none())
                .map(|bytes| ("write_cliff_bytes", in_step(bytes))),
            truth.cache_exhausted.map(|bytes| ("slc_exhausted_bytes", in_step(bytes))),
        ];
        for (quantity, value) in values.into_iter().flatten() {
            sink.reading(&reading(at, VIRTUAL, quantity, value));
        }
    }
    sink.reading(&reading(at, VIRTUAL, "host_written_bytes", truth.host_bytes as f64));
    let energy_j = drive.power_thermal.energy_j() - clock.energy_j;
    sink.reading(&reading(at, VIRTUAL, "energy_j", energy_j));
    if let Some(MediaWrites { media, host, .. }) = drive.media_writes() {
        let values = [media.amount, media.granule, host.amount, host.granule];
        for (quantity, value) in MediaWrites::BYTES.into_iter().zip(values) {
            sink.reading(&reading(at, COUNTERS, quantity, value));
        }
    }
    if clock.throttled > 0 {
        sink.finding(throttled(clock.throttled, clock.second.max(1)));
    }
}

fn reading(at: Nanos, instrument: &str, quantity: &str, value: f64) -> Reading {
    Reading { at, instrument: instrument.into(), quantity: quantity.into(), value }
}

fn throttled(throttled: u64, seconds: u32) -> Finding {
    Finding::new(
        FindingKind::Throttled,
        Severity::Warning,
        format!("the virtual drive was thermally throttled in {throttled} of {seconds} seconds"),
        "let it cool down before the step",
    )
}

/// Returns the finding that nothing completed for `duration`.
pub(crate) fn hung(duration: Nanos) -> Finding {
    Finding::new(
        FindingKind::Hung,
        Severity::Warning,
        format!("nothing completed for {}", duration.about()),
        "a stall was injected on request; see the seconds without requests",
    )
}

/// Returns the finding of a request log that could not be written to its end.
pub(crate) fn log_incomplete(error: &std::io::Error) -> Finding {
    let text = format!("the log of requests ended early: {error}");
    let advice = "the results are complete; log to a file system with more free space";
    Finding::new(FindingKind::LogIncomplete, Severity::Warning, text, advice)
}

/// Returns the finding that the drive disappeared, `at` from the start of the step.
pub(crate) fn disappeared(at: Nanos) -> Finding {
    Finding::new(
        FindingKind::DriveGone,
        Severity::Invalid,
        format!("the virtual drive disappeared {} after the start of the step", at.about()),
        "the fault was injected on request: leave it out of the target to run without it",
    )
}

/// Returns the finding that `failed` of `requests` requests failed.
pub(crate) fn failed(failed: u64, requests: u64) -> Finding {
    Finding::new(
        FindingKind::Faults,
        Severity::Warning,
        format!("{} of {} requests failed", count(failed), count(requests)),
        "these errors were injected on request; no other number includes the requests",
    )
}

/// Returns the finding that the drive does not have the power state `saving`.
pub(crate) fn no_power_state(saving: PowerSaving) -> Finding {
    // As on a real drive: a result of a state by its number is none without that state.
    let severity = match saving {
        PowerSaving::State(_) => Severity::Invalid,
        PowerSaving::AsFound | PowerSaving::Active | PowerSaving::Low => Severity::Warning,
    };
    Finding::new(
        FindingKind::PowerState,
        severity,
        format!("the virtual drive has no power state {saving}; its power state is unchanged"),
        "its profile lists its states: `ssdgauge drives sim:PROFILE`",
    )
}
