//! Numbers and texts as few bytes, and back. What is read may come from a stranger: nothing is taken on trust.

/// More of anything than a step has, which keeps sums from overflowing.
pub(crate) const MOST: u64 = 1 << 58;

/// Packs numbers as LEB128: small ones take one byte.
#[derive(Debug, Default)]
pub(crate) struct Packer(Vec<u8>);

impl Packer {
    pub(crate) fn number(&mut self, mut value: u64) {
        while value > 0x7f {
            self.0.push(value as u8 | 0x80);
            value >>= 7;
        }
        self.0.push(value as u8);
    }

    /// Adds a real number to the last bit.
    pub(crate) fn real(&mut self, value: f64) {
        self.0.extend_from_slice(&value.to_bits().to_le_bytes());
    }

    pub(crate) fn bytes(&mut self, bytes: &[u8]) {
        self.number(bytes.len() as u64);
        self.0.extend_from_slice(bytes);
    }

    pub(crate) fn flag(&mut self, is_set: bool) {
        self.0.push(u8::from(is_set));
    }

    pub(crate) fn finish(self) -> Vec<u8> {
        self.0
    }
}

/// Reads what a [`Packer`] wrote; `None` where the bytes are anything else.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Unpacker<'a>(pub(crate) &'a [u8]);

impl<'a> Unpacker<'a> {
    #[inline]
    pub(crate) fn byte(&mut self) -> Option<u8> {
        let (first, rest) = self.0.split_first()?;
        self.0 = rest;
        Some(*first)
    }

    #[inline]
    pub(crate) fn number(&mut self) -> Option<u64> {
        let (mut value, mut shift) = (0, 0);
        loop {
            let byte = self.byte()?;
            let bits = u64::from(byte & 0x7f);
            if shift >= u64::BITS || bits << shift >> shift != bits {
                return None;
            }
            value |= bits << shift;
            if byte & 0x80 == 0 {
                return Some(value);
            }
            shift += 7;
        }
    }

    /// Reads a number of at most `most`.
    #[inline]
    pub(crate) fn at_most(&mut self, most: u64) -> Option<u64> {
        self.number().filter(|number| *number <= most)
    }

    /// Reads how many items follow that take a byte or more each, so that no stranger makes it large.
    pub(crate) fn count(&mut self) -> Option<usize> {
        let count = self.number()?;
        usize::try_from(count).ok().filter(|count| *count <= self.0.len())
    }

    /// Reads a finite number.
    pub(crate) fn real(&mut self) -> Option<f64> {
        self.any_real().filter(|value| value.is_finite())
    }

    /// Reads a number that may be infinite.
    pub(crate) fn any_real(&mut self) -> Option<f64> {
        let (bits, rest) = self.0.split_first_chunk()?;
        self.0 = rest;
        Some(f64::from_bits(u64::from_le_bytes(*bits))).filter(|value| !value.is_nan())
    }

    pub(crate) fn bytes(&mut self) -> Option<&'a [u8]> {
        let length = self.count()?;
        let (bytes, rest) = self.0.split_at(length);
        self.0 = rest;
        Some(bytes)
    }

    pub(crate) fn text(&mut self) -> Option<&'a str> {
        std::str::from_utf8(self.bytes()?).ok()
    }

    pub(crate) fn flag(&mut self) -> Option<bool> {
        match self.byte()? {
            0 => Some(false),
            1 => Some(true),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_packed_is_read_back_and_nothing_else() {
        let numbers = [0, 1, 127, 128, 300, 1 << 42, u64::MAX];
        let mut packer = Packer::default();
        numbers.into_iter().for_each(|number| packer.number(number));
        packer.real(-0.1);
        packer.bytes("power_w".as_bytes());
        packer.flag(true);
        let bytes = packer.finish();
        let mut unpacker = Unpacker(&bytes);
        assert!(numbers.into_iter().all(|number| unpacker.number() == Some(number)));
        assert_eq!((unpacker.real(), unpacker.text()), (Some(-0.1), Some("power_w")));
        assert_eq!((unpacker.flag(), unpacker.byte()), (Some(true), None));
        // Eleven bytes, a tenth one with bits beyond 64, an end within a number, a length beyond the end.
        assert_eq!(Unpacker(&[0x80; 11]).number(), None);
        assert_eq!(Unpacker(&[255, 255, 255, 255, 255, 255, 255, 255, 255, 2]).number(), None);
        assert_eq!(Unpacker(&[0x80]).number(), None);
        assert_eq!(Unpacker(&[3, 1, 2]).bytes(), None);
        assert_eq!(Unpacker(&f64::NAN.to_le_bytes()).any_real(), None);
        assert_eq!(Unpacker(&f64::INFINITY.to_le_bytes()).real(), None);
    }
}
