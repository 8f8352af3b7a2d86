//! The means over a step of what is read again and again while it runs, such as temperatures: each reading
//! counts with its time, as those of power do.
//!
//! A reading that is taken once per record, such as a counter at its end, is not a gauge.

use crate::sample::readings::ReadingSeries;
use crate::totals::power_integral::PowerIntegral;
use crate::units::Nanos;

/// The lengths of the records of a step, in their order. Each begins at the next full second after the one
/// before it.
#[derive(Clone, Debug, Default)]
pub(crate) struct RecordLengths(Vec<Nanos>);

impl RecordLengths {
    /// Adds the next record.
    pub(crate) fn push(&mut self, length: Nanos) {
        self.0.push(length);
    }

    /// Adds the last record, where `elapsed` of the step is more than the others have.
    pub(crate) fn end(&mut self, elapsed: Nanos) {
        let before: Nanos = self.0.iter().copied().sum();
        if elapsed > before {
            self.0.push(Nanos(elapsed.0 - before.0));
        }
    }
}

/// Returns each gauge of `readings`, which are in order, with its mean over the records; `None` where its
/// readings cover less than nine tenths of the time.
pub(crate) fn means(
    readings: &ReadingSeries,
    records: &RecordLengths,
) -> Vec<(String, Option<f64>)> {
    let of = |quantity: &str| mean(&readings.means(quantity), records);
    let all = readings.quantities();
    all.filter_map(|quantity| Some((quantity.to_owned(), of(quantity)?))).collect()
}

/// Returns the mean of a quantity over time from its means per second; `None` where it is not a gauge.
fn mean(seconds: &[(u32, f64)], records: &RecordLengths) -> Option<Option<f64>> {
    let mut rest = seconds;
    let (mut begin, mut is_gauge, mut is_covered) = (0, false, true);
    let (mut sum, mut time) = (0.0, 0.0);
    for length in &records.0 {
        let end = begin + length.0.div_ceil(Nanos::SECOND.0);
        let (own, later) = rest.split_at(rest.partition_point(|one| u64::from(one.0) < end));
        is_gauge |= own.len() > 1;
        let mut integral = PowerIntegral::default();
        for (second, value) in own {
            let from = Nanos::SECOND * (u64::from(*second) - begin);
            let of_second = Nanos(length.0.saturating_sub(from.0)).min(Nanos::SECOND);
            integral.add(Nanos(from.0 + of_second.0 / 2), *value);
        }
        match integral.over(*length).and_then(|mean| mean.watts) {
            Some(mean) => {
                sum += mean * length.as_secs_f64();
                time += length.as_secs_f64();
            }
            None => is_covered &= *length == Nanos::ZERO,
        }
        (begin, rest) = (end, later);
    }
    is_gauge.then(|| (is_covered && time > 0.0).then(|| sum / time))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample::Reading;
    use crate::totals::Totals;
    use crate::totals::second_aggregator::SecondAggregator;

    /// Returns the totals of records with readings (ms, value) of `quantity`, each with its length in ms.
    fn totals(quantity: &str, records: &[(&[(u64, f64)], u64)]) -> Totals {
        let ms = |ms: u64| Nanos(ms * 1_000_000);
        let mut step = SecondAggregator::default();
        let (mut begin, mut elapsed) = (0, 0);
        for (readings, length) in records {
            for (at, value) in *readings {
                let (instrument, quantity) = ("drive".to_owned(), quantity.to_owned());
                step.reading(&Reading { at: ms(begin + at), instrument, quantity, value: *value });
            }
            step.end_record(ms(*length));
            begin += length.div_ceil(1_000) * 1_000;
            elapsed += length;
        }
        step.finish(ms(elapsed)).whole
    }

    #[test]
    fn a_temperature_counts_with_its_time_and_not_with_its_readings() {
        // 40 °C for 10 s, read once a second, and 60 °C for 10 s, read ten times a second.
        let slow = (0..10).map(|n| (n * 1_000 + 500, 40.0));
        let fast = (0..100).map(|n| (10_000 + n * 100, 60.0));
        let readings: Vec<(u64, f64)> = slow.chain(fast).collect();
        let mean = totals("temperature_c", &[(&readings, 20_000)]).reading("temperature_c");
        assert!((mean.unwrap() - 50.0).abs() < 0.1, "{mean:?}");
        // A short last second counts with its time.
        let short: Vec<(u64, f64)> =
            (0..9).map(|n| (n * 1_000, 0.0)).chain([(9_010, 1.0)]).collect();
        let share = totals("throttled", &[(&short, 9_020)]).reading("throttled").unwrap();
        assert!(share < 0.07, "{share}");
    }

    #[test]
    fn a_temperature_of_a_part_of_the_step_is_none() {
        let part: Vec<(u64, f64)> = (0..40).map(|n| (n * 1_000, 40.0)).collect();
        let mean = |length| totals("temperature_c", &[(&part, length)]).reading("temperature_c");
        assert_eq!((mean(42_000), mean(60_000)), (Some(40.0), None));
    }

    #[test]
    fn records_count_with_their_time_and_readings_of_a_whole_record_alike() {
        let hot: Vec<(u64, f64)> = (0..30).map(|n| (n * 1_000, 60.0)).collect();
        let cold: Vec<(u64, f64)> = (0..10).map(|n| (n * 1_000, 40.0)).collect();
        let two = totals("temperature_c", &[(&hot, 30_000), (&cold, 10_000)]);
        assert_eq!(two.reading("temperature_c"), Some(55.0));
        // Whether a trial passed is one reading at its end, whatever its length.
        let passed = totals("passed", &[(&[(30_000, 1.0)], 30_000), (&[(10_000, 0.0)], 10_000)]);
        assert_eq!(passed.reading("passed"), Some(0.5));
    }
}
