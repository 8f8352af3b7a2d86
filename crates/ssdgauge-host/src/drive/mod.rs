//! The drive itself: what it is, how it is set, how it feels.
//!
//! Three kinds of files: decoders turn bytes of a drive into plain structs (`controller`,
//! `health`, `power_log`, `state`, `ata`), `sysfs` reads what the kernel knows, and `wire` carries commands.
//! `ask` holds the questions; [`card()`] puts everything together. Nothing in this folder changes a
//! drive.

pub(crate) mod ask;
pub(crate) mod ata;
mod card;
pub(crate) mod controller;
#[cfg(test)]
pub(crate) mod fixture;
pub(crate) mod health;
pub(crate) mod power_log;
mod record;
pub(crate) mod state;
pub(crate) mod sysfs;
pub(crate) mod vitals;
pub(crate) mod wire;

pub(crate) use card::doubts;
pub use card::{CardError, card};
