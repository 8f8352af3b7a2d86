//! Changes of a drive: the commands and settings of a plan that need privileges. The privileged
//! helper accepts only those of its run.

use crate::plan::preparation::{PowerSaving, Preparation, PurgeMethod};
use crate::plan::{Action, Plan};
use std::str::FromStr;

/// A command or setting that changes a drive, besides writes and discards.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DriveChange {
    /// A purge by this method.
    Purge(PurgeMethod),
    /// The attributes of power saving, of the drive and its link.
    PowerAttributes,
    /// The NVMe power state with this number.
    PowerState(u8),
    /// The state of the volatile write cache.
    WriteCache,
    /// The power measurement of the drive: started and stopped.
    PowerMeasurement,
}

const POWER_ATTRIBUTES: &str = "power-attributes";
const POWER_STATE: &str = "power-state-";
const WRITE_CACHE: &str = "write-cache";
const POWER_MEASUREMENT: &str = "power-measurement";

impl std::fmt::Display for DriveChange {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            DriveChange::Purge(method) => write!(f, "{}", method.name()),
            DriveChange::PowerAttributes => write!(f, "{POWER_ATTRIBUTES}"),
            DriveChange::PowerState(number) => write!(f, "{POWER_STATE}{number}"),
            DriveChange::WriteCache => write!(f, "{WRITE_CACHE}"),
            DriveChange::PowerMeasurement => write!(f, "{POWER_MEASUREMENT}"),
        }
    }
}

impl FromStr for DriveChange {
    type Err = String;

    /// Reads the text of a change.
    ///
    /// # Errors
    /// When no change has this text.
    fn from_str(text: &str) -> Result<DriveChange, String> {
        match text {
            POWER_ATTRIBUTES => Ok(DriveChange::PowerAttributes),
            WRITE_CACHE => Ok(DriveChange::WriteCache),
            POWER_MEASUREMENT => Ok(DriveChange::PowerMeasurement),
            other => match other.strip_prefix(POWER_STATE).map(str::parse) {
                Some(Ok(number)) => Ok(DriveChange::PowerState(number)),
                Some(Err(_)) | None => other.parse().map(DriveChange::Purge),
            },
        }
    }
}

impl Preparation {
    /// Returns the changes of the drive that the preparation needs. Without a requested method a
    /// purge is a format, else a discard, which needs no privilege.
    fn drive_changes(&self) -> Vec<DriveChange> {
        match *self {
            Preparation::Purge => vec![DriveChange::Purge(PurgeMethod::Format)],
            Preparation::PurgeBy(method) => vec![DriveChange::Purge(method)],
            Preparation::Power(PowerSaving::AsFound)
            | Preparation::Trim { .. }
            | Preparation::Fill { .. } => Vec::new(),
            Preparation::Power(PowerSaving::Active | PowerSaving::Low) => {
                vec![DriveChange::PowerAttributes]
            }
            Preparation::Power(PowerSaving::State(number)) => {
                vec![DriveChange::PowerAttributes, DriveChange::PowerState(number)]
            }
            Preparation::WriteCache(_) => vec![DriveChange::WriteCache],
        }
    }
}

impl Plan {
    /// Returns the changes of the drive that the steps of the plan contain, each once.
    pub fn drive_changes(&self) -> Vec<DriveChange> {
        let mut changes = Vec::new();
        for (_, _, step) in self.steps() {
            let needed = match &step.action {
                Action::Prepare(preparation) => preparation.drive_changes(),
                Action::Run { .. } | Action::Replay(_) | Action::Rest(_) | Action::Idle(_) => {
                    Vec::new()
                }
            };
            for change in needed {
                if !changes.contains(&change) {
                    changes.push(change);
                }
            }
        }
        changes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_change_is_read_as_it_is_written() {
        let purges = PurgeMethod::ALL.map(DriveChange::Purge);
        let settings = [
            DriveChange::PowerAttributes,
            DriveChange::PowerState(3),
            DriveChange::WriteCache,
            DriveChange::PowerMeasurement,
        ];
        for change in purges.into_iter().chain(settings) {
            assert_eq!(change.to_string().parse(), Ok(change));
        }
        for text in ["", "power-state-", "power-state-300", "erase"] {
            assert!(text.parse::<DriveChange>().is_err(), "{text}");
        }
    }

    #[test]
    fn a_preparation_needs_its_own_changes_only() {
        let of = |preparation: Preparation| preparation.drive_changes();
        assert_eq!(of(Preparation::Purge), [DriveChange::Purge(PurgeMethod::Format)]);
        assert_eq!(of(Preparation::Power(PowerSaving::AsFound)), []);
        assert_eq!(of(Preparation::Power(PowerSaving::Low)), [DriveChange::PowerAttributes]);
        let state = of(Preparation::Power(PowerSaving::State(4)));
        assert_eq!(state, [DriveChange::PowerAttributes, DriveChange::PowerState(4)]);
    }
}
