//! Values, intervals and structures in words, for cards and pages.

use crate::answer::Value;
use crate::structure::{Structure, Unit};
use ssdgauge_core::{Bytes, rounded};

/// Returns `value` with its unit.
pub fn shown(value: f64, unit: Unit) -> String {
    match unit {
        Unit::MegabytesPerSecond => format!("{} MB/s", rounded::number(value)),
        Unit::Microseconds => rounded::latency(value),
        Unit::Count => format!("{value:.0}"),
        // A chunk is some whole pages.
        Unit::Bytes if value < 16e6 && value % 4_096.0 == 0.0 => Bytes(value as u64).as_block(),
        Unit::Bytes => Bytes(value.max(0.0) as u64).about(),
        Unit::YesNo => if value > 0.5 { "yes" } else { "no" }.into(),
        Unit::Celsius => format!("{value:.0} °C"),
        Unit::Percent => format!("{value:.1} %"),
    }
}

/// Returns the interval of `value`; nothing for yes and no.
pub fn shown_interval(value: &Value, unit: Unit) -> String {
    if value.low == value.high {
        return match unit {
            Unit::YesNo => String::new(),
            Unit::MegabytesPerSecond
            | Unit::Microseconds
            | Unit::Count
            | Unit::Bytes
            | Unit::Celsius
            | Unit::Percent => "exact".into(),
        };
    }
    let (low, high) = (shown(value.low, unit), shown(value.high, unit));
    let (number, _) = low.split_once(' ').unwrap_or((&low, ""));
    match low.split_once(' ').map(|low| low.1) == high.split_once(' ').map(|high| high.1) {
        true => format!("{number}-{high}"),
        false => format!("{low}-{high}"),
    }
}

/// Returns what `structure` is, as one sentence for readers who build no drives.
pub fn meaning(structure: Structure) -> &'static str {
    match structure {
        Structure::Link => {
            "The connection to the host, or the controller where it is slower; no read is faster."
        }
        Structure::Command => {
            "The time that the controller takes for one read command, with no flash involved. It \
             limits the rate of small reads."
        }
        Structure::Units => {
            "Parts of the flash that read at the same time: dies, or planes that read alone."
        }
        Structure::Chunk => {
            "Data in a row on one unit before the next unit follows; a longer read uses several \
             units at once."
        }
        Structure::PageRead => {
            "The time in which a page gets from the flash cells to the register of its die; no \
             read of stored data is shorter."
        }
        Structure::Suspend => {
            "Whether a read interrupts a program operation, or waits for its end; this decides \
             how slow reads during writes are."
        }
        Structure::Flush => {
            "Whether a flush has data to write. If not, the buffer outlives a loss of power, or the drive ignores it: \
             times cannot tell."
        }
        Structure::ProgramTime => {
            "How long a program operation of native cells keeps a unit busy. It decides how long reads \
             may wait for one."
        }
        Structure::ProgramUnit => {
            "The bytes that one program operation writes: all planes of a unit, and all bits of \
             their cells."
        }
        Structure::WriteBuffer => {
            "Bytes in the memory of the drive that writes fill before they wait for flash."
        }
        Structure::Cache => {
            "Data that an empty drive takes at full speed before the rate drops; mostly flash \
             with one bit in each cell (SLC cache)."
        }
        Structure::NativeRate => "The write rate after the fast cache is full.",
        Structure::Overflow => {
            "Whether writes after the fast cache is full pass through it and are programmed twice, or \
             go to the flash directly."
        }
        Structure::Folding => {
            "The rate at which an idle drive moves data out of its fast cache, which becomes free \
             for the next writes."
        }
        Structure::MappingUnit => {
            "What the map of the drive has one entry for. A smaller write is completed by a read, \
             and programmed as a whole."
        }
        Structure::Volumes => {
            "Parts of the drive that addresses are split into, each with flash and collection of its own; the link is \
             shared."
        }
        Structure::MapReach => {
            "The data whose map is in the memory of the drive, or in a buffer in that of the host. Reads beyond it read \
             their part of the map from flash first."
        }
        Structure::Compression => {
            "Whether the drive stores less for data that can be compressed, so that rates and spare area depend on \
             what is written."
        }
        Structure::Deduplication => "Whether the drive stores a block once that it has already.",
        Structure::Throttle => "The temperature from which the drive is slower, to stay cool.",
        Structure::Resume => "The temperature at which it is at full speed again.",
        Structure::Spare => {
            "Flash beyond the stated capacity. Garbage collection needs it: with more of it, \
             random writes to a full drive are faster."
        }
        Structure::EffectiveSpare => {
            "Flash beyond the capacity that garbage collection works with in the steady state of \
             random writes, in percent of the capacity."
        }
        Structure::Separation => {
            "Whether data that is often overwritten gets flash of its own; then garbage collection \
             copies less of the rest."
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn intervals_repeat_their_unit_only_where_it_differs() {
        let value = |low, high| Value { value: low, low, high };
        assert_eq!(shown_interval(&value(10.0, 12.0), Unit::MegabytesPerSecond), "10.0-12.0 MB/s");
        assert_eq!(shown(3_386.4, Unit::MegabytesPerSecond), "3,386 MB/s");
        assert_eq!(shown_interval(&value(0.9e9, 1.1e9), Unit::Bytes), "900 MB-1.10 GB");
        assert_eq!(shown_interval(&Value::exact(16.0), Structure::Units.unit()), "exact");
        assert_eq!(shown_interval(&Value::exact(1.0), Unit::YesNo), "");
    }

    #[test]
    fn each_structure_has_a_meaning_of_its_own_that_ends_as_a_sentence() {
        let meanings = Structure::ALL.map(meaning);
        for (number, one) in meanings.iter().enumerate() {
            assert!(one.ends_with('.') && one.len() < 160, "{one}");
            assert!(!meanings[..number].contains(one), "{one}");
        }
    }
}
