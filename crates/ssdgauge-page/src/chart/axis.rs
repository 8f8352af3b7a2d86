//! Axes: where a value lies, and honest ticks.

/// The share of the width of the first part of an axis of two speeds.
pub(crate) const FIRST: f64 = 0.56;

/// The horizontal axis.
#[derive(Clone, Debug)]
pub(crate) struct Across {
    /// Where a value lies.
    pub(crate) scale: AcrossScale,
    /// The ticks with their words.
    pub(crate) ticks: Vec<(f64, String)>,
    /// The quantity and its unit.
    pub(crate) label: String,
    /// The words above both parts of an axis of two speeds.
    pub(crate) parts: Option<(String, String)>,
}

/// The scale of a horizontal axis.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum AcrossScale {
    /// So many places at equal distances, from 0.
    Places(usize),
    /// From 0 to this value.
    To(f64),
    /// From 0 to `end`, where the part up to `cut` is enlarged.
    TwoSpeeds { cut: f64, end: f64 },
}

impl Across {
    /// Returns the share of the width at `value`, from 0 to 1.
    pub(crate) fn share(&self, value: f64) -> f64 {
        let share = match self.scale {
            AcrossScale::Places(n) if n < 2 => 0.5,
            AcrossScale::Places(n) => 0.02 + 0.96 * value / (n - 1) as f64,
            AcrossScale::To(end) => value / end,
            AcrossScale::TwoSpeeds { cut, .. } if value <= cut => FIRST * value / cut,
            AcrossScale::TwoSpeeds { cut, end } => {
                FIRST + (1.0 - FIRST) * (value - cut) / (end - cut)
            }
        };
        share.clamp(0.0, 1.0)
    }

    /// Returns an axis over `labels` at equal distances.
    pub(crate) fn places(labels: Vec<String>, label: &str) -> Across {
        Across {
            scale: AcrossScale::Places(labels.len()),
            ticks: labels.into_iter().enumerate().map(|(at, words)| (at as f64, words)).collect(),
            label: label.to_owned(),
            parts: None,
        }
    }

    /// Returns an axis from 0 to `end`, with the part up to `cut` enlarged where there is one; `words`
    /// are those of a tick.
    pub(crate) fn continuous(
        end: f64,
        cut: Option<f64>,
        label: &str,
        words: fn(f64) -> String,
    ) -> Across {
        let end = if end > 0.0 { end } else { 1.0 };
        let until = |end: f64, n: f64| {
            let step = nice(end / n);
            (0..)
                .map(move |place| f64::from(place) * step)
                .take_while(move |at| *at < end * 1.000_1)
        };
        let (scale, ticks): (_, Vec<f64>) = match cut.filter(|cut| *cut < 0.8 * end) {
            None => (AcrossScale::To(end), until(end, 7.0).collect()),
            Some(cut) => {
                let step = nice((end - cut) / 3.0);
                let far = (1..9).map(|place| f64::from(place) * step);
                let far = far.filter(|at| *at > cut + step * 0.4 && *at <= end * 1.000_1);
                (AcrossScale::TwoSpeeds { cut, end }, until(cut, 4.0).chain(far).collect())
            }
        };
        let ticks = ticks.into_iter().map(|at| (at, words(at))).collect();
        Across { scale, ticks, label: label.to_owned(), parts: None }
    }
}

/// The vertical axis.
#[derive(Clone, Debug)]
pub(crate) struct Up {
    /// The value at the bottom.
    low: f64,
    /// The value at the top.
    high: f64,
    /// Whether it goes by powers of ten.
    is_log: bool,
    /// The ticks with their words.
    pub(crate) ticks: Vec<(f64, String)>,
    /// The unit, above the axis.
    pub(crate) unit: String,
}

/// A logarithmic axis is used where the maximum value is this many times the minimum. Chosen: below, a
/// linear axis from zero still shows every drive.
const WIDE: f64 = 20.0;

impl Up {
    /// Returns an axis for `values`: logarithmic where `may_be_log` and the values spread widely, from
    /// zero otherwise. Says so next to the unit where it does not begin at zero.
    pub(crate) fn new(
        values: impl Iterator<Item = f64>,
        unit: &str,
        may_be_log: bool,
        words: fn(f64) -> String,
    ) -> Up {
        let values: Vec<f64> = values.filter(|value| value.is_finite()).collect();
        let high = values.iter().copied().fold(0.0, f64::max);
        let positive = values.iter().copied().filter(|value| *value > 0.0);
        let low = positive.fold(f64::INFINITY, f64::min);
        if may_be_log && low.is_finite() && high > WIDE * low {
            return Up::log(low, high, unit, words);
        }
        let high = if high > 0.0 { high * 1.04 } else { 1.0 };
        let step = nice(high / 5.0);
        let ticks = (0..8).map(|place| f64::from(place) * step).take_while(|at| *at <= high);
        let ticks = ticks.map(|at| (at, words(at))).collect();
        Up { low: 0.0, high, is_log: false, ticks, unit: unit.to_owned() }
    }

    fn log(low: f64, high: f64, unit: &str, words: fn(f64) -> String) -> Up {
        let ticks = log_ticks(low, high);
        let (low, high) = around(low / 1.15, &ticks, high * 1.15);
        Up {
            low,
            high,
            is_log: true,
            ticks: ticks.into_iter().map(|at| (at, words(at))).collect(),
            unit: format!("{unit}, logarithmic").trim_start_matches(", ").to_owned(),
        }
    }

    /// Returns the unit without the word on the scale.
    pub(crate) fn bare_unit(&self) -> &str {
        self.unit.trim_end_matches("logarithmic").trim_end_matches(", ")
    }

    /// Returns the value at the top.
    pub(crate) fn high(&self) -> f64 {
        self.high
    }

    /// Returns the share of the height at `value`, from 0 at the bottom to 1.
    pub(crate) fn share(&self, value: f64) -> f64 {
        let share = match self.is_log {
            true => (value.max(self.low) / self.low).ln() / (self.high / self.low).ln(),
            false => value / self.high,
        };
        share.clamp(0.0, 1.0)
    }
}

/// Returns powers of ten around two values, with their doubles and fivefolds where there are few: the
/// first tick is at `low` or below it, the last one at `high` or above it, so that no value lies beyond
/// what the axis names.
pub(crate) fn log_ticks(low: f64, high: f64) -> Vec<f64> {
    /// Ticks that are closer than this share of the axis touch on a phone.
    const CLOSE: f64 = 0.09;
    let (first, last) = (low.log10().floor() as i32, high.log10().ceil() as i32);
    let factors: &[f64] = if last - first <= 2 { &[1.0, 2.0, 5.0] } else { &[1.0] };
    let step = ((last - first) / 7 + 1).max(1) as usize;
    let powers = (first..=last).step_by(step);
    let ticks = powers.flat_map(|power| factors.iter().map(move |f| f * 10f64.powi(power)));
    let (start, end) = (round_below(low), round_above(high));
    let close = (end / start).powf(CLOSE);
    let ticks = ticks.filter(|at| *at > start * close && *at * close < end);
    std::iter::once(start).chain(ticks).chain((end > start).then_some(end)).collect()
}

/// Returns the largest of 1, 2 and 5 times a power of ten that is at most `value`.
fn round_below(value: f64) -> f64 {
    let power = 10f64.powi(value.log10().floor() as i32);
    let found = [5.0, 2.0, 1.0].into_iter().map(|factor| factor * power);
    found.into_iter().find(|at| *at <= value * 1.000_1).unwrap_or(power)
}

/// Returns the smallest of 1, 2 and 5 times a power of ten that is at least `value`.
fn round_above(value: f64) -> f64 {
    let power = 10f64.powi(value.log10().floor() as i32);
    let found = [1.0, 2.0, 5.0].into_iter().map(|factor| factor * power);
    found.into_iter().find(|at| *at >= value * 0.999_9).unwrap_or(10.0 * power)
}

/// Returns the ends of an axis from `low` to `high` that holds its `ticks` too.
fn around(low: f64, ticks: &[f64], high: f64) -> (f64, f64) {
    let (first, last) = (ticks.first().copied(), ticks.last().copied());
    (first.map_or(low, |at| at.min(low)), last.map_or(high, |at| at.max(high)))
}

/// Returns 1, 2, 2.5 or 5 times a power of ten, the smallest that is not below `step`.
pub(crate) fn nice(step: f64) -> f64 {
    let power = 10f64.powf(step.log10().floor());
    let share = step / power;
    let factor = [1.0, 2.0, 2.5, 5.0].into_iter().find(|factor| share <= factor * 1.000_001);
    factor.unwrap_or(10.0) * power
}

/// A logarithmic scale across rows.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RowScale {
    low: f64,
    high: f64,
    /// The minimum and the maximum of its values.
    least: f64,
    most: f64,
}

impl RowScale {
    /// Returns a scale with room for `values` on whole powers of ten, or half of one.
    pub(crate) fn new(values: impl Iterator<Item = f64>) -> Option<RowScale> {
        let (low, high) = values
            .filter(|value| *value > 0.0 && value.is_finite())
            .fold((f64::INFINITY, 0.0_f64), |(low, high), v| (low.min(v), high.max(v)));
        low.is_finite().then(|| {
            let ticks = log_ticks(low, high);
            let (from, to) = around(low / 1.6, &ticks, high * 1.25);
            RowScale { low: from, high: to, least: low, most: high }
        })
    }

    /// Returns the share of the width at `value`.
    pub(crate) fn share(self, value: f64) -> f64 {
        ((value / self.low).ln() / (self.high / self.low).ln()).clamp(0.0, 1.0)
    }

    /// Returns its ticks.
    pub(crate) fn ticks(self) -> Vec<f64> {
        log_ticks(self.least, self.most)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;
    use ssdgauge_analysis::text::number;

    #[test]
    fn an_axis_of_two_speeds_rises_and_gives_the_first_part_more_than_half() {
        let axis = Across::continuous(64.0, Some(8.0), "GB", number::tick);
        assert!((axis.share(8.0) - FIRST).abs() < 1e-9);
        assert_eq!((axis.share(0.0), axis.share(64.0)), (0.0, 1.0));
        let places: Vec<f64> = axis.ticks.iter().map(|(at, _)| axis.share(*at)).collect();
        assert!(places.windows(2).all(|pair| pair[0] < pair[1]), "{:?}", axis.ticks);
        assert!(places.len() <= 10);
    }

    #[test]
    fn the_ticks_of_a_logarithmic_axis_enclose_every_value() {
        for (low, high) in [(120.0, 93_000.0), (0.9, 9.4), (3.0, 3.0), (1.0, 1e6), (70.0, 6.1e9)] {
            let ticks = log_ticks(low, high);
            let (first, last) = (ticks[0], ticks[ticks.len() - 1]);
            assert!(first <= low && high <= last, "{low} to {high}: {ticks:?}");
            assert!(ticks.len() <= 10, "{ticks:?}");
            let rows = RowScale::new([low, high].into_iter()).unwrap();
            let places: Vec<f64> = rows.ticks().into_iter().map(|at| rows.share(at)).collect();
            assert!(places.iter().all(|at| (0.0..=1.0).contains(at)), "{places:?}");
            assert!(places.windows(2).all(|pair| pair[1] - pair[0] > 0.05), "{ticks:?}");
            let up = Up::new([low, high].into_iter(), "IOPS", true, number::short);
            let most = up.ticks.iter().map(|(at, _)| *at).fold(0.0, f64::max);
            assert!(high <= WIDE * low || most >= high, "{:?}", up.ticks);
        }
    }

    #[test]
    fn a_logarithmic_axis_is_used_for_wide_values_only_and_says_so() {
        let near = Up::new([10.0, 100.0].into_iter(), "IOPS", true, number::short);
        assert_eq!((near.share(0.0), near.unit.as_str()), (0.0, "IOPS"));
        let wide = Up::new([10.0, 1e6].into_iter(), "IOPS", true, number::short);
        assert_eq!(wide.unit, "IOPS, logarithmic");
        assert_eq!(wide.bare_unit(), "IOPS");
        assert!(wide.share(1e3) < wide.share(1e4));
        assert!(wide.ticks.len() <= 8, "{:?}", wide.ticks);
        let never = Up::new([10.0, 1e6].into_iter(), "IOPS", false, number::short);
        assert_eq!(never.share(0.0), 0.0);
    }
}
