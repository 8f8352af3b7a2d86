//! The process: stop signals, the time of day, identifiers of runs.

use crate::failure::{Failure, Kind};
use signal_hook::consts::{SIGHUP, SIGINT, SIGQUIT, SIGTERM};
use std::io::Read;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// A wish to stop, set by a signal. A second signal ends the process at once.
#[derive(Clone, Debug)]
pub(crate) struct StopFlag(Arc<AtomicBool>);

impl StopFlag {
    /// Begins to listen.
    pub(crate) fn listen() -> Result<StopFlag, Failure> {
        let wish = Arc::new(AtomicBool::new(false));
        let denied = |error| denied(&format!("cannot listen to signals: {error}"));
        for signal in [SIGINT, SIGTERM, SIGHUP, SIGQUIT] {
            let default = signal_hook::flag::register_conditional_default(signal, wish.clone());
            default.map_err(denied)?;
            signal_hook::flag::register(signal, wish.clone()).map_err(denied)?;
        }
        Ok(StopFlag(wish))
    }

    /// Returns what the signal sets, for those who cannot wait to be told.
    pub(crate) fn flag(&self) -> Arc<AtomicBool> {
        self.0.clone()
    }

    /// Returns whether somebody wants the run to stop.
    pub(crate) fn is_set(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

/// Returns the error of a system that does not give what every program gets.
fn denied(what: &str) -> Failure {
    let hint = "nothing was written; see what the container or its security profile denies";
    Failure::new(Kind::Refused, what, hint)
}

/// Returns the time of day in milliseconds since 1970 (UTC).
pub(crate) fn unix_ms() -> i64 {
    jiff::Timestamp::now().as_millisecond()
}

/// Returns the time of day as `20261120-221530`, in UTC, for names of files.
pub(crate) fn stamp(unix_ms: i64) -> String {
    jiff::Timestamp::from_millisecond(unix_ms)
        .map(|time| time.strftime("%Y%m%d-%H%M%S").to_string())
        .unwrap_or_else(|_| unix_ms.to_string())
}

/// Returns an id that no other run has.
pub(crate) fn run_id(unix_ms: i64) -> Result<String, Failure> {
    let mut chance = [0u8; 4];
    std::fs::File::open("/dev/urandom")
        .and_then(|mut source| source.read_exact(&mut chance))
        .map_err(|error| denied(&format!("no randomness from /dev/urandom: {error}")))?;
    Ok(format!("{}-{:08x}", stamp(unix_ms), u32::from_be_bytes(chance)))
}
