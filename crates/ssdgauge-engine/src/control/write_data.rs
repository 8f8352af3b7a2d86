//! The data that the threads of a workload write.

use super::sizing::Sizing;
use crate::load::{Device, Load};
use crate::verification::{self, WriteBuffer};
use ssdgauge_core::{Data, Stream};
use ssdgauge_os::memory::Region;
use std::sync::Arc;

/// Distributes the pool among the writing threads, in parts that no two threads share. Each part
/// has a block for every slot of its thread, and an equal share of the rest.
pub(super) struct WriteData<'a> {
    load: &'a Load<'a>,
    pool: Option<Arc<Region>>,
    zeros: Option<Arc<Region>>,
    /// Threads that have a part of the pool.
    assigned: usize,
    /// The end of the last part, in bytes of the pool.
    end: usize,
    /// The threads that share the pool.
    parts: usize,
    /// The sum of the least lengths of all parts.
    least: usize,
}

impl<'a> WriteData<'a> {
    /// Returns the data of all writing threads of `load`; fails where there is no memory for it.
    pub(super) fn new(load: &'a Load<'a>, sizing: Sizing) -> Result<WriteData<'a>, String> {
        let mut data =
            WriteData { load, pool: None, zeros: None, assigned: 0, end: 0, parts: 0, least: 0 };
        let mut zeros_length = 0;
        let writers = load.workload.streams.iter().filter(|stream| stream.writes());
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
            }
        }
        if data.parts > 0 {
            data.pool = Some(load.pool.get(data.least)?);
        }
        if zeros_length > 0 {
            let cause = |error| format!("no memory for the data to write: {error}");
            data.zeros = Some(Arc::new(Region::new(zeros_length).map_err(cause)?));
        }
        Ok(data)
    }

    /// Returns the write buffer of the next thread of `stream`; `None` where it only reads.
    pub(super) fn next(&mut self, stream: &Stream, depth: usize) -> Option<WriteBuffer> {
        let block_size = stream.block_size.0 as usize;
        match stream.data {
            _ if !stream.writes() => None,
            Data::Zeros => self.zeros.clone().map(|zeros| WriteBuffer::zeros(zeros, block_size)),
            Data::Incompressible => {
                let pool = self.pool.clone()?;
                assert!(self.assigned < self.parts, "one part for each of {} threads", self.parts);
                let rest = (pool.length() - self.least) / self.parts;
                let length =
                    verification::part_length(block_size, depth) + verification::whole(rest);
                let part = self.end..self.end + length;
                let headers = self.load.verification.header_writer(self.assigned);
                (self.assigned, self.end) = (self.assigned + 1, part.end);
                Some(WriteBuffer::new(pool, part, block_size, depth, headers))
            }
        }
    }
}
