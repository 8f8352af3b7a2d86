//! The virtual drive: a model of an SSD in virtual time whose truth is known.
//!
//! A pure function of profile, seed and calls: it never reads a clock, opens a file or starts a
//! thread, and equal calls give equal results to the last bit.

mod buffer;
mod cache;
mod catalogue;
mod drive;
mod env;
mod faults;
mod fill;
mod flash;
mod front;
mod gc;
mod geometry;
mod load;
mod map;
pub mod mean_field;
mod profile;
mod rig;
mod truth;

pub use catalogue::{Listed, ProfileError, profiles};
pub use drive::Work;
pub use flash::Operations;
pub use profile::{
    DriveFigures, FaultFigures, FrontFigures, GcFigures, GcPacing, GcPolicy, NandFigures, Overflow,
    PowerFigures, PowerState, Profile, SlcFigures, ThermalFigures,
};
pub use rig::VirtualRig;
pub use truth::Truth;
