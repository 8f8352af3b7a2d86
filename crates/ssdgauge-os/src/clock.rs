//! The clock of the engines: the time-stamp counter of the processor, or CLOCK_MONOTONIC.
//!
//! A time stamp costs 11 ns from the counter and 27 ns from the kernel (docs/contributing/performance.md). The
//! counter is used only where it is invariant and is the clock source of the kernel, which checks
//! it against other timers. It is calibrated against CLOCK_MONOTONIC_RAW, and every step measures
//! its drift.

use rustix::time::{ClockId, clock_gettime};
use ssdgauge_core::Nanos;
use std::sync::OnceLock;
use std::time::Duration;

/// The largest drift between counter and CLOCK_MONOTONIC_RAW of a valid step: 20 ppm.
///
/// It is far below the width of a histogram bucket. A counter that changes its rate, or a virtual
/// machine that was moved to another host, exceeds it.
pub const MAX_DRIFT: f64 = 20e-6;

/// The time between the two readings of the calibration. The bracket of a reading
/// is about two calls of 27 ns wide, so the error of the scale is below 1 ppm, a twentieth of
/// [`MAX_DRIFT`].
#[cfg(target_arch = "x86_64")]
const CALIBRATION: Duration = Duration::from_millis(150);
/// The shortest time, in nanoseconds, over which drift is evaluated. Over 2 s, [`MAX_DRIFT`] is
/// 40 µs, far above the error of a reading on a busy machine; over a short step it is not.
const SHORTEST_DRIFT_NS: f64 = 2e9;

/// A source of ticks and their length. A step uses one clock throughout, even if a calibration
/// ends in the meantime.
#[derive(Clone, Copy, Debug)]
pub struct Clock {
    source: Source,
    /// Nanoseconds per tick, times 2^32: a conversion is one multiplication and one shift.
    scale: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Source {
    Counter,
    Kernel,
}

/// The scale of the counter; `None` inside where the counter cannot be used.
static COUNTER_SCALE: OnceLock<Option<u64>> = OnceLock::new();

/// Starts the calibration of the counter on a separate thread, so that the program does not wait
/// 150 ms at its start.
pub fn calibrate() {
    #[cfg(target_arch = "x86_64")]
    std::thread::spawn(|| {
        COUNTER_SCALE.get_or_init(counter_scale);
    });
}

/// Waits for the end of the calibration, about 150 ms after its start.
pub fn settle() {
    #[cfg(target_arch = "x86_64")]
    COUNTER_SCALE.get_or_init(counter_scale);
}

impl Clock {
    /// Returns the counter if its calibration has ended and found it usable, else CLOCK_MONOTONIC.
    pub fn best() -> Clock {
        match COUNTER_SCALE.get() {
            Some(Some(scale)) => Clock { source: Source::Counter, scale: *scale },
            Some(None) | None => Clock { source: Source::Kernel, scale: 1 << 32 },
        }
    }

    /// Returns the current time in ticks.
    #[inline]
    pub fn now(&self) -> u64 {
        match self.source {
            #[cfg(target_arch = "x86_64")]
            Source::Counter => crate::processor::time_stamp(),
            #[cfg(not(target_arch = "x86_64"))]
            Source::Counter => kernel_nanos(ClockId::Monotonic),
            Source::Kernel => kernel_nanos(ClockId::Monotonic),
        }
    }

    /// Returns `ticks` in nanoseconds.
    #[inline]
    pub fn nanos(&self, ticks: u64) -> u64 {
        ((u128::from(ticks) * u128::from(self.scale)) >> 32) as u64
    }

    /// Returns `duration` in ticks, rounded down.
    pub fn ticks(&self, duration: Nanos) -> u64 {
        ((u128::from(duration.0) << 32) / u128::from(self.scale)) as u64
    }

    /// Returns the name of the clock for the report of a step.
    pub fn name(&self) -> &'static str {
        match self.source {
            Source::Counter => "time stamp counter, calibrated against CLOCK_MONOTONIC_RAW",
            Source::Kernel => "CLOCK_MONOTONIC",
        }
    }

    /// Returns this clock (ticks) and CLOCK_MONOTONIC_RAW (nanoseconds), read at one moment, for
    /// [`Clock::drift_since`].
    pub fn pair(&self) -> (u64, u64) {
        bracketed(|| self.now())
    }

    /// Returns the relative difference between the rates of this clock and CLOCK_MONOTONIC_RAW
    /// since `earlier`, a result of [`Clock::pair`]; 0 over less than 2 s, and always 0 for the
    /// clock of the kernel.
    pub fn drift_since(&self, earlier: (u64, u64)) -> f64 {
        let (ticks, raw) = self.pair();
        let kernel = raw.saturating_sub(earlier.1) as f64;
        let ours = self.nanos(ticks.saturating_sub(earlier.0)) as f64;
        match self.source {
            Source::Counter if kernel > SHORTEST_DRIFT_NS => (ours - kernel).abs() / kernel,
            // NTP slews CLOCK_MONOTONIC against the raw clock: that is not a fault.
            Source::Counter | Source::Kernel => 0.0,
        }
    }
}

fn kernel_nanos(clock: ClockId) -> u64 {
    let time = clock_gettime(clock);
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}

/// Returns a reading of `read` and CLOCK_MONOTONIC_RAW at the same moment.
///
/// Each attempt reads the raw clock before and after; an interrupt between the two widens the
/// bracket. The narrowest of 64 brackets is the attempt with the smallest error.
fn bracketed(read: impl Fn() -> u64) -> (u64, u64) {
    let attempt = || {
        let before = kernel_nanos(ClockId::MonotonicRaw);
        let ticks = read();
        let after = kernel_nanos(ClockId::MonotonicRaw);
        // The width comes first: the smallest tuple is the narrowest bracket.
        (after - before, ticks, before + (after - before) / 2)
    };
    let (_, ticks, raw) = (0..64).map(|_| attempt()).min().expect("there are 64 attempts");
    (ticks, raw)
}

/// Returns the scale of the counter, or `None` where it is not invariant, is not the clock source
/// of the kernel, or did not advance.
#[cfg(target_arch = "x86_64")]
fn counter_scale() -> Option<u64> {
    let source = "/sys/devices/system/clocksource/clocksource0/current_clocksource";
    // Linux changes to another clock source where it finds the counter unstable, as between sockets.
    let kernel_uses_it = std::fs::read_to_string(source).is_ok_and(|name| name.trim() == "tsc");
    if !kernel_uses_it || !crate::processor::has_invariant_time_stamp() {
        return None;
    }
    let (ticks, raw) = bracketed(crate::processor::time_stamp);
    std::thread::sleep(CALIBRATION);
    let (later_ticks, later_raw) = bracketed(crate::processor::time_stamp);
    let ticks = later_ticks.checked_sub(ticks).filter(|ticks| *ticks > 0)?;
    u64::try_from((u128::from(later_raw - raw) << 32) / u128::from(ticks)).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_counter_agrees_with_the_kernel_and_a_drift_of_50_ppm_is_detected() {
        let Some(scale) = counter_scale() else {
            println!("skipped: the time-stamp counter of this machine is not usable");
            return;
        };
        let clock = Clock { source: Source::Counter, scale };
        let earlier = clock.pair();
        while kernel_nanos(ClockId::MonotonicRaw) < earlier.1 + 2_100_000_000 {
            std::hint::spin_loop();
        }
        let drift = clock.drift_since(earlier);
        assert!(drift < MAX_DRIFT, "{drift}");
        // A counter whose scale is 50 ppm too large.
        let wrong = Clock { scale: scale + scale / 20_000, ..clock };
        let drift = wrong.drift_since(earlier);
        assert!(drift > MAX_DRIFT && drift < 4.0 * MAX_DRIFT, "{drift}");
    }

    #[test]
    fn ticks_and_nanoseconds_are_inverse() {
        let clock = Clock { source: Source::Counter, scale: 1_654_321_987 };
        for nanos in [0, 1_000, 1_000_000_000, 3_600_000_000_000] {
            let back = clock.nanos(clock.ticks(Nanos(nanos)));
            assert!(back.abs_diff(nanos) <= 1, "{nanos} {back}");
        }
    }
}
