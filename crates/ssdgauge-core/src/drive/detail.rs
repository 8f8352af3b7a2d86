//! The further facts about a drive that program logic reads.

/// A fact that [`crate::DriveInfo::details`] has as text. Facts that are only shown have no variant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Detail {
    /// The kernel's name of the drive, such as `nvme0n1`.
    KernelName,
    /// The device number, or the device below a scratch file.
    Device,
    /// The number that the kernel gives to each disk that appears.
    DiskSequence,
    /// The worldwide identifier of the namespace or the disk.
    Wwid,
    /// The interface and its generation, such as `PCIe 4.0 x4`.
    Interface,
    /// The transport by the kernel: `pcie`, `sata` or `usb`.
    Transport,
    /// The transfers a second and lane of the link, such as `16.0 GT/s PCIe`.
    LinkSpeed,
    /// The lanes of the link.
    LinkWidth,
    /// `1` where the kernel takes the drive for a rotational one.
    Rotational,
    /// `write back` for a drive with a volatile write cache, otherwise `write through`.
    WriteCache,
    /// The kind of flash.
    Cells,
    /// The interval at which the SMART attributes are read within a step, in seconds; 0 for never.
    HealthEvery,
    /// The interval at which the kernel's sensors of the drive are read, in seconds.
    TemperatureEvery,
    /// What counts the media writes of a real drive, or the reason why they are not known.
    MediaWrites,
    /// The character device that got NVMe commands which were passed through.
    CommandNode,
    /// The rated endurance in bytes that hosts may write.
    RatedEndurance,
    /// The percentage of the rated endurance that is used (NVMe SMART log, Percentage Used: 100 is the
    /// rated endurance, the value may be larger).
    EnduranceUsed,
    /// The capacity of the whole drive in bytes. A run may use a part of it; under a scratch file or a
    /// partition it is the identity of the disk.
    WholeCapacity,
    /// Where the capacity of an imported run is from.
    CapacityFrom,
    /// That the target does not support trims; missing where it does, or where that is not known.
    WithoutTrim,
    /// The seed of a virtual drive.
    Seed,
    /// The revision of the model, for a virtual drive: a number that is raised with every change of the
    /// model that moves a result.
    ModelRevision,
    /// That a virtual drive is the twin of a measured one, with the errors of its predictions: `twin of X, ± 3 to 21 %`.
    Twin,
    /// The digest of a virtual drive without its cooling: equal for a drive with and without a heat sink.
    UncooledDigest,
}

impl Detail {
    /// Returns the key in run files, which never changes.
    pub fn key(self) -> &'static str {
        match self {
            Detail::KernelName => "kernel_name",
            Detail::Device => "device",
            Detail::DiskSequence => "disk_sequence",
            Detail::Wwid => "wwid",
            Detail::Interface => "interface",
            Detail::Transport => "transport",
            Detail::LinkSpeed => "link_speed",
            Detail::LinkWidth => "link_width",
            Detail::Rotational => "rotational",
            Detail::WriteCache => "write_cache",
            Detail::Cells => "cells",
            Detail::HealthEvery => "health_every_s",
            Detail::TemperatureEvery => "temperature_every_s",
            Detail::MediaWrites => "media_writes",
            Detail::CommandNode => "command_node",
            Detail::RatedEndurance => "rated_endurance_bytes",
            Detail::EnduranceUsed => "percentage_used",
            Detail::WholeCapacity => "drive_capacity_bytes",
            Detail::CapacityFrom => "capacity_from",
            Detail::WithoutTrim => "without_trim",
            Detail::Seed => "seed",
            Detail::ModelRevision => "model_revision",
            Detail::Twin => "twin",
            Detail::UncooledDigest => "profile_digest_without_cooling",
        }
    }
}
