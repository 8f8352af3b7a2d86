//! Privileges of this process: dropped once target and results are open.
//!
//! [`drop_privileges`] is called while the process has a single thread, because Linux keeps
//! privileges by thread. From then on the threads that load the drive, write the run file and draw
//! the report have no capabilities, gain none by starting programs, and can write only below the
//! folder of the results: a fault in a parser of device data cannot harm the machine. Requests that
//! need privileges go to the privileged helper, which accepts a fixed list of them.
//!
//! [`confine`] does the same for commands without a drive, before they read a file.

use crate::{helper, paths, system_calls};
use rustix::process::{Resource, Rlimit, setrlimit};
use rustix::thread::{
    CapabilitySet, CapabilitySets, capabilities, clear_ambient_capability_set,
    remove_capability_from_bounding_set, set_capabilities, set_keep_capabilities, set_no_new_privs,
};
use ssdgauge_core::DriveChange;
use ssdgauge_drive::helper::HelperClient;
use ssdgauge_os::thread::become_nobody;
use std::fs;
use std::io;
use std::os::fd::BorrowedFd;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// The result of dropping privileges.
#[derive(Debug)]
pub(crate) struct DroppedPrivileges {
    /// The client of the privileged helper, where the target is a drive.
    pub(crate) helper: Option<HelperClient>,
    /// The privileges in force, as text for the run file.
    pub(crate) summary: String,
}

/// The drive of a run.
pub(crate) struct ClaimedDevice<'a> {
    /// Its device number.
    pub(crate) number: &'a str,
    /// Its disk sequence.
    pub(crate) sequence: Option<u64>,
    /// Its exclusive descriptor.
    pub(crate) claim: BorrowedFd<'a>,
}

/// Drops every privilege that a run does not need. `device` is the drive whose requests the privileged helper
/// serves, as far as they are queries or among
/// `changes`. `results` is the run file: its folder stays writable, and its owner becomes the user of this process where that is possible. `needed` are the capabilities without
/// which the kernel refuses the load.
///
/// # Errors
/// The process has more than one thread, the helper could not be started, or the kernel refused to
/// drop something. A run then ends before it writes: it must not go on as root by accident.
pub(crate) fn drop_privileges(
    device: Option<ClaimedDevice<'_>>,
    changes: &[DriveChange],
    results: &Path,
    needed: CapabilitySet,
) -> io::Result<DroppedPrivileges> {
    // A thread that already runs would keep all of its privileges.
    if fs::read_dir("/proc/self/task")?.count() != 1 {
        return Err(io::Error::other("the process has more than one thread"));
    }
    let folder = folder_of(results);
    let mut summary = Vec::new();
    let mut helper = None;
    let mut kept = needed & capabilities(None)?.permitted;
    if rustix::process::geteuid().is_root() {
        // Unprivileged processes get no ring, and another engine would change the results.
        if io_uring_is_for_root() {
            let kept = "all kept: only root may use io_uring (kernel.io_uring_disabled)";
            let summary = format!("{kept}, {}", system_calls::restrict_run());
            return Ok(DroppedPrivileges { helper: None, summary });
        }
        if let Some(ClaimedDevice { number, sequence, claim }) = device {
            let (client, restrictions) = helper::start(number, sequence, changes, claim)?;
            helper = Some(client);
            summary.push(format!(
                "privileged helper process for requests to the drive ({restrictions})"
            ));
        }
        let user;
        (user, kept) = become_owner(results, &folder, kept)?;
        summary.push(format!("user {user} {}", capability_text(kept)));
    }
    keep_only(kept)?;
    summary.push("no new privileges".to_owned());
    summary.push(paths::restrict_writes(&[&folder]));
    summary.push(system_calls::restrict_run());
    Ok(DroppedPrivileges { helper, summary: summary.join(", ") })
}

/// Makes the owner of the results the user of this process, where that is not root. Returns the
/// user and the capabilities that have to be kept, `kept` among them.
fn become_owner(
    results: &Path,
    folder: &Path,
    mut kept: CapabilitySet,
) -> io::Result<(u32, CapabilitySet)> {
    // Root of a container may have lost any of them, and none is gained here.
    let held = capabilities(None)?.permitted;
    // Registered buffers of io_uring count as locked memory, which is limited for a process
    // without CAP_IPC_LOCK.
    let unlimited = Rlimit { current: None, maximum: None };
    if setrlimit(Resource::Memlock, unlimited).is_err() {
        kept |= CapabilitySet::IPC_LOCK;
    }
    drop_bounding_set();
    let may_change = held.contains(CapabilitySet::SETUID | CapabilitySet::SETGID);
    let user = owner(results, folder).filter(|_| may_change);
    if let Some((user, group)) = user {
        // Without this flag the kernel clears all capabilities when the user changes, and the
        // calls below would have nothing left to keep.
        set_keep_capabilities(true)?;
        ssdgauge_os::thread::become_user(user, group)?;
    }
    if user.is_none() && belongs_to_others(results, folder) {
        // Root without this capability could not open the run file of another user again.
        kept |= CapabilitySet::DAC_OVERRIDE;
    }
    Ok((user.map_or(0, |(user, _)| user), kept & held))
}

/// What a restricted process may do besides reading, and writing below its folders.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reach {
    /// Wait for connections of others.
    Listen,
    /// Connect to sockets as well, such as that of a run.
    Connect,
    /// Start processes that write files as its user, which therefore stays.
    Start,
}

/// Returns whether this process is one of root.
pub fn is_root() -> bool {
    rustix::process::geteuid().is_root()
}

/// Takes from this process what a command does not need that reads files of others and opens no device: every
/// capability but those to read files of other users, and to write where `folders` are theirs; writes except below
/// `folders`; the system calls that change the machine; what is beyond `reach`. The folders need not exist: the
/// nearest one that does counts. Without root, or where the kernel has no such rules, the rest of them applies.
///
/// Its user is nobody then: services obey root, also without capabilities. Only files are accessed as those of root
/// where it has `folders` or connects, because root owns what it writes.
///
/// # Errors
/// The process has more than one thread, or the kernel refused to drop something.
pub fn confine(folders: &[PathBuf], reach: Reach) -> io::Result<()> {
    // A thread that already runs would keep all of its privileges.
    if fs::read_dir("/proc/self/task")?.count() != 1 {
        return Err(io::Error::other("the process has more than one thread"));
    }
    let folders: Vec<&Path> = folders.iter().map(|folder| nearest(folder)).collect();
    let mut kept = CapabilitySet::empty();
    if is_root() {
        kept |= CapabilitySet::DAC_READ_SEARCH;
        let is_of_others =
            |folder: &&Path| fs::metadata(folder).is_ok_and(|facts| facts.uid() != 0);
        if folders.iter().any(is_of_others) {
            kept |= CapabilitySet::DAC_OVERRIDE;
        }
        let held = capabilities(None)?.permitted;
        drop_bounding_set();
        // Root of a container may have lost the capabilities for it.
        let may_change = held.contains(CapabilitySet::SETUID | CapabilitySet::SETGID);
        if may_change && reach != Reach::Start {
            become_nobody(!folders.is_empty() || reach == Reach::Connect)?;
        }
    }
    keep_only(kept & capabilities(None)?.permitted)?;
    paths::restrict_writes(&folders);
    match reach {
        Reach::Listen => system_calls::restrict_reader(),
        Reach::Connect | Reach::Start => system_calls::restrict_run(),
    };
    Ok(())
}

/// Returns the nearest folder of `folder` that exists, itself included.
fn nearest(folder: &Path) -> &Path {
    let existing = folder.ancestors().find(|path| path.is_dir());
    existing.unwrap_or(Path::new("."))
}

/// Drops every capability of this thread but `kept`, for the programs that it starts as well.
fn keep_only(kept: CapabilitySet) -> io::Result<()> {
    let _ = clear_ambient_capability_set();
    let none = CapabilitySet::empty();
    set_capabilities(None, CapabilitySets { effective: kept, permitted: kept, inheritable: none })?;
    Ok(set_no_new_privs(true)?)
}

fn capability_text(kept: CapabilitySet) -> String {
    let names = [
        (CapabilitySet::SYS_ADMIN, "CAP_SYS_ADMIN"),
        (CapabilitySet::IPC_LOCK, "CAP_IPC_LOCK"),
        (CapabilitySet::DAC_OVERRIDE, "CAP_DAC_OVERRIDE"),
    ];
    let kept: Vec<_> =
        names.iter().filter(|(one, _)| kept.contains(*one)).map(|(_, name)| *name).collect();
    match kept.is_empty() {
        true => "without capabilities".to_owned(),
        false => format!("with {} only", kept.join(" and ")),
    }
}

/// Returns whether unprivileged processes get no ring (values 1 and 2 of the setting).
fn io_uring_is_for_root() -> bool {
    fs::read_to_string("/proc/sys/kernel/io_uring_disabled").is_ok_and(|text| text.trim() != "0")
}

/// Drops every capability from the bounding set, so that no program started later can gain one.
fn drop_bounding_set() {
    for capability in CapabilitySet::all().iter() {
        // Fails for capabilities that are newer than the kernel, which then do not exist.
        let _ = remove_capability_from_bounding_set(capability);
    }
}

fn folder_of(results: &Path) -> PathBuf {
    let folder = results.parent().filter(|folder| !folder.as_os_str().is_empty());
    let folder = folder.unwrap_or(Path::new("."));
    folder.canonicalize().unwrap_or_else(|_| folder.to_owned())
}

/// Returns the user and group that this process becomes: those of the run file, of its folder, or
/// of the caller of sudo, provided that they can write there. `None` where that is root, or where
/// no other user can write there.
fn owner(results: &Path, folder: &Path) -> Option<(u32, u32)> {
    let number = |name: &str| std::env::var(name).ok()?.parse::<u32>().ok();
    let results = fs::metadata(results).or_else(|_| fs::metadata(folder)).ok()?;
    let caller = number("SUDO_UID").zip(number("SUDO_GID"));
    let (user, group) = match (results.uid(), caller) {
        // A folder such as /tmp: it belongs to root, and every user can write there.
        (0, Some(caller)) if results.is_dir() && results.mode() & 0o002 != 0 => caller,
        (user, _) => (user, results.gid()),
    };
    // SQLite creates and removes its journal next to the run file, so the folder has to be writable
    // (bit 2), and each folder above it searchable (bit 1).
    let may = |path: &Path, bit: u32| {
        fs::metadata(path).is_ok_and(|facts| {
            let mode = facts.mode();
            (facts.uid() == user && mode & bit << 6 != 0)
                || (facts.gid() == group && mode & bit << 3 != 0)
                || mode & bit != 0
        })
    };
    let fits = may(folder, 0o2) && folder.ancestors().all(|above| may(above, 0o1));
    (user != 0 && fits).then_some((user, group))
}

/// Returns whether a user other than root owns the run file or its folder.
fn belongs_to_others(results: &Path, folder: &Path) -> bool {
    [results, folder].iter().any(|path| fs::metadata(path).is_ok_and(|facts| facts.uid() != 0))
}
