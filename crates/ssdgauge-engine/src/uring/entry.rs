//! The entries of a ring: one for each request.

use super::RingLoop;
use crate::ring::{Resources, discard_entry};
use io_uring::{opcode, squeue, types};
use ssdgauge_core::{Direction, Request};

impl RingLoop {
    /// Returns the submission entry of a request.
    #[inline(always)]
    pub(super) fn entry(
        &mut self,
        resources: &Resources,
        slot: u16,
        request: Request,
    ) -> squeue::Entry {
        let length = self.block_size;
        let Some(file) = self.file else {
            return opcode::Nop::new().build().user_data(u64::from(slot));
        };
        if !request.direction.is_transfer() {
            return discard(resources, file, request, length).user_data(u64::from(slot));
        }
        let buffer = match (request.direction, &mut self.write_buffer) {
            (Direction::Write, Some(write_buffer)) => write_buffer.prepare(slot, request.offset),
            _ => resources.reads.at(usize::from(slot) * length as usize),
        };
        // Buffer 0 holds the reads, buffer 1 the data of the writes (`Ring::new`).
        let index = request.direction.side() as u16;
        macro_rules! build {
            ($descriptor:expr) => {
                match (request.direction, resources.fixed[usize::from(index)]) {
                    (Direction::Read, true) => {
                        opcode::ReadFixed::new($descriptor, buffer, length, index)
                            .offset(request.offset)
                            .build()
                    }
                    (Direction::Read, false) => opcode::Read::new($descriptor, buffer, length)
                        .offset(request.offset)
                        .build(),
                    (_, true) => opcode::WriteFixed::new($descriptor, buffer, length, index)
                        .offset(request.offset)
                        .rw_flags(self.write_flags)
                        .build(),
                    (_, false) => opcode::Write::new($descriptor, buffer, length)
                        .offset(request.offset)
                        .rw_flags(self.write_flags)
                        .build(),
                }
            };
        }
        let entry = match resources.fixed_file {
            true => build!(types::Fixed(0)),
            false => build!(types::Fd(file)),
        };
        entry.user_data(u64::from(slot))
    }
}

/// Returns the entry that trims the block of `request`.
#[cold]
fn discard(resources: &Resources, file: i32, request: Request, length: u32) -> squeue::Entry {
    debug_assert_eq!(request.direction, Direction::Trim, "a ring sends no flush");
    let file = (!resources.fixed_file).then_some(file);
    discard_entry(file, request.offset, u64::from(length))
}
