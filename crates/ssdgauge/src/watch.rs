//! Observation of runs by their files, as they grow, and by their live sockets: on a terminal, as lines, as
//! JSON, and as metrics.
//!
//! It only reads. It holds no lock and writes to no file, and a run waits for no client of its socket, so that a
//! run with an observer is equal to one without.

pub(crate) mod followed;
pub(crate) mod json_lines;
pub(crate) mod lines;
pub(crate) mod live;
pub(crate) mod live_page;
pub(crate) mod metrics;
pub(crate) mod metrics_server;
pub(crate) mod observe;

pub(crate) mod chart;
pub(crate) mod display;
pub(crate) mod screen;
pub(crate) mod second;
pub(crate) mod style;

mod aligned;
mod keys;
mod words;
