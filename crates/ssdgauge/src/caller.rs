//! The user who calls the program: under sudo the one who called that.

use ssdgauge_os::own_process;
use std::fs::Metadata;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::PathBuf;

/// Closes what the caller left open, and survives its limit for the size of files.
pub(crate) fn leave() {
    own_process::close_inherited(std::env::args_os());
    own_process::survive_file_size_limit();
}

/// Returns whether this process has the rights of root.
pub(crate) fn is_root() -> bool {
    ssdgauge_host::is_root()
}

/// Returns user and group of the caller of sudo; `None` where this process is not one of root, or root called it.
pub(crate) fn of_sudo() -> Option<(u32, u32)> {
    let number = |name: &str| std::env::var(name).ok()?.parse::<u32>().ok();
    let caller = number("SUDO_UID").zip(number("SUDO_GID"));
    caller.filter(|(user, _)| is_root() && *user != 0)
}

/// Returns the home folder of the caller.
pub(crate) fn home() -> Option<PathBuf> {
    match of_sudo() {
        Some((user, _)) => home_of(&std::fs::read_to_string("/etc/passwd").ok()?, user),
        None => std::env::var_os("HOME").filter(|home| !home.is_empty()).map(PathBuf::from),
    }
}

/// Returns the home folder of `user` in the text of passwd(5).
fn home_of(passwd: &str, user: u32) -> Option<PathBuf> {
    let fields = passwd.lines().map(|line| line.split(':').collect::<Vec<_>>());
    let mut homes = fields.filter_map(|fields| match fields.as_slice() {
        [_, _, number, _, _, home, ..] => (number.parse() == Ok(user)).then_some(*home),
        _ => None,
    });
    homes.find(|home| home.starts_with('/')).map(PathBuf::from)
}

/// Gives this process the rights of the caller of sudo, where there is one; returns its home folder.
///
/// # Errors
///
/// The kernel refuses the change.
pub(crate) fn become_own() -> io::Result<Option<PathBuf>> {
    let Some((user, group)) = of_sudo() else { return Ok(None) };
    let home = home();
    ssdgauge_os::thread::become_user(user, group)?;
    Ok(home)
}

/// Returns whether a user other than root and `own` may write what has these `facts`.
pub(crate) fn others_write(facts: &Metadata, own: u32) -> bool {
    let (mode, owner) = (facts.mode(), facts.uid());
    // In a folder such as /tmp, nobody replaces the files of others.
    let is_shared = facts.is_dir() && mode & 0o1000 != 0;
    let by_group = mode & 0o020 != 0 && facts.gid() != 0;
    (owner != 0 && owner != own) || (!is_shared && (by_group || mode & 0o002 != 0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_home_of_a_user_is_that_of_its_number() {
        let passwd = "root:x:0:0:root:/root:/bin/sh\nana:x:1000:1000::/home/ana:/bin/sh\nbad\n";
        assert_eq!(home_of(passwd, 1000), Some("/home/ana".into()));
        assert_eq!(home_of(passwd, 1001), None);
    }
}
