//! The class of a drive, by what was reported about it: interface, generation of the link and volatile
//! write cache. It is never assumed: a drive that does not report all of them has no class.

use ssdgauge_core::{Detail, DriveInfo, TargetKind};

/// A class of drives whose figures are near to each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DriveClass {
    /// NVMe on PCIe 3.0 or earlier, with a volatile write cache.
    NvmeClient,
    /// NVMe on PCIe 4.0 or later, with a volatile write cache.
    NvmeClientGen4,
    /// NVMe on PCIe 3.0 or earlier, without volatile write cache.
    NvmeProtected,
    /// NVMe on PCIe 4.0 or later, without volatile write cache.
    NvmeProtectedGen4,
    /// SATA, with a volatile write cache.
    SataClient,
    /// SATA, without volatile write cache.
    SataProtected,
}

impl DriveClass {
    /// Every class.
    pub const ALL: [DriveClass; 6] = [
        DriveClass::NvmeClient,
        DriveClass::NvmeClientGen4,
        DriveClass::NvmeProtected,
        DriveClass::NvmeProtectedGen4,
        DriveClass::SataClient,
        DriveClass::SataProtected,
    ];

    /// Returns the word used in JSON and in the data file of a cohort.
    pub fn key(self) -> &'static str {
        match self {
            DriveClass::NvmeClient => "nvme-client",
            DriveClass::NvmeClientGen4 => "nvme-client-gen4",
            DriveClass::NvmeProtected => "nvme-protected",
            DriveClass::NvmeProtectedGen4 => "nvme-protected-gen4",
            DriveClass::SataClient => "sata-client",
            DriveClass::SataProtected => "sata-protected",
        }
    }

    /// Returns the interface of the class: none of its drives is faster than that.
    pub fn interface(self) -> &'static str {
        match self {
            DriveClass::NvmeClient
            | DriveClass::NvmeClientGen4
            | DriveClass::NvmeProtected
            | DriveClass::NvmeProtectedGen4 => "NVMe",
            DriveClass::SataClient | DriveClass::SataProtected => "SATA",
        }
    }

    /// Returns the class in words.
    pub fn words(self) -> &'static str {
        match self {
            DriveClass::NvmeClient => "NVMe on PCIe 3.0, volatile write cache",
            DriveClass::NvmeClientGen4 => "NVMe on PCIe 4.0 or later, volatile write cache",
            DriveClass::NvmeProtected => "NVMe on PCIe 3.0, no volatile write cache",
            DriveClass::NvmeProtectedGen4 => "NVMe on PCIe 4.0 or later, no volatile write cache",
            DriveClass::SataClient => "SATA, volatile write cache",
            DriveClass::SataProtected => "SATA, no volatile write cache",
        }
    }
}

/// Transfers a second and lane from PCIe 4.0 on, in GT/s.
const GEN4: f64 = 16.0;

/// Returns the class of `drive`.
///
/// # Errors
///
/// Returns what was not reported, or why the drive is of no class.
pub fn class(drive: &DriveInfo) -> Result<DriveClass, &'static str> {
    const NO_SPEED: &str = "the speed of its link was not reported";
    let detail = |detail: Detail| drive.detail(detail);
    if drive.kind == TargetKind::Null {
        return Err("there is no drive");
    }
    if detail(Detail::Rotational) == Some("1") {
        return Err("it is reported as rotational, as disks of virtual machines are");
    }
    let is_protected = match detail(Detail::WriteCache) {
        Some("write through") => true,
        Some("write back") => false,
        Some(_) | None => return Err("the state of its write cache was not reported"),
    };
    let interface = detail(Detail::Interface).unwrap_or_default();
    // A drive behind USB or a RAID adapter is at another place in the tree of devices.
    if interface.starts_with("SATA") || detail(Detail::Transport) == Some("sata") {
        return Ok(sata(is_protected));
    }
    let generation = interface.strip_prefix("PCIe ").map(|text| text.chars().next());
    let is_gen4 = match (generation, detail(Detail::Transport)) {
        (Some(digit), _) => digit.and_then(|digit| digit.to_digit(10)).ok_or(NO_SPEED)? >= 4,
        (None, Some("pcie")) => {
            let speed = detail(Detail::LinkSpeed).and_then(|text| text.split(' ').next());
            speed.and_then(|text| text.parse::<f64>().ok()).ok_or(NO_SPEED)? >= GEN4
        }
        (None, Some("usb")) => return Err("it is behind USB"),
        // The kernel names drives behind RAID adapters as it names SATA drives.
        (None, Some(_) | None) => return Err("its interface was not reported"),
    };
    Ok(match (is_protected, is_gen4) {
        (false, false) => DriveClass::NvmeClient,
        (false, true) => DriveClass::NvmeClientGen4,
        (true, false) => DriveClass::NvmeProtected,
        (true, true) => DriveClass::NvmeProtectedGen4,
    })
}

fn sata(is_protected: bool) -> DriveClass {
    match is_protected {
        true => DriveClass::SataProtected,
        false => DriveClass::SataClient,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ssdgauge_core::Bytes;

    fn check(kind: TargetKind, details: &[(&str, &str)], expected: Option<DriveClass>) {
        let details = details.iter().map(|(key, value)| ((*key).into(), (*value).into()));
        let drive = DriveInfo {
            kind,
            target: "drive".into(),
            model: None,
            serial: None,
            firmware: None,
            capacity: Bytes(1),
            logical_block: Bytes(512),
            physical_block: Bytes(512),
            details: details.collect(),
        };
        assert_eq!(class(&drive).ok(), expected, "{:?}", drive.details);
    }

    #[test]
    fn a_class_needs_the_interface_the_generation_and_the_write_cache() {
        use DriveClass::*;
        use TargetKind::{Block, File, Null, Virtual};
        let (back, through) = (("write_cache", "write back"), ("write_cache", "write through"));
        let (pcie, gen3) = (("transport", "pcie"), ("link_speed", "8.0 GT/s PCIe"));
        let gen4 = ("link_speed", "16.0 GT/s PCIe");
        check(Block, &[pcie, gen3, back], Some(NvmeClient));
        check(File, &[pcie, gen4, back], Some(NvmeClientGen4));
        check(Block, &[pcie, gen3, through], Some(NvmeProtected));
        check(Block, &[pcie, gen4, through], Some(NvmeProtectedGen4));
        check(Virtual, &[("interface", "PCIe 3.0 x4"), back], Some(NvmeClient));
        check(Virtual, &[("interface", "SATA 6 Gb/s"), back], Some(SataClient));
        check(Virtual, &[("interface", "SATA 6 Gb/s"), through], Some(SataProtected));
        check(Block, &[("transport", "sata"), back], Some(SataClient));
        check(File, &[("transport", "sata"), through], Some(SataProtected));
        check(Block, &[("transport", "sata")], None);
        check(Block, &[("transport", "sata"), back, ("rotational", "1")], None);
        check(Block, &[("transport", "usb"), back], None);
        // What is not reported is not assumed.
        check(Block, &[pcie, gen3], None);
        check(Block, &[pcie, back], None);
        check(Block, &[back], None);
        check(Block, &[("kernel_name", "sda"), back], None);
        check(Block, &[pcie, gen3, back, ("rotational", "1")], None);
        check(Virtual, &[("interface", "PCIe x"), back], None);
        check(Null, &[pcie, gen3, back], None);
    }
}
