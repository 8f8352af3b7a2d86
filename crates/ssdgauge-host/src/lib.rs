//! The rig on real drives, in real time.
//!
//! [`LinuxRig`] holds a target that the guard has admitted, and everything that reads or sets
//! something beside the load: `preparation` (purge, trim), `settings` (power saving, write cache)
//! and `monitor` (checks of the host, interference, unwritten reads). Before the first request the
//! process drops its `privileges`; what needs them is done by the privileged `helper` process.
//!
//! This crate holds no logic that one of the crates below it owns.

mod environment;
mod helper;
mod monitor;
mod preparation;
mod privileges;
mod rig;
mod settings;

pub use environment::environment;
pub use helper::server::serve as serve_as_helper;
pub use rig::{LinuxRig, look_at_meters};
