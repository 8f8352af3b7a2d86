//! NVMe Sanitize: the command, and the watch over a drive that works for minutes or hours.
//!
//! A sanitize cannot be taken back: it goes on through a power cut, and the drive answers nothing
//! else until it is done. So it is only sent where somebody asked for it by name.

use super::Failed;
use ssdgauge_core::PurgeMethod;
use ssdgauge_drive::controller::{Controller, Sanitize};
use ssdgauge_drive::pass_through::{CommandError, NvmeCommand, QUERY_TIMEOUT};
use ssdgauge_drive::state::{SanitizeLog, SanitizeState};
use std::time::Duration;

/// A drive whose progress stands still for this long is given up. Ten minutes is six times what
/// a step of one percent takes where a whole overwrite lasts three hours.
pub(super) const STANDSTILL: Duration = Duration::from_secs(600);

/// Returns why the drive does not offer this way of sanitizing.
pub(super) fn obstacle(controller: &Controller, way: PurgeMethod) -> Option<String> {
    let Sanitize { crypto, block, overwrite } = controller.sanitize;
    let offered = match way {
        PurgeMethod::SanitizeBlock => block,
        PurgeMethod::SanitizeCrypto => crypto,
        PurgeMethod::SanitizeOverwrite => overwrite,
        PurgeMethod::Format | PurgeMethod::Discard | PurgeMethod::SecureErase => false,
    };
    (!offered).then(|| format!("the drive does not offer {}", way.name()))
}

/// Returns the command.
pub(super) fn command(way: PurgeMethod) -> NvmeCommand {
    let action = match way {
        PurgeMethod::SanitizeBlock => 2,
        // One pass of zeros; 0 would stand for sixteen.
        PurgeMethod::SanitizeOverwrite => 3 | 1 << 4,
        PurgeMethod::SanitizeCrypto
        | PurgeMethod::Format
        | PurgeMethod::Discard
        | PurgeMethod::SecureErase => 4,
    };
    // Bit 3: a failure may be left without another sanitize, so that the drive is not lost.
    let words = [action | 1 << 3, 0, 0, 0, 0, 0];
    NvmeCommand { opcode: 0x84, namespace: 0, words, timeout: QUERY_TIMEOUT }
}

/// Watches a sanitize to its end. `pause` waits a while and returns the time since the start, or
/// `None` where the run shall stop.
pub(super) fn watch(
    ask: &mut dyn FnMut() -> Result<SanitizeLog, CommandError>,
    pause: &mut dyn FnMut() -> Option<Duration>,
) -> Result<(), Failed> {
    let mut last = None;
    let mut moved = Duration::ZERO;
    let mut now = Duration::ZERO;
    loop {
        let log = ask()?;
        match log.state {
            SanitizeState::Completed => return Ok(()),
            SanitizeState::Running => {}
            SanitizeState::Failed => {
                return Err(Failed::InVain("the drive says that its sanitize failed".into()));
            }
            SanitizeState::Never | SanitizeState::Unknown(_) => {
                return Err(Failed::InVain("the drive does not know of its sanitize".into()));
            }
        }
        if last != Some(log.progress) {
            (last, moved) = (Some(log.progress), now);
        } else if now.saturating_sub(moved) >= STANDSTILL {
            return Err(Failed::InVain(format!(
                "its sanitize has stood at {:.1} % for {} s",
                f64::from(log.progress) / 655.36,
                (now - moved).as_secs()
            )));
        }
        now = pause().ok_or(Failed::Stopped)?;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn log(state: SanitizeState, progress: u16) -> SanitizeLog {
        SanitizeLog { state, progress, estimates_s: [None; 3] }
    }

    /// Watches a drive that is as far as `of` says after so many minutes.
    fn watched(of: impl Fn(u64) -> SanitizeLog, stop_after: u64) -> (Result<(), Failed>, u64) {
        let minutes = std::cell::Cell::new(0);
        let result = watch(&mut || Ok(of(minutes.get())), &mut || {
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
        assert_eq!(watched(slow, 1_000), (Ok(()), 200));
    }

    #[test]
    fn a_standstill_a_failure_and_a_stop_end_the_watch() {
        let stuck = |_| log(SanitizeState::Running, 0x4000);
        let (result, minutes) = watched(stuck, 1_000);
        assert_eq!(
            (result, minutes),
            (Err(Failed::InVain("its sanitize has stood at 25.0 % for 600 s".into())), 10)
        );
        assert_eq!(watched(stuck, 3).0, Err(Failed::Stopped));
        let failed = |minute| match minute {
            0 => log(SanitizeState::Running, 9),
            _ => log(SanitizeState::Failed, 9),
        };
        assert!(matches!(watched(failed, 9).0, Err(Failed::InVain(_))));
        let mut gone = || Err(CommandError::Gone);
        assert_eq!(watch(&mut gone, &mut || None), Err(Failed::Gone));
    }

    #[test]
    fn the_command_asks_for_one_pass_and_leaves_a_way_out() {
        let word = |way| command(way).words[0];
        assert_eq!(word(PurgeMethod::SanitizeBlock), 0b1010);
        assert_eq!(word(PurgeMethod::SanitizeCrypto), 0b1100);
        assert_eq!(word(PurgeMethod::SanitizeOverwrite), 0b1_1011);
    }
}
