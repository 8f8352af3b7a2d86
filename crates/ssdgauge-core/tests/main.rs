//! The integration tests of this crate, in one program.

mod act_forms;
mod names;
