//! Drive identity, settings and health: decoders, sysfs readers, query commands.
//!
//! Decoders turn bytes of a drive into plain structs (`controller`, `health`, `power_log`, `state`,
//! `ata`, `media`) and check every byte, because firmware can return anything. `sysfs_device` reads the
//! attributes of the kernel, `pass_through` sends commands to the drive, directly or through the
//! privileged helper process (`helper`). `query` has the commands that read; [`describe`] combines
//! their results into the drive description, and `health_monitor` reads SMART data during a run.
//!
//! This crate never builds a command that changes the data or a lasting setting of a drive.

pub mod ata;
mod byte_reader;
pub mod controller;
mod description;
#[cfg(test)]
mod differential_tests;
#[cfg(any(test, feature = "fixtures"))]
pub mod fixture;
pub mod health;
pub mod health_monitor;
pub mod helper;
mod media;
pub mod pass_through;
mod plausible;
pub mod power_log;
pub mod query;
pub mod state;
mod stored;
pub mod sysfs_device;

pub use description::{DescribeError, DriveCondition, describe, drive_findings, read_condition};
pub use stored::{MAX_LENGTH, NOT_IN_OUTPUT, StoredError, describe_stored};
