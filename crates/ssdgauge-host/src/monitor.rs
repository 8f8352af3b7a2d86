//! Conditions that affect the results during the load: the state of the host before a run, and
//! disturbance while a step runs.

mod activity;
mod counters;
mod disturbance;
mod host_checks;
mod other_runs;
mod queue;
mod stall_detector;
mod step;
mod unwritten_reads;

pub(crate) use activity::watch as watch_activity;
pub(crate) use counters::completed_flushes;
pub(crate) use disturbance::{DisturbanceMonitor, LatencyWatch, PauseMonitor};
pub use host_checks::{CheckState, HostCheck};
pub(crate) use host_checks::{check_device, check_host, check_machine};
pub(crate) use other_runs::check as other_runs;
pub(crate) use step::{Counted, Step};
pub(crate) use unwritten_reads::find_unwritten_reads;
