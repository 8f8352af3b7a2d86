//! Mapping unit: what the map of a drive has one entry for, and what is programmed as a whole.
//!
//! Random writes of twice a shift, at addresses that are multiples of their length and at such addresses plus the
//! shift. In a drive with a unit of twice the shift, a shifted write touches two units where an aligned one covers
//! one: it takes at least twice as long where the flash is the limit. Units of the shift or less are covered whole
//! either way.

use crate::answer::{Identified, Value, refuse};
use ssdgauge_core::Bytes;
use ssdgauge_statistics::summary;

/// The ratio of the rates from which a shifted write touches twice as many units: in a unit of four times the shift it
/// touches 1.5 times as many, and 1.75 was seen where the link limits the aligned ones. Chosen: between that and two.
const TWICE: f64 = 1.85;
/// The ratio up to which a shift changes nothing. The shift of an eighth of a unit gives 1.25.
const NOTHING: f64 = 1.18;
/// How much faster aligned writes of twice the length may be: beyond it, the drive has changed meanwhile. Where the
/// controller limits the shorter ones, they are up to twice as slow.
const LEVEL: f64 = 2.2;
/// The rounds of a shift that are left out: a write buffer still holds writes of the shift before.
const LEFT_OUT: usize = 1;
/// The rounds that have to show the same.
const LEAST_ROUNDS: usize = 3;

/// The rates of random writes of twice a shift.
#[derive(Clone, Debug, PartialEq)]
pub struct Shift {
    /// The shift in bytes.
    pub bytes: u64,
    /// The rates of aligned and of shifted writes in bytes per second, one pair for each round.
    pub rounds: Vec<(f64, f64)>,
}

impl Shift {
    /// Returns the rounds after those that are left out.
    fn judged(&self) -> &[(f64, f64)] {
        self.rounds.get(LEFT_OUT..).unwrap_or_default()
    }

    /// Returns how many times as long the shifted writes of all rounds took, and of the rounds the minimum and the maximum.
    fn ratio(&self) -> Option<(f64, f64, f64)> {
        let judged = self.judged();
        if judged.len() < LEAST_ROUNDS {
            return None;
        }
        let ratios = || judged.iter().map(|round| round.0 / round.1.max(1.0));
        let seconds = |rate: f64| 1.0 / rate.max(1.0);
        let aligned: f64 = judged.iter().map(|round| seconds(round.0)).sum();
        let shifted: f64 = judged.iter().map(|round| seconds(round.1)).sum();
        Some((
            shifted / aligned,
            ratios().fold(f64::INFINITY, f64::min),
            ratios().fold(0.0, f64::max),
        ))
    }

    /// Returns the median rate of aligned writes.
    fn aligned(&self) -> f64 {
        let rates: Vec<f64> = self.judged().iter().map(|round| round.0).collect();
        summary::percentile(&rates, 0.5).unwrap_or(0.0)
    }

    /// Returns the points of its chart: the shift, and the ratio of each round.
    pub(crate) fn points(&self) -> impl Iterator<Item = (f64, f64)> + '_ {
        let ratio = |round: &(f64, f64)| round.0 / round.1.max(1.0);
        self.judged().iter().map(move |round| (self.bytes as f64 / 1_024.0, ratio(round)))
    }
}

/// Returns the mapping unit in bytes, from `shifts` in any order.
///
/// # Errors
/// No shift makes writes slower, as where the flash is not the limit; or one does by less than a unit of twice its
/// length would, or larger writes are faster, as where a larger unit exists.
pub fn find(shifts: &[Shift]) -> Identified {
    let mut shifts: Vec<&Shift> = shifts.iter().collect();
    shifts.sort_by_key(|shift| std::cmp::Reverse(shift.bytes));
    for (number, shift) in shifts.iter().enumerate() {
        let of = Bytes(shift.bytes).as_block();
        let Some((ratio, least, most)) = shift.ratio() else {
            return refuse(format!("writes shifted by {of} were sent in too few rounds"));
        };
        if ratio <= NOTHING {
            continue;
        }
        if ratio < TWICE {
            return refuse(format!(
                "writes shifted by {of} take {ratio:.2} times as long, neither as long nor twice"
            ));
        }
        if least < NOTHING.max(ratio / 2.0) || most > 2.0 * ratio {
            return refuse(format!(
                "writes shifted by {of} take {least:.2} to {most:.2} times as long: the rate is uneven"
            ));
        }
        let larger = number.checked_sub(1).map_or(0.0, |larger| shifts[larger].aligned());
        if larger > LEVEL * shift.aligned() {
            return refuse(format!(
                "aligned writes of twice the length are {:.2} times as fast, so the drive was not as before",
                larger / shift.aligned().max(1.0)
            ));
        }
        return Ok(Value::exact(2.0 * shift.bytes as f64));
    }
    refuse("no shift of writes changes their rate, as where the flash is not the limit")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns what a drive with a mapping unit of `unit` KiB shows: `flash` bytes a second, at most `commands` writes.
    fn shown(unit: u64, flash: f64, commands: f64) -> Vec<Shift> {
        let shift = |kib: u64| {
            let rate = |shift: u64| {
                let size = 2 * kib;
                // The units that writes at all their places touch.
                let places = (unit / size).max(1);
                let touched: u64 = (0..places)
                    .map(|place| {
                        let (from, to) = (place * size + shift, (place + 1) * size + shift);
                        to.div_ceil(unit) - from / unit
                    })
                    .sum();
                let programmed = touched as f64 * unit as f64 / places as f64;
                (flash / programmed).min(1_024.0 * commands) * size as f64
            };
            Shift { bytes: kib << 10, rounds: vec![(rate(0), rate(kib)); 4] }
        };
        [2, 4, 8, 16, 32].map(shift).to_vec()
    }

    #[test]
    fn the_unit_is_twice_the_largest_shift_that_halves_the_rate() {
        for unit in [4, 8, 16, 32, 64] {
            let found = find(&shown(unit, 7e8, f64::MAX));
            assert_eq!(found, Ok(Value::exact((unit << 10) as f64)), "{unit}");
        }
    }

    #[test]
    fn a_unit_beyond_the_shifts_and_a_limit_that_is_not_the_flash_are_refused() {
        for unit in [128, 256] {
            assert!(find(&shown(unit, 7e8, f64::MAX)).is_err(), "{unit}");
        }
        // Commands limit writes of 4 and 8 KiB; the writes of 16 KiB show that a unit of 16 KiB is none of 4 or 8.
        let limited = find(&shown(4, 7e8, 6e4)).unwrap_err();
        assert!(limited.0.contains("no shift"), "{limited:?}");
        assert_eq!(find(&shown(16, 7e8, 6e4)), Ok(Value::exact(16_384.0)));
    }

    #[test]
    fn uneven_rates_and_few_rounds_are_refused() {
        let mut uneven = shown(16, 7e8, f64::MAX);
        uneven[2].rounds[2].1 /= 6.0;
        assert!(find(&uneven).unwrap_err().0.contains("uneven"));
        let mut few = shown(16, 7e8, f64::MAX);
        few[4].rounds.truncate(3);
        assert!(find(&few).unwrap_err().0.contains("too few"));
        let mut grown = shown(16, 7e8, f64::MAX);
        grown[3].rounds.iter_mut().for_each(|round| *round = (2.5 * round.0, 2.5 * round.1));
        assert!(find(&grown).unwrap_err().0.contains("as before"));
        assert!(find(&[]).is_err());
    }
}
