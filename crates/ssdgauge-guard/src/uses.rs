//! Uses of a drive: of the drive itself, of its partitions, and of every device above or below it.
//!
//! This module only reads. The kernel refuses O_EXCL for claimed devices, but not for a mount in
//! another namespace that is held by a mapping, a loop device over the same file, a second path, or
//! a program that writes to the open device: those are found here. What this process may not see is
//! reported as well: an unknown use is not the absence of a use.

mod exports;
mod open_files;
mod viewpoint;

use crate::text::printable;
use open_files::Wanted;
use serde::{Deserialize, Serialize};
use ssdgauge_os::mounts::unescape;
use ssdgauge_os::sysfs::attribute;
use ssdgauge_os::sysfs::{name_of, siblings, wwid};
use ssdgauge_os::topology::{Kernel, LoopDevice, Mount};
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// The processes that count as users when they have the drive open.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) enum Openers {
    /// Every process: before a drive is admitted.
    All,
    /// Processes that could write: during a run, a reader (udev, smartctl) disturbs the results but
    /// not the data.
    Writers,
    /// The processes that could write, as the privileged helper has listed them.
    Listed(Vec<String>),
}

/// The mount points of the system: a drive that carries one of them is never tested.
const SYSTEM: [(&str, &str); 5] = [
    // A drive with any other mount is in use, and free once that is unmounted.
    ("/", "the root file system"),
    ("/boot", "/boot"),
    ("/boot/efi", "/boot/efi"),
    ("/efi", "/efi"),
    ("/usr", "/usr"),
];

/// Returns what of the system, the results or this program lies on `disk`. No option overrides
/// this: the machine, or the run that writes, would lose its own files.
fn protected(kernel: &Kernel, disk: &Path, results: Option<&Path>) -> Option<String> {
    let program = std::env::current_exe().ok();
    let system = SYSTEM.map(|(path, title)| (PathBuf::from(path), title.to_owned()));
    let results = results.map(|path| {
        // A new run file does not exist yet: its folder is on the same file system.
        let folder = if path.exists() { Some(path) } else { path.parent() };
        let folder = folder.filter(|folder| !folder.as_os_str().is_empty());
        (folder.unwrap_or(Path::new(".")).to_owned(), "the results of this run".to_owned())
    });
    let program = program.map(|path| (path, "this program".to_owned()));
    let own = kernel.stands_on(disk);
    system.into_iter().chain(results).chain(program).find_map(|(path, title)| {
        let folder = kernel.folder_of_file_system(fs::metadata(path).ok()?.dev())?;
        // Downward from the file system, because encryption, LVM, arrays and loop devices lie between it and
        // the drive.
        kernel.downward(&folder).iter().any(|below| own.contains(below)).then_some(title)
    })
}

/// Returns the loop device through which `disk` is only another name of a whole drive, if any. Uses
/// of that drive by its own name are invisible to O_EXCL on the loop device.
fn loop_over_device(kernel: &Kernel, disk: &Path) -> Option<String> {
    let own = kernel.stands_on(disk);
    let over =
        kernel.loops.iter().find(|over| over.is_over_device && own.contains(&over.folder))?;
    let backing = printable(over.backing.as_bytes());
    Some(format!("{} is a loop device over {backing}", name_of(&over.folder)))
}

/// What is known about the uses of a drive.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Uses {
    /// What of the system, the results or this program lies on the drive.
    pub(crate) protected: Option<String>,
    /// The loop device through which it is only another name of a whole drive.
    pub(crate) loop_over_device: Option<String>,
    /// The uses, one line each. The first is the most specific: a mount point says more than an open
    /// file.
    pub(crate) found: Vec<String>,
    /// What this process cannot see, one line each: a use may be hidden there.
    pub(crate) unseen: Vec<String>,
}

/// Returns the uses of the drive whose folder is `disk`, and of the devices above and below it.
/// `results` is the run file; the process `excluded`, which asks, is not a use.
pub(crate) fn find(
    kernel: &Kernel,
    disk: &Path,
    results: Option<&Path>,
    openers: &Openers,
    excluded: u32,
) -> Uses {
    // `own`: the drive and what it consists of. `family`: own, and everything above any of it.
    let (own, family) = (kernel.stands_on(disk), kernel.family(disk));
    let mut found = Vec::new();
    // Two loops, because the first line is the one that is shown: a mount point says more than a holder.
    for folder in &family {
        found.extend(file_system_uses(kernel, folder));
    }
    for folder in &family {
        found.extend(holders(folder, &own));
    }
    found.extend(loop_devices(kernel, &own, &family));
    found.extend(swap_file(kernel, &own));
    found.extend(own.iter().find_map(|below| second_path(below, &own)));
    let wanted = Wanted::new(kernel, disk);
    let (exported, mut unseen) = exports::find(&kernel.sys, |path| wanted.is_at(path));
    found.extend(exported);
    match openers {
        Openers::All => {
            let open = open_files::find(kernel, &wanted, &[excluded]);
            found.extend(open.holders);
            unseen.extend(unreadable(&open.unreadable));
            unseen.extend(viewpoint::hidden(&kernel.proc));
        }
        Openers::Writers => found.extend(writers(kernel, disk, &[excluded])),
        Openers::Listed(writers) => found.extend(writers.iter().cloned()),
    }
    unseen.extend(silent_loops(kernel, &own));
    Uses {
        protected: protected(kernel, disk, results),
        loop_over_device: loop_over_device(kernel, disk),
        found,
        unseen,
    }
}

/// Returns a line about the processes whose open files cannot be listed, if there are any.
fn unreadable(processes: &[String]) -> Option<String> {
    let example = processes.first()?;
    Some(match processes.len() {
        1 => format!("the open files of {example}"),
        count => format!("the open files of {count} processes, such as {example}"),
    })
}

/// Returns the processes that have `disk`, a device above it, or the file behind it open for
/// writing. The calling process and the processes `excluded` are left out.
pub(crate) fn writers(kernel: &Kernel, disk: &Path, excluded: &[u32]) -> Vec<String> {
    open_files::find(kernel, &Wanted::new(kernel, disk).for_writing(), excluded).holders
}

/// Returns whether the device in `folder` is mounted, swap, or a member of a mounted btrfs.
fn file_system_uses(kernel: &Kernel, folder: &Path) -> Vec<String> {
    let name = name_of(folder);
    let is_of_this = |mount: &&Mount| kernel.is_mount_of(mount, folder);
    let mount = kernel.mounts.iter().find(is_of_this);
    let mounted =
        mount.map(|mount| format!("{name} is mounted at {}", printable(mount.point.as_bytes())));
    let swap = is_swap(kernel, &name).then(|| format!("{name} is used as swap"));
    let btrfs = in_mounted_btrfs(kernel, &name)
        .then(|| format!("{name} belongs to a btrfs file system that is mounted"));
    mounted.into_iter().chain(swap).chain(btrfs).collect()
}

/// Returns the devices that claim the one in `folder`. A mapping under test claims the drives that
/// it consists of: what is in `own` is not a foreign use.
fn holders(folder: &Path, own: &[PathBuf]) -> Vec<String> {
    let name = name_of(folder);
    let holders = fs::read_dir(folder.join("holders")).into_iter().flatten().flatten();
    holders
        .filter_map(|holder| fs::canonicalize(holder.path()).ok())
        .filter(|holder| !own.contains(holder))
        .map(|holder| format!("{name} is held by {}", holder_title(&holder)))
        .collect()
}

/// Returns the loop devices over the drive, and those over the file behind a loop device under
/// test.
fn loop_devices(kernel: &Kernel, own: &[PathBuf], family: &[PathBuf]) -> Vec<String> {
    let mut users = Vec::new();
    for other in kernel.loops.iter().filter(|other| !own.contains(&other.folder)) {
        let name = name_of(&other.folder);
        let backing = printable(other.backing.as_bytes());
        if family.contains(&other.folder) {
            users.push(format!("{name} is a loop device on it (backing file {backing})"));
        }
        let mut tested = kernel.loops.iter().filter(|tested| own.contains(&tested.folder));
        if tested.any(|tested| tested.file.is_some() && tested.file == other.file) {
            users.push(format!("{name} is a loop device on the same file ({backing})"));
        }
    }
    users
}

/// Returns a line about each loop device that does not answer, where the drive under test is one over
/// a file: both may be over the same file. For any other drive nothing is hidden there: the kernel
/// reports the path of a backing device, and a file system that carries a backing file claims its
/// drive.
fn silent_loops(kernel: &Kernel, own: &[PathBuf]) -> Vec<String> {
    let is_own = |other: &&LoopDevice| own.contains(&other.folder);
    if !kernel.loops.iter().filter(is_own).any(|tested| !tested.is_over_device) {
        return Vec::new();
    }
    let silent = kernel.loops.iter().filter(|other| other.is_silent && !is_own(other));
    silent.map(|other| format!("the file behind {}", name_of(&other.folder))).collect()
}

/// Returns another device with the same worldwide name that is not one of `own`: a second path to
/// the same drive, through which another program could write.
fn second_path(disk: &Path, own: &[PathBuf]) -> Option<String> {
    let name = wwid(disk)?;
    let mut others = siblings(disk).filter(|other| !own.contains(other));
    let other = others.find(|other| wwid(other).as_ref() == Some(&name))?;
    Some(format!("{} is a second path to the same drive ({name})", name_of(&other)))
}

fn holder_title(folder: &Path) -> String {
    let name = name_of(folder);
    let title = attribute(&folder.join("dm/name")).map(|title| printable(title.as_bytes()));
    let uuid = attribute(&folder.join("dm/uuid")).unwrap_or_default();
    let level = attribute(&folder.join("md/level"));
    // The program that made the mapping puts its name before the first hyphen.
    let kind = match uuid.split('-').next() {
        Some("LVM") => "LVM volume",
        Some("CRYPT") => "encrypted volume",
        Some("mpath") => "multipath device",
        Some(_) | None => "device-mapper",
    };
    match (title, level) {
        (Some(title), _) => format!("{name} ({kind} {title})"),
        (None, Some(level)) => format!("{name} (array, {level})"),
        (None, None) => name,
    }
}

fn is_swap(kernel: &Kernel, name: &str) -> bool {
    // /proc/swaps has paths and no device numbers; links such as /dev/mapper are resolved by `swaps`.
    let is_name = |used: &PathBuf| used.file_name().is_some_and(|used| used == name);
    swaps(kernel).iter().any(|used| used.starts_with("/dev") && is_name(used))
}

/// Returns a line about the swap file behind a loop device of `own`, if there is one. The kernel lets
/// the loop device be opened, and fails each write.
fn swap_file(kernel: &Kernel, own: &[PathBuf]) -> Option<String> {
    let tested = || kernel.loops.iter().filter(|tested| own.contains(&tested.folder));
    if tested().all(|tested| tested.file.is_none()) {
        return None;
    }
    swaps(kernel).iter().find_map(|used| {
        // By inode: the loop device reports no path that is valid in every mount namespace.
        let file = fs::metadata(used).ok().map(|file| (file.dev(), file.ino()))?;
        let over = tested().find(|tested| tested.file == Some(file))?;
        let path = printable(used.as_os_str().as_bytes());
        Some(format!("the file behind {} is used as swap ({path})", name_of(&over.folder)))
    })
}

/// Returns the devices and files that are used as swap.
fn swaps(kernel: &Kernel) -> Vec<PathBuf> {
    let table = fs::read_to_string(kernel.proc.join("swaps")).unwrap_or_default();
    let path = |line: &str| {
        let used = line.split_whitespace().next().map(unescape).unwrap_or_default();
        fs::canonicalize(&used).unwrap_or_else(|_| PathBuf::from(used))
    };
    table.lines().skip(1).map(path).collect()
}

/// The mount table names only one device of a btrfs with several; sysfs lists all of them.
fn in_mounted_btrfs(kernel: &Kernel, name: &str) -> bool {
    let systems = fs::read_dir(kernel.sys.join("fs/btrfs")).into_iter().flatten().flatten();
    systems.into_iter().any(|system| system.path().join("devices").join(name).exists())
}
