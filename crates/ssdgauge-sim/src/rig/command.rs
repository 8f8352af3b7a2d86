//! Flushes and trims among the requests of a load.

use crate::drive::Drive;
use crate::time::SimTime;
use ssdgauge_core::{Direction, Request};

/// Submits a flush or a trim at `now`; returns when it is completed.
// Not inlined: few loads have them.
#[cold]
#[inline(never)]
pub(super) fn command(now: SimTime, request: Request, bytes: u64, drive: &mut Drive) -> SimTime {
    match request.direction {
        Direction::Trim => drive.trim(now, request.offset, bytes),
        Direction::Read | Direction::Write | Direction::Flush => drive.flush(now),
    }
}
