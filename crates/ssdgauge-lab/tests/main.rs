//! The integration tests of this crate, in one program.

mod conductor;
mod suites;
mod xray;
