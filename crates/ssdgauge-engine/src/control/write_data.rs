//! The data that the threads of a workload write.

use super::sizing::{slots, thread_count};
use crate::load::{Device, Load};
use crate::verification::{self, WriteBuffer};
use ssdgauge_core::{Data, Engine, Stream};
use ssdgauge_os::memory::Region;
use std::sync::Arc;

/// Distributes the pool among the writing threads, in equal parts that no two threads share.
pub(super) struct WriteData<'a> {
    load: &'a Load<'a>,
    pool: Option<Arc<Region>>,
    zeros: Option<Arc<Region>>,
    /// Parts of the pool that have been given to threads.
    assigned: usize,
    parts: usize,
}

impl<'a> WriteData<'a> {
    /// Returns the data of all writing threads of `load`; fails where there is no memory for it.
    pub(super) fn new(load: &'a Load<'a>, engine: Engine) -> Result<WriteData<'a>, String> {
        let mut data = WriteData { load, pool: None, zeros: None, assigned: 0, parts: 0 };
        let (mut part_length, mut zeros_length) = (0, 0);
        let writers = load.workload.streams.iter().filter(|stream| stream.writes());
        for stream in writers.filter(|_| matches!(load.device, Device::File(_))) {
            let block_size = stream.block_size.0 as usize;
            match stream.data {
                Data::Incompressible => {
                    data.parts += thread_count(stream, engine) as usize;
                    let slots = slots(stream, engine) as usize;
                    part_length = part_length.max(verification::pool_length(1, block_size, slots));
                }
                Data::Zeros => zeros_length = zeros_length.max(block_size),
            }
        }
        if part_length > 0 {
            data.pool = Some(load.pool.get(data.parts * part_length)?);
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
                let part = (self.assigned, self.parts);
                assert!(part.0 < part.1, "part {} of {} of the pool", part.0, part.1);
                self.assigned += 1;
                let headers = self.load.verification.header_writer(part.0);
                Some(WriteBuffer::new(pool, part, block_size, depth, headers))
            }
        }
    }
}
