//! The engines: what turns a workload into requests and their completions into seconds.
//!
//! Each I/O thread owns its ring, its slots and its recorders; nothing in its loop is shared but
//! one flag that is almost never written. Once a second it hands its recorders to the control
//! thread, which merges, fills silent seconds with zeros, and passes them on. The control thread
//! never touches the drive, so a hanging drive cannot hang it.
//!
//! This crate never opens a device, and does not know that a guard exists.

mod control;
pub mod io_errors;
mod load;
mod outcome;
mod pace;
mod pool;
mod recorder;
mod request_log;
mod ring;
mod ring_flags;
mod ring_tuning;
mod synchronous;
mod uring;
mod verification;

pub use control::run;
pub use load::{Device, Load};
pub use outcome::Outcome;
pub use pool::{Pool, random_tag};
pub use recorder::Fault;
pub use request_log::Log;
pub use ring_flags::RingFlags;
pub use ring_tuning::{RingChoice, tune_rings, tuning_pays};
pub use verification::{Content, Verification};
