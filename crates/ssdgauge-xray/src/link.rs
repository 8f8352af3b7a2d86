//! Link ceiling: reads of trimmed addresses need no flash, so large ones run at the rate of the link.

use crate::answer::{Identified, Value, refuse};
use crate::rate::Completions;
use ssdgauge_core::Bytes;
use ssdgauge_core::rounded::number;

/// The share by which two request sizes may differ. Chosen: below the share of a command in a transfer of
/// 512 KiB, above the noise of some thousand requests.
const AGREES: f64 = 0.02;
/// The minimum half width of the interval, as a share. Chosen: what the start of a load leaves over.
const LEAST: f64 = 0.004;
/// The processor time of the host from which it may be the limit.
pub(crate) const HOST_LIMITS: f64 = 0.85;

/// Returns the rate of the link in 10^6 bytes per second, from reads of trimmed addresses in two sizes.
///
/// # Errors
/// The two sizes do not agree, or the host may have been the limit.
pub fn find(small: &Completions, large: &Completions) -> Identified {
    let (Some(small_rate), Some(large_rate)) = (small.rate(), large.rate()) else {
        return refuse("too few reads completed");
    };
    let host = small.host_load.max(large.host_load);
    if host > HOST_LIMITS {
        return refuse(format!("the host was busy for {:.0} % of the time", host * 100.0));
    }
    let mb_s = |per_second: f64, series: &Completions| per_second * series.block as f64 / 1e6;
    let (one, two) = (mb_s(small_rate.per_second, small), mb_s(large_rate.per_second, large));
    if (two / one - 1.0).abs() > AGREES {
        return refuse(format!(
            "{} MB/s with {} and {} MB/s with {}: not the rate of a link alone",
            number(one),
            Bytes(small.block).as_block(),
            number(two),
            Bytes(large.block).as_block()
        ));
    }
    let half = mb_s(small_rate.half, small).max(mb_s(large_rate.half, large));
    let value = 0.5 * (one + two);
    Ok(Value::within(value, half.max(0.5 * (one - two).abs()), LEAST))
}

#[cfg(test)]
mod tests {
    use super::*;
    use ssdgauge_core::Nanos;

    fn series(block: u64, ns: u64) -> Completions {
        let at = (0..1_000).map(|i| Nanos(i * ns)).collect();
        Completions { block, depth: 32, at, host_load: 0.0 }
    }

    #[test]
    fn equal_rates_of_two_sizes_are_the_link_and_different_ones_are_not() {
        let found = find(&series(1 << 17, 40_000), &series(1 << 19, 160_000)).unwrap();
        assert!(found.contains(3_276.8) && found.width() < 0.01, "{found:?}");
        assert!(find(&series(1 << 17, 50_000), &series(1 << 19, 160_000)).is_err());
    }

    #[test]
    fn a_busy_host_is_not_a_link() {
        let busy = Completions { host_load: 0.95, ..series(1 << 17, 40_000) };
        assert!(find(&busy, &series(1 << 19, 160_000)).is_err());
    }
}
