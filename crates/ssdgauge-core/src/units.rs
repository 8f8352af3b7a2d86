//! Sizes and durations as types, and the texts that they are read from.
//!
//! They have no `Display`: a text says whether it is for people ([`Bytes::about`], [`Bytes::as_block`],
//! [`Nanos::about`]) or exact, as it is typed (`exact`).

pub(crate) mod names;
pub(crate) mod packed;
pub mod rounded;
pub(crate) mod shell;

use serde::{Deserialize, Serialize};
use std::iter::Sum;
use std::ops::{Add, AddAssign, Mul, Sub};
use std::str::FromStr;
use thiserror::Error;

/// A number of bytes.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(transparent)]
pub struct Bytes(pub u64);

/// A duration, or a time on the clock of a rig, in nanoseconds.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(transparent)]
pub struct Nanos(pub u64);

/// The reason why a text is not a size or a duration.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum UnitError {
    /// The text does not begin with a number.
    #[error("'{0}' does not begin with a number")]
    NoNumber(String),
    /// The letters after the number are not a known unit; `1` lists the known ones.
    #[error("unknown unit '{0}' (known: {1})")]
    UnknownUnit(String, &'static str),
    /// The value does not fit into 64 bits.
    #[error("'{0}' is too large")]
    TooLarge(String),
    /// The value is not a whole number of bytes or nanoseconds.
    #[error("'{0}' is not a whole number of {1}")]
    NotWhole(String, &'static str),
}

const SIZE_UNITS: &[(&str, u64)] = &[
    ("", 1),
    ("B", 1),
    ("kB", 1_000),
    ("KB", 1_000),
    ("MB", 1_000_000),
    ("GB", 1_000_000_000),
    ("TB", 1_000_000_000_000),
    ("KiB", 1 << 10),
    ("kiB", 1 << 10),
    ("MiB", 1 << 20),
    ("GiB", 1 << 30),
    ("TiB", 1 << 40),
    // A bare letter is binary, as in fio.
    ("k", 1 << 10),
    ("K", 1 << 10),
    ("m", 1 << 20),
    ("M", 1 << 20),
    ("g", 1 << 30),
    ("G", 1 << 30),
    ("t", 1 << 40),
    ("T", 1 << 40),
];

const TIME_UNITS: &[(&str, u64)] = &[
    ("ns", 1),
    ("us", 1_000),
    ("µs", 1_000),
    ("ms", 1_000_000),
    ("s", 1_000_000_000),
    ("min", 60_000_000_000),
    ("m", 60_000_000_000),
    ("h", 3_600_000_000_000),
    ("d", 86_400_000_000_000),
];

/// Reads `NUMBER[.FRACTION]UNIT` exactly, without floating-point arithmetic.
fn parse(
    text: &str,
    units: &[(&str, u64)],
    known: &'static str,
    whole: &'static str,
) -> Result<u64, UnitError> {
    let text = text.trim();
    let end = text.find(|c: char| !c.is_ascii_digit() && c != '.' && c != '_');
    let (number, unit) = text.split_at(end.unwrap_or(text.len()));
    let digits: String = number.chars().filter(|c| *c != '_').collect();
    let (integer, fraction) = digits.split_once('.').unwrap_or((&digits, ""));
    if integer.is_empty() || fraction.contains('.') {
        return Err(UnitError::NoNumber(text.into()));
    }
    let unit = unit.trim();
    let factor = units
        .iter()
        .find(|(name, _)| *name == unit)
        .map(|(_, factor)| u128::from(*factor))
        .ok_or_else(|| UnitError::UnknownUnit(unit.into(), known))?;
    let too_large = || UnitError::TooLarge(text.into());
    // u64 has at most 20 digits. With 15 digits of fraction the product below fits into 128 bits.
    if integer.len() > 20 || fraction.len() > 15 {
        return Err(too_large());
    }
    let integer: u128 = integer.parse().map_err(|_| too_large())?;
    let mut value = integer * factor;
    if !fraction.is_empty() {
        let scale = 10u128.pow(fraction.len() as u32);
        let part = fraction.parse::<u128>().map_err(|_| too_large())? * factor;
        if part % scale != 0 {
            return Err(UnitError::NotWhole(text.into(), whole));
        }
        value += part / scale;
    }
    u64::try_from(value).map_err(|_| too_large())
}

impl FromStr for Bytes {
    type Err = UnitError;

    /// Reads `4KiB` (4,096), `4kB` (4,000), a bare `4k` (4,096, as in fio) or a number of bytes.
    ///
    /// # Errors
    /// When the text has no number, an unknown unit, a value that is not whole or above 2^64 − 1.
    fn from_str(text: &str) -> Result<Self, UnitError> {
        let known = "B, kB, MB, GB, TB, KiB, MiB, GiB, TiB; k, m, g, t are binary";
        parse(text, SIZE_UNITS, known, "bytes").map(Bytes)
    }
}

impl FromStr for Nanos {
    type Err = UnitError;

    /// Reads `100us`, `1.5s`, `10min`, `1h`; a unit is required, except for `0`.
    ///
    /// # Errors
    /// When the text has no number, an unknown unit, a value that is not whole or above 2^64 − 1.
    fn from_str(text: &str) -> Result<Self, UnitError> {
        if text.trim() == "0" {
            return Ok(Nanos::ZERO);
        }
        parse(text, TIME_UNITS, "ns, us, ms, s, min, h, d", "nanoseconds").map(Nanos)
    }
}

impl Bytes {
    /// Returns the size exactly, in the largest unit that needs no fraction, as it is typed: `64GB`,
    /// `4KiB`. Labels of steps have it, so it never changes; other texts have [`Bytes::about`].
    pub fn exact(self) -> String {
        const DECIMAL: [(&str, u64); 4] =
            [("TB", 1_000_000_000_000), ("GB", 1_000_000_000), ("MB", 1_000_000), ("kB", 1_000)];
        const BINARY: [(&str, u64); 4] =
            [("TiB", 1 << 40), ("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10)];
        let exact = |units: &[(&'static str, u64)]| {
            units.iter().copied().find(|(_, unit)| self.0 != 0 && self.0.is_multiple_of(*unit))
        };
        let shortest = match (exact(&DECIMAL), exact(&BINARY)) {
            (Some(decimal), Some(binary)) if self.0 / decimal.1 <= self.0 / binary.1 => {
                Some(decimal)
            }
            (decimal, None) => decimal,
            (_, binary) => binary,
        };
        match shortest {
            Some((name, unit)) => format!("{}{name}", self.0 / unit),
            None => format!("{}B", self.0),
        }
    }

    /// Returns the number of whole units in the size.
    pub fn blocks_of(self, unit: Bytes) -> u64 {
        self.0 / unit.0.max(1)
    }
}

fn decimals(value: u64, unit: u64) -> String {
    let text = format!("{:.1}", value as f64 / unit as f64);
    text.strip_suffix(".0").map(str::to_owned).unwrap_or(text)
}

fn pair(n: u64, per: u64, big: &str, small: &str) -> String {
    match n % per {
        0 => format!("{}{big}", n / per),
        rest => format!("{}{big} {rest}{small}", n / per),
    }
}

impl Nanos {
    /// Zero.
    pub const ZERO: Nanos = Nanos(0);
    /// One second, the length of an interval.
    pub const SECOND: Nanos = Nanos(1_000_000_000);

    /// Returns the duration as labels of steps have it: `250ms`, `1.5s`, `2min 10s`, `3h 20min`. It
    /// never changes; other texts have [`Nanos::about`].
    pub fn exact(self) -> String {
        const SECOND: u64 = 1_000_000_000;
        let seconds = self.0 / SECOND;
        match self.0 {
            0 => "0s".to_owned(),
            1..1_000 => format!("{}ns", self.0),
            1_000..1_000_000 => format!("{}us", decimals(self.0, 1_000)),
            1_000_000..SECOND => format!("{}ms", decimals(self.0, 1_000_000)),
            _ if seconds < 60 => format!("{}s", decimals(self.0, SECOND)),
            _ if seconds < 3_600 => pair(seconds, 60, "min", "s"),
            _ if seconds < 86_400 => pair(seconds / 60, 60, "h", "min"),
            _ => pair(seconds / 3_600, 24, "d", "h"),
        }
    }

    /// Returns `seconds` as a duration.
    pub const fn from_secs(seconds: u64) -> Nanos {
        Nanos(seconds * 1_000_000_000)
    }

    /// Returns the duration in seconds.
    pub fn as_secs_f64(self) -> f64 {
        self.0 as f64 / 1e9
    }

    /// Returns the duration in microseconds.
    pub fn as_micros_f64(self) -> f64 {
        self.0 as f64 / 1e3
    }

    /// Returns `self - other`, or zero where `other` is larger.
    pub fn saturating_sub(self, other: Nanos) -> Nanos {
        Nanos(self.0.saturating_sub(other.0))
    }
}

impl From<Nanos> for std::time::Duration {
    fn from(value: Nanos) -> Self {
        std::time::Duration::from_nanos(value.0)
    }
}

// Sums saturate: a plan may come from an untrusted file, and a wrapped sum would be a wrong number.
macro_rules! arithmetic {
    ($type:ident) => {
        impl Add for $type {
            type Output = $type;
            fn add(self, other: $type) -> $type {
                $type(self.0.saturating_add(other.0))
            }
        }
        impl AddAssign for $type {
            fn add_assign(&mut self, other: $type) {
                *self = *self + other;
            }
        }
        impl Sub for $type {
            type Output = $type;
            fn sub(self, other: $type) -> $type {
                $type(self.0 - other.0)
            }
        }
        impl Mul<u64> for $type {
            type Output = $type;
            fn mul(self, times: u64) -> $type {
                $type(self.0.saturating_mul(times))
            }
        }
        impl Sum for $type {
            fn sum<I: Iterator<Item = $type>>(values: I) -> $type {
                values.fold($type(0), |sum, value| sum + value)
            }
        }
    };
}
arithmetic!(Bytes);
arithmetic!(Nanos);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_read_in_all_their_forms() {
        for (text, bytes) in [
            ("4KiB", 4_096),
            ("4kB", 4_000),
            ("4k", 4_096),
            ("128 KiB", 131_072),
            ("64GB", 64_000_000_000),
            ("1.5GiB", 1_610_612_736),
            ("512", 512),
            ("1_000", 1_000),
            ("0", 0),
        ] {
            assert_eq!(text.parse(), Ok(Bytes(bytes)), "{text}");
        }
    }

    #[test]
    fn invalid_texts_are_refused_with_the_reason() {
        assert_eq!("".parse::<Bytes>(), Err(UnitError::NoNumber("".into())));
        assert_eq!("-4k".parse::<Bytes>(), Err(UnitError::NoNumber("-4k".into())));
        assert!(matches!("4XB".parse::<Bytes>(), Err(UnitError::UnknownUnit(..))));
        assert!(matches!("99999999TB".parse::<Bytes>(), Err(UnitError::TooLarge(_))));
        assert!(matches!("1.0001kB".parse::<Bytes>(), Err(UnitError::NotWhole(..))));
        assert!(matches!("10".parse::<Nanos>(), Err(UnitError::UnknownUnit(..))));
        assert!(matches!("1.2.3s".parse::<Nanos>(), Err(UnitError::NoNumber(_))));
    }

    #[test]
    fn a_written_size_is_read_back_equal() {
        for bytes in [0, 1, 512, 4_000, 4_096, 131_072, 64_000_000_000, 4 << 30, 68_719_476_736] {
            assert_eq!(Bytes(bytes).exact().parse(), Ok(Bytes(bytes)));
        }
        assert_eq!(Bytes(131_072).exact(), "128KiB");
        assert_eq!(Bytes(64_000_000_000).exact(), "64GB");
    }

    #[test]
    fn durations_are_read_and_written() {
        assert_eq!("1.5s".parse(), Ok(Nanos(1_500_000_000)));
        assert_eq!("1h".parse(), Ok(Nanos::from_secs(3_600)));
        for (nanos, text) in [
            (1_500_000_000, "1.5s"),
            (60_000_000_000, "1min"),
            (130_000_000_000, "2min 10s"),
            (12_000_000_000_000, "3h 20min"),
            (4_200, "4.2us"),
        ] {
            assert_eq!(Nanos(nanos).exact(), text);
        }
    }
}
