//! The energy of a step: the integral of its readings of power over time, and the share of the time
//! that they cover.
//!
//! A mean that counts each reading alike is the power of the times at which a meter happens to
//! respond. The integral weights each reading with its time.

use crate::sample::{PowerScope, Reading};
use crate::units::Nanos;
use ssdgauge_statistics::histogram::Histogram;
use ssdgauge_statistics::time_weighted;

/// The share of a time that readings have to cover for its power and its energy to be given.
const MIN_COVERAGE: f64 = 0.9;

/// An interval between two readings is a gap where it is this many times as long as the interval
/// that the meter usually has: one lost response is not a gap.
const GAP_FACTOR: u64 = 3;
/// The shortest gap: the seconds of a step are the resolution of everything else.
const MIN_GAP: Nanos = Nanos::SECOND;
/// The longest time that a meter which is usually read more often may be silent without a gap.
const MAX_BRIDGED: Nanos = Nanos(5_000_000_000);
/// The intervals from which on the usual interval is known.
const MIN_INTERVALS: u64 = 5;
/// The usual interval where it is not known: sources are read at least once per second.
const DEFAULT_INTERVAL: Nanos = Nanos::SECOND;
/// Longer intervals than the usual one: these many, and one in [`RARE`] of all.
const FEW: u64 = 4;
/// See [`FEW`].
const RARE: u64 = 200;

/// The integral of readings of power, in the order of their times.
#[derive(Clone, Debug, Default)]
pub struct PowerIntegral {
    /// Time and value of the first reading.
    first: Option<(Nanos, f64)>,
    /// Time and value of the last one.
    last: Option<(Nanos, f64)>,
    /// The integral between them by the trapezoidal rule, in joules.
    joules: f64,
    /// The times between two readings.
    intervals: Histogram,
}

/// The power of a meter over a time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MeteredPower {
    /// The mean power in watts: energy ÷ time. `None` where it must not be given: the readings cover
    /// less than `MIN_COVERAGE` of the time, or the meter contradicts itself.
    pub watts: Option<f64>,
    /// The share of the time that the readings cover.
    pub coverage: f64,
}

impl PowerIntegral {
    /// Adds a reading of `watts` at `at`.
    pub fn add(&mut self, at: Nanos, watts: f64) {
        match self.last {
            Some((last, before)) => {
                let between = Nanos(at.0.saturating_sub(last.0));
                self.joules += (before + watts) / 2.0 * between.as_secs_f64();
                self.intervals.record(between.0);
                self.last = Some((last.max(at), watts));
            }
            None => {
                self.first = Some((at, watts));
                self.last = self.first;
            }
        }
    }

    /// Returns the power over `elapsed`; `None` without readings.
    ///
    /// The first reading counts from the start on, the last one until the end, and between two
    /// readings the power is a straight line. A gap is bridged in the same way, and does not count as
    /// covered.
    pub fn over(&self, elapsed: Nanos) -> Option<MeteredPower> {
        let ((first, from), (last, to)) = self.first.zip(self.last)?;
        // Readings taken while the last requests complete belong to the step.
        let elapsed = elapsed.max(last);
        if elapsed == Nanos::ZERO {
            return Some(MeteredPower { watts: Some(to), coverage: 1.0 });
        }
        let after = elapsed - last;
        let joules = from * first.as_secs_f64() + self.joules + to * after.as_secs_f64();
        let longest = self.longest_bridged();
        let in_gaps = time_weighted::share_above(&self.intervals, longest.0).unwrap_or(0.0);
        let between = self.intervals.sum() as f64 * (1.0 - in_gaps);
        let ends: u64 = [first, after].iter().filter(|end| **end <= longest).map(|end| end.0).sum();
        let coverage = ((between + ends as f64) / elapsed.0 as f64).min(1.0);
        let watts = joules / elapsed.as_secs_f64();
        Some(MeteredPower { watts: Some(watts).filter(|_| is_covered(coverage)), coverage })
    }

    /// Returns the longest time between two readings that is not a gap.
    fn longest_bridged(&self) -> Nanos {
        let n = self.intervals.count();
        if n < MIN_INTERVALS {
            return DEFAULT_INTERVAL * GAP_FACTOR;
        }
        let usual = self.nth_longest((FEW + n / RARE).min(n / 2));
        let median = self.nth_longest(n / 2);
        let most = MAX_BRIDGED.max(median * GAP_FACTOR);
        (usual * GAP_FACTOR).clamp(MIN_GAP, most)
    }

    /// Returns the interval that `n` of the intervals exceed.
    fn nth_longest(&self, n: u64) -> Nanos {
        let rank = self.intervals.count().saturating_sub(n);
        let mut seen = 0;
        let found = self.intervals.highest_values().find(|(_, count)| {
            seen += count;
            seen >= rank
        });
        Nanos(found.map_or(0, |(value, _)| value))
    }
}

/// Returns whether `coverage` suffices for a power.
pub fn is_covered(coverage: f64) -> bool {
    // A sum of times that is exactly this share may be rounded down.
    coverage >= MIN_COVERAGE - 1e-9
}

/// The power of a step in each scope, over all of its records.
#[derive(Clone, Debug, Default)]
pub(crate) struct PowerRecords {
    /// The readings of the open record, by scope.
    open: [OpenRecord; PowerScope::ALL.len()],
    /// The sums over the records before it, by scope.
    ended: [Sums; PowerScope::ALL.len()],
    /// The time of the records before the open one, and the place where the open one begins among
    /// the seconds of the step.
    elapsed: Nanos,
    begin: Nanos,
}

/// The readings of one scope in one record.
#[derive(Clone, Debug, Default)]
struct OpenRecord {
    /// The energy that the meter integrated over all of its readings.
    joules: Option<f64>,
    /// The time that they cover, in seconds; older run files do not have it.
    covered: Option<f64>,
    /// For records without the above: the energy of the seconds with readings and their time, and the
    /// gaps between them.
    of_seconds: f64,
    time: f64,
    seconds: PowerIntegral,
    /// The second that is open: its number, and sum and number of its readings.
    second: Option<(u64, f64, u32)>,
}

/// The energy of one scope over several records.
#[derive(Clone, Copy, Debug, Default)]
struct Sums {
    joules: f64,
    /// The time that the energy is that of.
    time: f64,
    covered: f64,
    is_metered: bool,
}

impl PowerRecords {
    /// Adds `reading` where it is one of power or energy. Its time counts from the first record on.
    pub(crate) fn add(&mut self, at: Nanos, reading: &Reading) {
        let quantity = reading.quantity.as_str();
        let all = PowerScope::ALL.into_iter().zip(&mut self.open);
        for (scope, open) in all {
            if quantity == scope.quantity() {
                open.add(Nanos(at.0.saturating_sub(self.begin.0)), reading.value);
            } else if quantity == scope.energy_quantity() {
                open.joules = Some(reading.value);
            } else if quantity == scope.covered_quantity() {
                open.covered = Some(reading.value);
            }
        }
    }

    /// Ends a record that took `elapsed`. The next one begins at the next full second.
    pub(crate) fn end_record(&mut self, elapsed: Nanos) {
        for (open, sums) in self.open.iter_mut().zip(&mut self.ended) {
            sums.add(std::mem::take(open), elapsed);
        }
        self.elapsed += elapsed;
        self.begin += Nanos::SECOND * elapsed.0.div_ceil(Nanos::SECOND.0);
    }

    /// Returns the power of each scope over all records, which took `elapsed`; `None` without readings.
    pub(crate) fn finish(mut self, elapsed: Nanos) -> Option<Box<MeteredScopes>> {
        let open = Nanos(elapsed.0.saturating_sub(self.elapsed.0));
        if open > Nanos::ZERO || self.elapsed == Nanos::ZERO {
            self.end_record(open);
        }
        let all = self.ended.map(|sums| sums.over(elapsed));
        all.iter().any(Option::is_some).then(|| Box::new(all))
    }
}

/// The power of each scope, in the order of [`PowerScope::ALL`].
pub(crate) type MeteredScopes = [Option<MeteredPower>; PowerScope::ALL.len()];

impl OpenRecord {
    fn add(&mut self, at: Nanos, watts: f64) {
        let number = at.0 / Nanos::SECOND.0;
        match &mut self.second {
            Some((open, sum, n)) if *open == number => {
                *sum += watts;
                *n += 1;
            }
            Some(_) | None => {
                self.close_second(None);
                self.second = Some((number, watts, 1));
            }
        }
    }

    /// Adds the mean of the open second, with its time. A last second ends with the record.
    fn close_second(&mut self, elapsed: Option<Nanos>) {
        let Some((number, sum, n)) = self.second.take() else { return };
        let begin = Nanos(number.saturating_mul(Nanos::SECOND.0));
        let length = elapsed.map_or(Nanos::SECOND, |elapsed| {
            Nanos(elapsed.0.saturating_sub(begin.0)).min(Nanos::SECOND)
        });
        let mean = sum / f64::from(n);
        self.of_seconds += mean * length.as_secs_f64();
        self.time += length.as_secs_f64();
        self.seconds.add(Nanos(begin.0.saturating_add(length.0 / 2)), mean);
    }
}

impl Sums {
    fn add(&mut self, mut record: OpenRecord, elapsed: Nanos) {
        record.close_second(Some(elapsed));
        let seconds = record.seconds.over(elapsed);
        let time = elapsed.as_secs_f64();
        let is_metered = record.covered.is_some() || record.joules.is_some() || seconds.is_some();
        self.is_metered |= is_metered;
        let of_seconds = seconds.map_or(0.0, |one| one.coverage * time);
        self.covered += record.covered.unwrap_or(of_seconds);
        let from_seconds = || {
            let watts = match record.time > 0.0 {
                true => record.of_seconds / record.time,
                // A reading at the very end, as of a step that is shorter than a second.
                false => seconds?.watts?,
            };
            seconds?.watts.map(|_| watts * time)
        };
        // A meter that gives its coverage and no energy refused the energy.
        let joules = match record.covered {
            Some(_) => record.joules,
            None => record.joules.or_else(from_seconds),
        };
        if let Some(joules) = joules.filter(|joules| joules.is_finite()) {
            self.joules += joules;
            self.time += time;
        }
    }

    fn over(self, elapsed: Nanos) -> Option<MeteredPower> {
        let all = elapsed.as_secs_f64();
        let share = |part: f64| if all > 0.0 { (part / all).clamp(0.0, 1.0) } else { 0.0 };
        let coverage = share(self.covered);
        let is_known = is_covered(coverage) && is_covered(share(self.time));
        let watts = is_known.then(|| self.joules / self.time);
        self.is_metered.then_some(MeteredPower { watts, coverage })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::totals::Totals;
    use crate::totals::metric::Metric;
    use crate::totals::scope::Scope;
    use crate::totals::second_aggregator::SecondAggregator;

    /// Quantity, milliseconds and value of a reading.
    type Given = (&'static str, u64, f64);

    /// The totals of records with readings (quantity, ms, value), each with its duration in ms.
    fn totals(records: &[(&[Given], u64)]) -> Totals {
        let ms = |ms: u64| Nanos(ms * 1_000_000);
        let mut step = SecondAggregator::default();
        let (mut begin, mut elapsed) = (0, 0);
        for (readings, length) in records {
            for (quantity, at, value) in *readings {
                let (instrument, quantity) = ("meter".to_owned(), (*quantity).to_owned());
                step.reading(&Reading { at: ms(begin + at), instrument, quantity, value: *value });
            }
            step.end_record(ms(*length));
            begin += length.div_ceil(1_000) * 1_000;
            elapsed += length;
        }
        step.finish(ms(elapsed)).whole
    }

    fn seconds(watts: f64, n: u64) -> Vec<Given> {
        (0..n).map(|second| ("power_w", second * 1_000 + 900, watts)).collect()
    }

    #[test]
    fn a_short_last_second_counts_with_its_time() {
        let mut readings = seconds(5.0, 10);
        readings.push(("power_w", 10_010, 0.1));
        // As a run file of an older version has them: 50 J in 10 s, and 2 mJ in 20 ms.
        let totals = totals(&[(&readings, 10_020)]);
        let power = totals.value(Metric::PowerW, Scope::All).unwrap();
        assert!((power / (50.002 / 10.02) - 1.0).abs() < 0.01, "{power}");
        let energy = totals.value(Metric::EnergyJ, Scope::All).unwrap();
        assert!((energy / 50.002 - 1.0).abs() < 0.01, "{energy}");
    }

    #[test]
    fn the_energy_that_the_meter_integrated_counts_before_the_means_of_the_seconds() {
        let mut readings = seconds(2.5, 10);
        readings.push(("energy_j", 10_000, 51.3));
        let power = |readings: &[_]| totals(&[(readings, 10_000)]).power();
        assert_eq!(power(&readings), Some((PowerScope::Drive, 5.13)));
        readings.push(("power_covered_s", 10_000, 8.9));
        assert_eq!(power(&readings), None);
        readings.pop();
        readings.push(("power_covered_s", 10_000, 9.1));
        assert_eq!(power(&readings), Some((PowerScope::Drive, 5.13)));
        // A meter that gives its coverage and no energy contradicted itself.
        readings.retain(|(quantity, ..)| *quantity != "energy_j");
        assert_eq!(power(&readings), None);
    }

    #[test]
    fn gaps_are_found_in_the_seconds_of_older_run_files() {
        let mut readings = seconds(3.5, 60);
        readings.retain(|(_, at, _)| !(20_000..40_000).contains(at));
        let refused = totals(&[(&readings, 60_000)]);
        assert_eq!(refused.power(), None);
        let coverage = refused.metered().unwrap().1.coverage;
        assert!((coverage - 40.0 / 60.0).abs() < 0.02, "{coverage}");
        // A meter that is read every 2 s has no gaps.
        let slow: Vec<_> = seconds(3.5, 60).into_iter().step_by(2).collect();
        assert_eq!(totals(&[(&slow, 60_000)]).power(), Some((PowerScope::Drive, 3.5)));
        // A meter of a wider scope does not replace the narrowest one.
        readings.extend((0..60).map(|second| ("host_ac_power_w", second * 1_000, 40.0)));
        assert_eq!(totals(&[(&readings, 60_000)]).power(), None);
        assert_eq!(totals(&[(&[], 60_000)]).metered(), None);
    }

    #[test]
    fn records_count_with_their_time() {
        let (short, long) = (seconds(9.0, 2), seconds(3.0, 10));
        let power = totals(&[(&short, 2_000), (&long, 10_000)]).power().unwrap().1;
        assert!((power - 4.0).abs() < 1e-9, "{power}");
        // 2 of 12 s without a reading are too many, 2 of 32 are not.
        assert_eq!(totals(&[(&[], 2_000), (&long, 10_000)]).power(), None);
        let longer = seconds(3.0, 30);
        let power = totals(&[(&[], 2_000), (&longer, 30_000)]).power().unwrap().1;
        assert!((power - 3.0).abs() < 1e-9, "{power}");
    }
}
