//! Stop signals.

use super::denied_by_system;
use crate::failure::Failure;
use rustix::process::{Signal, parent_process_death_signal};
use signal_hook::consts::{SIGHUP, SIGINT, SIGQUIT, SIGTERM};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

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
