//! The data that the threads of a workload write.

use super::sizing::{crew_size, slots};
use crate::load::{Device, Load};
use crate::verification::{self, WriteBuffer};
use ssdgauge_core::{Data, Engine, Stream};
use ssdgauge_os::memory::Region;
use std::sync::Arc;

/// Deals parts of the pool to the threads that write.
pub(super) struct Inks<'a> {
    load: &'a Load<'a>,
    pool: Option<Arc<Region>>,
    zeros: Option<Arc<Region>>,
    dealt: usize,
    parts: usize,
}

impl<'a> Inks<'a> {
    pub(super) fn new(load: &'a Load<'a>, engine: Engine) -> Result<Inks<'a>, String> {
        let mut inks = Inks { load, pool: None, zeros: None, dealt: 0, parts: 0 };
        let (mut place, mut blank) = (0, 0);
        let writers = load.workload.streams.iter().filter(|stream| stream.writes());
        for stream in writers.filter(|_| matches!(load.device, Device::File(_))) {
            let block_size = stream.block_size.0 as usize;
            match stream.data {
                Data::Incompressible => {
                    inks.parts += crew_size(stream, engine) as usize;
                    place = place.max(verification::room(
                        1,
                        block_size,
                        slots(stream, engine) as usize,
                    ));
                }
                Data::Zeros => blank = blank.max(block_size),
            }
        }
        if place > 0 {
            inks.pool = Some(load.pool.get(inks.parts * place)?);
        }
        if blank > 0 {
            let cause = |error| format!("no memory for the data to write: {error}");
            inks.zeros = Some(Arc::new(Region::new(blank).map_err(cause)?));
        }
        Ok(inks)
    }

    /// Returns the write_buffer of the next thread of `stream`.
    pub(super) fn next(&mut self, stream: &Stream, depth: usize) -> Option<WriteBuffer> {
        let block_size = stream.block_size.0 as usize;
        match stream.data {
            _ if !stream.writes() => None,
            Data::Zeros => self.zeros.clone().map(|zeros| WriteBuffer::blank(zeros, block_size)),
            Data::Incompressible => {
                let pool = self.pool.clone()?;
                let part = (self.dealt, self.parts);
                self.dealt += 1;
                Some(WriteBuffer::of(
                    pool,
                    part,
                    block_size,
                    depth,
                    self.load.verification.header_writer(part.0),
                ))
            }
        }
    }
}
