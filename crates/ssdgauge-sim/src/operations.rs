//! Operation counts: the basis of energy and of the ground truth.

/// Counts of flash operations since the drive was created or last purged.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Operations {
    /// Sense operations, for host reads and for copies.
    pub senses: u64,
    /// Program operations in native cells.
    pub programs: u64,
    /// Program operations in SLC mode.
    pub slc_programs: u64,
    /// Erased blocks, one for each die of a superblock.
    pub erases: u64,
}

impl Operations {
    /// Returns the counts of both.
    pub(crate) fn plus(self, other: Operations) -> Operations {
        Operations {
            senses: self.senses + other.senses,
            programs: self.programs + other.programs,
            slc_programs: self.slc_programs + other.slc_programs,
            erases: self.erases + other.erases,
        }
    }
}

/// Counts of all operations that take energy, since the drive was created or last purged.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Work {
    /// Commands of the host.
    pub commands: u64,
    /// Bytes moved over the link.
    pub link_bytes: u64,
    /// Flash operations.
    pub flash: Operations,
}
