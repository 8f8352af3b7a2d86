//! The commands of the program on loop devices, which the tests of this machine share.

// A test ends at the first error.
#![allow(clippy::unwrap_used, clippy::print_stdout)]

mod crosscheck;
mod doctor;
mod drive_description;
mod durability;
mod errors;
mod fio;
mod hostile_files;
mod interference;
pub(crate) mod interruption;
mod lab;
mod max_writes;
mod plan;
pub(crate) mod processes;
mod prove;
mod quick;
pub(crate) mod replays;
mod request_path;
pub(crate) mod several;
mod shortened;
mod verify;
mod xray;
