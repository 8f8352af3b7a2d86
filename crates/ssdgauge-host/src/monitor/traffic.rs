//! The traffic of other programs, by the counters of the kernel, without a load of this program.

use super::counters::{Counters, while_idle};
use super::host_checks::{CheckState, HostCheck};
use std::path::Path;
use std::time::Duration;

/// Watches the block device whose folder in sysfs is `folder` for `time`. The drive is not accessed.
pub(crate) fn watch(folder: &Path, is_block: bool, time: Duration) -> HostCheck {
    let before = Counters::read(folder);
    std::thread::sleep(time);
    let state = match (before, Counters::read(folder)) {
        (Some(before), Some(after)) => match while_idle(&before, &after, time, is_block) {
            Some(finding) => CheckState::Found(finding),
            None => CheckState::Fine(format!("none within {} s", time.as_secs_f64())),
        },
        (None, _) | (_, None) => {
            CheckState::Unknown("the kernel does not count its requests (queue/iostats)".into())
        }
    };
    HostCheck { name: "other-traffic", state }
}
