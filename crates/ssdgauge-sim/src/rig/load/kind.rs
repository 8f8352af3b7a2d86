//! What kind a load is: plain, or with what its loop needs branches for.
//!
//! A load with anything that a plain one lacks must never count as plain.

use super::{Load, Thread};
use crate::drive::Drive;
use crate::rig::fault_injection::InjectedFaults;
use ssdgauge_core::Data;

impl Load {
    /// Returns whether it is plain: a closed loop of reads and writes of one size, without pauses, flushes,
    /// injected faults and a host's side, of which no log is kept, which the drive does not constrain and whose data it
    /// stores as it is. Its loop is compiled separately, without the branches for all of these.
    pub(crate) fn is_plain(&self, drive: &Drive, faults: &InjectedFaults) -> bool {
        let is_constrained = drive.is_constrained(self.threads.iter().any(|thread| thread.sync));
        let is_varied = self.is_open()
            || self.has_commits
            || self.is_noted
            || is_constrained
            || self.tells_data(drive)
            || self.host.is_some();
        let used = self.records.iter().filter(|record| record.is_used);
        let transfers = used.clone().all(|record| record.direction.is_transfer());
        !is_varied && transfers && self.log.is_none() && faults.are_none()
    }

    /// Returns whether some requests write data that takes less flash on `drive`.
    pub(super) fn tells_data(&self, drive: &Drive) -> bool {
        let differs = |thread: &Thread| thread.data != Data::Incompressible;
        drive.ftl.reduces() && self.threads.iter().any(differs)
    }
}
