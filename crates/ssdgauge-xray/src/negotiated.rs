//! What the negotiated link of a drive carries, by the kernel or by its description: no ceiling of reads is higher.

use serde::{Deserialize, Serialize};
use ssdgauge_core::{Detail, DriveInfo};

/// The transfers a second and lane of the generations of PCI Express, in GT/s (PCI Express Base Specification 6.0, table
/// 1-1).
const GENERATIONS: [f64; 6] = [2.5, 5.0, 8.0, 16.0, 32.0, 64.0];
/// The share of a link below which its ceiling may be that of the controller. Chosen: headers of packets of 128 bytes, the
/// smallest that are in use, leave 0.84 of it.
const OF_LINK: f64 = 0.8;

/// A negotiated link.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct NegotiatedLink {
    /// Its name, such as `PCIe 4.0 x4`.
    pub name: String,
    /// The bytes that it carries, headers of packets included, in 10^6 bytes per second.
    pub mb_s: f64,
}

impl NegotiatedLink {
    /// Returns the link of `drive`: what the kernel has read from it, otherwise what its description states; `None` where
    /// neither is known.
    pub fn of(drive: &DriveInfo) -> Option<NegotiatedLink> {
        let speed = drive.detail(Detail::LinkSpeed).and_then(|text| text.split(' ').next());
        let speed: Option<f64> = speed.and_then(|text| text.parse().ok());
        if let (Some(speed), Some(lanes)) = (speed, drive.number(Detail::LinkWidth)) {
            let generation = GENERATIONS.iter().position(|known| *known == speed)?;
            return pcie(generation + 1, lanes);
        }
        let interface = drive.detail(Detail::Interface)?;
        if let Some(rest) = interface.strip_prefix("PCIe ") {
            let (generation, lanes) = rest.split_once(" x")?;
            return pcie(generation.strip_suffix(".0")?.parse().ok()?, lanes.parse().ok()?);
        }
        // Ten bits on the wire for each byte (Serial ATA, 8b/10b).
        let gb_s: f64 = interface.strip_prefix("SATA ")?.strip_suffix(" Gb/s")?.parse().ok()?;
        Some(NegotiatedLink { name: interface.into(), mb_s: gb_s * 100.0 })
    }

    /// Returns whether a ceiling of up to `mb_s` may be that of the controller, because the link carries more.
    pub fn is_above(&self, mb_s: f64) -> bool {
        mb_s < OF_LINK * self.mb_s
    }
}

fn pcie(generation: usize, lanes: u32) -> Option<NegotiatedLink> {
    let transfers = GENERATIONS.get(generation.checked_sub(1)?)?;
    // Code of the wire: 8b/10b, 128b/130b, and flits of which 242 of 256 bytes are packets.
    let code = match generation {
        1 | 2 => 8.0 / 10.0,
        3..=5 => 128.0 / 130.0,
        _ => 242.0 / 256.0,
    };
    let mb_s = transfers * 1e3 / 8.0 * code * f64::from(lanes);
    (1..=32)
        .contains(&lanes)
        .then(|| NegotiatedLink { name: format!("PCIe {generation}.0 x{lanes}"), mb_s })
}

#[cfg(test)]
mod tests {
    use super::*;
    use ssdgauge_core::{Bytes, TargetKind};

    fn link(details: &[(Detail, &str)]) -> Option<(String, f64)> {
        let mut drive = DriveInfo {
            kind: TargetKind::Block,
            target: "a".into(),
            model: None,
            serial: None,
            firmware: None,
            capacity: Bytes(1 << 30),
            logical_block: Bytes(512),
            physical_block: Bytes(4_096),
            details: Default::default(),
        };
        details.iter().for_each(|(detail, text)| drive.state(*detail, *text));
        NegotiatedLink::of(&drive).map(|link| (link.name, link.mb_s.round()))
    }

    #[test]
    fn rates_of_links_are_those_of_their_specifications() {
        let of_kernel =
            |speed, width| link(&[(Detail::LinkSpeed, speed), (Detail::LinkWidth, width)]);
        // Published: 985 MB/s for a lane of PCIe 3.0, 1,969 and 3,938 of 4.0 and 5.0, 500 of 2.0.
        assert_eq!(of_kernel("8.0 GT/s PCIe", "4"), Some(("PCIe 3.0 x4".into(), 3_938.0)));
        assert_eq!(of_kernel("16.0 GT/s PCIe", "1"), Some(("PCIe 4.0 x1".into(), 1_969.0)));
        assert_eq!(of_kernel("5.0 GT/s PCIe", "2"), Some(("PCIe 2.0 x2".into(), 1_000.0)));
        assert_eq!(link(&[(Detail::Interface, "PCIe 5.0 x4")]).unwrap().1, 15_754.0);
        assert_eq!(link(&[(Detail::Interface, "SATA 6 Gb/s")]).unwrap().1, 600.0);
        for unknown in ["PCIe", "PCIe 3.0", "PCIe 9.0 x4", "USB 3.2", "PCIe 4.0 x0", "SATA"] {
            assert_eq!(link(&[(Detail::Interface, unknown)]), None, "{unknown}");
        }
        // What the kernel has read counts, not what is stated.
        let slot = [
            (Detail::Interface, "PCIe 4.0 x4"),
            (Detail::LinkSpeed, "8.0 GT/s PCIe"),
            (Detail::LinkWidth, "2"),
        ];
        assert_eq!(link(&slot), Some(("PCIe 3.0 x2".into(), 1_969.0)));
    }
}
