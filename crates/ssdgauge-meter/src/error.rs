//! Why a meter cannot be used.

use thiserror::Error;

/// Why a meter cannot be used. Nothing was written.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum MeterError {
    /// The text means no meter.
    #[error("'{text}' is no power meter: {what}")]
    Spec {
        /// What was asked for.
        text: String,
        /// What is wrong with it.
        what: String,
    },
    /// There is no such meter, or it does not speak.
    #[error("the power meter {meter} cannot be read: {what}")]
    Absent {
        /// What was asked for.
        meter: String,
        /// What happened.
        what: String,
    },
    /// Its readings are no watts of what it is said to measure.
    #[error("the power meter {meter} reads {value} W, and {scope} takes {least} to {most} W")]
    Implausible {
        /// What was asked for.
        meter: String,
        /// The reading.
        value: String,
        /// What it is said to measure.
        scope: &'static str,
        /// The least that can be.
        least: String,
        /// The most that can be.
        most: String,
    },
}

impl MeterError {
    /// Returns what to do next.
    pub fn hint(&self) -> String {
        match self {
            MeterError::Spec { .. } => {
                "write hwmon:NAME/power1, qis:HOST:PORT/MODULE, nvme, command:PROGRAM ARGS, \
                 http://HOST/PATH#/POINTER, or the path of a .toml file with [[power]]; options \
                 stand before it, as in scope=host-ac,scale=0.001@command:PROGRAM"
                    .into()
            }
            MeterError::Absent { .. } => {
                "nothing was written; `ssdgauge meters` lists what this machine offers".into()
            }
            MeterError::Implausible { .. } => {
                "nothing was written; if it counts in milliwatts add scale=0.001@ before it, and \
                 if it measures a whole host scope=host-dc@ or scope=host-ac@"
                    .into()
            }
        }
    }
}
