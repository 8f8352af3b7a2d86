//! Drive identity, settings and health: decoders, sysfs readers, query commands.
//!
//! Decoders turn bytes of a drive into plain structs (`controller`, `health`, `power_log`, `state`,
//! `ata`) and treat every byte as hostile. `sysfs_device` reads what the kernel shows,
//! `pass_through` carries commands to the drive, directly or through the privileged helper process
//! (`helper`). `query` holds the commands that only read; [`describe`] puts everything together,
//! and `health_monitor` reads SMART data beside a run.
//!
//! This crate never makes a command that changes a drive.

pub mod ata;
mod byte_reader;
pub mod controller;
mod description;
#[cfg(any(test, feature = "fixtures"))]
pub mod fixture;
pub mod health;
pub mod health_monitor;
pub mod helper;
pub mod pass_through;
pub mod power_log;
pub mod query;
pub mod state;
pub mod sysfs_device;

pub use description::{CardError, card, doubts};
