//! The twin: a virtual drive fitted to the runs of a measured drive, which then predicts loads that were not run.
//!
//! `evidence` turns runs into tests that a virtual drive can repeat; `start` has first values in closed form; `search`
//! changes figures until the repeated tests come near; `fit` leaves the loads of `inside`, or a kind of load, out in turn,
//! fits again and predicts them; `bands` has the errors of these predictions. `profile` writes all of it as the profile of
//! a virtual drive; `question` reads a load in words, `answer` predicts it, with the band, or says why not, and `missing`
//! has the runs that it needs.
//!
//! It must never open a file, or give a number without a band: a kind of load that was not left out and predicted, or
//! was predicted badly, is refused.

mod answer;
mod bands;
mod evidence;
mod figures;
mod fit;
mod inside;
mod kind;
mod missing;
mod number;
mod profile;
mod question;
mod replay;
mod search;
mod start;

pub use answer::{Answer, Predicted, answer};
pub use bands::{Band, FEWEST, Range, WIDEST};
pub use evidence::{Evidence, EvidenceError, Load, Measured};
pub use fit::{Fitted, fit};
pub use kind::Kind;
pub use missing::{Known, missing};
pub use number::Number;
pub use profile::{About, Twin, TwinError, profile_text};
pub use question::{Question, TERMS, UnknownTerm};
