//! Permissions of the privileged helper: queries of its drive, and the changes of the plan.
//!
//! A fault in the process without privileges must not become a command that the plan of its run
//! does not contain. Every refusal states what was refused.

use crate::settings::power_saving;
use ssdgauge_core::{DriveChange, PurgeMethod};
use std::io;
use std::path::{Path, PathBuf};

/// The NVMe admin commands that only read (NVM Express Base Specification 2.0, figure 138): get log
/// page, identify, get features, and security receive for TCG discovery.
const NVME_QUERIES: [u8; 4] = [0x02, 0x06, 0x0a, 0x82];
pub(super) const SET_FEATURES: u8 = 0x09;
const FORMAT: u8 = 0x80;
const SANITIZE: u8 = 0x84;
/// Features that are set: sections 5.27.1.2 and 5.27.1.4; 25h switches the power measurement.
pub(super) const POWER_STATE: u32 = 0x02;
pub(super) const WRITE_CACHE: u32 = 0x06;
pub(super) const POWER_MEASUREMENT: u32 = 0x25;
/// The ATA commands that only read: identify, read log, trusted receive, power mode (ACS-4, table
/// 27).
const ATA_QUERIES: [u8; 4] = [0xec, 0x2f, 0x5c, 0xe5];
/// SMART, and its subcommands that only read: data, thresholds, log, status (ACS-3, 7.48).
const SMART: u8 = 0xb0;
const SMART_QUERIES: [u8; 4] = [0xd0, 0xd1, 0xd5, 0xda];
/// The security commands of an erase: set password, prepare, erase, disable password.
const SECURITY: [u8; 4] = [0xf1, 0xf3, 0xf4, 0xf6];
/// ATA SET FEATURES, and its subcommands that switch the write cache on and off (ACS-4, 7.45).
pub(super) const ATA_SET_FEATURES: u8 = 0xef;
pub(super) const ATA_WRITE_CACHE: [u8; 2] = [0x02, 0x82];
/// The SCSI commands that are accepted: test unit ready, inquiry, read capacity, security protocol
/// in, log sense.
const SCSI: [u8; 6] = [0x00, 0x12, 0x25, 0x9e, 0xa2, 0x4d];
/// ATA PASS-THROUGH (16).
pub(super) const ATA: u8 = 0x85;

/// What a run may do with its drive.
#[derive(Debug)]
pub(super) struct Permissions {
    /// The changes of the plan.
    changes: Vec<DriveChange>,
    /// The NVMe namespace of the drive.
    namespace: Option<u32>,
    /// The attributes of power saving of the drive, and the values that are written to each.
    attributes: Vec<(PathBuf, [&'static str; 2])>,
}

/// Returns the error of a request that is refused: `what` is not in the plan.
pub(super) fn refused(what: &str) -> io::Error {
    let text = format!("the privileged helper refuses {what}: it is not in the plan of this run");
    io::Error::new(io::ErrorKind::PermissionDenied, text)
}

impl Permissions {
    /// Returns the permissions of a run that contains `changes`, for the drive with the folder
    /// `folder` in sysfs and the NVMe namespace `namespace`.
    pub(super) fn new(
        changes: &[DriveChange],
        folder: &Path,
        namespace: Option<u32>,
    ) -> Permissions {
        let attributes = match changes.contains(&DriveChange::PowerAttributes) {
            true => power_saving::attributes_of(folder),
            false => Vec::new(),
        };
        Permissions { changes: changes.to_vec(), namespace, attributes }
    }

    /// Returns the attributes that the plan sets, by their real paths.
    pub(super) fn attributes(&self) -> impl Iterator<Item = &Path> {
        self.attributes.iter().map(|(path, _)| path.as_path())
    }

    fn has(&self, change: DriveChange) -> bool {
        self.changes.contains(&change)
    }

    /// Checks an NVMe admin command with its namespace and command words 10 to 15. `found_state` is
    /// the power state before the first change, which is restored.
    ///
    /// # Errors
    /// It is neither a query nor in the plan. A format is accepted only for the own namespace: another
    /// one of the controller is another drive, whose erase was not confirmed.
    pub(super) fn check_nvme(
        &self,
        opcode: u8,
        namespace: u32,
        words: [u32; 6],
        found_state: Option<u32>,
    ) -> io::Result<()> {
        let purge = |method| self.has(DriveChange::Purge(method));
        let is_permitted = match opcode {
            FORMAT => purge(PurgeMethod::Format) && self.namespace == Some(namespace),
            // Command dword 10, bits 2:0: the action (section 5.24).
            SANITIZE => match words[0] & 7 {
                2 => purge(PurgeMethod::SanitizeBlock),
                3 => purge(PurgeMethod::SanitizeOverwrite),
                4 => purge(PurgeMethod::SanitizeCrypto),
                _ => false,
            },
            SET_FEATURES => self.may_set(words[0], words[1], found_state),
            other => NVME_QUERIES.contains(&other),
        };
        match is_permitted {
            true => Ok(()),
            false => Err(refused(&format!("the NVMe command {opcode:02x}h ({:#x})", words[0]))),
        }
    }

    /// Returns whether feature `id`, command dword 10, may be set to `value`. With bit 31 it would be
    /// kept over a reset, which no plan contains.
    fn may_set(&self, id: u32, value: u32, found_state: Option<u32>) -> bool {
        let states = |change: &DriveChange| match change {
            DriveChange::PowerState(number) => {
                value == u32::from(*number) || found_state == Some(value)
            }
            DriveChange::Purge(_)
            | DriveChange::PowerAttributes
            | DriveChange::WriteCache
            | DriveChange::PowerMeasurement => false,
        };
        match id {
            POWER_STATE => self.changes.iter().any(states),
            WRITE_CACHE => self.has(DriveChange::WriteCache) && value <= 1,
            POWER_MEASUREMENT => self.has(DriveChange::PowerMeasurement),
            _ => false,
        }
    }

    /// Checks a SCSI command, or the ATA command inside of ATA PASS-THROUGH (16).
    ///
    /// # Errors
    /// It is neither a query nor in the plan.
    pub(super) fn check_scsi(&self, command: &[u8; 16]) -> io::Result<()> {
        let (feature, code) = (command[4], command[14]);
        let is_permitted = match (command[0], code) {
            (ATA, ATA_SET_FEATURES) => {
                self.has(DriveChange::WriteCache) && ATA_WRITE_CACHE.contains(&feature)
            }
            (ATA, SMART) => SMART_QUERIES.contains(&feature),
            (ATA, code) if SECURITY.contains(&code) => {
                self.has(DriveChange::Purge(PurgeMethod::SecureErase))
            }
            (ATA, code) => ATA_QUERIES.contains(&code),
            (other, _) => SCSI.contains(&other),
        };
        match (is_permitted, command[0]) {
            (true, _) => Ok(()),
            (false, ATA) => Err(refused(&format!("the ATA command {code:02x}h ({feature:02x}h)"))),
            (false, other) => Err(refused(&format!("the SCSI command {other:02x}h"))),
        }
    }

    /// Checks a write of `value` to the attribute with the real path `path`; `found` is its value
    /// before the first change, which is restored.
    ///
    /// # Errors
    /// It is not an attribute of this drive that the plan sets, or another value.
    pub(super) fn check_attribute(
        &self,
        path: &Path,
        value: &str,
        found: Option<&str>,
    ) -> io::Result<()> {
        let own = self.attributes.iter().find(|(own, _)| own == path);
        match own {
            Some((_, values)) if values.contains(&value) || found == Some(value) => Ok(()),
            Some(_) | None => Err(refused(&format!("'{value}' in {}", path.display()))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PURGES: [PurgeMethod; 6] = PurgeMethod::ALL;

    fn permissions(changes: &[DriveChange]) -> Permissions {
        let attributes = vec![("/sys/devices/link/l1_aspm".into(), ["0", "1"])];
        Permissions { changes: changes.to_vec(), namespace: Some(1), attributes }
    }

    /// Returns the command of each purge with privileges: NVMe opcode and first word, or ATA command.
    fn command_of(permissions: &Permissions, method: PurgeMethod) -> bool {
        let nvme =
            |opcode, word| permissions.check_nvme(opcode, 1, [word, 0, 0, 0, 0, 0], None).is_ok();
        match method {
            PurgeMethod::Format => nvme(0x80, 1 << 9),
            PurgeMethod::SanitizeBlock => nvme(0x84, 2 | 1 << 3),
            PurgeMethod::SanitizeOverwrite => nvme(0x84, 3 | 1 << 4),
            PurgeMethod::SanitizeCrypto => nvme(0x84, 4),
            PurgeMethod::SecureErase => [0xf1, 0xf3, 0xf4, 0xf6].iter().all(|code| {
                let mut command = [0; 16];
                (command[0], command[14]) = (ATA, *code);
                permissions.check_scsi(&command).is_ok()
            }),
            // It needs no privilege.
            PurgeMethod::Discard => permissions.has(DriveChange::Purge(PurgeMethod::Discard)),
        }
    }

    #[test]
    fn a_purge_is_accepted_only_by_a_method_of_the_plan() {
        for planned in PURGES {
            let permissions = permissions(&[DriveChange::Purge(planned)]);
            for method in PURGES {
                let is_accepted = command_of(&permissions, method);
                assert_eq!(is_accepted, method == planned, "{planned:?} {method:?}");
            }
        }
        let none = permissions(&[DriveChange::PowerAttributes, DriveChange::WriteCache]);
        assert!(PURGES.iter().all(|method| !command_of(&none, *method)));
    }

    #[test]
    fn a_format_is_accepted_for_the_own_namespace_alone() {
        let format = [DriveChange::Purge(PurgeMethod::Format)];
        for (own, requested) in [(Some(1), 2), (Some(1), u32::MAX), (None, 1)] {
            let permissions = Permissions { namespace: own, ..permissions(&format) };
            assert!(permissions.check_nvme(FORMAT, requested, [0; 6], None).is_err());
        }
    }

    #[test]
    fn only_features_of_the_plan_are_set_and_a_found_power_state_is_restored() {
        let set = |changes: &[DriveChange], id, value, found| {
            let words = [id, value, 0, 0, 0, 0];
            permissions(changes).check_nvme(SET_FEATURES, 0, words, found).is_ok()
        };
        let state = [DriveChange::PowerAttributes, DriveChange::PowerState(3)];
        assert!(set(&state, POWER_STATE, 3, None) && set(&state, POWER_STATE, 0, Some(0)));
        assert!(!set(&state, POWER_STATE, 4, Some(0)) && !set(&[], POWER_STATE, 0, Some(0)));
        assert!(set(&[DriveChange::WriteCache], WRITE_CACHE, 1, None));
        assert!(!set(&state, WRITE_CACHE, 1, None));
        assert!(set(&[DriveChange::PowerMeasurement], POWER_MEASUREMENT, 1, None));
        // Kept over a reset, and any other feature.
        assert!(!set(&[DriveChange::WriteCache], WRITE_CACHE | 1 << 31, 1, None));
        let all = [state[0], state[1], DriveChange::WriteCache, DriveChange::PowerMeasurement];
        for id in (0..=255).filter(|id| ![POWER_STATE, WRITE_CACHE, POWER_MEASUREMENT].contains(id))
        {
            assert!(!set(&all, id, 3, None), "{id:#x}");
        }
    }

    #[test]
    fn commands_that_write_are_refused_with_words_whatever_the_plan_contains() {
        let all = permissions(&[
            DriveChange::Purge(PurgeMethod::Format),
            DriveChange::Purge(PurgeMethod::SecureErase),
            DriveChange::WriteCache,
        ]);
        let known = [0x02, 0x06, 0x09, 0x0a, 0x80, 0x82];
        for opcode in (0..=255).filter(|opcode| !known.contains(opcode)) {
            let error = all.check_nvme(opcode, 1, [0; 6], None).unwrap_err();
            assert!(error.to_string().contains("not in the plan"), "{opcode:#x}: {error}");
        }
        // WRITE (10), WRITE SAME, UNMAP, FORMAT UNIT, WRITE BUFFER.
        for code in [0x2a, 0x41, 0x42, 0x04, 0x3b] {
            let mut command = [0; 16];
            command[0] = code;
            assert!(all.check_scsi(&command).is_err(), "{code:#x}");
        }
        // WRITE DMA, DOWNLOAD MICROCODE, SANITIZE DEVICE, freeze lock, SET FEATURES without a
        // feature, SMART WRITE LOG.
        let subcommands = [(0xca, 0), (0x92, 0), (0xb4, 0x12), (0xf5, 0), (0xef, 0), (0xb0, 0xd6)];
        for (code, feature) in subcommands {
            let mut command = [0; 16];
            (command[0], command[4], command[14]) = (ATA, feature, code);
            assert!(all.check_scsi(&command).is_err(), "{code:#x}");
        }
    }

    #[test]
    fn only_attributes_of_the_drive_take_only_values_of_the_plan_or_their_own() {
        let check = |path: &str, value: &str, found: Option<&str>| {
            permissions(&[]).check_attribute(Path::new(path), value, found).is_ok()
        };
        let own = "/sys/devices/link/l1_aspm";
        assert!(check(own, "1", None) && check(own, "7", Some("7")));
        assert!(!check(own, "2", None) && !check(own, "7", None));
        for path in ["/etc/hostname", "/sys/power/state", "/sys/devices/other/l1_aspm"] {
            assert!(!check(path, "1", Some("1")), "{path}");
        }
    }
}
