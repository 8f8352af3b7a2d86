//! Seconds of a run, put together from the intervals of its streams and from readings.

use serde::{Deserialize, Serialize};
use ssdgauge_core::{Direction, Histogram, Interval, Nanos, PowerScope, Reading};
use ssdgauge_runfile::StepId;

/// One second of a step.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Second {
    pub(crate) step: StepId,
    /// Its number in the step, from 0.
    pub(crate) number: u32,
    /// Its length: a second, or less at the end of a step.
    pub(crate) length: Nanos,
    /// The directions of the load, all streams together; none in a step without load.
    pub(crate) sides: Vec<Side>,
    /// The latest temperature of the drive, in °C.
    pub(crate) temperature_c: Option<f64>,
    /// The latest power of the narrowest scope that is measured, in watts.
    pub(crate) power_w: Option<f64>,
}

/// One direction of a second.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Side {
    pub(crate) direction: Direction,
    pub(crate) ios: u64,
    pub(crate) bytes: u64,
    pub(crate) errors: u64,
    pub(crate) lat_mean_us: Option<f64>,
    pub(crate) lat_p99_us: Option<f64>,
    pub(crate) lat_max_us: Option<f64>,
}

impl Second {
    /// Returns the sides that a number over all requests counts: reads and writes, or where there are
    /// neither, flushes and trims.
    fn counted(&self) -> impl Iterator<Item = &Side> {
        let has_transfers = self.sides.iter().any(|side| side.direction.is_transfer());
        self.sides.iter().filter(move |side| side.direction.is_transfer() == has_transfers)
    }

    /// Returns the throughput in MB/s.
    pub(crate) fn mb_s(&self) -> f64 {
        self.counted().map(|side| side.mb_s(self.length)).sum()
    }

    /// Returns the completed requests for each second.
    pub(crate) fn iops(&self) -> f64 {
        self.counted().map(|side| side.iops(self.length)).sum()
    }

    /// Returns the 99th percentile of latency in microseconds: the highest of the counted directions.
    pub(crate) fn p99_us(&self) -> Option<f64> {
        self.counted().filter_map(|side| side.lat_p99_us).reduce(f64::max)
    }
}

impl Side {
    pub(crate) fn mb_s(&self, length: Nanos) -> f64 {
        self.bytes as f64 / length.as_secs_f64().max(1e-9) / 1e6
    }

    pub(crate) fn iops(&self, length: Nanos) -> f64 {
        self.ios as f64 / length.as_secs_f64().max(1e-9)
    }
}

/// What a direction has moved since the start of the run.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Moved {
    pub(crate) ios: u64,
    pub(crate) bytes: u64,
    pub(crate) errors: u64,
}

/// Puts seconds together.
#[derive(Debug, Default)]
pub(crate) struct Assembler {
    open: Option<Open>,
    temperature_c: Option<f64>,
    /// The latest power, and its scope.
    power: Option<(PowerScope, f64)>,
}

/// The second that is not complete.
#[derive(Debug)]
struct Open {
    step: StepId,
    number: u32,
    length: Nanos,
    sides: Vec<(Side, Histogram)>,
}

impl Assembler {
    /// Adds `interval` of `step`. Returns the second before it, where it begins another one.
    pub(crate) fn interval(&mut self, step: StepId, interval: &Interval) -> Option<Second> {
        let same = |open: &Open| open.step == step && open.number == interval.second;
        let ended = if self.open.as_ref().is_some_and(same) { None } else { self.end() };
        let open = self.open.get_or_insert_with(|| Open {
            step,
            number: interval.second,
            length: interval.length,
            sides: Vec::new(),
        });
        let at = open.sides.iter().position(|(side, _)| side.direction == interval.direction);
        let at = at.unwrap_or_else(|| {
            open.sides.push((Side::empty(interval.direction), Histogram::default()));
            open.sides.len() - 1
        });
        let (side, latency) = &mut open.sides[at];
        side.ios = side.ios.saturating_add(interval.ios);
        side.bytes = side.bytes.saturating_add(interval.bytes);
        side.errors = side.errors.saturating_add(interval.errors);
        latency.merge(&interval.latency);
        ended
    }

    /// Adds `reading`, which seconds that end from now on have.
    pub(crate) fn reading(&mut self, reading: &Reading) {
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
    pub(crate) fn idle(&self, step: StepId, number: u32) -> Second {
        Second {
            step,
            number,
            length: Nanos::SECOND,
            sides: Vec::new(),
            temperature_c: self.temperature_c,
            power_w: self.power.map(|(_, watts)| watts),
        }
    }

    /// Ends the open second and returns it.
    pub(crate) fn end(&mut self) -> Option<Second> {
        let open = self.open.take()?;
        let sides = open.sides.into_iter().map(|(side, latency)| Side {
            lat_mean_us: latency.mean().map(|mean| mean / 1e3),
            lat_p99_us: latency.percentile(0.99).map(|p99| p99 as f64 / 1e3),
            lat_max_us: latency.max().map(|max| max as f64 / 1e3),
            ..side
        });
        let sides = sides.collect();
        Some(Second { length: open.length, sides, ..self.idle(open.step, open.number) })
    }
}

impl Side {
    fn empty(direction: Direction) -> Side {
        Side {
            direction,
            ios: 0,
            bytes: 0,
            errors: 0,
            lat_mean_us: None,
            lat_p99_us: None,
            lat_max_us: None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
        let step = StepId(7);
        let many: Vec<u64> = (0..200).map(|_| 100_000).collect();
        assert_eq!(assembler.interval(step, &interval(0, 0, Direction::Read, &many)), None);
        let slow: Vec<u64> = (0..200).map(|_| 900_000).collect();
        assert_eq!(assembler.interval(step, &interval(0, 1, Direction::Read, &slow)), None);
        assert_eq!(assembler.interval(step, &interval(0, 2, Direction::Write, &many)), None);
        assembler.reading(&reading("smart_temperature_c", 57.0));
        assembler.reading(&reading("host_ac_power_w", 40.0));
        assembler.reading(&reading("power_w", 5.5));
        assembler.reading(&reading("host_ac_power_w", 41.0));
        assembler.reading(&reading("junction_temperature_c", 90.0));
        let second = assembler.interval(step, &interval(1, 0, Direction::Read, &[])).unwrap();
        assert_eq!((second.number, second.iops(), second.sides.len()), (0, 600.0, 2));
        assert_eq!((second.temperature_c, second.power_w), (Some(57.0), Some(5.5)));
        assert_eq!(second.sides[0].ios, 400);
        assert_eq!(second.sides[0].lat_mean_us, Some(500.0));
        let p99 = second.p99_us().unwrap();
        assert!((899.0..=901.0).contains(&p99), "{p99}");
        let empty = assembler.end().unwrap();
        assert_eq!((empty.number, empty.iops(), empty.p99_us()), (1, 0.0, None));
        assert_eq!(assembler.end(), None);
    }

    #[test]
    fn flushes_beside_writes_are_no_requests_of_a_second() {
        let mut assembler = Assembler::default();
        let (step, many) = (StepId(7), vec![100_000; 200]);
        let slow = vec![900_000; 200];
        assert_eq!(assembler.interval(step, &interval(0, 0, Direction::Write, &many)), None);
        assert_eq!(assembler.interval(step, &interval(0, 0, Direction::Flush, &slow)), None);
        let second = assembler.interval(step, &interval(1, 0, Direction::Flush, &slow)).unwrap();
        assert_eq!(second.iops(), 200.0);
        assert!(second.p99_us().unwrap() < 101.0, "{:?}", second.p99_us());
        assert_eq!(assembler.end().unwrap().iops(), 200.0);
    }
}
