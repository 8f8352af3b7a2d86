//! ATA Security Erase: three commands between which the drive holds a password.
//!
//! It is only sent where somebody asked for it by name: a drive whose power fails in the middle
//! stays locked until it is erased with the password, which the run file names.

use super::Failed;
use ssdgauge_drive::ata::{Identity, SECTOR};
use ssdgauge_drive::pass_through::{AtaCommand, AtaDirection, CommandError, PassThrough};
use std::time::Duration;

/// The password that the drive has for the time of the erase.
pub(super) const PASSWORD: &str = "ssdgauge";
/// Where a drive does not tell how long it takes.
const UNTOLD: Duration = Duration::from_secs(12 * 3_600);
/// The commands that only set something.
const SHORT: Duration = Duration::from_secs(15);

/// Returns why the drive cannot be erased this way.
pub(super) fn obstacle(identity: &Identity) -> Option<String> {
    let reason = match identity.security {
        None => "the drive has no ATA security",
        Some(security) if security.frozen => {
            "the host's firmware has frozen ATA security; suspend the host or replug the drive"
        }
        Some(security) if security.locked => "the drive is locked with a password",
        Some(security) if security.enabled => "the drive has a password already",
        Some(_) => return None,
    };
    Some(reason.into())
}

/// Returns how long the drive may take: twice what it tells.
pub(super) fn timeout(identity: &Identity) -> Duration {
    let told = identity.security.and_then(|security| security.erase_minutes);
    told.map_or(UNTOLD, |minutes| Duration::from_secs(u64::from(minutes) * 120))
}

/// Sets the password, erases, and takes the password back where the erase fails.
pub(super) fn erase(pass_through: &dyn PassThrough, timeout: Duration) -> Result<(), Failed> {
    with_password(pass_through, 0xf1, SHORT)?;
    let prepare = AtaCommand { command: 0xf3, timeout: SHORT, ..AtaCommand::default() };
    let erased = pass_through
        .ata(&prepare, &mut [])
        .and_then(|()| with_password(pass_through, 0xf4, timeout));
    match erased {
        // A drive that was erased has no password any more.
        Ok(()) => Ok(()),
        Err(CommandError::Gone) => Err(Failed::Gone),
        Err(refusal) => Err(Failed::InVain(match with_password(pass_through, 0xf6, SHORT) {
            Ok(()) => refusal.to_string(),
            Err(_) => format!("{refusal}; the drive is left with the password '{PASSWORD}'"),
        })),
    }
}

fn with_password(
    pass_through: &dyn PassThrough,
    command: u8,
    timeout: Duration,
) -> Result<(), CommandError> {
    // The first word says: the user's password, high security, plain erase.
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
    fn a_frozen_a_locked_and_a_plain_drive_are_told_apart() {
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
    fn the_password_is_taken_back_where_the_erase_fails() {
        let sent = |drive: &Fixture| -> Vec<u8> {
            drive.sent_ata.lock().unwrap().iter().map(|(command, _)| command.command).collect()
        };
        let mut drive = Fixture::sata();
        assert_eq!(erase(&drive, SHORT), Ok(()));
        assert_eq!(sent(&drive), [0xf1, 0xf3, 0xf4]);
        assert_eq!(&drive.sent_ata.lock().unwrap()[0].1[..12], b"\0\0ssdgauge\0\0");
        drive.sent_ata.lock().unwrap().clear();
        drive.changes.insert(0xf4, CommandError::Sense(5, 0x24, 0));
        assert!(matches!(erase(&drive, SHORT), Err(Failed::InVain(_))));
        assert_eq!(sent(&drive), [0xf1, 0xf3, 0xf4, 0xf6]);
        drive.changes.insert(0xf6, CommandError::Sense(5, 0x24, 0));
        match erase(&drive, SHORT) {
            Err(Failed::InVain(words)) => assert!(words.contains(PASSWORD), "{words}"),
            other => panic!("{other:?}"),
        }
    }
}
