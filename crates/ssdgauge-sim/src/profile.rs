//! Profiles: the figures of a virtual drive, the built-in catalogue, and the geometry that follows.
//!
//! It must never hold state, and no figure of the model may be anywhere else.

mod catalogue;
mod effects;
mod figures;
mod geometry;
mod typed_value;

pub(crate) use catalogue::{InitialState, ProfileSpec};
pub use catalogue::{ProfileError, ProfileListing, profiles, reviewed_profiles, target_keys};
pub use effects::EffectFigures;
pub use figures::{
    DriveFigures, FaultFigures, GcFigures, GcPacing, GcPolicy, HostInterfaceFigures, LimitedState,
    NandFigures, Overflow, PowerFigures, PowerState, Profile, SlcFigures, ThermalFigures,
};
pub(crate) use geometry::{Geometry, PAGE};
