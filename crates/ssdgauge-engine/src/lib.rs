//! The engines: generate the requests of a workload and measure them second by second.
//!
//! Each I/O thread has its own ring, slots and recorder. Its loop shares one thing with other
//! threads: a stop flag that is read in every iteration and almost never written. Once a second it
//! hands its record to the control thread, which merges the records of all threads, fills seconds
//! without completions with zeros, and passes them to the sink. The control thread never sends a
//! request, so a drive that hangs cannot block it.
//!
//! This crate never opens a device, and does not know that a guard exists.

mod control;
pub mod io_errors;
mod load;
mod namespace;
mod nvme_status;
mod open_loop;
mod outcome;
mod pace;
mod pass_through;
mod pauses;
mod pool;
mod positioned;
mod recorder;
mod replay;
mod request_error;
mod request_log;
mod ring;
mod ring_flags;
mod ring_tuning;
pub mod stamped;
mod synchronous;
pub mod timed;
pub mod transfer;
mod uring;
mod verification;
mod waiting;

pub use control::{ReplayLoad, check_rings, run, run_replay};
pub use load::{Device, Load};
pub use namespace::{CommandLimits, Namespace};
pub use outcome::{Outcome, SentBy};
pub use pass_through::read_beginning;
pub use pool::{Pool, longest_pool, random_tag};
pub use positioned::{FLUSH_LIMIT, count_zero_blocks, flush};
pub use recorder::Fault;
pub use request_error::{RequestError, is_gone};
pub use request_log::Log;
pub use ring_flags::{RingFlags, WholeRequests};
pub use ring_tuning::{RingChoice, tune_rings, tuning_pays};
pub use verification::{Mismatch, Place, Verification, read_back, verify};
