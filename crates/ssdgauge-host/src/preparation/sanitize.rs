//! NVMe Sanitize: the command, and the wait for its end, which takes minutes or hours.
//!
//! A sanitize cannot be undone or cancelled: it continues after a power failure, and the drive
//! refuses other commands until its end. It is sent only where it is requested by name.

use super::PreparationError;
use ssdgauge_core::PurgeMethod;
use ssdgauge_drive::controller::{Controller, Sanitize};
use ssdgauge_drive::pass_through::{CommandError, NvmeCommand, QUERY_TIMEOUT};
use ssdgauge_drive::state::{SanitizeLog, SanitizeState};
use std::time::Duration;

/// The time without progress after which the wait ends. An overwrite of three hours advances by 1 %
/// in less than two minutes; this is five times as long.
pub(super) const PROGRESS_TIMEOUT: Duration = Duration::from_secs(600);

/// Returns the reason why the drive does not sanitize by `method`, if any.
pub(super) fn obstacle(controller: &Controller, method: PurgeMethod) -> Option<String> {
    let Sanitize { crypto, block, overwrite } = controller.sanitize;
    let supported = match method {
        PurgeMethod::SanitizeBlock => block,
        PurgeMethod::SanitizeCrypto => crypto,
        PurgeMethod::SanitizeOverwrite => overwrite,
        PurgeMethod::Format | PurgeMethod::Discard | PurgeMethod::SecureErase => false,
    };
    (!supported).then(|| format!("the drive does not support {}", method.name()))
}

/// Returns the command of `method`, which is one of the three kinds of sanitize (NVM Express Base
/// Specification 2.0, section 5.24, command dword 10).
pub(super) fn command(method: PurgeMethod) -> NvmeCommand {
    let action = match method {
        PurgeMethod::SanitizeBlock => 2,
        // Bits 7:4 are the number of passes; 0 means sixteen.
        PurgeMethod::SanitizeOverwrite => 3 | 1 << 4,
        PurgeMethod::SanitizeCrypto => 4,
        PurgeMethod::Format | PurgeMethod::Discard | PurgeMethod::SecureErase => {
            unreachable!("{} is not a kind of sanitize", method.name())
        }
    };
    // Bit 3 (AUSE): the drive may leave the failed state without another sanitize. Without it a
    // drive whose sanitize fails would stay unusable.
    let words = [action | 1 << 3, 0, 0, 0, 0, 0];
    NvmeCommand { opcode: 0x84, namespace: 0, words, timeout: QUERY_TIMEOUT }
}

/// Waits for the end of a sanitize. `query` reads the sanitize log; `wait` waits a while and
/// returns the time since the start, or `None` where the run has to stop.
///
/// # Errors
/// The sanitize failed or made no progress, the drive was removed, or the run has to stop.
pub(super) fn await_end(
    query: &mut dyn FnMut() -> Result<SanitizeLog, CommandError>,
    wait: &mut dyn FnMut() -> Option<Duration>,
) -> Result<(), PreparationError> {
    let mut last = None;
    let mut moved = Duration::ZERO;
    let mut now = Duration::ZERO;
    loop {
        let log = query()?;
        match log.state {
            SanitizeState::Completed => return Ok(()),
            SanitizeState::Running => {}
            SanitizeState::Failed => {
                let reason = "the drive reports that the sanitize failed";
                return Err(PreparationError::Ineffective(reason.into()));
            }
            SanitizeState::Never | SanitizeState::Unknown(_) => {
                let reason = "the drive reports no sanitize in its log";
                return Err(PreparationError::Ineffective(reason.into()));
            }
        }
        if last != Some(log.progress) {
            (last, moved) = (Some(log.progress), now);
        } else if now.saturating_sub(moved) >= PROGRESS_TIMEOUT {
            // The log counts progress in 65,536ths.
            return Err(PreparationError::Ineffective(format!(
                "the sanitize made no progress beyond {:.1} % for {} s",
                f64::from(log.progress) / 655.36,
                (now - moved).as_secs()
            )));
        }
        now = wait().ok_or(PreparationError::Stopped)?;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn log(state: SanitizeState, progress: u16) -> SanitizeLog {
        SanitizeLog { state, progress, estimates_s: [None; 3] }
    }

    /// Waits for a drive whose log after a number of minutes is `log_at`.
    fn wait_for(
        log_at: impl Fn(u64) -> SanitizeLog,
        stop_after: u64,
    ) -> (Result<(), PreparationError>, u64) {
        let minutes = std::cell::Cell::new(0);
        let result = await_end(&mut || Ok(log_at(minutes.get())), &mut || {
            minutes.set(minutes.get() + 1);
            (minutes.get() < stop_after).then(|| Duration::from_secs(60 * minutes.get()))
        });
        (result, minutes.get())
    }

    #[test]
    fn progress_is_awaited_for_as_long_as_it_moves() {
        let slow = |minute: u64| match minute {
            0..200 => log(SanitizeState::Running, (minute / 5) as u16),
            _ => log(SanitizeState::Completed, 0xffff),
        };
        assert_eq!(wait_for(slow, 1_000), (Ok(()), 200));
    }

    #[test]
    fn missing_progress_a_failure_and_a_stop_end_the_wait() {
        let stuck = |_| log(SanitizeState::Running, 0x4000);
        let (result, minutes) = wait_for(stuck, 1_000);
        assert_eq!(
            (result, minutes),
            (
                Err(PreparationError::Ineffective(
                    "the sanitize made no progress beyond 25.0 % for 600 s".into()
                )),
                10
            )
        );
        assert_eq!(wait_for(stuck, 3).0, Err(PreparationError::Stopped));
        let failed = |minute| match minute {
            0 => log(SanitizeState::Running, 9),
            _ => log(SanitizeState::Failed, 9),
        };
        assert!(matches!(wait_for(failed, 9).0, Err(PreparationError::Ineffective(_))));
        let mut gone = || Err(CommandError::Gone);
        assert_eq!(await_end(&mut gone, &mut || None), Err(PreparationError::Gone));
    }

    #[test]
    fn the_command_requests_one_pass_and_permits_an_unrestricted_exit() {
        let word = |method| command(method).words[0];
        assert_eq!(word(PurgeMethod::SanitizeBlock), 0b1010);
        assert_eq!(word(PurgeMethod::SanitizeCrypto), 0b1100);
        assert_eq!(word(PurgeMethod::SanitizeOverwrite), 0b1_1011);
    }
}
