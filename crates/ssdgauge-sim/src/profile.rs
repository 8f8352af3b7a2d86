//! Profiles: the figures of a virtual drive, the built-in catalogue, and the geometry that follows.
//!
//! It must never hold state, and no figure of the model stands anywhere else.

mod catalogue;
mod figures;
mod geometry;

pub(crate) use catalogue::{Birth, Order, order, order_from_text};
pub use catalogue::{Listed, ProfileError, profiles};
pub use figures::{
    DriveFigures, FaultFigures, FrontFigures, GcFigures, GcPacing, GcPolicy, NandFigures, Overflow,
    PowerFigures, PowerState, Profile, SlcFigures, ThermalFigures,
};
pub(crate) use geometry::{Geometry, PAGE};
