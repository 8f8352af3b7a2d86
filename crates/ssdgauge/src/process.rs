//! The process: stop signals, the wall clock, and identifiers of runs.

use crate::failure::{Failure, FailureKind};
use crate::terminal;
use rustix::process::{Signal, parent_process_death_signal};
use rustix::time::{ClockId, clock_gettime};
use signal_hook::consts::{SIGHUP, SIGINT, SIGQUIT, SIGTERM};
use ssdgauge_core::Nanos;
use ssdgauge_lab::Boot;
use std::io::Read;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// A flag that SIGINT, SIGTERM, SIGHUP and SIGQUIT set to stop the run. A second signal ends the
/// process at once, by the default action of that signal.
#[derive(Clone, Debug)]
pub(crate) struct StopFlag {
    flag: Arc<AtomicBool>,
    /// A signal has arrived, so that the next one ends the process.
    has_arrived: Arc<AtomicBool>,
}

impl StopFlag {
    /// Returns the flag without handlers: until [`StopFlag::listen`], a signal ends the process.
    pub(crate) fn new() -> StopFlag {
        let unset = || Arc::new(AtomicBool::new(false));
        StopFlag { flag: unset(), has_arrived: unset() }
    }

    /// Installs the signal handlers.
    ///
    /// # Errors
    ///
    /// Fails where the system denies a handler.
    pub(crate) fn listen(&self) -> Result<(), Failure> {
        let flag = &self.flag;
        let denied = |error| denied_by_system(&format!("cannot handle signals: {error}"));
        // The signal of a parent that has ended may arrive several times: the kernel sends it for each
        // thread of the parent. It asks for a stop, and never ends the process at once.
        let of_parent = parent_process_death_signal().ok().flatten().map(Signal::as_raw);
        for signal in [SIGINT, SIGTERM, SIGHUP, SIGQUIT] {
            // The flag comes first, so that a signal between two registrations is not lost. The actions
            // run in this order: the default must see `has_arrived` as it was before this signal.
            signal_hook::flag::register(signal, flag.clone()).map_err(denied)?;
            if of_parent != Some(signal) {
                let has_arrived = &self.has_arrived;
                let default =
                    signal_hook::flag::register_conditional_default(signal, has_arrived.clone());
                default.map_err(denied)?;
                signal_hook::flag::register(signal, has_arrived.clone()).map_err(denied)?;
            }
        }
        Ok(())
    }

    /// Returns the flag itself, for the engine, which polls it between requests.
    pub(crate) fn flag(&self) -> Arc<AtomicBool> {
        self.flag.clone()
    }

    /// Returns whether a stop was requested.
    pub(crate) fn is_set(&self) -> bool {
        self.flag.load(Ordering::Relaxed)
    }
}

/// The interval between two attempts to start on a busy drive.
const BETWEEN_ATTEMPTS: Duration = Duration::from_secs(1);

/// Carries out `attempt`; where the drive or the run file is busy with another run, again each
/// second until `wait` has passed since the first refusal. A signal during the wait ends the process.
///
/// # Errors
///
/// Those of `attempt`.
pub(crate) fn retry_while_busy(
    wait: Option<Nanos>,
    mut attempt: impl FnMut() -> Result<(), Failure>,
) -> Result<(), Failure> {
    let wait = Duration::from_nanos(wait.map_or(0, |wait| wait.0));
    let mut until = None;
    loop {
        let failure = match attempt() {
            Err(failure) if failure.kind == FailureKind::Busy => failure,
            other => return other,
        };
        if until.is_none() && !wait.is_zero() {
            let most = Nanos(u64::try_from(wait.as_nanos()).unwrap_or(u64::MAX));
            terminal::print_message(&format!(
                "{}; waiting, at most {}",
                failure.error,
                most.about()
            ));
        }
        // An attempt can take seconds on a busy machine, and is not a part of the wait.
        let until = *until.get_or_insert_with(|| Instant::now() + wait);
        let left = until.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Err(failure);
        }
        std::thread::sleep(left.min(BETWEEN_ATTEMPTS));
    }
}

/// Returns the failure of a system call that only a container or a security profile denies.
fn denied_by_system(what: &str) -> Failure {
    let hint = "nothing was written; check the security profile of the container";
    Failure::new(FailureKind::Refused, what, hint)
}

/// Returns the wall-clock time in milliseconds since 1970-01-01 (UTC).
pub(crate) fn unix_ms() -> i64 {
    jiff::Timestamp::now().as_millisecond()
}

/// Returns the boot of the machine; `None` where the kernel does not name it.
pub(crate) fn boot() -> Option<Boot> {
    let id = std::fs::read_to_string("/proc/sys/kernel/random/boot_id").ok()?;
    let since = clock_gettime(ClockId::Boottime);
    let since_ms = since.tv_sec * 1_000 + since.tv_nsec / 1_000_000;
    Some(Boot { id: id.trim().to_owned(), unix_ms: unix_ms() - since_ms })
}

/// Returns a wall-clock time as `20261120-221530`, in UTC, for file names.
pub(crate) fn file_timestamp(unix_ms: i64) -> String {
    jiff::Timestamp::from_millisecond(unix_ms)
        .map(|time| time.strftime("%Y%m%d-%H%M%S").to_string())
        .unwrap_or_else(|_| unix_ms.to_string())
}

/// Returns a wall-clock time as `2026-11-20T22:15:30Z`.
pub(crate) fn iso_time(unix_ms: i64) -> String {
    jiff::Timestamp::from_millisecond(unix_ms)
        .map(|time| time.strftime("%Y-%m-%dT%H:%M:%SZ").to_string())
        .unwrap_or_else(|_| unix_ms.to_string())
}

/// Returns a wall-clock time as `2026-11-20 22:15`.
pub(crate) fn minute(unix_ms: i64) -> String {
    jiff::Timestamp::from_millisecond(unix_ms)
        .map(|time| time.strftime("%Y-%m-%d %H:%M").to_string())
        .unwrap_or_else(|_| unix_ms.to_string())
}

/// Returns an identifier for a new run: its start time and 32 random bits.
///
/// # Errors
///
/// Fails where the system has no `/dev/urandom`.
pub(crate) fn run_id(unix_ms: i64) -> Result<String, Failure> {
    let mut random = [0u8; 4];
    std::fs::File::open("/dev/urandom")
        .and_then(|mut source| source.read_exact(&mut random))
        .map_err(|error| denied_by_system(&format!("cannot read /dev/urandom: {error}")))?;
    Ok(format!("{}-{:08x}", file_timestamp(unix_ms), u32::from_be_bytes(random)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wait_of_any_length_has_an_attempt_at_its_end() {
        let attempts = |wait: Option<Nanos>| {
            let mut count = 0;
            let result = retry_while_busy(wait, || {
                count += 1;
                match count {
                    1 => Err(Failure::new(FailureKind::Busy, "a drive is busy", "")),
                    _ => Ok(()),
                }
            });
            (count, result.is_ok())
        };
        assert_eq!(attempts(None), (1, false));
        // Less than the interval of the attempts.
        assert_eq!(attempts(Some(Nanos(1_000_000))), (2, true));
    }
}
