//! The mean of one second, in which each sample counts with its time.

use ssdgauge_core::Nanos;

/// The longest time between two samples over which their values count: more than the period of the
/// slowest default source, less than two of them.
const MAX_INTERVAL: Nanos = Nanos(1_500_000_000);

/// The samples of the second that is open.
#[derive(Clone, Debug)]
pub(crate) struct WeightedSecond {
    /// Its number in the step.
    number: u64,
    /// The integral of the samples over time, in units of the value times nanoseconds.
    integral: f64,
    /// The time of the integral, in nanoseconds.
    time: f64,
    /// The number of samples, their sum and their maximum.
    pub(crate) n: u64,
    sum: f64,
    pub(crate) most: f64,
    /// Time and value of the last sample, also of a second before this one.
    last: Option<(Nanos, f64)>,
}

impl Default for WeightedSecond {
    fn default() -> Self {
        WeightedSecond::from(0, None)
    }
}

impl WeightedSecond {
    fn from(number: u64, last: Option<(Nanos, f64)>) -> WeightedSecond {
        let most = f64::NEG_INFINITY;
        WeightedSecond { number, integral: 0.0, time: 0.0, n: 0, sum: 0.0, most, last }
    }

    /// Adds a sample of `value` at `at`. Returns the second that it completes.
    pub(crate) fn add(&mut self, at: Nanos, value: f64) -> Option<WeightedSecond> {
        let number = at.0 / Nanos::SECOND.0;
        // The first sample counts from the start of its second on.
        let (from, before) = self.last.unwrap_or((Nanos(number * Nanos::SECOND.0), value));
        self.add_line((from, before), (at, value))
    }

    /// Adds the mean `value` of the time from `from` to `at`. Returns the second that it completes.
    pub(crate) fn add_mean(
        &mut self,
        from: Nanos,
        at: Nanos,
        value: f64,
    ) -> Option<WeightedSecond> {
        self.add_line((from, value), (at, value))
    }

    /// Adds a straight line from one value to that of a sample at `at`.
    fn add_line(
        &mut self,
        (from, before): (Nanos, f64),
        (at, value): (Nanos, f64),
    ) -> Option<WeightedSecond> {
        let number = at.0 / Nanos::SECOND.0;
        let mut ended = None;
        let is_bridged = at.0.saturating_sub(from.0) <= MAX_INTERVAL.0;
        if number != self.number {
            if is_bridged && self.last.is_some() {
                self.line((from, before), (at, value));
            }
            let next = WeightedSecond::from(number, self.last);
            ended = Some(std::mem::replace(self, next));
        }
        if is_bridged {
            self.line((from, before), (at, value));
        }
        self.n += 1;
        self.sum += value;
        self.most = self.most.max(value);
        self.last = Some((at, value));
        ended
    }

    /// Ends the step: the last sample counts until `elapsed`.
    pub(crate) fn end(&mut self, elapsed: Nanos) {
        if let Some((at, value)) = self.last {
            self.line((at, value), (elapsed, value));
        }
    }

    /// Adds the part of the line between two samples that lies in this second.
    fn line(&mut self, (from, a): (Nanos, f64), (to, b): (Nanos, f64)) {
        let begin = self.number * Nanos::SECOND.0;
        let [first, last] = [from, to].map(|time| time.0.clamp(begin, begin + Nanos::SECOND.0));
        if last <= first || to <= from {
            return;
        }
        let at = |time: u64| a + (b - a) * (time - from.0) as f64 / (to.0 - from.0) as f64;
        let time = (last - first) as f64;
        self.integral += (at(first) + at(last)) / 2.0 * time;
        self.time += time;
    }

    /// Returns the mean of the second and the time of its last sample; `None` without samples.
    pub(crate) fn mean(&self) -> Option<(f64, Nanos)> {
        let (at, _) = self.last.filter(|_| self.n > 0)?;
        let mean =
            if self.time > 0.0 { self.integral / self.time } else { self.sum / self.n as f64 };
        Some((mean, at))
    }
}
