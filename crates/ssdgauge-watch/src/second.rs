//! Seconds of a run: those of its steps, with the latest readings.

use serde::{Deserialize, Serialize};
use ssdgauge_core::{Interval, LatencyOf, OpenSeconds, PowerScope, Reading};
use ssdgauge_runfile::StepId;

/// One second of a step.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Second {
    /// The step.
    pub step: StepId,
    /// Its number in the step, and its requests.
    pub load: ssdgauge_core::Second,
    /// The latest temperature of the drive, in °C.
    pub temperature_c: Option<f64>,
    /// The latest power of the narrowest scope that is measured, in watts.
    pub power_w: Option<f64>,
}

/// What a direction has moved since the start of the run.
#[derive(Clone, Copy, Debug, Default)]
pub struct Moved {
    /// Completed requests.
    pub ios: u64,
    /// Bytes of these requests.
    pub bytes: u64,
    /// Failed requests.
    pub errors: u64,
}

/// The open second of a run, and its latest readings.
#[derive(Debug, Default)]
pub struct Assembler {
    open: Option<(StepId, OpenSeconds)>,
    temperature_c: Option<f64>,
    /// The latest power, and its scope.
    power: Option<(PowerScope, f64)>,
}

impl Assembler {
    /// Adds `interval` of `step`, whose latency is that of `latency_of`. Returns the second before it, where
    /// it begins another one.
    pub fn interval(
        &mut self,
        step: StepId,
        latency_of: LatencyOf,
        interval: &Interval,
    ) -> Option<Second> {
        let is_same = self.open.as_ref().is_some_and(|(open, _)| *open == step);
        let ended = if is_same { None } else { self.end() };
        let (_, open) = self.open.get_or_insert_with(|| (step, OpenSeconds::new(latency_of)));
        open.add(interval.clone());
        let load = open.take_shown(1);
        ended.or_else(|| Some(self.second(step, load?)))
    }

    /// Adds `reading`, which seconds that end from now on have.
    pub fn reading(&mut self, reading: &Reading) {
        // Sensors of the drive itself; a meter of another place has another quantity.
        if matches!(&*reading.quantity, "temperature_c" | "smart_temperature_c") {
            self.temperature_c = Some(reading.value);
        }
        let scope = PowerScope::ALL.into_iter().find(|scope| scope.quantity() == reading.quantity);
        if let Some(scope) = scope.filter(|new| self.power.is_none_or(|(old, _)| *new <= old)) {
            self.power = Some((scope, reading.value));
        }
    }

    /// Returns a second without load: `number` of `step`.
    pub fn idle(&self, step: StepId, number: u32) -> Second {
        self.second(step, ssdgauge_core::Second::idle(number))
    }

    /// Ends the open second and returns it.
    pub fn end(&mut self) -> Option<Second> {
        let (step, mut open) = self.open.take()?;
        Some(self.second(step, open.take_shown(0)?))
    }

    fn second(&self, step: StepId, load: ssdgauge_core::Second) -> Second {
        let power_w = self.power.map(|(_, watts)| watts);
        Second { step, load, temperature_c: self.temperature_c, power_w }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ssdgauge_core::{Direction, Histogram, Nanos};

    fn interval(second: u32, stream: u32, direction: Direction, values: &[u64]) -> Interval {
        let mut latency = Histogram::default();
        values.iter().for_each(|value| latency.record(*value));
        Interval {
            second,
            stream: stream as _,
            direction,
            length: Nanos::SECOND,
            ios: values.len() as u64,
            bytes: 4_096 * values.len() as u64,
            errors: 0,
            latency,
        }
    }

    fn reading(quantity: &str, value: f64) -> Reading {
        let (instrument, quantity) = ("one".to_owned(), quantity.to_owned());
        Reading { at: Nanos::ZERO, instrument, quantity, value }
    }

    #[test]
    fn the_streams_of_a_direction_are_one_side_of_a_second_and_percentiles_come_from_all_of_them() {
        let mut assembler = Assembler::default();
        let mut add = |interval: Interval, readings: &[Reading]| {
            readings.iter().for_each(|reading| assembler.reading(reading));
            assembler.interval(StepId(7), LatencyOf::Requests, &interval)
        };
        let many: Vec<u64> = (0..200).map(|_| 100_000).collect();
        assert_eq!(add(interval(0, 0, Direction::Read, &many), &[]), None);
        let slow: Vec<u64> = (0..200).map(|_| 900_000).collect();
        assert_eq!(add(interval(0, 1, Direction::Read, &slow), &[]), None);
        assert_eq!(add(interval(0, 2, Direction::Write, &many), &[]), None);
        let readings = [
            reading("smart_temperature_c", 57.0),
            reading("host_ac_power_w", 40.0),
            reading("power_w", 5.5),
            reading("host_ac_power_w", 41.0),
            reading("junction_temperature_c", 90.0),
        ];
        let second = add(interval(1, 0, Direction::Read, &[]), &readings).unwrap();
        let load = &second.load;
        assert_eq!((load.number, load.iops(), load.sides.len()), (0, Some(600.0), 2));
        assert_eq!((second.temperature_c, second.power_w), (Some(57.0), Some(5.5)));
        assert_eq!(load.sides[0].ios, 400);
        assert_eq!(load.sides[0].lat_mean_us, Some(500.0));
        let p99 = load.lat_p99_us.unwrap();
        assert!((899.0..=901.0).contains(&p99), "{p99}");
        let empty = assembler.end().unwrap().load;
        assert_eq!((empty.number, empty.iops(), empty.lat_p99_us), (1, Some(0.0), None));
        assert_eq!(assembler.end(), None);
    }

    #[test]
    fn flushes_between_writes_do_not_count_as_requests_and_their_latency_is_that_of_commits() {
        let (many, slow) = (vec![100_000; 200], vec![900_000; 200]);
        for (latency_of, expected) in
            [(LatencyOf::Requests, 100.0), (LatencyOf::FlushesOfCommits, 900.0)]
        {
            let mut assembler = Assembler::default();
            let mut add = |interval: Interval| assembler.interval(StepId(7), latency_of, &interval);
            assert_eq!(add(interval(0, 0, Direction::Write, &many)), None);
            assert_eq!(add(interval(0, 0, Direction::Flush, &slow)), None);
            let second = add(interval(1, 0, Direction::Write, &many)).unwrap().load;
            assert_eq!(second.iops(), Some(200.0));
            let p99 = second.lat_p99_us.unwrap();
            assert!((p99 / expected - 1.0).abs() < 0.01, "{latency_of:?}: {p99}");
        }
    }
}
