//! The loops that send requests and take completions: one file for each way to the drive.

pub(crate) mod open_loop;
pub(crate) mod pass_through;
pub(crate) mod replay;
pub(crate) mod ring;
pub(crate) mod synchronous;
pub(crate) mod uring;
pub(crate) mod waiting;
