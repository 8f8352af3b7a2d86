//! Linux: targets and their guard, the engines, and the rig on real drives.
//!
//! The way of a run through this crate: a name is [resolved](Candidate::find) to a candidate, the
//! guard admits it (the only way to a writable descriptor), [`LinuxRig`] holds it, and an engine
//! loads it while a control thread that never touches the drive owns limits, seconds and stops.
//!
//! This crate never writes to a drive that the guard has not admitted.

mod clock;
mod conditions;
mod custody;
mod drive;
mod engine;
mod environment;
mod faults;
mod guard;
mod instruments;
mod meter;
mod power;
mod preparation;
mod rig;
mod rights;
mod survey;
mod sys;
mod target;
mod unwritten;
mod witness;
mod write_cache;

pub use drive::{CardError, card};
pub use environment::environment;
pub use guard::{Continued, Mandate, Refusal, confirmation_of};
pub use instruments::look_at_meters;
pub use meter::{Live, MeterError, MeterSpec, Meters, Sensor, sensors};
pub use rig::LinuxRig;
pub use rights::serve_as_part;
pub use survey::drives;
pub use target::{Candidate, Place, TargetError};
