//! The formats of traces.

use std::str::FromStr;

/// A format of traces.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// The I/O log of fio (`write_iolog`), version 2 or 3.
    FioIolog,
    /// The text of blkparse.
    Blkparse,
    /// The records of blktrace, one file of one processor or several of them one after another.
    Blktrace,
    /// The CSV of MSR Cambridge.
    Msr,
    /// The CSV of Alibaba's block traces of 2020.
    Alibaba,
    /// The CSV of Tencent's block storage.
    Tencent,
    /// The CSV of Systor '17.
    Systor,
    /// The ASCII form of MQSim and DiskSim.
    Mqsim,
    /// The CSV of CloudPhysics.
    CloudPhysics,
    /// The records of virtual SCSI disks of CloudPhysics, version 1 or 2.
    Vscsi,
    /// The same as CSV, as libCacheSim has them.
    VscsiCsv,
    /// The request log of this program.
    RequestLog,
    /// The packed form of this program.
    Packed,
}

impl Format {
    /// Every format, in the order in which they are listed.
    pub const ALL: [Format; 13] = [
        Format::FioIolog,
        Format::Blkparse,
        Format::Blktrace,
        Format::Msr,
        Format::Alibaba,
        Format::Tencent,
        Format::Systor,
        Format::Mqsim,
        Format::CloudPhysics,
        Format::Vscsi,
        Format::VscsiCsv,
        Format::RequestLog,
        Format::Packed,
    ];

    /// Returns the name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Format::FioIolog => "fio-iolog",
            Format::Blkparse => "blkparse",
            Format::Blktrace => "blktrace",
            Format::Msr => "msr",
            Format::Alibaba => "alibaba",
            Format::Tencent => "tencent",
            Format::Systor => "systor",
            Format::Mqsim => "mqsim",
            Format::CloudPhysics => "cloudphysics",
            Format::Vscsi => "vscsi",
            Format::VscsiCsv => "vscsi-csv",
            Format::RequestLog => "request-log",
            Format::Packed => "packed",
        }
    }
}

impl FromStr for Format {
    type Err = String;

    fn from_str(name: &str) -> Result<Format, String> {
        Format::ALL.into_iter().find(|format| format.name() == name).ok_or_else(|| {
            let names = Format::ALL.map(Format::name).join(", ");
            format!("unknown format '{name}'; the formats are {names}")
        })
    }
}
