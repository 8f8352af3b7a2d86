//! The data that the threads of a workload write.

use super::sizing::Sizing;
use crate::load::{Device, Load};
use crate::verification::{self, WriteBuffer};
use ssdgauge_core::{Data, Random, Stream};
use ssdgauge_os::memory::Region;
use std::collections::VecDeque;
use std::sync::Arc;

/// The bytes of a block that a drive may compress or store once.
const BLOCK: usize = 4_096;
/// The random numbers of the block that is repeated, which no thread has.
const REPEATED: u64 = u64::MAX;

/// Distributes the pool among the writing threads, in parts that no two threads share. Each part
/// has a block for every slot of its thread, and an equal share of the rest. Data that is not random is prepared
/// here as well: nothing but headers is written in the loop over requests.
pub(super) struct WriteData<'a> {
    load: &'a Load<'a>,
    pool: Option<Arc<Region>>,
    zeros: Option<Arc<Region>>,
    repeated: Option<Arc<Region>>,
    /// Threads that have a part of the pool.
    assigned: usize,
    /// The memory of each thread that writes half random data and was not started yet.
    halves: VecDeque<Region>,
    /// The end of the last part, in bytes of the pool.
    end: usize,
    /// The threads that share the pool.
    parts: usize,
    /// The sum of the minimum lengths of all parts.
    least: usize,
}

impl<'a> WriteData<'a> {
    /// Returns the data of all writing threads of `load`; fails where there is no memory for it.
    pub(super) fn new(load: &'a Load<'a>, sizing: Sizing) -> Result<WriteData<'a>, String> {
        let (pool, zeros, repeated) = (None, None, None);
        let halves = VecDeque::new();
        let (assigned, end, parts, least) = (0, 0, 0, 0);
        let mut data =
            WriteData { load, pool, zeros, repeated, halves, assigned, end, parts, least };
        let (mut zeros_length, mut repeated_length) = (0, 0);
        let writers = load.workload.streams.iter().filter(|stream| stream.writes());
        // NOP requests carry no data.
        for stream in writers.filter(|_| matches!(load.device, Device::File(_))) {
            let block_size = stream.block_size.0 as usize;
            match stream.data {
                Data::Incompressible => {
                    let threads = sizing.threads(stream) as usize;
                    let slots = sizing.slots(stream) as usize;
                    data.parts += threads;
                    data.least += threads * verification::part_length(block_size, slots);
                }
                Data::Zeros => zeros_length = zeros_length.max(block_size),
                Data::Repeated => repeated_length = repeated_length.max(block_size),
                Data::Half => {
                    for _ in 0..sizing.threads(stream) {
                        let slots = sizing.slots(stream) as usize;
                        let number = data.halves.len() as u64;
                        data.halves.push_back(half_random(load, block_size, slots, number)?);
                    }
                }
            }
        }
        if data.parts > 0 {
            data.pool = Some(load.pool.get(data.least)?);
        }
        if zeros_length > 0 {
            data.zeros = Some(Arc::new(memory(zeros_length)?));
        }
        if repeated_length > 0 {
            data.repeated = Some(repeated_blocks(load, repeated_length)?);
        }
        Ok(data)
    }

    /// Returns the write buffer of the next thread of `stream`; `None` where it only reads.
    pub(super) fn next(&mut self, stream: &Stream, depth: usize) -> Option<WriteBuffer> {
        let block_size = stream.block_size.0 as usize;
        let constant = |data: &Option<Arc<Region>>| {
            // No headers are written into it, so that all threads share one copy.
            data.clone().map(|data| WriteBuffer::constant(data, block_size))
        };
        match stream.data {
            _ if !stream.writes() => None,
            Data::Zeros => constant(&self.zeros),
            Data::Repeated => constant(&self.repeated),
            Data::Half => self.half(block_size, depth),
            Data::Incompressible => self.part(block_size, depth),
        }
    }

    /// Returns a part of the pool.
    fn part(&mut self, block_size: usize, depth: usize) -> Option<WriteBuffer> {
        let pool = self.pool.clone()?;
        assert!(self.assigned < self.parts, "one part for each of {} threads", self.parts);
        let rest = (pool.length() - self.least) / self.parts;
        let length = verification::part_length(block_size, depth) + verification::whole(rest);
        let part = self.end..self.end + length;
        let headers = self.load.verification.header_writer(self.assigned);
        (self.assigned, self.end) = (self.assigned + 1, part.end);
        Some(WriteBuffer::new(pool, part, block_size, depth, headers))
    }

    /// Returns memory with half random data, in which a header makes each block differ.
    fn half(&mut self, block_size: usize, depth: usize) -> Option<WriteBuffer> {
        let region = self.halves.pop_front()?;
        // After the numbers of the threads that write from the pool: headers of two threads never
        // agree.
        let number = self.parts + self.halves.len();
        let headers = self.load.verification.header_writer(number).unverified();
        let whole = 0..region.length();
        Some(WriteBuffer::new(Arc::new(region), whole, block_size, depth, headers))
    }
}

/// Returns memory for `slots` requests of `block_size`, of which the first half of each block is random.
fn half_random(
    load: &Load<'_>,
    block_size: usize,
    slots: usize,
    number: u64,
) -> Result<Region, String> {
    let mut region = memory(verification::part_length(block_size, slots))?;
    let mut random = Random::new(load.pool.seed(), number);
    // In blocks of 4 KiB, or of the request where that is smaller: a drive that compresses does so
    // by unit, and each unit has to be half compressible.
    for block in region.words_mut().chunks_mut(block_size.min(BLOCK) / 8) {
        let half = block.len() / 2;
        block[..half].iter_mut().for_each(|word| *word = random.next_u64());
    }
    Ok(region)
}

/// Returns `length` bytes of one random block again and again.
fn repeated_blocks(load: &Load<'_>, length: usize) -> Result<Arc<Region>, String> {
    let mut region = memory(length)?;
    for block in region.words_mut().chunks_mut(BLOCK / 8) {
        let mut random = Random::new(load.pool.seed(), REPEATED);
        block.iter_mut().for_each(|word| *word = random.next_u64());
    }
    Ok(Arc::new(region))
}

fn memory(length: usize) -> Result<Region, String> {
    Region::new(length).map_err(|error| format!("no memory for the data to write: {error}"))
}
