//! Meters: power and temperature read beside the requests, each source on a thread of its own.
//!
//! A [`MeterSpec`] names a meter as a person does; a source is one that was opened; a sampler
//! thread reads it and never touches an I/O thread; the aggregation puts its samples into the
//! seconds of a step. A meter that fails in mid-test costs a finding, never the run.
//!
//! This crate never touches an I/O thread or the data of the drive.

mod aggregate;
mod distribution;
mod error;
mod monotonic;
mod parse;
mod sample;
mod sampler;
mod source;
mod spec;

pub use aggregate::Aggregate;
pub use distribution::Distribution;
pub use error::MeterError;
pub use sampler::{Live, Message, Meters, folder_of};
pub use source::hwmon::{Sensor, sensors};
pub use source::nvme::LogReader;
pub use source::thermometer::Thermometer;
pub use spec::MeterSpec;
