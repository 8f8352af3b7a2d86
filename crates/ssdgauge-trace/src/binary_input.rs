//! Records of a fixed length from a binary file.

use crate::error::TraceError;
use std::io::{self, Read};

/// What a read of one record found.
pub(crate) enum Filled {
    /// All bytes.
    Whole,
    /// The end of the file, before the first byte.
    End,
    /// The end of the file, within the record.
    Cut,
}

/// Fills `bytes` from `input`.
pub(crate) fn fill(input: &mut impl Read, bytes: &mut [u8]) -> Result<Filled, TraceError> {
    let mut filled = 0;
    while filled < bytes.len() {
        match input.read(&mut bytes[filled..]) {
            Ok(0) if filled == 0 => return Ok(Filled::End),
            Ok(0) => return Ok(Filled::Cut),
            Ok(read) => filled += read,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(TraceError::from_io(&error)),
        }
    }
    Ok(Filled::Whole)
}

/// The remedy for a file that ends within a record.
pub(crate) const CUT: &str = "the file was cut off: copy it again";

/// Returns the eight bytes at `at` as a number.
pub(crate) fn long(bytes: &[u8], at: usize) -> u64 {
    u64::from_le_bytes(std::array::from_fn(|index| bytes[at + index]))
}

/// Returns the four bytes at `at` as a number.
pub(crate) fn word(bytes: &[u8], at: usize) -> u32 {
    u32::from_le_bytes(std::array::from_fn(|index| bytes[at + index]))
}
