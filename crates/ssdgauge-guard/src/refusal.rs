//! Refusals: errors that name the device and the reason why it is not admitted.

use serde::{Deserialize, Serialize};
use thiserror::Error;

/// Reason why the guard does not admit a drive. Nothing was written.
#[derive(Clone, Debug, PartialEq, Eq, Error, Serialize, Deserialize)]
pub enum Refusal {
    /// The name is that of a partition.
    #[error("{path} is a partition of {whole}; name the whole drive")]
    Partition {
        /// The device.
        path: String,
        /// The drive that contains it.
        whole: String,
    },
    /// The drive carries the system, the results or this program. No option overrides this.
    #[error("{path} carries {what}, and is never tested")]
    Protected {
        /// The device.
        path: String,
        /// What it carries.
        what: String,
    },
    /// The drive is in use.
    #[error("{path} is in use: {holder}")]
    InUse {
        /// The device.
        path: String,
        /// The use.
        holder: String,
    },
    /// Another run of this program uses the drive: it is free when that run ends.
    #[error("{path} is busy: another run of ssdgauge uses it ({holder})")]
    Busy {
        /// The device.
        path: String,
        /// The use that was found.
        holder: String,
    },
    /// Uses of the drive may be hidden from this process, and this is not accepted.
    #[error("whether {path} is in use is unknown: this process cannot see {}", unseen.join(", nor "))]
    UsesUnknown {
        /// The device.
        path: String,
        /// What this process cannot see.
        unseen: Vec<String>,
        /// The confirmation that accepts it (`--confined`).
        expected: String,
    },
    /// The drive is write-protected.
    #[error("{path} is read-only")]
    ReadOnly {
        /// The device.
        path: String,
    },
    /// The drive reports a critical warning, or its driver a state other than running.
    #[error("{path} is not fit to be written: {what}")]
    Unhealthy {
        /// The device.
        path: String,
        /// The warning or the state.
        what: String,
    },
    /// The device is not the one that was inspected.
    #[error("{path} is not the device that was inspected: {what}")]
    Changed {
        /// The device.
        path: String,
        /// What differs.
        what: String,
    },
    /// The drive holds data whose loss is not confirmed.
    #[error("{path} holds {}", contents.join(", "))]
    Holds {
        /// The device.
        path: String,
        /// The formats found, each with its place in bytes.
        contents: Vec<String>,
        /// The confirmation that permits its loss (`--erase`).
        expected: String,
    },
    /// A device without a serial was attached again since the run that is resumed.
    #[error("{path} may not be the drive of this run: it has no serial, and {what}")]
    AttachedAgain {
        /// The device.
        path: String,
        /// What differs.
        what: String,
        /// The confirmation that permits the loss of its contents (`--erase`).
        expected: String,
    },
    /// The plan writes to the drive, and the drive is not confirmed.
    #[error("{path} would be overwritten, and this is not confirmed")]
    NotConfirmed {
        /// The device.
        path: String,
        /// The confirmation of this drive.
        expected: String,
    },
    /// The confirmation is not that of this drive.
    #[error("the confirmation '{given}' does not name {path}")]
    WrongConfirmation {
        /// The device.
        path: String,
        /// The confirmation that was given.
        given: String,
        /// The confirmation of this drive.
        expected: String,
    },
    /// NVMe commands cannot be passed through to the device.
    #[error("NVMe commands cannot be passed through to {path}: {cause}")]
    NoPassThrough {
        /// The device.
        path: String,
        /// The reason.
        cause: String,
    },
    /// The device does not complete a request.
    #[error("{path} does not answer (after {seconds} s)")]
    NoAnswer {
        /// The device, or the file on it.
        path: String,
        /// The time limit that has passed, in seconds.
        seconds: u64,
    },
    /// The device cannot be used, or the kernel refused a call.
    #[error("{path}: {cause}")]
    Denied {
        /// The device.
        path: String,
        /// The reason.
        cause: String,
    },
}

impl Refusal {
    /// Returns the key used in JSON, such as `in-use`.
    pub fn key(&self) -> &'static str {
        match self {
            Refusal::Partition { .. } => "part",
            Refusal::Protected { .. } => "protected",
            Refusal::InUse { .. } => "in-use",
            Refusal::Busy { .. } => "busy",
            Refusal::UsesUnknown { .. } => "uses-unknown",
            Refusal::ReadOnly { .. } => "read-only",
            Refusal::Unhealthy { .. } => "unhealthy",
            Refusal::Changed { .. } => "changed",
            Refusal::Holds { .. } => "holds-data",
            Refusal::AttachedAgain { .. } => "attached-again",
            Refusal::NotConfirmed { .. } => "not-confirmed",
            Refusal::WrongConfirmation { .. } => "wrong-confirmation",
            Refusal::NoPassThrough { .. } => "no-pass-through",
            Refusal::NoAnswer { .. } => "no-answer",
            Refusal::Denied { .. } => "denied",
        }
    }

    /// Returns the reason without the name of the device.
    pub fn reason(&self) -> String {
        match self {
            Refusal::Partition { whole, .. } => format!("a partition of {whole}"),
            Refusal::Protected { what, .. } => format!("carries {what}"),
            Refusal::InUse { holder, .. } => holder.clone(),
            Refusal::Busy { holder, .. } => format!("busy: another run of ssdgauge ({holder})"),
            Refusal::UsesUnknown { unseen, .. } => {
                format!("unknown: this process cannot see {}", unseen.join(", nor "))
            }
            Refusal::ReadOnly { .. } => "read-only".into(),
            Refusal::Unhealthy { what, .. }
            | Refusal::Changed { what, .. }
            | Refusal::AttachedAgain { what, .. } => what.clone(),
            Refusal::Holds { contents, .. } => format!("holds {}", contents.join(", ")),
            Refusal::NotConfirmed { expected, .. }
            | Refusal::WrongConfirmation { expected, .. } => {
                format!("needs --confirm {expected}")
            }
            Refusal::NoAnswer { seconds, .. } => format!("does not answer (after {seconds} s)"),
            Refusal::NoPassThrough { cause, .. } | Refusal::Denied { cause, .. } => cause.clone(),
        }
    }

    /// Returns whether a confirmation of the loss of data is all that is missing.
    pub fn needs_only_confirmation(&self) -> bool {
        match self {
            Refusal::Holds { .. }
            | Refusal::AttachedAgain { .. }
            | Refusal::NotConfirmed { .. }
            | Refusal::WrongConfirmation { .. } => true,
            Refusal::Partition { .. }
            | Refusal::Protected { .. }
            | Refusal::InUse { .. }
            | Refusal::Busy { .. }
            | Refusal::UsesUnknown { .. }
            | Refusal::ReadOnly { .. }
            | Refusal::Unhealthy { .. }
            | Refusal::Changed { .. }
            | Refusal::NoPassThrough { .. }
            | Refusal::NoAnswer { .. }
            | Refusal::Denied { .. } => false,
        }
    }
}
