//! The data of writes.

use crate::units::names::name_of;
use serde::{Deserialize, Serialize};

/// The data of writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Data {
    /// Random data that a controller can neither compress nor deduplicate (definition D11).
    Incompressible,
    /// Zeros, for drives that compress.
    Zeros,
    /// One random block of 4 KiB again and again, for drives that deduplicate.
    Repeated,
    /// Of each 4 KiB, half is random and different each time, and the rest zeros, for drives that compress.
    Half,
}

impl Data {
    /// Every kind of data.
    pub const ALL: [Data; 4] = [Data::Incompressible, Data::Zeros, Data::Repeated, Data::Half];

    /// Returns the word used in suites and plans.
    pub fn name(self) -> &'static str {
        name_of(&self)
    }

    /// Returns whether each block carries a header by which a host verifies it.
    pub fn is_verified(self) -> bool {
        match self {
            Data::Incompressible => true,
            Data::Zeros | Data::Repeated | Data::Half => false,
        }
    }
}
