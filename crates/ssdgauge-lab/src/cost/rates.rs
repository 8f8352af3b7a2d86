//! Assumed rates of a drive, by what is known about it before the first request.
//!
//! The table must never hold figures that were read from a drive model or from the drive itself: a
//! virtual drive is assumed to be like a real one with the same interface and write cache.

use ssdgauge_core::{Bytes, Detail, DriveInfo, TargetKind};

/// Rates that the cost of a plan assumes for a drive. One MB is 10^6 bytes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AssumedRates {
    /// The class of drives in words.
    pub class: &'static str,
    /// Large sequential writes beyond any cache, in MB/s.
    pub large_write_mb_s: f64,
    /// Large writes into the cache, in MB/s.
    pub cached_write_mb_s: f64,
    /// Size of the cache as a share of the capacity; 0 for drives without one.
    pub cache_share: f64,
    /// The rate at which the cache is emptied while no request is in flight, in MB/s.
    pub refill_mb_s: f64,
    /// All writes of the flash together, those of garbage collection included, in MB/s. It exceeds the
    /// large writes where the link is slower than the flash.
    pub flash_write_mb_s: f64,
    /// Large reads, in MB/s.
    pub large_read_mb_s: f64,
    /// Whether reads and writes share the rate of the link.
    pub is_half_duplex: bool,
    /// The maximum number of reads of 4 KiB a second.
    pub read_iops: f64,
    /// The maximum number of writes of 4 KiB a second.
    pub write_iops: f64,
    /// Latency of a random read without its transfer, in microseconds.
    pub read_lat_us: f64,
    /// Latency of a sequential read without its transfer, in microseconds.
    pub sequential_read_lat_us: f64,
    /// Latency of a write without its transfer, in microseconds.
    pub write_lat_us: f64,
    /// Latency of a write that completes when it is non-volatile, in microseconds.
    pub durable_write_lat_us: f64,
    /// The maximum number of requests that the drive accepts at a time.
    pub queue_depth: f64,
    /// Spare area as a share of the capacity.
    pub spare: f64,
    /// Duration of a purge or a trim, in seconds.
    pub purge_s: f64,
}

/// A client drive on PCIe 3.0 with TLC flash, as in the reviews that the client suites follow.
const NVME_CLIENT: AssumedRates = AssumedRates {
    class: "an NVMe client drive",
    // 600 to 750 MB/s beyond the cache: 970 EVO 500 GB (pcper.com 2018/04, techpowerup.com).
    large_write_mb_s: 720.0,
    // Rated 2,300 to 2,500 MB/s (the same drive).
    cached_write_mb_s: 2_400.0,
    // 22 GB of 500 GB (thefpsreview.com 2020/06).
    cache_share: 0.044,
    // Chosen: folding takes about three times as long as a write beyond the cache.
    refill_mb_s: 300.0,
    flash_write_mb_s: 720.0,
    // Rated 3,400 MB/s.
    large_read_mb_s: 3_400.0,
    is_half_duplex: false,
    // Rated 370,000 and 450,000.
    read_iops: 370_000.0,
    write_iops: 450_000.0,
    // QD1: 14,000 random reads and 50,000 writes a second (hothardware.com, 960 EVO).
    read_lat_us: 70.0,
    // Chosen: read-ahead saves the access to the flash; 2 GB/s at 128 KiB and QD1.
    sequential_read_lat_us: 26.0,
    write_lat_us: 17.0,
    // One program operation of TLC flash: about 2 ms.
    durable_write_lat_us: 2_200.0,
    queue_depth: 1_024.0,
    // 500 GB of 512 GiB of flash.
    spare: 0.0995,
    // Chosen: a format or a discard of a small drive.
    purge_s: 1.2,
};

/// A client drive on PCIe 4.0 or later. Chosen: twice the rates of the link, of the cache and of the
/// requests a second, and three quarters of the latencies; flash of a later generation.
const NVME_CLIENT_GEN4: AssumedRates = AssumedRates {
    class: "an NVMe client drive on PCIe 4.0 or later",
    large_write_mb_s: 1_400.0,
    cached_write_mb_s: 5_000.0,
    refill_mb_s: 600.0,
    flash_write_mb_s: 1_400.0,
    large_read_mb_s: 7_000.0,
    read_iops: 800_000.0,
    write_iops: 900_000.0,
    read_lat_us: 55.0,
    write_lat_us: 13.0,
    ..NVME_CLIENT
};

/// A data-centre drive on PCIe 3.0: power-loss protection, no cache in front of the flash.
const NVME_DATACENTRE: AssumedRates = AssumedRates {
    class: "an NVMe drive without volatile write cache",
    // Rated 1.0 to 1.1 GB/s at 960 GB (AnandTech, data-centre reviews of 2019 and 2020).
    large_write_mb_s: 1_000.0,
    cached_write_mb_s: 1_000.0,
    cache_share: 0.0,
    refill_mb_s: 0.0,
    flash_write_mb_s: 1_000.0,
    // Rated 3.1 GB/s.
    large_read_mb_s: 3_100.0,
    // Rated 500,000 reads; writes into the protected buffer are as fast.
    read_iops: 500_000.0,
    write_iops: 500_000.0,
    read_lat_us: 78.0,
    // Writes of 4 KiB at QD1 of 12 to 15 us (the same reviews).
    write_lat_us: 12.0,
    durable_write_lat_us: 12.0,
    // 960 GB of 1 TiB of flash.
    spare: 0.145,
    ..NVME_CLIENT
};

/// A SATA client drive with TLC or QLC flash, which the kernel does not tell apart.
const SATA_CLIENT: AssumedRates = AssumedRates {
    class: "a SATA client drive",
    // Chosen: between 150 MB/s of QLC and 500 MB/s of large TLC drives beyond their cache.
    large_write_mb_s: 300.0,
    // Payload of SATA at 6 Gb/s.
    cached_write_mb_s: 540.0,
    cache_share: 0.044,
    refill_mb_s: 200.0,
    flash_write_mb_s: 300.0,
    large_read_mb_s: 560.0,
    is_half_duplex: true,
    // Rated 98,000 and 90,000.
    read_iops: 98_000.0,
    write_iops: 88_000.0,
    // QD1: 8,000 to 10,000 reads, 25,000 writes a second.
    read_lat_us: 105.0,
    sequential_read_lat_us: 60.0,
    write_lat_us: 32.0,
    // The tags of native command queuing.
    queue_depth: 32.0,
    ..NVME_CLIENT
};

/// A SATA data-centre drive: power-loss protection, no cache in front of the flash.
const SATA_DATACENTRE: AssumedRates = AssumedRates {
    class: "a SATA drive without volatile write cache",
    // Rated 500 to 560 MB/s: the link, not the flash, is the limit.
    large_write_mb_s: 540.0,
    cached_write_mb_s: 540.0,
    cache_share: 0.0,
    refill_mb_s: 0.0,
    // 40,000 steady random writes at a spare area of 14.5 % (AnandTech 14541) are 165 MB/s at a write
    // amplification of 4.2.
    flash_write_mb_s: 700.0,
    read_lat_us: 110.0,
    durable_write_lat_us: 32.0,
    // 480 GB of 512 GiB of flash.
    spare: 0.145,
    ..SATA_CLIENT
};

/// A rotational drive: no flash, so neither cache nor garbage collection.
const ROTATIONAL: AssumedRates = AssumedRates {
    class: "a rotational drive",
    // Chosen: between the outer and the inner tracks of a drive of 7,200 rpm.
    large_write_mb_s: 180.0,
    cached_write_mb_s: 180.0,
    cache_share: 0.0,
    refill_mb_s: 0.0,
    // No collection: the limit is the rate of requests.
    flash_write_mb_s: 1e6,
    large_read_mb_s: 180.0,
    read_iops: 200.0,
    write_iops: 400.0,
    // Half a revolution (4.2 ms) and a seek of about 8 ms.
    read_lat_us: 12_000.0,
    sequential_read_lat_us: 100.0,
    write_lat_us: 100.0,
    durable_write_lat_us: 12_000.0,
    spare: 0.145,
    ..SATA_CLIENT
};

/// No device: the engine alone.
const NO_DRIVE: AssumedRates = AssumedRates {
    class: "no drive",
    // Chosen: what the engine reaches on one processor, about 2 million requests a second.
    large_write_mb_s: 50_000.0,
    cached_write_mb_s: 50_000.0,
    cache_share: 0.0,
    flash_write_mb_s: 1e6,
    large_read_mb_s: 50_000.0,
    read_iops: 2e6,
    write_iops: 2e6,
    read_lat_us: 1.0,
    sequential_read_lat_us: 1.0,
    write_lat_us: 1.0,
    durable_write_lat_us: 1.0,
    purge_s: 0.0,
    ..NVME_CLIENT
};

/// The factor between the expected rates and those of the bounds, both ways. Chosen: the large writes of
/// drives of one class and year differ by about 2.
const SPREAD: f64 = 2.0;

/// The factor between the spare area that is expected and that of the bound for bytes. Chosen: drives
/// of 28 % spare area, the highest usual one, have about twice that of a class.
const SPREAD_OF_SPARE: f64 = 1.5;

/// The factor between the expected purge and that of the bound. Chosen: a format takes from one second to
/// some ten; an erase by overwriting takes longer and is not covered.
const SPREAD_OF_PURGE: f64 = 10.0;

/// Returns the rates that are assumed for `drive`, from its interface, its volatile write cache and
/// whether it is rotational, as the kernel reports them.
///
/// A scratch file has the rates of the device below the file system, where it is known. A device that
/// reports nothing is taken for an NVMe client drive.
pub fn assumed_rates(drive: &DriveInfo) -> AssumedRates {
    let of_device = class_of(drive);
    match drive.kind {
        // Chosen: a scratch file is small against its drive, so the cache holds it, and the flash that
        // is free elsewhere is spare area for it.
        TargetKind::File if of_device.cache_share > 0.0 => {
            AssumedRates { cache_share: 1.0, spare: 1.0, ..of_device }
        }
        TargetKind::File => AssumedRates { spare: 1.0, ..of_device },
        TargetKind::Block | TargetKind::Virtual | TargetKind::Null => of_device,
    }
}

/// Returns the rates of the class of `drive`.
fn class_of(drive: &DriveInfo) -> AssumedRates {
    let detail = |detail: Detail| drive.detail(detail).unwrap_or("");
    let (interface, kernel_name) = (detail(Detail::Interface), detail(Detail::KernelName));
    if drive.kind == TargetKind::Null {
        return NO_DRIVE;
    }
    // A disk of a virtual machine reports itself as rotational, whatever it is on.
    if detail(Detail::Rotational) == "1" && kernel_name.starts_with("sd") {
        return ROTATIONAL;
    }
    // `write through` is what the kernel reports for a drive without volatile write cache, such as one
    // with power-loss protection.
    let is_protected = detail(Detail::WriteCache) == "write through";
    // The kernel names SATA drives, and those of bridges to USB, alike.
    if interface.starts_with("SATA") || kernel_name.starts_with("sd") {
        return if is_protected { SATA_DATACENTRE } else { SATA_CLIENT };
    }
    let is_nvme = interface.starts_with("PCIe")
        || detail(Detail::Transport) == "pcie"
        || kernel_name.starts_with("nvme");
    // Transfers a second and lane, such as `16.0 GT/s PCIe`: 16 and more since PCIe 4.0.
    let gigatransfers =
        detail(Detail::LinkSpeed).split(' ').next().and_then(|text| text.parse().ok());
    let is_gen4 = gigatransfers.is_some_and(|rate: f64| rate >= 16.0)
        || ["PCIe 4", "PCIe 5"].iter().any(|name| interface.starts_with(name));
    match (is_nvme && is_protected, is_gen4) {
        (true, _) => NVME_DATACENTRE,
        (false, true) => NVME_CLIENT_GEN4,
        (false, false) => NVME_CLIENT,
    }
}

impl AssumedRates {
    /// Returns these rates with large writes of `rate` bytes a second; all other rates of writes are
    /// scaled with them.
    pub fn with_large_write(&self, rate: Bytes) -> AssumedRates {
        self.with_writes_times(rate.0 as f64 / 1e6 / self.large_write_mb_s)
    }

    /// Returns these rates with all rates of writes multiplied by `factor`, such as the ratio of a
    /// measured fill to the expected one.
    pub fn with_writes_times(&self, factor: f64) -> AssumedRates {
        AssumedRates {
            large_write_mb_s: self.large_write_mb_s * factor,
            cached_write_mb_s: self.cached_write_mb_s * factor,
            refill_mb_s: self.refill_mb_s * factor,
            flash_write_mb_s: self.flash_write_mb_s * factor,
            write_iops: self.write_iops * factor,
            ..*self
        }
    }

    /// Returns the rates of the slowest drive that the bound of the time covers.
    pub(super) fn slowest(&self) -> AssumedRates {
        AssumedRates {
            cache_share: 0.0,
            large_read_mb_s: self.large_read_mb_s / SPREAD,
            read_iops: self.read_iops / SPREAD,
            read_lat_us: self.read_lat_us * SPREAD,
            sequential_read_lat_us: self.sequential_read_lat_us * SPREAD,
            write_lat_us: self.write_lat_us * SPREAD,
            durable_write_lat_us: self.durable_write_lat_us * SPREAD,
            spare: self.spare / SPREAD_OF_SPARE,
            purge_s: self.purge_s * SPREAD_OF_PURGE,
            ..self.with_writes_times(1.0 / SPREAD)
        }
    }

    /// Returns the rates of the fastest drive that the bound of the bytes covers.
    pub(super) fn fastest(&self) -> AssumedRates {
        AssumedRates {
            cache_share: self.cache_share * SPREAD,
            large_read_mb_s: self.large_read_mb_s * SPREAD,
            read_iops: self.read_iops * SPREAD,
            read_lat_us: self.read_lat_us / SPREAD,
            sequential_read_lat_us: self.sequential_read_lat_us / SPREAD,
            write_lat_us: self.write_lat_us / SPREAD,
            durable_write_lat_us: self.durable_write_lat_us / SPREAD,
            queue_depth: NVME_CLIENT.queue_depth,
            spare: self.spare * SPREAD_OF_SPARE,
            ..self.with_writes_times(SPREAD)
        }
    }

    /// Returns the smallest and the largest rate of large writes that the bounds cover, in bytes a second.
    pub fn bounds_of_large_writes(&self) -> [Bytes; 2] {
        [self.slowest(), self.fastest()].map(|rates| Bytes((rates.large_write_mb_s * 1e6) as u64))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn drive(kind: TargetKind, details: &[(&str, &str)]) -> DriveInfo {
        let details = details.iter().map(|(key, value)| ((*key).into(), (*value).into()));
        DriveInfo {
            kind,
            target: "drive".into(),
            model: None,
            serial: None,
            firmware: None,
            capacity: Bytes(1_000_000_000_000),
            logical_block: Bytes(512),
            physical_block: Bytes(4_096),
            details: details.collect(),
        }
    }

    fn check(details: &[(&str, &str)], class: &AssumedRates) {
        assert_eq!(assumed_rates(&drive(TargetKind::Block, details)), *class, "{details:?}");
    }

    #[test]
    fn the_class_follows_from_interface_and_write_cache() {
        let nvme = [("kernel_name", "nvme0n1"), ("transport", "pcie")];
        check(&nvme, &NVME_CLIENT);
        let gen4 = [nvme[0], ("write_cache", "write back"), ("link_speed", "16.0 GT/s PCIe")];
        check(&gen4, &NVME_CLIENT_GEN4);
        check(&[nvme[0], ("write_cache", "write through")], &NVME_DATACENTRE);
        check(&[("kernel_name", "sda"), ("write_cache", "write back")], &SATA_CLIENT);
        check(&[("kernel_name", "sda"), ("write_cache", "write through")], &SATA_DATACENTRE);
        check(&[("kernel_name", "sda"), ("rotational", "1")], &ROTATIONAL);
        // A disk of a virtual machine reports itself as rotational and write through.
        let machine =
            [("kernel_name", "vda"), ("rotational", "1"), ("write_cache", "write through")];
        check(&machine, &NVME_CLIENT);
        check(&[], &NVME_CLIENT);
        check(&[("interface", "SATA 6 Gb/s")], &SATA_CLIENT);
        assert_eq!(assumed_rates(&drive(TargetKind::Null, &[])), NO_DRIVE);
    }

    #[test]
    fn a_scratch_file_is_small_against_the_cache_and_the_spare_area_of_its_drive() {
        let file = assumed_rates(&drive(TargetKind::File, &[("kernel_name", "nvme0n1")]));
        assert_eq!((file.cache_share, file.spare), (1.0, 1.0));
        assert_eq!(file.large_write_mb_s, NVME_CLIENT.large_write_mb_s);
    }

    #[test]
    fn a_given_rate_scales_all_writes_and_no_read() {
        let rates = NVME_CLIENT.with_large_write(Bytes(360_000_000));
        assert_eq!(rates.large_write_mb_s, 360.0);
        assert_eq!(rates.cached_write_mb_s, NVME_CLIENT.cached_write_mb_s / 2.0);
        assert_eq!(rates.large_read_mb_s, NVME_CLIENT.large_read_mb_s);
        let [least, most] = rates.bounds_of_large_writes();
        assert_eq!((least, most), (Bytes(180_000_000), Bytes(720_000_000)));
    }
}
