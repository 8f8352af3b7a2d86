//! The number of threads of a stream, and of slots per thread.

use crate::pace;
use ssdgauge_core::{Engine, Stream};

/// Returns the number of threads of a stream: with io_uring those that it names, with the
/// synchronous engine one per request in flight.
pub(super) fn thread_count(stream: &Stream, engine: Engine) -> u32 {
    match engine {
        Engine::IoUring => stream.threads,
        Engine::Synchronous => stream.total_depth(),
    }
}

/// Returns how many requests each thread of a stream can have in flight. In an open loop this
/// follows from the rate, not from the queue depth.
pub(super) fn slots(stream: &Stream, engine: Engine) -> u32 {
    let threads = thread_count(stream, engine);
    pace::slots(stream, threads)
        .filter(|_| engine == Engine::IoUring)
        .unwrap_or(stream.total_depth() / threads)
}
