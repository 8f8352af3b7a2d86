//! Purge and trim of the virtual drive.

use super::VirtualRig;
use super::validation::check_range;
use crate::drive::Drive;
use crate::profile::PAGE;
use ssdgauge_core::{Bytes, Extents, Nanos, Prepared, RigError};

impl VirtualRig {
    /// Lets `elapsed` pass while the drive executes a command that is not a request.
    pub(super) fn pass_occupied(&mut self, elapsed: Nanos) {
        self.drive.idle_until(self.now);
        self.now += elapsed.0;
        self.drive.occupy_until(self.now);
        self.drive.advance_power_thermal(self.now);
    }

    pub(super) fn purge(&mut self) -> Prepared {
        self.contents = None;
        self.written.clear();
        (self.filled, self.reached) = (Extents::default(), Extents::default());
        // A setting of the host, which a purge does not reset.
        let cache_is_on = self.drive.ftl.cache_is_on();
        let fresh = Drive::new(self.spec.profile.clone(), self.geometry, self.seed);
        let purged = std::mem::replace(&mut self.drive, fresh);
        self.drive.ftl.switch_cache(cache_is_on);
        self.drive.inherit(purged, self.now);
        // All dies erase in parallel, each its blocks one after the other.
        let blocks = self.geometry.superblocks + self.geometry.slc_superblocks;
        let erase = self.spec.profile.nand.t_bers_us * 1e3 * f64::from(blocks);
        let elapsed = Nanos(erase as u64);
        self.pass_occupied(elapsed);
        Prepared { method: "virtual purge".into(), written: Bytes(0), elapsed, stopped: false }
    }

    pub(super) fn trim(&mut self, offset: Bytes, span: Bytes) -> Result<Prepared, RigError> {
        check_range(&self.info, offset, span, Bytes(1))?;
        // Only whole pages are deallocated; NVMe leaves the rest to the drive.
        let first = offset.0.div_ceil(PAGE);
        let end = (offset.0 + span.0) / PAGE;
        self.drive.ftl.trim(first as u32, end.saturating_sub(first) as u32);
        self.drive.ftl.verify();
        self.written.retain(|page| !(first..end).contains(&u64::from(*page)));
        self.filled.remove(first * PAGE, end * PAGE);
        self.reached.remove(first * PAGE, end * PAGE);
        let elapsed = Nanos(self.drive.trim_time(span.0));
        self.pass_occupied(elapsed);
        Ok(Prepared { method: "virtual trim".into(), written: Bytes(0), elapsed, stopped: false })
    }
}
