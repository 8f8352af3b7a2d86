//! Ring tuning: measures the processor time per request for each set of ring flags on the drive,
//! and chooses the cheapest.

use crate::control::run;
use crate::load::Load;
use crate::load::ring_flags::RingFlags;
use crate::recorder::outcome::SentBy;
use ssdgauge_core::{Arrival, Engine, Finding, Interval, Nanos, Reading, Sink, Until, Workload};

/// The rounds; each measures every candidate once, so that a disturbance affects all of them.
const ROUNDS: usize = 3;
/// The time of one measurement; all of them together take 225 ms.
const MEASUREMENT: Nanos = Nanos(25_000_000);
/// The shortest step that is tuned: 225 ms are 2 % of it.
const SHORTEST_STEP: Nanos = Nanos::from_secs(10);
/// The share by which a candidate must be cheaper than the default; smaller differences are noise.
const MIN_GAIN: f64 = 0.05;

/// The chosen flags and the measurements behind them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RingChoice {
    /// The flags for all rings of the run.
    pub flags: RingFlags,
    /// The measurements, in words for the engine report.
    pub seen: String,
}

/// Returns whether `workload` is suitable for tuning: it runs on io_uring in closed loops, only
/// reads, and lasts at least 10 s.
pub fn tuning_pays(workload: &Workload, until: &Until) -> bool {
    let reads = workload.streams.iter().all(|stream| {
        !stream.writes() && stream.reads() && matches!(stream.arrival, Arrival::Closed)
    });
    let long = until.time.is_some_and(|time| time >= SHORTEST_STEP);
    matches!(workload.engine, Engine::IoUring) && reads && long
}

/// Measures every candidate on the requests of a load, and returns the one with the least processor
/// time per request. Candidates that the kernel refuses are excluded.
pub fn tune_rings(load: &Load<'_>) -> RingChoice {
    let mut costs = RingFlags::CANDIDATES.map(|flags| (flags, Vec::new()));
    for round in 0..ROUNDS {
        for (flags, costs) in &mut costs {
            let until = Until { time: Some(MEASUREMENT), bytes: None };
            let seed = load.seed.wrapping_add(round as u64);
            let measurement = Load { until: &until, seed, ring_flags: *flags, log: None, ..*load };
            let outcome = run(measurement, &mut Discard).ok();
            // Where the ring was refused, the synchronous engine ran.
            let by_ring = outcome.filter(|outcome| outcome.sent_by == SentBy::Ring(*flags));
            costs.extend(by_ring.and_then(|outcome| outcome.report.cpu_per_io).map(|cost| cost.0));
        }
    }
    choose(costs.map(|(flags, mut costs)| {
        costs.sort_unstable();
        (flags, (costs.len() == ROUNDS).then(|| costs[ROUNDS / 2]))
    }))
}

/// Chooses by the median cost of each candidate in nanoseconds; `None` where it was refused.
fn choose(costs: [(RingFlags, Option<u64>); 3]) -> RingChoice {
    let words = costs.map(|(flags, cost)| match cost {
        Some(cost) => format!("{} {cost} ns", flags.name()),
        None => format!("{} refused", flags.name()),
    });
    let default = costs[0].1.unwrap_or(u64::MAX) as f64;
    let cheapest = costs.into_iter().filter_map(|(flags, cost)| Some((cost?, flags)));
    let cheapest = cheapest.min_by_key(|(cost, _)| *cost);
    let flags = match cheapest {
        Some((cost, flags)) if (cost as f64) < default * (1.0 - MIN_GAIN) => flags,
        Some(_) | None => RingFlags::Plain,
    };
    RingChoice { flags, seen: format!("processor time per request: {}", words.join(", ")) }
}

/// A sink that discards everything: measurements are not results.
struct Discard;

impl Sink for Discard {
    fn interval(&mut self, _: &Interval) {}
    fn reading(&mut self, _: &Reading) {}
    fn finding(&mut self, _: Finding) {}
    fn announce(&mut self, _: Finding) -> bool {
        false
    }
    fn stop(&mut self) -> bool {
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_candidate_is_chosen_only_if_it_is_5_percent_cheaper_than_the_default() {
        let [plain, cooperative, deferred] = RingFlags::CANDIDATES;
        let choose = |costs: [Option<u64>; 3]| {
            super::choose([(plain, costs[0]), (cooperative, costs[1]), (deferred, costs[2])]).flags
        };
        assert_eq!(choose([Some(1_000), Some(960), Some(990)]), plain);
        assert_eq!(choose([Some(1_000), Some(960), Some(900)]), deferred);
        assert_eq!(choose([Some(1_000), Some(900), None]), cooperative);
        assert_eq!(choose([Some(1_000), None, None]), plain);
        assert_eq!(choose([None, None, None]), plain);
    }
}
