//! Who uses a drive, or a part of it, or anything that stands on it. It only reads.

use crate::text::printable;
use rustix::fs::{AtFlags, CWD, StatxFlags, makedev, statx};
use ssdgauge_drive::helper::HelperClient;
use ssdgauge_os::mounts::unescape;
use ssdgauge_os::sysfs::attribute;
use ssdgauge_os::sysfs::{name_of, siblings, wwid};
use ssdgauge_os::topology::{Kernel, Mount, processes};
use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// Which processes count as users of a drive that they hold open.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Openers<'a> {
    /// All of them: before a drive is admitted.
    All,
    /// Those that could write: during a run, a reader disturbs the numbers, not the data. The
    /// helper looks for them where this process has given up its privileges.
    Writers(Option<&'a HelperClient>),
}

/// The places of the system that no drive under test may carry.
const SYSTEM: [(&str, &str); 5] = [
    ("/", "the root file system"),
    ("/boot", "/boot"),
    ("/boot/efi", "/boot/efi"),
    ("/efi", "/efi"),
    ("/usr", "/usr"),
];

/// Returns what of the system, of the results or of the program lies on `disk`: no consent opens
/// such a drive.
pub(crate) fn protected(kernel: &Kernel, disk: &Path, results: Option<&Path>) -> Option<String> {
    let program = std::env::current_exe().ok();
    let system = SYSTEM.map(|(path, words)| (PathBuf::from(path), words.to_owned()));
    let results = results.map(|path| {
        let folder = if path.exists() { Some(path) } else { path.parent() };
        let folder = folder.filter(|folder| !folder.as_os_str().is_empty());
        (folder.unwrap_or(Path::new(".")).to_owned(), "the results of this run".to_owned())
    });
    let program = program.map(|path| (path, "this program".to_owned()));
    let written = kernel.stands_on(disk);
    system.into_iter().chain(results).chain(program).find_map(|(path, words)| {
        let folder = kernel.folder_of_file_system(fs::metadata(path).ok()?.dev())?;
        kernel.downward(&folder).iter().any(|below| written.contains(below)).then_some(words)
    })
}

/// Returns which drive lies whole below `disk`, in words, where `disk` is only another name for it:
/// what holds a drive by its own name is not refused by the kernel there.
pub(crate) fn second_name(kernel: &Kernel, disk: &Path) -> Option<String> {
    let written = kernel.stands_on(disk);
    let over =
        kernel.loops.iter().find(|over| over.is_over_device && written.contains(&over.folder))?;
    let backing = printable(over.backing.as_bytes());
    Some(format!("{} is a loop device over {backing}", name_of(&over.folder)))
}

/// Returns who uses the drive whose folder is `disk`, or what lies below it, in words, the most
/// telling first.
pub(crate) fn users(kernel: &Kernel, disk: &Path, openers: &Openers<'_>) -> Vec<String> {
    let (written, family) = (kernel.stands_on(disk), kernel.family(disk));
    let mut users = Vec::new();
    for folder in &family {
        let name = name_of(folder);
        let on = |mount: &&Mount| kernel.is_mount_of(mount, folder);
        users.extend(
            kernel
                .mounts
                .iter()
                .find(on)
                .map(|mount| format!("{name} is mounted at {}", printable(mount.point.as_bytes()))),
        );
        users.extend(is_swap(kernel, &name).then(|| format!("{name} is used as swap")));
        users.extend(
            in_mounted_btrfs(kernel, &name)
                .then(|| format!("{name} belongs to a btrfs file system that is mounted")),
        );
    }
    for folder in &family {
        let name = name_of(folder);
        let holders = fs::read_dir(folder.join("holders")).into_iter().flatten().flatten();
        users.extend(holders.filter_map(|holder| {
            let holder = fs::canonicalize(holder.path()).ok()?;
            // What the drive itself is made of is held by the drive itself.
            let is_other = !written.contains(&holder);
            is_other.then(|| format!("{name} is held by {}", holder_in_words(&holder)))
        }));
    }
    for over in kernel.loops.iter().filter(|over| !written.contains(&over.folder)) {
        let name = name_of(&over.folder);
        let backing = printable(over.backing.as_bytes());
        if family.contains(&over.folder) {
            users.push(format!("{name} stands on it (backing file {backing})"));
        }
        let mut own = kernel.loops.iter().filter(|own| written.contains(&own.folder));
        if own.any(|own| own.file.is_some() && own.file == over.file) {
            users.push(format!("{name} stands on the same file ({backing})"));
        }
    }
    users.extend(written.iter().find_map(|below| second_path(below, &written)));
    users.extend(match openers {
        Openers::All => open_in(kernel, disk, false, std::process::id()),
        Openers::Writers(None) => writers_in(kernel, disk, std::process::id()),
        // Where the helper cannot look, it is unknown whether the drive is ours alone.
        Openers::Writers(Some(helper)) => helper
            .writers()
            .unwrap_or_else(|error| vec![format!("its open files cannot be listed ({error})")]),
    });
    users
}

/// Returns another device with the same worldwide name that is not `written`: a second path to the
/// same drive.
fn second_path(disk: &Path, written: &[PathBuf]) -> Option<String> {
    let own = wwid(disk)?;
    let mut others = siblings(disk).filter(|other| !written.contains(other));
    let other = others.find(|other| wwid(other).as_ref() == Some(&own))?;
    // A device-mapper device carries no worldwide name of its own here.
    Some(format!("{} is a second path to the same drive ({own})", name_of(&other)))
}

fn holder_in_words(folder: &Path) -> String {
    let name = name_of(folder);
    let title = attribute(&folder.join("dm/name")).map(|title| printable(title.as_bytes()));
    let uuid = attribute(&folder.join("dm/uuid")).unwrap_or_default();
    let level = attribute(&folder.join("md/level"));
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
    let table = fs::read_to_string(kernel.proc.join("swaps")).unwrap_or_default();
    table.lines().skip(1).any(|line| {
        let used = line.split_whitespace().next().map(unescape).unwrap_or_default();
        let used = fs::canonicalize(&used).unwrap_or_else(|_| PathBuf::from(used));
        used.starts_with("/dev") && used.file_name().is_some_and(|used| used == name)
    })
}

/// The kernel lists every device of a mounted btrfs, where the mount table names one of them.
fn in_mounted_btrfs(kernel: &Kernel, name: &str) -> bool {
    let systems = fs::read_dir(kernel.sys.join("fs/btrfs")).into_iter().flatten().flatten();
    systems.into_iter().any(|system| system.path().join("devices").join(name).exists())
}

/// How often a drive is looked at again before a process counts as its user: what udev looks at
/// after an attach is free again in a moment.
const LOOKS: u32 = 4;
const BETWEEN_LOOKS: std::time::Duration = std::time::Duration::from_millis(100);

/// Returns the processes that hold `disk`, something on it, or the file behind it open for writing;
/// `ours` and the calling process do not count.
pub(crate) fn writers_in(kernel: &Kernel, disk: &Path, ours: u32) -> Vec<String> {
    open_in(kernel, disk, true, ours)
}

/// Returns the processes that hold `disk`, something on it, or the file behind it open, or open for
/// writing where `writers_only`; `ours` and the calling process do not count.
fn open_in(kernel: &Kernel, disk: &Path, writers_only: bool, ours: u32) -> Vec<String> {
    let family = kernel.family(disk);
    let devices: BTreeSet<u64> = family.iter().filter_map(|folder| number_of(folder)).collect();
    let written = kernel.stands_on(disk);
    let own = kernel.loops.iter().filter(|over| written.contains(&over.folder));
    let files: Vec<(u64, u64)> = own.filter_map(|over| over.file).collect();
    let look = || open_files(kernel, &devices, &files, writers_only, ours);
    let mut found = look();
    for _ in 1..LOOKS {
        if found.is_empty() {
            break;
        }
        std::thread::sleep(BETWEEN_LOOKS);
        let again = look();
        found.retain(|user| again.contains(user));
    }
    found
}

fn open_files(
    kernel: &Kernel,
    devices: &BTreeSet<u64>,
    files: &[(u64, u64)],
    writers_only: bool,
    ours: u32,
) -> Vec<String> {
    let own = [std::process::id(), ours].map(|id| id.to_string());
    let mut users = Vec::new();
    for process in processes(&kernel.proc) {
        let id = name_of(&process);
        if own.contains(&id) || own.iter().any(|own| is_our_fork(&process, own)) {
            continue;
        }
        let open = fs::read_dir(process.join("fd")).into_iter().flatten().flatten();
        let holds = open.into_iter().any(|entry| {
            is_one_of(&entry.path(), devices, files)
                && (!writers_only || may_write(&process, &entry.file_name()))
        });
        if holds {
            let program = attribute(&process.join("comm")).unwrap_or_else(|| "a program".into());
            let program = printable(program.as_bytes());
            users.push(format!("it is open in {program} (process {id})"));
        }
    }
    users
}

/// Returns whether an open file is one of `devices` or of `files`, without asking a server that may
/// not answer.
fn is_one_of(path: &Path, devices: &BTreeSet<u64>, files: &[(u64, u64)]) -> bool {
    let wanted = StatxFlags::TYPE | StatxFlags::INO;
    let Ok(stat) = statx(CWD, path, AtFlags::STATX_DONT_SYNC, wanted) else { return false };
    const BLOCK: u32 = 0o060_000;
    let is_block = u32::from(stat.stx_mode) & 0o170_000 == BLOCK;
    let rdev = makedev(stat.stx_rdev_major, stat.stx_rdev_minor);
    let dev = makedev(stat.stx_dev_major, stat.stx_dev_minor);
    (is_block && devices.contains(&rdev)) || files.contains(&(dev, stat.stx_ino))
}

fn may_write(process: &Path, number: &std::ffi::OsStr) -> bool {
    let info = fs::read_to_string(process.join("fdinfo").join(number)).unwrap_or_default();
    let flags = info.lines().find_map(|line| line.strip_prefix("flags:"));
    let flags = flags.and_then(|flags| u32::from_str_radix(flags.trim(), 8).ok());
    // The lowest two bits are the access mode; 0 is reading alone. What is unknown counts.
    flags.is_none_or(|flags| flags & 3 != 0)
}

/// A child of ours between fork and exec has our descriptors for a moment, and our program.
fn is_our_fork(process: &Path, own: &str) -> bool {
    let status = fs::read_to_string(process.join("status")).unwrap_or_default();
    let parent = status.lines().find_map(|line| line.strip_prefix("PPid:"));
    let program = fs::read_link(process.join("exe")).ok();
    parent.is_some_and(|parent| parent.trim() == own)
        && program.is_some()
        && program == fs::read_link("/proc/self/exe").ok()
}

fn number_of(folder: &Path) -> Option<u64> {
    let text = attribute(&folder.join("dev"))?;
    let (major, minor) = text.split_once(':')?;
    Some(makedev(major.parse().ok()?, minor.parse().ok()?))
}
