//! The threads of a stream and their slots.

use crate::pace;
use ssdgauge_core::{Engine, Stream};

/// The threads that a stream needs: one for each of its own, or for each request in flight.
pub(super) fn crew_size(stream: &Stream, engine: Engine) -> u32 {
    match engine {
        Engine::IoUring => stream.threads,
        Engine::Synchronous => stream.total_depth(),
    }
}

/// The requests that each thread of a stream can have in flight.
pub(super) fn slots(stream: &Stream, engine: Engine) -> u32 {
    let size = crew_size(stream, engine);
    pace::slots(stream, size)
        .filter(|_| engine == Engine::IoUring)
        .unwrap_or(stream.total_depth() / size)
}
