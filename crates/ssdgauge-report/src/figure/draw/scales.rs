//! Scales: the position of values on an axis, and its ticks.

use crate::chart::axis::nice;
use crate::figure::chart::Scale;
use crate::text::number;

/// An axis ready to be drawn: its range and step in its own coordinate.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Range {
    /// Its lower end.
    pub(super) low: f64,
    /// Its upper end.
    pub(super) high: f64,
    /// From tick to tick.
    pub(super) step: f64,
}

/// The percentile axis ends here: 99.9999 %.
const TAIL_END: f64 = 6.0;

/// Returns the coordinate of `value`; the logarithmic scales have none for what is not positive.
pub(super) fn place(scale: Scale, value: f64) -> Option<f64> {
    let at = match scale {
        Scale::Linear | Scale::Onward => value,
        Scale::Log2 => value.log2(),
        Scale::Log10 | Scale::Microseconds => value.log10(),
        Scale::Tail => -(1.0 - value).log10(),
    };
    at.is_finite().then_some(at)
}

/// Returns what a tick at the coordinate `at` says.
pub(super) fn words(scale: Scale, at: f64) -> String {
    match scale {
        Scale::Linear | Scale::Onward => number::tick(at),
        Scale::Log2 => binary(at.exp2()),
        Scale::Log10 => number::tick(10f64.powf(at)),
        Scale::Microseconds => number::latency_tick(10f64.powf(at)),
        Scale::Tail => match at.round() as i64 {
            0 => "0".to_owned(),
            1 => "90".to_owned(),
            2 => "99".to_owned(),
            nines => format!("99.{}", "9".repeat((nines - 2).clamp(0, 9) as usize)),
        },
    }
}

fn binary(value: f64) -> String {
    match value {
        _ if value >= 1_048_576.0 => format!("{:.0}Mi", value / 1_048_576.0),
        _ if value >= 1_024.0 => format!("{:.0}Ki", value / 1_024.0),
        _ => format!("{value:.0}"),
    }
}

/// Returns the range that holds every coordinate in `values`.
///
/// A linear axis of values begins at zero and has about `wanted` ticks; `tight` ends it at the last
/// value instead of a tick.
pub(super) fn range(
    scale: Scale,
    values: impl Iterator<Item = f64>,
    wanted: f64,
    tight: bool,
) -> Range {
    let (mut low, mut high) = (f64::INFINITY, f64::NEG_INFINITY);
    for value in values {
        low = low.min(value);
        high = high.max(value);
    }
    if low > high {
        (low, high) = (0.0, 1.0);
    }
    match scale {
        Scale::Linear => {
            let high = if high > 0.0 { high } else { 1.0 };
            let step = nice(high / wanted);
            let end = if tight { high } else { (high / step - 1e-9).ceil() * step };
            Range { low: 0.0, high: end, step }
        }
        Scale::Onward => {
            let step = nice((high - low).max(1.0) / wanted);
            Range { low: (low / step).floor() * step, high: high.max(low + 1.0), step }
        }
        Scale::Log2 => {
            let step = ((high - low) / (wanted + 1.0)).ceil().max(1.0);
            let same = low == high;
            Range {
                low: if same { low - 1.0 } else { low },
                high: if same { high + 1.0 } else { high },
                step,
            }
        }
        Scale::Log10 | Scale::Microseconds => {
            let (low, high) = (low.floor(), high.ceil());
            let high = if high > low { high } else { low + 1.0 };
            Range { low, high, step: ((high - low) / 8.0).ceil().max(1.0) }
        }
        Scale::Tail => {
            // The words of a tick grow with the nines.
            let step = if wanted < 5.0 { 2.0 } else { 1.0 };
            Range { low: 0.0, high: high.ceil().clamp(1.0, TAIL_END), step }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_nine_of_the_tail_has_equal_room() {
        for (share, at) in [(0.0, 0.0), (0.9, 1.0), (0.99, 2.0), (0.99999, 5.0)] {
            assert!((place(Scale::Tail, share).unwrap() - at).abs() < 1e-9);
        }
        let said: Vec<String> = (0..6).map(|at| words(Scale::Tail, f64::from(at))).collect();
        assert_eq!(said, ["0", "90", "99", "99.9", "99.99", "99.999"]);
        assert_eq!(place(Scale::Tail, 1.0), None);
    }

    #[test]
    fn an_axis_of_values_begins_at_zero_and_ends_at_a_tick() {
        let axis = range(Scale::Linear, [310.0, 3_400.0].into_iter(), 5.0, false);
        assert_eq!((axis.low, axis.high, axis.step), (0.0, 4_000.0, 1_000.0));
        let nothing = range(Scale::Linear, std::iter::empty(), 5.0, false);
        assert_eq!((nothing.low, nothing.high), (0.0, 1.0));
    }

    #[test]
    fn ticks_are_words_of_the_field() {
        assert_eq!(words(Scale::Log2, 12.0), "4Ki");
        assert_eq!(words(Scale::Log2, 5.0), "32");
        assert_eq!(words(Scale::Log10, 3.0), "1,000");
        assert_eq!(words(Scale::Log10, 0.0), "1");
        let said: Vec<String> = (0..=7).map(|n| words(Scale::Microseconds, f64::from(n))).collect();
        let said = said.join(" ").replace('\u{a0}', " ");
        assert_eq!(said, "1 µs 10 µs 100 µs 1 ms 10 ms 100 ms 1 s 10 s");
        assert_eq!(words(Scale::Linear, 2.5), "2.5");
        assert_eq!(words(Scale::Linear, 120_000.0), "120,000");
        let said: Vec<String> = (0..=7).map(|n| words(Scale::Linear, f64::from(n) * 2.5)).collect();
        assert_eq!(said, ["0", "2.5", "5", "7.5", "10", "12.5", "15", "17.5"]);
    }
}
