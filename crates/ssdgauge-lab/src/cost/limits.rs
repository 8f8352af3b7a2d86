//! Cost of a plan by the limits of its steps alone, at one assumed rate of writes.
//!
//! A byte limit is exact. The bytes that a step writes within a time limit depend on the drive; here
//! every step writes at one rate up to its time limit.

use ssdgauge_core::{Action, Bytes, Direction, Nanos, Plan, Step, Stream, Test};

/// Assumed write rate in bytes per second where only time limits a step: what a client drive on
/// PCIe 3.0 or 4.0 sustains in large requests. Chosen as a safe bound: most drives write less.
pub const WRITE_RATE: Bytes = Bytes(2_000_000_000);

/// Divisor of the assumed rate for random writes of less than 64 KiB. At the default rate it gives
/// 122,000 writes of 4 KiB per second, above what the flash of a client drive sustains. Chosen.
const SMALL_WRITE_DIVISOR: u64 = 4;

/// Assumed minimum latency of a write, which bounds the rate at low queue depths. 10 µs is less
/// than NAND drives take to acknowledge a write, so the bytes written are not underestimated.
const MIN_WRITE_LAT: Nanos = Nanos(10_000);

/// Cost of a plan by its limits alone: what is certain, and what one rate of writes makes of the rest.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Limits {
    /// Duration of all steps with a time limit, with the longest pauses after them.
    pub timed: Nanos,
    /// Bytes of all fills, whose duration depends on the drive.
    pub filled: Bytes,
    /// Upper bound of the bytes written by steps with a byte limit, preparations included.
    pub written_at_most: Bytes,
    /// Total bytes written if every step writes at the assumed rate up to its time limit, and no
    /// more than its byte limit.
    pub written_at_rate: Bytes,
    /// The assumed write rate in bytes per second.
    pub rate: Bytes,
    /// Whether a step writes with a time limit and without a byte limit.
    pub writes_without_limit: bool,
    /// Whether a test searches for a load. The estimate counts the maximum number of probes and one
    /// attempt of full length, because the number of failing attempts is not known beforehand.
    pub searches: bool,
}

impl Limits {
    /// Adds `step`, executed `times` times.
    fn add(&mut self, step: &Step, times: u64) {
        let (preparation, until) = (step.action.preparation(), step.action.until());
        self.filled += preparation.map_or(Bytes(0), |preparation| preparation.writes()) * times;
        self.timed += step.action.idle_time().unwrap_or_default() * times;
        if let Some(until) = until {
            let time = until.time.unwrap_or_default();
            self.timed += (time + step.rest.after(time)) * times;
        }
        match step.action.writes_at_most() {
            Some(bytes) => self.written_at_most += bytes * times,
            None => self.writes_without_limit = true,
        }
        self.written_at_rate += self.at_rate(&step.action) * times;
    }

    /// Adds all steps of `test`, with the maximum number of rounds and probes.
    fn add_test(&mut self, test: &Test) {
        for (number, phase) in test.phases.iter().enumerate() {
            if test.is_in_order(number) {
                phase.steps.iter().for_each(|step| self.add(step, 1));
            }
        }
        if let Some(rounds) = test.rounds {
            let steps = &test.phases[rounds.phase].steps;
            steps.iter().for_each(|step| self.add(step, u64::from(rounds.at_most)));
        }
        let Some(search) = &test.search else { return };
        self.searches = true;
        let last = |phase: usize| test.phases[phase].steps.last();
        let loads = test.phases[search.attempts].steps.len() as u32;
        // The load doubles up to the first failure and the gap is then halved (`search::next`):
        // each takes at most log2 of the number of loads, and one more for the first and the last.
        let probes = 2 * loads.next_power_of_two().ilog2() + 2;
        // The loads ascend, so the last one is the bound of each attempt.
        last(search.probes).into_iter().for_each(|step| self.add(step, u64::from(probes)));
        last(search.attempts).into_iter().for_each(|step| self.add(step, 1));
        // Only a failing probe is followed by a reconditioning; about half of them fail.
        let again = search.recondition.iter().flat_map(|phase| &test.phases[*phase].steps);
        again.for_each(|step| self.add(step, u64::from(probes / 2)));
    }

    /// Returns the bytes that `action` writes at the assumed rate, at most its byte limit.
    fn at_rate(&self, action: &Action) -> Bytes {
        let limit = action.writes_at_most();
        let Some((workload, until)) = action.workload().zip(action.until()) else {
            return limit.unwrap_or_default();
        };
        let rate: f64 = workload.streams.iter().map(|stream| write_rate(stream, self.rate)).sum();
        // The streams share one drive.
        let rate = rate.min(self.rate.0 as f64);
        let in_time = until.time.map(|time| Bytes((rate * time.as_secs_f64()) as u64));
        in_time.into_iter().chain(limit).min().unwrap_or_default()
    }
}

/// Returns the assumed write rate of `stream` in bytes per second, on a drive that writes
/// `drive_rate` bytes per second in large requests.
fn write_rate(stream: &Stream, drive_rate: Bytes) -> f64 {
    if !stream.writes() {
        return 0.0;
    }
    let share = f64::from(stream.percent_of(Direction::Write)) / 100.0;
    let block = stream.mean_size();
    // A run of adjoining requests is as good as one of their length.
    let run = block / stream.random_share();
    let is_small = run < f64::from(64 << 10);
    let most = drive_rate.0 as f64 / if is_small { SMALL_WRITE_DIVISOR as f64 } else { 1.0 };
    // A closed loop sends as fast as it gets answers: Little's law with the minimum latency.
    let offered = match stream.arrival.per_second() {
        Some(rate) => rate * block,
        None => f64::from(stream.total_depth()) * block / MIN_WRITE_LAT.as_secs_f64(),
    };
    (offered * share).min(most)
}

/// Returns the cost of `plan` by its limits, on a drive that writes `rate` bytes per second.
pub fn limits(plan: &Plan, rate: Bytes) -> Limits {
    let mut sum = Limits { rate, ..Limits::default() };
    plan.tests.iter().for_each(|test| sum.add_test(test));
    sum
}
