//! The number of threads of a stream, and of slots per thread.

use crate::load::namespace::CommandLimits;
use crate::load::{Device, Load};
use crate::loops::ring;
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
    /// The limits of commands, where they are passed through: a ring sends all that fit.
    commands: Option<CommandLimits>,
    /// Whether each block is written once: by one thread, because the order is that of one.
    covering: bool,
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
        let ring_trims = engine == Engine::IoUring && ring_trims(load);
        let namespace = load.pass_through.filter(|_| engine == Engine::IoUring);
        let commands = namespace.map(|namespace| namespace.limits);
        Sizing { engine, ring_trims, commands, covering: load.covering, slot_memory }
    }

    /// Returns the engine of `stream`. Flushes, trims of a file, and trims of a block device before
    /// Linux 6.12, are system calls that wait: the kernel would pass them from a ring to worker threads,
    /// whose start would be part of the latency.
    pub(super) fn engine(&self, stream: &Stream) -> Engine {
        match stream.operation {
            Operation::Transfer | Operation::Flush | Operation::Trim if self.passes(stream) => {
                Engine::IoUring
            }
            Operation::Transfer => self.engine,
            Operation::Trim if self.ring_trims => self.engine,
            Operation::Flush | Operation::Trim => Engine::Synchronous,
        }
    }

    /// Returns whether the requests of `stream` are passed through.
    pub(super) fn passes(&self, stream: &Stream) -> bool {
        self.commands.is_some_and(|limits| limits.contain(stream))
    }

    /// Returns the number of threads of a stream: with io_uring those that it names, with the
    /// synchronous engine one per request in flight. A load that writes each block once has one there.
    pub(super) fn threads(&self, stream: &Stream) -> u32 {
        match self.engine(stream) {
            Engine::IoUring => stream.threads,
            Engine::Synchronous if self.covering => 1,
            Engine::Synchronous => stream.total_depth(),
        }
    }

    /// Returns how many requests each thread of a stream can have in flight. In an open loop this
    /// follows from the rate, not from the queue depth.
    pub(super) fn slots(&self, stream: &Stream) -> u32 {
        let threads = self.threads(stream);
        if self.covering && self.engine(stream) == Engine::Synchronous {
            return 1;
        }
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
            // In this order: only a load with trims opens a ring to ask the kernel.
            has_trims && load.device.is_block() && ring::can_discard(file)
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use crate::control::run;
    use crate::load::{Device, Load};
    use crate::{Pool, RingFlags, Verification};
    use ssdgauge_core::{Access, Bytes, EndedBy, Engine, Recording, Stream, Until, Workload};
    use std::os::unix::fs::FileExt;
    use std::sync::Arc;

    /// Where io_uring is not available, as in many containers, the synchronous engine fills a target.
    #[test]
    fn a_load_that_writes_each_block_once_reaches_every_block_with_both_engines() {
        const BLOCK: usize = 4_096;
        // More than the portion of a byte limit that a thread claims at once.
        const BLOCKS: usize = 300;
        for engine in [Engine::IoUring, Engine::Synchronous] {
            for access in [Access::Sequential, Access::Random] {
                let file = tempfile::tempfile().unwrap();
                file.set_len((BLOCKS * BLOCK) as u64).unwrap();
                let file = Arc::new(file);
                let span = Bytes((BLOCKS * BLOCK) as u64);
                let stream = Stream {
                    access,
                    block_size: Bytes(BLOCK as u64),
                    read_percent: 0,
                    queue_depth: 8,
                    threads: 1,
                    span,
                    ..Stream::default()
                };
                let load = Load {
                    device: &Device::File(file.clone()),
                    workload: &Workload { engine, streams: vec![stream] },
                    until: &Until { time: None, bytes: Some(span) },
                    seed: 1,
                    covering: true,
                    pool: &Pool::default(),
                    verification: &Verification::new(1),
                    ring_flags: RingFlags::Plain,
                    pass_through: None,
                    stop_requested: &Arc::default(),
                    log: None,
                };
                let outcome = run(load, &mut Recording::default()).unwrap();
                assert_eq!((outcome.by, outcome.ios[1]), (EndedBy::Bytes, BLOCKS as u64));
                let mut block = vec![0; BLOCK];
                for number in 0..BLOCKS {
                    file.read_exact_at(&mut block, (number * BLOCK) as u64).unwrap();
                    let is_written = block.iter().any(|byte| *byte != 0);
                    assert!(is_written, "{engine:?}, {access:?}: block {number}");
                }
            }
        }
    }
}
