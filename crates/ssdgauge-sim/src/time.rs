//! Virtual time.

/// A point in virtual time, in nanoseconds since the drive was created.
pub(crate) type SimTime = u64;
