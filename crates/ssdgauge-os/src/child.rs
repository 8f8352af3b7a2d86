//! The start of every other process: programs, and further processes of this program.
//!
//! Nothing else in the code base starts a process. A child ends with the thread that started it, in
//! whatever way that ends, and has no descriptor but its standard streams and those passed to it. What a
//! program starts itself ends as well where it has a keeper ([`start_kept`]).

mod kept;

pub use kept::{Kept, start_kept};

use rustix::process::{Signal, getppid, set_parent_process_death_signal};
use std::ffi::OsStr;
use std::io;
use std::os::fd::{AsRawFd, BorrowedFd, RawFd};
use std::os::unix::process::CommandExt;
use std::process::{Child, Command};

/// The end of a child whose parent has ended. The kernel sends the signal when the *thread* that
/// started the child ends, which is the main thread, or one that ends the child itself before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// It is killed.
    Killed,
    /// It gets SIGTERM, stores what it has measured, and ends.
    Asked,
    /// It ends when its socket is closed, after it has restored what the run had changed.
    AtEndOfInput,
    /// It belongs to the user from its start, such as a browser.
    Never,
}

impl End {
    fn signal(self) -> Option<Signal> {
        match self {
            End::Killed => Some(Signal::KILL),
            End::Asked => Some(Signal::TERM),
            End::AtEndOfInput | End::Never => None,
        }
    }
}

/// Starts `program`, which `set` gives its arguments, streams and group. It inherits `passed`, under
/// the same numbers, and no other descriptor. A program that writes to the target gets the exclusive
/// descriptor of the target: the claim then lasts as long as the last process that can write.
///
/// # Errors
/// The program cannot be started, or this process ends meanwhile.
pub fn start(
    program: impl AsRef<OsStr>,
    end: End,
    passed: &[BorrowedFd<'_>],
    set: impl FnOnce(&mut Command),
) -> io::Result<Child> {
    start_with(program, end, passed, set, None)
}

/// The descriptors that a child inherits, in ascending order.
struct Passed(Vec<RawFd>);

impl Passed {
    fn numbers(&self) -> &[RawFd] {
        &self.0
    }
}

/// Starts `program` as [`start`] does; `divide` is called last between fork and exec.
fn start_with(
    program: impl AsRef<OsStr>,
    end: End,
    passed: &[BorrowedFd<'_>],
    set: impl FnOnce(&mut Command),
    divide: Option<fn(&Passed) -> io::Result<()>>,
) -> io::Result<Child> {
    let mut command = Command::new(program);
    set(&mut command);
    let mut passed = Passed(passed.iter().map(AsRawFd::as_raw_fd).collect());
    // Ascending: a keeper closes the gaps between them.
    passed.0.sort_unstable();
    let parent = rustix::process::getpid();
    let prepare = move || {
        set_parent_process_death_signal(end.signal())?;
        // A parent that ended before the call sends no signal.
        if end.signal().is_some() && getppid() != Some(parent) {
            return Err(io::ErrorKind::Interrupted.into());
        }
        close_at_exec();
        passed.numbers().iter().try_for_each(|descriptor| keep_at_exec(*descriptor))?;
        divide.map_or(Ok(()), |divide| divide(&passed))
    };
    // SAFETY: between fork and exec only system calls are made, on numbers: nothing is allocated
    // and no lock is taken. I/O buffers are not copied by the fork (`memory::Region`).
    unsafe { command.pre_exec(prepare) };
    command.spawn()
}

/// The descriptors that a kernel before 5.11 marks one by one; the usual limit is 1,024.
const MARKED_ONE_BY_ONE: RawFd = 65_536;
/// Those that a kernel before 5.9 closes one by one.
const CLOSED_ONE_BY_ONE: libc::c_uint = 65_536;

/// Has the kernel close every descriptor above standard error when the program is executed. Until
/// then they stay open: the standard library reports a failed start through one of them.
fn close_at_exec() {
    // SAFETY: the call takes numbers only, and closes nothing now.
    let marked = unsafe {
        libc::syscall(libc::SYS_close_range, 3, libc::c_uint::MAX, libc::CLOSE_RANGE_CLOEXEC)
    };
    if marked != 0 {
        for descriptor in 3..MARKED_ONE_BY_ONE {
            // SAFETY: the call takes numbers only; a number without a descriptor is an error
            // without an effect.
            unsafe { libc::fcntl(descriptor, libc::F_SETFD, libc::FD_CLOEXEC) };
        }
    }
}

/// Leaves `descriptor` open when the program is executed.
fn keep_at_exec(descriptor: RawFd) -> io::Result<()> {
    // SAFETY: the call takes numbers only.
    match unsafe { libc::fcntl(descriptor, libc::F_SETFD, 0) } {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::File;
    use std::os::fd::AsFd;
    use std::os::unix::process::ExitStatusExt;
    use std::process::Stdio;

    /// Starts a shell that lists its descriptors, one in a line.
    fn descriptors(passed: &[BorrowedFd<'_>]) -> Vec<String> {
        let child = start("sh", End::Killed, passed, |command| {
            command.args(["-c", "for one in /proc/$$/fd/*; do echo ${one##*/}; done"]);
            command.stdin(Stdio::null()).stdout(Stdio::piped());
        });
        let output = child.unwrap().wait_with_output().unwrap();
        String::from_utf8(output.stdout).unwrap().lines().map(str::to_owned).collect()
    }

    #[test]
    fn a_child_has_the_descriptors_passed_to_it_and_no_others() {
        let file = File::open("/dev/null").unwrap();
        // High numbers: the shell opens the list of descriptors as one of the lowest.
        let file = rustix::io::fcntl_dupfd_cloexec(file, 200).unwrap();
        // Without close-on-exec, as another program leaves it to this one.
        let left = rustix::io::fcntl_dupfd_cloexec(&file, 100).unwrap();
        rustix::io::fcntl_setfd(&left, rustix::io::FdFlags::empty()).unwrap();
        let left = left.as_raw_fd().to_string();
        let passed = file.as_raw_fd().to_string();
        let (without, with) = (descriptors(&[]), descriptors(&[file.as_fd()]));
        for standard in ["0", "1", "2"] {
            assert!(without.iter().any(|one| one == standard), "{without:?}");
        }
        assert!(!without.contains(&left) && !without.contains(&passed), "{without:?}");
        assert!(!with.contains(&left) && with.contains(&passed), "{with:?}");
    }

    #[test]
    fn a_child_ends_with_the_thread_that_started_it() {
        let sleep = |end| {
            let started = move || {
                start("sleep", end, &[], |command| {
                    command.arg("600");
                })
            };
            std::thread::spawn(started).join().unwrap().unwrap()
        };
        for (end, signal) in [(End::Killed, libc::SIGKILL), (End::Asked, libc::SIGTERM)] {
            assert_eq!(sleep(end).wait().unwrap().signal(), Some(signal));
        }
        let mut kept = sleep(End::Never);
        assert_eq!(kept.try_wait().unwrap(), None);
        kept.kill().unwrap();
        kept.wait().unwrap();
    }

    #[test]
    fn a_program_that_cannot_be_started_is_an_error_with_its_cause() {
        let error = start("/nonexistent/program", End::Killed, &[], |_| {}).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::NotFound);
    }
}
