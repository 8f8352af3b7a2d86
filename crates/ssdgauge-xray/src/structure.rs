//! The structures that an X-ray looks for.

use serde::{Deserialize, Serialize};
use ssdgauge_core::name_of;

/// A structure of a drive that shows in its answers to a host.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Structure {
    /// The highest rate of reads: that of the host link, or of the controller.
    Link,
    /// The time of the controller for a read command.
    Command,
    /// Flash units that read at the same time.
    Units,
    /// Data on one unit before the next one follows.
    Chunk,
    /// The time of a page read in flash.
    PageRead,
    /// Whether a read suspends a program operation.
    Suspend,
    /// Whether a flush has to write data to flash.
    Flush,
    /// The time of a program operation of native cells.
    ProgramTime,
    /// The bytes of a program operation of native cells.
    ProgramUnit,
    /// Bytes that the drive takes before writes wait for flash.
    WriteBuffer,
    /// The fast cache of an empty drive.
    Cache,
    /// The write rate beyond the fast cache.
    NativeRate,
    /// How writes beyond the fast cache reach the flash.
    Overflow,
    /// The rate at which an idle drive empties its fast cache.
    Folding,
    /// What the map has one entry for.
    MappingUnit,
    /// Parts that share only the link and the controller.
    Volumes,
    /// The data whose map is available.
    MapReach,
    /// Whether data that can be compressed takes less flash.
    Compression,
    /// Whether data that the drive has already takes less.
    Deduplication,
    /// The temperature from which the drive is slower.
    Throttle,
    /// The temperature from which it is at full speed again.
    Resume,
    /// Flash beyond the capacity.
    Spare,
    /// Flash beyond the data that collection works with in the steady state.
    EffectiveSpare,
    /// Whether hot and cold data are kept apart.
    Separation,
}

/// The unit of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// 10^6 bytes per second.
    MegabytesPerSecond,
    /// Microseconds.
    Microseconds,
    /// A number.
    Count,
    /// Bytes.
    Bytes,
    /// 1 for yes, 0 for no.
    YesNo,
    /// Degrees Celsius.
    Celsius,
    /// Percent of the capacity.
    Percent,
}

impl Unit {
    /// Returns whether a figure in this unit can have `value`.
    pub fn has(self, value: f64) -> bool {
        let is_possible = match self {
            Unit::YesNo => value == 0.0 || value == 1.0,
            Unit::Count => value >= 1.0 && value.fract() == 0.0,
            Unit::MegabytesPerSecond | Unit::Microseconds | Unit::Bytes | Unit::Percent => {
                value >= 0.0
            }
            Unit::Celsius => true,
        };
        is_possible && value.is_finite()
    }

    /// Returns the word of JSON.
    pub fn key(self) -> &'static str {
        match self {
            Unit::MegabytesPerSecond => "MB/s",
            Unit::Microseconds => "us",
            Unit::Count => "count",
            Unit::Bytes => "bytes",
            Unit::YesNo => "yes-no",
            Unit::Celsius => "celsius",
            Unit::Percent => "percent",
        }
    }
}

impl Structure {
    /// Every structure, in the order in which they are looked for.
    pub const ALL: [Structure; 24] = [
        Structure::Link,
        Structure::Command,
        Structure::Units,
        Structure::Chunk,
        Structure::PageRead,
        Structure::Suspend,
        Structure::Flush,
        Structure::ProgramTime,
        Structure::ProgramUnit,
        Structure::WriteBuffer,
        Structure::Cache,
        Structure::NativeRate,
        Structure::Overflow,
        Structure::Folding,
        Structure::MappingUnit,
        Structure::Volumes,
        Structure::MapReach,
        Structure::Compression,
        Structure::Deduplication,
        Structure::Throttle,
        Structure::Resume,
        Structure::Spare,
        Structure::EffectiveSpare,
        Structure::Separation,
    ];

    /// Returns the word of the command line and of JSON.
    pub fn key(self) -> &'static str {
        name_of(&self)
    }

    /// Returns the structure called `key`.
    pub fn from_key(key: &str) -> Option<Structure> {
        Structure::ALL.into_iter().find(|structure| structure.key() == key)
    }

    /// Returns its name on the card.
    pub fn title(self) -> &'static str {
        match self {
            Structure::Link => "link ceiling",
            Structure::Command => "command time",
            Structure::Units => "parallel units",
            Structure::Chunk => "chunk on a unit",
            Structure::PageRead => "page read",
            Structure::Suspend => "program suspend",
            Structure::Flush => "flush writes flash",
            Structure::ProgramTime => "program time",
            Structure::ProgramUnit => "program unit",
            Structure::WriteBuffer => "write buffer",
            Structure::Cache => "fast cache, empty",
            Structure::NativeRate => "rate after it",
            Structure::Overflow => "overflow kind",
            Structure::Folding => "folding, idle",
            Structure::MappingUnit => "mapping unit",
            Structure::Volumes => "volumes",
            Structure::MapReach => "map at hand for",
            Structure::Compression => "compression",
            Structure::Deduplication => "deduplication",
            Structure::Throttle => "throttles at",
            Structure::Resume => "full speed at",
            Structure::Spare => "spare area",
            Structure::EffectiveSpare => "effective spare",
            Structure::Separation => "hot/cold separation",
        }
    }

    /// Returns the unit of its value.
    pub fn unit(self) -> Unit {
        match self {
            Structure::Link | Structure::NativeRate | Structure::Folding => {
                Unit::MegabytesPerSecond
            }
            Structure::Command | Structure::PageRead | Structure::ProgramTime => Unit::Microseconds,
            Structure::Units | Structure::Volumes => Unit::Count,
            Structure::Chunk
            | Structure::ProgramUnit
            | Structure::WriteBuffer
            | Structure::Cache
            | Structure::MappingUnit
            | Structure::MapReach
            | Structure::Spare => Unit::Bytes,
            Structure::Suspend
            | Structure::Flush
            | Structure::Overflow
            | Structure::Compression
            | Structure::Deduplication
            | Structure::Separation => Unit::YesNo,
            Structure::EffectiveSpare => Unit::Percent,
            Structure::Throttle | Structure::Resume => Unit::Celsius,
        }
    }

    /// Returns whether it is a structure of the drive alone: the link also depends on the slot and the host, and
    /// throttle points on the sensor and the cooling.
    pub fn is_inside(self) -> bool {
        match self {
            Structure::Link | Structure::Throttle | Structure::Resume => false,
            Structure::Command
            | Structure::Units
            | Structure::Chunk
            | Structure::PageRead
            | Structure::Suspend
            | Structure::Flush
            | Structure::ProgramTime
            | Structure::ProgramUnit
            | Structure::WriteBuffer
            | Structure::Cache
            | Structure::NativeRate
            | Structure::Overflow
            | Structure::Folding
            | Structure::MappingUnit
            | Structure::Volumes
            | Structure::MapReach
            | Structure::Compression
            | Structure::Deduplication
            | Structure::Spare
            | Structure::EffectiveSpare
            | Structure::Separation => true,
        }
    }

    /// Returns whether it shows only in the steady state of random writes, which costs several drive writes.
    pub fn needs_steady_state(self) -> bool {
        matches!(self, Structure::EffectiveSpare | Structure::Separation)
    }

    /// Returns the load and the rule, in one line.
    pub fn method(self) -> &'static str {
        match self {
            Structure::Link => "reads of trimmed addresses, 128 and 512 KiB agree",
            Structure::Command => "reads of one block at trimmed addresses, QD128 and QD256 agree",
            Structure::Units => "pairs of reads by distance, and rate of chosen units at depth",
            Structure::Chunk => "shortest distance of two reads that do not wait for each other",
            Structure::PageRead => "time between the ends of two reads on one unit",
            Structure::Suspend => "spread of the waits of reads during writes",
            Structure::Flush => "time of a flush after writes and after another flush",
            Structure::ProgramTime => "time of a flush after one write, and longest waits of reads",
            Structure::ProgramUnit => {
                "groups of writes into a full buffer, and rate × time ÷ units"
            }
            Structure::WriteBuffer => {
                "end of the full rate in bursts after pauses, with the cache full"
            }
            Structure::Cache => "first lasting drop of the rate in a sequential fill",
            Structure::NativeRate => "rate of the fill after the drop",
            Structure::Overflow => "bytes programmed for each byte written after the drop",
            Structure::Folding => "bytes that a burst finds free again, by the rest before it",
            Structure::MappingUnit => "largest shift of random writes that halves their rate",
            Structure::Volumes => "bits of the address that halve the rate of writes when held",
            Structure::MapReach => {
                "share of random reads that wait longer than a neighbouring read, by range"
            }
            Structure::Compression => "time and media writes of half random data, by random data",
            Structure::Deduplication => "time and media writes of a repeated block, by random data",
            Structure::Throttle => "temperature at which sequential reads become slower",
            Structure::Resume => "temperature at which they recover",
            Structure::Spare => "random overwrites of a full drive until the rate drops",
            Structure::EffectiveSpare => "write amplification of steady uniform random writes",
            Structure::Separation => {
                "write amplification of writes to zones 90/10 against uniform ones"
            }
        }
    }

    /// Returns the source of the method.
    pub fn source(self) -> &'static str {
        match self {
            Structure::Units | Structure::Chunk | Structure::PageRead => {
                "Chen, Lee, Zhang, HPCA 2011"
            }
            Structure::Spare => "Desnoyers, SYSTOR 2012 (write cliff)",
            Structure::EffectiveSpare => {
                "Desnoyers, SYSTOR 2012; Xiang and Kurkoski, arXiv 1110.4245"
            }
            Structure::Separation => "Desnoyers, ACM TOS 2014; SSD-iq, VLDB 2025",
            Structure::Link
            | Structure::Command
            | Structure::Suspend
            | Structure::Cache
            | Structure::NativeRate
            | Structure::Overflow
            | Structure::Folding
            | Structure::MappingUnit
            | Structure::Throttle
            | Structure::Resume => "own",
            Structure::Flush => "after StorScore (flush_check)",
            Structure::ProgramTime | Structure::ProgramUnit | Structure::WriteBuffer => {
                "after Queenie, SYSTOR 2022"
            }
            Structure::Volumes => "Kim et al., SSDcheck, MICRO 2018",
            Structure::MapReach => "after Kim (2020), with reads at the same time",
            Structure::Compression | Structure::Deduplication => "after StorScore",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde::de::IntoDeserializer;
    use serde::de::value::{Error, StrDeserializer};

    #[test]
    fn keys_lead_back_to_their_structures_and_match_their_json() {
        for structure in Structure::ALL {
            assert_eq!(Structure::from_key(structure.key()), Some(structure));
        }
        assert_eq!(Structure::from_key("planes"), None);
    }

    #[test]
    fn keys_never_change_and_are_those_of_cards() {
        let keys = [
            "link",
            "command",
            "units",
            "chunk",
            "page-read",
            "suspend",
            "flush",
            "program-time",
            "program-unit",
            "write-buffer",
            "cache",
            "native-rate",
            "overflow",
            "folding",
            "mapping-unit",
            "volumes",
            "map-reach",
            "compression",
            "deduplication",
            "throttle",
            "resume",
            "spare",
            "effective-spare",
            "separation",
        ];
        assert_eq!(Structure::ALL.map(Structure::key), keys);
        for (structure, key) in Structure::ALL.into_iter().zip(keys) {
            let read: StrDeserializer<'_, Error> = key.into_deserializer();
            assert_eq!(Structure::deserialize(read), Ok(structure));
        }
    }
}
