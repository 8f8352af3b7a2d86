//! Command time: reads of one block at trimmed addresses need neither flash nor much of the link, so with a
//! deep queue their rate is that of the controller.

use crate::answer::{Identified, Value, refuse};
use crate::link::HOST_LIMITS;
use crate::rate::Completions;
use ssdgauge_core::Bytes;
use ssdgauge_core::rounded::{latency, number};

/// The share by which the rates of two depths may differ. Chosen, as for the link.
const AGREES: f64 = 0.02;
/// The share of the link that single blocks may take. Chosen: with less, transfers hide behind commands.
const MOST_OF_LINK: f64 = 0.8;
/// The queue of SATA drives holds 32 commands (Serial ATA, native command queuing); Linux uses 32 or 31.
const SATA_QUEUE: (f64, f64) = (30.0, 33.0);
/// The share of the requests that are held at a time whose first completions are looked at, and their number.
/// Chosen: within what a limited queue takes at once, and more than an interrupt collects.
const FIRST: (f64, f64, f64) = (0.8, 16.0, 100.0);
/// The share of the usual time between completions below which the first ones came faster, where few and where many are
/// held. Chosen: above the noise of so many latencies; what remains is less than [`OWN_WORK`] and the minimum half width.
const FASTER: [f64; 2] = [0.88, 0.95];
/// From so many on, many are held.
const MANY: f64 = 24.0;
/// The minimum half width of the interval, as a share. Chosen.
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
    // A controller takes one command after the other from the first one on. Where only so many are held, by a queue of
    // any length or by a budget of requests, the first ones complete faster than those that wait for them.
    let first = (FIRST.0 * held).clamp(FIRST.1, FIRST.2) as usize;
    let early = [deep, deeper].map(|series| spacing_us(series, first));
    let (early, usual) = (0.5 * (early[0] + early[1]), 1e6 / (0.5 * (one + two)));
    if early < FASTER[usize::from(held >= MANY)] * usual {
        return refuse(format!(
            "the first {first} reads complete every {}, later ones every {}: only so many are held at a time ({})",
            latency(early),
            latency(usual),
            number(held)
        ));
    }
    let value = usual;
    let half = deep_rate.half.max(deeper_rate.half).max(0.5 * (one - two).abs());
    let mut found = Value::within(value, value * half / two, LEAST);
    found.low -= OWN_WORK * value;
    Ok(found)
}

/// Returns the mean time between the first `count` completions of `series`, in microseconds.
fn spacing_us(series: &Completions, count: usize) -> f64 {
    let mut at: Vec<u64> = series.at.iter().map(|at| at.0).collect();
    at.sort_unstable();
    let last = count.min(at.len()).max(2) - 1;
    at.get(last).map_or(f64::INFINITY, |end| (end - at[0]) as f64 / 1e3 / last as f64)
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

    /// The completions of a drive that holds `held` commands of 0.8 us each, which take 60 us more.
    fn holding(held: usize, depth: u32) -> Completions {
        let mut at: Vec<u64> = Vec::new();
        let mut controller = 0;
        for number in 0..4_000 {
            let begins = if number < held { 0 } else { at[number - held] };
            controller = begins.max(controller) + 800;
            at.push(controller + 60_000);
        }
        Completions { block: 512, depth, at: at.into_iter().map(Nanos).collect(), host_load: 0.0 }
    }

    #[test]
    fn a_queue_of_any_length_is_told_from_the_controller() {
        for held in [33, 40, 48, 64, 70] {
            let queue =
                Saturation { deep: holding(held, 128), deeper: holding(held, 256), lone_us: 60.8 };
            let refused = find(&queue, Some(6_800.0)).unwrap_err();
            assert!(refused.0.contains("only so many are held"), "{held}: {refused:?}");
        }
        let free = Saturation { deep: holding(128, 128), deeper: holding(256, 256), lone_us: 60.8 };
        assert!(find(&free, Some(6_800.0)).unwrap().contains(0.8));
    }
}
