//! The number of threads of a stream, and of slots per thread.

use crate::load::{Device, Load};
use crate::ring;
use ssdgauge_core::{Bytes, Engine, MAX_SLOT_MEMORY, Operation, Stream, open_loop_slots};

/// The part of the available memory that the buffers of all open loops may use: a quarter, so that
/// the page cache and other programs are not displaced.
const MEMORY_PART: u64 = 4;

/// The threads and slots that an engine gives to the streams of a load.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sizing {
    engine: Engine,
    /// Whether a ring can send the trims of this load.
    ring_trims: bool,
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
        Sizing { engine, ring_trims: engine == Engine::IoUring && ring_trims(load), slot_memory }
    }

    /// Returns the engine of `stream`. Flushes, trims of a file, and trims of a block device before
    /// Linux 6.12, are system calls that wait: the kernel would pass them from a ring to worker threads,
    /// whose start would be part of the latency.
    pub(super) fn engine(&self, stream: &Stream) -> Engine {
        match stream.operation {
            Operation::Transfer => self.engine,
            Operation::Trim if self.ring_trims => self.engine,
            Operation::Flush | Operation::Trim => Engine::Synchronous,
        }
    }

    /// Returns the number of threads of a stream: with io_uring those that it names, with the
    /// synchronous engine one per request in flight.
    pub(super) fn threads(&self, stream: &Stream) -> u32 {
        match self.engine(stream) {
            Engine::IoUring => stream.threads,
            Engine::Synchronous => stream.total_depth(),
        }
    }

    /// Returns how many requests each thread of a stream can have in flight. In an open loop this
    /// follows from the rate, not from the queue depth.
    pub(super) fn slots(&self, stream: &Stream) -> u32 {
        let threads = self.threads(stream);
        open_loop_slots(stream, self.engine(stream), threads, self.slot_memory)
            .unwrap_or(stream.total_depth() / threads)
    }
}

/// Returns whether a ring can send the trims of `load`; false where it has none.
fn ring_trims(load: &Load<'_>) -> bool {
    match load.device {
        Device::Null => true,
        Device::File(file) => {
            let has_trims = load.workload.streams.iter().any(Stream::trims);
            has_trims && load.device.is_block() && ring::can_discard(file)
        }
    }
}
