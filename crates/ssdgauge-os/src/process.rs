//! What the kernel shows of this process.

use rustix::time::{ClockId, clock_gettime};

/// Returns whether the kernel runs workers of io_uring for this process.
pub fn has_io_workers() -> bool {
    let Ok(tasks) = std::fs::read_dir("/proc/self/task") else { return false };
    tasks.flatten().any(|task| {
        let name = std::fs::read_to_string(task.path().join("comm")).unwrap_or_default();
        name.starts_with("iou-wrk-")
    })
}

/// Returns the processor time of the whole process so far, in nanoseconds, workers included.
pub fn cpu_time() -> u64 {
    let time = clock_gettime(ClockId::ProcessCPUTime);
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}
