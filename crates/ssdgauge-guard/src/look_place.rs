//! The place of looks at devices: this process, or a process of its own that is kept between them.

use ssdgauge_os::own_process::OwnProcess;
use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The place of looks at devices. Clones share one process.
#[derive(Clone, Debug, Default)]
pub struct LookPlace {
    kept: Option<Arc<Mutex<Option<OwnProcess>>>>,
}

impl LookPlace {
    /// Returns this process, which waits for as long as a device does not answer: for tests and
    /// other programs.
    pub fn this_process() -> LookPlace {
        LookPlace::default()
    }

    /// Returns a process of its own with a time limit, which is started at the first look: requires
    /// a program whose command `look` calls [`crate::serve_looks`].
    pub fn own_process() -> LookPlace {
        LookPlace { kept: Some(Arc::default()) }
    }

    /// Returns a place of the same kind, with another process where that is one of its own.
    pub(crate) fn anew(&self) -> LookPlace {
        match self.is_this_process() {
            true => LookPlace::this_process(),
            false => LookPlace::own_process(),
        }
    }

    pub(crate) fn is_this_process(&self) -> bool {
        self.kept.is_none()
    }

    /// Returns the kept process, or starts one; the caller keeps it again after its answers. A
    /// process that did not answer is dropped instead.
    pub(crate) fn process(&self) -> io::Result<OwnProcess> {
        // Taken out while it is used: a second thread starts a process of its own, so that answers never mix.
        let kept = self.slot().and_then(|mut slot| slot.take());
        match kept.map(|mut process| (process.has_ended(), process)) {
            Some((false, process)) => Ok(process),
            Some((true, _)) | None => OwnProcess::start(&["look"]),
        }
    }

    /// Keeps a process that has answered all questions.
    pub(crate) fn keep(&self, process: OwnProcess) {
        if let Some(mut slot) = self.slot() {
            *slot = Some(process);
        }
    }

    fn slot(&self) -> Option<MutexGuard<'_, Option<OwnProcess>>> {
        let kept = self.kept.as_ref()?;
        Some(kept.lock().unwrap_or_else(PoisonError::into_inner))
    }
}
