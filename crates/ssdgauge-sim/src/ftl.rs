//! The flash translation layer: page map, garbage collection, SLC cache and write buffer.
//!
//! It must never report data as written that a later read would not find.

pub(crate) mod gc;
pub(crate) mod huge_array;
pub(crate) mod map;
pub(crate) mod slc_cache;
pub(crate) mod write_buffer;
