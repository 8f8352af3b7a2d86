//! What a plan costs: time, bytes written, and the share of what the drive is rated to bear.
//!
//! Limits of bytes are certain. What a step writes within a time depends on the drive, so a rate is
//! assumed for it, and every figure says which of the two it rests on.

use ssdgauge_core::{
    Access, Action, Bytes, DriveInfo, Nanos, Plan, Preparation, Step, Stream, Test,
};
use thiserror::Error;

/// The rate that a drive is assumed to write at where only time limits a step: what a client drive
/// on PCIe 3.0 or 4.0 sustains in large requests. Chosen, as a bound to be on the safe side of.
pub const WRITE_RATE: Bytes = Bytes(2_000_000_000);

/// Random writes of less than 64 KiB are assumed to have this part of the rate: 122,000 requests
/// of 4 KiB a second at the usual one, above what flash of a client sustains. Chosen.
const SMALL: u64 = 4;

/// A request is assumed to take this long at least, so that few in flight write little: faster
/// than any NAND drive acknowledges a write.
const FASTEST: Nanos = Nanos(10_000);

/// The share of the rated endurance that a run may write where nothing else is wished. Chosen: a
/// suite a month for four years stays below the rating.
pub const SHARE: f64 = 0.02;

/// What a plan will cost, as far as it can be known beforehand.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Estimate {
    /// Time of all steps that are limited by time, with their longest rests.
    pub timed: Nanos,
    /// Bytes of all preparations, whose time depends on the drive.
    pub filled: Bytes,
    /// The most that is written by steps with a byte limit, preparations included.
    pub written_at_most: Bytes,
    /// What is written in all where steps that only time limits write at the assumed rate, and
    /// the others no more than they can within their time.
    pub written_at_rate: Bytes,
    /// The rate that was assumed, in bytes a second.
    pub rate: Bytes,
    /// Whether some step writes for a time and without a limit of bytes.
    pub writes_without_limit: bool,
    /// Whether some test searches for a load: the most probes and one full trial are counted,
    /// because how many trials fail is not known.
    pub searches: bool,
}

impl Estimate {
    /// Adds `step`, carried out so many times.
    fn add(&mut self, step: &Step, times: u64) {
        match &step.action {
            Action::Prepare(Preparation::Fill { span, .. }) => self.filled += *span * times,
            Action::Prepare(
                Preparation::Purge
                | Preparation::PurgeBy(_)
                | Preparation::Trim { .. }
                | Preparation::Power(_)
                | Preparation::WriteCache(_),
            ) => {}
            Action::Rest(time) | Action::Idle(time) => self.timed += *time * times,
            Action::Run { until, .. } => {
                let time = until.time.unwrap_or_default();
                self.timed += (time + step.rest.after(time)) * times;
            }
        }
        match step.action.writes_at_most() {
            Some(bytes) => self.written_at_most += bytes * times,
            None => self.writes_without_limit = true,
        }
        self.written_at_rate += self.at_rate(&step.action) * times;
    }

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
        let rungs = test.phases[search.trials].steps.len() as u32;
        // Doubling up to the first failure, then halving the gap: see `search::next`.
        let probes = 2 * rungs.next_power_of_two().ilog2() + 2;
        last(search.probes).into_iter().for_each(|step| self.add(step, u64::from(probes)));
        last(search.trials).into_iter().for_each(|step| self.add(step, 1));
        let again = search.recondition.iter().flat_map(|phase| &test.phases[*phase].steps);
        again.for_each(|step| self.add(step, u64::from(probes / 2)));
    }

    /// Returns what `action` writes at the assumed rate, and no more than its limit of bytes.
    fn at_rate(&self, action: &Action) -> Bytes {
        let limit = action.writes_at_most();
        match action {
            Action::Prepare(_) | Action::Rest(_) | Action::Idle(_) => limit.unwrap_or_default(),
            Action::Run { workload, until, .. } => {
                let of_stream = |stream: &Stream| write_rate(stream, self.rate);
                let rate: f64 = workload.streams.iter().map(of_stream).sum();
                let rate = rate.min(self.rate.0 as f64);
                let in_time = until.time.map(|time| Bytes((rate * time.as_secs_f64()) as u64));
                let bounds = in_time.into_iter().chain(limit);
                bounds.min().unwrap_or_default()
            }
        }
    }
}

/// Returns the bytes a second that `stream` is assumed to write on a drive that writes `most`.
fn write_rate(stream: &Stream, most: Bytes) -> f64 {
    let share = f64::from(100 - stream.read_percent.min(100)) / 100.0;
    let block = stream.block_size.0 as f64;
    let is_small = stream.access == Access::Random && stream.block_size < Bytes(64 << 10);
    let most = most.0 as f64 / if is_small { SMALL as f64 } else { 1.0 };
    let asked = match stream.arrival.per_second() {
        Some(rate) => rate * block,
        None => f64::from(stream.total_depth()) * block / FASTEST.as_secs_f64(),
    };
    (asked * share).min(most)
}

/// Returns what `plan` will cost on a drive that writes `rate` bytes a second.
pub fn estimate(plan: &Plan, rate: Bytes) -> Estimate {
    let mut sum = Estimate { rate, ..Estimate::default() };
    plan.tests.iter().for_each(|test| sum.add_test(test));
    sum
}

/// Returns the test of `plan` that writes most on a drive that writes `rate` bytes a second, with
/// what it writes; `None` where nothing is written.
pub fn writes_most(plan: &Plan, rate: Bytes) -> Option<(&Test, Bytes)> {
    let written = |test: &Test| {
        let mut sum = Estimate { rate, ..Estimate::default() };
        sum.add_test(test);
        sum.written_at_rate
    };
    let each = plan.tests.iter().map(|test| (test, written(test)));
    each.max_by_key(|(_, written)| *written).filter(|(_, written)| written.0 > 0)
}

/// What is wished of a drive's endurance.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Endurance {
    /// The bytes that the drive is rated to bear, where the user named them; else those that the
    /// drive states.
    pub rated: Option<Bytes>,
    /// The share of it that the run may write.
    pub share: f64,
}

impl Default for Endurance {
    fn default() -> Self {
        Endurance { rated: None, share: SHARE }
    }
}

/// What a run takes of a drive's endurance.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Wear {
    /// What the run writes by the estimate.
    pub written: Bytes,
    /// What the drive is rated to bear over its life.
    pub rated: Bytes,
    /// What of it is left, where the drive says how much is used.
    pub left: Option<Bytes>,
    /// The share of the rating that the run takes.
    pub share: f64,
}

/// Why a run would wear a drive too much. Nothing was written.
#[derive(Clone, Debug, PartialEq, Error)]
pub enum WearError {
    /// More than the drive has left.
    #[error(
        "the run would write about {}, and {target} has about {} of its rated {} left",
        written.about(), left.about(), rated.about()
    )]
    MoreThanLeft {
        /// The target.
        target: String,
        /// What the run writes.
        written: Bytes,
        /// What is left.
        left: Bytes,
        /// What it is rated for.
        rated: Bytes,
    },
    /// More than the share that is allowed.
    #[error(
        "the run would write about {}, which is {:.1} % of the {} that {target} is rated for; \
         {:.1} % are allowed",
        written.about(), share * 100.0, rated.about(), allowed * 100.0
    )]
    MoreThanAllowed {
        /// The target.
        target: String,
        /// What the run writes.
        written: Bytes,
        /// Its share of the rating.
        share: f64,
        /// The share that is allowed.
        allowed: f64,
        /// What it is rated for.
        rated: Bytes,
    },
}

/// The key of a drive's details with its rated endurance in bytes.
pub const RATED_KEY: &str = "rated_endurance_bytes";

/// The key of a drive's details with the percentage of its life that is used, as NVMe drives state
/// it (SMART log, Percentage Used: 100 is the rated endurance, more is possible).
pub const USED_KEY: &str = "percentage_used";

/// Returns what `cost` takes of the endurance of `drive`; `None` where nobody knows its rating.
pub fn wear(cost: &Estimate, drive: &DriveInfo, wish: &Endurance) -> Option<Wear> {
    let detail = |key: &str| drive.details.get(key)?.trim_end_matches(" %").parse::<u64>().ok();
    let rated = wish.rated.or_else(|| detail(RATED_KEY).map(Bytes)).filter(|rated| rated.0 > 0)?;
    let left = detail(USED_KEY)
        .map(|used| Bytes((u128::from(rated.0) * u128::from(100 - used.min(100)) / 100) as u64));
    let written = cost.written_at_rate;
    Some(Wear { written, rated, left, share: written.0 as f64 / rated.0 as f64 })
}

/// Refuses a run that would wear `drive` too much.
pub fn admit(wear: &Wear, drive: &DriveInfo, wish: &Endurance) -> Result<(), WearError> {
    let Wear { written, rated, left, share } = *wear;
    let target = drive.target.clone();
    match left {
        Some(left) if written > left => {
            Err(WearError::MoreThanLeft { target, written, left, rated })
        }
        Some(_) | None if share > wish.share => {
            Err(WearError::MoreThanAllowed { target, written, share, allowed: wish.share, rated })
        }
        Some(_) | None => Ok(()),
    }
}
