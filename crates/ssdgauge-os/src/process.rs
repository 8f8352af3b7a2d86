//! Processes: processor time and kernel workers of this one, shared open files of others.

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

/// The type of comparison of kcmp(2) that compares tables of open files.
const KCMP_FILES: libc::c_long = 2;

/// Returns whether the threads `a` and `b`, of any process, have one table of open files in common;
/// `None` where the kernel does not tell, for want of the call or of privileges.
#[allow(unsafe_code)]
pub fn share_open_files(a: u32, b: u32) -> Option<bool> {
    // SAFETY: kcmp takes five integers and returns one; it reads and writes no memory of this
    // process.
    let order = unsafe {
        libc::syscall(
            libc::SYS_kcmp,
            libc::c_long::from(a),
            libc::c_long::from(b),
            KCMP_FILES,
            0,
            0,
        )
    };
    // 0: equal; 1 and 2: an order of two different tables; 3: different, without an order.
    match order {
        0 => Some(true),
        1..=3 => Some(false),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn threads_of_one_process_share_their_open_files_and_another_process_has_its_own() {
        let own = std::process::id();
        let mut child = std::process::Command::new("sleep").arg("60").spawn().unwrap();
        let other = share_open_files(own, child.id());
        child.kill().unwrap();
        child.wait().unwrap();
        // Without the call in the kernel both are unknown.
        match share_open_files(own, own) {
            Some(same) => assert!(same && other != Some(true)),
            None => assert_eq!(other, None),
        }
    }
}
