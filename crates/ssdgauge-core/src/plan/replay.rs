//! The replay of a trace, as a step of a plan.

use super::GeneratedTrace;
use crate::finding::{Finding, FindingKind, Severity};
use crate::units::rounded::count;
use crate::units::{Bytes, Nanos};
use crate::workload::{Until, Workload};
use serde::{Deserialize, Serialize};

/// The coarsest resolution of the times of a trace without a finding, in nanoseconds: a latency of a
/// solid-state drive spans hundreds of such units. Chosen.
const FINE_RESOLUTION: u64 = 10_000;

/// The replay of a trace.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Replay {
    /// The trace.
    pub trace: TraceIdentity,
    /// Its requests in sum: one stream of reads and writes for each of `streams`, one for those of all
    /// others, one of trims and one of flushes, each where there are such requests. The block size is the
    /// mean length, the rate the mean after the cut.
    pub workload: Workload,
    /// The streams of the trace that are streams of the replay, by their numbers in the trace; empty where
    /// all are one.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub streams: Vec<u16>,
    /// The other streams of the trace, which share one stream of the replay.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub shared_streams: u64,
    /// The bytes that the requests transfer.
    pub until: Until,
    /// Reads and writes.
    pub requests: [u64; 2],
    /// Their bytes on this target.
    pub bytes: [Bytes; 2],
    /// Discards, as trims, and flushes.
    #[serde(default)]
    pub commands: [u64; 2],
    /// The bytes that the trims deallocate.
    #[serde(default)]
    pub trimmed: Bytes,
    /// Discards that are left out, because the target has no trim or because they hold no whole block of
    /// it, and flushes.
    pub left_out: [u64; 2],
    /// The longest request.
    pub longest: Bytes,
    /// Requests beyond the target, which are folded into it.
    pub folded: u64,
    /// Requests that are extended to whole blocks of the target.
    pub aligned: u64,
    /// The recorded time, to the last completion, or to the last submission without response times.
    pub recorded: Nanos,
    /// The same after the cut of idle times.
    pub after_cut: Nanos,
    /// The length to which longer idle times are cut; `None` for no cut.
    pub idle_cut: Option<Nanos>,
    /// Whether the trace has response times.
    pub has_response_times: bool,
    /// The reads and writes that are replayed at most, from the first on.
    pub at_most: u64,
    /// The rules of the requests, where they are generated instead of read from a file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub generated: Option<GeneratedTrace>,
}

fn is_zero(number: &u64) -> bool {
    *number == 0
}

/// What identifies a trace.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TraceIdentity {
    /// The name of its file, without folder and suffix.
    pub name: String,
    /// The absolute path of its file.
    pub path: String,
    /// The name of its format.
    pub format: String,
    /// The number that follows from its requests alone.
    pub id: String,
    /// The resolution of its times, in nanoseconds.
    pub time_resolution_ns: u64,
}

impl Replay {
    /// The streams of a trace that have a stream of their own in the replay. Chosen: as many as a
    /// workload has.
    pub const OWN_STREAMS: usize = 8;
    /// The streams of the workload of a replay: those, that of all others, trims and flushes.
    pub const MAX_STREAMS: usize = Replay::OWN_STREAMS + 3;

    /// Returns the rule of idle times for labels, such as `idle time cut to 25ms`.
    pub fn cut_label(&self) -> String {
        match self.idle_cut {
            Some(cut) => format!("idle time cut to {}", cut.exact()),
            None => "idle time not cut".to_owned(),
        }
    }

    /// Returns the replay in words for a printed plan.
    pub fn describe(&self) -> String {
        let [reads, writes] = self.requests.map(count);
        let (name, bytes) = (&self.trace.name, self.bytes[0] + self.bytes[1]);
        if let Some(trace) = &self.generated {
            let (share, idle) = (trace.share_words(), trace.idle().about());
            return format!(
                "generated trace {name} (seed {}, {share}): {reads} reads and {writes} writes, {}, \
                 idle times of {} in all, {}. Published / generated: {}",
                trace.seed,
                bytes.about(),
                idle,
                self.cut_label(),
                trace.comparison()
            );
        }
        let commands = match self.commands {
            [0, 0] => String::new(),
            commands => {
                let [trims, flushes] = commands.map(count);
                format!(", {trims} trims of {}, {flushes} flushes", self.trimmed.about())
            }
        };
        format!(
            "replay of {name}: {reads} reads and {writes} writes, {}{commands}, {} of recorded time, {}",
            bytes.about(),
            self.after_cut.about(),
            self.cut_label()
        )
    }

    /// Returns the findings about what the replay changes in the trace.
    pub fn findings(&self) -> Vec<Finding> {
        let total = count(self.requests.iter().chain(&self.commands).sum::<u64>());
        let finding = |is_true: bool, kind, severity, text: String, advice: &str| {
            is_true.then(|| Finding::new(kind, severity, text, advice))
        };
        let [discards, flushes] = self.left_out.map(count);
        let resolution = Nanos(self.trace.time_resolution_ns);
        let cut = Nanos(self.recorded.0 - self.after_cut.0.min(self.recorded.0));
        let generated = self.generated.as_ref().map(|trace| {
            let text = format!(
                "the requests of {} are generated after published sums (seed {}, {}); published / \
                 generated: {}",
                self.trace.name,
                trace.seed,
                trace.share_words(),
                trace.comparison()
            );
            let advice = "compare the result only with results of the same generated trace, and with no \
                          published one";
            Finding::new(FindingKind::Generated, Severity::Note, text, advice)
        });
        [
            generated,
            finding(
                self.folded > 0,
                FindingKind::Folded,
                Severity::Warning,
                format!(
                    "{} of {total} requests address the traced drive beyond the size of this target; each was sent \
                     to the remainder of its offset after division by that size",
                    count(self.folded)
                ),
                "use a target as large as the range that the trace addresses",
            ),
            finding(
                self.aligned > 0,
                FindingKind::Folded,
                Severity::Note,
                format!(
                    "{} of {total} requests were extended to whole logical blocks of the target",
                    count(self.aligned)
                ),
                "use a drive that is formatted with blocks of 512 bytes",
            ),
            finding(
                self.left_out != [0, 0],
                FindingKind::RequestsLeftOut,
                Severity::Warning,
                format!(
                    "{discards} discards and {flushes} flushes of the trace were left out: the target \
                     has no trim, or they hold no whole logical block of it"
                ),
                "compare such a replay only with replays of the same requests",
            ),
            finding(
                self.shared_streams > 0,
                FindingKind::Folded,
                Severity::Note,
                format!(
                    "{} streams of the trace share one stream of the replay; the {} with most requests \
                     have one each",
                    self.shared_streams,
                    self.streams.len()
                ),
                "replay the requests of single streams, to see each of them",
            ),
            finding(
                !self.has_response_times,
                FindingKind::NoResponseTimes,
                Severity::Note,
                "the trace has no response times: every request was due at its recorded time, also \
                 one that had waited for the completion of another"
                    .into(),
                "record traces with completions, such as those of blktrace or `--log-ios`",
            ),
            finding(
                self.trace.time_resolution_ns > FINE_RESOLUTION,
                FindingKind::CoarseTimes,
                Severity::Warning,
                format!(
                    "the times of the trace are multiples of {}: requests of one such time were \
                     sent together, which makes their latencies longer",
                    resolution.about()
                ),
                "use a trace with times in microseconds",
            ),
            finding(
                cut > Nanos::ZERO && self.generated.is_none(),
                FindingKind::IdleCut,
                Severity::Note,
                format!(
                    "{} of {} of recorded time were cut: idle times were shortened to {}",
                    cut.about(),
                    self.recorded.about(),
                    self.idle_cut.unwrap_or_default().about()
                ),
                "a drive with less idle time does less work in the background",
            ),
        ]
        .into_iter()
        .flatten()
        .collect()
    }
}
