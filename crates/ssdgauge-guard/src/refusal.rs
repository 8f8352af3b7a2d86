//! Why a drive is not admitted, in words that name the device, the reason and what holds it.

use thiserror::Error;

/// Why the guard does not admit a drive. Nothing was written.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum Refusal {
    /// The name means a part of a drive.
    #[error("{path} is a partition of {whole}; name the whole drive")]
    Part {
        /// The device.
        path: String,
        /// The drive that it belongs to.
        whole: String,
    },
    /// The system, the results or the program lie on the drive: no consent opens it.
    #[error("{path} carries {what}, and is never tested")]
    Protected {
        /// The device.
        path: String,
        /// What lies on it, and where.
        what: String,
    },
    /// The drive is in use.
    #[error("{path} is in use: {holder}")]
    InUse {
        /// The device.
        path: String,
        /// What holds it.
        holder: String,
    },
    /// The drive cannot be written.
    #[error("{path} is read-only")]
    ReadOnly {
        /// The device.
        path: String,
    },
    /// The drive says of itself, or the kernel of it, that it shall not be written.
    #[error("{path} is not fit to be written: {what}")]
    Unhealthy {
        /// The device.
        path: String,
        /// What is said.
        what: String,
    },
    /// The device is not what it was a moment ago.
    #[error("{path} is no longer the device that was looked at: {what}")]
    Changed {
        /// The device.
        path: String,
        /// What differs.
        what: String,
    },
    /// The drive holds something that nobody has given up.
    #[error("{path} holds {}", contents.join(", "))]
    Holds {
        /// The device.
        path: String,
        /// What was found, with its place.
        contents: Vec<String>,
        /// The words that give it up.
        expected: String,
    },
    /// A device without a serial was attached again since the run that is continued.
    #[error("{path} may be another drive than the run began with: it has no serial, and {what}")]
    AttachedAgain {
        /// The device.
        path: String,
        /// What differs.
        what: String,
        /// The words that give up what it holds.
        expected: String,
    },
    /// The plan writes to the drive and nobody confirmed that.
    #[error("{path} would be overwritten, and nobody has confirmed that")]
    NotConfirmed {
        /// The device.
        path: String,
        /// The words that confirm it.
        expected: String,
    },
    /// The confirmation names another drive.
    #[error("the confirmation '{given}' does not name {path}")]
    WrongConfirmation {
        /// The device.
        path: String,
        /// What was given.
        given: String,
        /// The words that confirm it.
        expected: String,
    },
    /// The system denied something.
    #[error("{path}: {cause}")]
    Denied {
        /// The device.
        path: String,
        /// What the system answered.
        cause: String,
    },
}

impl Refusal {
    /// Returns the key used in JSON, such as `in-use`.
    pub fn key(&self) -> &'static str {
        match self {
            Refusal::Part { .. } => "part",
            Refusal::Protected { .. } => "protected",
            Refusal::InUse { .. } => "in-use",
            Refusal::ReadOnly { .. } => "read-only",
            Refusal::Unhealthy { .. } => "unhealthy",
            Refusal::Changed { .. } => "changed",
            Refusal::Holds { .. } => "holds-data",
            Refusal::AttachedAgain { .. } => "attached-again",
            Refusal::NotConfirmed { .. } => "not-confirmed",
            Refusal::WrongConfirmation { .. } => "wrong-confirmation",
            Refusal::Denied { .. } => "denied",
        }
    }

    /// Returns the words without the name of the device.
    pub fn reason(&self) -> String {
        match self {
            Refusal::Part { whole, .. } => format!("a partition of {whole}"),
            Refusal::Protected { what, .. } => format!("carries {what}"),
            Refusal::InUse { holder, .. } => holder.clone(),
            Refusal::ReadOnly { .. } => "read-only".into(),
            Refusal::Unhealthy { what, .. }
            | Refusal::Changed { what, .. }
            | Refusal::AttachedAgain { what, .. } => what.clone(),
            Refusal::Holds { contents, .. } => format!("holds {}", contents.join(", ")),
            Refusal::NotConfirmed { expected, .. }
            | Refusal::WrongConfirmation { expected, .. } => {
                format!("waits for --confirm {expected}")
            }
            Refusal::Denied { cause, .. } => cause.clone(),
        }
    }

    /// Returns whether the owner's words are all that is missing: no refusal in itself.
    pub fn yields_to_consent(&self) -> bool {
        match self {
            Refusal::Holds { .. }
            | Refusal::AttachedAgain { .. }
            | Refusal::NotConfirmed { .. }
            | Refusal::WrongConfirmation { .. } => true,
            Refusal::Part { .. }
            | Refusal::Protected { .. }
            | Refusal::InUse { .. }
            | Refusal::ReadOnly { .. }
            | Refusal::Unhealthy { .. }
            | Refusal::Changed { .. }
            | Refusal::Denied { .. } => false,
        }
    }
}
