//! Reasons why a power meter cannot be used.

use crate::source::KINDS;
use thiserror::Error;

/// A power meter that cannot be used. It is reported before anything is written.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum MeterError {
    /// The specification is malformed.
    #[error("'{text}' is not a power meter: {what}")]
    Spec {
        /// The specification.
        text: String,
        /// The part that is malformed.
        what: String,
    },
    /// The meter does not exist, or does not respond.
    #[error("the power meter {meter} cannot be read: {what}")]
    Absent {
        /// The specification, without its options.
        meter: String,
        /// The cause.
        what: String,
    },
    /// The first reading is outside the range of the scope.
    #[error("the power meter {meter} reads {value} W, but {scope} takes {least} to {most} W")]
    Implausible {
        /// The specification, without its options.
        meter: String,
        /// The reading in watts.
        value: String,
        /// The scope in words.
        scope: &'static str,
        /// The lower end of the range in watts.
        least: String,
        /// The upper end of the range in watts.
        most: String,
    },
}

impl MeterError {
    /// Returns the hint that follows the error.
    pub fn hint(&self) -> String {
        match self {
            MeterError::Spec { .. } => {
                let forms = KINDS.map(|kind| kind.form).join(", ");
                format!(
                    "write {forms}, or the path of a .toml file with [[power]]; options precede \
                     it, as in scope=host-ac,scale=0.001@command:PROGRAM"
                )
            }
            MeterError::Absent { .. } => {
                "nothing was written; `ssdgauge meters` lists the meters of this machine".into()
            }
            MeterError::Implausible { .. } => {
                "nothing was written; for a meter that reports milliwatts add scale=0.001@ before \
                 it, and for a meter of a whole host add scope=host-dc@ or scope=host-ac@"
                    .into()
            }
        }
    }
}
