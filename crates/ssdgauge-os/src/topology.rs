//! Block-device topology: partitions, holders, slaves, loop devices, and the file systems between
//! them. It only reads sysfs and procfs, below roots that tests replace.

use crate::mounts::unescape;
use crate::sysfs::attribute;
use crate::sysfs::name_of;
use crate::thread::side_by_side;
use rustix::fs::{major, minor};
use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// The maximum number of devices in one traversal, so that it ends even if sysfs changes meanwhile.
const MAX_DEVICES: usize = 4_096;

/// A snapshot of mounts and loop devices, and the roots under which devices are looked up.
#[derive(Clone, Debug)]
pub struct Kernel {
    /// The root of sysfs.
    pub sys: PathBuf,
    /// The root of procfs.
    pub proc: PathBuf,
    /// The mounts of every mount namespace that this process can see.
    pub mounts: Vec<Mount>,
    /// The attached loop devices.
    pub loops: Vec<LoopDevice>,
}

/// One line of a mount table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mount {
    /// `MAJOR:MINOR` of the file system; btrfs and others report an anonymous number that belongs
    /// to no device.
    pub number: String,
    /// The mounted source, as named in the mount table.
    pub source: String,
    /// The mount point.
    pub point: String,
    /// The folders of the block devices that the number and the source refer to.
    devices: Vec<PathBuf>,
}

/// An attached loop device and its backing file or device.
#[derive(Clone, Debug)]
pub struct LoopDevice {
    /// Its folder in sysfs.
    pub folder: PathBuf,
    /// The path of the backing file or device, as reported by the kernel.
    pub backing: String,
    /// `MAJOR:MINOR` of the backing device, or of the file system of the backing file.
    pub on: Option<String>,
    /// The device number of the file system and the inode of the backing file.
    pub file: Option<(u64, u64)>,
    /// Whether a device backs it, not a file.
    pub is_over_device: bool,
    /// Whether neither the device nor the file system of its file answered in time. `on` then
    /// follows from the path alone, and `file` is unknown.
    pub is_silent: bool,
}

/// The time in which a loop device has to report what backs it: the attributes of the file, from
/// memory or by one request to a server. Chosen.
const LOOP_LIMIT: Duration = Duration::from_secs(1);

impl Kernel {
    /// Reads the tables of this machine.
    pub fn look() -> Kernel {
        Kernel::below(Path::new("/sys"), Path::new("/proc"))
    }

    /// Reads the tables below the given roots of sysfs and procfs.
    pub fn below(sys: &Path, proc: &Path) -> Kernel {
        let mut mounts = mounts(proc);
        let loops = loops(sys, &mounts);
        let (sys, proc) = (sys.to_owned(), proc.to_owned());
        let devices = Kernel { sys, proc, mounts: Vec::new(), loops };
        for mount in &mut mounts {
            mount.devices.extend(devices.folder_of_number(&mount.number));
            mount.devices.extend(devices.folder_of_source(&mount.source));
        }
        Kernel { mounts, ..devices }
    }

    /// Returns the folder of the block device `MAJOR:MINOR`, if there is one.
    pub fn folder_of_number(&self, number: &str) -> Option<PathBuf> {
        fs::canonicalize(self.sys.join("dev/block").join(number)).ok()
    }

    /// Returns the folder of the block device that a mount source refers to.
    fn folder_of_source(&self, source: &str) -> Option<PathBuf> {
        let path = source.strip_prefix("/dev/").map(|_| Path::new(source))?;
        let real = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
        // By name below the given root first; by device number for links such as /dev/mapper.
        let by_name = |path: &Path| {
            fs::canonicalize(self.sys.join("class/block").join(path.file_name()?)).ok()
        };
        by_name(&real).or_else(|| {
            let number = fs::metadata(&real).ok()?.rdev();
            self.folder_of_number(&format!("{}:{}", major(number), minor(number)))
        })
    }

    /// Returns the folder of the block device that holds the file system with device number `dev`.
    pub fn folder_of_file_system(&self, dev: u64) -> Option<PathBuf> {
        let number = format!("{}:{}", major(dev), minor(dev));
        self.folder_of_number(&number).or_else(|| {
            let mut mounts = self.mounts.iter().filter(|mount| mount.number == number);
            mounts.find_map(|mount| self.folder_of_source(&mount.source))
        })
    }

    /// Returns whether `mount` is a mount of the device whose folder is `folder`.
    pub fn is_mount_of(&self, mount: &Mount, folder: &Path) -> bool {
        mount.devices.iter().any(|device| device == folder)
    }

    /// Returns the device `disk` and every device that uses it: its partitions, their holders, loop
    /// devices over them or over files on them, and the users of those in turn.
    pub fn upward(&self, disk: &Path) -> Vec<PathBuf> {
        closure(disk, |folder| {
            let mut above = parts(folder);
            above.extend(linked(&folder.join("holders")));
            // A loop device is backed by the device itself, or by a file of a file system on it.
            let own = attribute(&folder.join("dev"));
            let mounted = self.mounts.iter().filter(|mount| self.is_mount_of(mount, folder));
            // A file on btrfs has an anonymous number, which only the mount connects with the device.
            let numbers: BTreeSet<String> =
                mounted.map(|mount| mount.number.clone()).chain(own).collect();
            let on_it =
                |over: &&LoopDevice| over.on.as_ref().is_some_and(|on| numbers.contains(on));
            above.extend(self.loops.iter().filter(on_it).map(|over| over.folder.clone()));
            above
        })
    }

    /// Returns the device `folder` and the devices to which its requests are passed on, down to
    /// whole drives, but not through the files of a file system.
    pub fn stands_on(&self, folder: &Path) -> Vec<PathBuf> {
        closure(folder, |folder| {
            let mut below = parents(folder);
            let over = self.loops.iter().find(|over| over.folder == *folder && over.is_over_device);
            let on = over.and_then(|over| over.on.as_deref());
            below.extend(on.and_then(|on| self.folder_of_number(on)));
            below
        })
    }

    /// Returns the device `disk`, the devices to which its requests are passed on, and every device
    /// that uses any of them: all of them must be idle when `disk` is written.
    pub fn family(&self, disk: &Path) -> Vec<PathBuf> {
        let mut family = Vec::new();
        for below in self.stands_on(disk) {
            family.extend(self.upward(&below));
        }
        let mut seen = BTreeSet::new();
        family.retain(|folder| seen.insert(folder.clone()));
        family
    }

    /// Returns whether the files `a` and `b`, or the block devices that they are the nodes of, lie on
    /// different drives; false where the drive of one of them is not known. A file in memory is on no drive.
    pub fn are_on_different_drives(&self, a: &Path, b: &Path) -> bool {
        if is_in_memory(a) != is_in_memory(b) {
            return true;
        }
        let below = |path: &Path| -> Option<Vec<PathBuf>> {
            let found = fs::metadata(path).ok()?;
            let folder = match found.file_type().is_block_device() {
                true => {
                    let number = found.rdev();
                    self.folder_of_number(&format!("{}:{}", major(number), minor(number)))
                }
                false => self.folder_of_file_system(found.dev()),
            };
            Some(self.downward(&folder?))
        };
        let both = below(a).zip(below(b));
        both.is_some_and(|(a, b)| !a.iter().any(|device| b.contains(device)))
    }

    /// Returns the device `folder` and every device below it, down to whole drives, also through
    /// the files that back loop devices.
    pub fn downward(&self, folder: &Path) -> Vec<PathBuf> {
        closure(folder, |folder| {
            let mut below = parents(folder);
            let over = self.loops.iter().find(|over| over.folder == *folder);
            below.extend(over.and_then(|over| over.on.as_deref()).and_then(|on| {
                self.folder_of_number(on).or_else(|| {
                    let mount = self.mounts.iter().find(|mount| mount.number == on)?;
                    self.folder_of_source(&mount.source)
                })
            }));
            below
        })
    }
}

/// Returns whether the file or folder `path` is on a file system that the kernel keeps in memory (`TMPFS_MAGIC` and
/// `RAMFS_MAGIC` of statfs(2)).
fn is_in_memory(path: &Path) -> bool {
    const IN_MEMORY: [u64; 2] = [0x0102_1994, 0x8584_58f6];
    let is_node = fs::metadata(path).is_ok_and(|found| found.file_type().is_block_device());
    !is_node
        && rustix::fs::statfs(path).is_ok_and(|found| IN_MEMORY.contains(&(found.f_type as u64)))
}

/// Returns `start` and every folder reachable through `next`, each once.
fn closure(start: &Path, next: impl Fn(&Path) -> Vec<PathBuf>) -> Vec<PathBuf> {
    let mut seen = vec![start.to_owned()];
    let mut at = 0;
    while at < seen.len() && seen.len() < MAX_DEVICES {
        for folder in next(&seen[at]) {
            if !seen.contains(&folder) {
                seen.push(folder);
            }
        }
        at += 1;
    }
    seen
}

/// Returns the devices of which the device `folder` is a partition or a mapping.
fn parents(folder: &Path) -> Vec<PathBuf> {
    let mut below = linked(&folder.join("slaves"));
    if folder.join("partition").exists() {
        below.extend(folder.parent().map(Path::to_owned));
    }
    below
}

/// Returns the partitions of the device whose folder is `folder`.
pub fn parts(folder: &Path) -> Vec<PathBuf> {
    let inside = fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
    inside.filter(|path| path.join("partition").exists()).collect()
}

/// Returns the targets of the links in `folder`.
fn linked(folder: &Path) -> Vec<PathBuf> {
    let links = fs::read_dir(folder).into_iter().flatten().flatten();
    links.filter_map(|link| fs::canonicalize(link.path()).ok()).collect()
}

/// Returns the mounts of every mount namespace that a visible process is in.
fn mounts(proc: &Path) -> Vec<Mount> {
    let mut views = BTreeSet::new();
    let mut mounts = Vec::new();
    // First the own one: most processes share it, and are skipped then.
    for process in std::iter::once(proc.join("self")).chain(processes(proc)) {
        let link = |name: &str| fs::read_link(process.join(name)).ok();
        // A process under chroot sees other mount points of the same namespace.
        let view = (link("ns/mnt"), link("root"));
        // Where the links may not be read, the process can be in a namespace of its own: its table is read.
        if view.0.is_some() && !views.insert(view) {
            continue;
        }
        let Ok(table) = fs::read(process.join("mountinfo")) else { continue };
        for mount in String::from_utf8_lossy(&table).lines().filter_map(parse_mount) {
            if !mounts.contains(&mount) {
                mounts.push(mount);
            }
        }
    }
    mounts
}

/// Parses a line of mountinfo (proc(5)): device number, mount point, and the source after ` - `.
fn parse_mount(line: &str) -> Option<Mount> {
    let mut words = line.split(' ');
    let (number, point) = (words.nth(2)?, words.nth(1)?);
    let source = line.split_once(" - ")?.1.split(' ').nth(1)?;
    let (source, point) = (unescape(source), unescape(point));
    Some(Mount { number: number.into(), source, point, devices: Vec::new() })
}

/// Returns the folders of all processes.
pub fn processes(proc: &Path) -> impl Iterator<Item = PathBuf> {
    let all = fs::read_dir(proc).into_iter().flatten().flatten();
    all.filter(|entry| entry.file_name().as_encoded_bytes().iter().all(u8::is_ascii_digit))
        .map(|entry| entry.path())
}

/// Returns the attached loop devices. Each is queried on a thread of its own: one over a file system
/// that does not respond would block the query.
fn loops(sys: &Path, mounts: &[Mount]) -> Vec<LoopDevice> {
    let all = fs::read_dir(sys.join("block")).into_iter().flatten().flatten();
    let attached: Vec<(PathBuf, String)> = all
        .filter_map(|entry| {
            let folder = fs::canonicalize(entry.path()).ok()?;
            let backing = attribute(&folder.join("loop/backing_file"))?;
            Some((folder, backing))
        })
        .collect();
    // The nodes in /dev are of this machine, and not of the tree of a test.
    let is_this_machine = sys == Path::new("/sys");
    let queries = attached.iter().map(|(folder, backing)| {
        let node = is_this_machine.then(|| Path::new("/dev").join(name_of(folder)));
        (node, backing.clone())
    });
    let reported = side_by_side(LOOP_LIMIT, queries.collect(), |(node, backing)| {
        // The kernel reports the file itself; its path may be of another mount namespace.
        let found = node.and_then(|node| crate::block_device::loop_backing(&node));
        found.or_else(|| {
            let metadata = fs::metadata(backing).ok()?;
            Some([metadata.dev(), metadata.ino(), metadata.rdev()])
        })
    });
    let attached = attached.into_iter().zip(reported);
    attached
        .map(|((folder, backing), reported)| match reported {
            Some(found) => answered(folder, backing, found),
            None => silent(folder, backing, mounts),
        })
        .collect()
}

/// Returns the loop device for which the kernel reported `found`: the number of the file system of
/// its file, the inode of the file, and the number of the backing device or 0.
fn answered(folder: PathBuf, backing: String, found: Option<[u64; 3]>) -> LoopDevice {
    let number = |dev: u64| format!("{}:{}", major(dev), minor(dev));
    LoopDevice {
        folder,
        backing,
        on: found.map(|[dev, _, rdev]| number(if rdev != 0 { rdev } else { dev })),
        file: found.map(|[dev, inode, _]| (dev, inode)),
        is_over_device: found.is_some_and(|[_, _, rdev]| rdev != 0),
        is_silent: false,
    }
}

/// Returns a loop device that does not answer, by the path that the kernel has for its file. A path
/// in /dev is that of a device, whose node answers always; any other one lies on the innermost file
/// system that is mounted above it.
fn silent(folder: PathBuf, backing: String, mounts: &[Mount]) -> LoopDevice {
    let path = Path::new(&backing);
    let node = path.starts_with("/dev") && !path.starts_with("/dev/shm");
    let device = node.then(|| fs::metadata(path).ok().map(|facts| facts.rdev())).flatten();
    let device = device.filter(|number| *number != 0);
    let above = mounts.iter().filter(|mount| path.starts_with(&mount.point));
    let innermost = above.max_by_key(|mount| mount.point.len()).map(|mount| mount.number.clone());
    LoopDevice {
        folder,
        backing,
        on: device.map(|dev| format!("{}:{}", major(dev), minor(dev))).or(innermost),
        file: None,
        is_over_device: device.is_some(),
        is_silent: true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_silent_loop_device_lies_on_the_innermost_mount_above_its_path() {
        let mount = |number: &str, point: &str| Mount {
            number: number.into(),
            source: "none".into(),
            point: point.into(),
            devices: Vec::new(),
        };
        let mounts = [mount("8:1", "/"), mount("0:50", "/a/b"), mount("0:51", "/a/bc")];
        let of = |backing: &str| silent("/sys/block/loop0".into(), backing.into(), &mounts);
        assert_eq!(of("/a/b/image").on.as_deref(), Some("0:50"));
        assert_eq!(of("/a/image").on.as_deref(), Some("8:1"));
        assert!(of("/a/image").is_silent && !of("/a/image").is_over_device);
        let over = of("/dev/null");
        assert_eq!((over.on.as_deref(), over.is_over_device), (Some("1:3"), true));
    }

    #[test]
    fn files_of_one_file_system_and_of_an_unknown_drive_are_not_on_different_drives() {
        let kernel = Kernel::look();
        let here = std::env::current_exe().unwrap();
        assert!(!kernel.are_on_different_drives(&here, here.parent().unwrap()));
        assert!(!kernel.are_on_different_drives(&here, Path::new("/proc/version")));
        assert!(!kernel.are_on_different_drives(&here, Path::new("/no/such/file")));
        let memory = fs::read_to_string("/proc/self/mounts").unwrap();
        let memory = memory.lines().filter(|line| line.split(' ').nth(2) == Some("tmpfs"));
        for point in memory.filter_map(|line| line.split(' ').nth(1)) {
            assert!(kernel.are_on_different_drives(&here, Path::new(point)), "{point}");
            assert!(!kernel.are_on_different_drives(Path::new(point), Path::new(point)), "{point}");
        }
    }
}
