//! What the kernel knows of a drive: its place in /sys, its link, its queues, what lies below it.
//!
//! The root of the tree is a parameter, so that tests use a tree of their own. Nothing here opens
//! the drive.

use ssdgauge_core::{Finding, FindingKind, Severity};
use ssdgauge_os::sysfs::attribute;
use ssdgauge_os::sysfs::unit_serial;
use std::fs;
use std::path::{Path, PathBuf};

/// Stacks of devices are followed this far down; nobody builds higher ones.
const MOST_LAYERS: usize = 8;

/// A block device in a tree of /sys.
#[derive(Clone, Debug)]
pub struct SysfsDevice {
    /// The root of the tree, usually `/sys`.
    root: PathBuf,
    /// The folder of the block device that was named.
    pub folder: PathBuf,
    /// The folder with the queue of the drive itself: behind a multipath head, that of its path.
    pub(crate) queue: PathBuf,
    /// The folder of the NVMe controller, where it is one.
    pub controller: Option<PathBuf>,
    /// How many controllers lead to the drive.
    pub(crate) paths: usize,
}

impl SysfsDevice {
    /// Returns the device `major:minor` in the tree under `root`; for a partition, its drive.
    pub fn of_number(root: &Path, major: u32, minor: u32) -> Option<SysfsDevice> {
        let folder = fs::canonicalize(root.join(format!("dev/block/{major}:{minor}"))).ok()?;
        match folder.join("partition").exists() {
            true => Some(SysfsDevice::of_folder(root, folder.parent()?)),
            false => Some(SysfsDevice::of_folder(root, &folder)),
        }
    }

    /// Returns the device whose folder is `folder`.
    pub fn of_folder(root: &Path, folder: &Path) -> SysfsDevice {
        let folder = folder.to_owned();
        let mut place = SysfsDevice {
            root: root.to_owned(),
            queue: folder.clone(),
            folder,
            controller: None,
            paths: 0,
        };
        place.find_controller();
        place
    }

    /// A namespace lies below its controller; a multipath head below its subsystem, and each
    /// controller that leads to it has a hidden device of its own, such as `nvme0c1n1`.
    fn find_controller(&mut self) {
        let name = self.name();
        if !name.starts_with("nvme") {
            return;
        }
        let mut controllers = Vec::new();
        for entry in fs::read_dir(self.root.join("class/nvme")).into_iter().flatten().flatten() {
            let Ok(folder) = fs::canonicalize(entry.path()) else { continue };
            let leads = fs::read_dir(&folder).into_iter().flatten().flatten().find(|child| {
                let child = child.file_name();
                child.to_str().is_some_and(|child| child == name || is_path_of(child, &name))
            });
            controllers.extend(leads.map(|path| (folder, path.path())));
        }
        controllers.sort();
        self.paths = controllers.len();
        if let Some((controller, path)) = controllers.into_iter().next() {
            self.controller = Some(controller);
            self.queue = path;
        }
    }

    /// Returns whether the device speaks SCSI, as SATA and USB drives do to the kernel.
    pub fn is_scsi(&self) -> bool {
        self.folder.join("device/scsi_level").exists()
    }

    /// Returns the kernel's name of the device.
    pub fn name(&self) -> String {
        file_name(&self.folder)
    }

    /// Returns the name of the controller.
    pub(crate) fn controller_name(&self) -> Option<String> {
        self.controller.as_deref().map(file_name)
    }

    /// Returns an attribute of the drive's own queue.
    pub fn queue(&self, name: &str) -> Option<String> {
        let own = attribute(&self.queue.join("queue").join(name));
        own.or_else(|| attribute(&self.folder.join("queue").join(name)))
    }

    /// Returns an attribute of the controller, or of the SCSI device.
    pub(crate) fn device(&self, name: &str) -> Option<String> {
        match &self.controller {
            Some(controller) => attribute(&controller.join(name)),
            None => attribute(&self.folder.join("device").join(name)),
        }
    }

    /// Returns the number of the namespace.
    pub fn namespace(&self) -> Option<u32> {
        let told =
            attribute(&self.queue.join("nsid")).or_else(|| attribute(&self.folder.join("nsid")));
        told?.parse().ok()
    }

    /// Returns the serial number, from wherever the kernel has it.
    pub(crate) fn serial(&self) -> Option<String> {
        let of_folder = |name: &str| attribute(&self.folder.join(name));
        self.device("serial").or_else(|| unit_serial(&self.folder)).or_else(|| of_folder("serial"))
    }

    /// Returns the world-wide name.
    pub(crate) fn wwid(&self) -> Option<String> {
        attribute(&self.folder.join("wwid")).or_else(|| attribute(&self.folder.join("device/wwid")))
    }

    /// Returns what carries requests to the drive, such as `pcie`, `sata`, `usb`.
    pub(crate) fn transport(&self) -> Option<String> {
        if let Some(transport) = self.device("transport") {
            return Some(transport);
        }
        let real = fs::canonicalize(&self.folder).ok()?;
        let parts: Vec<&str> = real.iter().filter_map(|part| part.to_str()).collect();
        let has = |prefix: &str| {
            parts.iter().any(|part| {
                let rest = part.strip_prefix(prefix);
                rest.is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()))
            })
        };
        // A drive in a USB case lies below both.
        let known = [("usb", "usb"), ("ata", "sata"), ("virtio", "virtio"), ("mmc", "mmc")];
        let known = known.iter().find(|(prefix, _)| has(prefix)).map(|(_, name)| *name);
        known.or_else(|| parts.contains(&"virtual").then_some("none")).map(str::to_owned)
    }

    /// Returns the PCI device of the drive or of what it is attached to.
    pub(crate) fn pci(&self) -> Option<PathBuf> {
        let start = match &self.controller {
            Some(controller) => controller.clone(),
            None => fs::canonicalize(&self.folder).ok()?,
        };
        let has_link =
            |folder: &&Path| folder.join("vendor").exists() && folder.join("class").exists();
        start
            .ancestors()
            .take_while(|folder| *folder != self.root)
            .find(has_link)
            .map(Path::to_owned)
    }

    /// Returns the PCIe link, where the drive itself is what it leads to.
    pub(crate) fn link(&self) -> Option<Link> {
        self.controller.as_ref()?;
        let pci = self.pci()?;
        let get = |name: &str| attribute(&pci.join(name));
        Some(Link {
            speed_gt: gigatransfers(&get("current_link_speed")?)?,
            width: lanes(&get("current_link_width")?)?,
            most_speed_gt: gigatransfers(&get("max_link_speed")?)?,
            most_width: lanes(&get("max_link_width")?)?,
        })
    }

    /// Returns the node of memory that the drive is nearest to; `None` where there is only one.
    pub(crate) fn numa_node(&self) -> Option<u32> {
        let told = self.device("numa_node").or_else(|| attribute(&self.pci()?.join("numa_node")));
        told?.parse::<i64>().ok()?.try_into().ok()
    }

    /// Returns the folders of the sensors that the kernel reads for this drive.
    pub(crate) fn sensors(&self) -> Vec<PathBuf> {
        let near = match &self.controller {
            Some(controller) => {
                vec![controller.clone(), controller.join("hwmon"), controller.join("device/hwmon")]
            }
            None => vec![self.folder.join("device/hwmon")],
        };
        let entries = near.into_iter().filter_map(|folder| fs::read_dir(folder).ok());
        let mut found: Vec<PathBuf> = entries
            .flat_map(|entries| entries.flatten().map(|entry| entry.path()))
            .filter(|path| file_name(path).starts_with("hwmon") && path.join("name").exists())
            .collect();
        found.sort();
        found.dedup_by_key(|path| file_name(path));
        found
    }

    /// Returns this device and everything below it, from the top down.
    pub fn layers(&self) -> Vec<PathBuf> {
        let mut layers = vec![self.folder.clone()];
        let mut level = vec![self.folder.clone()];
        for _ in 0..MOST_LAYERS {
            let below: Vec<PathBuf> = level
                .iter()
                .filter_map(|folder| fs::read_dir(folder.join("slaves")).ok())
                .flat_map(|entries| {
                    entries.flatten().filter_map(|entry| fs::canonicalize(entry.path()).ok())
                })
                .map(whole_drive)
                .collect();
            if below.is_empty() {
                break;
            }
            layers.extend(below.iter().cloned());
            level = below;
        }
        layers
    }
}

fn whole_drive(folder: PathBuf) -> PathBuf {
    match (folder.join("partition").exists(), folder.parent()) {
        (true, Some(parent)) => parent.to_owned(),
        (true, None) | (false, _) => folder,
    }
}

/// Returns whether `child`, such as `nvme0c1n2`, is a path to the head `head`, such as `nvme0n2`.
fn is_path_of(child: &str, head: &str) -> bool {
    let split = |name: &str| {
        let (subsystem, namespace) = name.strip_prefix("nvme")?.split_once('n')?;
        Some((subsystem.to_owned(), namespace.to_owned()))
    };
    let (Some((path, of)), Some((subsystem, namespace))) = (split(child), split(head)) else {
        return false;
    };
    path.split_once('c').is_some_and(|(name, _)| name == subsystem) && of == namespace
}

/// Returns the last part of a path.
pub fn file_name(path: &Path) -> String {
    path.file_name().map_or_else(String::new, |name| name.to_string_lossy().into_owned())
}

/// How fast the drive and the host talk, and how fast the drive could.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Link {
    pub(crate) speed_gt: f64,
    pub(crate) width: u32,
    pub(crate) most_speed_gt: f64,
    pub(crate) most_width: u32,
}

impl Link {
    /// Returns the share of its capability that the link runs at.
    pub(crate) fn share(&self) -> f64 {
        self.speed_gt * f64::from(self.width) / (self.most_speed_gt * f64::from(self.most_width))
    }

    /// Returns the finding where the link runs below the drive's capability.
    pub(crate) fn finding(&self) -> Option<Finding> {
        let Link { speed_gt, width, most_speed_gt, most_width } = self;
        // Speeds are exact in the kernel's words; the margin is for their last digit only.
        (self.share() < 0.999).then(|| {
            Finding::new(
                FindingKind::LinkBelowCapability,
                Severity::Warning,
                format!(
                    "the PCIe link runs at {speed_gt} GT/s × {width}, the drive can {most_speed_gt} \
                     GT/s × {most_width}: {:.0} % of it is left",
                    self.share() * 100.0
                ),
                "use a slot with all lanes of the right generation, and look at riser, cable and \
                 firmware settings",
            )
        })
    }
}

/// Reads a text such as `8.0 GT/s PCIe`.
fn gigatransfers(text: &str) -> Option<f64> {
    let number: f64 = text.split(' ').next()?.parse().ok()?;
    (number > 0.0 && number.is_finite()).then_some(number)
}

/// 0 and 255 stand for an unknown number of lanes.
fn lanes(text: &str) -> Option<u32> {
    text.parse().ok().filter(|lanes| (1..=32).contains(lanes))
}

#[cfg(test)]
mod tests;
