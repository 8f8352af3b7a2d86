//! The parts of a log of ACT: its form, its histograms and its devices.

/// The bins of a histogram.
pub(crate) const BINS: usize = 64;

/// Why a log is not imported.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ActError {
    /// Not a log of ACT.
    #[error("it is not a log of ACT: {0}")]
    NoLog(&'static str),
    /// Another version.
    #[error("line {line}: it was written by ACT {version}; logs of ACT 5 and 6 are known")]
    Version {
        /// The number of the line, from 1.
        line: usize,
        /// The version.
        version: String,
    },
    /// A line that contradicts others, or is not readable.
    #[error("line {line}: {what}")]
    Line {
        /// The number of the line, from 1.
        line: usize,
        /// The reason.
        what: String,
    },
}

/// The form of a log: where its latencies begin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ActForm {
    /// ACT 5: the latency of a read counts from the queue.
    FromQueue,
    /// ACT 6: it counts from the call.
    FromCall,
}

/// The unit of the bins of a log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BinUnit {
    /// Milliseconds.
    Millisecond,
    /// Microseconds.
    Microsecond,
}

impl BinUnit {
    /// Returns the unit in nanoseconds.
    fn nanos(self) -> u64 {
        match self {
            BinUnit::Millisecond => 1_000_000,
            BinUnit::Microsecond => 1_000,
        }
    }
}

/// The requests of one histogram: bin 0 is below one unit, bin b from 2^(b−1) to 2^b units.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Bins {
    /// All requests.
    pub total: u64,
    pub(crate) counts: [u64; BINS],
}

impl Default for Bins {
    fn default() -> Bins {
        Bins { total: 0, counts: [0; BINS] }
    }
}

impl Bins {
    /// Returns the smallest and the largest share of requests above `nanos` that the bins allow, in
    /// percent; both are equal where `nanos` is the border of a bin.
    pub fn share_above(&self, nanos: u64, unit: BinUnit) -> (f64, f64) {
        let upper_edge = |bin: usize| unit.nanos().checked_shl(bin as u32).unwrap_or(u64::MAX);
        let lower_edge = |bin: usize| if bin == 0 { 0 } else { upper_edge(bin - 1) };
        let sum = |is_above: &dyn Fn(usize) -> bool| {
            let counts = self.counts.iter().enumerate().filter(|(bin, _)| is_above(*bin));
            counts.map(|(_, n)| n).sum::<u64>()
        };
        let percent = |count: u64| count as f64 * 100.0 / self.total.max(1) as f64;
        let least = sum(&|bin| lower_edge(bin) >= nanos);
        let most = sum(&|bin| upper_edge(bin) > nanos);
        (percent(least), percent(most))
    }

    /// Returns the requests since `earlier`; `None` where a bin has lost some.
    pub(crate) fn since(&self, earlier: &Bins) -> Option<Bins> {
        let mut counts = [0; BINS];
        for (bin, count) in counts.iter_mut().enumerate() {
            *count = self.counts[bin].checked_sub(earlier.counts[bin])?;
        }
        Some(Bins { total: self.total.checked_sub(earlier.total)?, counts })
    }
}

/// A device as the log describes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ActDevice {
    /// Its size in bytes.
    pub bytes: u64,
    /// The smallest request in bytes, to a multiple of which ACT rounds each read.
    pub minimum_io: u64,
}

/// The requests that failed. ACT prints a line for each, and its histograms do not contain them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Failed {
    /// Reads, and requests whose direction the line does not state.
    pub reads: u64,
    /// Writes.
    pub writes: u64,
}
