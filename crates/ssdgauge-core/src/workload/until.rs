//! The end of a workload, and the rest after it.

use crate::units::{Bytes, Nanos};
use serde::{Deserialize, Serialize};

/// The limits of a workload: it ends at the first limit that is reached (definition D8).
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Until {
    /// The time limit: no request is sent after it.
    pub time: Option<Nanos>,
    /// The limit of transferred bytes, reads and writes together, rounded up to whole requests.
    pub bytes: Option<Bytes>,
}

impl Until {
    /// Returns whether there is a limit; a workload without one is refused.
    pub fn is_bounded(&self) -> bool {
        self.time.is_some() || self.bytes.is_some()
    }

    /// Returns each limit in words, the time first.
    pub fn describe(&self) -> Vec<String> {
        let time = self.time.map(|time| format!("after {}", time.about()));
        let bytes = self.bytes.map(|bytes| format!("after {}", bytes.about()));
        time.into_iter().chain(bytes).collect()
    }
}

/// The time without load after a step.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Rest {
    /// None.
    None,
    /// A fixed time.
    For(Nanos),
    /// So long that the step takes the share `busy` of both together: its time × (1 ÷ busy − 1), at
    /// most `at_most` (definition D9).
    DutyCycle {
        /// The busy share, above 0 and below 1.
        busy: f64,
        /// The longest time without load.
        at_most: Nanos,
    },
}

impl Rest {
    /// Returns the time without load in words for a printed plan; `None` where there is none.
    pub fn describe(&self) -> Option<String> {
        match *self {
            Rest::None => None,
            Rest::For(duration) => Some(format!("no load for {}", duration.about())),
            Rest::DutyCycle { busy, at_most } => Some(format!(
                "no load until the duty cycle is {:.0} %, at most {}",
                busy * 100.0,
                at_most.about()
            )),
        }
    }

    /// Returns the time without load after a step of `busy_time`.
    pub fn after(&self, busy_time: Nanos) -> Nanos {
        match *self {
            Rest::None => Nanos::ZERO,
            Rest::For(duration) => duration,
            Rest::DutyCycle { busy, at_most } => {
                Nanos((busy_time.0 as f64 * (1.0 / busy - 1.0)) as u64).min(at_most)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_duty_cycle_rests_in_proportion_up_to_its_cap() {
        let rest = Rest::DutyCycle { busy: 0.2, at_most: Nanos::from_secs(60) };
        assert_eq!(rest.after(Nanos::from_secs(2)), Nanos::from_secs(8));
        assert_eq!(rest.after(Nanos::from_secs(60)), Nanos::from_secs(60));
        let half = Rest::DutyCycle { busy: 0.5, at_most: Nanos::from_secs(60) };
        assert_eq!(half.after(Nanos::from_secs(24)), Nanos::from_secs(24));
    }
}
