//! Numbers, sizes and times rounded for people: three significant digits, decimal units, thousands set
//! apart, a space in front of the unit. Every text but JSON, CSV and what can be typed again uses them.

use crate::units::{Bytes, Nanos};
use ssdgauge_statistics::cache::Edge;

/// The minimum value that has three digits: a microwatt is below what any meter reads. Chosen.
const LEAST: f64 = 1e-6;

/// Returns `value` with three to four significant digits: `1,234`, `56.7`, `8.90`, `0.00523`; a dash for
/// one that is not finite. A value and the ends of its interval are rounded alike, or the value would be
/// outside.
pub fn number(value: f64) -> String {
    let size = value.abs();
    let decimals = match size {
        _ if !value.is_finite() => return "–".to_owned(),
        // No quantity of a drive: its digits would fill lines.
        _ if size >= 1e15 => return format!("{value:.2e}"),
        _ if size >= 99.95 || size == 0.0 => 0,
        _ if size >= 9.995 => 1,
        _ if size >= 0.0995 => 2,
        _ if size >= LEAST => (2 - size.log10().floor() as i32) as usize,
        _ => 3,
    };
    grouped(&format!("{value:.decimals$}"))
}

/// The maximum number of decimals of a size with its uncertainty.
const MOST_DECIMALS: usize = 6;

/// Returns a latency: microseconds below 1 ms, milliseconds below 1 s.
pub fn latency(us: f64) -> String {
    match us {
        _ if us >= 1e6 => format!("{} s", number(us / 1e6)),
        _ if us >= 999.5 => format!("{} ms", number(us / 1e3)),
        _ => format!("{} µs", number(us)),
    }
}

/// Returns a number of things: `1 run`, `2 runs`, `2,048 runs`. `noun` takes an s in the plural.
pub fn count_of(count: usize, noun: &str) -> String {
    format!("{} {noun}{}", grouped(&count.to_string()), if count == 1 { "" } else { "s" })
}

/// Returns a count with its thousands set apart: `1,234,567`.
pub fn count(n: u64) -> String {
    grouped(&n.to_string())
}

/// The units of sizes and times in labels of steps.
const LABEL_UNITS: [&str; 15] =
    ["B", "kB", "MB", "GB", "TB", "KiB", "MiB", "GiB", "TiB", "ns", "us", "ms", "s", "min", "h"];

/// The maximum number of digits of a number in the label of a step that is shown as it is.
const LABEL_DIGITS: usize = 5;

/// Returns the label of a step, which is an exact key, for people: `128 KiB QD8` for `128KiB QD8`,
/// `500 GB` for `488281248KiB`, `12×` for `12x`.
pub fn step_label(label: &str) -> String {
    label.split(' ').map(label_word).collect::<Vec<_>>().join(" ")
}

fn label_word(word: &str) -> String {
    let unit = word.trim_start_matches(|c: char| c.is_ascii_digit() || c == '.');
    let digits = &word[..word.len() - unit.len()];
    match unit {
        _ if digits.is_empty() => word.to_owned(),
        "x" => format!("{digits}×"),
        _ if !LABEL_UNITS.contains(&unit) => word.to_owned(),
        _ if digits.len() <= LABEL_DIGITS => format!("{digits} {unit}"),
        _ => word.parse::<Bytes>().map_or_else(|_| format!("{digits} {unit}"), Bytes::about),
    }
}

/// Returns two rounded values as a range, with the unit once where both have the same one:
/// `8.01 to 8.12 ms`, `950 µs to 1.20 ms`.
pub fn range(low: &str, high: &str) -> String {
    match (low.split_once(' '), high.split_once(' ')) {
        (Some((number, unit)), Some((_, same))) if unit == same => format!("{number} to {high}"),
        _ => format!("{low} to {high}"),
    }
}

/// Returns the position of `edge` in three digits with its unit: `2.73 ± 0.49 GB`, or `at most 4.72 GB`.
pub fn edge(edge: &Edge) -> String {
    match edge.is_bounded_below() {
        true => Bytes(edge.bytes).about_within(Bytes(edge.uncertainty)),
        false => edge.in_words(|bytes| Bytes(bytes).about()),
    }
}

/// Returns the decimal digits of a number with its thousands set apart.
pub fn grouped(digits: &str) -> String {
    let (sign, digits) = match digits.strip_prefix('-') {
        Some(rest) => ("-", rest),
        None => ("", digits),
    };
    let (whole, fraction) = match digits.split_once('.') {
        Some((whole, fraction)) => (whole, format!(".{fraction}")),
        None => (digits, String::new()),
    };
    let mut text = String::new();
    for (index, digit) in whole.chars().enumerate() {
        if index > 0 && (whole.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    format!("{sign}{text}{fraction}")
}

impl Bytes {
    /// Returns the size rounded to three digits in powers of 1,000, in which drives and their endurance
    /// are rated: `1.00 TB`, `500 GB`, `14.7 TB`. `Display` is exact.
    pub fn about(self) -> String {
        const UNITS: [(&str, f64); 4] = [("TB", 1e12), ("GB", 1e9), ("MB", 1e6), ("kB", 1e3)];
        let value = self.0 as f64;
        // What three digits round up to a unit is written in it.
        match UNITS.into_iter().find(|(_, unit)| value >= *unit * 0.9995) {
            Some((name, unit)) => format!("{} {name}", number(value / unit)),
            None => format!("{} B", self.0),
        }
    }

    /// Returns the size as [`Bytes::about`] does, and in bytes, for one that is compared with another:
    /// `500 GB (500,107,862,016 bytes)`.
    pub fn about_and_exact(self) -> String {
        format!("{} ({} bytes)", self.about(), count(self.0))
    }

    /// Returns the size with its uncertainty, both in the unit of the size and with equal decimals:
    /// `2.73 ± 0.49 GB`. An uncertainty below the last of three digits gets as many as show it.
    pub fn about_within(self, uncertainty: Bytes) -> String {
        let about = self.about();
        let Some((value, unit)) = about.split_once(' ') else { return about };
        let scale = match unit {
            "TB" => 1e12,
            "GB" => 1e9,
            "MB" => 1e6,
            "kB" => 1e3,
            _ => 1.0,
        };
        let half = uncertainty.0 as f64 / scale;
        let least = value.split_once('.').map_or(0, |(_, fraction)| fraction.len());
        let shows = |decimals: &usize| half * 10f64.powi(*decimals as i32) >= 0.5;
        let decimals = (least..=MOST_DECIMALS).find(shows).unwrap_or(least);
        let written = |value: f64| grouped(&format!("{value:.decimals$}"));
        format!("{} ± {} {unit}", written(self.0 as f64 / scale), written(half))
    }

    /// Returns the length of a request or of a block in binary units where it is a multiple of one, as
    /// fio writes it: `4 KiB`, `1 MiB`, `1,536 B`.
    pub fn as_block(self) -> String {
        const KIB: u64 = 1 << 10;
        match self.0 {
            0 => "0 B".to_owned(),
            whole if whole.is_multiple_of(KIB * KIB) => {
                format!("{} MiB", count(whole >> 20))
            }
            whole if whole.is_multiple_of(KIB) => format!("{} KiB", count(whole >> 10)),
            whole => format!("{} B", count(whole)),
        }
    }
}

impl Nanos {
    /// Returns the duration rounded: `24 s`, `1 min 54 s`, `2 h 05 min`; below 1 s as [`latency`], and
    /// below 10 s with decimals where it is not a whole number: `1.50 s`.
    pub fn about(self) -> String {
        // A limit of a protocol is a whole number; a measured time has three digits.
        match self.0 {
            1..1_000_000_000 if self.0.is_multiple_of(1_000_000) => {
                return format!("{} ms", self.0 / 1_000_000);
            }
            1..1_000_000 if self.0.is_multiple_of(1_000) => {
                return format!("{} µs", self.0 / 1_000);
            }
            1..1_000_000_000 => return latency(self.as_micros_f64()),
            _ => {}
        }
        let seconds = number(self.as_secs_f64());
        let whole = self.as_secs_f64().round() as u64;
        match whole {
            0..10 if !seconds.ends_with(".00") => format!("{seconds} s"),
            0..90 => format!("{whole} s"),
            90..3_600 if whole.is_multiple_of(60) => format!("{} min", whole / 60),
            90..3_600 => format!("{} min {:02} s", whole / 60, whole % 60),
            _ => format!("{} h {:02} min", whole / 3_600, whole % 3_600 / 60),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_label_of_a_step_has_its_units_apart_and_no_more_digits_than_a_reader_can_use() {
        for (label, words) in [
            ("128KiB QD8", "128 KiB QD8"),
            ("488281248KiB", "500 GB"),
            ("span 1.5GB", "span 1.5 GB"),
            ("12x", "12×"),
            ("idle 100ms", "idle 100 ms"),
            ("80 % full", "80 % full"),
            ("70/30, 4K-ish", "70/30, 4K-ish"),
        ] {
            assert_eq!(step_label(label), words);
        }
    }

    #[test]
    fn a_range_repeats_its_unit_only_where_it_differs() {
        assert_eq!(range("8.01 ms", "8.12 ms"), "8.01 to 8.12 ms");
        assert_eq!(range("950 µs", "1.20 ms"), "950 µs to 1.20 ms");
        assert_eq!(range("10", "–"), "10 to –");
    }

    #[test]
    fn a_size_and_its_uncertainty_have_one_unit_and_equal_decimals() {
        for (size, uncertainty, expected) in [
            (2_730_000_000, 486_000_000, "2.73 ± 0.49 GB"),
            (36_100_000_000, 1_200_000_000, "36.1 ± 1.2 GB"),
            (1_000_000_000_000, 3_000_000_000, "1.000 ± 0.003 TB"),
            (250_000_000_000, 40_000_000_000, "250 ± 40 GB"),
            (900, 30, "900 ± 30 B"),
        ] {
            assert_eq!(Bytes(size).about_within(Bytes(uncertainty)), expected);
        }
    }

    #[test]
    fn rounded_sizes_have_three_digits() {
        for (bytes, words) in [
            (0, "0 B"),
            (999, "999 B"),
            (1_000, "1.00 kB"),
            (999_980_000, "1.00 GB"),
            (720_000_000, "720 MB"),
            (500_107_862_016, "500 GB"),
            (14_700_000_000_000, "14.7 TB"),
            (u64::MAX, "18,446,744 TB"),
        ] {
            assert_eq!(Bytes(bytes).about(), words);
        }
    }

    #[test]
    fn rounded_durations_have_two_units_at_most() {
        for (nanos, words) in [
            (0, "0 s"),
            (4_200, "4.20 µs"),
            (1_000_000, "1 ms"),
            (1_004_000, "1.00 ms"),
            (250_000_000, "250 ms"),
            (1_000_400_000, "1 s"),
            (1_500_000_000, "1.50 s"),
            (9_996_000_000, "10 s"),
            (24_400_000_000, "24 s"),
            (114_000_000_000, "1 min 54 s"),
            (120_000_000_000, "2 min"),
            (7_500_000_000_000, "2 h 05 min"),
        ] {
            assert_eq!(Nanos(nanos).about(), words);
        }
    }
}
