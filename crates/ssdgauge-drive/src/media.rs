//! What a drive has written to its media, by its own counters: which log page or attribute of a drive
//! counts it, and the counters at one time.
//!
//! [`LogSource`] is the table of log pages of NVMe drives, [`Family`] that of SMART attributes by the
//! family of a model. A drive that neither describes is not decoded: this module
//! never estimates. It only builds queries.

mod attributes;
mod logs;

pub(crate) use attributes::{Family, WIDE, may_wrap};
pub(crate) use logs::LogSource;

use crate::pass_through::{CommandError, PassThrough};
use crate::query;

/// The write amplification below which counters are wrong, or a drive compresses.
pub(crate) const LEAST_AMPLIFICATION: f64 = 0.95;

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
    /// What hosts have written; `None` where the source counts only the media.
    pub(crate) host: Option<Counter>,
    /// What was written to the media.
    pub(crate) media: Counter,
    /// Whether `host` may be only the low 32 bits of the sectors.
    pub(crate) may_wrap: bool,
}

/// What counts the data that a drive writes to its media.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Source {
    /// A log page of an NVMe drive.
    Log(LogSource),
    /// SMART attributes of a SATA drive with logical blocks of so many bytes.
    Attributes(&'static Family, u64),
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
            None => {
                Family::find(pass_through).map(|(family, block)| Source::Attributes(family, block))
            }
        }
    }

    /// Returns the name in reports, such as `OCP log C0h`.
    pub(crate) fn name(&self) -> &'static str {
        match self {
            Source::Log(log) => log.name(),
            Source::Attributes(family, _) => family.name,
        }
    }

    /// Returns how the source is known to be right, in words.
    pub(crate) fn evidence(&self) -> String {
        match self {
            Source::Log(log) => log.evidence().into(),
            Source::Attributes(family, _) => family.evidence(),
        }
    }

    /// Returns the bytes by which the counter of hosts increases where hosts write `data` bytes.
    pub(crate) fn host_bytes(&self, data: u64) -> f64 {
        match self {
            Source::Log(log) => data as f64 * log.host_bytes_per_byte(),
            Source::Attributes(..) => data as f64,
        }
    }

    /// Reads the counters.
    ///
    /// # Errors
    /// The drive rejects the query, or what it returned is malformed.
    pub(crate) fn read(&self, pass_through: &dyn PassThrough) -> Result<Written, CommandError> {
        let found = match self {
            Source::Log(log) => log.read(pass_through)?,
            Source::Attributes(family, block) => family.read(pass_through, *block)?,
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
    /// A counter in bytes may count in larger steps. The greatest common divisor of both counts, and
    /// of the `earlier` ones, is such a step, or a multiple of it: a wider interval than needed, where
    /// the counts share a divisor by chance.
    pub(crate) fn since(self, before: Counter, earlier: Steps) -> Option<(f64, f64)> {
        if self.unit != before.unit {
            return None;
        }
        let unit = match self.unit {
            Unit::Bytes(bytes) => bytes as f64,
            Unit::Pages => 1.0,
        };
        let difference = self.count.checked_sub(before.count)?;
        // Without a difference nothing shows a larger step; a unit above a byte is one.
        let step = match self.unit == Unit::Bytes(1) && difference > 0 {
            true => earlier.with(before).with(self).0,
            false => 1,
        };
        Some((difference as f64 * unit, unit * step as f64))
    }
}

/// The greatest common divisor of the counts of one counter; 0 before the first count.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Steps(u128);

impl Steps {
    /// Returns the steps with a further count.
    pub(crate) fn with(self, counter: Counter) -> Steps {
        let (mut divisor, mut rest) = (self.0, counter.count);
        while rest > 0 {
            (divisor, rest) = (rest, divisor % rest);
        }
        Steps(divisor)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_difference_has_the_granule_of_its_counts() {
        let bytes = |count| Counter::of_bytes(count, 1);
        let since = |now: Counter, before| now.since(before, Steps::default());
        assert_eq!(since(bytes(1_007), bytes(1_000)), Some((7.0, 1.0)));
        // Both counts are multiples of 4,096: the drive may count in pages.
        assert_eq!(since(bytes(12_288), bytes(4_096)), Some((8_192.0, 4_096.0)));
        let sectors = |count| Counter::of_bytes(count, 512);
        assert_eq!(since(sectors(1_008), sectors(1_000)), Some((8.0 * 512.0, 512.0)));
        assert_eq!(since(bytes(5), bytes(5)), Some((0.0, 1.0)));
        assert_eq!(since(bytes(4), bytes(5)), None, "a counter never decreases");
        assert_eq!(since(bytes(4), Counter { count: 1, unit: Unit::Pages }), None);
        // Beyond the integers that a floating-point number holds, the difference is exact.
        let large = 1u128 << 100;
        assert_eq!(since(bytes(large + 3), bytes(large)), Some((3.0, 1.0)));
        assert_eq!(bytes(large).bytes(), None);
    }

    #[test]
    fn the_granule_is_the_greatest_common_divisor_of_all_counts() {
        let bytes = |count| Counter::of_bytes(count, 1);
        for step in [512_000, 1_000_000_000, 1 << 30, 3] {
            let (before, now) = (bytes(1_001 * step), bytes(1_310 * step));
            let amount = 309.0 * step as f64;
            assert_eq!(now.since(before, Steps::default()), Some((amount, step as f64)), "{step}");
        }
        // Two counts that are even by chance; an earlier one shows the smaller step.
        let (before, now) = (bytes(2_000_000), bytes(3_000_000));
        assert_eq!(now.since(before, Steps::default()), Some((1e6, 1e6)));
        let earlier = Steps::default().with(bytes(1_512_000));
        assert_eq!(now.since(before, earlier), Some((1e6, 8_000.0)));
    }
}
