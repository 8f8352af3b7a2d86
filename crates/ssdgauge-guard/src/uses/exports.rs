//! Exports: targets in the kernel that serve a drive, or the file behind it, to other machines
//! without a claim on it. Their configuration is in configfs.

use crate::text::printable;
use ssdgauge_os::sysfs::{attribute, name_of};
use std::fs;
use std::path::{Path, PathBuf};

/// A kind of target: where its exports are configured, and how they name what they serve.
struct Exporter {
    /// Its name in messages.
    title: &'static str,
    /// Its folder in configfs.
    root: &'static str,
    /// The folders from there to an export; an empty name stands for every folder.
    levels: &'static [&'static str],
    /// The attribute that names the device or the file.
    path: &'static str,
    /// The attribute that is 1 while the export is active, where there is one.
    active: Option<&'static str>,
}

const EXPORTERS: [Exporter; 3] = [
    Exporter {
        title: "the NVMe target",
        root: "nvmet",
        levels: &["subsystems", "", "namespaces", ""],
        path: "device_path",
        active: Some("enable"),
    },
    Exporter {
        title: "the SCSI target",
        root: "target",
        levels: &["core", "", ""],
        path: "udev_path",
        active: Some("enable"),
    },
    Exporter {
        title: "a USB gadget",
        root: "usb_gadget",
        levels: &["", "functions", "", ""],
        path: "file",
        // It opens the file as soon as the attribute names it (fsg_store_file), bound to a controller or not.
        active: None,
    },
];

/// Returns the active exports whose device or file `is_wanted`, one line each, and the targets that
/// are loaded and whose configuration cannot be read.
pub(super) fn find(sys: &Path, is_wanted: impl Fn(&Path) -> bool) -> (Vec<String>, Vec<String>) {
    let config = sys.join("kernel/config");
    let (mut found, mut unread) = (Vec::new(), Vec::new());
    for exporter in &EXPORTERS {
        let root = config.join(exporter.root);
        for export in folders(&root, exporter.levels) {
            let is_active = exporter
                .active
                // An export whose state cannot be read counts as active.
                .is_none_or(|active| attribute(&export.join(active)).is_none_or(|on| on != "0"));
            let served = attribute(&export.join(exporter.path)).filter(|path| !path.is_empty());
            if is_active && served.is_some_and(|path| is_wanted(Path::new(&path))) {
                let name = export.strip_prefix(&root).unwrap_or(&export).display().to_string();
                let name = printable(name.as_bytes());
                found.push(format!("it is exported by {} ({name})", exporter.title));
            }
        }
    }
    // Without configfs its exports cannot be seen, and a file that the kernel opened itself is in no process.
    for (module, exporter) in [("nvmet", &EXPORTERS[0]), ("target_core_mod", &EXPORTERS[1])] {
        let is_loaded = sys.join("module").join(module).exists();
        if is_loaded && fs::read_dir(config.join(exporter.root)).is_err() {
            unread.push(format!("exports of {} (configfs cannot be read)", exporter.title));
        }
    }
    (found, unread)
}

/// Returns the folders below `root` at the end of `levels`.
fn folders(root: &Path, levels: &[&str]) -> Vec<PathBuf> {
    let mut found = vec![root.to_owned()];
    for level in levels {
        found = found
            .iter()
            .flat_map(|folder| fs::read_dir(folder).into_iter().flatten().flatten())
            .map(|entry| entry.path())
            .filter(|path| path.is_dir() && (level.is_empty() || name_of(path) == *level))
            .collect();
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn active_exports_of_the_device_are_found_and_others_are_not() {
        let folder = tempfile::tempdir().unwrap();
        let export = |path: &str, attributes: &[(&str, &str)]| {
            let export = folder.path().join("kernel/config").join(path);
            fs::create_dir_all(&export).unwrap();
            for (name, value) in attributes {
                fs::write(export.join(name), value).unwrap();
            }
        };
        let of = |device: &'static str| [("device_path", device), ("enable", "1\n")];
        export("nvmet/subsystems/one/namespaces/1", &of("/dev/a\n"));
        export("nvmet/subsystems/one/namespaces/2", &of("/dev/b\n"));
        export("nvmet/subsystems/two/namespaces/1", &[("device_path", "/dev/a"), ("enable", "0")]);
        export("target/core/iblock_0/disk", &[("udev_path", "/dev/a"), ("enable", "1")]);
        export("usb_gadget/g/functions/mass_storage.0/lun.0", &[("file", "/dev/a\n")]);
        let (found, unread) = find(folder.path(), |path| path == Path::new("/dev/a"));
        assert_eq!(
            found,
            [
                "it is exported by the NVMe target (subsystems/one/namespaces/1)",
                "it is exported by the SCSI target (core/iblock_0/disk)",
                "it is exported by a USB gadget (g/functions/mass_storage.0/lun.0)",
            ]
        );
        assert!(unread.is_empty());
    }

    #[test]
    fn a_target_that_is_loaded_and_cannot_be_read_is_unknown() {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir_all(folder.path().join("module/nvmet")).unwrap();
        let (found, unread) = find(folder.path(), |_| true);
        assert!(found.is_empty());
        assert_eq!(unread, ["exports of the NVMe target (configfs cannot be read)"]);
    }
}
