//! Findings: conditions that affect the validity of results.

use crate::units::names::name_of;
use serde::{Deserialize, Serialize};

/// The effect of a finding on the results of its step or run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// A condition that is worth knowing.
    Note,
    /// The result may mislead.
    Warning,
    /// The result must not be used.
    Invalid,
}

impl Severity {
    /// Returns the word used in JSON, tables and pages.
    pub fn name(self) -> &'static str {
        name_of(&self)
    }
}

/// The conditions that affect the validity of results: a closed list.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FindingKind {
    /// The results come from a drive model, not from a measurement.
    Model,
    /// All durations and byte limits were divided for a test run.
    Shortened,
    /// A span was reduced to the capacity of a small target.
    SpanScaled,
    /// Requests went through the page cache.
    PageCache,
    /// The kernel passed requests to worker threads (io-wq).
    Punted,
    /// The synchronous engine replaced io_uring.
    EngineFallback,
    /// Fewer requests were in flight than the queue depth of the workload.
    QueueNotReached,
    /// Requests failed or transferred fewer bytes than requested.
    Faults,
    /// The drive disappeared.
    DriveGone,
    /// No request completed for a long time.
    Hung,
    /// The run was interrupted and resumed.
    Resumed,
    /// The plan has a purge that is not possible on this target.
    PurgeNotPossible,
    /// No instrument measured the quantity.
    NotMeasured,
    /// Too few samples for a percentile or an interval.
    TooFewSamples,
    /// The host gave the processor to other work, or was suspended.
    Disturbed,
    /// Writes exceeded the SLC cache of the drive.
    CacheExceeded,
    /// The drive throttled because of its temperature.
    Throttled,
    /// The write speed falls for good, and the run does not show why.
    FallUnexplained,
    /// A step reached its steady state by the SNIA rule.
    SteadyState,
    /// A step reached its limit before its steady state.
    NotSteady,
    /// A load left its steady state by the SNIA rule.
    LeftSteadyState,
    /// A step contains two levels, such as writes into the cache of a drive and beyond it.
    TwoLevels,
    /// A step drifts, or shifts from one level to another, by more than the interval of its mean.
    ChangesWithin,
    /// The first point of a test, measured again at its end, differs: the points are not those of
    /// one state.
    StateChanged,
    /// The results of the repetitions of a test rise or fall in the order of execution.
    OrderEffect,
    /// The run ended because every interval between repetitions was as narrow as requested.
    IntervalReached,
    /// The largest number of repetitions did not make every interval as narrow as requested.
    IntervalNotReached,
    /// The first seconds of a step are better than its last ones, without its first half as well.
    StillSettling,
    /// Two trials of one load of a search disagree: its answer is a range.
    TrialsDisagree,
    /// The rate of an open loop exceeds what the drive completes.
    Overloaded,
    /// Requests of an open loop were sent after their due time because no slot was free.
    Withheld,
    /// The load generator sent the requests of an open loop late.
    GeneratorLate,
    /// The drive reported a media error.
    MediaError,
    /// Requests transferred fewer bytes than requested.
    ShortTransfer,
    /// The target is smaller than at its opening.
    TargetShrank,
    /// Single requests took a second or longer, without an error.
    Stalled,
    /// The program or the whole machine was suspended.
    StoodStill,
    /// The wall clock was set; durations do not depend on it.
    ClockJumped,
    /// The file system of the results was full for a while.
    ResultsFull,
    /// Another process read the run file for so long that the run waited for it.
    ResultsRead,
    /// Other processes sent requests to the drive during the step.
    OtherTraffic,
    /// Whether the drive is slower while drives of other runs are loaded.
    DriveInterference,
    /// The kernel merged adjacent requests.
    Merged,
    /// Completions were to be polled, and some came by interrupts.
    NotPolled,
    /// Requests were to be passed through as NVMe commands, and some went through the block layer.
    NotPassedThrough,
    /// An I/O scheduler of the kernel may reorder requests.
    Scheduler,
    /// The processor changes its frequency during measurements.
    FrequencyGovernor,
    /// The processor uses idle states whose exit latency may add to the measured latencies.
    IdleStates,
    /// The drive is attached to a NUMA node other than that of the process.
    RemoteNode,
    /// The start of the target is not aligned to the blocks of the drive.
    Misaligned,
    /// The clock source of this machine is slow or imprecise.
    ClockSource,
    /// The I/O threads were saturated: the host is the limit, not the drive.
    HostCeiling,
    /// Before a step that writes, the drive was not the admitted one, or another process used it.
    DriveChanged,
    /// Uses of the drive may have been hidden from this process, as in a container.
    UsesUnknown,
    /// The bytes written exceed the write budget of the plan.
    OverBudget,
    /// The drive returns other data than were written.
    NotKept,
    /// Blocks that were read back do not hold the data that was written last.
    LostWrites,
    /// Blocks that were verified at the end of the run do not hold what was written.
    VerifyFailed,
    /// The run was to be verified, and could not be.
    NotVerified,
    /// The drive failed a flush: what was written may not be on its media.
    FlushFailed,
    /// The drive states a volatile write cache, but a flush has nothing to do.
    FlushWithoutWork,
    /// A meter disappeared, repeats one value, or reports impossible values.
    Meter,
    /// The readings of a power meter cover too little of a step for its power.
    PowerGaps,
    /// The samples of a step contradict each other, or have values that cannot be measured.
    Contradictory,
    /// The requested power state was not reached.
    PowerState,
    /// The volatile write cache did not change to the requested state.
    WriteCache,
    /// A read returned other data than this run had written.
    WrongData,
    /// Reads address blocks that were never written: the drive may complete them without access to
    /// its flash.
    Unwritten,
    /// The request log is incomplete.
    LogIncomplete,
    /// The link is slower or narrower than the drive supports.
    LinkBelowCapability,
    /// The drive reported an impossible value.
    Implausible,
    /// The counter of the drive for what hosts wrote differs from what was sent.
    CounterDrift,
    /// The drive reports a critical warning, or its health attributes became worse.
    HealthWarning,
    /// A purge command was sent; the drive may continue it after the end of the program.
    PurgeStarted,
    /// A trim had no measurable effect.
    TrimIneffective,
    /// Part of a fresh drive is left unused, which increases its spare area.
    LeftUnused,
    /// The drive was purged, but not by the best method of its kind.
    LesserPurge,
    /// Requests of a trace were moved into the target, or extended to its blocks.
    Folded,
    /// Requests of a trace were not replayed.
    RequestsLeftOut,
    /// A trace has no response times, so no request waited for a completion.
    NoResponseTimes,
    /// The times of a trace are coarser than the latencies.
    CoarseTimes,
    /// Idle times of a trace were shortened.
    IdleCut,
    /// A trace was replayed: its times and those of the replay.
    Replayed,
    /// The requests of a trace are generated after published sums.
    Generated,
    /// The numbers were measured by another program.
    Imported,
    /// The other program stated percentiles without the histogram that they follow from.
    ImportedPercentiles,
    /// A finding of a newer version of the program.
    #[serde(other)]
    Unknown,
}

impl FindingKind {
    /// Returns the key used in run files and JSON, such as `page-cache`.
    pub fn key(self) -> &'static str {
        name_of(&self)
    }
}

/// A condition that affects the validity of results, stored with the run and shown with the
/// results that it affects.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Finding {
    /// The condition.
    pub kind: FindingKind,
    /// The effect on the results.
    pub severity: Severity,
    /// The observation, with its numbers.
    pub text: String,
    /// The remedy; empty where there is none.
    pub advice: String,
}

impl Finding {
    /// Returns a finding of `kind` with its observation and its remedy.
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
    fn a_key_equals_its_serialized_form_and_an_unknown_key_is_read() {
        let kinds = [FindingKind::PageCache, FindingKind::Model, FindingKind::TooFewSamples];
        for kind in kinds {
            let value = deserialized(kind.key());
            assert_eq!(value, kind);
        }
        assert_eq!(deserialized("from-the-future"), FindingKind::Unknown);
    }

    fn deserialized(key: &str) -> FindingKind {
        use serde::de::IntoDeserializer;
        let value: serde::de::value::StrDeserializer<'_, serde::de::value::Error> =
            key.into_deserializer();
        FindingKind::deserialize(value).unwrap()
    }
}
