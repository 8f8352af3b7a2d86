//! Creates every file, folder and socket that the program leaves for its user.
//!
//! A name is created relative to its opened folder, and that folder is checked first: nothing is created on the
//! file system of the device nodes, where a mistyped name of a drive would become a file in memory. No function
//! here replaces a file but [`replace`]. What a device path is used for is not a concern of this module.

use rustix::fs::{AtFlags, Mode, OFlags, RenameFlags, Stat};
use rustix::io::Errno;
use rustix::net::{AddressFamily, SocketAddrUnix, SocketFlags, SocketType};
use std::ffi::OsStr;
use std::fs::File;
use std::io;
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::path::{Component, Path, PathBuf};

/// The folder of the device nodes.
const NODES: &str = "/dev";

/// The maximum number of folders above one that are looked at: more than a path has.
const MOST_FOLDERS: usize = 4_096;

/// The error of an output on the file system of the device nodes. Nothing was created.
#[derive(Debug)]
struct AmongDeviceNodes(PathBuf);

impl std::fmt::Display for AmongDeviceNodes {
    fn fmt(&self, to: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let path = self.0.display();
        write!(to, "{path} is among the device nodes: no file is created below {NODES}")
    }
}

impl std::error::Error for AmongDeviceNodes {}

/// Returns whether `error` is that of an output among the device nodes.
pub fn is_among_device_nodes(error: &io::Error) -> bool {
    error.get_ref().is_some_and(|inner| inner.is::<AmongDeviceNodes>())
}

/// Checks that `path` can be created: its nearest existing folder is not on the file system of the device nodes,
/// and no `..` follows a folder that does not exist. Nothing is created.
///
/// # Errors
/// As [`create_folders`].
pub fn check(path: &Path) -> io::Result<()> {
    nearest_folder(path.parent().unwrap_or(path), path).map(drop)
}

/// Creates the file `path` with the permissions `mode`, less those of the umask, and opens it for reads and writes.
///
/// # Errors
/// It exists, its folder does not exist or is among the device nodes, or another error of the kernel. Nothing was
/// created.
pub fn create_file(path: &Path, mode: u32) -> io::Result<File> {
    create_file_with(path, mode, OFlags::empty())
}

/// As [`create_file`], opened with `flags` as well. A file that the kernel creates and then refuses to open with
/// them is removed.
///
/// # Errors
/// As [`create_file`].
pub fn create_file_with(path: &Path, mode: u32, flags: OFlags) -> io::Result<File> {
    let (folder, name) = folder_of(path)?;
    let flags = flags | OFlags::RDWR | OFlags::CREATE | OFlags::EXCL | OFlags::CLOEXEC;
    match rustix::fs::openat(&folder, name, flags, Mode::from_raw_mode(mode)) {
        Ok(file) => Ok(file.into()),
        Err(error) => {
            // O_EXCL guarantees that the file is new: tmpfs creates it before it refuses O_DIRECT.
            if error == Errno::INVAL && flags.contains(OFlags::DIRECT) {
                let _ = rustix::fs::unlinkat(&folder, name, AtFlags::empty());
            }
            Err(error.into())
        }
    }
}

/// Opens a new file in `folder` that has no name, with `flags` as well.
///
/// # Errors
/// The folder is among the device nodes, or its file system has no such files.
pub fn create_nameless(folder: &Path, flags: OFlags) -> io::Result<File> {
    let opened = open_folder(folder)?;
    refuse_nodes(&opened, folder)?;
    let flags = flags | OFlags::RDWR | OFlags::TMPFILE | OFlags::CLOEXEC;
    Ok(rustix::fs::openat(&opened, ".", flags, Mode::from_raw_mode(0o600))?.into())
}

/// Creates the folder `path`, whose own folder exists.
///
/// # Errors
/// As [`create_file`].
pub fn create_folder(path: &Path) -> io::Result<()> {
    let (folder, name) = folder_of(path)?;
    Ok(rustix::fs::mkdirat(&folder, name, Mode::from_raw_mode(0o777))?)
}

/// Creates the folder `path` and those above it that do not exist.
///
/// # Errors
/// The nearest existing folder is among the device nodes, a `..` follows a folder that does not exist, or another
/// error of the kernel. What was created until then is removed again.
pub fn create_folders(path: &Path) -> io::Result<()> {
    let (mut folder, missing) = nearest_folder(path, path)?;
    // The folders that were created, as the opened one above and the name.
    let mut created: Vec<(OwnedFd, &OsStr)> = Vec::new();
    for name in missing {
        // Relative to the folder that was checked: a path could lead elsewhere by now.
        let made = match rustix::fs::mkdirat(&folder, name, Mode::from_raw_mode(0o777)) {
            // Another process has created it since.
            Ok(()) | Err(Errno::EXIST) => open_below(&folder, Path::new(name)),
            Err(error) => Err(error.into()),
        };
        // Checked again: where another process made it, it can be a link or a mount.
        let next = made.and_then(|next| refuse_nodes(&next, path).map(|()| next));
        match next {
            Ok(next) => created.push((std::mem::replace(&mut folder, next), name)),
            Err(error) => {
                for (above, name) in created.iter().rev() {
                    // Fails, and rightly, where it is another process's and has contents.
                    let _ = rustix::fs::unlinkat(above, *name, AtFlags::REMOVEDIR);
                }
                return Err(error);
            }
        }
    }
    Ok(())
}

/// Gives the file `temporary` the name `path` in the same folder, and never replaces another file.
///
/// # Errors
/// `AlreadyExists` where the name is taken; otherwise as [`create_file`].
pub fn name(temporary: &Path, path: &Path) -> io::Result<()> {
    let (folder, new) = folder_of(path)?;
    let old = temporary.file_name().ok_or(io::ErrorKind::InvalidInput)?;
    let rename = |flags| rustix::fs::renameat_with(&folder, old, &folder, new, flags);
    match rename(RenameFlags::NOREPLACE) {
        // The file system does not know the flag. A hard link fails where the name is taken, as it does.
        Err(Errno::INVAL | Errno::NOSYS) => {
            match rustix::fs::linkat(&folder, old, &folder, new, AtFlags::empty()) {
                Ok(()) => Ok(rustix::fs::unlinkat(&folder, old, AtFlags::empty())?),
                Err(error) => Err(error.into()),
            }
        }
        other => Ok(other?),
    }
}

/// Gives the file `temporary` the name `path` in the same folder, in place of the file that has it.
///
/// # Errors
/// As [`create_file`].
pub fn replace(temporary: &Path, path: &Path) -> io::Result<()> {
    let (folder, new) = folder_of(path)?;
    let old = temporary.file_name().ok_or(io::ErrorKind::InvalidInput)?;
    Ok(rustix::fs::renameat(&folder, old, &folder, new)?)
}

/// Returns whether `a` and `b` are one file, by any name of it.
pub fn is_same_file(a: &Path, b: &Path) -> bool {
    let identity = |path| rustix::fs::stat(path).map(|stat| (stat.st_dev, stat.st_ino));
    matches!((identity(a), identity(b)), (Ok(a), Ok(b)) if a == b)
}

/// Creates the Unix socket `path`, which its owner alone may use; it does not listen yet. The limit of 108 bytes for
/// the name of a socket counts for its last part alone.
///
/// # Errors
/// As [`create_file`]; `AddrInUse` where it exists.
pub fn create_socket(path: &Path) -> io::Result<OwnedFd> {
    let (folder, name) = folder_of(path)?;
    let socket = rustix::net::socket_with(
        AddressFamily::UNIX,
        SocketType::STREAM,
        SocketFlags::CLOEXEC | SocketFlags::NONBLOCK,
        None,
    )?;
    // The file gets the mode of the socket: it is never open to others, not for a moment.
    rustix::fs::fchmod(&socket, Mode::from_raw_mode(0o600))?;
    // `bind` takes a path only: through the descriptor it is short, and leads to the checked folder.
    let within = Path::new("/proc/self/fd").join(folder.as_raw_fd().to_string()).join(name);
    rustix::net::bind(&socket, &SocketAddrUnix::new(within)?)?;
    Ok(socket)
}

/// Opens the folder of `path`, which must not be among the device nodes; returns it with the last part of `path`.
fn folder_of(path: &Path) -> io::Result<(OwnedFd, &OsStr)> {
    let name = path.file_name().ok_or(io::ErrorKind::InvalidInput)?;
    // `a/.` and `a/` have the last part `a`, which is a folder.
    if path.as_os_str().as_encoded_bytes().ends_with(b"/") {
        return Err(io::ErrorKind::IsADirectory.into());
    }
    let parent = path.parent().unwrap_or(path);
    let folder = open_folder(parent).map_err(|error| match nearest_folder(parent, path) {
        // Among the device nodes, a missing folder is not the reason.
        Err(refused) if is_among_device_nodes(&refused) => refused,
        Ok(_) | Err(_) => error,
    })?;
    refuse_nodes(&folder, path)?;
    Ok((folder, name))
}

/// Opens the nearest existing folder of `folder`, itself included, and returns the names of those that are missing
/// below it. `path` is what is to be created.
fn nearest_folder<'a>(folder: &'a Path, path: &Path) -> io::Result<(OwnedFd, Vec<&'a OsStr>)> {
    let mut missing = Vec::new();
    let mut leads_back = false;
    let mut part = folder;
    let opened = loop {
        match open_folder(part) {
            Ok(opened) => break opened,
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(error),
        }
        match part.components().next_back() {
            Some(Component::Normal(name)) => missing.push(name),
            Some(_) | None => leads_back = true,
        }
        part = part.parent().ok_or(io::ErrorKind::NotFound)?;
    };
    refuse_nodes(&opened, path)?;
    // Where `..` of a folder leads is not known before the folder exists.
    if leads_back {
        return Err(io::ErrorKind::NotFound.into());
    }
    missing.reverse();
    Ok((opened, missing))
}

fn open_folder(path: &Path) -> io::Result<OwnedFd> {
    let path = if path.as_os_str().is_empty() { Path::new(".") } else { path };
    open_below(rustix::fs::CWD, path)
}

fn open_below(folder: impl AsFd, path: &Path) -> io::Result<OwnedFd> {
    // O_PATH: names can be created in a folder that one may not read.
    let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
    Ok(rustix::fs::openat(folder, path, flags, Mode::empty())?)
}

/// Refuses `path` where `folder`, which is open, is among the device nodes.
fn refuse_nodes(folder: &OwnedFd, path: &Path) -> io::Result<()> {
    match holds_nodes(folder)? {
        false => Ok(()),
        true => {
            let error = AmongDeviceNodes(path.to_owned());
            Err(io::Error::new(io::ErrorKind::PermissionDenied, error))
        }
    }
}

/// Returns whether `folder` is on the file system of the device nodes, by any name of it. Other file systems that are
/// mounted below /dev, such as /dev/shm, do not count.
fn holds_nodes(folder: &OwnedFd) -> io::Result<bool> {
    let own = rustix::fs::fstat(folder)?;
    let nodes = rustix::fs::stat(NODES).ok();
    let root = rustix::fs::stat("/").ok();
    let device = |stat: &Option<Stat>| stat.as_ref().map(|stat| stat.st_dev);
    if nodes.is_some() && device(&nodes) != device(&root) && device(&nodes) == Some(own.st_dev) {
        return Ok(true);
    }
    // Without a file system of its own, as in some containers, /dev is a folder above.
    let is_below = match &nodes {
        Some(nodes) if own.st_dev == nodes.st_dev => is_within(folder, nodes)?,
        Some(_) | None => false,
    };
    Ok(is_below || is_devtmpfs(own.st_dev))
}

/// Returns whether `folder` is the folder `outer`, or is within it.
fn is_within(folder: &OwnedFd, outer: &Stat) -> io::Result<bool> {
    let identity = |stat: &Stat| (stat.st_dev, stat.st_ino);
    let mut folder = open_below(folder, Path::new("."))?;
    let mut own = rustix::fs::fstat(&folder)?;
    for _ in 0..MOST_FOLDERS {
        if identity(&own) == identity(outer) {
            return Ok(true);
        }
        let above = open_below(&folder, Path::new(".."))?;
        let next = rustix::fs::fstat(&above)?;
        if identity(&next) == identity(&own) {
            return Ok(false);
        }
        (folder, own) = (above, next);
    }
    // Where the root was not reached, it counts as within: nothing is created then.
    Ok(true)
}

/// Returns whether a file system of the kernel's device nodes is mounted with the number `device`, anywhere.
fn is_devtmpfs(device: u64) -> bool {
    let table = std::fs::read_to_string("/proc/self/mountinfo").unwrap_or_default();
    let number = format!("{}:{}", rustix::fs::major(device), rustix::fs::minor(device));
    // proc_pid_mountinfo(5): the third word is the number; the type is the first word after " - ".
    table.lines().any(|line| {
        let kind = line.split_once(" - ").and_then(|(_, rest)| rest.split(' ').next());
        line.split(' ').nth(2) == Some(&number) && kind == Some("devtmpfs")
    })
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test that cannot be set up has failed")]

    use super::*;
    use std::os::unix::fs::PermissionsExt;

    /// Calls every function that creates something at `path`, and asserts that each one refuses it by its place.
    fn check_refused(path: &Path) {
        let temporary = path.with_file_name("ssdgauge-test-temporary");
        let results = [
            ("check", check(path)),
            ("create_file", create_file(path, 0o600).map(drop)),
            ("create_folder", create_folder(path)),
            ("create_folders", create_folders(path)),
            ("name", name(&temporary, path)),
            ("replace", replace(&temporary, path)),
            ("create_socket", create_socket(path).map(drop)),
            ("create_nameless", create_nameless(path.parent().unwrap(), OFlags::empty()).map(drop)),
        ];
        for (function, result) in results {
            let error = result.expect_err(function);
            assert!(is_among_device_nodes(&error), "{function} {}: {error}", path.display());
            assert!(path.symlink_metadata().is_err(), "{function} {}", path.display());
        }
    }

    #[test]
    fn nothing_is_created_among_the_device_nodes_by_any_way_to_them() {
        let folder = tempfile::tempdir().unwrap();
        let link = folder.path().join("nodes");
        std::os::unix::fs::symlink("/dev", &link).unwrap();
        let name = format!("ssdgauge-test-{}", std::process::id());
        let mut ways = vec![PathBuf::from("/dev"), link];
        // Only where it is a file system of its own, as the way out of it then crosses a mount.
        ways.extend(Path::new("/dev/shm").is_dir().then(|| PathBuf::from("/dev/shm/..")));
        // A second mount of them.
        let mounted = folder.path().join("mounted");
        std::fs::create_dir(&mounted).unwrap();
        let mount = |arguments: &[&str]| {
            let status = std::process::Command::new("mount").args(arguments).arg(&mounted).status();
            status.is_ok_and(|status| status.success())
        };
        let is_mounted = mount(&["--bind", "/dev"]);
        match is_mounted {
            true => ways.push(mounted.clone()),
            false => println!("skipped: /dev cannot be mounted a second time"),
        }
        let result = std::panic::catch_unwind(|| {
            ways.iter().for_each(|way| check_refused(&way.join(&name)));
        });
        if is_mounted {
            let _ = std::process::Command::new("umount").arg(&mounted).status();
        }
        result.unwrap();
    }

    #[test]
    fn folders_are_created_with_their_parents_and_none_is_left_where_that_fails() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        create_folders(&path("a/b/c")).unwrap();
        create_folders(&path("a/b/c")).unwrap();
        assert!(path("a/b/c").is_dir());
        // `..` of what does not exist: `mkdir -p` would create `new`, and then something else.
        let error = create_folders(&path("new/../../x")).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::NotFound);
        assert_eq!(check(&path("new/../../x")).unwrap_err().kind(), io::ErrorKind::NotFound);
        // The second name is too long for a file system.
        assert!(create_folders(&path(&format!("d/{}", "n".repeat(300)))).is_err());
        let names: Vec<_> = folder.path().read_dir().unwrap().flatten().collect();
        assert_eq!(names.len(), 1, "{names:?}");
    }

    #[test]
    fn names_are_new_and_a_socket_is_private_with_a_long_path() {
        let folder = tempfile::tempdir().unwrap();
        let deep = folder.path().join("d".repeat(150));
        create_folder(&deep).unwrap();
        let [a, b, socket] = ["a", "b", "socket"].map(|name| deep.join(name));
        create_file(&a, 0o644).unwrap();
        assert_eq!(create_file(&a, 0o644).unwrap_err().kind(), io::ErrorKind::AlreadyExists);
        create_file(&b, 0o644).unwrap();
        assert_eq!(name(&a, &b).unwrap_err().kind(), io::ErrorKind::AlreadyExists);
        replace(&a, &b).unwrap();
        name(&b, &a).unwrap();
        assert!(a.exists() && !b.exists());
        let listener = create_socket(&socket).unwrap();
        let mode = socket.symlink_metadata().unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
        assert_eq!(create_socket(&socket).unwrap_err().kind(), io::ErrorKind::AddrInUse);
        drop(listener);
    }
}
