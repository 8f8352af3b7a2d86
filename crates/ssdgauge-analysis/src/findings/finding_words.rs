//! Findings in words: a title for each kind, and what the frequent kinds mean for the reader.

use ssdgauge_core::FindingKind;

/// The kinds that marks such as `MODEL` state already.
pub const MARKED: [FindingKind; 3] =
    [FindingKind::Model, FindingKind::Shortened, FindingKind::SpanScaled];

/// The kinds that pages show most often: title, and what it means for the reader.
const FREQUENT: [(FindingKind, &str, &str); 21] = [
    (
        FindingKind::CacheExceeded,
        "The cache ends inside a test",
        "Such a test is part cache, part flash: quote single steps, not the mean.",
    ),
    (
        FindingKind::Throttled,
        "Throttled by heat",
        "The speed in these steps is that of a hot drive.",
    ),
    (
        FindingKind::FallUnexplained,
        "A fall of the write speed of unknown cause",
        "Whether the drive does it again, and where, is not known.",
    ),
    (FindingKind::NotSteady, "Not steady", "A step ended by its limit before its steady state."),
    (
        FindingKind::LeftSteadyState,
        "Left its steady state",
        "The result is that of the measured minutes, not of a state that lasts.",
    ),
    (
        FindingKind::TwoLevels,
        "Two levels in one step",
        "The mean depends on the length of the step: use the two levels.",
    ),
    (
        FindingKind::ChangesWithin,
        "Drifts or shifts within a step",
        "The mean depends on the length of the step: its interval does not hold for a longer one.",
    ),
    (
        FindingKind::StillSettling,
        "Still settling",
        "The start of a step is better than its end, so its mean has no interval.",
    ),
    (
        FindingKind::TooFewSamples,
        "Too few samples",
        "Rare percentiles and some intervals are therefore not shown.",
    ),
    (FindingKind::NotMeasured, "Not measured", "These cells hold a dash."),
    (FindingKind::Overloaded, "Overloaded", "The drive completed fewer requests than were due."),
    (
        FindingKind::OtherTraffic,
        "Requests of other processes",
        "They shared the drive during the measurement.",
    ),
    (
        FindingKind::Disturbed,
        "The processor did other work",
        "Latencies may contain waiting times of the host.",
    ),
    (
        FindingKind::HostCeiling,
        "The host is the limit",
        "The I/O threads were saturated: the drive may be faster.",
    ),
    (
        FindingKind::PurgeNotPossible,
        "No purge",
        "The state of the drive before the test is not known.",
    ),
    (
        FindingKind::Unwritten,
        "Reads of blocks without data",
        "A drive completes them from its map, faster than reads of data.",
    ),
    (FindingKind::PageCache, "Page cache", "Requests went through the memory of the host."),
    (
        FindingKind::StateChanged,
        "The drive changed during a test",
        "Its points are not of one state.",
    ),
    (
        FindingKind::OrderEffect,
        "The repetitions drift",
        "They rise or fall in the order of execution.",
    ),
    (
        FindingKind::LinkBelowCapability,
        "Slow link",
        "The link is slower or narrower than the drive supports.",
    ),
    (
        FindingKind::QueueNotReached,
        "Queue depth not reached",
        "Fewer requests were in flight than the test asks for.",
    ),
];

/// Returns the title of a kind of finding, such as `Throttled by heat`.
pub fn title(kind: FindingKind) -> String {
    match FREQUENT.iter().find(|(known, _, _)| *known == kind) {
        Some((_, title, _)) => (*title).to_owned(),
        None => {
            let words = kind.key().replace('-', " ");
            let mut letters = words.chars();
            letters.next().map_or_else(String::new, |c| c.to_uppercase().chain(letters).collect())
        }
    }
}

/// Returns what a kind means for the reader; `None` where only the finding itself says it.
pub fn meaning(kind: FindingKind) -> Option<&'static str> {
    FREQUENT.iter().find(|(known, _, _)| *known == kind).map(|(_, _, meaning)| *meaning)
}
