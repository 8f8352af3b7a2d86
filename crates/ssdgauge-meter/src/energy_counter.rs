//! Meters that count energy: the mean power between two readings of a counter is its difference over the
//! time between them.
//!
//! No power is interpolated: between two readings at which the counter rose, its difference is the energy,
//! however the power varied meanwhile.

use crate::counter_range::CounterRange;
use crate::sample::{Batch, Sample};
use crate::source::interface::Source;
use ssdgauge_core::rounded::number;
use std::time::{Duration, Instant};

/// Within this time a difference that is too large for the meter waits for the next reading: the lines of a
/// program may arrive in bursts. Chosen.
const JITTER: f64 = 1.0;

/// A counter of energy, as a source of power: each sample is the mean since the counter rose before.
///
/// A reading at which the counter has not risen is skipped: a counter that is read more often than it counts
/// would alternate between 0 W and twice the power.
pub(crate) struct EnergyCounter {
    source: Box<dyn Source>,
    range: CounterRange,
    /// The highest power of the meter, in the unit of the source per second.
    most: f64,
    /// Time and value of the reading at which the counter rose last, or of the first one.
    risen: Option<(Instant, f64)>,
    /// Whether it has risen: before that, the time since it rose is not known.
    has_risen: bool,
}

impl EnergyCounter {
    /// Returns the counter that `source` reads. `most` is the highest plausible power, in the unit of the
    /// source per second.
    pub(crate) fn new(source: Box<dyn Source>, range: CounterRange, most: f64) -> EnergyCounter {
        EnergyCounter { source, range, most, risen: None, has_risen: false }
    }

    /// Takes one reading of the counter. Returns the mean power since it rose before, with the time of that.
    ///
    /// # Errors
    /// The energy between the two readings is not known, for the cause in the error.
    fn take(&mut self, at: Instant, value: f64) -> Result<Option<Sample>, String> {
        let Some((since, before)) = self.risen else {
            self.risen = Some((at, value));
            return Ok(None);
        };
        let seconds = at.saturating_duration_since(since).as_secs_f64();
        if value == before || seconds <= 0.0 {
            return Ok(None);
        }
        let joules = self.difference(before, value, seconds);
        if seconds < JITTER && joules.as_ref().is_ok_and(|joules| *joules > self.most * seconds) {
            return Ok(None);
        }
        self.risen = Some((at, value));
        let has_risen = std::mem::replace(&mut self.has_risen, true);
        let joules = joules?;
        // The first difference begins between two rises.
        Ok(has_risen.then(|| Sample {
            since: Some(since),
            at,
            channel: 0,
            value: joules / seconds,
        }))
    }

    /// Returns the energy from reading `before` to `value`, which are `seconds` apart.
    fn difference(&self, before: f64, value: f64, seconds: f64) -> Result<f64, String> {
        if let Some(wraps_at) = self.range.wraps_at
            && self.most * seconds >= wraps_at
        {
            return Err(format!(
                "its counter was not read for {seconds:.0} s, within which it may have wrapped more \
                 than once"
            ));
        }
        let rise = value - before;
        match self.range.wraps_at {
            _ if rise >= 0.0 => Ok(rise),
            Some(wraps_at) if rise + wraps_at >= 0.0 => Ok(rise + wraps_at),
            Some(_) | None => {
                Err(format!("its counter fell from {} to {}", number(before), number(value)))
            }
        }
    }
}

impl Source for EnergyCounter {
    fn next(&mut self, timeout: Duration) -> Result<Batch, String> {
        let mut read = self.source.next(timeout)?;
        let samples = std::mem::take(&mut read.samples);
        let mut batch = Batch { samples: Vec::new(), ..read };
        for sample in samples.iter().filter(|sample| sample.channel == 0) {
            match self.take(sample.at, sample.value) {
                Ok(power) => batch.samples.extend(power),
                Err(warning) => batch.warnings.push(warning),
            }
        }
        Ok(batch)
    }

    fn wakes_drive(&self) -> bool {
        self.source.wakes_drive()
    }

    fn sampling(&self) -> String {
        format!("differences of an energy counter, read {}", self.source.sampling())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::aggregate::{Aggregate, ChannelKind};
    use ssdgauge_core::{Nanos, PowerScope, Random};

    /// A source with readings (ms, value), each of which is a batch.
    struct Script {
        start: Instant,
        readings: std::vec::IntoIter<(u64, f64)>,
    }

    impl Source for Script {
        fn next(&mut self, _timeout: Duration) -> Result<Batch, String> {
            let (ms, value) = self.readings.next().ok_or("the end")?;
            Ok(Batch::from_reading(self.start + Duration::from_millis(ms), Ok(value)))
        }

        fn wakes_drive(&self) -> bool {
            false
        }

        fn sampling(&self) -> String {
            "by a script".into()
        }
    }

    /// Returns the samples (from ms, to ms, power) and the warnings of a counter with `readings`.
    fn play(wraps_at: Option<f64>, readings: &[(u64, f64)]) -> (Vec<(u64, u64, f64)>, Vec<String>) {
        let start = Instant::now();
        let script = Script { start, readings: Vec::from(readings).into_iter() };
        let range = CounterRange { wraps_at };
        let mut counter = EnergyCounter::new(Box::new(script), range, 150.0);
        let (mut samples, mut warnings) = (Vec::new(), Vec::new());
        while let Ok(batch) = counter.next(Duration::ZERO) {
            samples.extend(batch.samples);
            warnings.extend(batch.warnings);
        }
        let ms = |at: Instant| (at - start).as_millis() as u64;
        let found = samples.iter().map(|one| (ms(one.since.unwrap()), ms(one.at), one.value));
        (found.collect(), warnings)
    }

    #[test]
    fn a_sample_is_the_difference_over_the_time_since_the_counter_rose() {
        // 2 J/s for a second, 6 J/s for half a second; the first rise has no known begin.
        let readings = [(0, 7.0), (100, 8.0), (1_100, 10.0), (1_600, 13.0)];
        let expected = vec![(100, 1_100, 2.0), (1_100, 1_600, 6.0)];
        assert_eq!(play(None, &readings), (expected, vec![]));
        // Read ten times as often as it counts.
        let often: Vec<(u64, f64)> = (0..60).map(|n| (n * 100, (n / 10) as f64 * 5.0)).collect();
        let (samples, warnings) = play(None, &often);
        assert_eq!((samples.len(), warnings.len()), (4, 0));
        assert!(samples.iter().all(|(.., watts)| *watts == 5.0), "{samples:?}");
    }

    #[test]
    fn readings_that_arrive_in_bursts_lose_no_energy() {
        // 5 J a second, printed ten times a second; a busy host reads three lines at once.
        let burst = [(0, 0.0), (100, 0.5), (200, 1.0), (500, 1.5), (501, 2.0), (502, 2.5)];
        let readings = [burst.as_slice(), &[(600, 3.0), (700, 3.5)]].concat();
        let (samples, warnings) = play(None, &readings);
        let joules: f64 = samples.iter().map(|(from, to, w)| (to - from) as f64 / 1e3 * w).sum();
        assert!((joules - 3.0).abs() < 1e-9, "{samples:?}");
        assert!(samples.iter().all(|(.., watts)| *watts <= 150.0), "{samples:?}");
        assert_eq!(warnings, [""; 0]);
        // A wrong unit stays one.
        let (samples, _) = play(None, &[(0, 0.0), (500, 1e3), (1_600, 3e3), (2_700, 5e3)]);
        assert!(samples.iter().any(|(.., watts)| *watts > 150.0), "{samples:?}");
    }

    #[test]
    fn a_counter_that_wraps_continues_and_one_that_falls_has_a_warning() {
        let readings = [(0, 990.0), (1_000, 994.0), (2_000, 999.0), (3_000, 4.0), (4_000, 9.0)];
        let (samples, warnings) = play(Some(1_000.0), &readings);
        let watts: Vec<f64> = samples.iter().map(|(.., watts)| *watts).collect();
        assert_eq!((watts, warnings.len()), (vec![5.0, 5.0, 5.0], 0));
        // Without a known end it was reset: the energy of that second is not known.
        let (samples, warnings) = play(None, &readings);
        assert_eq!(samples.iter().map(|one| one.0).collect::<Vec<_>>(), [1_000, 3_000]);
        assert_eq!(warnings, ["its counter fell from 999 to 4.00"]);
    }

    #[test]
    fn the_energy_of_a_step_is_the_difference_of_its_counter_at_any_times_of_reading() {
        for seed in 0..50 {
            let mut random = Random::new(seed, 45);
            // Pulses of 6 W over 2 W, 30 % of the time, with any period.
            let period = 0.2 + random.unit();
            let joules = |t: f64| {
                let pulses = (t / period).floor();
                2.0 * t + 6.0 * (0.3 * period * pulses + (t - pulses * period).min(0.3 * period))
            };
            // Readings at any times up to 1.5 s apart, with a silent time, of a counter in millijoules
            // that begins at 0 again at 200 J, which takes 25 s at least.
            let wraps_at = 200.0;
            let start = 190.0;
            let (mut readings, mut at) = (Vec::new(), 0.0);
            while at < 60.0 {
                let value = ((start + joules(at)) * 1e3).floor() / 1e3;
                readings.push(((at * 1e3) as u64, value % wraps_at));
                at = ((at + 0.02 + 1.5 * random.unit()) * 1e3).floor() / 1e3;
                at = if (20.0..30.0).contains(&at) { 30.0 } else { at };
            }
            let source = |readings: &[(u64, f64)]| {
                let start = Instant::now();
                let script = Script { start, readings: Vec::from(readings).into_iter() };
                let range = CounterRange { wraps_at: Some(wraps_at) };
                (start, EnergyCounter::new(Box::new(script), range, 10.0))
            };
            let (start, mut counter) = source(&readings);
            let kind =
                ChannelKind::Power { least: 0.0, most: 10.0, reports: Some(PowerScope::Drive) };
            let mut step = Aggregate::new("counter", "power_w", kind);
            let (mut first, mut last) = (None, Nanos::ZERO);
            let since = |at: Instant| Nanos((at - start).as_nanos() as u64);
            while let Ok(batch) = counter.next(Duration::ZERO) {
                for sample in batch.samples {
                    let from = since(sample.since.unwrap());
                    first = first.or(Some(from));
                    last = since(sample.at);
                    step.mean(from, last, sample.value);
                }
            }
            let (readings, findings) = step.finish(last);
            let found = readings.iter().find(|one| one.quantity == "energy_j").unwrap().value;
            // What is before the first difference counts with its power.
            let known = |from: Nanos| joules(last.as_secs_f64()) - joules(from.as_secs_f64());
            let (whole, from_first) = (known(Nanos::ZERO), known(first.unwrap()));
            assert!(found >= from_first - 0.002, "seed {seed}: {found} J of {from_first}");
            let before = whole - from_first;
            assert!((found - whole).abs() <= 0.002 + 3.0 * before, "seed {seed}: {found} {whole}");
            // The silent time is in the energy, and is told.
            assert_eq!(findings.len(), 1, "{findings:?}");
            assert!(findings[0].text.contains("gave no reading for 1"), "{findings:?}");
            assert!(readings.iter().all(|one| one.quantity != "power_max_w"));
        }
    }

    #[test]
    fn a_gap_in_which_the_counter_may_have_wrapped_twice_has_no_energy() {
        // 150 J/s at most: 1,000 J are reached in 6.7 s.
        let readings = |gap: u64| [(0, 0.0), (500, 10.0), (500 + gap, 400.0), (1_500 + gap, 405.0)];
        let (samples, warnings) = play(Some(1_000.0), &readings(6_000));
        assert_eq!((samples.len(), warnings.len()), (2, 0));
        let (samples, warnings) = play(Some(1_000.0), &readings(7_000));
        assert_eq!(samples, [(7_500, 8_500, 5.0)]);
        assert_eq!(
            warnings,
            ["its counter was not read for 7 s, within which it may have wrapped more than once"]
        );
    }
}
