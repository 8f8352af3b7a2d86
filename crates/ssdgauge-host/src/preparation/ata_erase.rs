//! ATA Security Erase: set a password, prepare, erase (ACS-4, Security feature set).
//!
//! It is sent only where it is requested by name: a drive whose power fails between the commands
//! stays locked until it is erased with the password, which the run file contains.

use super::PreparationError;
use ssdgauge_drive::ata::{Identity, SECTOR};
use ssdgauge_drive::pass_through::{AtaCommand, AtaDirection, CommandError, PassThrough};
use std::time::Duration;

/// The password of the drive during the erase.
pub(super) const PASSWORD: &str = "ssdgauge";
/// The limit for a drive that does not report the duration of its erase.
const DEFAULT_TIMEOUT: Duration = Duration::from_secs(12 * 3_600);
/// The limit for the commands that only change the security state.
const STATE_TIMEOUT: Duration = Duration::from_secs(15);

/// Returns the reason why the drive does not accept a security erase, if any.
pub(super) fn obstacle(identity: &Identity) -> Option<String> {
    let reason = match identity.security {
        None => "the drive has no ATA security",
        Some(security) if security.frozen => {
            "the firmware of the host has frozen ATA security; suspend the host or replug the drive"
        }
        Some(security) if security.locked => "the drive is locked with a password",
        Some(security) if security.enabled => "the drive has a password already",
        Some(_) => return None,
    };
    Some(reason.into())
}

/// Returns the limit of the erase: twice the duration that the drive reports.
pub(super) fn timeout(identity: &Identity) -> Duration {
    let minutes = identity.security.and_then(|security| security.erase_minutes);
    minutes.map_or(DEFAULT_TIMEOUT, |minutes| Duration::from_secs(u64::from(minutes) * 120))
}

/// Sets the password and erases the drive; removes the password where the erase fails.
///
/// # Errors
/// The drive refused a command or was removed. The text names the password where it could not be
/// removed.
pub(super) fn erase(
    pass_through: &dyn PassThrough,
    timeout: Duration,
) -> Result<(), PreparationError> {
    with_password(pass_through, 0xf1, STATE_TIMEOUT)?;
    let prepare = AtaCommand { command: 0xf3, timeout: STATE_TIMEOUT, ..AtaCommand::default() };
    let erased = pass_through
        .ata(&prepare, &mut [])
        .and_then(|()| with_password(pass_through, 0xf4, timeout));
    match erased {
        // A successful erase removes the password.
        Ok(()) => Ok(()),
        Err(CommandError::Gone) => Err(PreparationError::Gone),
        Err(refusal) => {
            let removed = with_password(pass_through, 0xf6, STATE_TIMEOUT);
            Err(PreparationError::Ineffective(match removed {
                Ok(()) => refusal.to_string(),
                Err(_) => format!("{refusal}; the drive still has the password '{PASSWORD}'"),
            }))
        }
    }
}

/// Sends a security command with the password as its data.
fn with_password(
    pass_through: &dyn PassThrough,
    command: u8,
    timeout: Duration,
) -> Result<(), CommandError> {
    // Word 0 is 0: user password, high security, normal erase.
    let mut data = [0u8; SECTOR];
    data[2..2 + PASSWORD.len()].copy_from_slice(PASSWORD.as_bytes());
    let direction = AtaDirection::Out;
    pass_through
        .ata(&AtaCommand { command, count: 1, direction, timeout, ..Default::default() }, &mut data)
}

#[cfg(test)]
mod tests {
    use super::*;
    use ssdgauge_drive::fixture::Fixture;
    use ssdgauge_drive::query;

    #[test]
    fn frozen_locked_and_erasable_drives_are_distinguished() {
        let mut identity = query::ata_identity(&Fixture::sata()).unwrap();
        assert!(obstacle(&identity).unwrap().contains("frozen"));
        let mut security = identity.security.unwrap();
        security.frozen = false;
        identity.security = Some(security);
        assert_eq!(obstacle(&identity), None);
        assert_eq!(timeout(&identity), Duration::from_secs(7_200));
        identity.security = None;
        assert!(obstacle(&identity).unwrap().contains("no ATA security"));
    }

    #[test]
    fn the_password_is_removed_where_the_erase_fails() {
        let sent = |drive: &Fixture| -> Vec<u8> {
            drive.sent_ata.lock().unwrap().iter().map(|(command, _)| command.command).collect()
        };
        let mut drive = Fixture::sata();
        assert_eq!(erase(&drive, STATE_TIMEOUT), Ok(()));
        assert_eq!(sent(&drive), [0xf1, 0xf3, 0xf4]);
        assert_eq!(&drive.sent_ata.lock().unwrap()[0].1[..12], b"\0\0ssdgauge\0\0");
        drive.sent_ata.lock().unwrap().clear();
        drive.changes.insert(0xf4, CommandError::Sense(5, 0x24, 0));
        assert!(matches!(erase(&drive, STATE_TIMEOUT), Err(PreparationError::Ineffective(_))));
        assert_eq!(sent(&drive), [0xf1, 0xf3, 0xf4, 0xf6]);
        drive.changes.insert(0xf6, CommandError::Sense(5, 0x24, 0));
        match erase(&drive, STATE_TIMEOUT) {
            Err(PreparationError::Ineffective(words)) => {
                assert!(words.contains(PASSWORD), "{words}")
            }
            other => panic!("{other:?}"),
        }
    }
}
