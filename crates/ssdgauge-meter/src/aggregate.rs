//! The aggregation of one channel in one step: samples to means per second, energy and findings.
//!
//! Pure arithmetic: this module never reads a clock, and never interpolates a reading for a second
//! without samples.

use ssdgauge_core::rounded::{count_of, number};
use ssdgauge_core::{Finding, FindingKind, Nanos, Reading, Severity};

/// The equal samples, over at least [`STUCK_DURATION`], that mean a stuck meter. Smart plugs and
/// coarse sensors repeat a value for a few seconds; both limits together exclude that.
const STUCK_SAMPLES: u64 = 30;
/// See [`STUCK_SAMPLES`].
const STUCK_DURATION: Nanos = Nanos::from_secs(20);
/// The shortest time without samples that is a gap: more than two periods of the slowest default
/// source (1 s) and a failed reading.
const MIN_GAP: Nanos = Nanos::from_secs(5);
/// The share of a step that its samples must span for its energy to be reported.
const MIN_COVERAGE: f64 = 0.9;

/// The kind of values of a channel.
#[derive(Clone, Debug, PartialEq)]
pub enum ChannelKind {
    /// Power in watts.
    Power {
        /// The lower end of the plausible range.
        least: f64,
        /// The upper end of the plausible range.
        most: f64,
        /// The quantity of the energy of a step, where this channel reports it.
        energy: Option<&'static str>,
    },
    /// Degrees Celsius.
    Temperature,
    /// A temperature alarm of the drive: 0 or 1.
    Alarm,
}

/// The kind, text and advice of a finding.
type Warning = (FindingKind, String, &'static str);

/// The samples of one channel in one step.
#[derive(Clone, Debug)]
pub struct Aggregate {
    instrument: String,
    quantity: String,
    kind: ChannelKind,
    /// The index of the second that is open.
    second: u64,
    /// The sum, count and maximum of the samples of the open second.
    sum: f64,
    n: u64,
    most: f64,
    /// The time of the last sample of the open second.
    at: Nanos,
    /// The times of the first and of the last sample of the step, and the value of the last.
    ends: Option<(Nanos, Nanos, f64)>,
    /// The integral over time by the trapezoidal rule, in joules for watts.
    integral: f64,
    /// The samples of the step.
    total: u64,
    /// The samples of the step that are not 0.
    alarms: u64,
    /// The first implausible value, and the count of all.
    implausible: Option<(f64, u64)>,
    /// Whether all samples of the step are equal.
    is_constant: bool,
    /// The longest time without samples.
    gap: Nanos,
}

impl Aggregate {
    /// Returns an empty aggregation of `quantity`, which `instrument` measures.
    pub fn new(instrument: &str, quantity: &str, kind: ChannelKind) -> Aggregate {
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
            total: 0,
            alarms: 0,
            implausible: None,
            is_constant: true,
            gap: Nanos::ZERO,
        }
    }

    /// Begins a step, without the samples of the one before.
    pub fn begin(&mut self) {
        *self = Aggregate::new(&self.instrument, &self.quantity, self.kind.clone());
    }

    /// Adds a sample that was taken at `at` from the start of the step. Returns the readings of the
    /// second that it completes.
    pub fn sample(&mut self, at: Nanos, value: f64) -> Vec<Reading> {
        if !value.is_finite() || !self.is_plausible(value) {
            let (first, n) = self.implausible.unwrap_or((value, 0));
            self.implausible = Some((first, n + 1));
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
        self.total += 1;
        self.alarms += u64::from(value != 0.0);
        self.sum += value;
        self.n += 1;
        self.most = self.most.max(value);
        self.at = at;
        readings
    }

    fn is_plausible(&self, value: f64) -> bool {
        match self.kind {
            ChannelKind::Power { least, most, .. } => (least..=most).contains(&value),
            // 0 K, and above the reflow temperature of solder.
            ChannelKind::Temperature => (-273.15..=250.0).contains(&value),
            ChannelKind::Alarm => true,
        }
    }

    fn close_second(&mut self) -> Vec<Reading> {
        let (n, sum, most) = (self.n, self.sum, self.most);
        (self.n, self.sum, self.most) = (0, 0.0, f64::NEG_INFINITY);
        if n == 0 {
            return Vec::new();
        }
        let mut readings = vec![self.reading(&self.quantity, self.at, sum / n as f64)];
        if let (ChannelKind::Power { .. }, 2..) = (&self.kind, n) {
            let quantity = self.quantity.replacen("power", "power_max", 1);
            readings.push(self.reading(&quantity, self.at, most));
        }
        readings
    }

    fn reading(&self, quantity: &str, at: Nanos, value: f64) -> Reading {
        Reading { at, instrument: self.instrument.clone(), quantity: quantity.into(), value }
    }

    /// Ends the step with the duration `elapsed`. Returns the readings of its last second and its
    /// energy, and its findings.
    pub fn finish(&mut self, elapsed: Nanos) -> (Vec<Reading>, Vec<Finding>) {
        let mut readings = self.close_second();
        // Samples taken while the last requests complete belong to the step, and no reading may be
        // later than its end.
        readings.iter_mut().for_each(|reading| reading.at = reading.at.min(elapsed));
        readings.extend(self.energy(elapsed));
        (readings, self.findings(elapsed))
    }

    fn energy(&self, elapsed: Nanos) -> Option<Reading> {
        let ChannelKind::Power { energy: Some(energy), .. } = self.kind else { return None };
        let (first, last, _) = self.ends?;
        let covered = (last.0 - first.0) as f64 / elapsed.0.max(1) as f64;
        // The time before the first and after the last sample counts with the mean power.
        let mean = self.integral / Nanos(last.0 - first.0).as_secs_f64();
        (covered >= MIN_COVERAGE && self.gap < MIN_GAP)
            .then(|| self.reading(energy, elapsed, mean * elapsed.as_secs_f64()))
    }

    fn findings(&self, elapsed: Nanos) -> Vec<Finding> {
        let findings = [
            self.implausible_values(),
            self.stuck(elapsed),
            self.longest_gap(elapsed),
            self.alarm(),
        ];
        let warning = |(kind, text, advice)| Finding::new(kind, Severity::Warning, text, advice);
        findings.into_iter().flatten().map(warning).collect()
    }

    fn implausible_values(&self) -> Option<Warning> {
        let (first, n) = self.implausible?;
        let what = match self.kind {
            ChannelKind::Power { least, most, .. } => format!("outside {least} to {most} W"),
            ChannelKind::Temperature => "outside -273.15 to 250 °C".to_owned(),
            ChannelKind::Alarm => "no alarm".to_owned(),
        };
        Some((
            FindingKind::Meter,
            format!(
                "{} read {}, {what}; {} were left out",
                self.instrument,
                number(first),
                count_of(n as usize, "reading")
            ),
            "check the unit (scale=0.001@ for milliwatts) and the scope of the meter",
        ))
    }

    fn stuck(&self, elapsed: Nanos) -> Option<Warning> {
        let (first, last) = self.ends.map_or((elapsed, elapsed), |(first, last, _)| (first, last));
        let value = self.ends.map_or(0.0, |(.., value)| value);
        let is_stuck = self.is_power()
            && self.is_constant
            && self.total >= STUCK_SAMPLES
            && last - first >= STUCK_DURATION;
        is_stuck.then(|| {
            let (name, total) = (&self.instrument, self.total);
            (
                FindingKind::Meter,
                format!("{name} read exactly {value} W in all {total} readings"),
                "the sensor is stuck, or its resolution is too low for this drive; do not use the \
                 power of this step",
            )
        })
    }

    fn longest_gap(&self, elapsed: Nanos) -> Option<Warning> {
        let last = self.ends.map_or(elapsed, |(_, last, _)| last);
        let after_last = Nanos(elapsed.0.saturating_sub(last.0));
        let gap = if self.total == 0 { elapsed } else { self.gap.max(after_last) };
        (self.is_power() && gap >= MIN_GAP).then(|| {
            (
                FindingKind::Meter,
                format!("{} gave no reading for {}", self.instrument, gap.about()),
                "the mean power of the step is computed from the other seconds",
            )
        })
    }

    fn alarm(&self) -> Option<Warning> {
        (self.kind == ChannelKind::Alarm && self.alarms > 0).then(|| {
            (
                FindingKind::Throttled,
                format!(
                    "{} was on in {} of {} readings: a temperature of the drive was beyond its \
                     limits",
                    self.instrument, self.alarms, self.total
                ),
                "cool the drive: a drive that reports a temperature alarm may be throttled",
            )
        })
    }

    fn is_power(&self) -> bool {
        matches!(self.kind, ChannelKind::Power { .. })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn power() -> Aggregate {
        Aggregate::new(
            "meter",
            "power_w",
            ChannelKind::Power { least: -0.5, most: 100.0, energy: Some("energy_j") },
        )
    }

    /// Adds samples (ms, W) and ends the step; returns readings (quantity, ms, value) and findings.
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
    fn a_second_has_its_mean_and_maximum_and_a_step_its_energy() {
        let samples = [(0, 1.0), (500, 3.0), (1_000, 5.0), (1_500, 5.0), (2_000, 5.0)];
        let (readings, findings) = play(power(), samples, 2_000);
        let values = |quantity: &str| {
            let readings = readings.iter().filter(|reading| reading.0 == quantity);
            readings.map(|reading| (reading.1, reading.2)).collect::<Vec<_>>()
        };
        assert_eq!(values("power_w"), [(500, 2.0), (1_500, 5.0), (2_000, 5.0)]);
        assert_eq!(values("power_max_w"), [(500, 3.0), (1_500, 5.0)]);
        assert_eq!(values("energy_j"), [(2_000, 1.0 + 2.0 + 2.5 + 2.5)]);
        assert_eq!(findings, [""; 0]);
    }

    #[test]
    fn a_second_without_samples_has_no_reading_and_a_long_gap_is_a_finding() {
        let (readings, findings) = play(power(), [(100, 2.0), (8_000, 2.0), (9_900, 4.0)], 10_000);
        let times: Vec<u64> = readings.iter().map(|reading| reading.1).collect();
        assert_eq!(times, [100, 8_000, 9_900], "no energy over a gap either");
        assert_eq!(findings, ["meter gave no reading for 7.90 s"]);
        let (readings, findings) = play(power(), [], 6_000);
        assert_eq!((readings.len(), findings.len()), (0, 1));
        let (_, short) = play(power(), [], 900);
        assert_eq!(short, [""; 0], "a step may be shorter than a period");
    }

    #[test]
    fn implausible_values_are_left_out_with_a_finding() {
        let (readings, findings) =
            play(power(), [(0, 5_000.0), (500, 5.0), (900, f64::NAN)], 1_000);
        assert_eq!(readings[0].2, 5.0);
        assert!(findings[0].starts_with("meter read 5,000, outside -0.5 to 100 W; 2 readings"));
    }

    #[test]
    fn a_constant_power_is_a_finding_and_a_constant_temperature_is_not() {
        let flat = (0..300).map(|n| (n * 100, 2.5));
        let (_, findings) = play(power(), flat, 30_000);
        assert_eq!(findings, ["meter read exactly 2.5 W in all 300 readings"]);
        let alive = (0..300).map(|n| (n * 100, 2.5 + (n % 2) as f64 * 0.001));
        assert_eq!(play(power(), alive, 30_000).1, [""; 0]);
        let heat = Aggregate::new("nvme", "temperature_c", ChannelKind::Temperature);
        assert_eq!(play(heat, (0..60).map(|n| (n * 1_000, 40.0)), 60_000).1, [""; 0]);
    }

    #[test]
    fn an_alarm_is_a_throttling_finding() {
        let alarm = Aggregate::new("nvme alarm", "temperature_alarm", ChannelKind::Alarm);
        let (_, findings) = play(alarm, [(0, 0.0), (1_000, 1.0), (2_000, 1.0)], 3_000);
        assert!(findings[0].starts_with("nvme alarm was on in 2 of 3 readings"), "{findings:?}");
    }
}
