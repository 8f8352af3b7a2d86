//! Processes: processor time and kernel workers of this one, shared open files and stops of others.

use rustix::process::{Pid, Signal, kill_process};
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

/// Returns whether `process` is stopped, by a signal or by a tracer (proc_pid_stat(5)). False where it has ended or
/// is hidden.
pub fn is_stopped(process: Pid) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{}/stat", process.as_raw_nonzero()));
    // The name, in parentheses, may contain any character.
    let state = stat.ok().and_then(|stat| stat.rsplit_once(") ")?.1.chars().next());
    matches!(state, Some('T' | 't'))
}

/// Continues `process` and its children where signals have stopped them. A process of another user is reached
/// as well within one session (kill(2)); errors count as no effect.
pub fn continue_stopped(process: Pid) {
    let number = process.as_raw_nonzero();
    let children = std::fs::read_to_string(format!("/proc/{number}/task/{number}/children"));
    let children = children.unwrap_or_default();
    let children = children.split_whitespace().filter_map(|word| Pid::from_raw(word.parse().ok()?));
    for one in children.chain([process]).filter(|one| is_stopped(*one)) {
        let _ = kill_process(one, Signal::CONT);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stopped_process_and_its_stopped_child_continue() {
        // The shell prints the number of its child and waits for it.
        let mut shell = std::process::Command::new("sh")
            .args(["-c", "sleep 600 & echo $!; wait"])
            .stdout(std::process::Stdio::piped())
            .spawn()
            .unwrap();
        let mut line = String::new();
        let mut output = std::io::BufReader::new(shell.stdout.take().unwrap());
        std::io::BufRead::read_line(&mut output, &mut line).unwrap();
        let both = [Pid::from_child(&shell), Pid::from_raw(line.trim().parse().unwrap()).unwrap()];
        let wait_until = |is_stopped_now: bool| {
            let since = std::time::Instant::now();
            while both.iter().any(|one| is_stopped(*one) != is_stopped_now) {
                assert!(since.elapsed().as_secs() < 60, "{both:?}");
                std::thread::sleep(std::time::Duration::from_millis(1));
            }
        };
        wait_until(false);
        both.iter().for_each(|one| kill_process(*one, Signal::STOP).unwrap());
        wait_until(true);
        continue_stopped(both[0]);
        wait_until(false);
        kill_process(both[1], Signal::KILL).unwrap();
        shell.wait().unwrap();
        assert!(!is_stopped(both[0]));
    }

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
