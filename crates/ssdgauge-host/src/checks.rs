//! The conditions of a run before it: what `doctor` shows is what a run records.
//!
//! Only files of the kernel are read; no drive is opened, and nothing is changed.

use crate::monitor::{self, CheckState, HostCheck};
use ssdgauge_os::sysfs::{attribute, block_device_of};
use std::path::Path;
use std::time::Duration;

/// The time for which other programs are watched. Chosen: a second is short enough to wait for, and shows a
/// program that loads the drive or the processors.
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

/// Watches for a second what other programs do to the processors and, where `device` has the number of a block
/// device or of the one below a file system, to that device; its second value says whether a drive is tested. Names
/// other runs of this program.
pub fn check_activity(device: Option<(u64, bool)>) -> Vec<HostCheck> {
    let folder = device.and_then(|(number, _)| block_device_of(number));
    let is_block = device.is_some_and(|(_, is_block)| is_block);
    let root = Path::new("/");
    let mut checks = monitor::watch_activity(root, folder.as_deref(), is_block, WATCHED);
    checks.push(monitor::other_runs(root, device.map(|(number, _)| number)));
    checks
}

/// Returns when the kernel gives huge pages to the data of requests, such as `madvise`: they save the processor
/// look-ups of addresses. `None` where the kernel has none.
pub fn huge_pages() -> Option<String> {
    let text = attribute(Path::new(HUGE_PAGES))?;
    Some(text.split_once('[')?.1.split_once(']')?.0.to_owned())
}

/// The setting of [`huge_pages`].
pub const HUGE_PAGES: &str = "/sys/kernel/mm/transparent_hugepage/enabled";
