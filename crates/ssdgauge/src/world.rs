//! The surroundings of a run: output, signals, time of day, chance.

use crate::failure::{Failure, Kind};
use signal_hook::consts::{SIGHUP, SIGINT, SIGQUIT, SIGTERM};
use std::io::{IsTerminal, Read, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Writes data to stdout. A reader that went away is no error.
pub(crate) fn print(text: &str) {
    let mut out = std::io::stdout().lock();
    let _ = out.write_all(text.as_bytes()).and_then(|()| out.flush());
}

/// Writes words without colour to stdout, without anything that a terminal would obey.
pub(crate) fn print_words(text: &str) {
    print(&format!("{}\n", tame(text)));
}

/// Writes lines of talk to stderr, without anything that a terminal would obey.
pub(crate) fn talk(text: &str) {
    let mut err = std::io::stderr().lock();
    let _ = writeln!(err, "{}", tame(text));
}

/// Returns `text` with everything written out that a terminal would obey: a drive may call itself
/// anything.
pub(crate) fn tame(text: &str) -> String {
    text.lines().map(ssdgauge_report::sanitize_prose).collect::<Vec<_>>().join("\n")
}

/// Returns whether people look at stderr.
pub(crate) fn has_terminal() -> bool {
    std::io::stderr().is_terminal() && std::env::var_os("TERM").is_none_or(|term| term != "dumb")
}

/// Returns whether somebody sits at a desktop where a browser can open.
pub(crate) fn has_desktop() -> bool {
    let is_set = |name| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    has_terminal() && (is_set("DISPLAY") || is_set("WAYLAND_DISPLAY"))
}

/// Returns whether stdout shall be coloured.
pub(crate) fn has_colour() -> bool {
    if std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty()) {
        return false;
    }
    let forced = std::env::var_os("CLICOLOR_FORCE").is_some_and(|value| value != "0");
    forced || (std::io::stdout().is_terminal() && has_terminal())
}

/// A wish to stop, set by a signal. A second signal ends the process at once.
#[derive(Clone, Debug)]
pub(crate) struct StopWish(Arc<AtomicBool>);

impl StopWish {
    /// Begins to listen.
    pub(crate) fn listen() -> Result<StopWish, Failure> {
        let wish = Arc::new(AtomicBool::new(false));
        let denied = |error| denied(&format!("cannot listen to signals: {error}"));
        for signal in [SIGINT, SIGTERM, SIGHUP, SIGQUIT] {
            let default = signal_hook::flag::register_conditional_default(signal, wish.clone());
            default.map_err(denied)?;
            signal_hook::flag::register(signal, wish.clone()).map_err(denied)?;
        }
        Ok(StopWish(wish))
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
