//! Numbers in words for people: as many digits as a reader can use, thousands set apart.

use ssdgauge_core::rounded::{self, grouped};
use ssdgauge_core::{Bytes, Metric, Nanos, Ratio};

/// The sign for a value that was not measured.
pub const NOTHING: &str = "–";

/// Below this a power has the unit mW.
const SMALL: f64 = 0.0995;

/// Returns `value` with three to four digits that count: `1,234`, `56.7`, `8.90`, `0.00523`. A negative
/// one has the sign of mathematics, at which no line breaks.
pub fn text(value: f64) -> String {
    with_minus(&rounded::number(value))
}

/// Returns a number with the minus sign in place of a hyphen.
fn with_minus(number: &str) -> String {
    match number.strip_prefix('-') {
        Some(digits) => format!("\u{2212}{digits}"),
        None => number.to_owned(),
    }
}

/// Returns the value of a tick in full: `12.5`, `2,500`. A tick is never rounded to fewer digits.
pub fn tick(value: f64) -> String {
    let text = format!("{value:.6}");
    let text = text.trim_end_matches('0').trim_end_matches('.');
    with_minus(&grouped(if text == "-0" { "0" } else { text }))
}

/// Returns `value`, or a dash where there is none.
pub fn optional(value: Option<f64>) -> String {
    value.map_or_else(|| NOTHING.to_owned(), text)
}

/// Returns `value` with its unit, and with a space between them at which no line breaks.
pub fn measured(value: f64, metric: Metric) -> String {
    let is_small = value.abs() < SMALL && !metric.is_latency() && !metric.unit().is_empty();
    match is_small {
        true if has_own_unit(value, metric) => words(value, metric),
        true => format!("{}\u{a0}{}", text(value), metric.unit()),
        false => unbroken(&metric.about(value)),
    }
}

/// Returns `value` for a sentence of its own: with its unit, or after the name of the metric where that has
/// none, such as `write amplification 7.06`.
pub fn named(value: f64, metric: Metric) -> String {
    let value = measured(value, metric);
    match metric.unit() {
        "" if !value.ends_with('×') => {
            let (first, rest) = metric.title().split_at(1);
            format!("{}{rest} {value}", first.to_lowercase())
        }
        _ => value,
    }
}

/// Returns `value` where its unit is elsewhere, such as in the head of a column; with its unit where
/// that is another one: those of a latency and of less than 0.1 W.
pub fn words(value: f64, metric: Metric) -> String {
    match (metric.is_latency(), has_own_unit(value, metric)) {
        (true, _) => latency(value),
        (false, true) => format!("{}\u{a0}mW", text(value * 1e3)),
        (false, false) => text(value),
    }
}

/// Returns whether [`words`] of `value` have a unit of their own.
pub fn has_own_unit(value: f64, metric: Metric) -> bool {
    metric.is_latency() || (metric.unit() == "W" && value != 0.0 && value.abs() < SMALL)
}

/// Returns a latency: microseconds below 1 ms, milliseconds below 1 s.
pub fn latency(us: f64) -> String {
    unbroken(&rounded::latency(us))
}

/// Returns a latency at a tick, with all of its digits: `100 µs`, `2 ms`.
pub fn latency_tick(us: f64) -> String {
    match us {
        _ if us >= 1e6 => format!("{}\u{a0}s", tick(us / 1e6)),
        _ if us >= 1e3 => format!("{}\u{a0}ms", tick(us / 1e3)),
        _ => format!("{}\u{a0}µs", tick(us)),
    }
}

/// Returns a duration as a reader says it: `24 s`, `1 min 54 s`, `2 h 05 min`.
pub fn duration(seconds: f64) -> String {
    unbroken(&Nanos::from_secs(seconds.max(0.0).round() as u64).about())
}

/// Returns `text` with a space in front of each unit at which no line breaks.
fn unbroken(text: &str) -> String {
    let next = text.chars().skip(1).chain(['0']);
    let letter = |(letter, next): (char, char)| match letter {
        ' ' if !next.is_ascii_digit() => '\u{a0}',
        other => other,
    };
    text.chars().zip(next).map(letter).collect()
}

/// Returns the value of a tick in few letters: `500`, `2.5k`, `1M`.
pub fn short(value: f64) -> String {
    match value.abs() {
        size if size >= 1e6 => format!("{}M", tick(value / 1e6)),
        size if size >= 1e3 => format!("{}k", tick(value / 1e3)),
        _ => tick(value),
    }
}

/// Returns `text` with a space between each number and the unit that follows it directly: core writes
/// `2min` and `16GB` exactly as suites do. A hyphen in front of a number on its own becomes a minus.
pub fn spaced(text: &str) -> String {
    const UNITS: [&str; 13] =
        ["min", "ms", "µs", "ns", "KiB", "MiB", "GiB", "TiB", "GB", "MB", "TB", "s", "h"];
    let mut spaced = String::with_capacity(text.len() + 8);
    let mut after_digit = false;
    for (at, letter) in text.char_indices() {
        let rest = &text[at..];
        let is_unit = |unit: &str| {
            let next = rest.strip_prefix(unit).map(|rest| rest.chars().next());
            next.is_some_and(|next| next.is_none_or(|next| !next.is_alphabetic()))
        };
        if after_digit && UNITS.iter().any(|unit| is_unit(unit)) {
            spaced.push('\u{a0}');
        }
        let is_minus = letter == '-'
            && (at == 0 || text[..at].ends_with([' ', '(']))
            && rest[1..].starts_with(|next: char| next.is_ascii_digit());
        spaced.push(if is_minus { '\u{2212}' } else { letter });
        after_digit = letter.is_ascii_digit();
    }
    spaced
}

/// Returns `html` with a space at which no line breaks between each number and the unit after it. Units
/// of one letter are left out: a path of a drawing has such words.
pub fn units_kept(html: &str) -> String {
    const UNITS: [&str; 14] = [
        "%", "MB/s", "GB/s", "IOPS", "KiB", "MiB", "GB", "MB", "TB", "kB", "ms", "µs", "°C", "min",
    ];
    let mut kept = String::with_capacity(html.len() + html.len() / 64);
    let mut from = 0;
    for (at, _) in html.match_indices(' ') {
        let rest = &html[at + 1..];
        let is_unit = |unit: &str| {
            let next = rest.strip_prefix(unit).map(|rest| rest.chars().next());
            next.is_some_and(|next| next.is_none_or(|next| !next.is_alphanumeric()))
        };
        if html[..at].ends_with(|c: char| c.is_ascii_digit())
            && UNITS.iter().any(|unit| is_unit(unit))
        {
            kept.push_str(&html[from..at]);
            kept.push('\u{a0}');
            from = at + 1;
        }
    }
    kept.push_str(&html[from..]);
    kept
}

/// Returns a count with its thousands set apart.
pub fn count(n: u64) -> String {
    rounded::count(n)
}

/// Returns a capacity in decimal units, as on the label of a drive: `1.00 TB`, `500 GB`.
pub fn capacity(bytes: u64) -> String {
    Bytes(bytes).about()
}

/// Returns a size as [`capacity`] does, without digits that are zero: `64 GB`, `1 TB`.
pub fn plain_capacity(bytes: u64) -> String {
    let words = capacity(bytes);
    match words.split_once(' ') {
        Some((value, unit)) if value.contains('.') => {
            format!("{}\u{a0}{unit}", value.trim_end_matches('0').trim_end_matches('.'))
        }
        Some((value, unit)) => format!("{value}\u{a0}{unit}"),
        None => words,
    }
}

/// Returns the length of a request in binary units where it is a multiple of one, as fio writes it:
/// `4 KiB`, `1 MiB`, `1,536 B`.
pub fn block(bytes: Bytes) -> String {
    bytes.as_block()
}

/// Returns a ratio with so many decimals, and with half the width of its interval where that shows
/// in them.
pub fn ratio(ratio: Ratio, decimals: usize) -> String {
    let value = format!("{:.decimals$}", ratio.value);
    let Some((low, high)) = ratio.interval else { return value };
    let half = format!("{:.decimals$}", (high - ratio.value).max(ratio.value - low));
    match half.contains(|digit| matches!(digit, '1'..='9')) {
        true => format!("{value} ± {half}"),
        false => value,
    }
}

/// Returns a ratio as a change: `+7.1 %`.
pub fn change(ratio: f64) -> String {
    let percent = (ratio - 1.0) * 100.0;
    let text =
        if percent.abs() < 99.95 { format!("{percent:+.1}") } else { format!("{percent:+.0}") };
    format!("{} %", if matches!(&*text, "+0.0" | "-0.0") { "0.0" } else { &*text })
}

/// Returns a share in percent: `3 %`.
pub fn share(share: f64) -> String {
    let text = format!("{:.1}", share * 100.0);
    format!("{} %", text.trim_end_matches(".0"))
}

/// What is shown in place of the date of a run whose start is not known.
pub const DATE_UNKNOWN: &str = "date unknown";

/// Returns milliseconds since 1970 as `2026-11-20 22:31 UTC`; 0 is the start of a run that is not known.
pub fn date(unix_ms: i64) -> String {
    if unix_ms == 0 {
        return DATE_UNKNOWN.to_owned();
    }
    let seconds = unix_ms.div_euclid(1_000);
    let (days, of_day) = (seconds.div_euclid(86_400), seconds.rem_euclid(86_400));
    let (year, month, day) = civil(days);
    let (hour, minute) = (of_day / 3_600, of_day % 3_600 / 60);
    format!("{year:04}-{month:02}-{day:02} {hour:02}:{minute:02} UTC")
}

/// Returns milliseconds since 1970 as `2026-11-20`; 0 is the start of a run that is not known.
pub fn day(unix_ms: i64) -> String {
    match unix_ms {
        0 => DATE_UNKNOWN.to_owned(),
        _ => date(unix_ms).split(' ').next().unwrap_or_default().to_owned(),
    }
}

/// Returns the days of `starts` as `2026-11-20 to 2026-11-22`; those that are not known are named after them.
pub fn days(starts: impl Iterator<Item = i64>) -> String {
    let mut starts: Vec<i64> = starts.collect();
    starts.sort_unstable();
    let unknown = starts.iter().filter(|start| **start == 0).count();
    let known: Vec<i64> = starts.into_iter().filter(|start| *start != 0).collect();
    let [first, last] = [known.first(), known.last()].map(|one| one.copied().map(day));
    let days = match (first, last) {
        (Some(first), Some(last)) if first != last => format!("{first} to {last}"),
        (Some(day), _) => day,
        (None, _) if unknown > 0 => return DATE_UNKNOWN.to_owned(),
        (None, _) => return String::new(),
    };
    match unknown {
        0 => days,
        1 => format!("{days}, one date unknown"),
        unknown => format!("{days}, {unknown} dates unknown"),
    }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_three_significant_digits() {
        let cases = [
            (0.0, "0"),
            (0.0123, "0.0123"),
            (0.5, "0.50"),
            (9.999, "10.0"),
            (56.78, "56.8"),
            (99.96, "100"),
            (1_234_567.8, "1,234,568"),
            (-1_234.0, "\u{2212}1,234"),
            (0.005_231, "0.00523"),
            (0.045_6, "0.0456"),
            (0.000_000_4, "0.000"),
            (f64::INFINITY, "–"),
        ];
        for (value, expected) in cases {
            assert_eq!(text(value), expected, "{value}");
        }
    }

    #[test]
    fn a_power_of_little_is_in_milliwatts_everywhere() {
        for (value, alone, with_unit) in [
            (0.005, "5.00\u{a0}mW", "5.00\u{a0}mW"),
            (0.0994, "99.4\u{a0}mW", "99.4\u{a0}mW"),
            (0.5, "0.50", "0.50\u{a0}W"),
            (0.0, "0", "0\u{a0}W"),
        ] {
            assert_eq!(words(value, Metric::PowerW), alone);
            assert_eq!(measured(value, Metric::PowerW), with_unit);
        }
        assert_eq!(measured(0.01, Metric::Iops), "0.0100\u{a0}IOPS");
    }

    #[test]
    fn dates_follow_the_gregorian_calendar() {
        let cases = [
            (0, "date unknown"),
            (1, "1970-01-01 00:00 UTC"),
            (951_782_400_000, "2000-02-29 00:00 UTC"),
            (1_795_213_920_000, "2026-11-20 22:32 UTC"),
            (-1, "1969-12-31 23:59 UTC"),
        ];
        for (unix_ms, expected) in cases {
            assert_eq!(date(unix_ms), expected);
        }
        assert!(!date(i64::MAX).is_empty() && !date(i64::MIN).is_empty());
        assert_eq!(day(951_782_400_000), "2000-02-29");
        assert_eq!(day(0), "date unknown");
    }

    #[test]
    fn days_of_several_runs_name_those_that_are_not_known() {
        const DAY: i64 = 86_400_000;
        let cases: [(&[i64], &str); 7] = [
            (&[], ""),
            (&[0], "date unknown"),
            (&[0, 0], "date unknown"),
            (&[DAY, DAY + 5], "1970-01-02"),
            (&[3 * DAY, DAY], "1970-01-02 to 1970-01-04"),
            (&[DAY, 0], "1970-01-02, one date unknown"),
            (&[0, DAY, 0, 2 * DAY], "1970-01-02 to 1970-01-03, 2 dates unknown"),
        ];
        for (starts, expected) in cases {
            assert_eq!(days(starts.iter().copied()), expected);
        }
    }

    #[test]
    fn capacities_have_decimal_units() {
        assert_eq!(capacity(1_000_204_886_016), "1.00 TB");
        assert_eq!(capacity(500_107_862_016), "500 GB");
        assert_eq!(capacity(17), "17 B");
    }

    #[test]
    fn a_unit_stands_apart_from_its_number() {
        for (text, expected) in [
            ("mean of the last 2min", "mean of the last 2\u{a0}min"),
            ("the last 16GB, 2s", "the last 16\u{a0}GB, 2\u{a0}s"),
            ("QD32 and 70 % read", "QD32 and 70 % read"),
            ("4.1 to 3.6 (-12.3 %), 2026-11-20", "4.1 to 3.6 (\u{2212}12.3 %), 2026-11-20"),
            ("3strings, 4 s", "3strings, 4 s"),
        ] {
            assert_eq!(spaced(text), expected);
        }
        assert_eq!(
            units_kept("to 31 % in 5 min, 7 minutes"),
            "to 31\u{a0}% in 5\u{a0}min, 7 minutes"
        );
        assert_eq!(units_kept("<path d=\"M1 2 H3\"> 2 GB"), "<path d=\"M1 2 H3\"> 2\u{a0}GB");
        assert_eq!(latency(1_500.0), "1.50\u{a0}ms");
        assert_eq!(duration(120.0), "2\u{a0}min");
        assert_eq!(duration(114.2), "1\u{a0}min 54\u{a0}s");
        assert_eq!((short(2_500.0).as_str(), short(1e6).as_str()), ("2.5k", "1M"));
        assert_eq!(plain_capacity(64_000_000_000), "64\u{a0}GB");
    }

    #[test]
    fn requests_have_binary_units_and_ticks_all_of_their_digits() {
        let blocks = [(4_096, "4 KiB"), (1 << 20, "1 MiB"), (1_536, "1,536 B"), (0, "0 B")];
        for (bytes, expected) in blocks {
            assert_eq!(block(Bytes(bytes)), expected);
        }
        for (value, expected) in [
            (12.5, "12.5"),
            (0.1 + 0.2, "0.3"),
            (1e6, "1,000,000"),
            (-0.0, "0"),
            (2_500.0, "2,500"),
        ] {
            assert_eq!(tick(value), expected);
        }
    }

    #[test]
    fn an_interval_below_the_last_decimal_is_omitted() {
        let of = |value, interval| ratio(Ratio { value, interval, cut_seconds: [0, 0] }, 2);
        assert_eq!(of(1.561, None), "1.56");
        assert_eq!(of(1.561, Some((1.557, 1.564))), "1.56");
        assert_eq!(of(1.561, Some((1.554, 1.563))), "1.56 ± 0.01");
    }

    #[test]
    fn a_change_has_a_sign_and_no_negative_zero() {
        let check = |ratio, expected: &str| assert_eq!(change(ratio), expected);
        check(0.929, "-7.1 %");
        check(1.071, "+7.1 %");
        check(1.0, "0.0 %");
        check(0.9999, "0.0 %");
        check(3.641, "+264 %");
    }
}
