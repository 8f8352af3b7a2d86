//! Proof of a capacity: blocks that name their address are written all over the drive and read back, in
//! rounds of doubling size.
//!
//! The order is a function of the answers so far (`conductor::proving` carries it out), so a run that was
//! interrupted continues where its records end; a virtual drive repeats them.

mod event;
mod kept;
mod layout;
mod plan;
mod state;

pub(crate) use event::EVENT;
pub use event::{Event, Recorded, Settings, What};
pub use kept::{Fate, Fated, read_kept};
pub(crate) use layout::Progress;
pub use layout::{Depth, Layout, Set};
pub use plan::proof_plan;
pub use state::Proved;
pub(crate) use state::{MOST_BAD, State};

use ssdgauge_core::Bytes;
use std::collections::VecDeque;
use thiserror::Error;

/// Error that only a proof has.
#[derive(Debug, Error)]
pub enum ProofError {
    /// A write failed.
    #[error("{0}")]
    WriteFailed(String),
    /// Reads of the target do not reach a drive.
    #[error("blocks of {0} cannot be read past the page cache")]
    NoBlocks(String),
    /// The drive is too small.
    #[error("{drive} has {}; a proof needs {}", capacity.about(), Layout::LEAST.about())]
    TooSmall {
        /// The target.
        drive: String,
        /// Its capacity.
        capacity: Bytes,
    },
    /// The virtual drive does not repeat the recorded part of the proof.
    #[error("the virtual drive does not repeat the recorded part of the proof")]
    Differs,
    /// The drive of a resumed proof holds none of the blocks that were written and read before.
    #[error(
        "the drive holds nothing of what this proof had written: it was emptied or overwritten \
         meanwhile, or has lost everything"
    )]
    Emptied,
}

/// Returns what the `recorded` events show, without a drive.
pub fn review(recorded: &Recorded) -> Proved {
    let mut state = State::new(recorded.settings);
    let operations = recorded.operations();
    operations.iter().for_each(|operation| state.take(operation));
    state.proved(recorded.is_over())
}

impl Recorded {
    /// Returns the records of a proof that has not begun.
    pub fn none(settings: Settings) -> Recorded {
        Recorded { settings, events: Vec::new() }
    }

    /// Returns the operations that were carried out.
    pub(crate) fn operations(&self) -> VecDeque<What> {
        let carried_out =
            |event: &&Event| matches!(event.what, What::Written { .. } | What::Read { .. });
        self.events.iter().filter(carried_out).map(|event| event.what.clone()).collect()
    }

    /// Returns whether the proof ended.
    pub fn is_over(&self) -> bool {
        self.events.iter().any(|event| matches!(event.what, What::Ended { .. }))
    }

    /// Returns when the last event was recorded, in milliseconds since 1970 (UTC).
    pub fn last_unix_ms(&self) -> Option<i64> {
        self.events.iter().map(|event| event.unix_ms).max()
    }
}
