//! The boot of the machine, within which its clock changes only where the time of day is set.

use rustix::time::{ClockId, clock_gettime};
use ssdgauge_lab::Boot;

/// Returns the boot of the machine; `None` where the kernel does not name it.
pub(crate) fn boot() -> Option<Boot> {
    let id = std::fs::read_to_string("/proc/sys/kernel/random/boot_id").ok()?;
    let since = clock_gettime(ClockId::Boottime);
    let since_ms = since.tv_sec * 1_000 + since.tv_nsec / 1_000_000;
    let unix_ms = jiff::Timestamp::now().as_millisecond() - since_ms;
    Some(Boot { id: id.trim().to_owned(), unix_ms })
}
