//! The clock of the engines: the processor's counter where it can be trusted, else the kernel's.
//!
//! The counter costs less than half of a call to the kernel's clock. It is trusted only if it is
//! invariant and the kernel itself uses it; it is calibrated against `CLOCK_MONOTONIC_RAW`, and
//! every step checks it again.

use rustix::time::{ClockId, clock_gettime};
use ssdgauge_core::Nanos;
use std::sync::OnceLock;
use std::time::Duration;

/// The drift between counter and kernel clock that makes a step's times worthless.
pub const MOST_DRIFT: f64 = 20e-6;

/// Turns ticks into nanoseconds. One of it serves a whole step.
#[derive(Clone, Copy, Debug)]
pub struct Clock {
    source: Source,
    /// Nanoseconds for each tick, times 2^32.
    scale: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Source {
    Counter,
    Kernel,
}

static CALIBRATED: OnceLock<Option<u64>> = OnceLock::new();

/// Begins to calibrate the counter on a thread of its own, so that nobody waits for it.
pub fn calibrate() {
    #[cfg(target_arch = "x86_64")]
    std::thread::spawn(|| {
        CALIBRATED.get_or_init(counter_scale);
    });
}

/// Waits until it is known whether the counter can be trusted: about 150 ms from the beginning of
/// its calibration.
pub fn settle() {
    #[cfg(target_arch = "x86_64")]
    CALIBRATED.get_or_init(counter_scale);
}

impl Clock {
    /// Returns the best clock that is ready now.
    pub fn best() -> Clock {
        match CALIBRATED.get() {
            Some(Some(scale)) => Clock { source: Source::Counter, scale: *scale },
            Some(None) | None => Clock { source: Source::Kernel, scale: 1 << 32 },
        }
    }

    /// Returns the moment, in ticks.
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

    /// Returns the nanoseconds of `ticks`.
    #[inline]
    pub fn nanos(&self, ticks: u64) -> u64 {
        ((u128::from(ticks) * u128::from(self.scale)) >> 32) as u64
    }

    /// Returns the ticks of `duration`.
    pub fn ticks(&self, duration: Nanos) -> u64 {
        ((u128::from(duration.0) << 32) / u128::from(self.scale)) as u64
    }

    /// Returns what the clock is, in words.
    pub fn name(&self) -> &'static str {
        match self.source {
            Source::Counter => "time stamp counter, calibrated against CLOCK_MONOTONIC_RAW",
            Source::Kernel => "CLOCK_MONOTONIC",
        }
    }

    /// Returns both clocks at one moment, to measure their drift later.
    pub fn pair(&self) -> (u64, u64) {
        bracketed(|| self.now())
    }

    /// Returns how far this clock and the kernel's went apart since `earlier`, as a share; 0 for
    /// spans too short to tell.
    pub fn drift_since(&self, earlier: (u64, u64)) -> f64 {
        let (ticks, raw) = self.pair();
        let kernel = raw.saturating_sub(earlier.1) as f64;
        let ours = self.nanos(ticks.saturating_sub(earlier.0)) as f64;
        match self.source {
            Source::Counter if kernel > 2e9 => (ours - kernel).abs() / kernel,
            // The kernel's own clock is slewed against the raw one on purpose.
            Source::Counter | Source::Kernel => 0.0,
        }
    }
}

fn kernel_nanos(clock: ClockId) -> u64 {
    let time = clock_gettime(clock);
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}

/// Reads a clock and the kernel's raw one so close together that the tightest of 64 tries tells.
fn bracketed(read: impl Fn() -> u64) -> (u64, u64) {
    let try_once = || {
        let before = kernel_nanos(ClockId::MonotonicRaw);
        let ticks = read();
        let after = kernel_nanos(ClockId::MonotonicRaw);
        (after - before, ticks, before + (after - before) / 2)
    };
    let (_, ticks, raw) = (0..64).map(|_| try_once()).min().expect("64 tries are not none");
    (ticks, raw)
}

#[cfg(target_arch = "x86_64")]
fn counter_scale() -> Option<u64> {
    let source = "/sys/devices/system/clocksource/clocksource0/current_clocksource";
    let kernel_uses_it = std::fs::read_to_string(source).is_ok_and(|name| name.trim() == "tsc");
    if !kernel_uses_it || !crate::processor::has_invariant_time_stamp() {
        return None;
    }
    let (ticks, raw) = bracketed(crate::processor::time_stamp);
    std::thread::sleep(Duration::from_millis(150));
    let (later_ticks, later_raw) = bracketed(crate::processor::time_stamp);
    let ticks = later_ticks.checked_sub(ticks).filter(|ticks| *ticks > 0)?;
    u64::try_from((u128::from(later_raw - raw) << 32) / u128::from(ticks)).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_counter_agrees_with_the_kernel_where_it_is_used() {
        let Some(scale) = counter_scale() else {
            println!("skipped: this machine has no trustworthy counter");
            return;
        };
        let clock = Clock { source: Source::Counter, scale };
        let earlier = clock.pair();
        while kernel_nanos(ClockId::MonotonicRaw) < earlier.1 + 2_100_000_000 {
            std::hint::spin_loop();
        }
        let drift = clock.drift_since(earlier);
        assert!(drift < MOST_DRIFT, "{drift}");
        // A counter that runs 50 millionths fast is found out.
        let wrong = Clock { scale: scale + scale / 20_000, ..clock };
        let drift = wrong.drift_since(earlier);
        assert!(drift > MOST_DRIFT && drift < 4.0 * MOST_DRIFT, "{drift}");
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
