//! Twins of points whose numbers are known.

// A test ends at the first error.
#![allow(clippy::unwrap_used)]

mod fitted;
