//! When the requests of a stream are sent, and from when their latencies count.

use serde::{Deserialize, Serialize};

/// The rule of the submission times of a stream.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Arrival {
    /// Closed loop: each completion triggers the next request.
    Closed,
    /// Open loop: a request at equal intervals, independent of completions.
    Uniform {
        /// Requests per second, all threads together.
        per_second: f64,
    },
    /// Open loop: every thread sends at equal intervals, all threads at the same moments, and each
    /// has one request in flight.
    InPhase {
        /// Requests per second, all threads together.
        per_second: f64,
    },
    /// Open loop: requests at the times of a Poisson process.
    Poisson {
        /// Mean requests per second, all threads together.
        per_second: f64,
    },
    /// Requests at the times of a trace, with its offsets and lengths.
    Recorded {
        /// Mean requests per second.
        per_second: f64,
    },
}

impl Arrival {
    /// Returns the rate of an open loop; `None` for a closed one.
    pub fn per_second(&self) -> Option<f64> {
        match *self {
            Arrival::Closed => None,
            Arrival::Uniform { per_second }
            | Arrival::InPhase { per_second }
            | Arrival::Poisson { per_second }
            | Arrival::Recorded { per_second } => Some(per_second),
        }
    }

    /// Returns the same arrival at `factor` times its rate.
    pub fn times(&self, factor: f64) -> Arrival {
        match *self {
            Arrival::Closed => Arrival::Closed,
            Arrival::Uniform { per_second } => Arrival::Uniform { per_second: per_second * factor },
            Arrival::InPhase { per_second } => Arrival::InPhase { per_second: per_second * factor },
            Arrival::Poisson { per_second } => Arrival::Poisson { per_second: per_second * factor },
            Arrival::Recorded { per_second } => {
                Arrival::Recorded { per_second: per_second * factor }
            }
        }
    }
}

/// The start of the latencies of an open loop. In a closed loop they count from the submission.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum LatencyClock {
    /// The due time: the wait of a request that is sent late is part of its latency.
    #[default]
    Due,
    /// The submission to the kernel: the wait before it is in no latency.
    Submission,
}

impl LatencyClock {
    pub(crate) fn is_due(&self) -> bool {
        *self == LatencyClock::Due
    }
}
