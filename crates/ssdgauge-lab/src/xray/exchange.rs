//! What an experiment asks of the drive, and what the drive answers: the samples of an X-ray.

use super::sizes::MIB;
use serde::{Deserialize, Serialize};
use serde_json::json;
use ssdgauge_core::{
    Flush, Lane, LaneLimits, LaneRecord, LanesEnded, MediaWrites, Nanos, ThermalReport,
    TimedRequest, Timing, Timings,
};

/// A question with its answer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Exchange {
    /// What was asked, as JSON; an X-ray that asks something else cannot use the answer.
    pub asked: String,
    /// What came back.
    pub reply: Reply,
}

/// An answer of the drive. Times are nanoseconds from the start of the load.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Reply {
    /// The times of each request, in the order of the list.
    Sent {
        /// When each was submitted.
        submitted_ns: Vec<u64>,
        /// When each was completed.
        completed_ns: Vec<u64>,
        /// Processor time of the host ÷ what its processors had.
        host_load: f64,
        /// Temperatures meanwhile, in degrees Celsius; a short load has none.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        temperatures_c: Vec<(Nanos, f64)>,
    },
    /// Requests were sent whose times are not needed.
    Loaded,
    /// The record of each lane.
    Ran {
        /// The records.
        lanes: Vec<LaneRecord>,
        /// From the start to the last completion.
        elapsed_ns: Nanos,
        /// Temperatures meanwhile, in degrees Celsius.
        temperatures_c: Vec<(Nanos, f64)>,
    },
    /// No load was sent for the time asked, and no temperature was read.
    Rested,
    /// No load was sent for the time asked.
    RestedAt {
        /// Temperatures meanwhile, in degrees Celsius.
        temperatures_c: Vec<(Nanos, f64)>,
    },
    /// The drive was trimmed, with effect or without.
    Trimmed(bool),
    /// A flush was sent, where the target takes one.
    Flushed(Option<Flush>),
    /// The counters of media writes, where the drive has them.
    Counted(Option<MediaWrites>),
    /// What the drive states about its temperature, where it does.
    Thermal(Option<ThermalReport>),
}

impl Reply {
    /// Returns the word for the kind of answer in a run file.
    pub(crate) fn kind(&self) -> &'static str {
        match self {
            Reply::Sent { .. } | Reply::Loaded => "send",
            Reply::Ran { .. } => "lanes",
            Reply::Rested | Reply::RestedAt { .. } => "rest",
            Reply::Trimmed(_) => "trim",
            Reply::Flushed(_) => "flush",
            Reply::Counted(_) => "media",
            Reply::Thermal(_) => "thermal",
        }
    }

    pub(super) fn sent(timings: &Timings, temperatures: &[(Nanos, f64)]) -> Reply {
        let of = |time: fn(&Timing) -> Nanos| -> Vec<u64> {
            timings.requests.iter().map(|one| time(one).0).collect()
        };
        Reply::Sent {
            submitted_ns: of(|one| one.submitted),
            completed_ns: of(|one| one.completed),
            host_load: decimal(timings.host_load),
            temperatures_c: temperatures.to_vec(),
        }
    }

    pub(super) fn rested(temperatures: &[(Nanos, f64)]) -> Reply {
        match temperatures {
            [] => Reply::Rested,
            _ => Reply::RestedAt { temperatures_c: temperatures.to_vec() },
        }
    }

    /// Returns the temperatures that were read meanwhile, with their times.
    pub(super) fn temperatures(&self) -> &[(Nanos, f64)] {
        match self {
            Reply::Sent { temperatures_c, .. }
            | Reply::Ran { temperatures_c, .. }
            | Reply::RestedAt { temperatures_c } => temperatures_c,
            Reply::Loaded
            | Reply::Rested
            | Reply::Trimmed(_)
            | Reply::Flushed(_)
            | Reply::Counted(_)
            | Reply::Thermal(_) => &[],
        }
    }

    pub(super) fn ran(ended: LanesEnded, temperatures: &[(Nanos, f64)]) -> Reply {
        let LanesEnded { lanes, elapsed } = ended;
        Reply::Ran { lanes, elapsed_ns: elapsed, temperatures_c: temperatures.to_vec() }
    }

    /// Returns the times of `count` requests; `None` where this is another answer.
    pub(super) fn timings(self, count: usize) -> Option<Timings> {
        let Reply::Sent { submitted_ns, completed_ns, host_load, .. } = self else { return None };
        if submitted_ns.len() != count || completed_ns.len() != count {
            return None;
        }
        let times = submitted_ns.into_iter().zip(completed_ns);
        let timing = |(submitted, completed)| Timing {
            submitted: Nanos(submitted),
            completed: Nanos(completed),
        };
        Some(Timings { requests: times.map(timing).collect(), host_load })
    }
}

/// Returns `value` in millionths: a short decimal is read back as the same number.
pub(super) fn decimal(value: f64) -> f64 {
    (value * 1e6).round() / 1e6
}

/// Returns what is asked by a list of requests. A list can be long, and follows from the X-ray: a digest
/// of it tells whether it is the same.
pub(super) fn of_requests(requests: &[TimedRequest], depth: u32) -> String {
    let words = requests
        .iter()
        .flat_map(|one| [one.due.0, one.direction as u64, one.offset, u64::from(one.length)]);
    // FNV-1a (Fowler, Noll and Vo) over words.
    let digest = words
        .fold(0xcbf2_9ce4_8422_2325_u64, |hash, word| (hash ^ word).wrapping_mul(0x100_0000_01b3));
    let bytes: u64 = requests.iter().map(|one| u64::from(one.length)).sum();
    json!({ "requests": requests.len(), "bytes": bytes, "depth": depth, "digest": format!("{digest:016x}") })
        .to_string()
}

/// Returns what is asked by lanes.
pub(super) fn of_lanes(lanes: &[Lane], limits: LaneLimits) -> String {
    json!({ "lanes": lanes, "limits": limits }).to_string()
}

/// Returns what is asked by a rest.
pub(super) fn of_rest(duration: Nanos) -> String {
    json!({ "rest_ns": duration.0 }).to_string()
}

/// Returns what is asked by a trim of the whole drive.
pub(super) fn of_trim(capacity: u64) -> String {
    json!({ "trim_mib": capacity / MIB }).to_string()
}
