//! The conditions of a run before it: what `doctor` shows is what a run records.
//!
//! Only files of the kernel are read; no drive is opened, and nothing is changed.

use crate::monitor::{self, CheckState, HostCheck};
use ssdgauge_os::sysfs::{attribute, block_device_of};
use std::path::Path;
use std::time::Duration;

/// The time for which a drive is watched for traffic of others. Chosen: a second is short enough to wait for,
/// and shows a program that loads the drive.
const WATCHED: Duration = Duration::from_secs(1);

/// Checks the settings and the facilities of this machine.
pub fn check_machine() -> Vec<HostCheck> {
    let rings = match ssdgauge_engine::check_rings() {
        Some(finding) => CheckState::Found(finding),
        None => CheckState::Fine("available".into()),
    };
    let mut checks = monitor::check_machine(Path::new("/"));
    checks.push(HostCheck { name: "io-uring", state: rings });
    checks
}

/// Checks the block device `number`, or the one below the file system with this number. `None` where
/// there is none, as below a file system in memory.
pub fn check_device(number: u64, is_block: bool) -> Option<Vec<HostCheck>> {
    block_device_of(number)?;
    Some(monitor::check_device(Path::new("/"), number, is_block))
}

/// Watches the same device for traffic of other programs.
pub fn check_traffic(number: u64, is_block: bool) -> Option<HostCheck> {
    let folder = block_device_of(number)?;
    Some(monitor::watch_traffic(&folder, is_block, WATCHED))
}

/// Returns when the kernel gives huge pages to the data of requests, such as `madvise`: they save the processor
/// look-ups of addresses. `None` where the kernel has none.
pub fn huge_pages() -> Option<String> {
    let text = attribute(Path::new(HUGE_PAGES))?;
    Some(text.split_once('[')?.1.split_once(']')?.0.to_owned())
}

/// The setting of [`huge_pages`].
pub const HUGE_PAGES: &str = "/sys/kernel/mm/transparent_hugepage/enabled";
