//! The number of threads of a stream, and of slots per thread.

use crate::load::Load;
use ssdgauge_core::{Bytes, Engine, MAX_SLOT_MEMORY, Stream, open_loop_slots};

/// The part of the available memory that the buffers of all open loops may use: a quarter, so that
/// the page cache and other programs are not displaced.
const MEMORY_PART: u64 = 4;

/// The threads and slots that an engine gives to the streams of a load.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sizing {
    engine: Engine,
    /// The memory for the buffers of each open-loop stream.
    slot_memory: Bytes,
}

impl Sizing {
    /// Returns the sizing of `load` with `engine`. The available memory is read once, so that all
    /// buffers of the load have equal numbers of slots.
    pub(super) fn new(load: &Load<'_>, engine: Engine) -> Sizing {
        let streams = load.workload.streams.iter();
        let open = streams.filter(|stream| stream.arrival.per_second().is_some()).count() as u64;
        let available = ssdgauge_os::memory::available().unwrap_or(MAX_SLOT_MEMORY);
        let slot_memory = Bytes(available.0 / MEMORY_PART / open.max(1)).min(MAX_SLOT_MEMORY);
        Sizing { engine, slot_memory }
    }

    /// Returns the number of threads of a stream: with io_uring those that it names, with the
    /// synchronous engine one per request in flight.
    pub(super) fn threads(&self, stream: &Stream) -> u32 {
        match self.engine {
            Engine::IoUring => stream.threads,
            Engine::Synchronous => stream.total_depth(),
        }
    }

    /// Returns how many requests each thread of a stream can have in flight. In an open loop this
    /// follows from the rate, not from the queue depth.
    pub(super) fn slots(&self, stream: &Stream) -> u32 {
        let threads = self.threads(stream);
        open_loop_slots(stream, self.engine, threads, self.slot_memory)
            .unwrap_or(stream.total_depth() / threads)
    }
}
