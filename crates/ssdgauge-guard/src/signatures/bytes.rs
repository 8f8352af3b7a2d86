//! Parts of the bytes that were read.

/// Returns `length` of `bytes` from `at` on; `None` beyond their end.
pub(super) fn bytes_at(bytes: &[u8], at: u64, length: usize) -> Option<&[u8]> {
    let at = usize::try_from(at).ok()?;
    bytes.get(at..at.checked_add(length)?)
}
