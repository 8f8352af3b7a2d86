//! The process: stop signals, the wall clock, and identifiers of runs.

#[cfg(target_os = "linux")]
mod stop;

use crate::failure::{Failure, FailureKind};
use ssdgauge_core::Nanos;
use ssdgauge_watch::terminal;
use std::io::Read;
use std::time::{Duration, Instant};
#[cfg(target_os = "linux")]
pub(crate) use stop::StopFlag;

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

/// Returns a wall-clock time as `2026-11-20 22:15`; 0 is the start of a run that is not known.
pub(crate) fn minute(unix_ms: i64) -> String {
    if unix_ms == 0 {
        return "unknown".to_owned();
    }
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
