//! Every suite on virtual drives: it parses, plans, runs to its end, and shows the shape that its
//! drive has.

#![allow(clippy::unwrap_used, unreachable_pub, reason = "tests panic on failure")]

mod act;
mod bad_files;
mod consistency;
mod costs;
mod every;
mod full;
mod hostile;
mod idle;
mod open_loop;
mod pts;
mod repetitions;
mod rounds;
mod support;
mod write_cache;
