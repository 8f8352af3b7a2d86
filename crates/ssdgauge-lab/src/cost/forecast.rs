//! Expected and largest cost of each test of a plan: the steps in order, rounds and searches.

use super::drive_state::{DriveState, Effort};
use super::rates::AssumedRates;
use super::search_path;
use ssdgauge_core::search::Search;
use ssdgauge_core::{
    Action, Arrival, Bytes, Nanos, Phase, Plan, Rounds, SteadyRule, Step, Test, Until, Workload,
};
use ssdgauge_statistics::steady;

/// Rounds beyond the first window that is steady at constant rates, on average. Chosen: noise delays about
/// every second series by one round.
const NOISY_ROUNDS: f64 = 0.5;

/// Time between two steps that the bound of the time adds, in seconds. Chosen: commits of the run file
/// and reads of the SMART data.
const BETWEEN_STEPS_S: f64 = 0.1;

/// The figure that a forecast is made for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Quantity {
    /// Expected time and bytes.
    Expected,
    /// The longest time.
    Longest,
    /// The maximum number of bytes.
    Most,
}

/// The forecast of a test.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct TestForecast {
    /// Phase, step and cost of each step that runs in order, with its rest.
    pub(super) in_order: Vec<(usize, usize, Effort)>,
    /// The cost of all rounds, or of the whole search; 0 where the test has neither.
    pub(super) repeated: Effort,
}

impl TestForecast {
    /// Returns the cost of the whole test.
    pub(super) fn sum(&self) -> Effort {
        self.in_order.iter().fold(self.repeated, |sum, (_, _, effort)| sum.plus(*effort))
    }
}

/// Returns the forecast of each test of `plan` on a drive of `capacity`.
pub(super) fn forecast(
    plan: &Plan,
    capacity: Bytes,
    rates: &AssumedRates,
    quantity: Quantity,
) -> Vec<TestForecast> {
    let fastest = rates.fastest();
    let rates = match quantity {
        Quantity::Expected => *rates,
        Quantity::Longest => rates.slowest(),
        Quantity::Most => fastest,
    };
    let mut forecaster = Forecaster { drive: DriveState::new(&rates, capacity), quantity, fastest };
    plan.tests.iter().map(|test| forecaster.test(test)).collect()
}

/// A drive on the way through a plan.
struct Forecaster {
    drive: DriveState,
    quantity: Quantity,
    /// The rates of the bound of the bytes.
    fastest: AssumedRates,
}

impl Forecaster {
    fn test(&mut self, test: &Test) -> TestForecast {
        let mut forecast = TestForecast::default();
        for (phase, of_phase) in test.phases.iter().enumerate() {
            if !test.is_in_order(phase) {
                continue;
            }
            let steps = of_phase.steps.iter().enumerate();
            forecast
                .in_order
                .extend(steps.map(|(step, of_step)| (phase, step, self.step(of_step))));
        }
        if let Some(rounds) = &test.rounds {
            forecast.repeated = self.rounds(rounds, &test.phases[rounds.phase]);
        }
        if let Some(search) = &test.search {
            forecast.repeated = self.search(test, search);
        }
        forecast
    }

    /// Carries out a step and the rest after it.
    fn step(&mut self, step: &Step) -> Effort {
        let effort = match &step.action {
            Action::Prepare(preparation) => self.drive.prepare(preparation),
            Action::Run { workload, until, steady } => match (steady, self.quantity) {
                (Some(rule), Quantity::Expected) => self.until_steady(workload, until, *rule),
                (Some(_), Quantity::Longest | Quantity::Most) | (None, _) => {
                    self.drive.run(workload, until)
                }
            },
            // A drive that is too slow takes longer: the rates say by how much.
            Action::Replay(replay) => {
                let written = replay.bytes[1].0 as f64;
                if let Some(trace) = &replay.generated {
                    // Bursts, as a closed loop of their mean depth, and idle times between them.
                    let mut workload = replay.workload.clone();
                    for stream in &mut workload.streams {
                        stream.arrival = Arrival::Closed;
                        stream.queue_depth = trace.burst_and_depth().1.round().max(1.0) as u32;
                    }
                    let busy = self.drive.run(&workload, &replay.until);
                    let seconds = busy.seconds + trace.idle().as_secs_f64();
                    return self.with_rest(step, Effort { seconds, written, ..busy });
                }
                let fastest = self.drive.run(&replay.workload, &replay.until);
                let seconds = replay.after_cut.as_secs_f64().max(fastest.seconds);
                Effort { seconds, written, ..fastest }
            }
            Action::Rest(time) | Action::Idle(time) => {
                self.drive.rest(time.as_secs_f64());
                Effort { seconds: time.as_secs_f64(), ..Effort::default() }
            }
        };
        self.with_rest(step, effort)
    }

    /// Adds the rest after a step to its `effort`.
    fn with_rest(&mut self, step: &Step, mut effort: Effort) -> Effort {
        let rest = step.rest.after(nanos(effort.seconds)).as_secs_f64();
        self.drive.rest(rest);
        effort.seconds += rest;
        if self.quantity == Quantity::Longest {
            effort.seconds += BETWEEN_STEPS_S;
        }
        effort
    }

    /// Runs a step until its rounds are steady by its rule, or to its limits.
    fn until_steady(&mut self, workload: &Workload, until: &Until, rule: SteadyRule) -> Effort {
        let mut sum = Effort::default();
        let (mut values, mut least) = (Vec::new(), None);
        let most_bytes = until.bytes.map_or(f64::INFINITY, |bytes| bytes.0 as f64);
        let most_seconds = until.time.map_or(f64::INFINITY, Nanos::as_secs_f64);
        while sum.seconds < most_seconds && sum.moved < most_bytes {
            let left = Until {
                time: Some(nanos((most_seconds - sum.seconds).min(rule.round.as_secs_f64()))),
                bytes: Some(Bytes((most_bytes - sum.moved).min(1e18) as u64)),
            };
            let mut round = self.drive.run(workload, &left);
            let missing = (rule.round_bytes.0 as f64).min(most_bytes - sum.moved) - round.moved;
            if missing >= 1.0 {
                let left = Until {
                    time: Some(nanos((most_seconds - sum.seconds - round.seconds).clamp(0.0, 1e9))),
                    bytes: Some(Bytes(missing as u64)),
                };
                round = round.plus(self.drive.run(workload, &left));
            }
            sum = sum.plus(round);
            // A round that moves nothing would be repeated for ever.
            if round.seconds <= 0.0 {
                break;
            }
            values.push(round.moved / round.seconds);
            if sum.moved >= rule.least_bytes.0 as f64 {
                least.get_or_insert(values.len());
            }
            let Some(least) = least else { continue };
            if steady::find_from(&values, least).is_some() {
                return sum.plus(round.times(NOISY_ROUNDS));
            }
        }
        sum
    }

    /// Repeats the steps of `phase` until the tracked one is steady, or the maximum number of times.
    fn rounds(&mut self, rounds: &Rounds, phase: &Phase) -> Effort {
        let mut sum = Effort::default();
        let mut values: Vec<f64> = Vec::new();
        for _ in 0..rounds.at_most {
            let efforts: Vec<Effort> = phase.steps.iter().map(|step| self.step(step)).collect();
            let round = efforts.iter().copied().fold(Effort::default(), Effort::plus);
            sum = sum.plus(round);
            let tracked = efforts.get(rounds.tracking).copied().unwrap_or_default();
            values.push(tracked.moved / tracked.seconds.max(1e-9));
            if self.quantity == Quantity::Expected && steady::find(&values).is_some() {
                return sum.plus(round.times(NOISY_ROUNDS));
            }
        }
        sum
    }

    /// Searches: the probes, the attempts and the preparations before them.
    fn search(&mut self, test: &Test, search: &Search) -> Effort {
        // The longest attempt is that of the fastest drive: a slower one falls behind earlier.
        let drive = match self.quantity {
            Quantity::Expected | Quantity::Most => self.drive.clone(),
            Quantity::Longest => self.drive.with_rates(&self.fastest),
        };
        let loads = |phase: usize| test.phases[phase].steps.iter();
        let attempt = |step: &Step| match (step.action.workload(), step.action.until()) {
            (Some(workload), Some(until)) => drive.clone().run(workload, until),
            (None, _) | (_, None) => Effort::default(),
        };
        let [probes, attempts] =
            [search.probes, search.attempts].map(|phase| loads(phase).map(attempt).collect());
        let again = search.recondition.iter().flat_map(|phase| loads(*phase));
        let again = again.fold(Effort::default(), |sum, step| sum.plus(self.step(step)));
        let costs = search_path::Costs {
            rule: search.rule,
            repeats: search.repeats,
            probes,
            attempts,
            again,
        };
        let passing = |phase: usize, most: f64| {
            let passes = |step: &&Step| {
                let time = step.action.until().and_then(|until| until.time).unwrap_or_default();
                let workload = step.action.workload();
                workload.is_some_and(|workload| drive.utilisation(workload, time) <= most)
            };
            loads(phase).take_while(passes).count()
        };
        match self.quantity {
            Quantity::Expected => {
                let [in_probe, in_full] = [search.probes, search.attempts]
                    .map(|phase| passing(phase, search_path::PASSING_UTILISATION));
                search_path::expected(&costs, in_full, in_probe)
            }
            Quantity::Longest => {
                search_path::largest(&costs, passing(search.attempts, 1.0), |cost| cost.seconds)
            }
            Quantity::Most => {
                search_path::largest(&costs, passing(search.attempts, 1.0), |cost| cost.written)
            }
        }
    }
}

fn nanos(seconds: f64) -> Nanos {
    Nanos((seconds * 1e9) as u64)
}
