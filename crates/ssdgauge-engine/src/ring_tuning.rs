//! The trial that chooses the flags of rings: which of them is cheapest depends on the drive.

use crate::control::run;
use crate::load::Load;
use crate::ring_flags::RingFlags;
use ssdgauge_core::{Arrival, Engine, Finding, Interval, Nanos, Reading, Sink, Until, Workload};

/// The rounds of a trial; each tries every choice.
const ROUNDS: usize = 3;
/// How long each choice is tried in a round: 225 ms in all.
const TURN: Nanos = Nanos(25_000_000);
/// The shortest step that repays a trial.
const WORTH: Nanos = Nanos::from_secs(10);
/// A choice has to be cheaper than the usual one by this share; less is noise.
const GAIN: f64 = 0.05;

/// What a trial chose, and what it saw, in words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RingChoice {
    /// The flags.
    pub flags: RingFlags,
    /// Why these, in words for the engine report.
    pub seen: String,
}

/// Returns whether `workload` may be tried: it only reads, and lasts long enough to repay it.
pub fn tuning_pays(workload: &Workload, until: &Until) -> bool {
    let reads = workload
        .streams
        .iter()
        .all(|stream| stream.read_percent == 100 && matches!(stream.arrival, Arrival::Closed));
    let long = until.time.is_some_and(|time| time >= WORTH);
    matches!(workload.engine, Engine::IoUring) && reads && long
}

/// Tries every choice on the requests of a load in turn, and returns the cheapest by processor
/// time. A choice that the kernel refuses is not made.
pub fn tune_rings(load: &Load<'_>) -> RingChoice {
    let mut costs = RingFlags::TRIED.map(|flags| (flags, Vec::new()));
    for round in 0..ROUNDS {
        for (flags, costs) in &mut costs {
            let until = Until { time: Some(TURN), bytes: None };
            let seed = load.seed.wrapping_add(round as u64);
            let trial = Load { until: &until, seed, ring_flags: *flags, log: None, ..*load };
            let outcome = run(trial, &mut Discard).ok();
            let report = outcome.map(|outcome| outcome.report);
            // A ring that was refused would have been replaced by threads.
            let report = report.filter(|report| report.engine == Engine::IoUring.name());
            costs.extend(report.and_then(|report| report.cpu_per_io).map(|cost| cost.0));
        }
    }
    decide(costs.map(|(flags, mut costs)| {
        costs.sort_unstable();
        (flags, (costs.len() == ROUNDS).then(|| costs[ROUNDS / 2]))
    }))
}

/// Decides by the median cost of each choice; `None` where it was refused.
fn decide(costs: [(RingFlags, Option<u64>); 3]) -> RingChoice {
    let words = costs.map(|(flags, cost)| match cost {
        Some(cost) => format!("{} {cost} ns", flags.name()),
        None => format!("{} refused", flags.name()),
    });
    let usual = costs[0].1.unwrap_or(u64::MAX) as f64;
    let cheapest = costs.into_iter().filter_map(|(flags, cost)| Some((cost?, flags)));
    let cheapest = cheapest.min_by_key(|(cost, _)| *cost);
    let flags = match cheapest {
        Some((cost, flags)) if (cost as f64) < usual * (1.0 - GAIN) => flags,
        Some(_) | None => RingFlags::Plain,
    };
    RingChoice { flags, seen: format!("tried for a request: {}", words.join(", ")) }
}

/// Takes everything and keeps nothing.
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
    fn a_choice_has_to_be_clearly_cheaper_than_the_usual_one() {
        let [plain, cooperative, deferred] = RingFlags::TRIED;
        let decide = |costs: [Option<u64>; 3]| {
            decide([(plain, costs[0]), (cooperative, costs[1]), (deferred, costs[2])]).flags
        };
        assert_eq!(decide([Some(1_000), Some(960), Some(990)]), plain);
        assert_eq!(decide([Some(1_000), Some(960), Some(900)]), deferred);
        assert_eq!(decide([Some(1_000), Some(900), None]), cooperative);
        assert_eq!(decide([Some(1_000), None, None]), plain);
        assert_eq!(decide([None, None, None]), plain);
    }
}
