//! Block-device topology: partitions, holders, slaves, loop devices, and the file systems between
//! them. It only reads sysfs and procfs, below roots that tests replace.

use crate::mounts::unescape;
use crate::sysfs::attribute;
use crate::sysfs::name_of;
use rustix::fs::{major, minor};
use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

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
}

impl Kernel {
    /// Reads the tables of this machine.
    pub fn look() -> Kernel {
        Kernel::below(Path::new("/sys"), Path::new("/proc"))
    }

    /// Reads the tables below the given roots of sysfs and procfs.
    pub fn below(sys: &Path, proc: &Path) -> Kernel {
        let mut kernel = Kernel {
            sys: sys.to_owned(),
            proc: proc.to_owned(),
            mounts: mounts(proc),
            loops: Vec::new(),
        };
        kernel.loops = loops(sys);
        kernel
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
        attribute(&folder.join("dev")).as_deref() == Some(&mount.number)
            || self.folder_of_source(&mount.source).as_deref() == Some(folder)
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
    for process in std::iter::once(proc.join("self")).chain(processes(proc)) {
        let link = |name: &str| fs::read_link(process.join(name)).ok();
        // A process under chroot sees other mount points of the same namespace.
        let view = (link("ns/mnt"), link("root"));
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
    Some(Mount { number: number.into(), source: unescape(source), point: unescape(point) })
}

/// Returns the folders of all processes.
pub fn processes(proc: &Path) -> impl Iterator<Item = PathBuf> {
    let all = fs::read_dir(proc).into_iter().flatten().flatten();
    all.filter(|entry| entry.file_name().as_encoded_bytes().iter().all(u8::is_ascii_digit))
        .map(|entry| entry.path())
}

/// Returns the attached loop devices.
fn loops(sys: &Path) -> Vec<LoopDevice> {
    let all = fs::read_dir(sys.join("block")).into_iter().flatten().flatten();
    all.filter_map(|entry| {
        let folder = fs::canonicalize(entry.path()).ok()?;
        let backing = attribute(&folder.join("loop/backing_file"))?;
        let number = |dev: u64| format!("{}:{}", major(dev), minor(dev));
        // The kernel reports the file itself; its path may be of another mount namespace.
        let reported = match sys == Path::new("/sys") {
            true => crate::block_device::loop_backing(&Path::new("/dev").join(name_of(&folder))),
            false => None,
        };
        let found = match (reported, fs::metadata(&backing)) {
            (Some(found), _) => Some(found),
            (None, Ok(metadata)) => Some([metadata.dev(), metadata.ino(), metadata.rdev()]),
            (None, Err(_)) => None,
        };
        Some(LoopDevice {
            folder,
            backing,
            on: found.map(|[dev, _, rdev]| number(if rdev != 0 { rdev } else { dev })),
            file: found.map(|[dev, inode, _]| (dev, inode)),
            is_over_device: found.is_some_and(|[_, _, rdev]| rdev != 0),
        })
    })
    .collect()
}
