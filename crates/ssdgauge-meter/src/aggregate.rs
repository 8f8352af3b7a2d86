//! The samples of one channel in one step: from moments to seconds, energy and doubts.
//!
//! Pure arithmetic: it knows no clock, and never invents a reading for a second without one.

use ssdgauge_core::{Finding, FindingKind, Nanos, Reading, Severity};

/// A meter is thought to be stuck after so many equal readings over at least [`STUCK_FOR`].
const STUCK_AFTER: u64 = 30;
/// See [`STUCK_AFTER`].
const STUCK_FOR: Nanos = Nanos::from_secs(20);
/// A silence from this length on is a gap.
const LEAST_GAP: Nanos = Nanos::from_secs(5);
/// The energy of a step is told where its samples span at least this share of it.
const LEAST_COVER: f64 = 0.9;

/// What a channel reads.
#[derive(Clone, Debug, PartialEq)]
pub enum Kind {
    /// Watts, with what can be, and the quantity of the energy of a step, where it is told.
    Power { least: f64, most: f64, energy: Option<&'static str> },
    /// Degrees Celsius.
    Temperature,
    /// An alarm of the drive: 0 or 1.
    Alarm,
}

/// The samples of one channel in one step.
#[derive(Clone, Debug)]
pub struct Aggregate {
    instrument: String,
    quantity: String,
    kind: Kind,
    /// The second at work.
    second: u64,
    sum: f64,
    n: u64,
    most: f64,
    /// When the last sample of the second at work was taken.
    at: Nanos,
    /// The first and the last sample of the step.
    ends: Option<(Nanos, Nanos, f64)>,
    /// The integral over time, in joules for watts.
    integral: f64,
    taken: u64,
    alarms: u64,
    refused: Option<(f64, u64)>,
    is_constant: bool,
    gap: Nanos,
}

impl Aggregate {
    /// Returns the aggregation of one channel: `quantity` of `instrument`, integrated as `kind` says.
    pub fn new(instrument: &str, quantity: &str, kind: Kind) -> Aggregate {
        Aggregate {
            instrument: instrument.into(),
            quantity: quantity.into(),
            kind,
            second: 0,
            sum: 0.0,
            n: 0,
            most: f64::NEG_INFINITY,
            at: Nanos::ZERO,
            ends: None,
            integral: 0.0,
            taken: 0,
            alarms: 0,
            refused: None,
            is_constant: true,
            gap: Nanos::ZERO,
        }
    }

    /// Forgets everything: a new step begins.
    pub fn begin(&mut self) {
        *self = Aggregate::new(&self.instrument, &self.quantity, self.kind.clone());
    }

    /// Takes a sample `at` a time from the start of the step; returns the readings of the second
    /// that it ends.
    pub fn sample(&mut self, at: Nanos, value: f64) -> Vec<Reading> {
        if !value.is_finite() || !self.can_be(value) {
            let first = self.refused.map_or((value, 0), |refused| refused);
            self.refused = Some((first.0, first.1 + 1));
            return Vec::new();
        }
        let mut readings = Vec::new();
        let second = at.0 / Nanos::SECOND.0;
        if second != self.second {
            readings = self.close_second();
            self.second = second;
        }
        if let Some((first, last, before)) = self.ends {
            let between = Nanos(at.0.saturating_sub(last.0));
            self.gap = self.gap.max(between);
            self.integral += (before + value) / 2.0 * between.as_secs_f64();
            self.is_constant &= before == value;
            self.ends = Some((first, last.max(at), value));
        } else {
            self.gap = at;
            self.ends = Some((at, at, value));
        }
        self.taken += 1;
        self.alarms += u64::from(value != 0.0);
        self.sum += value;
        self.n += 1;
        self.most = self.most.max(value);
        self.at = at;
        readings
    }

    fn can_be(&self, value: f64) -> bool {
        match self.kind {
            Kind::Power { least, most, .. } => (least..=most).contains(&value),
            // Zero kelvin, and what melts solder.
            Kind::Temperature => (-273.15..=250.0).contains(&value),
            Kind::Alarm => true,
        }
    }

    fn close_second(&mut self) -> Vec<Reading> {
        let (n, sum, most) = (self.n, self.sum, self.most);
        (self.n, self.sum, self.most) = (0, 0.0, f64::NEG_INFINITY);
        if n == 0 {
            return Vec::new();
        }
        let mut readings = vec![self.reading(&self.quantity, self.at, sum / n as f64)];
        if let (Kind::Power { .. }, 2..) = (&self.kind, n) {
            let quantity = self.quantity.replacen("power", "power_max", 1);
            readings.push(self.reading(&quantity, self.at, most));
        }
        readings
    }

    fn reading(&self, quantity: &str, at: Nanos, value: f64) -> Reading {
        Reading { at, instrument: self.instrument.clone(), quantity: quantity.into(), value }
    }

    /// Ends the step after `elapsed`: what is left of its last second, its energy, its doubts.
    pub fn finish(&mut self, elapsed: Nanos) -> (Vec<Reading>, Vec<Finding>) {
        let mut readings = self.close_second();
        // What was read while the last requests drained still belongs to the step.
        readings.iter_mut().for_each(|reading| reading.at = reading.at.min(elapsed));
        readings.extend(self.energy(elapsed));
        (readings, self.doubts(elapsed))
    }

    fn energy(&self, elapsed: Nanos) -> Option<Reading> {
        let Kind::Power { energy: Some(energy), .. } = self.kind else { return None };
        let (first, last, _) = self.ends?;
        let covered = (last.0 - first.0) as f64 / elapsed.0.max(1) as f64;
        // What lies before the first and behind the last sample is taken as the mean.
        let mean = self.integral / Nanos(last.0 - first.0).as_secs_f64();
        (covered >= LEAST_COVER && self.gap < LEAST_GAP)
            .then(|| self.reading(energy, elapsed, mean * elapsed.as_secs_f64()))
    }

    fn doubts(&self, elapsed: Nanos) -> Vec<Finding> {
        let name = &self.instrument;
        let mut doubts = Vec::new();
        let mut doubt = |kind, text: String, advice: &str| {
            doubts.push(Finding::new(kind, Severity::Warning, text, advice));
        };
        if let Some((first, n)) = self.refused {
            let what = match self.kind {
                Kind::Power { least, most, .. } => format!("outside {least} to {most} W"),
                Kind::Temperature => "no temperature of a drive".to_owned(),
                Kind::Alarm => "no alarm".to_owned(),
            };
            let text = format!("{name} read {first}, {what}; {n} readings were left out");
            doubt(
                FindingKind::Meter,
                text,
                "check the unit (scale=0.001@ for milliwatts) and the scope of the meter",
            );
        }
        let (first, last) = self.ends.map_or((elapsed, elapsed), |(first, last, _)| (first, last));
        let is_power = matches!(self.kind, Kind::Power { .. });
        if is_power && self.is_constant && self.taken >= STUCK_AFTER && last - first >= STUCK_FOR {
            let value = self.ends.map_or(0.0, |(.., value)| value);
            let text = format!("{name} read exactly {value} W in all {} readings", self.taken);
            doubt(
                FindingKind::Meter,
                text,
                "the sensor is stuck, or too coarse for this drive: do not trust the power",
            );
        }
        let behind = Nanos(elapsed.0.saturating_sub(last.0));
        let silence = if self.taken == 0 { elapsed } else { self.gap.max(behind) };
        if is_power && silence >= LEAST_GAP {
            let seconds = silence.as_secs_f64();
            let text = format!("{name} gave no reading for {seconds:.1} s");
            doubt(
                FindingKind::Meter,
                text,
                "the mean power of the step rests on the other seconds",
            );
        }
        if self.kind == Kind::Alarm && self.alarms > 0 {
            let text = format!(
                "{name} was on in {} of {} readings: the drive was too hot or too cold",
                self.alarms, self.taken
            );
            doubt(
                FindingKind::Throttled,
                text,
                "cool it: a drive that reports an alarm may have slowed down",
            );
        }
        doubts
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn power() -> Aggregate {
        Aggregate::new(
            "meter",
            "power_w",
            Kind::Power { least: -0.5, most: 100.0, energy: Some("energy_j") },
        )
    }

    /// Feeds samples (ms, W) and ends the step; returns readings (quantity, ms, value), findings.
    fn play(
        mut aggregate: Aggregate,
        samples: impl IntoIterator<Item = (u64, f64)>,
        elapsed_ms: u64,
    ) -> (Vec<(String, u64, f64)>, Vec<String>) {
        let mut readings = Vec::new();
        for (ms, value) in samples {
            readings.extend(aggregate.sample(Nanos(ms * 1_000_000), value));
        }
        let (last, findings) = aggregate.finish(Nanos(elapsed_ms * 1_000_000));
        readings.extend(last);
        let readings =
            readings.into_iter().map(|r| (r.quantity, r.at.0 / 1_000_000, r.value)).collect();
        (readings, findings.into_iter().map(|finding| finding.text).collect())
    }

    #[test]
    fn every_second_has_its_mean_and_its_most_and_the_step_its_energy() {
        let samples = [(0, 1.0), (500, 3.0), (1_000, 5.0), (1_500, 5.0), (2_000, 5.0)];
        let (readings, findings) = play(power(), samples, 2_000);
        let of = |quantity: &str| {
            let of = readings.iter().filter(|reading| reading.0 == quantity);
            of.map(|reading| (reading.1, reading.2)).collect::<Vec<_>>()
        };
        assert_eq!(of("power_w"), [(500, 2.0), (1_500, 5.0), (2_000, 5.0)]);
        assert_eq!(of("power_max_w"), [(500, 3.0), (1_500, 5.0)]);
        assert_eq!(of("energy_j"), [(2_000, 1.0 + 2.0 + 2.5 + 2.5)]);
        assert_eq!(findings, [""; 0]);
    }

    #[test]
    fn a_second_without_a_sample_has_no_reading_and_a_long_silence_is_told() {
        let (readings, findings) = play(power(), [(100, 2.0), (8_000, 2.0), (9_900, 4.0)], 10_000);
        let times: Vec<u64> = readings.iter().map(|reading| reading.1).collect();
        assert_eq!(times, [100, 8_000, 9_900], "no energy over a gap either");
        assert_eq!(findings, ["meter gave no reading for 7.9 s"]);
        let (readings, findings) = play(power(), [], 6_000);
        assert_eq!((readings.len(), findings.len()), (0, 1));
        let (_, short) = play(power(), [], 900);
        assert_eq!(short, [""; 0], "a burst is shorter than a period");
    }

    #[test]
    fn what_cannot_be_is_left_out_and_told() {
        let (readings, findings) =
            play(power(), [(0, 5_000.0), (500, 5.0), (900, f64::NAN)], 1_000);
        assert_eq!(readings[0].2, 5.0);
        assert!(findings[0].starts_with("meter read 5000, outside -0.5 to 100 W; 2 readings"));
    }

    #[test]
    fn a_sensor_that_never_moves_is_doubted_and_one_that_moves_is_not() {
        let flat = (0..300).map(|n| (n * 100, 2.5));
        let (_, findings) = play(power(), flat, 30_000);
        assert_eq!(findings, ["meter read exactly 2.5 W in all 300 readings"]);
        let alive = (0..300).map(|n| (n * 100, 2.5 + (n % 2) as f64 * 0.001));
        assert_eq!(play(power(), alive, 30_000).1, [""; 0]);
        let heat = Aggregate::new("nvme", "temperature_c", Kind::Temperature);
        assert_eq!(play(heat, (0..60).map(|n| (n * 1_000, 40.0)), 60_000).1, [""; 0]);
    }

    #[test]
    fn an_alarm_is_a_hint_at_throttling() {
        let alarm = Aggregate::new("nvme alarm", "temperature_alarm", Kind::Alarm);
        let (_, findings) = play(alarm, [(0, 0.0), (1_000, 1.0), (2_000, 1.0)], 3_000);
        assert!(findings[0].starts_with("nvme alarm was on in 2 of 3 readings"), "{findings:?}");
    }
}
