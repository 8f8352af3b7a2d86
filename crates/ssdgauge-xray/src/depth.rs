//! Units by rate: reads that keep a known number of units busy run at that number ÷ page read time.
//!
//! The check of the pairs of reads by another observable: throughput under load.

use crate::answer::{Refusal, Value, refuse};
use crate::rate::Completions;

/// The share by which rate × page read time may differ from the number of units. Chosen: half the step
/// from two units to three would be 25 %.
const AGREES: f64 = 0.15;

/// The minimum number of dies with data next to one of parity. Chosen: three may be a drive of three channels.
const LEAST_PARITY: u64 = 7;
/// The units of a die, where its planes may read alone.
const PLANES: [u64; 3] = [1, 2, 4];

/// Checks that reads spread over `units` units complete at `units` ÷ `page_read_us`. `series` has repetitions
/// of the load at several places; the middle one counts, because a place may lie across two fills.
///
/// # Errors
/// The rate does not agree with the pairs.
pub fn check(units: u64, page_read_us: f64, series: &[Completions]) -> Result<(), Refusal> {
    let mut rates: Vec<f64> =
        series.iter().filter_map(|one| Some(one.rate()?.per_second)).collect();
    rates.sort_by(f64::total_cmp);
    let Some(rate) = rates.get(rates.len() / 2) else { return refuse("too few reads completed") };
    let busy = rate * page_read_us / 1e6;
    match (busy / units as f64 - 1.0).abs() > AGREES {
        true => refuse(format!(
            "pairs of reads and their rate at depth disagree: reads of {units} units keep {busy:.2} busy"
        )),
        false => Ok(()),
    }
}

/// Checks that reads at random keep no more than `units` units busy: two reads at one distance in the addresses do not show
/// units that others never reach, as where a drive consists of several volumes.
///
/// # Errors
/// They complete at a higher rate than `units` units can.
pub fn check_random(units: u64, page_read_us: f64, reads: &Completions) -> Result<(), Refusal> {
    let Some(rate) = reads.rate() else { return refuse("too few reads completed") };
    let busy = rate.per_second * page_read_us / 1e6;
    match busy > units as f64 * (1.0 + AGREES) {
        true => refuse(format!(
            "pairs of reads show {units} units, but reads at random keep {busy:.1} busy, as where addresses are split \
             into volumes"
        )),
        false => Ok(()),
    }
}

/// Returns the number of units where `seen` take the data of ascending writes. Where they are those of a multiple of four
/// dies less one, the other die may hold parity, which no write of a host reaches: no time of a request tells, so
/// the interval has both.
pub fn with_parity(seen: u64) -> Value {
    let may_lack_a_die = |planes: &u64| {
        let dies = seen / planes;
        seen.is_multiple_of(*planes) && dies >= LEAST_PARITY && (dies + 1).is_multiple_of(4)
    };
    let parity = PLANES.into_iter().rfind(may_lack_a_die).unwrap_or(0);
    Value { high: (seen + parity) as f64, ..Value::exact(seen as f64) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ssdgauge_core::Nanos;

    #[test]
    fn a_number_that_parity_explains_is_not_exact() {
        let of_dies = [(15, 16.0), (31, 32.0), (7, 8.0), (16, 16.0), (12, 12.0), (3, 3.0)];
        let of_planes = [(14, 16.0), (30, 32.0), (28, 32.0), (60, 64.0), (6, 6.0), (24, 24.0)];
        for (seen, most) in of_dies.into_iter().chain(of_planes) {
            let found = with_parity(seen);
            assert_eq!((found.value, found.low, found.high), (seen as f64, seen as f64, most));
        }
    }

    #[test]
    fn a_rate_that_fits_another_number_of_units_disagrees() {
        let at = (0..1_000).map(|i| Nanos(i * 10_000)).collect();
        let series = [Completions { block: 4_096, depth: 16, at, host_load: 0.0 }];
        assert!(check(4, 40.0, &series).is_ok());
        assert!(check(2, 40.0, &series).is_err());
        assert!(check(8, 40.0, &series).is_err());
        assert!(check(8, 40.0, &[]).is_err());
        // Reads at random may keep fewer busy, where the controller is the limit.
        assert!(
            check_random(4, 40.0, &series[0]).is_ok() && check_random(16, 40.0, &series[0]).is_ok()
        );
        assert!(check_random(2, 40.0, &series[0]).unwrap_err().0.contains("keep 4.0 busy"));
    }
}
