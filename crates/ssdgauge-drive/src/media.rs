//! What a drive has written to its media, by its own counters: which log page or attribute of a drive
//! counts it, and the counters at one time.
//!
//! [`LogSource`] is the table of log pages of NVMe drives, [`Family`] that of SMART attributes by the
//! family of a model. A drive that neither describes is not decoded: this module
//! never estimates. It only builds queries.

mod attributes;
mod logs;

pub(crate) use attributes::Family;
pub(crate) use logs::LogSource;

use crate::pass_through::{CommandError, PassThrough};
use crate::query;

/// A counter that never decreases, in its own granules.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Counter {
    /// The number of granules.
    pub(crate) count: u128,
    /// The size of a granule.
    pub(crate) unit: Unit,
}

/// The size of the granules of a counter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Unit {
    /// So many bytes.
    Bytes(u64),
    /// Pages of the flash, whose size the drive does not report.
    Pages,
}

/// The counters of written data at one time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Written {
    /// What hosts have written; `None` where the source counts the media alone.
    pub(crate) host: Option<Counter>,
    /// What was written to the media.
    pub(crate) media: Counter,
}

/// What counts the data that a drive writes to its media.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Source {
    /// A log page of an NVMe drive.
    Log(LogSource),
    /// SMART attributes of a SATA drive.
    Attributes(&'static Family),
}

impl Source {
    /// Returns the source of the drive behind `pass_through`, with the NVMe namespace `namespace`.
    ///
    /// # Errors
    /// The reason why the media writes of the drive are not known, in words.
    pub(crate) fn find(
        pass_through: &dyn PassThrough,
        namespace: Option<u32>,
    ) -> Result<Source, String> {
        match namespace {
            Some(namespace) => LogSource::find(pass_through, namespace).map(Source::Log),
            None => Family::find(pass_through).map(Source::Attributes),
        }
    }

    /// Returns the name in reports, such as `OCP log C0h`.
    pub(crate) fn name(&self) -> &'static str {
        match self {
            Source::Log(log) => log.name(),
            Source::Attributes(family) => family.name,
        }
    }

    /// Reads the counters.
    ///
    /// # Errors
    /// The drive rejects the query, or what it returned is malformed.
    pub(crate) fn read(&self, pass_through: &dyn PassThrough) -> Result<Written, CommandError> {
        let found = match self {
            Source::Log(log) => log.read(pass_through)?,
            Source::Attributes(family) => family.decode(&query::ata_attributes(pass_through)?),
        };
        found.ok_or_else(|| query::malformed(self.name()))
    }
}

impl Counter {
    /// Returns a counter of granules of `bytes` bytes.
    pub(crate) fn of_bytes(count: u128, bytes: u64) -> Counter {
        Counter { count, unit: Unit::Bytes(bytes) }
    }

    /// Returns the counted bytes; `None` for pages, and for more than any drive can write.
    pub(crate) fn bytes(self) -> Option<u64> {
        match self.unit {
            Unit::Bytes(bytes) => self.count.checked_mul(bytes.into())?.try_into().ok(),
            Unit::Pages => None,
        }
    }

    /// Returns the granules since `before` as an amount and the size of a granule, both in bytes or
    /// in pages; `None` where the counter decreased or changed its unit.
    ///
    /// A counter in bytes may count in larger steps. The largest power of two that divides both counts
    /// is such a step, or larger: a wider interval than needed, where a count is even by chance.
    pub(crate) fn since(self, before: Counter) -> Option<(f64, f64)> {
        if self.unit != before.unit {
            return None;
        }
        let unit = match self.unit {
            Unit::Bytes(bytes) => bytes as f64,
            Unit::Pages => 1.0,
        };
        let difference = self.count.checked_sub(before.count)?;
        let even = (self.count | before.count).trailing_zeros();
        // Without a difference nothing shows a larger step; a unit above a byte is one.
        let step = if self.unit == Unit::Bytes(1) && difference > 0 { even } else { 0 };
        Some((difference as f64 * unit, unit * 2f64.powi(step as i32)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_difference_has_the_granule_of_its_counts() {
        let bytes = |count| Counter::of_bytes(count, 1);
        assert_eq!(bytes(1_007).since(bytes(1_000)), Some((7.0, 1.0)));
        // Both counts are multiples of 4,096: the drive may count in pages.
        assert_eq!(bytes(12_288).since(bytes(4_096)), Some((8_192.0, 4_096.0)));
        let sectors = |count| Counter::of_bytes(count, 512);
        assert_eq!(sectors(1_008).since(sectors(1_000)), Some((8.0 * 512.0, 512.0)));
        assert_eq!(bytes(5).since(bytes(5)), Some((0.0, 1.0)));
        assert_eq!(bytes(4).since(bytes(5)), None, "a counter never decreases");
        assert_eq!(bytes(4).since(Counter { count: 1, unit: Unit::Pages }), None);
        // Beyond the integers that a floating-point number holds, the difference is exact.
        let large = 1u128 << 100;
        assert_eq!(bytes(large + 3).since(bytes(large)), Some((3.0, 1.0)));
        assert_eq!(bytes(large).bytes(), None);
    }
}
