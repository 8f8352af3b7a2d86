//! Flush: whether it has to write acknowledged data to flash, or finds nothing to do.
//!
//! A drive without protection against a loss of power holds acknowledged writes in volatile memory, and a flush
//! after them takes a program operation longer than one after nothing. Where it takes no longer, the buffer
//! outlives a loss of power, or the drive ignores the flush: its times do not tell which.

use crate::answer::{Identified, Value, refuse};
use ssdgauge_core::rounded::latency;
use ssdgauge_statistics::summary;

/// The flushes of a kind that are needed.
const LEAST: usize = 20;
/// The bursts that are needed.
const LEAST_BURSTS: usize = 3;
/// What a flush takes longer after a write where it programs flash, in microseconds at least. Chosen: program
/// operations take 100 us and more.
const LEAST_WORK_US: f64 = 60.0;
/// What it takes longer at most where it has nothing to do, in microseconds. Chosen: a few times the time of a
/// command.
const MOST_IDLE_US: f64 = 15.0;
/// Both at least, in interquartile ranges of the flushes after nothing.
const NOISE: (f64, f64) = (4.0, 2.0);
/// From which time on, in microseconds, flushes after nothing do work themselves, which hides that for a write.
const MOST_ALONE_US: f64 = 1_000.0;

/// The times of flushes, in microseconds, in the order in which they were sent.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Flushes {
    /// After another flush.
    pub alone_us: Vec<f64>,
    /// After one write.
    pub after_write_us: Vec<f64>,
    /// After a burst of writes.
    pub after_burst_us: Vec<f64>,
}

/// Returns 1 where a flush has to write data to flash, and 0 where it has nothing to do.
///
/// # Errors
/// The flushes are too few, those after nothing take as long as program operations, or the difference lies between
/// both cases.
pub fn find(flushes: &Flushes) -> Identified {
    let Flushes { alone_us, after_write_us, after_burst_us } = flushes;
    let least = alone_us.len().min(after_write_us.len());
    if least < LEAST || after_burst_us.len() < LEAST_BURSTS {
        return refuse(format!("{least} flushes and {} bursts are too few", after_burst_us.len()));
    }
    let percentile = |values: &[f64], share| summary::percentile(values, share).unwrap_or(0.0);
    let alone = percentile(alone_us, 0.5);
    let noise = percentile(alone_us, 0.75) - percentile(alone_us, 0.25);
    let [one, burst] =
        [after_write_us, after_burst_us].map(|values| percentile(values, 0.5) - alone);
    if one >= LEAST_WORK_US.max(NOISE.0 * noise) {
        return Ok(Value::exact(1.0));
    }
    if alone > MOST_ALONE_US {
        return refuse(format!("a flush after nothing takes {} as well", latency(alone)));
    }
    let most_idle = MOST_IDLE_US.max(NOISE.1 * noise);
    match one <= most_idle && burst <= most_idle {
        true => Ok(Value::exact(0.0)),
        false => refuse(format!(
            "a flush takes {} longer after a write and {} longer after a burst, where program operations \
             take 100 us and more, and a command a few",
            latency(one.max(0.0)),
            latency(burst.max(0.0))
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ssdgauge_core::Random;

    #[test]
    fn a_program_operation_shows_and_what_lies_between_is_refused() {
        let mut random = Random::new(4, 4);
        let mut times = |count: usize, us: f64| -> Vec<f64> {
            (0..count).map(|_| us + 2.0 * random.exponential()).collect()
        };
        let mut flushes = |alone: f64, one: f64, burst: f64| Flushes {
            alone_us: times(40, alone),
            after_write_us: times(40, one),
            after_burst_us: times(3, burst),
        };
        assert_eq!(find(&flushes(20.0, 250.0, 9_000.0)), Ok(Value::exact(1.0)));
        assert_eq!(find(&flushes(20.0, 21.0, 24.0)), Ok(Value::exact(0.0)));
        for (bad, words) in [
            (flushes(20.0, 55.0, 24.0), "longer after a write"),
            (flushes(20.0, 21.0, 900.0), "longer after a burst"),
            (flushes(2_000.0, 2_010.0, 2_400.0), "as well"),
        ] {
            assert!(find(&bad).unwrap_err().0.contains(words), "{words}");
        }
        let mut few = flushes(20.0, 250.0, 900.0);
        few.after_write_us.truncate(LEAST - 1);
        assert!(find(&few).unwrap_err().0.contains("too few"));
    }
}
