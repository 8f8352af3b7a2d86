//! The part of the machine that two targets have in common: a device below both, or a PCI device on the way
//! to both. It only reads sysfs and procfs.

use crate::sysfs::name_of;
use crate::topology::Kernel;
use rustix::fs::{major, minor};
use std::fs;
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::{Path, PathBuf};

/// What two targets have in common.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SharedPart {
    /// The block device of this name: requests of both reach it.
    Device(String),
    /// The PCI device of this address, such as a root port, a switch or a controller.
    Pci(String),
}

/// Returns what the files, folders or block devices `a` and `b` have in common, nearest to both;
/// `None` where nothing is found, which does not mean that they have nothing in common.
pub fn shared_part(kernel: &Kernel, a: &Path, b: &Path) -> Option<SharedPart> {
    let (a, b) = (below(kernel, a)?, below(kernel, b)?);
    if let Some(device) = a.iter().find(|device| b.contains(device)) {
        return Some(SharedPart::Device(name_of(device)));
    }
    let all = a.iter().flat_map(|a| b.iter().filter_map(move |b| common_pci(a, b)));
    // The longest common path ends at the part that is nearest to both.
    all.max().map(|(_, address)| SharedPart::Pci(address))
}

/// Returns the folders of the devices that hold `path`, down to whole drives.
fn below(kernel: &Kernel, path: &Path) -> Option<Vec<PathBuf>> {
    let found = fs::metadata(path).ok()?;
    let folder = match found.file_type().is_block_device() {
        true => {
            let number = found.rdev();
            kernel.folder_of_number(&format!("{}:{}", major(number), minor(number)))
        }
        false => kernel.folder_of_file_system(found.dev()),
    };
    Some(kernel.downward(&folder?))
}

/// Returns the last PCI device on the way to both `a` and `b`, and how many are on it.
fn common_pci(a: &Path, b: &Path) -> Option<(usize, String)> {
    let (a, b) = (pci_devices(a), pci_devices(b));
    let shared = a.iter().zip(&b).take_while(|(a, b)| a == b).count();
    Some((shared, a[shared.checked_sub(1)?].clone()))
}

/// Returns the addresses of the PCI devices on the way to the device whose folder is `folder`, the one next to
/// the processor first. The root of a bus (`pci0000:00`) is none: it is common to most devices.
fn pci_devices(folder: &Path) -> Vec<String> {
    let is_address = |name: &&str| {
        let shape: String =
            name.chars().map(|c| if c.is_ascii_hexdigit() { 'x' } else { c }).collect();
        shape == "xxxx:xx:xx.x"
    };
    let names = folder.iter().filter_map(|name| name.to_str());
    names.filter(is_address).map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_common_port_is_found_and_the_root_of_the_bus_is_none() {
        let common = |a: &str, b: &str| {
            let of = |way: &str| Path::new("/sys/devices/pci0000:00").join(way);
            common_pci(&of(a), &of(b)).map(|(_, address)| address)
        };
        let (first, second) = ("0000:00:1d.0/0000:01:00.0/nvme/nvme0", "0000:00:1d.4/0000:02:00.0");
        assert_eq!(common(first, second), None);
        let after = |port: &str| format!("0000:00:01.0/0000:01:00.0/{port}/nvme/nvme0/nvme0n1");
        let both = common(&after("0000:02:01.0/0000:03:00.0"), &after("0000:02:02.0/0000:04:00.0"));
        assert_eq!(both.as_deref(), Some("0000:01:00.0"));
    }

    #[test]
    fn two_folders_of_one_file_system_have_its_device_in_common() {
        let root = tempfile::tempdir().unwrap();
        let (a, b) = (root.path().join("a"), root.path().join("b"));
        fs::create_dir(&a).unwrap();
        fs::create_dir(&b).unwrap();
        let kernel = Kernel::look();
        // A file system without a device, such as tmpfs, has nothing to find.
        let has_device = below(&kernel, &a).is_some();
        assert_eq!(matches!(shared_part(&kernel, &a, &b), Some(SharedPart::Device(_))), has_device);
        assert_eq!(shared_part(&kernel, &a, &root.path().join("none")), None);
    }
}
