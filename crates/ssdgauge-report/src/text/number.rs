//! Numbers in words for people: as many digits as a reader can use, thousands set apart.

use ssdgauge_core::{Metric, Ratio};

/// The sign for a value that was not measured.
pub(crate) const NOTHING: &str = "–";

/// Returns `value` with three to four digits that count: `1,234`, `56.7`, `8.90`.
pub(crate) fn text(value: f64) -> String {
    let size = value.abs();
    let decimals = match size {
        _ if !value.is_finite() => return NOTHING.to_owned(),
        _ if size >= 99.95 || size == 0.0 => 0,
        _ if size >= 9.995 => 1,
        _ if size >= 0.0995 => 2,
        _ => 3,
    };
    grouped(&format!("{value:.decimals$}"))
}

/// Returns `value`, or a dash where there is none.
pub(crate) fn optional(value: Option<f64>) -> String {
    value.map_or_else(|| NOTHING.to_owned(), text)
}

/// Returns a count with its thousands set apart.
pub(crate) fn count(n: u64) -> String {
    grouped(&n.to_string())
}

/// Returns `value` with the unit of `metric`, such as `3,400 MB/s`.
pub(crate) fn with_unit(value: f64, metric: Metric) -> String {
    match metric.unit() {
        "" => text(value),
        unit => format!("{} {unit}", text(value)),
    }
}

/// Returns a capacity in decimal units, as on the label of a drive: `1.00 TB`, `500 GB`.
pub(crate) fn capacity(bytes: u64) -> String {
    const UNITS: [(&str, f64); 4] = [("TB", 1e12), ("GB", 1e9), ("MB", 1e6), ("kB", 1e3)];
    let value = bytes as f64;
    match UNITS.into_iter().find(|(_, unit)| value >= *unit) {
        Some((name, unit)) => format!("{} {name}", text(value / unit)),
        None => format!("{bytes} B"),
    }
}

/// Returns a ratio with so many decimals, and with half the width of its interval where that shows
/// in them.
pub(crate) fn ratio(ratio: Ratio, decimals: usize) -> String {
    let value = format!("{:.decimals$}", ratio.value);
    let Some((low, high)) = ratio.interval else { return value };
    let half = format!("{:.decimals$}", (high - ratio.value).max(ratio.value - low));
    match half.contains(|digit| matches!(digit, '1'..='9')) {
        true => format!("{value} ± {half}"),
        false => value,
    }
}

/// Returns milliseconds since 1970 as `2026-11-20 22:31 UTC`.
pub(crate) fn date(unix_ms: i64) -> String {
    let seconds = unix_ms.div_euclid(1_000);
    let (days, of_day) = (seconds.div_euclid(86_400), seconds.rem_euclid(86_400));
    let (year, month, day) = civil(days);
    let (hour, minute) = (of_day / 3_600, of_day % 3_600 / 60);
    format!("{year:04}-{month:02}-{day:02} {hour:02}:{minute:02} UTC")
}

/// Returns year, month and day of the proleptic Gregorian calendar for days since 1970.
///
/// The algorithm is `civil_from_days` by Howard Hinnant, on eras of 400 years.
fn civil(days: i64) -> (i64, i64, i64) {
    let shifted = days + 719_468;
    let era = shifted.div_euclid(146_097);
    let of_era = shifted.rem_euclid(146_097);
    let year_of_era = (of_era - of_era / 1_460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_from_march = (5 * of_year + 2) / 153;
    let day = of_year - (153 * month_from_march + 2) / 5 + 1;
    let month = if month_from_march < 10 { month_from_march + 3 } else { month_from_march - 9 };
    (year_of_era + era * 400 + i64::from(month <= 2), month, day)
}

fn grouped(digits: &str) -> String {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_three_significant_digits() {
        let cases = [
            (0.0, "0"),
            (0.0123, "0.012"),
            (0.5, "0.50"),
            (9.999, "10.0"),
            (56.78, "56.8"),
            (99.96, "100"),
            (1_234_567.8, "1,234,568"),
            (-1_234.0, "-1,234"),
            (f64::INFINITY, "–"),
        ];
        for (value, expected) in cases {
            assert_eq!(text(value), expected, "{value}");
        }
    }

    #[test]
    fn dates_follow_the_gregorian_calendar() {
        let cases = [
            (0, "1970-01-01 00:00 UTC"),
            (951_782_400_000, "2000-02-29 00:00 UTC"),
            (1_795_213_920_000, "2026-11-20 22:32 UTC"),
            (-1, "1969-12-31 23:59 UTC"),
        ];
        for (unix_ms, expected) in cases {
            assert_eq!(date(unix_ms), expected);
        }
        assert!(!date(i64::MAX).is_empty() && !date(i64::MIN).is_empty());
    }

    #[test]
    fn capacities_have_decimal_units() {
        assert_eq!(capacity(1_000_204_886_016), "1.00 TB");
        assert_eq!(capacity(500_107_862_016), "500 GB");
        assert_eq!(capacity(17), "17 B");
    }
    #[test]
    fn an_interval_below_the_last_decimal_is_omitted() {
        let of = |value, interval| ratio(Ratio { value, interval }, 2);
        assert_eq!(of(1.561, None), "1.56");
        assert_eq!(of(1.561, Some((1.557, 1.564))), "1.56");
        assert_eq!(of(1.561, Some((1.554, 1.563))), "1.56 ± 0.01");
    }
}
