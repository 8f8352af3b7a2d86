//! The terminal, and runs watched by their files and live sockets as they grow: on a terminal, as lines, as JSON, and
//! as metrics.
//!
//! Watching only reads. It holds no lock and writes to no file, and a run waits for no client of its socket, so a
//! run with an observer is equal to one without.

pub mod rest_of_run;
pub mod step_title;
pub mod terminal;

#[cfg(target_os = "linux")]
mod aligned;
#[cfg(target_os = "linux")]
mod boot;
#[cfg(target_os = "linux")]
pub mod chart;
#[cfg(target_os = "linux")]
pub mod display;
#[cfg(target_os = "linux")]
pub mod followed;
#[cfg(target_os = "linux")]
pub mod json_lines;
#[cfg(target_os = "linux")]
mod keys;
#[cfg(target_os = "linux")]
pub mod lines;
#[cfg(target_os = "linux")]
pub mod live;
#[cfg(target_os = "linux")]
mod lost;
#[cfg(target_os = "linux")]
pub mod metrics;
#[cfg(target_os = "linux")]
pub mod metrics_server;
#[cfg(target_os = "linux")]
pub mod observe;
#[cfg(target_os = "linux")]
pub mod progress;
#[cfg(target_os = "linux")]
pub mod screen;
#[cfg(target_os = "linux")]
pub mod second;
#[cfg(target_os = "linux")]
pub mod style;
#[cfg(target_os = "linux")]
pub mod words;

#[cfg(target_os = "linux")]
pub use lost::Lost;
