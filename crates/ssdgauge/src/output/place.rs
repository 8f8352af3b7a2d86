//! Where no output is created: the file system of the device nodes.
//!
//! A mistyped name of a drive would become a file in memory, which looks like a drive to a later
//! command.

use crate::failure::{Failure, FailureKind};
use std::os::unix::fs::MetadataExt;
use std::path::Path;

/// The folder of the device nodes.
const NODES: &str = "/dev";

/// Checks that the new file or folder `path` does not lie on the file system of the device nodes. Other
/// file systems below it, such as `/dev/shm`, are permitted. Nothing is written.
///
/// # Errors
///
/// Refuses a path whose nearest existing folder lies there.
pub(crate) fn check_place(path: &Path) -> Result<(), Failure> {
    let folder = path.ancestors().skip(1).find_map(|folder| match folder.as_os_str().is_empty() {
        true => Path::new(".").canonicalize().ok(),
        false => folder.canonicalize().ok(),
    });
    let holds_nodes = folder.is_some_and(|folder| holds_nodes(&folder));
    match holds_nodes {
        false => Ok(()),
        true => Err(Failure::new(
            FailureKind::Refused,
            format!(
                "{} lies among the device nodes: no file is created below {NODES}",
                path.display()
            ),
            "nothing was written; name a file in another folder",
        )),
    }
}

/// Returns whether `folder`, a resolved path, lies on the file system of the device nodes.
fn holds_nodes(folder: &Path) -> bool {
    let device = |path: &Path| path.metadata().ok().map(|metadata| metadata.dev());
    let nodes = device(Path::new(NODES));
    // Without a file system of its own, as in some containers, the path alone tells.
    let is_own = nodes != device(Path::new("/"));
    nodes.is_some() && device(folder) == nodes && (is_own || folder.starts_with(NODES))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_place_below_dev_is_permitted_but_other_file_systems_there() {
        let link = tempfile::tempdir().unwrap();
        let to_nodes = link.path().join("nodes");
        std::os::unix::fs::symlink("/dev", &to_nodes).unwrap();
        let own = |path: &str| {
            let device = |path: &str| Path::new(path).metadata().ok().map(|one| one.dev());
            device(path).is_some_and(|one| Some(one) != device("/dev"))
        };
        let refused =
            ["/dev/x.html", "/dev/new/../x.html", "/dev/new/deeper/x.html", "/dev/shm/../x"];
        for path in refused.iter().map(Path::new).chain([to_nodes.join("x").as_path()]) {
            let error = check_place(path).unwrap_err();
            assert_eq!(error.exit_code(), 3, "{}: {}", path.display(), error.error);
        }
        for path in [link.path().join("a.html"), link.path().join("none/a.html"), "a.html".into()] {
            assert!(check_place(&path).is_ok(), "{}", path.display());
        }
        match own("/dev/shm") {
            true => assert!(check_place(Path::new("/dev/shm/a.html")).is_ok()),
            false => println!("skipped: /dev/shm is no file system of its own"),
        }
    }
}
