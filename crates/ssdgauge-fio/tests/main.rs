//! The integration tests of this crate, in one program.

mod damaged;
mod long_texts;
