//! Open files: the processes that hold a drive, or the file behind it, by a descriptor of any of
//! their threads, by a mapping, or by a file that is registered with io_uring.

use crate::text::printable;
use rustix::fs::{AtFlags, CWD, Statx, StatxFlags, makedev, statx};
use rustix::io::Errno;
use ssdgauge_os::process::share_open_files;
use ssdgauge_os::sysfs::{attribute, name_of};
use ssdgauge_os::topology::{Kernel, processes};
use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// How often the open files are listed before a process counts as a user, and the pause between.
/// udev opens a new device for a moment; without a repetition each attach would refuse the drive.
const SCANS: u32 = 4;
const BETWEEN_SCANS: std::time::Duration = std::time::Duration::from_millis(100);

/// The result of a search.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct OpenFiles {
    /// The processes that hold the drive, one line each.
    pub(super) holders: Vec<String>,
    /// The processes whose open files this process may not list.
    pub(super) unreadable: Vec<String>,
}

/// Returns the processes that hold a `wanted` file. The calling process and the processes `excluded`
/// are left out.
pub(super) fn find(kernel: &Kernel, wanted: &Wanted, excluded: &[u32]) -> OpenFiles {
    let mut found = scan(kernel, wanted, excluded);
    for _ in 1..SCANS {
        if found.holders.is_empty() {
            break;
        }
        std::thread::sleep(BETWEEN_SCANS);
        let again = scan(kernel, wanted, excluded);
        found.holders.retain(|holder| again.holders.contains(holder));
        found.unreadable.retain(|process| again.unreadable.contains(process));
    }
    found
}

fn scan(kernel: &Kernel, wanted: &Wanted, excluded: &[u32]) -> OpenFiles {
    let own = [&[std::process::id()], excluded].concat();
    let own: Vec<String> = own.iter().map(u32::to_string).collect();
    let mut found = OpenFiles::default();
    for process in processes(&kernel.proc) {
        let id = name_of(&process);
        if own.contains(&id) {
            continue;
        }
        let held = hold(&process, wanted);
        // Last, because it reads more files than the search itself.
        if held == Ok(None) || own.iter().any(|own| is_our_fork(&process, own)) {
            continue;
        }
        let program = attribute(&process.join("comm")).unwrap_or_else(|| "a program".into());
        let title = format!("{} (process {id})", printable(program.as_bytes()));
        match held {
            Ok(Some(hold)) => found.holders.push(format!("it is {} {title}", hold.verb())),
            Ok(None) => {}
            Err(Unreadable) => found.unreadable.push(title),
        }
    }
    found
}

/// The way in which a process holds a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Hold {
    Descriptor,
    Mapping,
    Registered,
}

impl Hold {
    fn verb(self) -> &'static str {
        match self {
            Hold::Descriptor => "open in",
            Hold::Mapping => "mapped into the memory of",
            Hold::Registered => "registered with io_uring by",
        }
    }
}

/// The kernel does not let this process see the open files of another one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Unreadable;

/// Returns how `process` holds a wanted file, if it does.
fn hold(process: &Path, wanted: &Wanted) -> Result<Option<Hold>, Unreadable> {
    for task in tables(process) {
        if let Some(hold) = descriptor(&task, wanted)? {
            return Ok(Some(hold));
        }
        // A mapping keeps the file after its descriptor was closed.
        if is_mapped(&task, wanted)? {
            return Ok(Some(Hold::Mapping));
        }
    }
    Ok(None)
}

/// Returns one thread of `process` for each of its tables of open files. Most processes have one,
/// but a thread can have its own (CLONE_FILES), and the leader may have exited.
fn tables(process: &Path) -> Vec<PathBuf> {
    let Ok(tasks) = fs::read_dir(process.join("task")) else { return vec![process.to_owned()] };
    let mut found: Vec<(u32, PathBuf)> = Vec::new();
    for task in tasks.flatten().map(|task| task.path()) {
        let Ok(id) = name_of(&task).parse() else { continue };
        // A dead leader has no table: it must not stand for the threads that live.
        // Where the kernel does not tell, each thread counts as one with a table of its own.
        let is_known = found.iter().any(|(other, _)| share_open_files(*other, id) == Some(true));
        if !is_known && has_files(&task) {
            found.push((id, task));
        }
    }
    found.into_iter().map(|(_, task)| task).collect()
}

/// The flag of a kernel thread in field 9 of /proc/PID/stat (PF_KTHREAD, include/linux/sched.h).
const KERNEL_THREAD: u32 = 0x0020_0000;

/// Returns whether a thread can have open files: it has not exited, and is not one of the kernel.
fn has_files(task: &Path) -> bool {
    // Unreadable is not the absence of files.
    let Ok(stat) = fs::read(task.join("stat")) else { return true };
    let stat = String::from_utf8_lossy(&stat);
    // The name in parentheses may itself contain parentheses.
    let Some((_, fields)) = stat.rsplit_once(") ") else { return true };
    let mut fields = fields.split(' ');
    let has_exited = fields.next().is_some_and(|state| matches!(state, "Z" | "X" | "x"));
    let flags: Option<u32> = fields.nth(5).and_then(|flags| flags.parse().ok());
    !has_exited && flags.is_none_or(|flags| flags & KERNEL_THREAD == 0)
}

fn descriptor(task: &Path, wanted: &Wanted) -> Result<Option<Hold>, Unreadable> {
    let open = match fs::read_dir(task.join("fd")) {
        Ok(open) => open,
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => return Err(Unreadable),
        // The process has ended.
        Err(_) => return Ok(None),
    };
    for entry in open.flatten() {
        let (path, number) = (entry.path(), entry.file_name());
        let info = || fs::read_to_string(task.join("fdinfo").join(&number)).unwrap_or_default();
        match look(&path)? {
            Some(stat) if wanted.is(&stat) => {
                let info = info();
                // A descriptor that can write is a use whoever has it.
                let is_harmless =
                    !may_write(&info) && (wanted.writers_only || is_killed(task) || is_look(task));
                if !is_harmless {
                    return Ok(Some(Hold::Descriptor));
                }
            }
            Some(stat)
                if may_be_ring(&stat) && is_ring(&path) && wanted.is_registered(task, &info()) =>
            {
                return Ok(Some(Hold::Registered));
            }
            Some(_) | None => {}
        }
    }
    Ok(None)
}

/// Returns whether the thread `task` was killed and cannot end, because its call to the kernel does
/// not return: it reaches no further instruction. A look at a drive that did not answer is left
/// behind like this.
fn is_killed(task: &Path) -> bool {
    // Bit 8 stands for signal 9. The kernel gives it to each thread of a process that is killed.
    let status = fs::read_to_string(task.join("status")).unwrap_or_default();
    let pending = status.lines().find_map(|line| line.strip_prefix("SigPnd:"));
    let pending = pending.and_then(|bits| u64::from_str_radix(bits.trim(), 16).ok());
    pending.is_some_and(|bits| bits & 1 << 8 != 0)
}

/// Returns whether the thread `task` belongs to a look at devices of another command of this program, or to the
/// search of its helper: the same executable, called for that. It reads for seconds at most. The command itself holds an
/// exclusive descriptor where it is a run.
fn is_look(task: &Path) -> bool {
    let file = |link: &Path| fs::metadata(link).ok().map(|file| (file.dev(), file.ino()));
    let exe = file(&task.join("exe"));
    if exe.is_none() || exe != file(Path::new("/proc/self/exe")) {
        return false;
    }
    let arguments = fs::read(task.join("cmdline")).unwrap_or_default();
    matches!(arguments.split(|byte| *byte == 0).nth(1), Some(b"look" | b"privileged-search"))
}

/// Returns the attributes of the file behind a link of procfs; `None` where it is closed meanwhile.
/// STATX_DONT_SYNC uses cached attributes: a file on a network server that does not respond would
/// block the search.
fn look(link: &Path) -> Result<Option<Statx>, Unreadable> {
    match statx(CWD, link, AtFlags::STATX_DONT_SYNC, StatxFlags::TYPE | StatxFlags::INO) {
        Ok(stat) => Ok(Some(stat)),
        // A file system in user space can deny its attributes even to root; then the link can be
        // read. Where that is denied as well, the process is.
        Err(Errno::ACCESS | Errno::PERM) => match fs::read_link(link) {
            Err(error) if error.kind() == io::ErrorKind::PermissionDenied => Err(Unreadable),
            Ok(_) | Err(_) => Ok(None),
        },
        Err(_) => Ok(None),
    }
}

fn kind(stat: &Statx) -> u32 {
    u32::from(stat.stx_mode) & libc::S_IFMT
}

/// Returns whether the file may be an io_uring: anonymous inodes are on a file system without a
/// device, and have the type of a regular file or none. It saves reading most links.
fn may_be_ring(stat: &Statx) -> bool {
    stat.stx_dev_major == 0 && matches!(kind(stat), 0 | libc::S_IFREG)
}

fn is_ring(link: &Path) -> bool {
    fs::read_link(link).is_ok_and(|target| target.as_os_str() == "anon_inode:[io_uring]")
}

/// Returns whether the descriptor whose fdinfo is `info` can write.
fn may_write(info: &str) -> bool {
    let flags = info.lines().find_map(|line| line.strip_prefix("flags:"));
    let flags = flags.and_then(|flags| u32::from_str_radix(flags.trim(), 8).ok());
    // The lowest two bits are the access mode; 0 is O_RDONLY. An unknown mode counts as writing.
    flags.is_none_or(|flags| flags & 3 != 0)
}

/// Returns whether the process of the thread `task` has a wanted file mapped.
fn is_mapped(task: &Path, wanted: &Wanted) -> Result<bool, Unreadable> {
    let maps = match fs::read(task.join("maps")) {
        Ok(maps) => maps,
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => return Err(Unreadable),
        Err(_) => return Ok(false),
    };
    let maps = String::from_utf8_lossy(&maps);
    Ok(maps.lines().filter_map(Mapping::parse).any(|mapping| wanted.is_mapping(task, &mapping)))
}

/// Returns whether the process of the thread `task` still has `mapping`, or hides its mappings.
fn still_has(task: &Path, mapping: &Mapping<'_>) -> bool {
    let Ok(maps) = fs::read(task.join("maps")) else { return true };
    let maps = String::from_utf8_lossy(&maps);
    maps.lines().filter_map(Mapping::parse).any(|other| other == *mapping)
}

/// A line of /proc/PID/maps (proc_pid_maps(5)) that belongs to a file.
#[derive(Debug, PartialEq, Eq)]
struct Mapping<'a> {
    /// The range, which is also the name of the link in `map_files`.
    range: &'a str,
    /// `rw-s`: read, write, execute, and shared or private.
    access: &'a str,
    inode: u64,
    path: &'a str,
}

impl Mapping<'_> {
    fn parse(line: &str) -> Option<Mapping<'_>> {
        let mut words = line.splitn(6, ' ');
        let (range, access, _, _) = (words.next()?, words.next()?, words.next()?, words.next()?);
        let inode = words.next()?.parse().ok().filter(|inode| *inode != 0)?;
        Some(Mapping { range, access, inode, path: words.next().unwrap_or_default().trim() })
    }

    fn is_shared(&self) -> bool {
        self.access.ends_with('s')
    }

    fn can_write(&self) -> bool {
        self.is_shared() && self.access.contains('w')
    }
}

/// The files that are searched for: a drive, every device above it, and the files behind it.
#[derive(Debug)]
pub(super) struct Wanted {
    /// Block devices, by number.
    devices: BTreeSet<u64>,
    /// Regular files, by file system and inode.
    files: Vec<(u64, u64)>,
    /// The last part of their paths: io_uring reports its registered files by path or name only.
    names: BTreeSet<String>,
    /// Whether only processes that could write count.
    writers_only: bool,
}

impl Wanted {
    /// Returns the files whose opening is a use of the drive whose folder is `disk`.
    pub(super) fn new(kernel: &Kernel, disk: &Path) -> Wanted {
        let (family, own) = (kernel.family(disk), kernel.stands_on(disk));
        let tested = || kernel.loops.iter().filter(|tested| own.contains(&tested.folder));
        let nodes = family.iter().map(|folder| name_of(folder));
        Wanted {
            devices: family.iter().filter_map(|folder| number_of(folder)).collect(),
            // A write to the file behind a loop device changes what the device returns.
            files: tested().filter_map(|tested| tested.file).collect(),
            names: nodes
                .chain(tested().map(|tested| name_of(Path::new(&tested.backing))))
                .collect(),
            writers_only: false,
        }
    }

    /// Limits the search to processes that could write.
    pub(super) fn for_writing(self) -> Wanted {
        Wanted { writers_only: true, ..self }
    }

    /// Returns whether `path` leads to one of the files.
    pub(super) fn is_at(&self, path: &Path) -> bool {
        matches!(look(path), Ok(Some(stat)) if self.is(&stat))
    }

    fn is(&self, stat: &Statx) -> bool {
        let rdev = makedev(stat.stx_rdev_major, stat.stx_rdev_minor);
        let dev = makedev(stat.stx_dev_major, stat.stx_dev_minor);
        (kind(stat) == libc::S_IFBLK && self.devices.contains(&rdev))
            || self.files.contains(&(dev, stat.stx_ino))
    }

    /// Returns whether `mapping` is one of a wanted file.
    fn is_mapping(&self, task: &Path, mapping: &Mapping<'_>) -> bool {
        if self.writers_only && !mapping.can_write() {
            return false;
        }
        let is_node = mapping.path.starts_with("/dev/");
        // Most mappings are private ones of programs and libraries: their links are not followed.
        let has_inode = self.files.iter().any(|(_, inode)| *inode == mapping.inode);
        if !(is_node || has_inode || mapping.is_shared()) {
            return false;
        }
        match look(&task.join("map_files").join(mapping.range)) {
            Ok(Some(stat)) => self.is(&stat),
            // The links need CAP_CHECKPOINT_RESTORE: without it, the node or the inode decides.
            Ok(None) | Err(Unreadable) => {
                let stat = statx(CWD, mapping.path, AtFlags::STATX_DONT_SYNC, StatxFlags::TYPE);
                // Inode numbers repeat across file systems, so a mapping that has gone since does not count.
                (has_inode && still_has(task, mapping))
                    || (is_node && stat.is_ok_and(|stat| self.is(&stat)))
            }
        }
    }

    /// Returns whether a wanted file is registered with the ring of `task` whose fdinfo is `info`.
    fn is_registered(&self, task: &Path, info: &str) -> bool {
        registered(info).map(Path::new).any(|file| {
            // A path counts in the mount namespace of the process.
            let inside = file.strip_prefix("/").map(|path| task.join("root").join(path));
            match inside.map(|path| look(&path)) {
                Ok(Ok(Some(stat))) => self.is(&stat),
                // Older kernels report only the name, and a file can be deleted.
                Ok(Ok(None) | Err(Unreadable)) | Err(_) => {
                    let name = file.file_name().unwrap_or_default().to_string_lossy();
                    self.names.contains(name.as_ref())
                }
            }
        })
    }
}

/// Returns the files that are registered with an io_uring, by the path or the name that its fdinfo
/// reports (`io_uring_show_fdinfo`): lines of a number and a name, after `UserFiles:`.
fn registered(info: &str) -> impl Iterator<Item = &str> {
    let files = info.lines().skip_while(|line| !line.starts_with("UserFiles:")).skip(1);
    files.map_while(|line| {
        let (number, name) = line.trim_start().split_once(':')?;
        number.parse::<u32>().ok().map(|_| name.trim())
    })
}

/// Returns whether `process` is a child of `own` that still runs the same program: between fork and
/// exec a child has copies of our descriptors, and is not another user.
fn is_our_fork(process: &Path, own: &str) -> bool {
    let status = fs::read_to_string(process.join("status")).unwrap_or_default();
    let parent = status.lines().find_map(|line| line.strip_prefix("PPid:"));
    // After exec its descriptors are those that were passed on purpose: it counts as any other process.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_look_is_recognised_by_its_executable_and_its_argument() {
        let task = tempfile::tempdir().unwrap();
        let is_look_of = |exe: &Path, arguments: &str| {
            let link = task.path().join("exe");
            let _ = fs::remove_file(&link);
            std::os::unix::fs::symlink(exe, link).unwrap();
            fs::write(task.path().join("cmdline"), arguments).unwrap();
            is_look(task.path())
        };
        let own = std::env::current_exe().unwrap();
        assert!(is_look_of(&own, "exe\0look\0"));
        assert!(is_look_of(&own, "exe\0privileged-search\x007:4\x0012\0"));
        assert!(!is_look_of(&own, "exe\0privileged-helper\x007:4\0"));
        assert!(!is_look_of(&own, "exe\0run\0look\0") && !is_look_of(&own, "exe\0"));
        assert!(!is_look_of(Path::new("/bin/sh"), "exe\0look\0"));
        assert!(!is_look_of(Path::new("/no/such/file"), "exe\0look\0"));
    }

    #[test]
    fn a_mapping_of_a_file_is_parsed_and_one_of_memory_is_left_out() {
        let line = "7f0a-7f0b rw-s 00001000 00:05 123                        /dev/loop0";
        let parsed = Mapping::parse(line).unwrap();
        assert_eq!((parsed.range, parsed.inode, parsed.path), ("7f0a-7f0b", 123, "/dev/loop0"));
        assert!(parsed.is_shared() && parsed.can_write());
        let private = Mapping::parse("7f0a-7f0b rw-p 00000000 08:01 9 /a b (deleted)").unwrap();
        assert_eq!((private.path, private.can_write()), ("/a b (deleted)", false));
        for line in ["7ffd-7ffe rw-p 00000000 00:00 0 [stack]", "", "a b", "x y z w v u"] {
            assert_eq!(Mapping::parse(line), None, "{line}");
        }
    }

    #[test]
    fn a_mapping_that_cannot_be_looked_at_is_a_use_as_long_as_it_is_there() {
        let wanted = Wanted {
            devices: BTreeSet::new(),
            files: vec![(27, 42)],
            names: BTreeSet::new(),
            writers_only: false,
        };
        let line = "7f0a-7f0b rw-s 00000000 00:1b 42 /gone";
        let mapping = Mapping::parse(line).unwrap();
        let task = tempfile::tempdir().unwrap();
        fs::write(task.path().join("maps"), format!("7f01-7f02 r--p 0 08:01 7 /a\n{line}\n"))
            .unwrap();
        assert!(wanted.is_mapping(task.path(), &mapping));
        fs::write(task.path().join("maps"), "7f01-7f02 r--p 0 08:01 7 /a\n").unwrap();
        assert!(!wanted.is_mapping(task.path(), &mapping));
    }

    #[test]
    fn registered_files_are_the_numbered_lines_after_their_count() {
        let info = "pos:\t0\nSqHead:\t0\nUserFiles:\t2\n    0: /dev/loop0\n    1: image\nUserBufs:\t1\n    0: 0x7f/4096\n";
        assert_eq!(registered(info).collect::<Vec<_>>(), ["/dev/loop0", "image"]);
        assert_eq!(registered("UserFiles:\t0\nUserBufs:\t0\n").count(), 0);
        assert_eq!(registered("flags:\t02\n").count(), 0);
    }

    #[test]
    fn threads_that_have_exited_and_those_of_the_kernel_have_no_files() {
        let folder = tempfile::tempdir().unwrap();
        let has_files_with = |stat: &str| {
            fs::write(folder.path().join("stat"), stat).unwrap();
            has_files(folder.path())
        };
        assert!(has_files_with("7 (a) b) S 1 7 7 0 -1 4194560 1 0"));
        assert!(!has_files_with("7 (a) b) Z 1 7 7 0 -1 4194560 1 0"));
        assert!(!has_files_with("7 (kworker/0:1) I 2 0 0 0 -1 69238880 0 0"));
        assert!(has_files_with("unreadable"));
    }
}
