//! Meters: power and temperature read beside the requests, each source on a thread of its own.
//!
//! A [`MeterSpec`] names a meter as a person does; a source is one that was opened; a sampler
//! thread reads it and never touches an I/O thread; the aggregation puts its samples into the
//! seconds of a step. A meter that fails in mid-test costs a finding, never the run.
//!
//! This crate never touches an I/O thread or the data of the drive.

mod aggregate;
mod answer;
mod command;
mod distribution;
mod error;
mod http;
mod hwmon;
mod monotonic;
mod nvme;
mod quarch;
mod sample;
mod sampler;
mod source;
mod spec;
mod thermometer;

pub use aggregate::Aggregate;
pub use distribution::Distribution;
pub use error::MeterError;
pub use hwmon::{Sensor, sensors};
pub use nvme::LogReader;
pub use sampler::{Live, Message, Meters, folder_of};
pub use spec::MeterSpec;
pub use thermometer::Thermometer;
