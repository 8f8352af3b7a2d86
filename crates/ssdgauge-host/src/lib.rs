//! The rig on real drives, in real time.
//!
//! [`LinuxRig`] holds a target that the guard has admitted and runs workloads on it with the
//! engine. During the load, `preparation` purges and trims, `settings` changes power saving and the
//! write cache and restores them, and `monitor` checks the host, records disturbance and finds
//! unwritten reads. Before the first request the process drops its `privileges`; requests that need
//! them go to the privileged `helper` process.
//!
//! This crate never opens a drive for writing and holds no logic that one of the crates below it
//! (os, drive, engine, meter, guard) owns.

mod capabilities;
mod checks;
mod environment;
mod helper;
mod monitor;
mod paths;
mod preparation;
mod privileges;
mod reader;
mod rig;
mod settings;
mod system_calls;

pub use checks::{HUGE_PAGES, check_activity, check_device, check_machine, huge_pages};
pub use environment::environment;
pub use helper::search::serve as serve_as_search;
pub use helper::server::serve as serve_as_helper;
pub use monitor::{CheckState, HostCheck};
pub use privileges::{Reach, confine, is_root};
pub use reader::{DriveReader, ReadingRig};
pub use rig::{LinuxRig, check_pass_through, check_polling, open_meters};
