//! The limit and the counters of temperature that a drive states.

use super::HealthMonitor;
use crate::query::{self, CommandSet, feature};
use crate::state::thermal_management;
use ssdgauge_core::ThermalReport;

impl HealthMonitor {
    /// Asks the drive for the limit and the counters of its temperature; `None` where it does not respond.
    pub fn thermal_report(&mut self) -> Option<ThermalReport> {
        let drive = self.pass_through.as_ref();
        match self.command_set {
            CommandSet::Nvme => {
                let health = query::health(drive).ok()?;
                let limit_c = *self.limit_c.get_or_insert_with(|| {
                    let controller = query::controller(drive).ok()?;
                    let set = controller
                        .host_thermal_management
                        .then(|| query::feature_value(drive, feature::THERMAL, &mut []).ok());
                    let (light, heavy) = set.flatten().map_or((None, None), thermal_management);
                    let limits = [controller.warning_c, controller.critical_c, light, heavy];
                    limits.into_iter().flatten().min_by(f64::total_cmp)
                });
                let sum = |one: u32, other: u32| Some(u64::from(one) + u64::from(other));
                Some(ThermalReport {
                    limit_c,
                    transitions: sum(health.light_throttles, health.heavy_throttles),
                    throttled_s: sum(health.light_throttle_s, health.heavy_throttle_s),
                    above_minutes: sum(health.warning_minutes, health.critical_minutes),
                })
            }
            CommandSet::Ata => {
                let statistics = query::ata_statistics(drive).ok()?;
                let above_minutes = statistics.overheated_minutes;
                Some(ThermalReport { above_minutes, ..ThermalReport::default() })
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::{self, Fixture, SysfsTree};
    use std::sync::Arc;

    #[test]
    fn the_lowest_threshold_and_the_counters_are_those_of_the_drive() {
        let tree = SysfsTree::new();
        let place = tree.nvme_without_multipath("16.0 GT/s PCIe", "4");
        let monitor = |drive| HealthMonitor::for_device(&place, Arc::new(drive)).unwrap();
        let mut drive = Fixture::nvme();
        let mut smart = fixture::smart();
        // Minutes above WCTEMP and CCTEMP at bytes 192 and 196, transitions from 216, seconds from 224 on.
        for (at, value) in [(192, 2), (196, 1), (216, 5), (220, 1), (224, 30), (228, 4)] {
            smart[at..at + 4].copy_from_slice(&u32::to_le_bytes(value));
        }
        drive.logs.insert(2, smart);
        let controller = query::controller(&drive).unwrap();
        let mut limits = vec![controller.warning_c, controller.critical_c];
        if controller.host_thermal_management {
            let set = query::feature_value(&drive, feature::THERMAL, &mut []).unwrap();
            limits.extend(<[_; 2]>::from(thermal_management(set)));
        }
        let lowest = limits.into_iter().flatten().reduce(f64::min);
        assert!(lowest.is_some());
        let expected = ThermalReport {
            limit_c: lowest,
            transitions: Some(6),
            throttled_s: Some(34),
            above_minutes: Some(3),
        };
        assert_eq!(monitor(drive).thermal_report(), Some(expected));
        assert_eq!(monitor(Fixture::without_responses()).thermal_report(), None);
    }
}
