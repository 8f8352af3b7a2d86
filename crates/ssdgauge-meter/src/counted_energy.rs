//! The energy of a step by a meter that counts it: the sum of the differences of its counter.

use ssdgauge_core::{MeteredPower, Nanos, is_covered};

/// The time before the first difference, or after the last one, counts with the power of that difference up
/// to so many times its length. Chosen, as the gap of a meter of power.
const END_FACTOR: u64 = 3;

/// The differences of a counter in one step, in the order of their times.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct CountedEnergy {
    /// Begin, end and mean power of the first difference.
    first: Option<(Nanos, Nanos, f64)>,
    /// Those of the last one.
    last: Option<(Nanos, Nanos, f64)>,
    joules: f64,
    covered: Nanos,
}

impl CountedEnergy {
    /// Adds the mean power `watts` from `from` to `to`.
    pub(crate) fn add(&mut self, from: Nanos, to: Nanos, watts: f64) {
        let time = Nanos(to.0.saturating_sub(from.0));
        self.joules += watts * time.as_secs_f64();
        self.covered += time;
        self.first = self.first.or(Some((from, to, watts)));
        self.last = Some((from, to, watts));
    }

    /// Returns the power over `elapsed`; `None` without a difference.
    ///
    /// What is before the first difference and after the last one counts with their power. A time between
    /// two differences has none of its own: the counter was reset, or may have wrapped more than once.
    pub(crate) fn over(&self, elapsed: Nanos) -> Option<MeteredPower> {
        let ((begin, first_end, first), (last_begin, end, last)) = self.first.zip(self.last)?;
        // The difference in which the step ends reaches beyond it.
        let beyond = Nanos(end.0.saturating_sub(elapsed.0.max(last_begin.0)));
        let mut joules = self.joules - last * beyond.as_secs_f64();
        let mut covered = Nanos(self.covered.0 - beyond.0);
        let after = Nanos(elapsed.0.saturating_sub(end.0));
        for (time, length, watts) in
            [(begin, first_end - begin, first), (after, end - last_begin, last)]
        {
            if time <= length * END_FACTOR {
                joules += watts * time.as_secs_f64();
                covered += time;
            }
        }
        if elapsed == Nanos::ZERO || covered == Nanos::ZERO {
            return Some(MeteredPower { watts: Some(last), coverage: 1.0 });
        }
        let coverage = (covered.0 as f64 / elapsed.0 as f64).min(1.0);
        let watts = joules / covered.as_secs_f64();
        Some(MeteredPower { watts: Some(watts).filter(|_| is_covered(coverage)), coverage })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Nanos = Nanos::SECOND;

    /// Returns power and coverage of differences (from s, to s, W) over so many seconds.
    fn over(differences: &[(f64, f64, f64)], seconds: f64) -> Option<(Option<f64>, f64)> {
        let nanos = |seconds: f64| Nanos((seconds * SECOND.0 as f64) as u64);
        let mut counted = CountedEnergy::default();
        for (from, to, watts) in differences {
            counted.add(nanos(*from), nanos(*to), *watts);
        }
        counted.over(nanos(seconds)).map(|power| (power.watts, power.coverage))
    }

    #[test]
    fn the_energy_is_the_sum_of_the_differences_and_a_step_may_end_within_one() {
        // 10 J in 1 s, 10 J in 4 s: 20 J in 5 s.
        let uneven = [(0.0, 1.0, 10.0), (1.0, 5.0, 2.5)];
        assert_eq!(over(&uneven, 5.0), Some((Some(4.0), 1.0)));
        // 1 s of the second difference is later than the step: 17.5 J in 4 s.
        assert_eq!(over(&uneven, 4.0), Some((Some(17.5 / 4.0), 1.0)));
        assert_eq!(over(&[], 4.0), None);
    }

    #[test]
    fn the_ends_count_up_to_three_times_the_difference_next_to_them() {
        let two = [(3.0, 4.0, 2.0), (4.0, 5.0, 6.0)];
        // 3 s of 2 W, the differences, 2 s of 6 W.
        let expected = (3.0 * 2.0 + 2.0 + 6.0 + 2.0 * 6.0) / 7.0;
        assert_eq!(over(&two, 7.0), Some((Some(expected), 1.0)));
        let (watts, coverage) = over(&two, 50.0).unwrap();
        assert_eq!((watts, coverage), (None, 5.0 / 50.0));
    }

    #[test]
    fn a_time_without_a_difference_is_not_covered() {
        let reset = |gap: f64| over(&[(0.0, 10.0, 4.0), (10.0 + gap, 20.0, 4.0)], 20.0).unwrap();
        assert_eq!(reset(2.5), (None, 0.875));
        assert_eq!(reset(1.5), (Some(4.0), 0.925));
    }
}
