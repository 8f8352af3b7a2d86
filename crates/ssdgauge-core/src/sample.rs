//! What was seen: intervals, readings and findings.

use crate::statistics::histogram::Histogram;
use crate::units::Nanos;
use serde::{Deserialize, Serialize};

/// Which way data moves.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[repr(u8)]
pub enum Direction {
    /// From the drive.
    Read = 0,
    /// To the drive.
    Write = 1,
}

impl Direction {
    /// Both directions, in the order of their numbers.
    pub const BOTH: [Direction; 2] = [Direction::Read, Direction::Write];

    /// Returns `read` or `write`.
    pub fn name(self) -> &'static str {
        match self {
            Direction::Read => "read",
            Direction::Write => "write",
        }
    }
}

/// One second of one stream and direction.
///
/// A second in which nothing completed is recorded as zero. A request counts in the second of its
/// completion, from the start of the step; the last interval may be shorter than a second.
#[derive(Clone, Debug, PartialEq)]
pub struct Interval {
    /// The number of the second in its step, from 0.
    pub second: u32,
    /// The stream in its workload, from 0.
    pub stream: u16,
    /// Which way the data moved.
    pub direction: Direction,
    /// How long the interval lasted: a second, or less for the last one.
    pub length: Nanos,
    /// Requests that completed in full.
    pub ios: u64,
    /// Bytes of these requests.
    pub bytes: u64,
    /// Requests that failed or were cut short. They are in no other figure.
    pub errors: u64,
    /// Latencies of the requests that completed in full, in nanoseconds. In a closed loop they
    /// count from before the submission to after the completion was reaped, in an open loop from
    /// the due time.
    pub latency: Histogram,
}

/// One value of one instrument at one moment.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Reading {
    /// When it was read, from the start of the step.
    pub at: Nanos,
    /// The instrument, such as `virtual` or `nvme0 composite`.
    pub instrument: String,
    /// The quantity with its unit as suffix, such as `temperature_c`, `power_w`.
    pub quantity: String,
    /// The value in that unit.
    pub value: f64,
}

/// How much of a computer a power meter sees. Efficiencies of different scopes are never ranked
/// together: what one meter sees of a host another does not.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PowerScope {
    /// The drive alone.
    Drive,
    /// A host with its drive, behind the power supply.
    HostDc,
    /// A host with its drive, at the wall.
    HostAc,
}

impl PowerScope {
    /// Every scope, the narrowest first.
    pub const ALL: [PowerScope; 3] = [PowerScope::Drive, PowerScope::HostDc, PowerScope::HostAc];

    /// Returns the word used in specifications, JSON and pages.
    pub fn name(self) -> &'static str {
        match self {
            PowerScope::Drive => "drive",
            PowerScope::HostDc => "host-dc",
            PowerScope::HostAc => "host-ac",
        }
    }

    /// Returns the quantity of its readings, in watts.
    pub fn quantity(self) -> &'static str {
        match self {
            PowerScope::Drive => "power_w",
            PowerScope::HostDc => "host_dc_power_w",
            PowerScope::HostAc => "host_ac_power_w",
        }
    }

    /// Returns the quantity of the energy of a step, in joules.
    pub fn energy_quantity(self) -> &'static str {
        match self {
            PowerScope::Drive => "energy_j",
            PowerScope::HostDc => "host_dc_energy_j",
            PowerScope::HostAc => "host_ac_energy_j",
        }
    }

    /// Returns the scope called `name`.
    pub fn from_name(name: &str) -> Option<PowerScope> {
        PowerScope::ALL.into_iter().find(|scope| scope.name() == name)
    }
}

/// How much a finding bears on the numbers beside it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// A condition one should know.
    Note,
    /// The number may mislead.
    Warning,
    /// The number must not be used.
    Invalid,
}

impl Severity {
    /// Returns the word used in JSON, tables and pages.
    pub fn name(self) -> &'static str {
        match self {
            Severity::Note => "note",
            Severity::Warning => "warning",
            Severity::Invalid => "invalid",
        }
    }
}

/// What a finding is about: the closed list of conditions that bear on trust.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FindingKind {
    /// The results come from a virtual drive: a shape, not a measurement.
    Model,
    /// All durations and byte limits were divided for a trial.
    Shortened,
    /// A span was cut down to fit a small target.
    SpanScaled,
    /// The page cache stood between the engine and the drive.
    PageCache,
    /// The kernel handed requests to worker threads.
    Punted,
    /// The synchronous engine stood in for io_uring.
    EngineFallback,
    /// Fewer requests were in flight than asked.
    QueueNotReached,
    /// Requests failed or were cut short.
    Faults,
    /// The drive is gone.
    DriveGone,
    /// Nothing completed for a long time.
    Hung,
    /// The run went on after a pause.
    Resumed,
    /// A purge was asked and is not possible here.
    PurgeNotPossible,
    /// No instrument measures this.
    NotMeasured,
    /// Too few samples for what was asked of them.
    TooFewSamples,
    /// The host took the processor away, or stood still.
    Disturbed,
    /// Writing left the drive's fast cache.
    CacheExceeded,
    /// The drive slowed down because of heat.
    Throttled,
    /// A step became steady by the SNIA rule.
    SteadyState,
    /// A step reached its limit before it was steady.
    NotSteady,
    /// A load that had become steady by the SNIA rule left its steady state again.
    LeftSteadyState,
    /// The repetitions of a test rise or fall in the order in which they were carried out.
    OrderEffect,
    /// An open loop asked for more than the drive bears.
    Overloaded,
    /// The program itself sent the requests of an open loop late.
    GeneratorLate,
    /// The drive said that it cannot read or write a place.
    MediaError,
    /// Requests moved fewer bytes than asked.
    ShortTransfer,
    /// The target is smaller than it was.
    TargetShrank,
    /// Single requests took a second or longer, without an error.
    Stalled,
    /// The program or the whole machine stood still.
    StoodStill,
    /// The time of day jumped; durations do not depend on it.
    ClockJumped,
    /// The file system of the results was full for a while.
    ResultsFull,
    /// Somebody else used the drive at the same time.
    OtherTraffic,
    /// The kernel merged requests with their neighbours.
    Merged,
    /// The kernel reorders requests on their way.
    Scheduler,
    /// The processor changes its speed while it measures.
    FrequencyGovernor,
    /// The processor sleeps so deeply that waking shows in latencies.
    IdleStates,
    /// The drive hangs on a part of the machine that this process does not run on.
    RemoteNode,
    /// The target does not begin on a boundary of the drive.
    Misaligned,
    /// Reading the time is slow or imprecise on this machine.
    ClockSource,
    /// The program's own threads had no time left: the host is the limit, not the drive.
    HostCeiling,
    /// The drive was no longer the admitted one, or not ours alone, before a step that writes.
    DriveChanged,
    /// More was written than the plan allows.
    OverBudget,
    /// The drive does not give back what was written to it.
    NotKept,
    /// A meter is gone, stuck, or reads what cannot be.
    Meter,
    /// A drive could not be brought into the power state that was asked for.
    PowerState,
    /// The volatile write cache of a drive could not be switched as asked.
    WriteCache,
    /// A read did not find what this run had written there.
    WrongData,
    /// What is read was never written: the drive may answer without its memory.
    Unwritten,
    /// The log of single requests is not complete.
    LogIncomplete,
    /// The link between host and drive is slower or narrower than the drive can.
    LinkBelowCapability,
    /// The drive said something of itself that cannot be true.
    Implausible,
    /// The drive warns of its health, or its health became worse.
    HealthWarning,
    /// A purge was sent to the drive; it may go on there even if the program does not.
    PurgeStarted,
    /// The drive was told what holds nothing, and that had no effect.
    TrimIneffective,
    /// Part of a fresh drive is left unused, which gives it more spare area.
    LeftUnused,
    /// A drive was purged, and not in the best way that its kind has.
    LesserPurge,
    /// A finding of a newer program.
    #[serde(other)]
    Unknown,
}

impl FindingKind {
    /// Returns the key used in run files and JSON, such as `page-cache`.
    pub fn key(self) -> &'static str {
        match self {
            FindingKind::Model => "model",
            FindingKind::Shortened => "shortened",
            FindingKind::SpanScaled => "span-scaled",
            FindingKind::PageCache => "page-cache",
            FindingKind::Punted => "punted",
            FindingKind::EngineFallback => "engine-fallback",
            FindingKind::QueueNotReached => "queue-not-reached",
            FindingKind::Faults => "faults",
            FindingKind::DriveGone => "drive-gone",
            FindingKind::Hung => "hung",
            FindingKind::Resumed => "resumed",
            FindingKind::PurgeNotPossible => "purge-not-possible",
            FindingKind::NotMeasured => "not-measured",
            FindingKind::TooFewSamples => "too-few-samples",
            FindingKind::Disturbed => "disturbed",
            FindingKind::CacheExceeded => "cache-exceeded",
            FindingKind::Throttled => "throttled",
            FindingKind::SteadyState => "steady-state",
            FindingKind::NotSteady => "not-steady",
            FindingKind::LeftSteadyState => "left-steady-state",
            FindingKind::OrderEffect => "order-effect",
            FindingKind::Overloaded => "overloaded",
            FindingKind::GeneratorLate => "generator-late",
            FindingKind::MediaError => "media-error",
            FindingKind::ShortTransfer => "short-transfer",
            FindingKind::TargetShrank => "target-shrank",
            FindingKind::Stalled => "stalled",
            FindingKind::StoodStill => "stood-still",
            FindingKind::ClockJumped => "clock-jumped",
            FindingKind::ResultsFull => "results-full",
            FindingKind::OtherTraffic => "other-traffic",
            FindingKind::Merged => "merged",
            FindingKind::Scheduler => "scheduler",
            FindingKind::FrequencyGovernor => "frequency-governor",
            FindingKind::IdleStates => "idle-states",
            FindingKind::RemoteNode => "remote-node",
            FindingKind::Misaligned => "misaligned",
            FindingKind::ClockSource => "clock-source",
            FindingKind::HostCeiling => "host-ceiling",
            FindingKind::DriveChanged => "drive-changed",
            FindingKind::OverBudget => "over-budget",
            FindingKind::NotKept => "not-kept",
            FindingKind::Meter => "meter",
            FindingKind::PowerState => "power-state",
            FindingKind::WriteCache => "write-cache",
            FindingKind::WrongData => "wrong-data",
            FindingKind::Unwritten => "unwritten",
            FindingKind::LogIncomplete => "log-incomplete",
            FindingKind::LinkBelowCapability => "link-below-capability",
            FindingKind::Implausible => "implausible",
            FindingKind::HealthWarning => "health-warning",
            FindingKind::PurgeStarted => "purge-started",
            FindingKind::TrimIneffective => "trim-ineffective",
            FindingKind::LeftUnused => "left-unused",
            FindingKind::LesserPurge => "lesser-purge",
            FindingKind::Unknown => "unknown",
        }
    }
}

/// A condition that bears on trust, kept with the run and shown beside the numbers it touches.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Finding {
    /// What it is about.
    pub kind: FindingKind,
    /// How much it matters.
    pub severity: Severity,
    /// What was seen, with its numbers.
    pub text: String,
    /// What to do about it; empty where nothing can be done.
    pub advice: String,
}

impl Finding {
    /// Returns a finding of `kind`; every finding says what was seen and what to do.
    pub fn new(
        kind: FindingKind,
        severity: Severity,
        text: impl Into<String>,
        advice: impl Into<String>,
    ) -> Self {
        Finding { kind, severity, text: text.into(), advice: advice.into() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_what_serde_writes_and_an_unknown_one_still_reads() {
        let kinds = [FindingKind::PageCache, FindingKind::Model, FindingKind::TooFewSamples];
        for kind in kinds {
            let value = toml_like(kind.key());
            assert_eq!(value, kind);
        }
        assert_eq!(toml_like("from-the-future"), FindingKind::Unknown);
    }

    fn toml_like(key: &str) -> FindingKind {
        use serde::de::IntoDeserializer;
        let value: serde::de::value::StrDeserializer<'_, serde::de::value::Error> =
            key.into_deserializer();
        FindingKind::deserialize(value).unwrap()
    }
}
