//! The due times of the requests of an open loop: the same for a real engine and a virtual drive.

use crate::units::Nanos;
use crate::workload::pulse::Pulse;
use crate::workload::{Arrival, Stream};
use ssdgauge_statistics::Random;

/// The largest delay of a submission or a completion after its due time; a larger one ends the
/// workload. The default of `max-lag-sec` in Aerospike ACT.
pub const MAX_LAG: Nanos = Nanos::from_secs(10);

/// The due times of one thread of a stream, counted from the start of the step.
///
/// The times are absolute: no rounding error carries over to the next one, so there is no drift.
#[derive(Clone, Debug)]
pub struct Schedule {
    /// The mean time between two requests of the thread, in nanoseconds.
    step: f64,
    /// The time of the first request, in steps.
    phase: f64,
    /// The requests so far.
    count: u64,
    /// The sum of the random gaps so far, in steps.
    sum: f64,
    /// The source of random gaps; `None` for equal ones.
    random: Option<Random>,
    /// The times in which requests are due; `None` for all of the step.
    pulse: Option<Pulse>,
}

impl Schedule {
    /// Returns the schedule of thread number `thread` of `stream`; `None` for a closed loop.
    ///
    /// The threads of a uniform stream take turns, those of a stream in phase send together. Those of
    /// a Poisson stream are independent: the superposition of Poisson processes is a Poisson process of the summed rate.
    pub fn new(stream: &Stream, thread: u32, seed: u64) -> Option<Schedule> {
        let threads = f64::from(stream.threads.max(1));
        let (per_second, random) = match stream.arrival {
            Arrival::Closed | Arrival::Recorded { .. } => return None,
            Arrival::Uniform { per_second } | Arrival::InPhase { per_second } => (per_second, None),
            Arrival::Poisson { per_second } => {
                // Another seed than that of the offsets: gaps and offsets must be independent.
                (per_second, Some(Random::new(seed ^ 0xa771_7a1e, u64::from(thread))))
            }
        };
        debug_assert!(per_second > 0.0, "the planner refuses an open loop without a rate");
        let phase = match stream.arrival {
            Arrival::InPhase { .. } => 0.0,
            Arrival::Closed
            | Arrival::Uniform { .. }
            | Arrival::Poisson { .. }
            | Arrival::Recorded { .. } => f64::from(thread) / threads,
        };
        let step = 1e9 * threads / per_second;
        let mut schedule =
            Schedule { step, phase, count: 0, sum: 0.0, random, pulse: stream.pulse };
        if let Some(random) = &mut schedule.random {
            schedule.sum = random.exponential();
        }
        Some(schedule)
    }

    /// Returns when the next request is due, in nanoseconds from the start of the step.
    #[inline]
    pub fn due(&self) -> u64 {
        let steps = match self.random {
            None => self.count as f64 + self.phase,
            Some(_) => self.sum,
        };
        let due = (steps * self.step) as u64;
        match &self.pulse {
            None => due,
            Some(pulse) => pulse.time_after(due),
        }
    }

    /// Advances to the next request.
    #[inline]
    pub fn advance(&mut self) {
        self.count += 1;
        if let Some(random) = &mut self.random {
            // Gaps of a Poisson process are exponentially distributed.
            self.sum += random.exponential();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::units::Bytes;
    use crate::workload::{Access, Data};

    fn stream(arrival: Arrival, threads: u32) -> Stream {
        Stream {
            name: "main".into(),
            access: Access::Random,
            block_size: Bytes(4_096),
            read_percent: 100,
            queue_depth: 1,
            threads,
            offset: Bytes(0),
            span: Bytes(1 << 30),
            arrival,
            data: Data::Incompressible,
            sync: false,
            ..Stream::default()
        }
    }

    /// All due times of all threads below `end`, in order.
    fn dues(stream: &Stream, end: u64) -> Vec<u64> {
        let mut dues = Vec::new();
        for thread in 0..stream.threads {
            let mut schedule = Schedule::new(stream, thread, 5).unwrap();
            while schedule.due() < end {
                dues.push(schedule.due());
                schedule.advance();
            }
        }
        dues.sort_unstable();
        dues
    }

    #[test]
    fn a_uniform_schedule_never_drifts() {
        // 23.53 a second has no whole period: after a day the rate is still exact.
        let arrival = Arrival::Uniform { per_second: 23.53 };
        let day = 86_400_000_000_000;
        let dues = dues(&stream(arrival, 1), day);
        assert_eq!(dues.len(), (23.53f64 * 86_400.0).ceil() as usize);
        let last = *dues.last().unwrap() as f64;
        let exact = (dues.len() - 1) as f64 * 1e9 / 23.53;
        assert!((last - exact).abs() < 2.0, "{last} {exact}");
    }

    #[test]
    fn threads_share_a_uniform_rate_in_turn() {
        let dues = dues(&stream(Arrival::Uniform { per_second: 1_000.0 }, 4), 1_000_000_000);
        assert_eq!(dues.len(), 1_000);
        assert!(dues.windows(2).all(|pair| pair[1] - pair[0] == 1_000_000));
    }

    #[test]
    fn poisson_gaps_have_the_requested_rate_and_a_variation_of_one() {
        for threads in [1, 3] {
            let per_second = 20_000.0;
            let dues = dues(&stream(Arrival::Poisson { per_second }, threads), 10_000_000_000);
            let n = dues.len() as f64;
            // Five standard deviations of a count of 200,000 are 2,236.
            assert!((n - 200_000.0).abs() < 2_236.0, "{n}");
            let gaps: Vec<f64> = dues.windows(2).map(|pair| (pair[1] - pair[0]) as f64).collect();
            let mean = gaps.iter().sum::<f64>() / gaps.len() as f64;
            let squares = gaps.iter().map(|gap| (gap - mean).powi(2)).sum::<f64>();
            let variation = (squares / gaps.len() as f64).sqrt() / mean;
            assert!((variation - 1.0).abs() < 0.02, "{variation}");
        }
    }

    #[test]
    fn pulses_have_the_rate_in_their_on_times_and_nothing_in_the_others() {
        let pulse = Pulse { on: Nanos(200_000_000), off: Nanos(300_000_000) };
        for arrival in
            [Arrival::Uniform { per_second: 1_000.0 }, Arrival::Poisson { per_second: 1_000.0 }]
        {
            let mut pulsed = stream(arrival, 2);
            pulsed.pulse = Some(pulse);
            let dues = dues(&pulsed, 10_000_000_000);
            assert!(dues.iter().all(|due| due % 500_000_000 < 200_000_000));
            // Five standard deviations of a count of 4,000 are 316.
            assert!(dues.len().abs_diff(4_000) < 316, "{}", dues.len());
        }
    }

    #[test]
    fn a_closed_loop_has_no_schedule() {
        assert!(Schedule::new(&stream(Arrival::Closed, 1), 0, 5).is_none());
    }
}
