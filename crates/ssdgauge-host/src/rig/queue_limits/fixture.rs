//! A queue in a folder, in place of sysfs.

use std::path::Path;

/// Writes `attributes` of a queue below `root`.
pub(in crate::rig) fn write(root: &Path, attributes: &[(&str, &str)]) {
    let folder = root.join("queue");
    std::fs::create_dir_all(&folder).unwrap();
    for (name, text) in attributes {
        std::fs::write(folder.join(name), text).unwrap();
    }
}
