//! A bounds-checked reader of the fields of a data structure that a drive returned.
//!
//! Firmware can return too few bytes or any value. A field beyond the end is `None`; this module
//! never panics on data.

/// A data structure with fields at fixed byte offsets, little-endian unless stated otherwise.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ByteReader<'a>(pub(crate) &'a [u8]);

impl<'a> ByteReader<'a> {
    /// Returns the `length` bytes from offset `at`.
    pub(crate) fn bytes(self, at: usize, length: usize) -> Option<&'a [u8]> {
        self.0.get(at..at.checked_add(length)?)
    }

    fn array<const N: usize>(self, at: usize) -> Option<[u8; N]> {
        self.bytes(at, N)?.try_into().ok()
    }

    /// Returns the byte at offset `at`.
    pub(crate) fn u8(self, at: usize) -> Option<u8> {
        self.0.get(at).copied()
    }

    /// Returns the little-endian number at offset `at`.
    pub(crate) fn u16(self, at: usize) -> Option<u16> {
        self.array(at).map(u16::from_le_bytes)
    }

    /// Returns the little-endian number at offset `at`.
    pub(crate) fn u32(self, at: usize) -> Option<u32> {
        self.array(at).map(u32::from_le_bytes)
    }

    /// Returns the little-endian number at offset `at`.
    pub(crate) fn u64(self, at: usize) -> Option<u64> {
        self.array(at).map(u64::from_le_bytes)
    }

    /// Returns the little-endian number at offset `at`.
    pub(crate) fn u128(self, at: usize) -> Option<u128> {
        self.array(at).map(u128::from_le_bytes)
    }

    /// Returns the big-endian number at offset `at`.
    pub(crate) fn be_u16(self, at: usize) -> Option<u16> {
        self.array(at).map(u16::from_be_bytes)
    }

    /// Returns the big-endian number at offset `at`.
    pub(crate) fn be_u32(self, at: usize) -> Option<u32> {
        self.array(at).map(u32::from_be_bytes)
    }

    /// Returns the text in the `length` bytes from offset `at` without its padding; `None` where it
    /// is empty. It is not sanitized: that happens where it is printed.
    pub(crate) fn text(self, at: usize, length: usize) -> Option<String> {
        let text = String::from_utf8_lossy(self.bytes(at, length)?);
        let text = text.trim_matches(['\0', ' ']).to_owned();
        (!text.is_empty()).then_some(text)
    }

    /// Returns the `length` bytes from offset `at` as hexadecimal digits; `None` where all are
    /// zero, which means "not reported" in every identifier of NVMe.
    pub(crate) fn identifier(self, at: usize, length: usize) -> Option<String> {
        let bytes = self.bytes(at, length)?;
        let is_reported = bytes.iter().any(|byte| *byte != 0);
        is_reported.then(|| bytes.iter().map(|byte| format!("{byte:02x}")).collect())
    }
}

/// Returns whether bit `number` of `value` is set, counted from 0.
pub(crate) fn bit(value: impl Into<u64>, number: u32) -> bool {
    value.into() >> number & 1 == 1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_field_beyond_the_end_is_none() {
        let reader = ByteReader(&[1, 2, 3]);
        assert_eq!(reader.u16(1), Some(0x0302));
        assert_eq!(reader.u16(2), None);
        assert_eq!(reader.u64(usize::MAX), None);
        assert_eq!(reader.text(0, 4), None);
        assert_eq!(ByteReader(b"  x\0 ").text(0, 5).as_deref(), Some("x"));
        assert_eq!(ByteReader(&[0; 8]).identifier(0, 8), None);
    }
}
