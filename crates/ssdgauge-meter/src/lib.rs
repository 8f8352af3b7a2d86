//! Meters: power and temperature, read during the requests by one thread per source.
//!
//! A [`MeterSpec`] is parsed from the command line and names a power meter; a source is an open
//! meter; a sampler thread reads it; an [`Aggregate`] turns its samples into readings per second
//! and the energy of a step. A meter that fails during a test causes a finding and never ends the
//! run.
//!
//! This crate never touches an I/O thread or the data of the drive.

mod aggregate;
mod counted_energy;
mod counter_range;
mod distribution;
mod energy_counter;
mod error;
mod monotonic;
mod parse;
mod sample;
mod sampler;
mod source;
mod spec;
mod unit_change;
mod weighted_second;

pub use aggregate::{Aggregate, ChannelKind};
pub use distribution::Distribution;
pub use error::MeterError;
pub use sample::{Batch, Sample, Unusable};
pub use sampler::{LiveReading, Message, Meters, RunningMeter};
pub use source::hwmon::{Sensor, sensors};
pub use source::interface::LogReader;
pub use source::thermometer::Thermometer;
pub use spec::MeterSpec;
