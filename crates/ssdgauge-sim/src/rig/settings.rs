//! Settings of the virtual drive: power states and the write cache.

use super::VirtualRig;
use super::instruments::no_power_state;
use ssdgauge_core::{Bytes, Nanos, PowerSaving, Prepared, Sink, WriteCache};

impl VirtualRig {
    pub(super) fn set_power_saving(
        &mut self,
        saving: PowerSaving,
        sink: &mut dyn Sink,
    ) -> Prepared {
        let method = match self.drive.set_power_saving(saving, self.now) {
            true => format!("virtual {saving}"),
            false => {
                sink.finding(no_power_state(saving));
                "none".into()
            }
        };
        Prepared { method, written: Bytes(0), elapsed: Nanos::ZERO, stopped: false }
    }

    /// The write cache of a virtual drive is initially on.
    pub(super) fn switch_cache(&mut self, switch: WriteCache) -> Prepared {
        let method = match (self.spec.profile.host_interface.buffer_is_safe, switch) {
            // Drives with power-loss protection report no volatile write cache (NVMe: VWC).
            (true, _) => "none: the buffer outlives a loss of power",
            (false, WriteCache::Off) => {
                self.drive.ftl.switch_cache(false);
                "virtual write cache off"
            }
            (false, WriteCache::On | WriteCache::AsFound) => {
                self.drive.ftl.switch_cache(true);
                "virtual write cache on"
            }
        };
        let (written, elapsed) = (Bytes(0), Nanos::ZERO);
        Prepared { method: method.into(), written, elapsed, stopped: false }
    }
}
