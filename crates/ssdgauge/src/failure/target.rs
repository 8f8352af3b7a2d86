//! Failures of targets: names that mean none, and drives that the guard refuses.

use super::{Failure, FailureKind};
use crate::suggestion;
use ssdgauge_guard::{Refusal, TargetError};
use std::path::Path;

impl From<TargetError> for Failure {
    fn from(error: TargetError) -> Failure {
        let hint = match &error {
            TargetError::Missing(path) => missing_target(path),
            TargetError::NoFolder { path, nearest, name, others } => {
                let hint = missing_folder(path, nearest, name, others);
                return Failure::new(FailureKind::Usage, error.to_string(), hint);
            }
            TargetError::Exists(path) if path.extension().is_some_and(|end| end == "ssdg") => {
                let path = path.display();
                format!(
                    "nothing was written; {path} is a run file: `ssdgauge show {path}` prints its result, `ssdgauge resume \
                     {path}` continues it; a target is a folder, a drive or sim:PROFILE"
                )
            }
            TargetError::Exists(_) => {
                "nothing was written; ssdgauge never overwrites a file: name the folder, or a \
                 file that does not exist yet"
                    .into()
            }
            TargetError::Unfit { .. } => "nothing was written; name another target".into(),
            TargetError::Size(_) => "nothing was written; choose another --size".into(),
            TargetError::NoRoom { free, .. } => match free.0 / 10 * 9 / 1_000_000_000 {
                0 => "nothing was written; name a folder on a drive with more free space".into(),
                most => {
                    format!("nothing was written; use --size {most}GB or less, or another folder")
                }
            },
            TargetError::OtherFolder { path, .. } => format!(
                "nothing was written; if it may be written there, add --confirm {}",
                path.display()
            ),
            TargetError::Refused(refusal) => return from_refusal(refusal),
            TargetError::Privileges(_) => {
                "nothing was written; this is a bug in ssdgauge: please report it".into()
            }
            TargetError::System { cause, .. } => match cause.kind() {
                std::io::ErrorKind::PermissionDenied => {
                    "nothing was written; use a folder that you may write to, or run as root".into()
                }
                std::io::ErrorKind::ReadOnlyFilesystem => {
                    "nothing was written; use a folder on a file system that is writable".into()
                }
                std::io::ErrorKind::StorageFull => {
                    "nothing was written; free disk space, or use a smaller --size".into()
                }
                _ => "nothing was written".to_owned(),
            },
        };
        Failure::new(FailureKind::Refused, error.to_string(), hint)
    }
}

/// Returns the hint for a target that does not exist: what it may mean, or the kinds of targets.
fn missing_target(path: &Path) -> String {
    if path == Path::new("null") {
        return "nothing was written; did you mean 'null:'?".into();
    }
    meant_profile(path).unwrap_or_else(|| {
        "nothing was written; name a folder, a new file in an existing folder, a block device, \
         sim:PROFILE or null:"
            .into()
    })
}

/// Returns the hint for the name of a virtual drive without its prefix.
fn meant_profile(path: &Path) -> Option<String> {
    let name = path.to_string_lossy();
    let profiles = ssdgauge_sim::profiles().into_iter().chain(ssdgauge_sim::reviewed_profiles());
    let profiles: Vec<&str> = profiles.map(|profile| profile.name).collect();
    let profile = name.split('?').next().unwrap_or_default();
    let meant = suggestion::nearest(profile, profiles)?;
    let all = "`ssdgauge drives sim:` lists all";
    Some(format!("nothing was written; did you mean 'sim:{meant}'? {all}"))
}

/// Returns the hint for the folder `path` that is missing: the one of `others` in `nearest` whose name is
/// like `name`, a drive or a virtual drive of that name, or how to name a new file.
fn missing_folder(path: &Path, nearest: &Path, name: &str, others: &[String]) -> String {
    if let Some(meant) = suggestion::nearest(name, others.iter().map(String::as_str)) {
        let meant = nearest.join(meant);
        return format!("nothing was written; did you mean {}?", meant.display());
    }
    let node = Path::new("/dev").join(path);
    if path.components().count() == 1 && node.exists() {
        return format!("nothing was written; did you mean {}?", node.display());
    }
    meant_profile(path).unwrap_or_else(|| {
        let path = path.display();
        format!(
            "nothing was written; create the folder or mount its file system; a new scratch file has a \
             suffix ({path}.bin) or a prefix (file:{path})"
        )
    })
}

fn from_refusal(refusal: &Refusal) -> Failure {
    let hint = match refusal {
        Refusal::InUse { path, .. } => format!(
            "nothing was written; release the drive (`lsblk {path}` and `fuser -v {path}` show its uses), or name \
             another one"
        ),
        Refusal::Busy { .. } => {
            let hint =
                "nothing was written; start it again when that run has ended, or add --wait 2h";
            return Failure::new(FailureKind::Busy, refusal.to_string(), hint);
        }
        Refusal::UsesUnknown { expected, .. } => format!(
            "nothing was written; run it as root on the host itself, or make sure that nothing uses \
             the drive and add --confined {expected}"
        ),
        Refusal::Partition { whole, .. } => {
            format!("nothing was written; the whole drive is {whole}")
        }
        Refusal::Protected { .. } => {
            "nothing was written; no option overrides this: name another drive".into()
        }
        Refusal::ReadOnly { .. } => "nothing was written; name another drive".into(),
        Refusal::Unhealthy { .. } => {
            "nothing was written; back up its data, and test another drive".into()
        }
        Refusal::Changed { .. } => {
            "nothing was written; check which drive this is, and start again".into()
        }
        Refusal::Holds { expected, .. } | Refusal::AttachedAgain { expected, .. } => format!(
            "nothing was written; if all of this data may be lost, add --erase {expected} and \
             --confirm {expected}"
        ),
        Refusal::NotConfirmed { expected, .. } | Refusal::WrongConfirmation { expected, .. } => {
            format!(
                "nothing was written; if this is the drive to be tested, add --confirm {expected}"
            )
        }
        Refusal::NoPassThrough { .. } => {
            "nothing was written; name a whole NVMe drive with one path, on Linux 5.19 or later as root, or \
             omit --pass-through"
                .into()
        }
        Refusal::NoAnswer { .. } => {
            "nothing was written; check the kernel log (dmesg) and what lies below the device; a drive \
             in standby may answer a second call"
                .into()
        }
        Refusal::Denied { cause, .. } if cause.contains("(os error 5)") => {
            "nothing was written; check the kernel log (dmesg), and what lies below the device: it may have \
             become smaller"
                .to_owned()
        }
        Refusal::Denied { .. } => {
            "nothing was written; whole drives need root and exclusive access".to_owned()
        }
    };
    Failure::new(FailureKind::Refused, refusal.to_string(), hint)
}
