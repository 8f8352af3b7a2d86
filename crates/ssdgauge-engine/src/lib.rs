//! The engines: generate the requests of a workload and measure them second by second.
//!
//! Each I/O thread has its own ring, slots and recorder. Its loop shares one thing with other
//! threads: a stop flag that is read in every iteration and almost never written. Once a second it
//! hands its record to the control thread, which merges the records of all threads, fills seconds
//! without completions with zeros, and passes them to the sink. The control thread never sends a
//! request, so a drive that hangs cannot block it.
//!
//! Its rooms are in floors; each may import those before it: `request_error`, `pool`, `positioned` (one request
//! at a time), `verification`, `load` (what is sent, when), `recorder`, `loops` (one file for each way to the
//! drive), `control`.
//!
//! This crate never opens a device, and does not know that a guard exists.

mod control;
mod load;
mod loops;
mod pool;
mod positioned;
mod recorder;
mod request_error;
mod verification;

pub use control::ring_tuning::{RingChoice, tune_rings, tuning_pays};
pub use control::{ReplayLoad, check_rings, run, run_replay};
pub use load::namespace::{CommandLimits, Namespace};
pub use load::request_log::Log;
pub use load::ring_flags::{RingFlags, WholeRequests};
pub use load::{Device, Load};
pub use loops::pass_through::read_beginning;
pub use pool::{Pool, longest_pool, random_tag};
pub use positioned::{FLUSH_LIMIT, count_zero_blocks, flush};
pub use positioned::{stamped, timed, transfer};
pub use recorder::Fault;
pub use recorder::io_errors;
pub use recorder::outcome::{Outcome, SentBy};
pub use request_error::{RequestError, is_gone};
pub use verification::{Mismatch, Place, Verification, read_back, verify};
