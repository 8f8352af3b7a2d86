//! Command time: reads of one block at trimmed addresses need neither flash nor much of the link, so with a
//! deep queue their rate is that of the controller.

use crate::answer::{Identified, Value, refuse};
use crate::link::HOST_LIMITS;
use crate::rate::Completions;
use ssdgauge_core::Bytes;
use ssdgauge_core::rounded::number;

/// The share by which the rates of two depths may differ. Chosen, as for the link.
const AGREES: f64 = 0.02;
/// The share of the link that single blocks may take. Chosen: with less, transfers hide behind commands.
const MOST_OF_LINK: f64 = 0.8;
/// The queue of SATA drives holds 32 commands (Serial ATA, native command queuing); Linux uses 32 or 31.
const SATA_QUEUE: (f64, f64) = (30.0, 33.0);
/// The least half width of the interval, as a share. Chosen.
const LEAST: f64 = 0.006;
/// The share of its time that the controller may spend on work of its own, which counts as time of commands.
/// Chosen.
const OWN_WORK: f64 = 0.045;

/// Reads of single blocks at trimmed addresses.
#[derive(Clone, Debug, PartialEq)]
pub struct Saturation {
    /// With a deep queue.
    pub deep: Completions,
    /// With one twice as deep.
    pub deeper: Completions,
    /// The median latency with one request in flight, in microseconds.
    pub lone_us: f64,
}

/// Returns the time of the controller for a read command, in microseconds; `link_mb_s` is the ceiling of the
/// link where it is known.
///
/// # Errors
/// Something else than the controller may limit the rate.
pub fn find(series: &Saturation, link_mb_s: Option<f64>) -> Identified {
    let Saturation { deep, deeper, lone_us } = series;
    let (Some(deep_rate), Some(deeper_rate)) = (deep.rate(), deeper.rate()) else {
        return refuse("too few reads completed");
    };
    let host = deep.host_load.max(deeper.host_load);
    if host > HOST_LIMITS {
        return refuse(format!("the host was busy for {:.0} % of the time", host * 100.0));
    }
    let (one, two) = (deep_rate.per_second, deeper_rate.per_second);
    if (two / one - 1.0).abs() > AGREES {
        return refuse(format!(
            "{} reads/s at QD{} and {} at QD{}: the controller is not the limit yet",
            number(one),
            deep.depth,
            number(two),
            deeper.depth
        ));
    }
    let mb_s = two * deeper.block as f64 / 1e6;
    if link_mb_s.is_some_and(|link| mb_s > MOST_OF_LINK * link) {
        return refuse(format!(
            "blocks of {} fill the link with {} MB/s",
            Bytes(deeper.block).as_block(),
            number(mb_s)
        ));
    }
    // Little's law: the requests that are in the drive at this rate, if each takes as long as a lone one.
    let held = two * lone_us / 1e6;
    if (SATA_QUEUE.0..SATA_QUEUE.1).contains(&held) {
        return refuse(format!(
            "{} requests are held at a time: the end of a queue of 32",
            number(held)
        ));
    }
    let value = 1e6 / (0.5 * (one + two));
    let half = deep_rate.half.max(deeper_rate.half).max(0.5 * (one - two).abs());
    let mut found = Value::within(value, value * half / two, LEAST);
    found.low -= OWN_WORK * value;
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;
    use ssdgauge_core::Nanos;

    fn series(depth: u32, ns: u64) -> Completions {
        let at = (0..2_000).map(|i| Nanos(i * ns)).collect();
        Completions { block: 512, depth, at, host_load: 0.0 }
    }

    #[test]
    fn a_rate_that_no_longer_grows_with_depth_is_the_command_time() {
        let saturated =
            Saturation { deep: series(128, 2_600), deeper: series(256, 2_600), lone_us: 23.6 };
        let found = find(&saturated, Some(3_400.0)).unwrap();
        assert!(found.contains(2.6), "{found:?}");
        let link = find(&saturated, Some(200.0));
        assert!(link.is_err(), "{link:?}");
    }

    #[test]
    fn a_growing_rate_and_a_full_sata_queue_are_refused() {
        let growing =
            Saturation { deep: series(128, 2_600), deeper: series(256, 2_000), lone_us: 23.6 };
        assert!(find(&growing, None).is_err());
        let queue =
            Saturation { deep: series(128, 3_125), deeper: series(256, 3_125), lone_us: 100.0 };
        assert!(find(&queue, None).is_err());
    }
}
