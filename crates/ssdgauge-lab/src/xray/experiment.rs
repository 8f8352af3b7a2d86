//! The experiments of an X-ray.

/// An experiment: a step of the run, of which every answer of the drive is recorded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Experiment {
    /// Trim, and reads of trimmed addresses.
    Ceilings,
    /// Ascending writes until the fast cache is full.
    Cache,
    /// Reads during writes.
    Suspend,
    /// Bursts of writes after rests.
    Folding,
    /// Writes that are counted while the cache is full.
    Overflow,
    /// Bursts of writes into an empty write buffer.
    Buffer,
    /// Writes with flushes after them.
    Flush,
    /// Aligned and shifted random writes.
    MappingUnit,
    /// Random writes with one address bit held.
    Volumes,
    /// Random writes of each kind of data.
    Contents,
    /// Pairs of reads by distance.
    Units,
    /// Random overwrites of a full drive.
    Spare,
    /// Random writes up to the steady state.
    Steady,
    /// Reads in growing ranges.
    MapReach,
    /// Reads that heat the drive.
    Heating,
}

impl Experiment {
    /// All of them, in the order in which most drives see them.
    pub const ALL: [Experiment; 15] = [
        Experiment::Ceilings,
        Experiment::Cache,
        Experiment::Suspend,
        Experiment::Folding,
        Experiment::Overflow,
        Experiment::Buffer,
        Experiment::Flush,
        Experiment::MappingUnit,
        Experiment::Volumes,
        Experiment::Contents,
        Experiment::Units,
        Experiment::Spare,
        Experiment::Steady,
        Experiment::MapReach,
        Experiment::Heating,
    ];

    /// Returns the id of its test in the plan.
    pub fn key(self) -> &'static str {
        match self {
            Experiment::Ceilings => "ceilings",
            Experiment::Cache => "cache",
            Experiment::Suspend => "suspend",
            Experiment::Folding => "folding",
            Experiment::Overflow => "overflow",
            Experiment::Buffer => "write-buffer",
            Experiment::Flush => "flush",
            Experiment::MappingUnit => "mapping-unit",
            Experiment::Volumes => "volumes",
            Experiment::Contents => "contents",
            Experiment::Units => "units",
            Experiment::Spare => "spare",
            Experiment::Steady => "steady",
            Experiment::MapReach => "map-reach",
            Experiment::Heating => "heating",
        }
    }

    /// Returns the title of its test.
    pub(super) fn title(self) -> &'static str {
        match self {
            Experiment::Ceilings => "Link and command time",
            Experiment::Cache => "Fast cache",
            Experiment::Suspend => "Program suspend",
            Experiment::Folding => "Folding",
            Experiment::Overflow => "Overflow kind",
            Experiment::Buffer => "Write buffer",
            Experiment::Flush => "Flush",
            Experiment::MappingUnit => "Mapping unit",
            Experiment::Volumes => "Volumes",
            Experiment::Contents => "Compression and deduplication",
            Experiment::Units => "Parallel units",
            Experiment::Spare => "Spare area",
            Experiment::Steady => "Steady state",
            Experiment::MapReach => "Map reach",
            Experiment::Heating => "Throttle points",
        }
    }

    /// Returns the experiment of the test `id`.
    pub(super) fn from_key(id: &str) -> Option<Experiment> {
        Experiment::ALL.into_iter().find(|one| one.key() == id)
    }

    /// Returns whether it needs the fast cache as the experiment before it has left it. A drive that
    /// waits empties its cache, so a pause takes all of these experiments back to the trim.
    pub(super) fn is_of_cache(self) -> bool {
        self <= Experiment::Flush
    }

    /// Returns whether a part of it uses up spare area, so that only a trimmed drive can repeat it.
    pub(super) fn uses_spare_area(self) -> bool {
        matches!(self, Experiment::Spare | Experiment::Steady)
    }
}
