//! Processes of this program itself: started with a hidden command, connected by a socket, and
//! given up without waiting.
//!
//! A thread in an uninterruptible call cannot be stopped, and its process does not end before the
//! call returns. Calls that a device may never answer are therefore made in such a process.

use crate::child::{self, End};
use rustix::io::Errno;
use rustix::net::{
    RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer,
    SendAncillaryMessage, SendFlags, recvmsg, sendmsg,
};
use rustix::process::{Signal, set_parent_process_death_signal};
use rustix::thread::set_name;
use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{self, IoSlice, IoSliceMut, Read, Write};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

/// The maximum length of a message in bytes: a list of thousands of uses of a drive is shorter.
const MAX_MESSAGE: usize = 8 << 20;

/// How often, and how long after each time, an ended process is awaited. A process that was killed
/// outside of a call ends within a millisecond; one within a call is left to the kernel.
const WAITS: u32 = 20;
const BETWEEN_WAITS: Duration = Duration::from_millis(1);

/// A process of this program. When it is dropped, the process is killed and not waited for.
#[derive(Debug)]
pub struct OwnProcess {
    child: Child,
    socket: UnixStream,
}

/// The program itself, whatever has its name by now.
pub const THIS_PROGRAM: &str = "/proc/self/exe";

/// Starts this program with `arguments`; returns the process and the socket that is its standard
/// input. `end` is its end where this process ends before it. It inherits `passed`, under the same numbers.
///
/// # Errors
/// The process cannot be started.
pub fn start(
    arguments: &[&str],
    end: End,
    passed: &[BorrowedFd<'_>],
) -> io::Result<(Child, UnixStream)> {
    let (ours, theirs) = UnixStream::pair()?;
    let child = child::start(THIS_PROGRAM, end, passed, |command| {
        command.args(arguments).stdin(Stdio::from(OwnedFd::from(theirs)));
        // Ctrl-C goes to the foreground process group. The program decides when its other
        // processes end.
        command.stdout(Stdio::null()).stderr(Stdio::null()).process_group(0);
    })?;
    Ok((child, ours))
}

impl OwnProcess {
    /// Starts this program with `arguments`.
    ///
    /// # Errors
    /// The process cannot be started.
    pub fn start(arguments: &[&str]) -> io::Result<OwnProcess> {
        let (child, socket) = start(arguments, End::Killed, &[])?;
        Ok(OwnProcess { child, socket })
    }

    /// Returns whether the process has ended.
    pub fn has_ended(&mut self) -> bool {
        !matches!(self.child.try_wait(), Ok(None))
    }

    /// Sends a message.
    ///
    /// # Errors
    /// The process has ended.
    pub fn send(&self, message: &[u8]) -> io::Result<()> {
        send(&self.socket, message, None)
    }

    /// Waits until `until` for the next message and the file that it carries.
    ///
    /// # Errors
    /// `TimedOut` at that time; the error of the socket, such as `UnexpectedEof` where the process
    /// has ended.
    pub fn receive(&self, until: Instant) -> io::Result<(Vec<u8>, Option<File>)> {
        receive(&self.socket, Some(until))
    }
}

impl Drop for OwnProcess {
    fn drop(&mut self) {
        let _ = self.child.kill();
        for _ in 0..WAITS {
            // Awaited where it ends at once, so that it is not left as a zombie.
            if !matches!(self.child.try_wait(), Ok(None)) {
                return;
            }
            std::thread::sleep(BETWEEN_WAITS);
        }
    }
}

/// Begins to serve as such a process, which ends with the process that started it; returns the
/// socket to that.
///
/// # Errors
/// Standard input is not a socket.
pub fn serve() -> io::Result<UnixStream> {
    set_parent_process_death_signal(Some(Signal::KILL))?;
    // The name of the link by which it was started, `exe`, would say nothing in a list of processes.
    set_name(c"ssdgauge")?;
    Ok(UnixStream::from(io::stdin().as_fd().try_clone_to_owned()?))
}

/// Lets a write beyond the limit of the size of a file (`ulimit -f`) fail as one on a full file system does: the
/// signal that the kernel sends in its place would end the process and leave a part of an output. Programs that this
/// one starts keep the signal.
pub fn survive_file_size_limit() {
    extern "C" fn nothing(_: libc::c_int) {}
    let handler = nothing as extern "C" fn(libc::c_int);
    // SAFETY: a handler that does nothing is safe at any moment; the kernel resets it in a program that is started.
    unsafe { libc::signal(libc::SIGXFSZ, handler as libc::sighandler_t) };
}

/// Closes every descriptor that the caller left open for this process, but the standard streams and
/// those that an argument names as `/dev/fd/N`, as a shell does for `<(program)`, and this program for one that
/// another process of it inherits. A run would
/// otherwise hold the files, locks and drives of its caller for hours. To be called first in `main`.
pub fn close_inherited(arguments: impl Iterator<Item = OsString>) {
    let mut kept: Vec<u32> = arguments.flat_map(|one| named_descriptors(&one)).collect();
    kept.extend([0, 1, 2]);
    let open = std::fs::read_dir("/proc/self/fd");
    let open = open.into_iter().flatten().flatten();
    let open: Vec<u32> =
        open.filter_map(|entry| entry.file_name().to_str()?.parse().ok()).collect();
    for descriptor in open.into_iter().filter(|one| !kept.contains(one)) {
        // SAFETY: called first in `main`, when no value owns a descriptor above 2. That of the list
        // itself is closed already.
        unsafe { libc::close(descriptor as libc::c_int) };
    }
}

/// Returns the numbers of the descriptors that `argument` names as paths.
fn named_descriptors(argument: &OsStr) -> Vec<u32> {
    let text = argument.to_string_lossy();
    let places =
        ["/dev/fd/", "/proc/self/fd/"].into_iter().flat_map(|place| text.split(place).skip(1));
    let number = |rest: &str| {
        let end = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
        rest[..end].parse().ok()
    };
    places.filter_map(number).collect()
}

/// Sends a message, and with it a descriptor of `file`.
///
/// # Errors
/// The error of the socket.
pub fn send(socket: &UnixStream, message: &[u8], file: Option<&File>) -> io::Result<()> {
    let length = u32::try_from(message.len()).map_err(|_| io::ErrorKind::InvalidInput)?;
    let length = length.to_le_bytes();
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
    let mut control = SendAncillaryBuffer::new(&mut space);
    let descriptors: Vec<BorrowedFd<'_>> = file.iter().map(|file| file.as_fd()).collect();
    if !descriptors.is_empty() {
        control.push(SendAncillaryMessage::ScmRights(&descriptors));
    }
    // The descriptor travels with the length, which is too short to be sent in parts.
    sendmsg(socket, &[IoSlice::new(&length)], &mut control, SendFlags::NOSIGNAL)?;
    let mut socket = socket;
    socket.write_all(message)
}

/// Receives a message and the file that it carries; waits until `until`, or without a limit.
///
/// # Errors
/// `TimedOut` at that time, `UnexpectedEof` where the other side is closed, the error of the socket.
pub fn receive(socket: &UnixStream, until: Option<Instant>) -> io::Result<(Vec<u8>, Option<File>)> {
    let mut length = [0; 4];
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
    let mut control = RecvAncillaryBuffer::new(&mut space);
    let received = loop {
        limit(socket, until)?;
        let mut parts = [IoSliceMut::new(&mut length)];
        match recvmsg(socket, &mut parts, &mut control, RecvFlags::CMSG_CLOEXEC) {
            Ok(received) => break received.bytes,
            Err(Errno::INTR) => {}
            Err(Errno::AGAIN) => return Err(io::ErrorKind::TimedOut.into()),
            Err(error) => return Err(error.into()),
        }
    };
    if received < length.len() {
        return Err(io::ErrorKind::UnexpectedEof.into());
    }
    let mut files = control.drain().filter_map(|message| match message {
        RecvAncillaryMessage::ScmRights(mut descriptors) => descriptors.next(),
        _ => None,
    });
    let file = files.next().map(File::from);
    let length = u32::from_le_bytes(length) as usize;
    // Before the memory is allocated: the length may come from a process that reads files of strangers.
    if length > MAX_MESSAGE {
        return Err(io::ErrorKind::InvalidData.into());
    }
    let mut message = vec![0; length];
    limit(socket, until)?;
    let mut socket = socket;
    socket.read_exact(&mut message).map_err(|error| match error.kind() {
        io::ErrorKind::WouldBlock => io::ErrorKind::TimedOut.into(),
        _ => error,
    })?;
    Ok((message, file))
}

/// Limits the next read of the socket to the time until `until`.
fn limit(socket: &UnixStream, until: Option<Instant>) -> io::Result<()> {
    let Some(until) = until else { return socket.set_read_timeout(None) };
    let left = until.saturating_duration_since(Instant::now());
    // 0 would mean no limit.
    socket.set_read_timeout(Some(left.max(Duration::from_millis(1))))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_name_the_descriptors_that_stay_open() {
        let check = |argument: &str, expected: &[u32]| {
            assert_eq!(named_descriptors(OsStr::new(argument)), expected, "{argument}");
        };
        check("/dev/fd/63", &[63]);
        check("--suite=/proc/self/fd/4/x", &[4]);
        check("/dev/fd/5:/dev/fd/7", &[5, 7]);
        check("/dev/fd/", &[]);
        check("/dev/sda", &[]);
    }

    #[test]
    fn a_message_arrives_with_its_file_and_a_missing_one_ends_the_wait() {
        let (a, b) = UnixStream::pair().unwrap();
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        std::fs::write(&path, "text").unwrap();
        send(&a, b"one", Some(&File::open(path).unwrap())).unwrap();
        send(&a, &vec![7; 100_000], None).unwrap();
        let soon = || Some(Instant::now() + Duration::from_secs(20));
        let (message, file) = receive(&b, soon()).unwrap();
        assert_eq!(message, b"one");
        assert_eq!(io::read_to_string(file.unwrap()).unwrap(), "text");
        let (message, file) = receive(&b, soon()).unwrap();
        assert_eq!((message.len(), file.is_none()), (100_000, true));
        let error = receive(&b, Some(Instant::now())).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::TimedOut);
        drop(a);
        assert_eq!(receive(&b, soon()).unwrap_err().kind(), io::ErrorKind::UnexpectedEof);
    }
}
