//! A trace that is generated from the published sums of one that is not public, bound to a target.

use crate::units::{Bytes, Nanos};
use crate::workload::block_sizes::BLOCK_SIZES;
use serde::{Deserialize, Serialize};

/// The maximum number of lengths of a generated trace, and the maximum number of requests of a burst.
const MAX_LENGTHS: usize = 64;
const MAX_BURST: usize = 4_096;

/// The rules from which the requests of a generated trace follow, bit by bit. Shares are whole numbers, so
/// that a run file holds them exactly.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct GeneratedTrace {
    /// The seed of the order of the requests: the same for every target.
    pub seed: u64,
    /// The share of the requests of the source; 1 for all of them.
    pub share: f64,
    /// The requests of each length.
    pub lengths: Vec<LengthCount>,
    /// Requests that begin where the one before in the same direction ended; the others begin anywhere.
    pub sequential: u64,
    /// The share of the bursts with at most 1, 2, … requests, in units of 2^-32; the last is 2^32 - 1.
    pub bursts: Vec<u32>,
    /// Bursts of a million that follow an idle time.
    pub idle_per_million: u32,
    /// That idle time.
    pub idle_time: Nanos,
    /// The addressed range, from the start of the target.
    pub span: Bytes,
    /// The alignment of requests that are not sequential.
    pub alignment: Bytes,
    /// The published figures next to those of the generated trace.
    pub compared: Vec<ComparedFigure>,
}

/// The requests of one length.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LengthCount {
    /// The length.
    pub length: Bytes,
    /// Reads and writes.
    pub requests: [u64; 2],
}

/// A published figure of a trace, and that of the generated one.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ComparedFigure {
    /// What it is, with its unit, such as `data read, GB`.
    pub figure: String,
    /// The published value, of the share of the requests.
    pub published: f64,
    /// The generated value.
    pub generated: f64,
}

impl GeneratedTrace {
    /// Returns reads and writes.
    pub fn requests(&self) -> [u64; 2] {
        let sum = |side: usize| self.lengths.iter().map(|one| one.requests[side]).sum();
        [sum(0), sum(1)]
    }

    /// Returns the bytes of reads and writes.
    pub fn bytes(&self) -> [Bytes; 2] {
        let sum = |side: usize| {
            let bytes = self.lengths.iter().map(|one| one.length.0 * one.requests[side]);
            Bytes(bytes.sum())
        };
        [sum(0), sum(1)]
    }

    /// Returns the mean number of requests of a burst, and the mean depth at their submission: the first
    /// request of a burst meets a depth of 1, the second of 2, and so on.
    pub fn burst_and_depth(&self) -> (f64, f64) {
        let (mut mean, mut depths, mut below) = (0.0, 0.0, 0.0);
        for (size, edge) in (1..).zip(&self.bursts) {
            let share = (f64::from(*edge) + 1.0) / 4_294_967_296.0 - below;
            below += share;
            mean += share * f64::from(size);
            depths += share * f64::from(size) * (f64::from(size) + 1.0) / 2.0;
        }
        (mean, depths / mean.max(1.0))
    }

    /// Returns the expected sum of the idle times.
    pub fn idle(&self) -> Nanos {
        let [reads, writes] = self.requests();
        let bursts = (reads + writes) as f64 / self.burst_and_depth().0.max(1.0);
        let idle = bursts * f64::from(self.idle_per_million) / 1e6;
        Nanos((idle * self.idle_time.0 as f64) as u64)
    }

    /// Returns the share of the requests in words, such as `1/16 of the requests`.
    pub fn share_words(&self) -> String {
        match self.share {
            share if share >= 1.0 => "all requests".to_owned(),
            share => {
                let parts = format!("{:.1}", 1.0 / share);
                format!("1/{} of the requests", parts.trim_end_matches(".0"))
            }
        }
    }

    /// Returns the published figures next to the generated ones in words.
    pub fn comparison(&self) -> String {
        let line = |one: &ComparedFigure| {
            let text = |value: f64| {
                let text = format!("{value:.2}");
                text.trim_end_matches('0').trim_end_matches('.').to_owned()
            };
            format!("{} {} / {}", one.figure, text(one.published), text(one.generated))
        };
        self.compared.iter().map(line).collect::<Vec<_>>().join("; ")
    }

    /// Returns the first promise that the trace breaks as the one of a replay with these `requests`, their
    /// `bytes` and the `longest` of them, as a clause.
    pub(super) fn defect(
        &self,
        requests: [u64; 2],
        bytes: [Bytes; 2],
        longest: Bytes,
        capacity: Bytes,
    ) -> Option<String> {
        let fits = |one: &LengthCount| {
            BLOCK_SIZES.contains(&one.length)
                && one.length.0.is_multiple_of(512)
                && one.length <= self.span
                && one.requests.iter().all(|count| *count < 1 << 32)
                && one.requests.iter().all(|count| *count * one.length.0 < 1 << 56)
        };
        let lengths = (1..=MAX_LENGTHS).contains(&self.lengths.len());
        if !lengths || !self.lengths.iter().all(fits) || self.span > capacity {
            return Some("the lengths of its generated trace are not valid".to_owned());
        }
        let bursts = (1..=MAX_BURST).contains(&self.bursts.len())
            && self.bursts.is_sorted()
            && self.bursts.last() == Some(&u32::MAX);
        let [reads, writes] = self.requests();
        let is_valid = bursts
            && self.requests() == requests
            && self.bytes() == bytes
            && self.sequential <= reads + writes
            && self.alignment.0.is_multiple_of(512)
            && self.alignment > Bytes(0)
            && self.alignment <= self.span
            && self.idle_time <= Nanos::from_secs(3_600)
            && longest == self.longest();
        (!is_valid).then(|| "its generated trace is not the one of its sums".to_owned())
    }

    /// Returns the longest request.
    pub fn longest(&self) -> Bytes {
        self.lengths.iter().map(|one| one.length).max().unwrap_or_default()
    }
}
