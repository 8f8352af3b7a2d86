//! The sysfs attributes of a block device: controller, link, queue, sensors, devices below it.
//!
//! The root of sysfs is a parameter, so that tests use a tree of files. This module never opens the
//! drive.

use ssdgauge_core::{Finding, FindingKind, Severity};
use ssdgauge_os::sysfs::{attribute, transport_by_place, unit_serial};
use std::fs;
use std::path::{Path, PathBuf};

/// The maximum depth of a stack of devices. Real stacks (file system, crypt, LVM, RAID, drive) have
/// up to five; the limit ends a loop in a malformed tree.
const MAX_LAYERS: usize = 8;

/// A block device in sysfs.
#[derive(Clone, Debug)]
pub struct SysfsDevice {
    /// The root of sysfs, usually `/sys`.
    root: PathBuf,
    /// The folder of the block device.
    pub folder: PathBuf,
    /// The folder of the device with the hardware queue: the block device, or the first path below
    /// a multipath head.
    pub(crate) queue: PathBuf,
    /// The folder of the NVMe controller; `None` for other drives.
    pub controller: Option<PathBuf>,
    /// The number of NVMe controllers that lead to the drive.
    pub(crate) paths: usize,
}

impl SysfsDevice {
    /// Returns the block device `major:minor` below `root`; for a partition, its drive.
    pub fn from_number(root: &Path, major: u32, minor: u32) -> Option<SysfsDevice> {
        let folder = fs::canonicalize(root.join(format!("dev/block/{major}:{minor}"))).ok()?;
        match folder.join("partition").exists() {
            true => Some(SysfsDevice::from_folder(root, folder.parent()?)),
            false => Some(SysfsDevice::from_folder(root, &folder)),
        }
    }

    /// Returns the block device with the folder `folder`.
    pub fn from_folder(root: &Path, folder: &Path) -> SysfsDevice {
        let folder = folder.to_owned();
        let mut device = SysfsDevice {
            root: root.to_owned(),
            queue: folder.clone(),
            folder,
            controller: None,
            paths: 0,
        };
        device.find_controller();
        device
    }

    /// Finds the controllers of an NVMe namespace. A namespace is a folder below its controller. A
    /// multipath head is below its subsystem instead, and each controller that leads to it has a
    /// hidden device, such as `nvme0c1n1`.
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

    /// Returns whether the device is a SCSI device of the kernel, as SATA and USB drives are.
    pub fn is_scsi(&self) -> bool {
        self.folder.join("device/scsi_level").exists()
    }

    /// Returns the kernel name of the device.
    pub fn name(&self) -> String {
        file_name(&self.folder)
    }

    /// Returns the name of the controller.
    pub(crate) fn controller_name(&self) -> Option<String> {
        self.controller.as_deref().map(file_name)
    }

    /// Returns an attribute of the hardware queue, or of the block device where that has none.
    pub fn queue_attribute(&self, name: &str) -> Option<String> {
        let own = attribute(&self.queue.join("queue").join(name));
        own.or_else(|| attribute(&self.folder.join("queue").join(name)))
    }

    /// Returns an attribute of the controller, or of the SCSI device.
    pub(crate) fn device_attribute(&self, name: &str) -> Option<String> {
        match &self.controller {
            Some(controller) => attribute(&controller.join(name)),
            None => attribute(&self.folder.join("device").join(name)),
        }
    }

    /// Returns the NVMe namespace identifier; `None` for other devices.
    pub fn namespace(&self) -> Option<u32> {
        let number =
            attribute(&self.queue.join("nsid")).or_else(|| attribute(&self.folder.join("nsid")));
        number?.parse().ok()
    }

    /// Returns the serial number: of the controller, the SCSI unit, or the block device.
    pub(crate) fn serial(&self) -> Option<String> {
        let own = |name: &str| attribute(&self.folder.join(name));
        self.device_attribute("serial")
            .or_else(|| unit_serial(&self.folder))
            .or_else(|| own("serial"))
    }

    /// Returns the world-wide name.
    pub(crate) fn wwid(&self) -> Option<String> {
        attribute(&self.folder.join("wwid")).or_else(|| attribute(&self.folder.join("device/wwid")))
    }

    /// Returns the transport, such as `pcie`, `sata`, `usb`.
    pub(crate) fn transport(&self) -> Option<String> {
        if let Some(transport) = self.device_attribute("transport") {
            return Some(transport);
        }
        transport_by_place(&self.folder).map(str::to_owned)
    }

    /// Returns the folder of the PCI device: the drive itself, or its host adapter.
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

    /// Returns the PCIe link of an NVMe drive; `None` for other drives, whose host adapter has it.
    pub(crate) fn link(&self) -> Option<PcieLink> {
        self.controller.as_ref()?;
        let pci = self.pci()?;
        let get = |name: &str| attribute(&pci.join(name));
        Some(PcieLink {
            speed_gt: gigatransfers(&get("current_link_speed")?)?,
            width: lanes(&get("current_link_width")?)?,
            max_speed_gt: gigatransfers(&get("max_link_speed")?)?,
            max_width: lanes(&get("max_link_width")?)?,
        })
    }

    /// Returns the NUMA node of the drive; `None` on a host with one node, for which
    /// the kernel reports -1.
    pub(crate) fn numa_node(&self) -> Option<u32> {
        let node = self
            .device_attribute("numa_node")
            .or_else(|| attribute(&self.pci()?.join("numa_node")));
        node?.parse::<i64>().ok()?.try_into().ok()
    }

    /// Returns the hwmon folders of the drive.
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

    /// Returns the folders of this device and of all devices below it, from the top down.
    pub fn layers(&self) -> Vec<PathBuf> {
        let mut layers = vec![self.folder.clone()];
        let mut level = vec![self.folder.clone()];
        for _ in 0..MAX_LAYERS {
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
    let (Some((path, path_namespace)), Some((subsystem, namespace))) = (split(child), split(head))
    else {
        return false;
    };
    path.split_once('c').is_some_and(|(name, _)| name == subsystem) && path_namespace == namespace
}

/// Returns the last component of a path.
pub fn file_name(path: &Path) -> String {
    path.file_name().map_or_else(String::new, |name| name.to_string_lossy().into_owned())
}

/// The speed (GT/s per lane) and width (lanes) of a PCIe link, negotiated and maximum of the drive.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct PcieLink {
    pub(crate) speed_gt: f64,
    pub(crate) width: u32,
    pub(crate) max_speed_gt: f64,
    pub(crate) max_width: u32,
}

impl PcieLink {
    /// Returns the negotiated share of the maximum throughput.
    pub(crate) fn share(&self) -> f64 {
        self.speed_gt * f64::from(self.width) / (self.max_speed_gt * f64::from(self.max_width))
    }

    /// Returns a finding where the link is below the capability of the drive.
    pub(crate) fn finding(&self) -> Option<Finding> {
        let PcieLink { speed_gt, width, max_speed_gt, max_width } = self;
        // The margin is for rounding: the kernel prints exact speeds, and a lost lane halves them.
        (self.share() < 0.999).then(|| {
            Finding::new(
                FindingKind::LinkBelowCapability,
                Severity::Warning,
                format!(
                    "the PCIe link runs at {speed_gt} GT/s × {width}, the drive supports \
                     {max_speed_gt} GT/s × {max_width}: {:.0} % of its throughput is available",
                    self.share() * 100.0
                ),
                "use a slot with all lanes of this PCIe generation; check riser, cable and \
                 firmware settings",
            )
        })
    }
}

/// Returns the gigatransfers per second of a text such as `8.0 GT/s PCIe`.
fn gigatransfers(text: &str) -> Option<f64> {
    let number: f64 = text.split(' ').next()?.parse().ok()?;
    (number > 0.0 && number.is_finite()).then_some(number)
}

/// Returns the number of lanes; `None` for 0 and 255, which mean unknown.
fn lanes(text: &str) -> Option<u32> {
    text.parse().ok().filter(|lanes| (1..=32).contains(lanes))
}

#[cfg(test)]
mod tests;
