//! Processor time and kernel workers of this process.

use rustix::time::{ClockId, clock_gettime};

/// Returns whether the kernel runs io_uring workers (io-wq) for this process: it creates them when
/// a request would block at submission.
pub fn has_io_workers() -> bool {
    let Ok(tasks) = std::fs::read_dir("/proc/self/task") else { return false };
    tasks.flatten().any(|task| {
        let name = std::fs::read_to_string(task.path().join("comm")).unwrap_or_default();
        name.starts_with("iou-wrk-")
    })
}

/// Returns the processor time of the process so far, user and system, in nanoseconds. io_uring
/// workers are threads of the process, so their time is included.
pub fn cpu_time() -> u64 {
    let time = clock_gettime(ClockId::ProcessCPUTime);
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}
