//! Threads: timer slack, interruption of system calls, processors, user and group, calls with a
//! time limit.

use rustix::process::{getppid, parent_process_death_signal, set_parent_process_death_signal};
use std::fs::File;
use std::io;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::sync::{Arc, Once};
use std::time::{Duration, Instant};

/// Sets the timer slack of the calling thread to 1 ns.
///
/// By default the kernel delays timers by up to 50 µs to combine wake-ups: more than the latency
/// of many requests of an open loop.
pub fn precise_timers() {
    // SAFETY: the call takes numbers only and concerns only this thread.
    unsafe { libc::prctl(libc::PR_SET_TIMERSLACK, 1) };
}

extern "C" fn ignore_signal(_: libc::c_int) {}

/// Installs the handler that [`interrupt`] needs; without it the signal would end the process.
pub fn install_interrupt_handler() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        // SAFETY: the handler has no effect, and a zeroed action without SA_RESTART is valid:
        // interrupted calls return EINTR, which the engines expect.
        unsafe {
            let mut action: libc::sigaction = std::mem::zeroed();
            action.sa_sigaction = ignore_signal as extern "C" fn(libc::c_int) as usize;
            libc::sigaction(libc::SIGUSR2, &action, std::ptr::null_mut());
        }
    });
}

/// Interrupts the system call in which thread `tid` of this process waits, if it waits in one.
pub fn interrupt(tid: i32) {
    // SAFETY: tgkill takes numbers only. The error for a thread that has ended is of no interest.
    unsafe { libc::syscall(libc::SYS_tgkill, libc::getpid(), tid, libc::SIGUSR2) };
}

/// Returns the thread ID of the calling thread.
pub fn thread_id() -> i32 {
    // SAFETY: gettid has no arguments and cannot fail.
    unsafe { libc::gettid() }
}

/// Changes user and group of the whole process, without supplementary groups. libc applies each of
/// the calls to every thread. The signal at the end of the parent process stays as it was.
///
/// # Errors
/// The error of the kernel. Groups may have been changed where the user was not. `Interrupted` where
/// the parent process, whose end is a signal, has ended meanwhile.
pub fn become_user(user: u32, group: u32) -> io::Result<()> {
    let (signal, parent) = (parent_process_death_signal()?, getppid());
    // The user last: without the rights of root the groups could not be changed.
    // SAFETY: the calls take numbers only; an empty list of groups needs no memory.
    let failed = unsafe {
        libc::setgroups(0, std::ptr::null()) != 0
            || libc::setresgid(group, group, group) != 0
            || libc::setresuid(user, user, user) != 0
    };
    if failed {
        return Err(io::Error::last_os_error());
    }
    // The kernel forgets the signal when the user changes (prctl(2), PR_SET_PDEATHSIG).
    set_parent_process_death_signal(signal)?;
    match signal.is_some() && getppid() != parent {
        true => Err(io::ErrorKind::Interrupted.into()),
        false => Ok(()),
    }
}

/// The user and the group without files of their own (the overflow IDs of the kernel).
const NOBODY: u32 = 65_534;

/// Makes nobody the user of the whole process, as [`become_user`]. Where `keeps_files`, the calling thread, and
/// those that it starts, access files as the user and the group of before, and create them as theirs; programs
/// that they execute do not. Returns false, without a change, where the user namespace has no nobody.
///
/// # Errors
/// As [`become_user`].
pub fn become_nobody(keeps_files: bool) -> io::Result<bool> {
    if !["/proc/self/uid_map", "/proc/self/gid_map"].into_iter().all(has_nobody) {
        return Ok(false);
    }
    // SAFETY: the calls have no arguments and cannot fail.
    let (user, group) = unsafe { (libc::geteuid(), libc::getegid()) };
    // The capabilities are needed for the calls below, and dropped by the caller.
    rustix::thread::set_keep_capabilities(true)?;
    become_user(NOBODY, NOBODY)?;
    if keeps_files {
        let mut held = rustix::thread::capabilities(None)?;
        held.effective = held.permitted;
        rustix::thread::set_capabilities(None, held)?;
        // SAFETY: the calls take numbers only; they return the value of before, whatever it is then.
        let now = unsafe {
            libc::setfsgid(group);
            libc::setfsuid(user);
            // No error is reported: an invalid ID changes nothing and returns the one in force (setfsuid(2)).
            libc::setfsuid(u32::MAX)
        };
        if now as u32 != user {
            return Err(io::ErrorKind::PermissionDenied.into());
        }
    }
    Ok(true)
}

/// Returns whether the table of IDs `map` of the user namespace has nobody (user_namespaces(7)).
fn has_nobody(map: &str) -> bool {
    let Ok(text) = std::fs::read_to_string(map) else { return false };
    text.lines().any(|line| {
        let numbers: Vec<u64> = line.split_whitespace().flat_map(str::parse).collect();
        matches!(numbers[..], [first, _, count] if (first..first + count).contains(&NOBODY.into()))
    })
}

/// Runs `work` on a separate thread and returns its result, or `None` where it takes longer than
/// `limit`. A request to a hanging drive cannot be cancelled, so the thread is then left behind,
/// with its own reference to `file`.
pub fn within<T: Send + 'static>(
    limit: Duration,
    file: &Arc<File>,
    work: impl FnOnce(&File) -> io::Result<T> + Send + 'static,
) -> Option<io::Result<T>> {
    let end = Instant::now() + limit;
    within_while(file, work, || Instant::now() < end)
}

/// How often [`within_while`] checks whether it waits on.
const CHECK_INTERVAL: Duration = Duration::from_millis(20);

/// Runs `work` as [`within`] does, and waits for it as long as `waits` returns true.
pub fn within_while<T: Send + 'static>(
    file: &Arc<File>,
    work: impl FnOnce(&File) -> io::Result<T> + Send + 'static,
    mut waits: impl FnMut() -> bool,
) -> Option<io::Result<T>> {
    let (sender, done) = channel();
    let file = file.clone();
    let body = move || {
        let _ = sender.send(work(&file));
    };
    if let Err(error) = std::thread::Builder::new().name("ssdgauge-timed".into()).spawn(body) {
        let text = format!("no thread could be started ({error}); see ulimit -u and ulimit -v");
        return Some(Err(io::Error::new(error.kind(), text)));
    }
    loop {
        match done.recv_timeout(CHECK_INTERVAL) {
            Ok(result) => return Some(result),
            Err(RecvTimeoutError::Timeout) if waits() => {}
            Err(RecvTimeoutError::Timeout) => return None,
            // The thread has panicked.
            Err(RecvTimeoutError::Disconnected) => return Some(Err(io::ErrorKind::Other.into())),
        }
    }
}

/// Runs `work` on a thread of its own for each of `items`; returns the results in their order, `None`
/// for those that take longer than `limit`. Threads in a call that never returns are left behind,
/// and keep the process from ending: only for processes that can be given up.
pub fn side_by_side<I: Send + 'static, T: Send + 'static>(
    limit: Duration,
    items: Vec<I>,
    work: fn(I) -> T,
) -> Vec<Option<T>> {
    let until = Instant::now() + limit;
    let mut results: Vec<Option<T>> = items.iter().map(|_| None).collect();
    let (sender, done) = channel();
    for (place, item) in items.into_iter().enumerate() {
        let sender = sender.clone();
        let body = move || {
            let _ = sender.send((place, work(item)));
        };
        // Without a thread there is no result, as without an answer.
        let _ = std::thread::Builder::new().name("ssdgauge-timed".into()).spawn(body);
    }
    // Otherwise the loop below would last for the whole limit, also after the last result.
    drop(sender);
    while let Ok((place, result)) =
        done.recv_timeout(until.saturating_duration_since(Instant::now()))
    {
        results[place] = Some(result);
    }
    results
}

/// Returns the numbers of the processors that this process may use, in ascending order.
pub fn allowed_processors() -> Vec<usize> {
    let allowed = rustix::thread::sched_getaffinity(None).unwrap_or_default();
    (0..rustix::thread::CpuSet::MAX_CPU).filter(|cpu| allowed.is_set(*cpu)).collect()
}

/// Pins the calling thread to `processor`, if the kernel permits it.
pub fn pin(processor: usize) {
    let mut set = rustix::thread::CpuSet::new();
    set.set(processor);
    // A thread that is not pinned measures the same, with more noise.
    let _ = rustix::thread::sched_setaffinity(None, &set);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_have_the_order_of_their_items_and_a_late_one_is_missing() {
        let work = |answers: bool| {
            if !answers {
                std::thread::sleep(Duration::from_secs(60));
            }
            answers
        };
        let results = side_by_side(Duration::from_millis(200), vec![true, false, true], work);
        assert_eq!(results[1], None);
        // A slow machine may miss those as well; their number never exceeds that of the items.
        assert_eq!(results.len(), 3);
        let all = side_by_side(Duration::from_secs(60), vec![1, 2, 3], |number| number * 2);
        assert_eq!(all, [Some(2), Some(4), Some(6)]);
    }
}
