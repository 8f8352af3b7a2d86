//! Proof of a capacity: blocks whose contents name their address, what was read in their places, and
//! the verdict that follows.
//!
//! It must never do I/O: [`judge`] is a function of [`Observation`]s alone, so that a recorded proof can
//! be judged again.

mod answer;
mod conclusion;
mod content;
mod stamp;

pub use answer::{Answer, Observation};
pub use conclusion::{Conclusion, Tally, judge, most_held};
pub use content::{Content, Found};
pub use stamp::{Stamp, WORDS_PER_BLOCK};

use crate::units::Bytes;

/// The size of a block of a proof, in bytes: that of a flash-translation unit and of a memory page.
pub const PROOF_BLOCK: Bytes = Bytes(4_096);
