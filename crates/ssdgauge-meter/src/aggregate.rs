//! The aggregation of one channel in one step: samples to means per second, energy and findings.
//!
//! Pure arithmetic: this module never reads a clock, and never interpolates a reading for a second
//! without samples.

use crate::counted_energy::CountedEnergy;
use crate::unit_change::UnitChange;
use crate::weighted_second::WeightedSecond;
use ssdgauge_core::rounded::{count, count_of, number};
use ssdgauge_core::{
    Finding, FindingKind, MeteredPower, Nanos, PowerIntegral, PowerScope, Reading, Severity,
    is_covered,
};

/// The equal samples, over at least [`STUCK_DURATION`], that mean a stuck meter. Smart plugs and
/// coarse sensors repeat a value for a few seconds; both limits together exclude that.
const STUCK_SAMPLES: u64 = 30;
/// See [`STUCK_SAMPLES`].
const STUCK_DURATION: Nanos = Nanos::from_secs(20);
/// The shortest time without samples that is a gap: more than two periods of the slowest default
/// source (1 s) and a failed reading.
const MIN_GAP: Nanos = Nanos::from_secs(5);

/// Up to one reading in this many may lack a number before the others are in doubt: a heading, or a lost
/// response of a smart plug. Chosen: readings may leave a tenth of the time uncovered as well.
const FEW: u64 = 10;

/// The kind of values of a channel.
#[derive(Clone, Debug, PartialEq)]
pub enum ChannelKind {
    /// Power in watts.
    Power {
        /// The lower end of the plausible range.
        least: f64,
        /// The upper end of the plausible range.
        most: f64,
        /// The scope whose energy this channel reports; `None` for a further meter of a scope.
        reports: Option<PowerScope>,
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
    /// The second that is open.
    second: WeightedSecond,
    /// The times of the first and of the last sample of the step, and the value of the last.
    ends: Option<(Nanos, Nanos, f64)>,
    /// The integral over time.
    integral: PowerIntegral,
    /// The energy of a meter that counts it; `None` where none came.
    counted: Option<CountedEnergy>,
    unit: UnitChange,
    /// The samples of the step.
    total: u64,
    /// The samples of the step that are not 0.
    nonzero: u64,
    /// The readings of the step without a number, and what the first one is instead.
    unusable: Option<(String, u64)>,
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
            second: WeightedSecond::default(),
            ends: None,
            integral: PowerIntegral::default(),
            counted: None,
            unit: UnitChange::default(),
            total: 0,
            nonzero: 0,
            unusable: None,
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
        if self.leaves_out(value) {
            return Vec::new();
        }
        let ended = self.second.add(at, value);
        self.integral.add(at, value);
        self.count(at, value, ended)
    }

    /// Adds the mean `value` of the time from `from` to `at`, the difference of a counter, as
    /// [`Aggregate::sample`] does.
    pub fn mean(&mut self, from: Nanos, at: Nanos, value: f64) -> Vec<Reading> {
        if self.leaves_out(value) {
            return Vec::new();
        }
        let ended = self.second.add_mean(from, at, value);
        self.counted.get_or_insert_default().add(from, at, value);
        self.count(at, value, ended)
    }

    /// Counts a reading that is `what` instead of a number.
    pub fn without_number(&mut self, what: &str) {
        self.unusable.get_or_insert_with(|| (what.to_owned(), 0)).1 += 1;
    }

    /// Returns whether `value` is left out, and counts those that are.
    fn leaves_out(&mut self, value: f64) -> bool {
        let is_out = !value.is_finite() || !self.is_plausible(value);
        if is_out {
            let (first, n) = self.implausible.unwrap_or((value, 0));
            self.implausible = Some((first, n + 1));
        }
        is_out
    }

    /// Counts a sample that has completed the second `ended`.
    fn count(&mut self, at: Nanos, value: f64, ended: Option<WeightedSecond>) -> Vec<Reading> {
        if let Some((first, last, before)) = self.ends {
            self.gap = self.gap.max(Nanos(at.0.saturating_sub(last.0)));
            self.is_constant &= before == value;
            self.ends = Some((first, last.max(at), value));
        } else {
            self.gap = at;
            self.ends = Some((at, at, value));
        }
        if self.is_power() {
            self.unit.add(at, value);
        }
        self.total += 1;
        self.nonzero += u64::from(value != 0.0);
        ended.map_or_else(Vec::new, |second| self.readings_of(&second))
    }

    fn is_plausible(&self, value: f64) -> bool {
        match self.kind {
            ChannelKind::Power { least, most, .. } => (least..=most).contains(&value),
            // 0 K, and above the reflow temperature of solder.
            ChannelKind::Temperature => (-273.15..=250.0).contains(&value),
            ChannelKind::Alarm => true,
        }
    }

    fn readings_of(&self, second: &WeightedSecond) -> Vec<Reading> {
        let Some((mean, at)) = second.mean() else { return Vec::new() };
        if self.is_all_zero() {
            return Vec::new();
        }
        let mut readings = vec![self.reading(&self.quantity, at, mean)];
        // The means between the readings of a counter depend on when it is read: they have no maximum.
        if let (ChannelKind::Power { .. }, 2.., None) = (&self.kind, second.n, self.counted) {
            let quantity = self.quantity.replacen("power", "power_max", 1);
            readings.push(self.reading(&quantity, at, second.most));
        }
        readings
    }

    fn reading(&self, quantity: &str, at: Nanos, value: f64) -> Reading {
        Reading { at, instrument: self.instrument.clone(), quantity: quantity.into(), value }
    }

    /// Ends the step with the duration `elapsed`. Returns the readings of its last second and its
    /// energy, and its findings.
    pub fn finish(&mut self, elapsed: Nanos) -> (Vec<Reading>, Vec<Finding>) {
        self.second.end(elapsed);
        let mut readings = self.readings_of(&self.second);
        // Samples taken while the last requests complete belong to the step, and no reading may be
        // later than its end.
        readings.iter_mut().for_each(|reading| reading.at = reading.at.min(elapsed));
        readings.extend(self.energy(elapsed));
        (readings, self.findings(elapsed))
    }

    /// Returns the time of the step that the samples cover, and its energy where it is known.
    fn energy(&self, elapsed: Nanos) -> Vec<Reading> {
        let ChannelKind::Power { reports: Some(scope), .. } = self.kind else { return Vec::new() };
        let Some(power) = self.power(elapsed) else { return Vec::new() };
        let seconds = elapsed.as_secs_f64();
        let covered = self.reading(scope.covered_quantity(), elapsed, power.coverage * seconds);
        let is_known = self.unit.changed().is_none() && !self.is_all_zero();
        let watts = power.watts.filter(|_| is_known);
        let energy =
            watts.map(|watts| self.reading(scope.energy_quantity(), elapsed, watts * seconds));
        [covered].into_iter().chain(energy).collect()
    }

    /// Returns the power of the step: by the energy that the meter counted, else by the integral.
    fn power(&self, elapsed: Nanos) -> Option<MeteredPower> {
        match &self.counted {
            Some(counted) => counted.over(elapsed),
            None => self.integral.over(elapsed),
        }
    }

    fn findings(&self, elapsed: Nanos) -> Vec<Finding> {
        let findings = [
            self.implausible_values(),
            self.zero_power(),
            self.stuck(elapsed),
            self.longest_gap(elapsed),
            self.not_covered(elapsed),
            self.changed_unit(),
            self.alarm(elapsed),
        ];
        let warning = |(kind, text, advice)| Finding::new(kind, Severity::Warning, text, advice);
        findings.into_iter().flatten().map(warning).chain(self.no_numbers()).collect()
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
                "{} read {}, {what}; {} of {} were left out",
                self.instrument,
                number(first),
                count(n),
                count_of(self.readings() as usize, "reading")
            ),
            "check the unit (scale=0.001@ for milliwatts) and the scope of the meter",
        ))
    }

    /// Returns the readings of the step, those that are left out included.
    fn readings(&self) -> u64 {
        let left_out = self.implausible.map_or(0, |(_, n)| n);
        let unusable = self.unusable.as_ref().map_or(0, |(_, n)| *n);
        self.total + left_out + unusable
    }

    /// Returns the finding on readings without a number: a note where they are few.
    fn no_numbers(&self) -> Option<Finding> {
        let (what, n) = self.unusable.as_ref()?;
        let all = self.readings();
        let severity = if n * FEW < all { Severity::Note } else { Severity::Warning };
        let text = format!(
            "{} gave no number in {} of {}; the first: {what}",
            self.instrument,
            count(*n),
            count_of(all as usize, "reading")
        );
        let advice = "the mean of the step is that of the other readings; see why the meter gives no \
                      number";
        Some(Finding::new(FindingKind::Meter, severity, text, advice))
    }

    /// Whether all samples of power are 0 so far: the meter does not show what the drive takes.
    fn is_all_zero(&self) -> bool {
        self.is_power() && self.total > 0 && self.nonzero == 0
    }

    fn zero_power(&self) -> Option<Warning> {
        self.is_all_zero().then(|| {
            (
                FindingKind::Meter,
                format!(
                    "{} read 0 W in {}, and a drive in use takes more",
                    self.instrument,
                    match self.total {
                        1 => "its one reading".to_owned(),
                        all => format!("all {} readings", count(all)),
                    }
                ),
                "the step has no power, energy or efficiency; check the connection and the resolution \
                 of the meter",
            )
        })
    }

    fn stuck(&self, elapsed: Nanos) -> Option<Warning> {
        let (first, last) = self.ends.map_or((elapsed, elapsed), |(first, last, _)| (first, last));
        let value = self.ends.map_or(0.0, |(.., value)| value);
        let is_stuck = self.is_power()
            && self.is_constant
            && self.nonzero > 0
            && self.total >= STUCK_SAMPLES
            && last - first >= STUCK_DURATION;
        is_stuck.then(|| {
            let (name, total) = (&self.instrument, self.total);
            (
                FindingKind::Meter,
                format!("{name} read exactly {} W in all {} readings", number(value), count(total)),
                "the sensor is stuck, or its resolution is too low for this drive; do not use the \
                 power of this step",
            )
        })
    }

    fn longest_gap(&self, elapsed: Nanos) -> Option<Warning> {
        let last = self.ends.map_or(elapsed, |(_, last, _)| last);
        let after_last = Nanos(elapsed.0.saturating_sub(last.0));
        let gap = if self.total == 0 { elapsed } else { self.gap.max(after_last) };
        // The energy of a gap is known where a counter was read before and after it.
        let advice = match self.counted {
            Some(_) => "its energy counts, and the seconds have no power of their own",
            None => "the power between two readings counts as a straight line",
        };
        (self.is_power() && gap >= MIN_GAP).then(|| {
            let text = format!("{} gave no reading for {}", self.instrument, gap.about());
            (FindingKind::Meter, text, advice)
        })
    }

    fn not_covered(&self, elapsed: Nanos) -> Option<Warning> {
        let coverage = self.power(elapsed)?.coverage;
        (self.is_power() && !is_covered(coverage)).then(|| {
            (
                FindingKind::PowerGaps,
                format!(
                    "the readings of {} cover {:.1} % of the step",
                    self.instrument,
                    // Rounded down: 89.99 % are not 90 %.
                    (coverage * 1e3 + 1e-6).floor() / 10.0
                ),
                "the step has no power, energy or efficiency: 90 % have to be covered; use a meter \
                 that is read more often",
            )
        })
    }

    fn changed_unit(&self) -> Option<Warning> {
        let change = self.unit.changed()?;
        Some((
            FindingKind::Meter,
            format!(
                "{} read {} W, and from {} on {} W, a factor of 1,000",
                self.instrument,
                number(change.from),
                change.at.about(),
                number(change.to)
            ),
            "the unit changed within the step, so it has no power, energy or efficiency; let the \
             meter print one unit",
        ))
    }

    fn alarm(&self, elapsed: Nanos) -> Option<Warning> {
        (self.kind == ChannelKind::Alarm && self.nonzero > 0).then(|| {
            // 0 and 1 over time: the mean is the share of the time.
            let share = self.integral.over(elapsed).and_then(|mean| mean.watts);
            let share = share.map_or(String::new(), |share| {
                format!(", about {:.0} % of the time", share * 100.0)
            });
            (
                FindingKind::Throttled,
                format!(
                    "{} was on in {} of {} readings{share}: a temperature of the drive was beyond \
                     its limits",
                    self.instrument, self.nonzero, self.total
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
mod tests;
