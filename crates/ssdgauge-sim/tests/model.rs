//! The model against theory, published numbers and the contract of a rig.
#![allow(clippy::unwrap_used)]

mod amplification;
mod cache;
mod commands;
mod contents;
mod data;
mod effects;
mod host_side;
mod idle;
mod limits;
mod map_cache;
mod mapping_unit;
mod open_loop;
mod page_times;
mod power_cut;
mod power_thermal;
mod replay;
mod rig;
mod served;
mod steady;
mod support;
mod sync;
mod timed;
mod timing;
mod volumes;
