//! Threads: timers, interrupting a system call, the user of the process, and calls with a time
//! limit.

use std::fs::File;
use std::io;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::sync::{Arc, Once};
use std::time::{Duration, Instant};

/// Lets the kernel wake the calling thread without gathering its timers with those of others.
pub fn precise_timers() {
    // SAFETY: the call takes numbers only and concerns this thread alone.
    unsafe { libc::prctl(libc::PR_SET_TIMERSLACK, 1) };
}

extern "C" fn nothing(_: libc::c_int) {}

/// Makes [`kick`] interrupt a waiting system call instead of ending the process.
pub fn allow_kicks() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        // SAFETY: the handler does nothing at all, and a zeroed action without SA_RESTART is
        // valid: interrupted calls return EINTR, which the engines expect.
        unsafe {
            let mut action: libc::sigaction = std::mem::zeroed();
            action.sa_sigaction = nothing as extern "C" fn(libc::c_int) as usize;
            libc::sigaction(libc::SIGUSR2, &action, std::ptr::null_mut());
        }
    });
}

/// Interrupts the system call in which thread `tid` of this process waits, if it does.
pub fn kick(tid: i32) {
    // SAFETY: tgkill takes numbers only; a thread that is gone gives an error that tells nothing.
    unsafe { libc::syscall(libc::SYS_tgkill, libc::getpid(), tid, libc::SIGUSR2) };
}

/// Returns the kernel's number of the calling thread.
pub fn thread_id() -> i32 {
    // SAFETY: gettid has no arguments and cannot fail.
    unsafe { libc::gettid() }
}

/// Becomes the user and the group of these numbers, with no other groups, in every thread.
pub fn become_user(user: u32, group: u32) -> io::Result<()> {
    // SAFETY: the calls take numbers only; a list of no groups needs no memory.
    let failed = unsafe {
        libc::setgroups(0, std::ptr::null()) != 0
            || libc::setresgid(group, group, group) != 0
            || libc::setresuid(user, user, user) != 0
    };
    if failed { Err(io::Error::last_os_error()) } else { Ok(()) }
}

/// Runs `work` on a thread of its own, since a drive that hangs would never let go of ours.
/// Returns `None` where it takes longer than `limit`.
pub fn within<T: Send + 'static>(
    limit: Duration,
    file: &Arc<File>,
    work: impl FnOnce(&File) -> io::Result<T> + Send + 'static,
) -> Option<io::Result<T>> {
    let (sender, done) = channel();
    let file = file.clone();
    let body = move || {
        let _ = sender.send(work(&file));
    };
    if let Err(error) = std::thread::Builder::new().name("ssdgauge-mark".into()).spawn(body) {
        return Some(Err(error));
    }
    let since = Instant::now();
    match done.recv_timeout(limit.saturating_sub(since.elapsed())) {
        Ok(result) => Some(result),
        Err(RecvTimeoutError::Timeout) => None,
        Err(RecvTimeoutError::Disconnected) => Some(Err(io::ErrorKind::Other.into())),
    }
}

/// Returns the processors that this process may use.
pub fn allowed_processors() -> Vec<usize> {
    let allowed = rustix::thread::sched_getaffinity(None).unwrap_or_default();
    (0..rustix::thread::CpuSet::MAX_CPU).filter(|cpu| allowed.is_set(*cpu)).collect()
}

/// Pins the calling thread to `processor`, if there is one.
pub fn pin(processor: Option<usize>) {
    if let Some(processor) = processor {
        let mut one = rustix::thread::CpuSet::new();
        one.set(processor);
        // A thread that cannot be pinned runs all the same.
        let _ = rustix::thread::sched_setaffinity(None, &one);
    }
}
