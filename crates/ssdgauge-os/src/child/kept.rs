//! Programs with a keeper: a process between this one and the program, which ends all that the program has started.
//!
//! A death signal reaches the direct child only: of `sh -c 'a | b'` it would leave `a` and `b`. The keeper
//! is told by its own death signal that this process has ended, however that was. Descendants whose parent
//! has ended become children of the keeper (PR_SET_CHILD_SUBREAPER), also where they have left the session, so that
//! none escapes by a second fork. It needs no privilege.
//!
//! The keeper is a fork of this process that executes no program: it makes system calls on numbers only, allocates
//! nothing, takes no lock, and has no descriptor but those passed to the program.

use super::{CLOSED_ONE_BY_ONE, End, Passed, start_with};
use rustix::process::{Pid, Signal, kill_process};
use std::ffi::OsStr;
use std::io;
use std::os::fd::{BorrowedFd, RawFd};
use std::process::{Child, ChildStderr, ChildStdin, ChildStdout, Command, ExitStatus};

/// The children of the calling thread, by their numbers (proc_pid_task(5)).
const CHILDREN: &std::ffi::CStr = c"/proc/thread-self/children";
/// The bytes of that list that are read at once. What is beyond is read when these have ended.
const LIST: usize = 4_096;

/// A program with its keeper. When it is dropped, the program and all that it has started are killed.
#[derive(Debug)]
pub struct Kept {
    keeper: Child,
}

/// Starts `program` as [`super::start`] does, with a keeper. All that it starts ends with this process.
///
/// # Errors
/// As [`super::start`].
pub fn start_kept(
    program: impl AsRef<OsStr>,
    passed: &[BorrowedFd<'_>],
    set: impl FnOnce(&mut Command),
) -> io::Result<Kept> {
    Ok(Kept { keeper: start_with(program, End::Asked, passed, set, Some(divide))? })
}

impl Kept {
    /// Takes the ends of the pipes of the program: standard input, output and error.
    pub fn take_pipes(&mut self) -> (Option<ChildStdin>, Option<ChildStdout>, Option<ChildStderr>) {
        (self.keeper.stdin.take(), self.keeper.stdout.take(), self.keeper.stderr.take())
    }

    /// Has what the program has started end as soon as the program itself has.
    pub fn end_with_program(&self) {
        self.signal(Signal::USR1);
    }

    /// Returns the status of the program, where it and what it has started have ended.
    ///
    /// # Errors
    /// The error of the kernel.
    pub fn try_wait(&mut self) -> io::Result<Option<ExitStatus>> {
        self.keeper.try_wait()
    }

    /// Waits for the end of the program, and ends what is left of what it has started.
    ///
    /// # Errors
    /// The error of the kernel.
    pub fn wait(&mut self) -> io::Result<ExitStatus> {
        self.end_with_program();
        self.keeper.wait()
    }

    /// Kills the program and all that it has started, and waits for their end.
    pub fn end(&mut self) {
        self.signal(Signal::TERM);
        let _ = self.keeper.wait();
    }

    fn signal(&self, signal: Signal) {
        // An error means that it has ended already: it was not awaited yet, so that its number is its own.
        let _ = kill_process(Pid::from_child(&self.keeper), signal);
    }
}

impl Drop for Kept {
    fn drop(&mut self) {
        if matches!(self.keeper.try_wait(), Ok(None)) {
            self.end();
        }
    }
}

/// Divides the process between fork and exec: returns in the program, and never in its keeper.
fn divide(passed: &Passed) -> io::Result<()> {
    // SAFETY: system calls on numbers, and on values of this function. A raw `clone` without a stack of its own is
    // a fork; unlike `fork` it takes no lock of libc, which another thread may have held.
    unsafe {
        let mut all: libc::sigset_t = std::mem::zeroed();
        let mut before: libc::sigset_t = std::mem::zeroed();
        libc::sigfillset(&raw mut all);
        if libc::sigprocmask(libc::SIG_SETMASK, &raw const all, &raw mut before) != 0
            || libc::prctl(libc::PR_SET_CHILD_SUBREAPER, 1) != 0
        {
            return Err(io::Error::last_os_error());
        }
        let keeper = libc::getpid();
        match libc::syscall(libc::SYS_clone, libc::SIGCHLD, 0, 0, 0, 0) {
            -1 => Err(io::Error::last_os_error()),
            0 => {
                libc::sigprocmask(libc::SIG_SETMASK, &raw const before, std::ptr::null_mut());
                // The keeper may be killed as well: then at least the program ends.
                if libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL) != 0 {
                    return Err(io::Error::last_os_error());
                }
                match libc::getppid() == keeper {
                    true => Ok(()),
                    false => Err(io::ErrorKind::Interrupted.into()),
                }
            }
            program => keep(program as libc::pid_t, &all, passed.numbers()),
        }
    }
}

/// Waits as the keeper of `program`, and ends as the program has.
///
/// # Safety
/// Only to be called in a fork of this process, whose memory and descriptors no other thread uses.
unsafe fn keep(program: libc::pid_t, all: &libc::sigset_t, passed: &[RawFd]) -> ! {
    // SAFETY: system calls on numbers and on values of this function.
    unsafe {
        // The standard streams too: a pipe has to close with the program, and not with its keeper.
        close_all_but(passed);
        // What it has of the memory of a run is not a matter for a core file.
        libc::prctl(libc::PR_SET_DUMPABLE, 0);
        let mut status = None;
        let mut ends_with_program = false;
        loop {
            if !reap(program, &mut status) {
                exit_as(status);
            }
            if status.is_some() && ends_with_program {
                end_all(program, &mut status);
                exit_as(status);
            }
            // All signals are blocked: one that arrives after `reap` is still pending here.
            match libc::sigwaitinfo(all, std::ptr::null_mut()) {
                libc::SIGUSR1 => ends_with_program = true,
                libc::SIGTERM | libc::SIGINT | libc::SIGHUP | libc::SIGQUIT => {
                    end_all(program, &mut status);
                    exit_as(status);
                }
                _ => {}
            }
        }
    }
}

/// Awaits all children that have ended; returns false where none is left.
unsafe fn reap(program: libc::pid_t, status: &mut Option<libc::c_int>) -> bool {
    loop {
        let mut one = 0;
        // SAFETY: the call writes one number.
        match unsafe { libc::waitpid(-1, &raw mut one, libc::WNOHANG) } {
            0 => return true,
            -1 => return false,
            ended if ended == program => *status = Some(one),
            _ => {}
        }
    }
}

/// Kills the children, and those that become children thereby, until none is left. A process within a call that
/// cannot be interrupted ends with that call.
unsafe fn end_all(program: libc::pid_t, status: &mut Option<libc::c_int>) {
    loop {
        // SAFETY: system calls on numbers, and on memory of this function.
        unsafe {
            // Not awaited yet, so that the number is its own and not that of a process started since.
            if status.is_none() {
                libc::kill(program, libc::SIGKILL);
            }
            // Nothing else can be found then, and waiting for it would last until it ends by itself.
            if !kill_listed() && status.is_some() {
                return;
            }
            let mut one = 0;
            match libc::waitpid(-1, &raw mut one, 0) {
                -1 => return,
                ended if ended == program => *status = Some(one),
                _ => {}
            }
        }
    }
}

/// Kills the children in the list of the kernel; returns false where there is no list (CONFIG_PROC_CHILDREN, or no
/// /proc), so that only the program is known.
unsafe fn kill_listed() -> bool {
    let mut text = [0u8; LIST];
    // SAFETY: the calls read a constant path, and write into `text` at most its length.
    let read = unsafe {
        let list = libc::open(CHILDREN.as_ptr(), libc::O_RDONLY | libc::O_CLOEXEC);
        let read = libc::read(list, text.as_mut_ptr().cast(), LIST);
        libc::close(list);
        read
    };
    let Ok(length) = usize::try_from(read) else { return false };
    let mut number: libc::pid_t = 0;
    // A number at the end of the buffer may be a part of one: each is followed by a space.
    for byte in text.iter().take(length) {
        match byte {
            b'0'..=b'9' => {
                number = number.wrapping_mul(10).wrapping_add(libc::pid_t::from(byte - b'0'));
            }
            _ => {
                if number > 1 {
                    // SAFETY: the call takes numbers only.
                    unsafe { libc::kill(number, libc::SIGKILL) };
                }
                number = 0;
            }
        }
    }
    true
}

/// Closes every descriptor but those of `passed`.
unsafe fn close_all_but(passed: &[RawFd]) {
    // SAFETY: the calls take numbers only; no value of this process uses a descriptor any more.
    unsafe {
        let mut first: libc::c_uint = 0;
        for kept in passed {
            let kept = *kept as libc::c_uint;
            if kept > first {
                close_range(first, kept - 1);
            }
            first = first.max(kept + 1);
        }
        close_range(first, libc::c_uint::MAX);
    }
}

unsafe fn close_range(first: libc::c_uint, last: libc::c_uint) {
    // SAFETY: as the caller states.
    unsafe {
        if libc::syscall(libc::SYS_close_range, first, last, 0) != 0 {
            for descriptor in first..=last.min(CLOSED_ONE_BY_ONE) {
                libc::close(descriptor as libc::c_int);
            }
        }
    }
}

/// Ends this process as the program has ended.
unsafe fn exit_as(status: Option<libc::c_int>) -> ! {
    // SAFETY: system calls on numbers; `_exit` runs no code of this process.
    unsafe {
        match status {
            Some(status) if libc::WIFEXITED(status) => libc::_exit(libc::WEXITSTATUS(status)),
            Some(status) if libc::WIFSIGNALED(status) => {
                let signal = libc::WTERMSIG(status);
                let mut one: libc::sigset_t = std::mem::zeroed();
                libc::sigemptyset(&raw mut one);
                libc::sigaddset(&raw mut one, signal);
                // The caller reads from the status which signal ended the program.
                libc::signal(signal, libc::SIG_DFL);
                libc::kill(libc::getpid(), signal);
                libc::sigprocmask(libc::SIG_UNBLOCK, &raw const one, std::ptr::null_mut());
                libc::_exit(128 + signal)
            }
            _ => libc::_exit(128),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{BufRead, BufReader};
    use std::os::unix::process::ExitStatusExt;
    use std::process::Stdio;
    use std::time::{Duration, Instant};

    fn shell(script: &str) -> Kept {
        start_kept("sh", &[], |command| {
            command.args(["-c", script]).stdin(Stdio::null()).stdout(Stdio::piped());
        })
        .unwrap()
    }

    /// Returns the numbers that the program prints in its first line.
    fn numbers(kept: &mut Kept) -> Vec<u32> {
        let mut line = String::new();
        BufReader::new(kept.take_pipes().1.unwrap()).read_line(&mut line).unwrap();
        line.split_whitespace().map(|number| number.parse().unwrap()).collect()
    }

    fn runs(process: u32) -> bool {
        std::fs::read_to_string(format!("/proc/{process}/stat"))
            .is_ok_and(|stat| !stat.contains(") Z ") && !stat.contains(") X "))
    }

    fn wait_for_end(processes: &[u32]) {
        let since = Instant::now();
        while processes.iter().any(|one| runs(*one)) {
            assert!(since.elapsed() < Duration::from_secs(60), "{processes:?}");
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    /// A child, one in a session of its own whose parent has ended, and one that ignores signals.
    const TREE: &str = "sleep 600 & a=$!; b=$(setsid sh -c 'sleep 600 >&2 & echo $!'); \
                        (trap '' TERM INT HUP; exec sleep 600 >&2) & c=$!; echo $a $b $c; exec sleep 600 >&2";

    #[test]
    fn all_that_a_program_has_started_ends_with_it_on_request() {
        let mut kept = shell(TREE);
        let started = numbers(&mut kept);
        assert_eq!(started.iter().filter(|one| runs(**one)).count(), 3, "{started:?}");
        kept.end();
        assert!(!started.iter().any(|one| runs(*one)), "{started:?}");
    }

    #[test]
    fn all_that_a_program_has_started_ends_with_the_thread_that_started_it() {
        let started = std::thread::spawn(|| {
            let mut kept = shell(TREE);
            let started = numbers(&mut kept);
            // As where the process is killed: nothing of it runs any more.
            std::mem::forget(kept);
            started
        });
        wait_for_end(&started.join().unwrap());
    }

    #[test]
    fn the_status_is_that_of_the_program_and_its_rest_ends_after_it() {
        for (script, code) in [("exit 3", Some(3)), ("exit 0", Some(0)), ("kill -9 $$", None)] {
            assert_eq!(shell(script).wait().unwrap().code(), code, "{script}");
        }
        assert_eq!(shell("kill -9 $$").wait().unwrap().signal(), Some(libc::SIGKILL));
        let mut kept = shell("sleep 600 >&2 & echo $!; exit 5");
        let started = numbers(&mut kept);
        assert_eq!(kept.wait().unwrap().code(), Some(5));
        assert!(!runs(started[0]));
    }

    #[test]
    fn without_a_list_of_children_only_the_end_of_the_program_is_awaited() {
        const WITHOUT_PROC: &str = "SSDGAUGE_TEST_WITHOUT_PROC";
        const NAME: &str =
            "child::kept::tests::without_a_list_of_children_only_the_end_of_the_program_is_awaited";
        if std::env::var_os(WITHOUT_PROC).is_some() {
            let mut kept = shell("sleep 600 >&2 & echo $!; exec sleep 600 >&2");
            let started = numbers(&mut kept);
            kept.end();
            let left = Pid::from_raw(started[0].try_into().unwrap()).unwrap();
            kill_process(left, Signal::KILL).unwrap();
            return;
        }
        if !rustix::process::geteuid().is_root() {
            println!("skipped: only root can unmount /proc in a namespace of its own");
            return;
        }
        let script = "umount -l /proc && exec timeout 60 \"$0\" --exact \"$1\"";
        let mut command = std::process::Command::new("unshare");
        command.args(["-m", "sh", "-c", script]).arg(std::env::current_exe().unwrap()).arg(NAME);
        let output = command.env(WITHOUT_PROC, "1").output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
    }

    #[test]
    fn a_program_that_cannot_be_started_is_an_error_with_its_cause() {
        let error = start_kept("/nonexistent/program", &[], |_| {}).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::NotFound);
    }

    #[test]
    fn the_pipes_close_with_the_program() {
        let mut kept = shell("echo 1");
        assert_eq!(numbers(&mut kept), [1]);
        let mut broken = start_kept("true", &[], |command| {
            command.stdin(Stdio::piped());
        })
        .unwrap();
        let mut pipe = broken.take_pipes().0.unwrap();
        let written = std::iter::repeat_with(|| io::Write::write(&mut pipe, &[0; 65_536]));
        let error = written.take(1_000).find_map(Result::err).unwrap();
        assert_eq!(error.kind(), io::ErrorKind::BrokenPipe);
    }
}
