//! Viewpoint: the processes that this one cannot see at all, in a container or behind mount options
//! of procfs. Their open files, mounts and swap are unknown.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

/// The inode of the first PID namespace of the machine (PROC_PID_INIT_INO, linux/proc_ns.h). Those
/// of all other namespaces are assigned above 0xF0000000.
const FIRST_PID_NAMESPACE: u64 = 0xEFFF_FFFC;

/// Returns what of the machine is hidden from this process, by the procfs at `proc`.
pub(super) fn hidden(proc: &Path) -> Option<String> {
    let namespace = fs::metadata(proc.join("self/ns/pid")).map(|namespace| namespace.ino());
    match namespace {
        Err(_) => Some(format!("all other processes ({} cannot be read)", proc.display())),
        Ok(inode) if inode != FIRST_PID_NAMESPACE => Some(
            "processes and mounts outside this PID namespace, as of the host of a container".into(),
        ),
        // Process 1 always exists; procfs can hide it from those who may not trace it.
        Ok(_) if !proc.join("1").exists() => {
            Some("processes that procfs hides (its mount option hidepid or subset)".into())
        }
        Ok(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unreadable_procfs_and_a_namespace_of_its_own_hide_processes() {
        let folder = tempfile::tempdir().unwrap();
        assert!(hidden(folder.path()).unwrap().contains("cannot be read"));
        fs::create_dir_all(folder.path().join("self/ns")).unwrap();
        fs::write(folder.path().join("self/ns/pid"), "").unwrap();
        assert!(hidden(folder.path()).unwrap().contains("outside this PID namespace"));
    }
}
